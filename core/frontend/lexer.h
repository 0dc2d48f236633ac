#pragma once
// Tokens of the three text forms (object code, patterns, schedule scripts), by Python's rules:
// indentation with tabs or spaces, both quotes and triple quotes, comments, lines continued in
// brackets or by a backslash, CRLF. Start at TokenStream.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune {

/// One word of the text, with where it stands. Texts of names are views into the source.
struct Token {
  /// kPlaceholder: `$T`, or a name with one in it, `add_${T}`; stands in a `for` block
  /// (expand_block).
  enum class Kind : uint8_t {
    kName,  // keywords too: which names are some depends on the parser
    kInt,
    kFloat,
    kString,  // adjacent ones are not joined here
    kOp,      // the longest that fits: `**`, `//` and `->` are one each
    kPlaceholder,
    kNewline,  // the end of a line that is not empty, outside of brackets
    kIndent,   // before the first line that is further in
    kDedent,   // one for each block that ends
    kWrong,    // `1.0f`, `&&`, `?`: an error for whoever reads it, and none for what is skipped
    kEnd       // once, and for ever after
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  // as written; into the source
  std::string value;      // kString: with escapes replaced
  uint64_t integer = 0;   // kInt; at most 2^63 (only a minus may stand before that one)
  double number = 0;      // kFloat
  int line = 1, column = 1;
  bool in_for = false;  // kString: of a `for` block, so that `$name` is a placeholder
  std::shared_ptr<const InputError> error;  // kWrong
};

/// The first `$name` or `${name}` of a text; empty: there is none.
std::string_view placeholder_in(std::string_view text);

/// Nesting of brackets and blocks beyond this is an error instead of a stack overflow.
inline constexpr int kMaxNesting = 200;
/// Branches of one if/elif chain.
inline constexpr int kMaxChain = 400;
/// Of one text, its `for` blocks expanded.
inline constexpr size_t kMostTokens = 1'000'000;
/// Moved while blocks are expanded, a second or so.
inline constexpr size_t kMostMoved = 20'000'000;
/// The height of an expression's tree: a sum of n terms has height n.
inline constexpr int kMaxHeight = 500;

/// Appends the tokens of a text, the end among them; the text must outlive them. For TokenStream.
void lex(std::string_view text, std::shared_ptr<const std::string> file, std::vector<Token>& out);

/// A cursor over the tokens of one text, with the helpers every parser needs. The text must outlive
/// the stream. Construction throws InputError for text that has no tokens (NUL, unterminated
/// string, 65-bit integer, inconsistent indentation). Made at once and kept: a cursor that looks
/// ahead costs nothing, and `for` blocks can be expanded in place. Cost: linear in the text, but
/// for expanded blocks. A token that is wrong by itself throws when it is looked at, so that only
/// the procedure in which it stands is refused.
class TokenStream {
 public:
  TokenStream(std::string_view text, const std::string& file);

  const Token& peek(int ahead = 0) const;
  const Token& next();  // never moves past the end
  bool at(std::string_view op_or_keyword) const { return is(peek(), op_or_keyword); }
  bool at(Token::Kind k) const { return peek().kind == k; }
  /// Moves past the next token if it is this one; says whether it was.
  bool accept(std::string_view op_or_keyword);
  bool accept(Token::Kind k);
  /// Throws InputError when the next token is another. `context`: for "expected X after the loop's
  /// bounds" style messages; empty: just X.
  const Token& expect(std::string_view op_or_keyword, std::string_view context = {});
  /// As expect, for a name that is no keyword; the token's text is the name.
  const Token& expect_name(std::string_view what);
  static bool is(const Token& t, std::string_view op_or_keyword);
  /// Where the stream stands, for skip_declaration.
  size_t position() const { return pos_; }
  /// Stands behind the declaration that has its first line at `position`, and behind its block;
  /// where that is missing, at the next `@` or `def` of a line's beginning. Looks at no token.
  void skip_declaration(size_t position);

  /// With the file's name shared, not copied.
  SourceLocation where(const Token& t) const { return {file_, t.line, t.column}; }
  SourceLocation where() const { return where(peek()); }
  /// "expected WHAT, found FOUND" at the next token.
  [[noreturn]] void fail(std::string_view expected) const;
  static std::string describe(const Token& t);
  const std::shared_ptr<const std::string>& file() const { return file_; }
  std::string_view text() const { return text_; }

  /// What `$name` stands for in one pass through a block: a text, spliced where it stands.
  using Bindings = std::map<std::string, std::string>;
  /// The stream stands at an indented block: puts in its place what it reads with each of `passes`,
  /// one after the other, and stands at its beginning. Tokens keep their places in the text. Throws
  /// InputError for a placeholder that is not bound, for what is no text of one line, and beyond
  /// kMostTokens.
  void expand_block(const std::vector<Bindings>& passes);

  /// Counts nesting while it lives; throws InputError beyond kMaxNesting.
  class Nesting {
   public:
    explicit Nesting(TokenStream& s);
    ~Nesting() { --s_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    TokenStream& s_;
  };

 private:
  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  void splice(const Token& t, const Bindings& names, std::vector<Token>& out);
  std::string_view keep(std::string made);

  std::vector<Token> tokens_;
  std::deque<std::string> made_;  // texts of tokens that no text holds; their addresses stay
  size_t pos_ = 0, moved_ = 0;
  int depth_ = 0;
};

/// Words that cannot name anything: for, if, def, and, ...
bool is_keyword(std::string_view word);
/// Letters, digits and underscores make a name.
bool is_name_char(char c);

}  // namespace exotune
