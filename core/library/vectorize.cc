#include "core/library/vectorize.h"

#include <algorithm>

#include "core/ir/precision.h"
#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/hoisting.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/replacement.h"

namespace exotune {
// From a loop over lanes to instructions. The statement is taken apart until each piece is one that
// the target has an instruction for: operands are bound to registers, operations one by one, fused
// forms first, and every piece is then unified with the instructions. Each of these is a primitive
// with its own proof, so that a wrong guess here costs a refusal and never correctness.

namespace {

// A literal, or a size or index as data.
bool is_constant(const ExprPtr& e) { return e->as<Const>() || e->as<Cast>(); }
// What needs no operation.
bool is_leaf(const ExprPtr& e) { return e->as<Read>() || is_constant(e); }

// One lane loop while its statements are brought into the form of instructions.
class LaneLoop {
 public:
  LaneLoop(ProcPtr p, Cursor loop, const VectorUnit& unit)
      : p_(std::move(p)), path_(loop.path()), unit_(unit), shapes_(shapes_of(unit.instrs)) {
    look_for_guard();
  }

  ProcPtr run() {
    inline_conversions();
    for (int k = 0; k < size();) {
      const Alloc* a = stmt_at(*p_, inner(k))->as<Alloc>();
      if (a && !a->type.is_tensor())
        widen(k);
      else
        ++k;
    }
    for (int k = 0; k < size(); ++k) {
      negate_factors(k);
      while (stage_something(k)) {
      }
    }
    for (int k = size() - 1; k >= 1; --k) {
      p_ = fission(p_, Cursor::gap(p_, inner(k)), guarded_ ? 2 : 1);
      ++loops_;
    }
    Path at = path_;
    for (int k = 0; k < loops_; ++k, at = sibling(at, 1)) {
      remove_guard_at(at);
      if (!replace_at(at) && !replace_broadcast(at) && !replace_in_place(at) && !take_apart(at))
        refuse(stmt_at(*p_, at));
      last_ = at;
    }
    return p_;
  }

 private:
  // One of the loops that `of` became.
  LaneLoop(const LaneLoop& of, const Path& loop) : LaneLoop(of) {
    path_ = loop;
    loops_ = 1;
    look_for_guard();
  }
  void look_for_guard() {
    const Block& body = body_of(*stmt_at(*p_, path_));
    guarded_ = body.size() == 1 && body[0]->as<If>() && orelse_of(*body[0]).empty();
  }

