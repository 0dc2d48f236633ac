#pragma once
// Object code as it is written, before names and types: what the grammar yields, and what both the
// elaborator (parser.cc) and patterns (pattern.cc) start from. Start at parse_expression and
// parse_statements.
#include <optional>
#include <string>
#include <vector>

#include "core/frontend/lexer.h"
#include "core/ir/stmt.h"

namespace exotune {

/// What the one choice by data is; for hints.
inline constexpr const char* kSelectIs = "`select(a, b, c, d)` is `c` where a < b, else `d`";

/// An expression as it stands in the text: precedence is resolved, names and types are not. Which
/// fields count is said by its kind.
struct SyntaxExpr {
  enum class Kind : uint8_t {
    kName,       // name
    kInt,        // integer (negative when a minus stood right before the literal)
    kFloat,      // number
    kBool,       // integer 0 or 1
    kNegate,     // -children[0]
    kNot,        // not children[0]
    kBinary,     // children[0] op children[1]; arithmetic and logic
    kCompare,    // children[0] ops[0] children[1] ops[1] children[2] ...
    kBits,       // children[0] name children[1]: `<<`, `>>`, `&`, `|`, `^` or `**`, to be refused
    kChoice,     // children[1] if children[0] else children[2], to be refused with what it means
    kSubscript,  // name[access...]
    kCall,       // name(children...)
    kAttribute,  // name.field
  };
  struct Access {
    bool range = false;              // `lo:hi`, either end may be absent
    std::vector<SyntaxExpr> lo, hi;  // none or one each; a point has only lo
  };
  Kind kind = Kind::kName;
  SourceLocation where;            // of its first token; of a binary one, of the operator
  std::string name, field;         // kName, kSubscript, kCall, kAttribute, kBits
  int64_t integer = 0;             // kInt, kBool
  double number = 0;               // kFloat
  BinOpKind op = BinOpKind::kAdd;  // kBinary
  std::vector<BinOpKind> ops;      // kCompare: one fewer than children
  std::vector<SyntaxExpr> children;
  std::vector<Access> access;  // kSubscript, by dimension
  int height = 1;              // of this tree; at most kMaxHeight

  /// `_`, which a pattern matches with anything.
  bool is_hole() const { return kind == Kind::kName && name == "_"; }
};

/// The expression as text, with the fewest brackets: for messages, which speak of what the user
/// wrote.
std::string written(const SyntaxExpr& e);
/// The same where anything may stand around it: `(a + b)`, `x[i]`.
std::string written_operand(const SyntaxExpr& e);
/// The same where a sum begins with it: `a + b`, `(a < b)`.
std::string written_term(const SyntaxExpr& e);

/// What stands after a colon: `f32`, `f32[n, 4] @ DRAM`, `[f32][n]`, `size`.
struct SyntaxType {
  SourceLocation where;
  std::string scalar;   // "f32", "size": whether there is such a type is not looked at here
  bool window = false;  // `[f32][...]`
  std::vector<SyntaxExpr> shape;
  bool has_brackets = false;  // `[...]` was written
  std::string memory;         // after `@`; "" when absent
  SourceLocation memory_where;
};

/// The type as text.
std::string written(const SyntaxType& type);

/// A statement as it stands in the text, with the blocks that it governs.
struct SyntaxStmt {
  enum class Kind : uint8_t {
    kAssign,  // target = value
    kReduce,  // target op= value
    kAlloc,   // target : type, or target : type = value
    kExpr,    // value alone: a call, or a hole in a pattern
    kPass,
    kFor,     // for target(name) in value: body
    kIf,      // if value: body else: orelse
    kAssert,  // assert value
  };
  Kind kind = Kind::kPass;
  SourceLocation where;
  ReduceOp op = ReduceOp::kAdd;  // kReduce
  std::optional<SyntaxExpr> target, value;
  SyntaxType type;                       // kAlloc
  std::vector<SyntaxStmt> body, orelse;  // kFor, kIf
};

// All throw InputError at the token that does not fit, with what was expected; depth is bounded
// (kMaxHeight), so that no text can exhaust the stack.

/// One expression; stops before the first token that cannot continue it.
SyntaxExpr parse_expression(TokenStream& t);
/// The type after `x :`, with its `@ Mem`.
SyntaxType parse_type(TokenStream& t);
/// One line's statements ("a = 1; b = 2") or one compound statement, line end included.
void parse_statement(TokenStream& t, std::vector<SyntaxStmt>& into);
/// `:` and what it governs: an indented block, or statements on the same line.
std::vector<SyntaxStmt> parse_suite(TokenStream& t);

}  // namespace exotune
