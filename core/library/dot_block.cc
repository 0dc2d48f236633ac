#include "core/library/dot_block.h"

#include <algorithm>
#include <span>

#include "core/library/blocking.h"
#include "core/library/dot_shift.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/tiles.h"

namespace exotune {
// Products whose instructions sum groups of narrow elements (vpdpbusd, vdpbf16ps): tiles as in
// register_block, but the depth is cut into groups, and both operands are copied into the order
// that the instruction wants. All by primitives; types are widened only where the wider holds every
// value.

namespace {

// The elements that a block reads.
std::vector<const Read*> reads_in(const Block& block) {
  std::vector<const Read*> out;
  for_each_expr(block, [&](const ExprPtr& e) {
    for (const Read* r : data_reads(e))
      if (!r->idx.empty()) out.push_back(r);
  });
  return out;
}

// An instruction is a dot if its body is a loop over lanes around a loop over a group that adds
// products to a wider element. The form is read off the body; no instruction is known by its name.
std::optional<DotInstr> as_dot(const ProcPtr& instr) {
  if (instr->body.size() != 1) return std::nullopt;
  const For* lanes = instr->body[0]->as<For>();
  const For* group = lanes && lanes->body.size() == 1 ? lanes->body[0]->as<For>() : nullptr;
  if (!group || !literal_extent(*lanes) || !literal_extent(*group)) return std::nullopt;
  const Reduce* sum = group->body.back()->as<Reduce>();
  if (!sum || sum->op != ReduceOp::kAdd || instr->args.size() != 3) return std::nullopt;
  DotInstr out{instr, *literal_extent(*lanes), *literal_extent(*group)};
  bool has_x = false, has_w = false;
  for (const Arg& arg : instr->args) {
    if (arg.name == sum->name) out.sum = arg.type.scalar;
    for (const Read* r : reads_in(group->body)) {
      if (r->name != arg.name) continue;
      (r->idx.size() == 1 ? out.x : out.w) = arg.type.scalar;
      (r->idx.size() == 1 ? has_x : has_w) = true;
    }
  }
  return has_x && has_w ? std::optional(out) : std::nullopt;
}

// The factors and the sum of for i: for j: { C = c; for k: {..; C += a * b} }.
struct Product {
  Sym a, b, sum;  // a does not run along j
  ScalarType a_type{}, b_type{}, sum_type{};
  bool begun = false;  // the sum is set in front of k
};

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

std::optional<Product> product_at(const ProcPtr& p, const Path& top,
                                  const std::vector<std::string>& names) {
  const For* loops[3] = {};
  StmtPtr s = stmt_at(*p, top);
  Product out;
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
  for (const Read* r : reads_in(loops[2]->body)) {
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

// As set_precision has it: an integer type holds all of a narrower one of its signedness.
bool holds_all_of(ScalarType wide, ScalarType narrow) {
  constexpr ScalarType kSigned[] = {ScalarType::kI8, ScalarType::kI16, ScalarType::kI32};
  constexpr ScalarType kUnsigned[] = {ScalarType::kUi8, ScalarType::kUi16};
  const auto widens = [&](std::span<const ScalarType> types) {
    const auto from = std::find(types.begin(), types.end(), narrow);
    return std::find(from, types.end(), wide) != types.end();
  };
  return wide == narrow || widens(kSigned) || widens(kUnsigned);
}

// What is added to a signed element to make it one of the unsigned type of its size; 0: nothing
// does.
int64_t shift_between(ScalarType from, ScalarType to) {
  if (from == ScalarType::kI8 && to == ScalarType::kUi8) return 128;
  if (from == ScalarType::kI16 && to == ScalarType::kUi16) return 32768;
  return 0;
}

// The instruction of the largest group that the operands fit, or do once the first is shifted; the
// first of those. A larger group does more work in an instruction.
std::optional<DotInstr> instruction_for(const Product& product,
                                        const std::vector<ProcPtr>& instrs) {
  std::optional<DotInstr> best;
  for (const DotInstr& dot : dot_instructions(instrs))
    if (dot.sum == product.sum_type &&
        (holds_all_of(dot.x, product.a_type) || shift_between(product.a_type, dot.x) != 0) &&
        holds_all_of(dot.w, product.b_type) && (!best || dot.group > best->group))
      best = dot;
  return best;
}

// The iterator of the name, of the nest's loops.
Sym iterator_in(const ProcPtr& p, Path nest, const std::string& name) {
  for (const For* f = &loop_at(p, nest); f;) {
    if (f->iter.name() == name) return f->iter;
    f = f->body.size() == 1 ? f->body[0]->as<For>() : nullptr;
  }
  return {};
}

// The dimension of the one read of `buffer` in the nest whose index mentions the loop's iterator.
int dim_along(const ProcPtr& p, const Path& nest, Sym buffer, const std::string& loop) {
  std::optional<int> dim;
  const Sym iter = iterator_in(p, nest, loop);
  for (const Read* r : reads_in({stmt_at(*p, nest)}))
    for (size_t d = 0; r->name == buffer && d < r->idx.size(); ++d)
      if (mentions(r->idx[d], iter)) dim = static_cast<int>(d);
  if (!dim)
    throw SchedulingError("dot_block: `" + buffer.name() + "` does not run along `" + loop + "`");
  return *dim;
}

ProcPtr split_dim(ProcPtr p, const Path& alloc, int dim, int64_t q) {
  const std::optional<int64_t> size =
      as_int(at(p, alloc).as<Alloc>().type.shape[static_cast<size_t>(dim)]);
  if (!size) throw SchedulingError("dot_block: the extents must be literal");
  if (*size % q != 0)
    p = resize_dim(p, at(p, alloc), dim, int_const((*size + q - 1) / q * q), int_const(0));
  return divide_dim(p, at(p, alloc), dim, q);
}

// Is the instruction a copy of `lanes` x `group` elements, for e: for r: dst[..] = src[..]?
bool copies_groups(const Proc& instr, const DotInstr& dot) {
  const For* lanes = instr.body.size() == 1 ? instr.body[0]->as<For>() : nullptr;
  const For* group = lanes && lanes->body.size() == 1 ? lanes->body[0]->as<For>() : nullptr;
  return group && group->body.size() == 1 && group->body[0]->as<Assign>() &&
         literal_extent(*lanes) == dot.lanes && literal_extent(*group) == dot.group;
}

// for e: for r: the elements of a strip's groups, by an instruction that interleaves rows or one by
// one.
ProcPtr copy_groups(ProcPtr p, const Path& elements, const DotInstr& dot, const VectorUnit& unit) {
  for (const ProcPtr& instr : unit.instrs) {
    if (!copies_groups(*instr, dot)) continue;
    try {
      return replace(p, at(p, elements), instr);
    } catch (const SchedulingError&) {  // of other types, or along the other dimension
    }
  }
  return unroll_loop(p, at(p, child(elements)));
}

// The copy of a matrix into strips of one vector, groups of its depth side by side:
// for k: for j  ->  for jo: for ko: for jl: the group's elements.
ProcPtr order_copy(ProcPtr p, const Path& copy, bool depth_first, const DotInstr& dot,
                   const VectorUnit& unit) {
  if (!depth_first) p = reorder_loops(p, at(p, copy));
  p = divide_loop(p, at(p, copy), dot.group, {"ko", "r"}, Tail::kPerfect);
  p = reorder_loops(p, at(p, child(copy)));
  p = divide_loop(p, at(p, child(copy)), dot.lanes, {"s", "e"}, Tail::kCut);
  if (block_at(*p, child(copy)).size() > 1) {
    p = fission(p, at(p, child(copy)).after(), 1);
    p = unroll_loop(p, at(p, child(child(sibling(copy, 1)))));
  }
  const bool whole = loop_at(p, child(copy)).iter.name() == "s";
  if (whole) p = reorder_loops(p, at(p, copy));
  p = simplify(p, at(p, copy));
  return whole ? copy_groups(p, child(child(copy)), dot, unit)
               : unroll_loop(p, at(p, child(child(copy))));
}

// B of the nest at `top` in strips of the instruction's operand; the nest stands two on.
ProcPtr pack_strips(ProcPtr p, const Path& top, const Product& product, const DotInstr& dot,
                    const std::string& j, const std::string& k, const VectorUnit& unit) {
  p = stage_around(p, top, product.b, product.b.name() + "_dot");
  const Sym packed = at(p, top).as<Alloc>().name;
  const int along_k = dim_along(p, sibling(top, 2), packed, k);
  const int along_j = dim_along(p, sibling(top, 2), packed, j);
  if (at(p, top).as<Alloc>().type.rank() != 2 || along_k == along_j)
    throw SchedulingError("dot_block: `" + product.b.name() + "` is no matrix over `" + k +
                          "` and `" + j + "`");
  const bool depth_first = along_k < along_j;
  p = split_dim(p, top, 1, depth_first ? dot.lanes : dot.group);
  p = split_dim(p, top, 0, depth_first ? dot.group : dot.lanes);
  p = rearrange_dim(p, at(p, top), depth_first ? std::vector{2, 0, 3, 1} : std::vector{0, 2, 1, 3});
  if (dot.w != product.b_type) p = set_precision(p, at(p, top), dot.w);
  return order_copy(p, sibling(top, 1), depth_first, dot, unit);
}

// A with its depth last and in the instruction's type, copied only where it is not; statements
// then stand in front of the nest.
ProcPtr align_rows(ProcPtr p, const Path& top, const Product& product, const DotInstr& dot,
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

ProcPtr vectorize_copy(ProcPtr p, const Path& nest, const VectorUnit& unit) {
  return vectorize(p, at(p, innermost(p, nest)), unit, VectorTail::kCutAndPredicate);
}

// Sums live in registers for the whole depth, as in register_block.
// for i: for j: for k: for r, a tile: its sums in registers while k runs. `row_loops`: 1, or 0
// where there is no loop over i. What stands in front of the loop over k (C = c, and then nothing
// of C is read) and what follows it are done in registers as well.
ProcPtr tile_in_registers(ProcPtr p, const Path& tile, int row_loops, Sym sum, const DotInstr& dot,
                          const VectorUnit& unit) {
  const Path body = child(row_loops ? child(tile) : tile);
  const int begun = at(p, body).is<Assign>() ? 1 : 0;
  const int corrected = static_cast<int>(block_at(*p, body).size()) - begun - 1;
  for (const int gap : {corrected ? begun + 1 : 0, begun})  // the last first
    if (gap) p = fission(p, Cursor::gap(p, sibling(body, gap)), 1 + row_loops);
  const Path sums = sibling(tile, begun);
  p = reorder_loops(p, at(p, row_loops ? child(sums) : sums));
  if (row_loops) p = reorder_loops(p, at(p, sums));
  p = simplify(p, at(p, sums));
  const int length = begun + 1 + corrected, before = static_cast<int>(block_at(*p, tile).size());
  p = stage_around(p, tile, sum, sum.name() + "_reg", length, true);
  // The allocation, what fills the tile (a load, or what begins the sums), k, the rest, a store.
  const int fills = static_cast<int>(block_at(*p, tile).size()) - before - 2 + begun;
  p = split_last_dim(p, tile, dot.lanes);
  p = set_memory(p, at(p, tile), unit.memory);
  const Path depth = sibling(tile, 1 + fills);
  p = vectorize_copy(p, sibling(depth, 1 + corrected), unit);
  if (corrected) p = vectorize_copy(p, sibling(depth, 1), unit);
  const Path columns = row_loops ? child(child(depth)) : child(depth);
  p = run_to_whole_vectors(p, columns, dot.lanes);
  const std::string j = loop_at(p, columns).iter.name();
  p = divide_loop(p, at(p, columns), dot.lanes, {j + "v", j + "l"}, Tail::kPerfect);
  p = simplify(p, at(p, depth));
  p = replace(p, at(p, child(columns)), dot.proc);
  for (int fill = fills; fill > 0; --fill) p = vectorize_copy(p, sibling(tile, fill), unit);
  return p;
}

// The depth in whole groups, `r` inside; what is left of it is a nest of its own behind.
// The rest is added by scalars in a nest of its own: padding the depth would need zeros that the
// caller has not.
ProcPtr group_depth(ProcPtr p, const Path& top, int64_t group) {
  const Path depth = child(child(top));
  const std::optional<int64_t> extent = literal_extent(loop_at(p, depth));
  if (!extent || *extent < group)
    throw SchedulingError("dot_block: `" + loop_at(p, depth).iter.name() + "` has fewer than " +
                          std::to_string(group) + " iterations, or not a literal number");
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

// for j: for k: for r: the sum of one row, in vectors as far as there are whole ones.
ProcPtr tile_row(ProcPtr p, const Path& row, Sym sum, const DotInstr& dot, const VectorUnit& unit) {
  p = declarations_first(p, child(child(row)));
  const Cursor columns = at(p, row);
  const std::string j = loop_at(p, row).iter.name();
  const size_t before = block_at(*p, row).size();
  p = block_loop(p, columns, {dot.lanes}, {j + "o", j});
  for (size_t part = block_at(*p, row).size() - before + 1; part-- > 0;) {
    const Path tile = sibling(row, static_cast<int>(part));
    p = tile_in_registers(p, loop_at(p, tile).iter.name() == j ? tile : child(tile), 0, sum, dot,
                          unit);
  }
  return p;
}

// Is a tile at `path`: for i: for j: for k: for r: {..}, over loops of these names?
bool is_tile(const ProcPtr& p, const Path& path, const std::vector<std::string>& names) {
  StmtPtr s = stmt_at(*p, path);
  for (const std::string& name : names) {
    const For* f = loop_called(s, name);
    if (!f || f->body.empty()) return false;
    s = f->body[sets_first(*f) ? 1 : 0];
  }
  return true;
}

// The nest that sets the sums, back in front of k in the nest at `top`, which stands behind it:
// for i: for j: C = c ; .. ; for i: for j: s   ->   .. ; for i: for j: { C = c; s }
ProcPtr begin_inside(ProcPtr p, const Path& set, const Path& top) {
  const int between = top.back().index - set.back().index;
  p = reorder_blocks(p, Cursor::block(p, set, between), 1);
  const Path first = sibling(set, between - 1);
  p = fuse(p, at(p, first), at(p, top));
  return fuse(p, at(p, child(first)), at(p, child(first, 1)));
}

// Full tiles first; then the boundaries in i and j, which are tiles of fewer rows or vectors over
// loops of the same names, so that one loop over names finds all of them.
ProcPtr block_nest(ProcPtr p, Path top, const std::vector<std::string>& names, int64_t rows,
                   int64_t vectors, VectorUnit unit) {
  const std::string &i = names[0], &j = names[1], &k = names[2];
  const Product product = *product_at(p, top, names);
  const std::optional<DotInstr> found = instruction_for(product, unit.instrs);
  if (!found)
    throw SchedulingError(
        "dot_block: no instruction of the target multiplies groups of these types", {},
        "a target's text states one as dst[l] += x[r] * w[l, r]");
  const DotInstr& dot = *found;
  unit.lanes = static_cast<int>(dot.lanes);
  const Path set = top;
  if (product.begun) {
    p = fission(p, at(p, child(child(top))).after(), 2);
    top = sibling(set, 1);
  }
  p = declarations_first(p, child(child(top)));
  p = group_depth(p, top, dot.group);
  const Cursor nest = at(p, top);
  const int64_t shift = shift_between(product.a_type, dot.x);
  if (!shift) p = align_rows(p, top, product, dot, k);
  p = pack_strips(p, forward(p, nest).path(), product, dot, j, k, unit);
  top = forward(p, nest).path();
  if (shift) {
    const Sym strips = product_at(p, top, names)->b;
    ShiftedProduct s = shift_rows(p, top, product.a, strips, product.sum, dot.x, shift, dot.group);
    p = s.proc;
    const Cursor shifted = at(p, s.nest);
    p = declarations_first(p, child(child(s.nest)));
    p = tile_row(p, s.correction, s.correction_sum, dot, unit);
    top = forward(p, shifted).path();
  }
  if (product.begun) {
    p = begin_inside(p, set, top);
    top.back().index -= 1;
  }
  const std::string group = k + "g";
  p = divide_loop(p, at(p, child(child(top), product.begun ? 1 : 0)), dot.group, {k, group},
                  Tail::kPerfect);
  // Tiles, and at their boundaries smaller ones, all over loops of the same names.
  const Cursor columns = at(p, child(top));
  const size_t before = block_at(*p, top).size();
  p = block_loop(p, columns, {vectors * dot.lanes}, {j + "o", j}, i);
  const size_t parts = block_at(*p, top).size() - before + 1;
  for (size_t part = parts; part-- > 0;) {
    Path rows_loop = sibling(top, static_cast<int>(part));
    if (loop_at(p, rows_loop).iter.name() != i) rows_loop = child(rows_loop);
    p = block_loop(p, at(p, rows_loop), {rows}, {i + "o", i});
  }
  std::vector<Cursor> tiles = loops_named(p, i);
  for (auto t = tiles.rbegin(); t != tiles.rend(); ++t)
    if (is_tile(p, t->path(), {i, j, k, group}))
      p = tile_in_registers(p, t->path(), 1, product.sum, dot, unit);
  return p;
}

}  // namespace

std::vector<DotInstr> dot_instructions(const std::vector<ProcPtr>& instrs) {
  std::vector<DotInstr> out;
  for (const ProcPtr& instr : instrs)
    if (std::optional<DotInstr> dot = as_dot(instr)) out.push_back(std::move(*dot));
  return out;
}

std::optional<DotInstr> dot_instruction_at(const ProcPtr& p, const std::string& i,
                                           const std::string& j, const std::string& k,
                                           const std::vector<ProcPtr>& instrs) {
  for (const Cursor& c : loops_named(p, i))
    if (const auto product = product_at(p, c.path(), {i, j, k}))
      return instruction_for(*product, instrs);
  return std::nullopt;
}

ProcPtr dot_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                  int64_t rows, int64_t vectors, const VectorUnit& unit) {
  if (rows < 1 || vectors < 1)
    throw SchedulingError("dot_block: a tile has one row and one vector at least");
  const std::vector<std::string> names = {i, j, k};
  const std::vector<Cursor> loops = require_loops(p, i);
  bool found = false;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    if (!product_at(p, c->path(), names)) continue;
    found = true;
    p = block_nest(p, c->path(), names, rows, vectors, unit);
  }
  if (!found)
    throw SchedulingError("dot_block: no loop over `" + i + "` is a nest of `" + i + "`, `" + j +
                              "` and `" + k + "` around one sum of products",
                          {}, "bring the loops into this order first, or name them in theirs");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> dot_block_operators() {
  using namespace params;
  return {
      {"dot_block",
       {proc(), string("i"), string("j"), string("k"), integer("rows"), integer("vectors"),
        memory("mem_type"), procs("instructions")},
       "for i: for j: for k: {a = A; b = B; C += a * b}  ->  tiles of `rows` x `vectors` "
       "registers, "
       "summed by an instruction that multiplies groups of k",
       [](const OperatorArgs& a) -> Value {
         return dot_block(a.proc(), a.string(1), a.string(2), a.string(3), a.integer(4),
                          a.integer(5), {0, a.memory(6), a.procs(7), {}});
       }},
  };
}

}  // namespace exotune
