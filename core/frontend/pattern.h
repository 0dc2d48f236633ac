#pragma once
// Patterns: fragments of object code with `_` holes, as find() takes them. Start at parse_pattern.
//
//   for i in _: _        the loops over i (any bounds, any body)      for _ in _: _    every loop
//   C[_] += _            reductions into C, whatever the indices      x = _   x max= _   x : _
//   if _: _     f(_)     any if; any call of f                        Cfg.f = _   pass
//   a = _; b = _         two neighbouring statements                  _ * _   A[_]   expressions
//   ... #2               the third match in pre-order (counted from 0)
//
// A name without brackets matches accesses of any rank; `[_]` too. `_` in a statement position
// matches any run of statements. A body pattern matches a prefix of the body.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ir/stmt.h"

namespace exotune {

/// An expression with holes. Names are compared as they are spelled: a pattern knows no scopes.
struct PatternExpr {
  enum class Kind : uint8_t {
    kHole,    // _
    kRead,    // name, name[children]; also a window when `access` is set
    kConst,   // value
    kUSub,    // -children[0]
    kNot,     // not children[0]
    kBinOp,   // children[0] op children[1]
    kExtern,  // name(children)
    kStride,  // stride(name, dim)
    kConfig,  // name.field
  };
  struct Range {
    std::vector<PatternExpr> ends;  // one: a point; two: lo and hi
  };
  Kind kind = Kind::kHole;
  std::string name;                           // "_": any
  std::string field;                          // kConfig
  BinOpKind op = BinOpKind::kAdd;             // kBinOp
  std::variant<int64_t, double, bool> value;  // kConst
  int dim = -1;                               // kStride; -1: any
  bool any_children = true;  // kRead without brackets or with [_]; kExtern with (_)
  std::vector<PatternExpr> children;
  std::vector<Range> window;  // kRead with a `lo:hi` among its brackets
};

/// A statement with holes; what is absent from it matches anything.
struct PatternStmt {
  enum class Kind : uint8_t {
    kHole,         // _: any run of statements
    kAssign,       // name[idx] = first
    kReduce,       // name[idx] op= first
    kWriteConfig,  // name.field = first
    kPass,
    kIf,     // if first: body else: orelse
    kFor,    // for name in seq(first, second): body
    kAlloc,  // name: precision[idx]
    kCall    // name(idx)
  };
  Kind kind = Kind::kHole;
  std::string name;              // target, iterator or callee; "_": any
  std::string field;             // kWriteConfig
  ReduceOp op = ReduceOp::kAdd;  // kReduce
  bool any_idx = true;           // kAssign, kReduce, kAlloc, kCall: brackets absent, or a single _
  std::vector<PatternExpr> idx;  // indices, shape or arguments
  /// kAssign, kReduce, kWriteConfig: the right side. kIf: the condition. kFor: lo, when given.
  std::optional<PatternExpr> first;
  std::optional<PatternExpr> second;    // kFor: hi, when given
  std::optional<LoopMode> mode;         // kFor, when seq(...) or par(...) stands there
  std::optional<ScalarType> precision;  // kAlloc, when given
  std::vector<PatternStmt> body, orelse;
  bool has_orelse = false;  // false: an `if` matches with an else or without
};

/// A whole pattern: one expression, or a run of statements side by side.
struct Pattern {
  std::string text;  // as written
  std::variant<PatternExpr, std::vector<PatternStmt>> what;
  std::optional<int> nth;  // "#n"
  bool is_expr() const { return what.index() == 0; }
  const PatternExpr& expr() const { return std::get<0>(what); }
  const std::vector<PatternStmt>& stmts() const { return std::get<1>(what); }
  /// The name when the pattern is a bare identifier ("i", "C_reg"), else "".
  std::string bare_name() const;
};

/// Throws InputError (columns count inside the pattern) when the text is no pattern.
Pattern parse_pattern(std::string_view text);
/// As parse_pattern, from a small per-thread cache: the same string is parsed once.
std::shared_ptr<const Pattern> cached_pattern(const std::string& text);

}  // namespace exotune