  // The instructions in the target's order; the first that unifies is taken, so targets list the
  // more powerful ones first.
  bool replace_at(const Path& at) {
    auto done = try_replace_any(p_, Cursor::stmt(p_, at), unit_.instrs);
    if (done) p_ = *done;
    return done.has_value();
  }
  // Is every element that `e` reads in a register, or the same for all lanes?
  // Vectors in memory are loads first; what is the same for all lanes is a broadcast.
  bool reads_no_lane_of_memory(const ExprPtr& e, const Path& at) const {
    if (const Read* r = e->as<Read>(); r && is_data(e->type) && !in_register(r->name, at))
      return std::none_of(r->idx.begin(), r->idx.end(),
                          [&](const ExprPtr& i) { return mentions(i, lane_of(at)); });
    const std::vector<ExprPtr> children = expr_children(*e);
    return std::all_of(children.begin(), children.end(),
                       [&](const ExprPtr& c) { return reads_no_lane_of_memory(c, at); });
  }
  Sym lane_of(const Path& inside) const {
    return stmt_at(*p_, Path(inside.begin(), inside.begin() + path_.size()))->as<For>()->iter;
  }
  // What stays in registers is computed in whole vectors: lanes beyond the guard are never stored.
  void remove_guard_at(const Path& loop) {
    Path guard = loop;
    guard.push_back({Child::kBody, 0});
    if (!stmt_at(*p_, guard)->as<If>()) return;
    Path stmt = guard;
    stmt.push_back({Child::kBody, 0});
    const StmtPtr s = stmt_at(*p_, stmt);
    const Assign* assign = s->as<Assign>();
    const Reduce* reduce = s->as<Reduce>();
    if (!assign && !reduce) return;
    const ScopeEntry target = *lookup(*p_, stmt, assign ? assign->name : reduce->name);
    if (target.mem != unit_.memory || !is_float(target.type.scalar)) return;
    if (!reads_no_lane_of_memory(assign ? assign->rhs : reduce->rhs, stmt)) return;
    try {
      p_ = remove_guard(p_, Cursor::stmt(p_, guard));
    } catch (const SchedulingError&) {
      // The lanes beyond the guard are read: a masked instruction keeps them.
    }
  }
  // `for l: v[l] = 3.0`, or `= f32(N)`: where no instruction has that constant, a broadcast takes
  // it from a scalar in front of the loop. `at` moves with the loop.
  bool replace_broadcast(Path& at) {
    Path assign = at;
    assign.push_back({Child::kBody, 0});
    if (stmt_at(*p_, assign)->as<If>()) assign.push_back({Child::kBody, 0});
    const Assign* a = stmt_at(*p_, assign)->as<Assign>();
    if (!a || !is_constant(a->rhs) || mentions(a->rhs, lane_of(at))) return false;
    const ProcPtr before = p_;
    const Cursor literal = Cursor::stmt(p_, assign).rhs();
    p_ = bind_expr(p_, std::vector<Cursor>{literal}, "c", Cursor::stmt(p_, at));
    const Path loop = sibling(at, 2);  // after the allocation and the assignment
    if (!replace_at(loop)) {
      p_ = before;
      return false;
    }
    at = loop;
    return true;
  }
  // `for l: v[l] = relu(v[l])`: the arguments of an instruction are different registers, so what
  // the statement reads of its own target is copied first. `at` moves with the loop.
  bool replace_in_place(Path& at) {
    const ProcPtr before = p_;
    Path loop = at;
    while (std::optional<Path> read = read_of_target(loop)) {
      const int depth = static_cast<int>(stmt_part(*read).size() - loop.size());
      const Sym target = stmt_at(*p_, stmt_part(*read))->as<Assign>()->name;
      p_ = bind_expr(p_, Where(Cursor::expr(p_, *read)), target.name() + "_v");
      const Path alloc = stmt_part(*read);
      p_ = expand_dim(p_, Cursor::stmt(p_, alloc), int_const(unit_.lanes),
                      read_var(lane_of(alloc), ScalarType::kIndex));
      p_ = lift_alloc(p_, Cursor::stmt(p_, alloc), depth);
      p_ = set_memory(p_, Cursor::stmt(p_, loop), unit_.memory);
      loop = sibling(loop, 1);
      Path copy = alloc;
      copy[loop.size() - 1] = loop.back();
      p_ = fission(p_, Cursor::gap(p_, sibling(copy, 1)), depth);
      remove_guard_at(loop);
      if (!replace_at(loop)) break;
      loop = sibling(loop, 1);
    }
    if (loop != at && replace_at(loop)) {
      at = loop;
      return true;
    }
    p_ = before;
    return false;
  }
  // The first element of its own target that the assignment under the lane loop at `loop` reads.
  std::optional<Path> read_of_target(const Path& loop) const {
    Path stmt = loop;
    do {
      stmt.push_back({Child::kBody, 0});
    } while (stmt_at(*p_, stmt)->as<If>());
    const Assign* a = stmt_at(*p_, stmt)->as<Assign>();
    if (!a || !in_register(a->name, stmt)) return std::nullopt;
    stmt.push_back({Child::kExpr, static_cast<int>(a->idx.size())});
    return find_read(a->rhs, stmt, a->name);
  }
  static std::optional<Path> find_read(const ExprPtr& e, const Path& at, Sym name) {
    if (const Read* r = e->as<Read>()) return r->name == name ? std::optional(at) : std::nullopt;
    const std::vector<ExprPtr> children = expr_children(*e);
    for (size_t c = 0; c < children.size(); ++c) {
      Path child = at;
      child.push_back({Child::kExpr, static_cast<int>(c)});
      if (auto found = find_read(children[c], child, name)) return found;
    }
    return std::nullopt;
  }
  [[noreturn]] void refuse(const StmtPtr& s) const {
    ProcPtr p = p_;
    throw SchedulingError("vectorize: no instruction of the target does this loop",
                          {LazyText([p, s] { return str(*p, {s}); })},
                          "add the instruction to the target, or choose another loop");
  }

