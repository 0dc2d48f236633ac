#include "core/frontend/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace exotune {

namespace {

constexpr std::array<std::string_view, 20> kKeywords = {
    "for", "in",  "if",   "elif",  "else", "def",  "class",  "assert", "pass",   "and",
    "or",  "not", "True", "False", "None", "from", "import", "while",  "return", "lambda"};

// Longest first among those that share a first character.
// `<<`, `>>`, `&`, `|` and `^` are read, and refused where their operands are known.
constexpr std::array<std::string_view, 35> kOperators = {
    "**", "//", "->", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", ":=",
    "<<", ">>", "&",  "|",  "^",  "+",  "-",  "*",  "/",  "%",  "<",  ">",
    "=",  "(",  ")",  "[",  "]",  "{",  "}",  ",",  ":",  ".",  ";"};

// What other languages have and this one does not, with what to write instead.
constexpr std::array<std::pair<std::string_view, const char*>, 4> kForeign = {{
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"~",
     "of data `255 - x` in ui8, `65535 - x` in ui16, `-1 - x` in a signed type; `not` before a "
     "condition"},
    {"!", "write `not` or `!=`"},
}};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 2mm -> mm2, 3d_conv -> d_conv3, 2_3 -> n2_3.
std::string renamed(const std::string& word) {
  size_t digits = 0;
  while (digits < word.size() && is_digit(word[digits])) ++digits;
  size_t from = digits;
  while (from < word.size() && !is_name_start(word[from])) ++from;
  const std::string rest = word.substr(std::min(from, word.size()));
  if (rest.empty() || rest[0] == '_') return "n" + word;
  return rest + word.substr(0, digits);
}

class Lexer {
 public:
  Lexer(std::string_view text, std::shared_ptr<const std::string> file, std::vector<Token>& out)
      : text_(text), file_(std::move(file)), out_(out) {}

  void run() {
    // A byte order mark, which some editors leave: no column counts it.
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") pos_ = line_start_ = 3;
    indents_.push_back({0, 0});
    while (pos_ < text_.size()) {
      // Within brackets a line's beginning means nothing, as in Python.
      if (at_line_start_ && brackets_.empty()) {
        if (!indentation()) continue;
      }
      token();
    }
    if (!brackets_.empty()) {
      throw InputError(location(brackets_.back()),
                       "this `" + std::string(brackets_.back().text) + "` is never closed");
    }
    // A last line without its end still ends, and every block that is open is closed: parsers need
    // not ask for the end of the text.
    if (!at_line_start_) push(Token::Kind::kNewline, pos_, 0);
    while (indents_.size() > 1) {
      indents_.pop_back();
      push(Token::Kind::kDedent, pos_, 0);
    }
    push(Token::Kind::kEnd, pos_, 0);
  }

