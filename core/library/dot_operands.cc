#include "core/library/dot_operands.h"

#include <algorithm>

#include "core/library/dot_block.h"
#include "core/library/inspection.h"
#include "core/library/tiles.h"

namespace exotune {

// The elements that a block reads.
std::vector<const Read*> elements_read(const Block& block) {
  std::vector<const Read*> out;
  for_each_expr(block, [&](const ExprPtr& e) {
    for (const Read* r : data_reads(e))
      if (!r->idx.empty()) out.push_back(r);
  });
  return out;
}

Type type_of(const ProcPtr& p, const Path& path, Sym buffer) {
  const std::optional<ScopeEntry> entry = lookup(*p, path, buffer);
  return entry ? entry->type : Type{};
}

// A loop of the name that holds nothing but `next`, and so on down to the sum.
const For* loop_called(const StmtPtr& s, const std::string& name) {
  const For* f = s->as<For>();
  return f && f->iter.name() == name ? f : nullptr;
}

// for j: { C = c; .. }
bool sets_first(const For& loop) {
  return loop.body.size() > 1 && loop.body.front()->as<Assign>() != nullptr;
}

std::optional<NarrowProduct> narrow_product_at(const ProcPtr& p, const Path& top,
                                               const std::vector<std::string>& names) {
  const For* loops[3] = {};
  StmtPtr s = stmt_at(*p, top);
  NarrowProduct out;
  for (size_t d = 0; d < 3; ++d) {
    loops[d] = loop_called(s, names[d]);
    if (!loops[d]) return std::nullopt;
    if (d == 1) out.begun = sets_first(*loops[d]);
    if (d < 2 && loops[d]->body.size() != (d == 1 && out.begun ? 2 : 1)) return std::nullopt;
    s = loops[d]->body.back();
  }
  const Reduce* sum = loops[2]->body.back()->as<Reduce>();
  if (!sum || sum->op != ReduceOp::kAdd) return std::nullopt;
  if (out.begun && loops[1]->body.front()->as<Assign>()->name != sum->name) return std::nullopt;
  out.sum = sum->name;
  for (const Read* r : elements_read(loops[2]->body)) {
    const auto along = [&](Sym v) {
      return std::any_of(r->idx.begin(), r->idx.end(),
                         [&](const ExprPtr& e) { return mentions(e, v); });
    };
    if (along(loops[2]->iter)) (along(loops[1]->iter) ? out.b : out.a) = r->name;
  }
  if (!out.a.valid() || !out.b.valid()) return std::nullopt;
  out.a_type = type_of(p, top, out.a).scalar;
  out.b_type = type_of(p, top, out.b).scalar;
  out.sum_type = type_of(p, top, out.sum).scalar;
  return out;
}

namespace {

// The iterator of the name, of the nest's loops.
Sym iterator_in(const ProcPtr& p, Path nest, const std::string& name) {
  for (const For* f = &loop_at(p, nest); f;) {
    if (f->iter.name() == name) return f->iter;
    f = f->body.size() == 1 || sets_first(*f) ? f->body.back()->as<For>() : nullptr;
  }
  return {};
}

// The dimension of the one read of `buffer` in the nest whose index mentions the loop's iterator.
int dim_along(const ProcPtr& p, const Path& nest, Sym buffer, const std::string& loop) {
  std::optional<int> dim;
  const Sym iter = iterator_in(p, nest, loop);
  for (const Read* r : elements_read({stmt_at(*p, nest)}))
    for (size_t d = 0; r->name == buffer && d < r->idx.size(); ++d)
      if (mentions(r->idx[d], iter)) dim = static_cast<int>(d);
  if (!dim)
    throw SchedulingError("products of narrow elements: `" + buffer.name() +
                          "` does not run along `" + loop + "`");
  return *dim;
}

ProcPtr split_dim(ProcPtr p, const Path& alloc, int dim, int64_t q) {
  const std::optional<int64_t> size =
      as_int(at(p, alloc).as<Alloc>().type.shape[static_cast<size_t>(dim)]);
  if (!size) throw SchedulingError("products of narrow elements: the extents must be literal");
  if (*size % q != 0)
    p = resize_dim(p, at(p, alloc), dim, int_const((*size + q - 1) / q * q), int_const(0));
  return divide_dim(p, at(p, alloc), dim, q);
}

// How many strips or groups of neighbours the instruction copies: 1 for e: for r: dst[..] = src[..]
// over `lanes` and `group`, and n with a loop over n around it; 0: it is none.
int64_t groups_copied(const Proc& instr, const DotInstr& dot) {
  std::vector<const For*> loops;
  for (const Block* b = &instr.body; b->size() == 1;) {
    const For* f = b->front()->as<For>();
    if (!f) break;
    loops.push_back(f);
    b = &f->body;
  }
  if (loops.size() < 2 || loops.size() > 3 || loops.back()->body.size() != 1 ||
      !loops.back()->body[0]->as<Assign>())
    return 0;
  if (literal_extent(*loops[loops.size() - 2]) != dot.lanes ||
      literal_extent(*loops.back()) != dot.group)
    return 0;
  return loops.size() == 2 ? 1 : literal_extent(*loops.front()).value_or(0);
}

// for o: for n: for e: for r: one element  ->  as many strips (or groups, where the loop over n is
// one) as an instruction copies at a time, and the rest. Nothing: no instruction does.
std::optional<ProcPtr> copy_several(const ProcPtr& before, const Path& copy, const DotInstr& dot,
                                    const VectorUnit& unit) {
  const int64_t extent = literal_extent(loop_at(before, child(copy))).value_or(0);
  for (const ProcPtr& instr : unit.instrs) {
    const int64_t several = groups_copied(*instr, dot);
    if (several < 2 || extent < several) continue;
    try {
      ProcPtr p = divide_loop(before, at(before, child(copy)), several, {"b", "x"}, Tail::kCut);
      if (block_at(*p, child(copy)).size() > 1) p = fission(p, at(p, child(copy)).after(), 1);
      p = simplify(p, at(p, copy));
      return replace(p, at(p, child(child(copy))), instr);
    } catch (const SchedulingError&) {  // of other types, or along the other dimension
    }
  }
  return std::nullopt;
}

// for e: for r: the elements of a strip's groups, by an instruction that interleaves rows or one by
// one.
ProcPtr copy_groups(ProcPtr p, const Path& elements, const DotInstr& dot, const VectorUnit& unit) {
  for (const ProcPtr& instr : unit.instrs) {
    if (groups_copied(*instr, dot) != 1) continue;
    try {
      return replace(p, at(p, elements), instr);
    } catch (const SchedulingError&) {  // of other types, or along the other dimension
    }
  }
  return unroll_loop(p, at(p, child(elements)));
}

// The copy of a matrix into strips of one vector, groups of its depth side by side:
// for k: for j  ->  for ko: for s: the group's elements, or strip after strip where the depth lies
// in rows; instructions for several go along the row.
ProcPtr order_copy(ProcPtr p, const Path& copy, bool depth_first, const DotInstr& dot,
                   const VectorUnit& unit) {
  if (!depth_first) p = reorder_loops(p, at(p, copy));
  p = divide_loop(p, at(p, copy), dot.group, {"ko", "r"}, Tail::kPerfect);
  p = reorder_loops(p, at(p, child(copy)));
  if (literal_extent(loop_at(p, child(copy))).value_or(0) < dot.lanes) {
    p = simplify(p, at(p, copy));
    return unroll_loop(p, at(p, child(child(copy))));
  }
  p = divide_loop(p, at(p, child(copy)), dot.lanes, {"s", "e"}, Tail::kCut);
  if (block_at(*p, child(copy)).size() > 1) {
    p = fission(p, at(p, child(copy)).after(), 1);
    p = unroll_loop(p, at(p, child(child(sibling(copy, 1)))));
  }
  if (!depth_first) p = reorder_loops(p, at(p, copy));
  p = simplify(p, at(p, copy));
  const size_t before = block_at(*p, copy).size();
  const std::optional<ProcPtr> several = copy_several(p, copy, dot, unit);
  if (!several && depth_first) p = reorder_loops(p, at(p, copy));
  if (!several) return copy_groups(p, child(child(copy)), dot, unit);
  if (block_at(**several, copy).size() == before) return *several;
  return copy_groups(*several, child(child(sibling(copy, 1))), dot, unit);
}

}  // namespace

// B of the nest at `top` in strips of the instruction's operand; the nest stands two on.
ProcPtr pack_strips(ProcPtr p, const Path& top, const NarrowProduct& product, const DotInstr& dot,
                    const std::string& j, const std::string& k, const VectorUnit& unit) {
  p = stage_around(p, top, product.b, product.b.name() + "_dot");
  const Sym packed = at(p, top).as<Alloc>().name;
  const int along_k = dim_along(p, sibling(top, 2), packed, k);
  const int along_j = dim_along(p, sibling(top, 2), packed, j);
  if (at(p, top).as<Alloc>().type.rank() != 2 || along_k == along_j)
    throw SchedulingError("products of narrow elements: `" + product.b.name() +
                          "` is no matrix over `" + k + "` and `" + j + "`");
  const bool depth_first = along_k < along_j;
  p = split_dim(p, top, 1, depth_first ? dot.lanes : dot.group);
  p = split_dim(p, top, 0, depth_first ? dot.group : dot.lanes);
  p = rearrange_dim(p, at(p, top), depth_first ? std::vector{2, 0, 3, 1} : std::vector{0, 2, 1, 3});
  if (dot.w != product.b_type) p = set_precision(p, at(p, top), dot.w);
  return order_copy(p, sibling(top, 1), depth_first, dot, unit);
}

// A with its depth last and in the instruction's type, copied only where it is not; statements
// then stand in front of the nest.
ProcPtr align_rows(ProcPtr p, const Path& top, const NarrowProduct& product, const DotInstr& dot,
                   const std::string& k) {
  const int along_k = dim_along(p, top, product.a, k);
  if (dot.x == product.a_type && along_k == type_of(p, top, product.a).rank() - 1) return p;
  p = stage_around(p, top, product.a, product.a.name() + "_dot");
  const Sym copy = at(p, top).as<Alloc>().name;
  const int last = at(p, top).as<Alloc>().type.rank() - 1;
  if (const int dim = dim_along(p, sibling(top, 2), copy, k); dim != last) {
    std::vector<int> order;
    for (int d = 0; d <= last; ++d)
      if (d != dim) order.push_back(d);
    order.push_back(dim);
    p = rearrange_dim(p, at(p, top), order);
  }
  return dot.x == product.a_type ? p : set_precision(p, at(p, top), dot.x);
}

// The depth in whole groups, `r` inside; what is left of it is a nest of its own behind.
// The rest is added by scalars in a nest of its own: padding the depth would need zeros that the
// caller has not.
ProcPtr group_depth(ProcPtr p, const Path& top, int64_t group) {
  const Path depth = child(child(top));
  const std::optional<int64_t> extent = literal_extent(loop_at(p, depth));
  if (!extent || *extent < group)
    throw SchedulingError("products of narrow elements: `" + loop_at(p, depth).iter.name() +
                          "` has fewer than " + std::to_string(group) +
                          " iterations, or not a literal number");
  if (const int64_t rest = *extent % group; rest != 0) {
    p = cut_loop(p, at(p, depth), loop_at(p, depth).lo + int_const(*extent - rest));
    p = fission(p, at(p, depth).after(), 2);
  }
  return p;
}

// { a : T ; a = x ; b : T ; b = y ; s }  ->  { a : T ; b : T ; a = x ; b = y ; s }   in the loop's
// body: casts in an expression declare each where it is used, instructions declare first.
ProcPtr declarations_first(ProcPtr p, const Path& loop) {
  int declared = 0;
  for (int k = 0; k < static_cast<int>(body_of(*stmt_at(*p, loop)).size()); ++k) {
    if (!stmt_at(*p, child(loop, k))->as<Alloc>()) continue;
    for (int place = k; place > declared; --place)
      p = reorder_stmts(p, Cursor::block(p, child(loop, place - 1), 2));
    ++declared;
  }
  return p;
}

// The nest that sets the sums, back in front of k in the nest at `top`, which stands behind it:
// for i: for j: C = c ; .. ; for i: for j: s   ->   .. ; for i: for j: { C = c; s }
ProcPtr begin_inside(ProcPtr p, const Path& set, const Path& top) {
  const int between = top.back().index - set.back().index;
  if (between > 1) p = reorder_blocks(p, Cursor::block(p, set, between), 1);
  const Path first = sibling(set, between - 1);
  p = fuse(p, at(p, first), at(p, top));
  return fuse(p, at(p, child(first)), at(p, child(first, 1)));
}

}  // namespace exotune
