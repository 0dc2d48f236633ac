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
    kSubscript,  // name[access...]
    kCall,       // name(children...)
    kAttribute,  // name.field
  };
  struct Access {
    bool range = false;              // `lo:hi`, either end may be absent
    std::vector<SyntaxExpr> lo, hi;  // none or one each; a point has only lo
  };
  Kind kind = Kind::kName;
  SourceLocation where;
  std::string name, field;
  int64_t integer = 0;
  double number = 0;
  BinOpKind op = BinOpKind::kAdd;
  std::vector<BinOpKind> ops;
  std::vector<SyntaxExpr> children;
  std::vector<Access> access;
  int height = 1;  // of this tree; at most kMaxHeight

  bool is_hole() const { return kind == Kind::kName && name == "_"; }
};

struct SyntaxType {
  SourceLocation where;
  std::string scalar;
  bool window = false;
  std::vector<SyntaxExpr> shape;
  bool has_brackets = false;
  std::string memory;  // after `@`; "" when absent
  SourceLocation memory_where;
};

struct SyntaxStmt {
  enum class Kind : uint8_t {
    kAssign,  // target = value
    kReduce,  // target op= value
    kAlloc,   // target : type
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
  SyntaxType type;
  std::vector<SyntaxStmt> body, orelse;
};

/// One expression; stops before the first token that cannot continue it.
SyntaxExpr parse_expression(TokenStream& t);
/// The type after `x :`, with its `@ Mem`.
SyntaxType parse_type(TokenStream& t);
/// One line's statements ("a = 1; b = 2") or one compound statement, line end included.
void parse_statement(TokenStream& t, std::vector<SyntaxStmt>& into);
/// `:` and what it governs: an indented block, or statements on the same line.
std::vector<SyntaxStmt> parse_suite(TokenStream& t);

}  // namespace exotune
