#include "core/library/manual.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace exotune {

// Made by exotune_embed: the headers that primitives.h and library.h include.
const char* primitive_header(const std::string& file);
const char* library_header(const std::string& file);
std::vector<std::string> primitive_header_files();
std::vector<std::string> library_header_files();

namespace {

// The name in front of a declaration's arguments: "[[nodiscard]] ProcPtr f(ProcPtr p, ..".
std::string declared_in(const std::string& line) {
  const size_t open = line.find('(');
  if (line.empty() || line[0] == ' ' || open == std::string::npos) return "";
  const size_t before = line.find_last_of(" *&", open);
  return before == std::string::npos ? "" : line.substr(before + 1, open - before - 1);
}

using Manual = std::map<std::string, ManualEntry>;

void add_header(Manual& manual, const std::string& name, const char* text,
                const std::string& scope = "") {
  if (text == nullptr) return;
  for (auto& [function, comment] : entries_of(text))
    manual.emplace(scope + function, ManualEntry{name, comment});
}

// The first header that has a function of a name counts.
Manual read_headers() {
  Manual all;
  for (const std::string& name : primitive_header_files())
    add_header(all, "core/primitives/" + name, primitive_header(name));
  for (const std::string& name : library_header_files())
    add_header(all, "core/library/" + name, library_header(name),
               name == "halide.h" ? "halide::" : "");
  return all;
}

const std::string& function_of(const Operator& op) {
  return op.function.empty() ? op.name : op.function;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> entries_of(const std::string& header_text) {
  std::vector<std::pair<std::string, std::string>> entries;
  std::istringstream lines(header_text);
  std::string comment;
  bool declared = false;  // since the comment began: the next one is another's
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("///", 0) == 0) {
      if (declared) comment.clear();
      declared = false;
      comment += (line.size() > 4 ? line.substr(4) : "") + "\n";
      continue;
    }
    if (line.empty()) comment.clear();
    // Overloads under one comment are one entry.
    if (const std::string name = declared_in(line); !name.empty() && !comment.empty()) {
      entries.emplace_back(name, comment);
      declared = true;
    }
  }
  return entries;
}

ManualEntry manual_entry(const std::string& function) {
  static const Manual all = read_headers();
  const auto it = all.find(function);
  return it == all.end() ? ManualEntry{} : it->second;
}

// A second spelling of another operator is nobody's proposal: the search writes the first one.
std::string proposal_of(const Operator& op) {
  if (!op.proposed.empty()) return op.proposed + ".";
  if (!op.function.empty() && find_operator(op.function)) return "";
  static const std::string kProposed = "Proposed ";
  const std::string text = "\n" + manual_entry(function_of(op)).text;
  const size_t at = text.find("\n" + kProposed);
  if (at == std::string::npos) return "";
  std::string said = text.substr(at + 1 + kProposed.size());
  while (!said.empty() && said.back() == '\n') said.pop_back();
  std::replace(said.begin(), said.end(), '\n', ' ');
  return said;
}

std::string description_of(const Operator& op) {
  std::string text = op.signature() + "\n  " + op.doc + "\n";
  const std::string& function = function_of(op);
  if (const ManualEntry entry = manual_entry(function); !entry.header.empty()) {
    text += "\n" + entry.header + ", " + function + ":\n";
    std::istringstream lines(entry.text);
    for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  }
  text += "\n";
  const std::string proposed = proposal_of(op);
  if (proposed.empty()) text += "No search proposes it.\n";
  if (!op.proposed.empty()) text += "Proposed " + proposed + "\n";
  return text;
}

}  // namespace exotune