  // An instruction has the statement's shape and does not fit all the same (it wants an operand
  // twice, or another literal): as if there were none, operation by operation. `at` moves with the
  // last loop.
  bool take_apart(Path& at) {
    LaneLoop apart(*this, at);
    const StmtPtr s = stmt_at(*p_, apart.inner(0));
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    if (!a && !r) return false;
    if (!apart.misfits_.insert(shape_of(*s)).second) return false;
    const std::vector<ExprPtr> parts = expr_children(a ? *a->rhs : *r->rhs);
    if (std::all_of(parts.begin(), parts.end(), [](const ExprPtr& e) { return e->as<Read>(); }))
      return false;
    p_ = apart.run();
    at = apart.last_;  // its loops may have been taken apart themselves
    return true;
  }

  Path inner(int k) const {
    Path out = path_;
    if (guarded_) out.push_back({Child::kBody, 0});
    out.push_back({Child::kBody, k});
    return out;
  }
  int size() const { return static_cast<int>(block_at(*p_, inner(0)).size()); }
  Sym lane() const { return stmt_at(*p_, path_)->as<For>()->iter; }

  bool in_register(Sym s, const Path& at) const {
    auto entry = lookup(*p_, at, s);
    return entry && entry->mem == unit_.memory;
  }

  // { t : i8 ; t = e ; y[l] = t }  ->  y[l] = e: the store converts, no register holds narrow
  // elements.
  void inline_conversions() {
    for (int k = 0; k < size(); ++k) {
      const Assign* a = stmt_at(*p_, inner(k))->as<Assign>();
      if (!a || !a->idx.empty() || !is_data(a->rhs->type) ||
          lookup(*p_, inner(k), a->name)->type.scalar == a->rhs->type)
        continue;
      const Sym t = a->name;
      if (!attempted(p_, [&](ProcPtr q) { return inline_assign(q, Cursor::stmt(q, inner(k))); }))
        continue;
      for (int at = k - 1; at >= 0; --at)
        if (const Alloc* alloc = stmt_at(*p_, inner(at))->as<Alloc>(); alloc && alloc->name == t)
          p_ = delete_buffer(p_, Cursor::stmt(p_, inner(at)));
      k = -1;  // again from the first
    }
  }

  // The scalar allocated by statement k becomes a register, one element per lane, before the loop.
  void widen(int k) {
    Path alloc = inner(k);
    p_ = expand_dim(p_, Cursor::stmt(p_, alloc), int_const(unit_.lanes),
                    read_var(lane(), ScalarType::kIndex));
    p_ = lift_alloc(p_, Cursor::stmt(p_, alloc), guarded_ ? 2 : 1);
    p_ = set_memory(p_, Cursor::stmt(p_, path_), unit_.memory);
    path_ = sibling(path_, 1);
  }

  void bind(const Path& expr, const std::string& name) {
    int k = stmt_part(expr).back().index;
    p_ = bind_expr(p_, Where(Cursor::expr(p_, expr)), name);
    widen(k);
  }

