#include "core/library/arithmetic.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "core/ir/functions.h"
#include "core/ir/precision.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

// Powers inside of `e`, inner ones first, so that what is bound for one holds no other.
void add_powers(const ExprPtr& e, const Path& at, std::vector<Path>& out) {
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = at;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    add_powers(children[k], child, out);
  }
  const Extern* f = e->as<Extern>();
  if (f && f->fn == "pow") out.push_back(at);
}

int times_in(const ExprPtr& e, const ExprPtr& part) {
  if (equal(e, part)) return 1;
  int out = 0;
  for (const ExprPtr& c : expr_children(*e)) out += times_in(c, part);
  return out;
}

// One step of the power at hand; its base has a name then where it would be computed twice.
ProcPtr with_less_of_power(ProcPtr p, const Path& power) {
  const ExprPtr base = expr_at(*p, power)->as<Extern>()->args[0];
  const ProcPtr less = expand_power(p, Where(Cursor::expr(p, power)));
  if (expr_children(*base).empty() || base->as<Read>() || times_in(expr_at(*less, power), base) < 2)
    return less;
  Path at = power;
  at.push_back({Child::kExpr, 0});
  p = bind_expr(p, Where(Cursor::expr(p, at)), "base");
  Path behind = power;  // an allocation and an assignment stand in front of the statement now
  behind[stmt_part(power).size() - 1].index += 2;
  return expand_power(p, Where(Cursor::expr(p, behind)));
}

// The first power of the program that allows it, by one step. False: there is none.
bool take_from_a_power(ProcPtr& p) {
  for (const Path& path : all_stmt_paths(*p)) {
    const Cursor s = Cursor::stmt(p, path);
    if (!s.is<Assign>() && !s.is<Reduce>()) continue;
    std::vector<Path> powers;
    add_powers(s.rhs().expr(), s.rhs().path(), powers);
    for (const Path& power : powers)
      if (attempted(p, [&](const ProcPtr& q) { return with_less_of_power(q, power); })) return true;
  }
  return false;
}

}  // namespace

ProcPtr powers_as_products(ProcPtr p) {
  constexpr int kMostSteps = 1000;  // each looks at the whole program
  int steps = 0;
  while (steps < kMostSteps && take_from_a_power(p)) ++steps;
  if (steps == 0)
    throw SchedulingError("powers_as_products: no power has an exponent that the program says");
  return p;
}

namespace {

// An operation in a statement of a block.
struct Operation {
  ExprPtr expr;
  Path path;
};

bool is_quotient(const ExprPtr& e) {
  const BinOp* b = e->as<BinOp>();
  return b && b->op == BinOpKind::kDiv && is_data(e->type) && is_float(e->type);
}
bool is_one(const ExprPtr& e) { return equal(e, data_const(1, e->type)); }
// Takes as long as several products.
bool is_dear(const ExprPtr& e) {
  const Extern* call = e->as<Extern>();
  const Function* f = call ? find_function(call->fn) : nullptr;
  return is_quotient(e) || (f && !f->on_integers);
}

// The operations of the statements of the block, inner ones before those they stand in.
void add_operations(const ExprPtr& e, const Path& at, std::vector<Operation>& out) {
  if (e->as<Read>() || !is_data(e->type)) return;
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = at;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    add_operations(children[k], child, out);
  }
  if (is_dear(e)) out.push_back({e, at});
}
std::vector<Operation> operations_of(const ProcPtr& p, const Path& first) {
  std::vector<Operation> out;
  const int n = static_cast<int>(block_at(*p, first).size());
  for (int k = 0; k < n; ++k) {
    const Cursor s = Cursor::stmt(p, sibling(first, k));
    if (s.is<Assign>() || s.is<Reduce>()) add_operations(s.rhs().expr(), s.rhs().path(), out);
  }
  return out;
}

// Those that `same` finds equal, so many and more, in the order of their first.
template <class Same>
std::vector<std::vector<Operation>> alike_in(const std::vector<Operation>& all, const Same& same,
                                             size_t fewest) {
  std::vector<std::vector<Operation>> out;
  for (const Operation& o : all) {
    const auto group = std::find_if(out.begin(), out.end(),
                                    [&](const auto& g) { return same(g[0].expr, o.expr); });
    if (group == out.end())
      out.push_back({o});
    else
      group->push_back(o);
  }
  std::erase_if(out, [&](const auto& g) { return g.size() < fewest; });
  return out;
}

