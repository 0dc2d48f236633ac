#pragma once
// Expressions: immutable, shared trees. Start at Expr; build with the functions at the end
// (they compute hash and bloom and fold nothing).
//
// Children are numbered uniformly (`expr_children`) so that paths and traversals need no case per
// node kind: Read: idx...; USub/Not/Cast: arg; BinOp: lhs, rhs; Extern: args...; WindowExpr: for
// each access lo [, hi]; the others have none.
#include <functional>
#include <optional>
#include <set>
#include <variant>

#include "core/base/source_location.h"
#include "core/base/symbol.h"
#include "core/ir/type.h"

namespace exotune {

struct Config;
using ConfigPtr = std::shared_ptr<const Config>;

/// The order matters: comparisons stand last and logic before them, which is what is_comparison and
/// is_logical look at.
enum class BinOpKind : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kAnd,
  kOr,
  kLt,
  kGt,
  kLe,
  kGe,
  kEq,
  kNe
};
const char* name_of(BinOpKind op);  // "+", "and", "<=", ...
constexpr bool is_comparison(BinOpKind op) { return op >= BinOpKind::kLt; }
constexpr bool is_logical(BinOpKind op) { return op == BinOpKind::kAnd || op == BinOpKind::kOr; }

/// A name that is read: whether it is control or data is the expression's `type`, not the node's.
/// A control variable, a data scalar, an element `x[i, j]`, or (idx empty, x a tensor) a whole
/// tensor passed to a call.
struct Read {
  Sym name;
  std::vector<ExprPtr> idx;
};
/// int64 with a control type is an integer literal; with a data type it is exact data; double and
/// bool likewise.
struct Const {
  std::variant<int64_t, double, bool> value;
};
/// Minus and not, of control integers or data and of booleans. Subtraction is a BinOp of its own:
/// `a
/// - b` never becomes `a + -b` by itself.
struct USub {
  ExprPtr arg;
};
struct Not {
  ExprPtr arg;
};
/// On control integers `/` and `%` have a positive literal right side and mean floor division and
/// mathematical modulo.
struct BinOp {
  BinOpKind op;
  ExprPtr lhs, rhs;
};
/// A function of data by its name, see core/ir/functions.h. select(a, b, c, d) is a < b ? c : d.
struct Extern {
  std::string fn;
  std::vector<ExprPtr> args;
};
/// One dimension of a window, half open: lo, ..., hi - 1.
struct WindowAccess {
  ExprPtr lo;
  ExprPtr hi;  // null: a point, which drops the dimension
  bool is_point() const { return hi == nullptr; }
};
/// `name[lo:hi, i]`: a view, never a copy. Appears as the right side of a WindowStmt and as an
/// argument of a call, nowhere else; so windows are not data that could be added or compared.
struct WindowExpr {
  Sym name;
  std::vector<WindowAccess> access;  // one per dimension of `name`
};
/// Elements between neighbours along dimension `dim` of `name`: a control value, the only way for a
/// program to speak of its memory layout. A dense tensor's strides follow from its extents.
struct StrideExpr {
  Sym name;
  int dim;
};
/// The field's present value: control or data, as the configuration declares it.
struct ReadConfig {
  ConfigPtr config;
  std::string field;
};

/// `f32(i + 1)`: a control integer as data of the node's type. In range of that type (checked); a
/// floating type rounds.
struct Cast {
  ExprPtr arg;
};

using ExprNode =
    std::variant<Read, Const, USub, Not, BinOp, Extern, WindowExpr, StrideExpr, ReadConfig, Cast>;

/// A node with its type and place. Never changed once made: whoever wants another expression makes
/// one (rewrite, with_children) and shares the children. `where` counts neither for hash nor for
/// equal.
struct Expr {
  ExprNode node;
  ScalarType type;  // of an element, for tensors and windows
  SourceLocation where;
  uint64_t hash = 0;   // structural, by symbol id; equal trees have equal hashes
  uint64_t bloom = 0;  // OR of the blooms of all symbols mentioned

  /// The node as a T, null when it is another: `if (const Read* r = e->as<Read>())`.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&node);
  }
};

// --- construction ---------------------------------------------------------------------------
/// The one place where hash and bloom are computed: O(children), since theirs are known. Checks no
/// types; the frontend and core/analysis do.
ExprPtr make_expr(ExprNode node, ScalarType type, SourceLocation where = {});
ExprPtr int_const(int64_t v);  // kIndex
ExprPtr bool_const(bool v);    // kBool
ExprPtr data_const(double v, ScalarType t = ScalarType::kR);
ExprPtr read_var(Sym name, ScalarType type);  // control variable or data scalar
ExprPtr read_elem(Sym name, std::vector<ExprPtr> idx, ScalarType type);
/// Control: type kIndex for arithmetic, kBool for comparisons and logic. Data: `lhs`'s type unless
/// it is kR, then `rhs`'s.
ExprPtr bin_op(BinOpKind op, ExprPtr lhs, ExprPtr rhs);
ExprPtr negate(ExprPtr e);
ExprPtr logical_not(ExprPtr e);
ExprPtr cast_to(ScalarType data, ExprPtr control);
inline ExprPtr operator+(const ExprPtr& a, const ExprPtr& b) {
  return bin_op(BinOpKind::kAdd, a, b);
}
inline ExprPtr operator-(const ExprPtr& a, const ExprPtr& b) {
  return bin_op(BinOpKind::kSub, a, b);
}
inline ExprPtr operator*(const ExprPtr& a, const ExprPtr& b) {
  return bin_op(BinOpKind::kMul, a, b);
}

// --- inspection -----------------------------------------------------------------------------
/// Copies of the pointers, in the order of the header of this file. O(children).
std::vector<ExprPtr> expr_children(const Expr& e);
/// The same node with other children (same number and order as expr_children).
ExprPtr with_children(const ExprPtr& e, const std::vector<ExprPtr>& children);
/// Pointers and hashes are compared first: different trees are told apart in constant time, all but
/// 2^-64 of them, and equal ones that share structure are walked once where they do not.
bool equal(const ExprPtr& a,
           const ExprPtr& b);  // structural, by symbol; types of constants count not
/// The literal integer value of a control constant, else nothing. Does not fold.
std::optional<int64_t> as_int(const ExprPtr& e);
/// False at once for most expressions without the symbol: the bloom says so. Else a walk.
bool mentions(const ExprPtr& e, Sym s);
/// Are integers (data) divided in `e` by what may be zero, or -1? Where the program does not
/// evaluate it, no rewrite may: it ends the process.
bool may_trap(const ExprPtr& e);
/// The literal, at least 1, by which a quotient of integers (data) divides; else nothing.
std::optional<int64_t> whole_divisor(const BinOp& quotient);
void collect_symbols(const ExprPtr& e, std::set<Sym>& into);

// --- rewriting ------------------------------------------------------------------------------
/// Bottom-up: `f` sees each node after its children were rewritten and returns a replacement or
/// null to keep it. Unchanged subtrees are shared.
ExprPtr rewrite(const ExprPtr& e, const std::function<ExprPtr(const ExprPtr&)>& f);
/// Replaces reads of the control variable or scalar `s` (no indices) by `by`.
ExprPtr substitute(const ExprPtr& e, Sym s, const ExprPtr& by);
/// Renames a symbol wherever it stands (buffers too).
ExprPtr rename(const ExprPtr& e, Sym from, Sym to);

}  // namespace exotune
