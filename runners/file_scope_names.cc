#include "runners/file_scope_names.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace exotune {
// Many candidates are compiled as one file, each with its names at file scope made its own, so the
// names have to be known without a C parser. A scan by tokens does: a name stands at file scope
// where no bracket is open, in front of what ends a declarator. A name too many costs a needless
// rename; a name too few would be a clash, which the compiler reports.

namespace {

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

struct Token {
  enum Kind { kEnd, kWord, kPunct, kDirective } kind = kEnd;
  std::string_view text;  // of a directive: the whole logical line after '#'
};

/// Tokens of C as far as file scope needs them; comments, strings and numbers vanish.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const char d = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      // A comment of one line ends at its newline, which the next turn sees.
      if (c == '/' && d == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '/' && d == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (c == '"' || c == '\'') {
        skip_quoted(c);
      } else if (c == '\n') {
        line_start_ = true;
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
        // Only at a line's beginning: elsewhere it is an operator of a macro.
      } else if (c == '#' && line_start_) {
        return {Token::kDirective, directive()};
      } else {
        line_start_ = false;
        const size_t from = at_++;
        if (is_word_start(c)) {
          while (at_ < text_.size() && is_word(text_[at_])) ++at_;
          return {Token::kWord, text_.substr(from, at_ - from)};
        }
        // 0x1p-3, 10UL, 1.5f: one number, though 1e-9 leaves its sign behind, which is no name.
        if (std::isdigit(static_cast<unsigned char>(c))) {
          while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
          continue;
        }
        return {Token::kPunct, text_.substr(from, 1)};
      }
    }
    return {};
  }

 private:
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }
  std::string_view directive() {
    const size_t from = ++at_;
    // A line that ends in a backslash goes on.
    while (at_ < text_.size() && !(text_[at_] == '\n' && text_[at_ - 1] != '\\')) ++at_;
    return text_.substr(from, at_ - from);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
};

/// "ifndef", "X" of "ifndef X ...".
std::pair<std::string_view, std::string_view> directive_words(std::string_view line) {
  const auto word = [&]() {
    while (!line.empty() && !is_word(line.front())) line.remove_prefix(1);
    size_t n = 0;
    while (n < line.size() && is_word(line[n])) ++n;
    const std::string_view w = line.substr(0, n);
    line.remove_prefix(n);
    return w;
  };
  const std::string_view first = word();
  return {first, word()};
}

// One pass. What a declaration is shows late (a function only by its bracket), so the last word
// that may be a name is kept until something tells what it was.
class Scan {
 public:
  explicit Scan(std::string_view text) : tokens_(text), guard_(header_guard(text)) {}

  std::vector<std::string> run() {
    for (Token t = tokens_.next(); t.kind != Token::kEnd; t = tokens_.next()) {
      if (t.kind == Token::kDirective) {
        conditional(t.text);
        // What only C++ sees is not compiled here.
      } else if (cplusplus_ == 0) {
        if (t.kind == Token::kWord)
          word(t.text);
        else
          punct(t.text[0]);
      }
    }
    return std::move(names_);
  }

 private:
  struct Conditional {
    bool guard = false, cplusplus = false;
  };

  // What stands inside `#ifndef X #define X` is written once for all candidates and keeps its
  // names; the header's own guard is not such a block, since all of the file stands in it.
  void conditional(std::string_view line) {
    const auto [what, name] = directive_words(line);
    if (what == "if" || what == "ifdef" || what == "ifndef") {
      Conditional c;
      c.cplusplus = what == "ifdef" && name == "__cplusplus";
      cplusplus_ += c.cplusplus;
      maybe_guard_ = what == "ifndef" ? std::string(name) : "";
      open_.push_back(c);
      return;
    }
    if (what == "define" && !maybe_guard_.empty() && name == maybe_guard_ && name != guard_) {
      open_.back().guard = true;
      ++guards_;
    } else if (what == "else" && !open_.empty() && open_.back().cplusplus) {
      open_.back().cplusplus = false;
      --cplusplus_;
    } else if (what == "endif" && !open_.empty()) {
      guards_ -= open_.back().guard;
      cplusplus_ -= open_.back().cplusplus;
      open_.pop_back();
    }
    maybe_guard_.clear();
  }

  // `struct S` alone names nothing here; `struct S {` does, which the brace tells.
  void word(std::string_view w) {
    maybe_guard_.clear();
    if (braces_ > 0 || parens_ > 0) return;
    static const std::set<std::string_view> kNoNames = {
        "__attribute__", "__asm__", "asm",   "_Alignas", "_Static_assert", "__declspec", "_Pragma",
        "static",        "inline",  "const", "volatile", "register",       "restrict",   "void"};
    if (w == "extern") extern_ = true;
    tag_ = previous_ == "struct" || previous_ == "union" || previous_ == "enum";
    previous_ = kNoNames.count(w) ? "" : std::string(w);
  }

  // An initialiser's names are uses, and an `extern` declares what stands elsewhere.
  void punct(char c) {
    maybe_guard_.clear();
    const bool outer = braces_ == 0 && parens_ == 0;
    if (c == '(') {
      if (outer && function_.empty() && !tag_) function_ = previous_;
      ++parens_;
    } else if (c == ')') {
      parens_ = std::max(0, parens_ - 1);
      if (parens_ == 0 && braces_ == 0) previous_.clear();
    } else if (c == '{') {
      if (outer && !assigned_) {
        if (tag_)
          add(previous_);
        else if (!function_.empty())
          add(function_);
        body_of_function_ = !tag_ && !function_.empty();
      }
      ++braces_;
    } else if (c == '}') {
      braces_ = std::max(0, braces_ - 1);
      if (braces_ == 0) {
        previous_.clear();
        if (body_of_function_) statement();
      }
    } else if (outer && (c == '=' || c == '[' || c == ';' || c == ',')) {
      const bool name = !previous_.empty() && !tag_ && !extern_ && !assigned_ && function_.empty();
      if (name) add(previous_);
      if (c == '=') assigned_ = true;
      if (c == ',') assigned_ = false;
      if (c == ';') statement();
      previous_.clear();
    }
    if (outer && c != '*') tag_ = false;
  }

  void statement() {
    function_.clear();
    previous_.clear();
    tag_ = extern_ = assigned_ = body_of_function_ = false;
  }

  void add(const std::string& name) {
    if (guards_ > 0 || name.empty()) return;
    if (seen_.insert(name).second) names_.push_back(name);
  }

  Tokens tokens_;
  std::string guard_, maybe_guard_;
  std::vector<Conditional> open_;
  int guards_ = 0, cplusplus_ = 0, braces_ = 0, parens_ = 0;
  std::string previous_, function_;
  bool tag_ = false, extern_ = false, assigned_ = false, body_of_function_ = false;
  std::vector<std::string> names_;
  std::set<std::string> seen_;
};

}  // namespace

std::string header_guard(std::string_view header_text) {
  Tokens tokens(header_text);
  const Token first = tokens.next();
  if (first.kind != Token::kDirective) return "";
  const Token second = tokens.next();
  if (second.kind != Token::kDirective) return "";
  const auto [what, name] = directive_words(first.text);
  const auto [define, same] = directive_words(second.text);
  return what == "ifndef" && define == "define" && name == same ? std::string(name) : "";
}

std::vector<std::string> file_scope_names(std::string_view c_text) { return Scan(c_text).run(); }

}  // namespace exotune