  // A subexpression of statement k that must stand in a register of its own first; literals stay
  // where an instruction has the same.
  bool bind_operand(const Path& stmt, const ExprPtr& rhs, int rhs_index, bool known) {
    Path at = stmt;
    at.push_back({Child::kExpr, rhs_index});
    return bind_in(at, rhs, stmt, known);
  }
  bool bind_in(const Path& at, const ExprPtr& e, const Path& stmt, bool known) {
    std::vector<ExprPtr> children = e->as<Read>() ? std::vector<ExprPtr>{} : expr_children(*e);
    for (size_t c = 0; c < children.size(); ++c) {
      Path child = at;
      child.push_back({Child::kExpr, static_cast<int>(c)});
      const ExprPtr& x = children[c];
      if (const Read* r = x->as<Read>()) {
        if (in_register(r->name, stmt)) continue;
        bind(child, r->name.name() + "_v");
        return true;
      }
      if (is_constant(x)) {
        if (known) continue;
        bind(child, "c_v");
        return true;
      }
      if (bind_in(child, x, stmt, known)) return true;
    }
    return false;
  }
  // Unification is asked only where shapes agree.
  bool has_shape(ScalarType written, const StmtPtr& s) const {
    const auto shapes = shapes_->find(written);
    const std::string shape = shape_of(*s);
    return shapes != shapes_->end() && shapes->second.count(shape) && !misfits_.count(shape);
  }
  StmtPtr with_value(const StmtPtr& s, const ExprPtr& value) const {
    if (const Assign* a = s->as<Assign>()) return make_assign(a->name, a->idx, value);
    const Reduce& r = *s->as<Reduce>();
    return make_reduce(r.name, r.idx, value, r.op);
  }
  // `e` when every operand that is no register yet, literals too, has become one.
  ExprPtr in_registers(const ExprPtr& e) const {
    if (is_leaf(e)) return read_var(lane(), e->type);
    std::vector<ExprPtr> parts;
    for (const ExprPtr& c : expr_children(*e)) parts.push_back(in_registers(c));
    return with_children(e, parts);
  }
  // `e` with its operations bound: what its own operation is left with.
  ExprPtr one_operation(const ExprPtr& e) const {
    std::vector<ExprPtr> parts;
    for (const ExprPtr& c : expr_children(*e)) parts.push_back(read_var(lane(), c->type));
    return with_children(e, parts);
  }

  // The multiply-add that would be lost if the inner sum were bound together with its product.
  // x + c * (a + b): when x + c * t is an instruction, the inner sum goes to a register, not the
  // product; so does what a / sqrt(b + c) takes the root of, where an instruction divides by it.
  bool bind_below_product(const StmtPtr& s, ScalarType written, const Path& stmt,
                          const ExprPtr& rhs, int rhs_index) {
    const std::vector<ExprPtr> children = expr_children(*rhs);
    for (size_t c = 0; c < children.size(); ++c) {
      if (is_leaf(children[c]) || (!children[c]->as<BinOp>() && !children[c]->as<Extern>()))
        continue;
      std::vector<ExprPtr> whole;
      for (const ExprPtr& x : children) whole.push_back(read_var(lane(), x->type));
      whole[c] = one_operation(children[c]);
      if (!has_shape(written, with_value(s, with_children(rhs, whole)))) continue;
      const std::vector<ExprPtr> parts = expr_children(*children[c]);
      for (size_t t = 0; t < parts.size(); ++t) {
        if (is_leaf(parts[t])) continue;
        Path part = stmt;
        for (int k : {rhs_index, static_cast<int>(c), static_cast<int>(t)})
          part.push_back({Child::kExpr, k});
        bind(part, "t_v");
        return true;
      }
    }
    return false;
  }
  bool bind_operation(const Path& stmt, const ExprPtr& rhs, int rhs_index) {
    std::vector<ExprPtr> children = expr_children(*rhs);
    for (size_t c = 0; c < children.size(); ++c) {
      if (is_leaf(children[c])) continue;
      Path child = stmt;
      child.push_back({Child::kExpr, rhs_index});
      child.push_back({Child::kExpr, static_cast<int>(c)});
      bind(child, "t_v");
      return true;
    }
    return false;
  }

  // The first of the user's rules that has something to do at the statement.
  bool apply_rule(const Path& stmt) {
    for (const VectorRule& rule : unit_.rules) {
      std::optional<ProcPtr> changed = rule(p_, Cursor::stmt(p_, stmt));
      if (!changed) continue;
      if (++applications_ > kMostApplications)
        throw SchedulingError("vectorize: a rule does not come to an end");
      path_ = forward(*changed, Cursor::stmt(p_, path_)).path();
      p_ = *changed;
      return true;
    }
    return false;
  }

