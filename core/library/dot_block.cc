#include "core/library/dot_block.h"

#include <algorithm>
#include <span>

#include "core/library/blocking.h"
#include "core/library/dot_operands.h"
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
    for (const Read* r : elements_read(group->body)) {
      if (r->name != arg.name) continue;
      (r->idx.size() == 1 ? out.x : out.w) = arg.type.scalar;
      (r->idx.size() == 1 ? has_x : has_w) = true;
    }
  }
  return has_x && has_w ? std::optional(out) : std::nullopt;
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
std::optional<DotInstr> instruction_for(const NarrowProduct& product,
                                        const std::vector<ProcPtr>& instrs) {
  std::optional<DotInstr> best;
  for (const DotInstr& dot : dot_instructions(instrs))
    if (dot.sum == product.sum_type &&
        (holds_all_of(dot.x, product.a_type) || shift_between(product.a_type, dot.x) != 0) &&
        holds_all_of(dot.w, product.b_type) && (!best || dot.group > best->group))
      best = dot;
  return best;
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

// Full tiles first; then the boundaries in i and j, which are tiles of fewer rows or vectors over
// loops of the same names, so that one loop over names finds all of them.
ProcPtr block_nest(ProcPtr p, Path top, const std::vector<std::string>& names, int64_t rows,
                   int64_t vectors, VectorUnit unit) {
  const std::string &i = names[0], &j = names[1], &k = names[2];
  const NarrowProduct product = *narrow_product_at(p, top, names);
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
    const Sym strips = narrow_product_at(p, top, names)->b;
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
    if (const auto product = narrow_product_at(p, c.path(), {i, j, k}))
      return instruction_for(*product, instrs);
  return std::nullopt;
}

ProcPtr dot_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                  int64_t rows, int64_t vectors, const VectorUnit& unit) {
  if (rows < 1 || vectors < 1)
    throw SchedulingError("dot_block: a tile has one row and one vector at least");
  const std::vector<std::string> names = {i, j, k};
  const std::vector<Cursor> loops = require_loops(p, i);
  bool found = false, done = false;
  std::optional<SchedulingError> refused;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    if (!narrow_product_at(p, c->path(), names)) continue;
    found = true;
    try {
      p = block_nest(p, c->path(), names, rows, vectors, unit);
      done = true;
    } catch (const SchedulingError& e) {  // what tiles left may be too little for this
      if (!refused) refused = e;
    }
  }
  if (!found)
    throw SchedulingError("dot_block: no loop over `" + i + "` is a nest of `" + i + "`, `" + j +
                              "` and `" + k + "` around one sum of products",
                          {}, "bring the loops into this order first, or name them in theirs");
  if (!done) throw *refused;
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
