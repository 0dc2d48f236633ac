// The tokens of a text, one after the other, and blocks of `for` repeated in place.
#include "core/base/diagnostic.h"
#include "core/base/words.h"
#include "core/frontend/lexer.h"
#include "core/ir/c_template.h"

namespace exotune {
namespace {

// Unknown names stay as they were written: an inner `for` may bind them, and what nothing binds is
// refused by the parser with its place.
// `text` with the values of the names that are bound; the others stay.
std::string bound(std::string_view text, const TokenStream::Bindings& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t dollar = text.find('$', at);
    out += text.substr(at, dollar - at);
    if (dollar == std::string_view::npos) break;
    const bool braces = dollar + 1 < text.size() && text[dollar + 1] == '{';
    const size_t start = dollar + 1 + braces;
    size_t end = start;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const auto it = names.find(std::string(text.substr(start, end - start)));
    const bool closed = !braces || (end < text.size() && text[end] == '}');
    at = end + (braces && closed);
    out += it != names.end() && closed ? it->second : text.substr(dollar, at - dollar);
  }
  return out;
}

}  // namespace

TokenStream::TokenStream(std::string_view text, const std::string& file)
    : text_(text), file_(file.empty() ? nullptr : std::make_shared<const std::string>(file)) {
  lex(text_, file_, tokens_);
}

std::string_view TokenStream::keep(std::string made) { return made_.emplace_back(std::move(made)); }

// Replaces a token's placeholders by lexing their text again, so that what comes out is what would
// have been written there: a name, a number, an operator. It must stay within its line, or the
// indentation around would depend on a list's contents.
void TokenStream::splice(const Token& t, const Bindings& names, std::vector<Token>& out) {
  if (t.kind == Token::Kind::kString) {
    out.push_back(t);
    out.back().value = bound(t.value, names);
    // Its text is made: the parser refuses what is left unbound in it, with this place.
    out.back().in_for = true;
    return;
  }
  if (t.kind != Token::Kind::kPlaceholder) {
    out.push_back(t);
    return;
  }
  // Tokens refer to text, so that what is made here has to live as long as the stream.
  const std::string_view text = keep(bound(t.text, names));
  std::vector<Token> made;
  try {
    lex(text, nullptr, made);
  } catch (const InputError& e) {
    throw InputError(where(t), "`" + std::string(t.text) + "` is `" + std::string(text) +
                                   "` here: " + e.diagnostic().message.str());
  }
  for (const Token& m : made)
    if (m.kind == Token::Kind::kWrong)
      throw InputError(where(t), "`" + std::string(t.text) + "` is `" + std::string(text) +
                                     "` here: " + m.error->diagnostic().message.str());
  made.pop_back();  // the end of the text
  if (!made.empty() && made.back().kind == Token::Kind::kNewline) made.pop_back();
  for (Token& m : made) {
    if (m.kind == Token::Kind::kNewline || m.kind == Token::Kind::kIndent ||
        m.kind == Token::Kind::kDedent)
      throw InputError(where(t), "`" + std::string(t.text) + "` is more than one line here");
    // Messages point at the placeholder: the text that was made stands in no file.
    m.line = t.line;
    m.column = t.column;
    out.push_back(std::move(m));
  }
}

void TokenStream::expand_block(const std::vector<Bindings>& passes) {
  size_t end = pos_ + 1;  // after the indentation
  // To the dedent that closes the block; tokens of indentation come in pairs, which run() sees to.
  for (int depth = 1; depth > 0; ++end) {
    depth += tokens_[end].kind == Token::Kind::kIndent;
    depth -= tokens_[end].kind == Token::Kind::kDedent;
  }
  const std::vector<Token> body(tokens_.begin() + static_cast<std::ptrdiff_t>(pos_) + 1,
                                tokens_.begin() + static_cast<std::ptrdiff_t>(end) - 1);
  // What stands behind the block is moved: blocks in blocks would do so for ever.
  moved_ += tokens_.size() - pos_ + passes.size() * body.size();
  if (tokens_.size() + passes.size() * body.size() > kMostTokens || moved_ > kMostMoved)
    throw InputError(where(), "this `for` makes too much text of its lists");
  // Erasing and inserting moves what stands behind, which is linear per block; kMostMoved bounds
  // the sum over blocks in blocks, and with it the time that a small text can take.
  std::vector<Token> out;
  for (const Bindings& names : passes)
    for (const Token& t : body) splice(t, names, out);
  const auto first = tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(pos_),
                                   tokens_.begin() + static_cast<std::ptrdiff_t>(end));
  tokens_.insert(first, std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()));
}