  // x += -(a * b): where an instruction subtracts a product, it says x += -a * b.
  void negate_factors(int k) {
    const StmtPtr s = stmt_at(*p_, inner(k));
    const Reduce* r = s->as<Reduce>();
    const USub* minus = r ? r->rhs->as<USub>() : nullptr;
    const BinOp* product = minus ? minus->arg->as<BinOp>() : nullptr;
    if (!product || product->op != BinOpKind::kMul || !is_float(r->rhs->type)) return;
    const ExprPtr x = read_var(lane(), r->rhs->type), negative = make_expr(USub{x}, x->type, {});
    if (!has_shape(r->rhs->type, with_value(s, bin_op(BinOpKind::kMul, negative, x)))) return;
    p_ = negate_factor(p_, Where(Cursor::stmt(p_, inner(k)).rhs()));
  }

  // One step of bringing statement k into the form of an instruction; false when it is in it.
  // One step at a time, then the statement is looked at again: what was bound may have changed what
  // fits.
  bool stage_something(int k) {
    Path stmt = inner(k);
    StmtPtr s = stmt_at(*p_, stmt);
    const Assign* assign = s->as<Assign>();
    const Reduce* reduce = s->as<Reduce>();
    if (!assign && !reduce) return false;
    if (apply_rule(stmt)) return true;
    Sym target = assign ? assign->name : reduce->name;
    const std::vector<ExprPtr>& idx = assign ? assign->idx : reduce->idx;
    const ExprPtr& rhs = assign ? assign->rhs : reduce->rhs;
    int rhs_index = static_cast<int>(idx.size());
    Path rhs_path = stmt;
    rhs_path.push_back({Child::kExpr, rhs_index});
    const Read* leaf = rhs->as<Read>();
    bool leaf_in_register = leaf && in_register(leaf->name, stmt);

    if (!in_register(target, stmt)) {
      bool varies = std::any_of(idx.begin(), idx.end(),
                                [&](const ExprPtr& e) { return mentions(e, lane()); });
      if (reduce && varies) {
        std::string window = str(read_elem(target, idx, rhs->type), scope_at(*p_, stmt));
        p_ = stage_mem(p_, Cursor::stmt(p_, stmt), window, target.name() + "_v");
        widen(k);
        return true;
      }
      // A store, or lanes summed into one element: the value must be in a register.
      if (leaf_in_register) return false;
      bind(rhs_path, leaf ? leaf->name.name() + "_v" : target.name() + "_v");
      return true;
    }
    if (is_leaf(rhs)) {
      if (assign || leaf_in_register) return false;
      bind(rhs_path, leaf ? leaf->name.name() + "_v" : "c_v");
      return true;
    }
    const ScalarType written = lookup(*p_, stmt, target)->type.scalar;
    // Computed in another precision than it is kept in: there, and then converted. (Narrower
    // numbers are converted where they are read.)
    const auto wide = [](ScalarType t) { return bytes_of(t) >= bytes_of(ScalarType::kF32); };
    const bool other =
        bytes_of(rhs->type) != bytes_of(written) || is_float(rhs->type) != is_float(written);
    if (assign && has_own_precision(rhs) && wide(rhs->type) && wide(written) && other) {
      bind(rhs_path, "t_v");
      return true;
    }
    const bool known = has_shape(written, s);
    const bool fits = known || has_shape(written, with_value(s, in_registers(rhs)));
    if (!fits && bind_below_product(s, written, stmt, rhs, rhs_index)) return true;
    if (!fits && bind_operation(stmt, rhs, rhs_index)) return true;
    if (!fits && reduce) {  // dst += a + b: the sum first, then the accumulation
      bind(rhs_path, "t_v");
      return true;
    }
    return bind_operand(stmt, rhs, rhs_index, known);
  }