 private:
  // NUL behind the end, which no rule takes for a part of anything; one in the text itself is
  // refused by nul().
  char cur(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  SourceLocation location(const Token& t) const { return {file_, t.line, t.column}; }
  SourceLocation here() const { return {file_, line_, column(pos_)}; }
  // From 1, in bytes: what lies outside ASCII stands only in strings and comments.
  int column(size_t pos) const { return static_cast<int>(pos - line_start_) + 1; }

  Token& push(Token::Kind kind, size_t start, size_t length) {
    Token t;
    t.kind = kind;
    t.text = text_.substr(start, length);
    t.line = line_;
    t.column = column(start);
    out_.push_back(std::move(t));
    return out_.back();
  }
  /// Steps over one line end ("\n", "\r\n" or "\r").
  void newline() {
    if (cur() == '\r' && cur(1) == '\n') ++pos_;
    ++pos_;
    ++line_;
    line_start_ = pos_;
  }
  void comment() {
    while (pos_ < text_.size() && cur() != '\n' && cur() != '\r') {
      if (cur() == '\0') nul();
      ++pos_;
    }
  }
  /// A token that whoever reads it refuses: texts go on behind it.
  void wrong(size_t start, size_t length, const std::string& message, const std::string& hint) {
    Token& t = push(Token::Kind::kWrong, start, length);
    t.error = std::make_shared<const InputError>(location(t), message, hint);
    pos_ = start + length;
  }
  [[noreturn]] void nul() const { throw InputError(here(), "the text contains a NUL character"); }

  /// Measures the indentation of the line at pos_; false when the line is blank (and was skipped).
  bool indentation() {
    // Two measures, tabs to multiples of 8 and tabs as 1: as in Python they must agree on the
    // order.
    Indent in{0, 0};
    while (pos_ < text_.size()) {
      char c = cur();
      if (c == ' ') {
        ++in.wide, ++in.narrow;
      } else if (c == '\t') {
        in.wide = (in.wide / 8 + 1) * 8, ++in.narrow;
        // A form feed begins the line anew, as in Python.
      } else if (c == '\f') {
        in = {0, 0};
      } else {
        break;
      }
      ++pos_;
    }
    if (pos_ >= text_.size()) return false;
    if (cur() == '#') comment();
    if (pos_ >= text_.size()) return false;
    if (cur() == '\n' || cur() == '\r') {
      newline();
      return false;
    }
    // A blank line or a comment alone says nothing about blocks; this one does.
    at_line_start_ = false;
    auto consistent = [&](const Indent& other) {
      return (in.wide < other.wide) == (in.narrow < other.narrow) &&
             (in.wide == other.wide) == (in.narrow == other.narrow);
    };
    if (!consistent(indents_.back())) mixed();
    if (in.wide > indents_.back().wide) {
      // The parser is recursive: text must not decide how deep its stack goes.
      if (indents_.size() > static_cast<size_t>(kMaxNesting)) {
        throw InputError(here(), "the code is nested too deeply");
      }
      indents_.push_back(in);
      push(Token::Kind::kIndent, pos_, 0);
      return true;
    }
    // One dedent for each block that ends here, then it has to be a line's own indentation again.
    while (in.wide < indents_.back().wide) {
      indents_.pop_back();
      push(Token::Kind::kDedent, pos_, 0);
    }
    if (!consistent(indents_.back())) mixed();
    if (in.wide != indents_.back().wide) {
      throw InputError(here(), "this line's indentation matches no line above it");
    }
    return true;
  }
  [[noreturn]] void mixed() const {
    throw InputError(here(), "tabs and spaces are mixed in this indentation",
                     "indent the whole file with spaces");
  }

  void token() {
    char c = cur();
    if (c == '\0') nul();
    if (c == ' ' || c == '\t' || c == '\f') {
      ++pos_;
    } else if (c == '\n' || c == '\r') {
      if (brackets_.empty()) {
        push(Token::Kind::kNewline, pos_, 0);
        at_line_start_ = true;
      }
      newline();
    } else if (c == '#') {
      comment();
    } else if (c == '\\' && (cur(1) == '\n' || cur(1) == '\r')) {
      ++pos_;
      newline();
    } else if (is_name_start(c) || is_placeholder()) {
      // r"..." as C templates are often written: their backslashes are C's.
      if ((c == 'r' || c == 'R') && (cur(1) == '"' || cur(1) == '\'')) {
        ++pos_;
        string(/*raw=*/true);
        return;
      }
      name();
    } else if (is_digit(c) || (c == '.' && is_digit(cur(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(/*raw=*/false);
    } else {
      op();
    }
  }

  // `$T` or `${T}`.
  bool is_placeholder() const {
    return cur() == '$' && (is_name_start(cur(1)) || (cur(1) == '{' && is_name_start(cur(2))));
  }
  // A word, or one with placeholders in it: `add_${T}` is one token, and becomes another word (or
  // several tokens) in each pass through its `for` block.
  void name() {
    const size_t start = pos_;
    Token::Kind kind = Token::Kind::kName;
    while (is_name_char(cur()) || is_placeholder()) {
      if (cur() != '$') {
        ++pos_;
        continue;
      }
      kind = Token::Kind::kPlaceholder;
      const bool braces = cur(1) == '{';
      const SourceLocation at = here();
      pos_ += braces ? 2 : 1;
      while (is_name_char(cur())) ++pos_;
      if (braces && cur() != '}') throw InputError(at, "this `${` is never closed");
      pos_ += braces;
    }
    push(kind, start, pos_ - start);
  }

  // Long operators stand first in the table, so that `<=` is not read as `<` and `=`. What the
  // language lacks but users type gets a hint with what it has.
  void op() {
    std::string_view rest = text_.substr(pos_);
    const bool not_equal = rest.starts_with("!=");
    for (const auto& [o, instead] : kForeign) {
      if (rest.starts_with(o) && !not_equal)
        return wrong(pos_, o.size(), "unexpected `" + std::string(o) + "`", instead);
    }
    for (std::string_view o : kOperators) {
      if (rest.starts_with(o)) return op(o);
    }
    if (cur() == '@') return op("@");
    unsigned char u = static_cast<unsigned char>(cur());
    if (u >= 0x80) {
      size_t end = pos_;
      while (end < text_.size() && static_cast<unsigned char>(text_[end]) >= 0x80) ++end;
      return wrong(pos_, end - pos_, "a character that is not ASCII outside a string", "");
    }
    if (u < 0x20 || u == 0x7f) throw InputError(here(), "a control character in the text");
    wrong(pos_, 1, std::string("unexpected character `") + cur() + "`", "");
  }
  // Open brackets are kept with their places: an unclosed one is reported where it was opened,
  // which is where the mistake is, not at the end of the text.
  void op(std::string_view o) {
    Token& t = push(Token::Kind::kOp, pos_, o.size());
    pos_ += o.size();
    char c = o[0];
    if (o.size() > 1) return;
    if (c == '(' || c == '[' || c == '{') {
      brackets_.push_back(t);
    } else if (c == ')' || c == ']' || c == '}') {
      char open = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (brackets_.empty()) {
        throw InputError(location(t), std::string("this `") + c + "` closes nothing");
      }
      if (brackets_.back().text[0] != open) {
        throw InputError(Diagnostic{
            location(t),
            std::string("`") + c + "` does not close `" + std::string(brackets_.back().text) + "`",
            {"opened at " + location(brackets_.back()).str()},
            {}});
      }
      brackets_.pop_back();
    }
  }

  // A number's characters without `_`, for from_chars.
  struct Digits {
    std::string text;
    int base = 10;
    bool is_float = false;
  };

  // As Python reads numbers, `_` between digits included. The text is copied without `_`, and
  // from_chars does the rest: it knows no locale, and what it cannot hold is an error, never a
  // rounded integer.
  void number() {
    const size_t start = pos_;
    const SourceLocation at = here();
    Digits digits;
    if (cur() == '0' && (cur(1) == 'x' || cur(1) == 'X')) digits.base = 16;
    if (cur() == '0' && (cur(1) == 'b' || cur(1) == 'B')) digits.base = 2;
    if (digits.base != 10) {
      pos_ += 2;
      for (; is_name_char(cur()); ++pos_)
        if (cur() != '_') digits.text += cur();
    } else {
      digits = decimal_digits();
      if (is_name_char(cur())) return refuse_word(start, digits.is_float);
    }
    if (digits.is_float)
      push(Token::Kind::kFloat, start, pos_ - start).number = float_value(at, digits.text);
    else
      push(Token::Kind::kInt, start, pos_ - start).integer = integer_value(at, digits);
  }

  Digits decimal_digits() {
    Digits digits;
    const auto run = [&] {
      for (; is_digit(cur()) || (cur() == '_' && is_digit(cur(1))); ++pos_)
        if (cur() != '_') digits.text += cur();
    };
    run();
    // `1.` is a number, `1.x` is not read as one: it would be an attribute of an integer.
    if (cur() == '.' && !is_name_start(cur(1))) {
      digits.is_float = true;
      digits.text += '.';
      ++pos_;
      run();
    }
    // An e belongs to the number only with digits behind it.
    if ((cur() == 'e' || cur() == 'E') &&
        (is_digit(cur(1)) || ((cur(1) == '-' || cur(1) == '+') && is_digit(cur(2))))) {
      digits.is_float = true;
      digits.text += 'e';
      ++pos_;
      if (cur() == '-' || cur() == '+') digits.text += cur(), ++pos_;
      run();
    }
    return digits;
  }

  // A number that goes on as a name: `8x`, or C's `1.0f`.
  void refuse_word(size_t start, bool is_float) {
    while (is_name_char(cur())) ++pos_;
    const std::string word(text_.substr(start, pos_ - start));
    std::string hint;
    if (!is_float)
      hint = "a name begins with a letter: write `" + renamed(word) + "`";
    else if (word.back() == 'f' || word.back() == 'F')
      hint = "numbers take their type from where they stand: write `" +
             word.substr(0, word.size() - 1) + "`";
    wrong(start, word.size(), "`" + word + "` is neither a number nor a name", hint);
  }

  static double float_value(const SourceLocation& at, std::string digits) {
    // from_chars wants a digit in front of the point.
    if (digits[0] == '.') digits.insert(0, "0");
    const char* end = digits.data() + digits.size();
    double v = 0;
    const auto r = std::from_chars(digits.data(), end, v);
    if (r.ec == std::errc::result_out_of_range) {
      // Underflow is zero as in Python; overflow has no value.
      if (digits.find("e-") == std::string::npos) throw InputError(at, "this number is too large");
      return 0;
    }
    if (r.ec != std::errc() || r.ptr != end) throw InputError(at, "this is no number");
    return v;
  }

  // 2^63 passes: only `-` may stand in front of it then, which the parser checks, since the lexer
  // does not know signs.
  static uint64_t integer_value(const SourceLocation& at, const Digits& digits) {
    const char* end = digits.text.data() + digits.text.size();
    uint64_t v = 0;
    const auto r = std::from_chars(digits.text.data(), end, v, digits.base);
    if (r.ec == std::errc::result_out_of_range || (r.ec == std::errc() && v > uint64_t{1} << 63))
      throw InputError(at, "this integer does not fit in 64 bits");
    if (r.ec != std::errc() || r.ptr != end) throw InputError(at, "this is no number");
    return v;
  }

  // A triple-quoted string may run over lines; the token's place is where it begins. Escapes are
  // Python's, as far as they can stand in a name, a template or a message.
  void string(bool raw) {
    size_t start = pos_;
    SourceLocation at = here();
    char quote = cur();
    bool triple = cur(1) == quote && cur(2) == quote;
    // push() would give it the place where the string ends.
    int start_line = line_, start_column = column(pos_);
    pos_ += triple ? 3 : 1;
    std::string value;
    for (;;) {
      if (pos_ >= text_.size()) throw InputError(at, "this string is never closed");
      char c = cur();
      if (c == '\0') nul();
      if (c == quote && (!triple || (cur(1) == quote && cur(2) == quote))) {
        pos_ += triple ? 3 : 1;
        break;
      }
      if (c == '\n' || c == '\r') {
        if (!triple) throw InputError(at, "this string is not closed on its line");
        newline();
        value += '\n';
        continue;
      }
      if (c != '\\') {
        value += c;
        ++pos_;
        continue;
      }
      // A backslash stays in the text; it only keeps the quote behind it from closing the string.
      if (raw) {
        value += c;
        ++pos_;
        if (pos_ < text_.size() && cur() == quote) value += cur(), ++pos_;
        continue;
      }
      escape(value);
    }
    Token& t = push(Token::Kind::kString, start, pos_ - start);
    t.line = start_line;
    t.column = start_column;
    t.value = std::move(value);
  }
  void escape(std::string& value) {
    SourceLocation at = here();
    ++pos_;
    char c = cur();
    switch (c) {
      case '\n':
      case '\r':
        newline();
        return;
      case 'n':
        value += '\n';
        break;
      case 't':
        value += '\t';
        break;
      case 'r':
        value += '\r';
        break;
      case '\\':
        value += '\\';
        break;
      case '\'':
        value += '\'';
        break;
      case '"':
        value += '"';
        break;
      case '\0': {
        if (pos_ < text_.size()) nul();
        return;  // the end of the text: the caller reports the open string
      }
      default:
        value += '\\';  // as in Python, an unknown escape stands for itself
        value += c;
        break;
    }
    ++pos_;
  }

  struct Indent {
    int wide, narrow;
  };
  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  std::vector<Token>& out_;
  size_t pos_ = 0, line_start_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
  std::vector<Indent> indents_;
  std::vector<Token> brackets_;
};

}  // namespace

// The first `$NAME` or `${NAME}` of a text; nothing for a lone dollar, which C templates may have.
std::string_view placeholder_in(std::string_view text) {
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    const bool braces = at + 1 < text.size() && text[at + 1] == '{';
    size_t end = at + 1 + braces;
    if (end >= text.size() || !is_name_start(text[end])) continue;
    while (end < text.size() && is_name_char(text[end])) ++end;
    return text.substr(at, end - at + (braces && end < text.size() && text[end] == '}'));
  }
  return {};
}

bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }

bool is_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

void lex(std::string_view text, std::shared_ptr<const std::string> file, std::vector<Token>& out) {
  Lexer(text, std::move(file), out).run();
}

}  // namespace exotune