const ExprPtr& divisor_of(const ExprPtr& quotient) { return quotient->as<BinOp>()->rhs; }

// The loop whose body the block is, or null.
const For* loop_around(const ProcPtr& p, const Path& first) {
  return first.size() < 2 ? nullptr : stmt_at(*p, Path(first.begin(), first.end() - 1))->as<For>();
}

// Does an iteration of the loop around the block find another value than the one before?
bool changes_around(const ProcPtr& p, const Path& first, const ExprPtr& e) {
  const For* loop = loop_around(p, first);
  if (!loop) return true;
  std::vector<Sym> changed = {loop->iter};
  for_each_stmt(loop->body, [&](const StmtPtr& s) {
    if (const Assign* a = s->as<Assign>()) changed.push_back(a->name);
    if (const Reduce* r = s->as<Reduce>()) changed.push_back(r->name);
    if (const Alloc* a = s->as<Alloc>()) changed.push_back(a->name);
  });
  return std::any_of(changed.begin(), changed.end(), [&](Sym name) { return mentions(e, name); });
}

std::vector<Cursor> cursors_of(const ProcPtr& p, const std::vector<Operation>& group) {
  std::vector<Cursor> out;
  for (const Operation& o : group) out.push_back(Cursor::expr(p, o.path));
  return out;
}

// Components of one point, say, are divided by what the loop over them does not change.
bool is_over_components(const For* loop) {
  constexpr int64_t kMostComponents = 8;  // of loops that are unrolled
  const std::optional<int64_t> extent = loop ? literal_extent(*loop) : std::nullopt;
  return extent && *extent > 1 && *extent <= kMostComponents;
}

// One divisor of the block's that several are divided by, or several iterations of a short loop:
// its reciprocal has a name, in front of such a loop. The block begins at `first` then.
bool share_a_divisor(ProcPtr& p, Path& first) {
  std::vector<Operation> quotients = operations_of(p, first);
  std::erase_if(quotients, [&](const Operation& o) {
    return !is_quotient(o.expr) || divisor_of(o.expr)->as<Const>();
  });
  const auto by_one_divisor = [](const ExprPtr& a, const ExprPtr& b) {
    return equal(divisor_of(a), divisor_of(b));
  };
  for (std::vector<Operation>& group : alike_in(quotients, by_one_divisor, 1)) {
    const bool stays = !changes_around(p, first, divisor_of(group[0].expr));
    const bool alike = std::all_of(group.begin(), group.end(), [&](const Operation& o) {
      return equal(o.expr, group[0].expr);
    });
    // What stays in a longer loop is left to take_reciprocals.
    if (stays ? !is_over_components(loop_around(p, first)) : alike) continue;
    const bool done = attempted(p, [&](ProcPtr q) {
      std::vector<Operation> reciprocals = group;
      for (Operation& o : reciprocals) {
        if (is_one(o.expr->as<BinOp>()->lhs)) continue;
        q = multiply_by_reciprocal(q, Where(Cursor::expr(q, o.path)));
        o.path.push_back({Child::kExpr, 1});
      }
      const std::vector<Cursor> places = cursors_of(q, reciprocals);
      if (!stays) return bind_expr(q, places, "over");
      const Path loop(first.begin(), first.end() - 1);
      return bind_expr(q, places, "over", Where(Cursor::stmt(q, loop)));
    });
    if (!done) continue;
    if (stays) first[first.size() - 2].index += 2;  // an allocation and an assignment
    return true;
  }
  return false;
}

// One operation that the block computes several times: it has a name. The largest first, since a
// part of one that has a name is gone with it.
bool share_an_operation(ProcPtr& p, const Path& first) {
  auto groups = alike_in(
      operations_of(p, first), [](const ExprPtr& a, const ExprPtr& b) { return equal(a, b); }, 2);
  std::reverse(groups.begin(), groups.end());
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<Operation>& group) {
    return attempted(
        p, [&](const ProcPtr& q) { return bind_expr(q, cursors_of(q, group), "shared"); });
  });
}

