#include "search/complete/script_text.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/library/operators.h"

namespace exotune {

namespace {

using Kind = ScheduleExpr::Kind;

bool is_search(const ScheduleExpr& e) {
  if (e.kind != Kind::kCall ||
      (e.children[0].kind != Kind::kName && e.children[0].kind != Kind::kAttribute))
    return false;
  const Operator* op = find_operator(e.children[0].text);
  return op && op->role == OperatorRole::kHole;
}

// A search somewhere below `e`.
const ScheduleExpr* search_in(const ScheduleExpr& e) {
  if (is_search(e)) return &e;
  for (const ScheduleExpr& c : e.children)
    if (const ScheduleExpr* found = search_in(c)) return found;
  for (const ScheduleExpr::Keyword& k : e.keywords)
    if (const ScheduleExpr* found = search_in(k.value)) return found;
  return nullptr;
}

[[noreturn]] void refuse_place(const SourceLocation& where) {
  throw InputError(where, "a search is a statement of its own here",
                   "write `p = search(p)` on its own line");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    const size_t next = end == std::string::npos ? text.size() : end + 1;
    out.push_back(text.substr(at, next - at));
    at = next;
  }
  return out;
}

}  // namespace

ScriptText::ScriptText(std::string text, const std::string& file)
    : text_(std::move(text)), lines_(lines_of(text_)) {
  const ScheduleAst ast = parse_schedule(text_, file);
  for (size_t k = 0; k < ast.stmts.size(); ++k) {
    const ScheduleStmt& s = ast.stmts[k];
    const size_t line = static_cast<size_t>(s.where.line) - 1;
    const size_t lines = static_cast<size_t>(std::count(s.text.begin(), s.text.end(), '\n')) + 1;
    last_statement_line_ = line;
    const ScheduleExpr* search = search_in(s.value);
    if (!search) continue;
    const bool method = search->children[0].kind == Kind::kAttribute;
    const ScheduleExpr* source = method                        ? &search->children[0].children[0]
                                 : search->children.size() > 1 ? &search->children[1]
                                                               : nullptr;
    const bool alone = (k == 0 || ast.stmts[k - 1].where.line < s.where.line) &&
                       (k + 1 == ast.stmts.size() ||
                        ast.stmts[k + 1].where.line >= s.where.line + static_cast<int>(lines));
    if (search != &s.value || !alone || s.target.kind != Kind::kName || !source ||
        source->kind != Kind::kName)
      refuse_place(search->where);
    holes_.push_back({line, lines, s.text, s.target.text, source->text});
  }
  implicit_ = holes_.empty();
  if (implicit_) holes_.push_back({lines_.size(), 0, "", "p", "p"});
}

bool ScriptText::is_last(size_t hole) const {
  return implicit_ || holes_[hole].first_line == last_statement_line_;
}

std::string ScriptText::filled(const std::vector<std::vector<std::string>>& fills) const {
  std::string out;
  size_t line = 0;
  const auto copy_to = [&](size_t end) {
    for (; line < end; ++line) out += lines_[line];
  };
  for (size_t k = 0; k < fills.size(); ++k) {
    const HoleText& hole = holes_[k];
    copy_to(hole.first_line);
    if (!out.empty() && out.back() != '\n') out += "\n";
    std::string shown = hole.text;
    std::replace(shown.begin(), shown.end(), '\n', ' ');
    if (!shown.empty()) out += "# filled: " + shown + "\n";
    for (const std::string& found : fills[k]) out += found + "  # found\n";
    line += hole.lines;
  }
  copy_to(lines_.size());
  return out;
}

std::string with_variable(const std::string& line, const std::string& variable) {
  if (variable == "p") return line;
  std::string out;
  char quote = 0;
  const auto word = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == 'p' && (k == 0 || !word(line[k - 1])) &&
               (k + 1 == line.size() || !word(line[k + 1]))) {
      out += variable;
      continue;
    }
    out += c;
  }
  return out;
}

}  // namespace exotune
