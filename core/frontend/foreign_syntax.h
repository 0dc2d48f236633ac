#pragma once
// What users of Python and C write and this language has not. syntax.cc, which is the grammar, asks
// here where a text leaves it; each function throws an InputError that says what is written
// instead, or returns where there is nothing of the kind.
#include <string>

#include "core/frontend/syntax.h"

namespace exotune {

/// `math.exp(x)` and `x.shape[0]`: the stream stands behind the field.
void refuse_dotted(const TokenStream& t, const SyntaxExpr& e);
/// `x[i].y`, at the dot.
[[noreturn]] void refuse_field(const TokenStream& t, const SyntaxExpr& element);
/// `target >>= 3`: the stream stands at the `=`, which the lexer does not join.
[[noreturn]] void refuse_bits_assigned(TokenStream& t, const SyntaxExpr& target,
                                       const std::string& op);
/// `in: f32`, `pass = 1.0`: what a keyword would be if it were a name.
void refuse_keyword_as_name(const TokenStream& t);
/// `while`, `return`, `import`: words that begin no statement of a procedure.
void refuse_word(const TokenStream& t);

/// `a, b = c, d`, and `a, b: f32`. The stream stands behind `first`.
void refuse_several(TokenStream& t, const SyntaxExpr& first);
/// `a = c, d` and `a: f32 = c, b: f32 = d`: the stream stands at the comma behind the first of
/// them, which is written `text`.
[[noreturn]] void refuse_more(TokenStream& t, const std::string& text);
/// `[1.0, 2.0]`: the stream stands at the bracket.
[[noreturn]] void refuse_list(TokenStream& t);
/// `target = [1.0, 2.0]` in a procedure: the stream stands at the bracket.
[[noreturn]] void refuse_list_assigned(TokenStream& t, const SyntaxExpr& target);
/// `NAME = [1, 2]` outside of procedures.
[[noreturn]] void refuse_constant_list(TokenStream& t, const std::string& name);
/// `target: f32[4] = ...`: the stream stands behind the `=`.
[[noreturn]] void refuse_values(TokenStream& t, const SourceLocation& where,
                                const SyntaxExpr& target, const SyntaxType& type);

}  // namespace exotune
