#include "core/library/tile_block.h"

#include <algorithm>

#include "core/library/blocking.h"
#include "core/library/dot_block.h"
#include "core/library/dot_operands.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/replacement.h"
#include "core/library/tiles.h"

namespace exotune {
// Products whose instructions multiply whole tiles in registers of their own (AMX): the operands
// are ordered as dot_block orders them, the loops cut into tiles, and what the tiles touch is
// staged in the register file.

namespace {

// The statement that the one at `path` stands in.
Path above(Path path) {
  path.pop_back();
  return path;
}

// for i: for j: for k: for r: {..; c[i, j] += x * y}, read off the body; no instruction is known by
// its name.
std::optional<TileInstr> as_tile(const ProcPtr& instr) {
  std::vector<const For*> loops;
  const Block* body = &instr->body;
  while (body->size() == 1) {
    const For* f = body->front()->as<For>();
    if (!f || !literal_extent(*f)) break;
    loops.push_back(f);
    body = &f->body;
  }
  const Reduce* sum = body->empty() ? nullptr : body->back()->as<Reduce>();
  if (loops.size() != 4 || !sum || sum->op != ReduceOp::kAdd || instr->args.size() != 3)
    return std::nullopt;
  TileInstr out{instr, *literal_extent(*loops[0]), *literal_extent(*loops[1]),
                *literal_extent(*loops[2]), *literal_extent(*loops[3])};
  const auto along = [&](const Read& r, size_t loop) {
    return std::any_of(r.idx.begin(), r.idx.end(),
                       [&](const ExprPtr& e) { return mentions(e, loops[loop]->iter); });
  };
  bool has_a = false, has_b = false;
  for (const Arg& arg : instr->args) {
    if (!arg.mem || arg.mem->kind != MemoryKind::kRegisterFile) return std::nullopt;
    if (out.memory && arg.mem != out.memory) return std::nullopt;
    out.memory = arg.mem;
    if (arg.name == sum->name) out.sum = arg.type.scalar;
    for (const Read* r : elements_read(*body)) {
      if (r->name != arg.name) continue;
      const bool rows = along(*r, 0) && !along(*r, 1), columns = along(*r, 1) && !along(*r, 0);
      if (rows == columns || !along(*r, 2) || !along(*r, 3)) return std::nullopt;
      (rows ? out.a : out.b) = arg.type.scalar;
      (rows ? has_a : has_b) = true;
    }
  }
  return has_a && has_b ? std::optional(out) : std::nullopt;
}

std::optional<TileInstr> tile_for(const NarrowProduct& product,
                                  const std::vector<ProcPtr>& instrs) {
  for (const TileInstr& t : tile_instructions(instrs))
    if (t.a == product.a_type && t.b == product.b_type && t.sum == product.sum_type) return t;
  return std::nullopt;
}

// The loop at `path` in whole tiles of so many iterations; what is left follows in a copy of the
// `outside` loops around it.
ProcPtr whole_tiles(ProcPtr p, const Path& path, int64_t tile, int outside) {
  const std::optional<int64_t> extent = literal_extent(loop_at(p, path));
  if (!extent || *extent < tile)
    throw SchedulingError("tile_block: `" + loop_at(p, path).iter.name() + "` has fewer than " +
                              std::to_string(tile) + " iterations, or not a literal number",
                          {}, "dot_block takes products smaller than a tile");
  if (*extent % tile == 0) return p;
  p = cut_loop(p, at(p, path), loop_at(p, path).lo + int_const(*extent / tile * tile));
  return outside ? fission(p, at(p, path).after(), outside) : p;
}

// A register's worth of the copy at `path`: for i0: for i1: s  ->  for tiles: for one tile: s.
ProcPtr copy_tiles(ProcPtr p, const Path& path, const std::vector<int64_t>& sizes) {
  return tile_loops_bottom_up(p, at(p, path), sizes, Tail::kPerfect);
}

// The allocation at `path`, of a matrix, as tiles in registers: T[m, n] -> T[m/r, n/c, r, c].
ProcPtr in_registers(ProcPtr p, const Path& path, int64_t rows, int64_t columns,
                     const MemoryPtr& memory) {
  p = divide_dim(p, at(p, path), 1, columns);
  p = divide_dim(p, at(p, path), 0, rows);
  p = rearrange_dim(p, at(p, path), {0, 2, 1, 3});
  return set_memory(p, at(p, path), memory);
}

// The allocation at `path` in front of all loops around it in which no iteration needs its own.
ProcPtr allocate_first(ProcPtr p, const Cursor& allocation) {
  for (;;) {
    const Path path = forward(p, allocation).path();
    if (path.size() < 2) return p;
    const For* around = stmt_at(*p, above(path))->as<For>();
    if (!around || around->mode == LoopMode::kPar) return p;
    p = lift_alloc(p, at(p, path), 1);
  }
}

// for it: for jt: for ii: for jj: { C = c; for k: for each product }, a block of tiles: its sums in
// registers while k runs, its operands for each step of k.
ProcPtr block_in_registers(ProcPtr p, const Path& block, const NarrowProduct& product,
                           const TileInstr& tile) {
  const Path body = child(child(child(child(block))));
  const int begun = at(p, body).is<Assign>() ? 1 : 0;
  if (begun) p = fission(p, Cursor::gap(p, sibling(body, 1)), 4);
  // k in steps of one tile, outside of the block, and its groups inside.
  const Path sums = sibling(block, begun);
  const Path depth = child(child(child(child(sums))));
  const std::string k = loop_at(p, depth).iter.name();
  p = divide_loop(p, at(p, depth), tile.depth * tile.group, {k + "t", k + "i"}, Tail::kPerfect);
  p = divide_loop(p, at(p, child(depth)), tile.group, {k + "i", "r"}, Tail::kPerfect);
  Path loop = depth;
  for (int outer = 0; outer < 4; ++outer) {
    loop = above(loop);
    p = reorder_loops(p, at(p, loop));
  }
  p = simplify(p, at(p, sums));

  const int length = begun + 1, before = static_cast<int>(block_at(*p, block).size());
  p = stage_around(p, block, product.sum, product.sum.name() + "_tile", length, true);
  const int added = static_cast<int>(block_at(*p, block).size()) - before;
  const Cursor results = at(p, block);
  p = in_registers(p, block, tile.rows, tile.columns, tile.memory);
  const int fills = added - 2;  // the allocation, what fills the tiles, what stores them
  const Path steps = sibling(block, 1 + fills + begun);
  p = copy_tiles(p, sibling(steps, 1), {tile.rows, tile.columns});
  if (fills) p = copy_tiles(p, sibling(block, 1), {tile.rows, tile.columns});

  const Path step = child(steps);
  p = stage_around(p, step, product.a, product.a.name() + "_tile", 1, true);
  const Cursor first = at(p, step);
  p = divide_dim(p, first, 0, tile.rows);
  p = set_memory(p, at(p, step), tile.memory);
  p = divide_loop(p, at(p, sibling(step, 1)), tile.rows, {"at", "ai"}, Tail::kPerfect);

  const Path products = sibling(step, 2);
  p = stage_around(p, products, product.b, product.b.name() + "_tile", 1, true);
  const Cursor second = at(p, products);
  const int rank = at(p, products).as<Alloc>().type.rank();
  p = mult_dim(p, at(p, products), rank - 2, rank - 1);
  p = set_memory(p, at(p, products), tile.memory);
  p = simplify(p);
  for (const Cursor& c : {results, first, second}) p = allocate_first(p, forward(p, c));
  return p;
}

// Is a block of tiles at `path`: for it: for jt: for ii: for jj: {..}, over loops of these names?
bool is_block(const ProcPtr& p, const Path& path, const std::vector<std::string>& names) {
  StmtPtr s = stmt_at(*p, path);
  for (const std::string& name : names) {
    const For* f = loop_called(s, name);
    if (!f || f->body.empty()) return false;
    s = f->body[0];
  }
  return true;
}

ProcPtr tile_nest(ProcPtr p, Path top, const std::vector<std::string>& names, int64_t rows,
                  int64_t columns, const VectorUnit& unit) {
  const std::string &i = names[0], &j = names[1], &k = names[2];
  NarrowProduct product = *narrow_product_at(p, top, names);
  const std::optional<TileInstr> found = tile_for(product, unit.instrs);
  if (!found)
    throw SchedulingError(
        "tile_block: no instruction of the target multiplies tiles of these types", {},
        "a target's text states one as c[i, j] += a[i, g*k + r] * b[k, g*j + r]");
  const TileInstr& tile = *found;
  const Path set = top;
  if (product.begun) {
    p = fission(p, at(p, child(child(top))).after(), 2);
    top = sibling(set, 1);
  }
  p = declarations_first(p, child(child(top)));
  p = group_depth(p, top, tile.depth * tile.group);
  if (product.begun) {
    p = begin_inside(p, set, top);
    top = set;
  }
  p = whole_tiles(p, child(top), tile.columns, 1);
  p = whole_tiles(p, top, tile.rows, 0);

  const DotInstr operands{nullptr, tile.columns, tile.group, tile.a, tile.b, tile.sum};
  const Cursor nest = at(p, top);
  p = align_rows(p, top, product, operands, k);
  p = pack_strips(p, forward(p, nest).path(), product, operands, j, k, unit);
  top = forward(p, nest).path();
  product = *narrow_product_at(p, top, names);  // of the copies

  const Path inner = child(top);
  p = divide_loop(p, at(p, inner), tile.columns, {j + "t", j + "i"}, Tail::kPerfect);
  p = divide_loop(p, at(p, top), tile.rows, {i + "t", i + "i"}, Tail::kPerfect);
  p = reorder_loops(p, at(p, child(top)));
  p = simplify(p, at(p, top));
  const Cursor down = at(p, top);
  const size_t before = block_at(*p, top).size();
  p = block_loop(p, down, {rows}, {i + "o", i + "t"});
  for (size_t part = block_at(*p, top).size() - before + 1; part-- > 0;) {
    Path rows_of_tiles = sibling(top, static_cast<int>(part));
    const bool inside = loop_at(p, rows_of_tiles).iter.name() != i + "t";
    if (inside) rows_of_tiles = child(rows_of_tiles);
    const size_t one = block_at(*p, rows_of_tiles).size();
    p = block_loop(p, at(p, child(rows_of_tiles)), {columns}, {j + "o", j + "t"}, i + "t");
    // The last columns are a nest of their own: registers of both at once might be too many.
    if (inside && block_at(*p, rows_of_tiles).size() > one)
      p = fission(p, at(p, rows_of_tiles).after(), 1);
  }
  std::vector<Cursor> blocks = loops_named(p, i + "t");
  for (auto b = blocks.rbegin(); b != blocks.rend(); ++b)
    if (is_block(p, forward(p, *b).path(), {i + "t", j + "t", i + "i", j + "i"}))
      p = block_in_registers(p, forward(p, *b).path(), product, tile);

  // All that touches the registers.
  std::vector<ProcPtr> instrs;
  for (const ProcPtr& instr : unit.instrs)
    if (std::any_of(instr->args.begin(), instr->args.end(),
                    [&](const Arg& a) { return a.mem == tile.memory; }))
      instrs.push_back(instr);
  return replace_all(p, instrs);
}

}  // namespace

std::vector<TileInstr> tile_instructions(const std::vector<ProcPtr>& instrs) {
  std::vector<TileInstr> out;
  for (const ProcPtr& instr : instrs)
    if (std::optional<TileInstr> tile = as_tile(instr)) out.push_back(std::move(*tile));
  return out;
}

std::optional<TileInstr> tile_instruction_at(const ProcPtr& p, const std::string& i,
                                             const std::string& j, const std::string& k,
                                             const std::vector<ProcPtr>& instrs) {
  for (const Cursor& c : loops_named(p, i))
    if (const auto product = narrow_product_at(p, c.path(), {i, j, k}))
      return tile_for(*product, instrs);
  return std::nullopt;
}

ProcPtr tile_block(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                   int64_t rows, int64_t columns, const VectorUnit& unit) {
  if (rows < 1 || columns < 1)
    throw SchedulingError("tile_block: a block has one tile at least in each direction");
  const std::vector<std::string> names = {i, j, k};
  const std::vector<Cursor> loops = require_loops(p, i);
  bool found = false;
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    if (!narrow_product_at(p, c->path(), names)) continue;
    found = true;
    p = tile_nest(p, c->path(), names, rows, columns, unit);
  }
  if (!found)
    throw SchedulingError("tile_block: no loop over `" + i + "` is a nest of `" + i + "`, `" + j +
                              "` and `" + k + "` around one sum of products",
                          {}, "bring the loops into this order first, or name them in theirs");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> tile_block_operators() {
  using namespace params;
  return {
      {"tile_block",
       {proc(), string("i"), string("j"), string("k"), integer("rows"), integer("columns"),
        procs("instructions")},
       "for i: for j: for k: {a = A; b = B; C += a * b}  ->  blocks of `rows` x `columns` tiles in "
       "registers of their own, multiplied whole by an instruction",
       [](const OperatorArgs& a) -> Value {
         return tile_block(a.proc(), a.string(1), a.string(2), a.string(3), a.integer(4),
                           a.integer(5), {0, nullptr, a.procs(6), {}});
       }},
  };
}

}  // namespace exotune