  ProcPtr p_;
  Path path_;
  const VectorUnit& unit_;
  std::shared_ptr<const Shapes> shapes_;
  std::set<std::string> misfits_;  // shapes that instructions have, and do not fit
  bool guarded_ = false;
  int loops_ = 1;
  Path last_;  // where the last of the loops stands once all are instructions
  static constexpr int kMostApplications = 1000;
  int applications_ = 0;
};

}  // namespace

// Exactly one vector: the loop's extent is the number of lanes already.
ProcPtr vectorize_lanes(ProcPtr p, const Where& lane_loop, const VectorUnit& unit) {
  Cursor c = lane_loop.loop(p);
  if (literal_extent(c.as<For>()) != unit.lanes)
    throw SchedulingError("vectorize: the loop `" + c.describe() + "` does not have " +
                          std::to_string(unit.lanes) + " iterations");
  return LaneLoop(p, c, unit).run();
}

// Divides the loop by the lanes and vectorizes whole vectors; what is left over is done as the tail
// says: by a guard (masked instructions), by scalars, or by nothing where the extent is a multiple.
ProcPtr vectorize(ProcPtr p, const Where& loop, const VectorUnit& unit, VectorTail tail) {
  Cursor c = loop.loop(p);
  std::string name = c.as<For>().iter.name();
  std::vector<std::string> names = {name + "v", name + "l"};
  Path path = c.path();
  Path lanes = path;
  lanes.push_back({Child::kBody, 0});
  const bool scalar_rest = tail == VectorTail::kCut || tail == VectorTail::kCutAndGuard;
  bool cut = scalar_rest || tail == VectorTail::kCutAndPredicate;
  Tail divide_tail = tail == VectorTail::kPerfect       ? Tail::kPerfect
                     : tail == VectorTail::kCutAndGuard ? Tail::kCutAndGuard
                     : cut                              ? Tail::kCut
                                                        : Tail::kGuard;
  auto extent = literal_extent(c.as<For>());
  const For& whole = c.as<For>();
  bool short_loop =
      extent ? *extent < unit.lanes
             : static_cast<bool>(prove(
                   *p, path, bin_op(BinOpKind::kLt, whole.hi - whole.lo, int_const(unit.lanes))));
  if (cut && short_loop) {
    if (scalar_rest) return p;
    cut = false;
    divide_tail = Tail::kGuard;
  }
  p = divide_loop(p, c, unit.lanes, names, divide_tail);
  if (cut && tail == VectorTail::kCutAndPredicate) {
    StmtPtr rest = stmt_at(*p, sibling(path, 1));
    if (rest && rest->as<For>() && rest->as<For>()->iter.name() == names[1]) {
      p = divide_loop(p, Cursor::stmt(p, sibling(path, 1)), unit.lanes, names, Tail::kGuard);
      Path rest_lanes = sibling(path, 1);
      rest_lanes.push_back({Child::kBody, 0});
      const Cursor rest_loop = Cursor::stmt(p, rest_lanes);
      p = simplify(p, Cursor::stmt(p, sibling(path, 1)));
      // A rest that no size meets is gone by now.
      if (const Cursor left = forward(p, rest_loop); left.valid())
        p = vectorize_lanes(p, left, unit);
    }
  }
  const Cursor vectors = Cursor::stmt(p, path);
  p = simplify(p, vectors);  // (16*v + l) / 16 -> v
  if (!forward(p, vectors).valid())
    throw SchedulingError("vectorize: the loop over `" + name + "` never runs");
  return vectorize_lanes(p, Cursor::stmt(p, lanes), unit);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> vectorize_operators() {
  using namespace params;
  return {
      {"vectorize",
       {proc(), place("loop"), integer("vw"), memory("mem_type"), procs("instructions"),
        string("tail", "cut_and_predicate")},
       "for i: x[i] = y[i] * z[i]  ->  for io: load; load; mul; store",
       [](const OperatorArgs& a) -> Value {
         return vectorize(a.proc(), a.where(1), vector_unit(a, 2, 3, 4), vector_tail(a.string(5)));
       }},
      {"vectorize_lanes",
       {proc(), place("lane_loop"), integer("vw"), memory("mem_type"), procs("instructions")},
       "for i in seq(0, vw): s  ->  one instruction per operation",
       [](const OperatorArgs& a) -> Value {
         return vectorize_lanes(a.proc(), a.where(1), vector_unit(a, 2, 3, 4));
       }},
      {"hoist_from_loop",
       {proc(), place("loop")},
       "for i: s1; s2  ->  s1; for i: s2   (s1 the same in every iteration)",
       [](const OperatorArgs& a) -> Value { return hoist_from_loop(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