// What is skipped may be wrong: tokens are not looked at by peek().
void TokenStream::skip_declaration(size_t position) {
  using Kind = Token::Kind;
  pos_ = position;
  const auto kind = [&] { return tokens_[pos_].kind; };
  const auto skip_line = [&] {
    while (kind() != Kind::kNewline && kind() != Kind::kEnd) ++pos_;
    if (kind() == Kind::kNewline) ++pos_;
  };
  const auto skip_block = [&] {
    int depth = 0;
    do {
      depth += kind() == Kind::kIndent;
      depth -= kind() == Kind::kDedent;
      ++pos_;
    } while (depth > 0 && kind() != Kind::kEnd);
  };
  skip_line();
  if (kind() == Kind::kIndent) return skip_block();
  // `def f(x: f32):` and no block: what stands below was meant to be one.
  const bool no_block = pos_ >= 2 && is(tokens_[pos_ - 2], ":");
  while (no_block && kind() != Kind::kEnd && kind() != Kind::kDedent && !is(tokens_[pos_], "@") &&
         !is(tokens_[pos_], "def"))
    kind() == Kind::kIndent ? skip_block() : skip_line();
}

// Past the end there is the end: parsers look ahead without asking how much is left.
const Token& TokenStream::peek(int ahead) const {
  const Token& t = tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
  if (t.kind == Token::Kind::kWrong) throw InputError(*t.error);
  return t;
}
const Token& TokenStream::next() {
  const Token& t = tokens_[pos_];
  if (pos_ + 1 < tokens_.size()) ++pos_;
  return t;
}
bool TokenStream::is(const Token& t, std::string_view word) {
  return (t.kind == Token::Kind::kOp || t.kind == Token::Kind::kName) && t.text == word;
}
bool TokenStream::accept(std::string_view word) {
  if (!at(word)) return false;
  next();
  return true;
}
bool TokenStream::accept(Token::Kind k) {
  if (!at(k)) return false;
  next();
  return true;
}
const Token& TokenStream::expect(std::string_view word, std::string_view context) {
  if (!at(word)) {
    fail("`" + std::string(word) + "`" + (context.empty() ? "" : " " + std::string(context)));
  }
  return next();
}
const Token& TokenStream::expect_name(std::string_view what) {
  if (!at(Token::Kind::kName)) fail(what);
  if (is_keyword(peek().text)) {
    throw InputError(
        where(), "`" + std::string(peek().text) + "` is a keyword; expected " + std::string(what));
  }
  return next();
}
void TokenStream::fail(std::string_view expected) const {
  throw InputError(where(), "expected " + std::string(expected) + ", found " + describe(peek()));
}
std::string TokenStream::describe(const Token& t) {
  switch (t.kind) {
    case Token::Kind::kNewline:
      return "the end of the line";
    case Token::Kind::kIndent:
      return "an indented line";
    case Token::Kind::kDedent:
      return "the end of the block";
    case Token::Kind::kEnd:
      return "the end of the text";
    case Token::Kind::kString:
      return "a string";
    case Token::Kind::kPlaceholder:
      return "`" + std::string(placeholder_in(t.text)) +
             "`, which no `for` around names (write `${NAME}` before a letter, a digit or `_`)";
    default:
      return (t.kind == Token::Kind::kName && is_keyword(t.text) ? "the keyword `" : "`") +
             std::string(t.text) + "`";
  }
}

// Recursive descent uses the stack: the depth is counted where recursion happens, and refused long
// before the stack would end.
TokenStream::Nesting::Nesting(TokenStream& s) : s_(s) {
  if (s_.depth_ >= kMaxNesting) throw InputError(s_.where(), "the code is nested too deeply");
  ++s_.depth_;
}

}  // namespace exotune