// The first statements of all blocks, inner blocks first.
std::vector<Path> blocks_of(const Proc& p) {
  std::vector<Path> out;
  for (const Path& path : all_stmt_paths(p))
    if (path.back().index == 0) out.push_back(path);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

ProcPtr share_operations(ProcPtr p) {
  constexpr int kMostShared = 1000;  // each looks at its block again
  int shared = 0;
  // What gets a name stands in front of the first statement that reads it, or of the loop around
  // the block: paths of blocks before and around stay.
  for (Path first : blocks_of(*p)) {
    while (shared < kMostShared && share_a_divisor(p, first)) ++shared;
    while (shared < kMostShared && share_an_operation(p, first)) ++shared;
  }
  if (shared == 0) throw SchedulingError("share_operations: no block divides or calls alike twice");
  return p;
}

namespace {

bool is_multiplied(const ExprPtr& e) {
  const BinOp* b = e->as<BinOp>();
  return b && b->op == BinOpKind::kMul;
}
bool is_sum(const ExprPtr& e) {
  const BinOp* b = e->as<BinOp>();
  return b && (b->op == BinOpKind::kAdd || b->op == BinOpKind::kSub);
}

// Of the chain t0 + t1 - t2 + .. at hand, how far below it the sum with its first added term that
// is no product is: 0 is the whole chain. Nothing: it does not begin with two products, or has
// none.
std::optional<int> term_to_lead(const ExprPtr& chain) {
  std::optional<int> out;
  int depth = 0;
  ExprPtr e = chain;
  for (; is_sum(e); e = e->as<BinOp>()->lhs, ++depth) {
    const BinOp& b = *e->as<BinOp>();
    if (is_sum(b.lhs) && b.op == BinOpKind::kAdd && !is_multiplied(b.rhs) && !is_sum(b.rhs))
      out = depth;
    if (!is_sum(b.lhs) && !is_multiplied(b.rhs)) return std::nullopt;
  }
  return is_multiplied(e) ? out : std::nullopt;
}

// The first chain in `e` with a term to lead, and where the sum with that term stands.
std::optional<Path> sum_to_turn(const ExprPtr& e, const Path& at, bool in_chain) {
  if (e->as<Read>() || !is_data(e->type) || !is_float(e->type)) return std::nullopt;
  if (is_sum(e) && !in_chain)
    if (const std::optional<int> depth = term_to_lead(e)) {
      Path out = at;
      for (int k = 0; k < *depth; ++k) out.push_back({Child::kExpr, 0});
      return out;
    }
  const std::vector<ExprPtr> children = expr_children(*e);
  for (size_t k = 0; k < children.size(); ++k) {
    Path child = at;
    child.push_back({Child::kExpr, static_cast<int>(k)});
    if (std::optional<Path> found = sum_to_turn(children[k], child, is_sum(e) && k == 0))
      return found;
  }
  return std::nullopt;
}

// (t0 + t1) + k  ->  k + (t0 + t1)  ->  (k + t0) + t1
ProcPtr with_term_in_front(ProcPtr p, Path sum) {
  p = commute_expr(p, Where(Cursor::expr(p, sum)));
  while (is_sum(expr_at(*p, sum)->as<BinOp>()->rhs)) {
    p = left_reassociate_expr(p, Where(Cursor::expr(p, sum)));
    sum.push_back({Child::kExpr, 0});
  }
  return p;
}

}  // namespace

ProcPtr lead_with_terms(ProcPtr p) {
  bool any = false;
  for (const Path& path : all_stmt_paths(*p)) {
    const StmtPtr s = stmt_at(*p, path);
    if (!s->as<Assign>() && !s->as<Reduce>()) continue;
    const Path value = Cursor::stmt(p, path).rhs().path();
    for (auto sum = sum_to_turn(expr_at(*p, value), value, false); sum;
         sum = sum_to_turn(expr_at(*p, value), value, false)) {
      p = with_term_in_front(p, *sum);
      any = true;
    }
  }
  if (!any) throw SchedulingError("lead_with_terms: no sum begins with two products");
  return p;
}

namespace {

// Reads of elements of narrower integers in a value that only chooses between them and literals.
std::optional<std::vector<Cursor>> narrow_choices(const Cursor& value, ScalarType type) {
  const ScalarType narrow = value.expr()->type;
  const auto is_integer = [](ScalarType t) { return integers_of(t).has_value(); };
  if (!value.expr()->as<Extern>() || !is_integer(narrow) || !is_integer(type) ||
      bytes_of(narrow) >= bytes_of(type))
    return std::nullopt;
  std::vector<Cursor> out;
  const std::function<bool(const ExprPtr&, const Path&)> collect = [&](const ExprPtr& e,
                                                                       const Path& at) {
    if (e->as<Const>()) return true;
    if (e->as<Read>()) {
      out.push_back(Cursor::expr(value.proc(), at));
      return true;
    }
    const Extern* f = e->as<Extern>();
    if (!f || (f->fn != "select" && f->fn != "fmax" && f->fn != "fmin")) return false;
    for (size_t k = 0; k < f->args.size(); ++k) {
      Path child = at;
      child.push_back({Child::kExpr, static_cast<int>(k)});
      if (!collect(f->args[k], child)) return false;
    }
    return true;
  };
  if (!collect(value.expr(), value.path()) || out.empty()) return std::nullopt;
  return out;
}

// n = select(x[i], 0, 0, 1)  ->  x_part : i32; x_part = x[i]; n = select(x_part, 0, 0, 1)
ProcPtr with_wide_choices(ProcPtr p, const Path& path) {
  const StmtPtr s = stmt_at(*p, path);
  const Cursor value = Cursor::stmt(p, path).rhs();
  const Sym target = s->as<Assign>() ? s->as<Assign>()->name : s->as<Reduce>()->name;
  const std::optional<ScopeEntry> entry = lookup(*p, path, target);
  const auto reads = entry ? narrow_choices(value, entry->type.scalar) : std::nullopt;
  if (!reads) throw SchedulingError("convert_ahead: nothing narrower is chosen");
  std::vector<Where> bound;
  Cursor statement = Cursor::stmt(p, path);
  std::vector<ExprPtr> done;
  for (const Cursor& read : *reads) {
    const auto known = [&](const ExprPtr& e) { return equal(e, read.expr()); };
    if (std::any_of(done.begin(), done.end(), known)) continue;
    done.push_back(read.expr());
    std::vector<Cursor> same;
    for (const Cursor& other : *reads)
      if (equal(other.expr(), read.expr())) same.push_back(forward(p, other));
    const std::string name = read.expr()->as<Read>()->name.name() + "_wide";
    p = bind_expr(p, same, name);
    Path declared = forward(p, statement).path();
    declared.back().index -= 2;  // the allocation and the assignment stand in front
    bound.emplace_back(Cursor::stmt(p, declared));
  }
  return set_precision(p, bound, entry->type.scalar);
}

}  // namespace

ProcPtr convert_ahead(ProcPtr p) {
  const ProcPtr before = p;
  // From the last statement on, so that the paths of those before stay.
  std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const StmtPtr s = stmt_at(*p, *path);
    const bool adds = s->as<Reduce>() != nullptr;
    if (!adds && !s->as<Assign>()) continue;
    attempted(p, [&](const ProcPtr& q) { return with_wide_choices(q, *path); }) ||
        (adds && attempted(p, [&](const ProcPtr& q) {
           return bind_converted(q, Where(Cursor::stmt(q, *path)),
                                 s->as<Reduce>()->name.name() + "_part");
         }));
  }
  if (p == before)
    throw SchedulingError("convert_ahead: nothing of another type is added or chosen");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> arithmetic_operators() {
  using namespace params;
  return {
      {"powers_as_products",
       {proc()},
       "y = pow(x - m, 4.0)  ->  b = x - m; s = b * b; y = s * s, wherever the exponent is known",
       [](const OperatorArgs& a) -> Value { return powers_as_products(a.proc()); }},
      {"share_operations",
       {proc()},
       "a = x / d; b = y / d  ->  over = 1.0 / d; a = x * over; b = y * over, and functions called "
       "alike twice",
       [](const OperatorArgs& a) -> Value { return share_operations(a.proc()); }},
      {"lead_with_terms",
       {proc()},
       "y = a * b + c * d + k  ->  y = k + a * b + c * d, for each sum that begins with two "
       "products",
       [](const OperatorArgs& a) -> Value { return lead_with_terms(a.proc()); }},
      {"convert_ahead",
       {proc()},
       "count += select(..)  ->  one : i32; one = select(..); count += one, for sums of integers; "
       "n = select(x[i], 0, 0, 1) of bytes  ->  x_wide : i32; x_wide = x[i]; n = select(x_wide, "
       "..)",
       [](const OperatorArgs& a) -> Value { return convert_ahead(a.proc()); }},
  };
}

}  // namespace exotune
