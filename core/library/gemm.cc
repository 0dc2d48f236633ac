#include "core/library/gemm.h"

#include <algorithm>

#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/vector_loops.h"

namespace exotune {
// A whole matrix product in one call, for scripts: blocks for the caches, strips of B packed, the
// micro-kernel. The search composes the same operators with sizes of its own.

namespace {

// The sum at the bottom of the first nest over i, j and k, in that order.
const Reduce* product_of(const ProcPtr& p, const std::string& i, const std::string& j,
                         const std::string& k) {
  StmtPtr s = require_loops(p, i).front().stmt();
  for (const std::string* name : {&i, &j, &k}) {
    const For* f = s->as<For>();
    if (!f || f->iter.name() != *name || f->body.size() != 1) return nullptr;
    s = f->body[0];
  }
  return s->as<Reduce>();
}

// The factor whose last index runs along `j`.
std::string along(const Reduce& sum, Sym j) {
  const BinOp* product = sum.rhs->as<BinOp>();
  if (!product || product->op != BinOpKind::kMul) return "";
  for (const ExprPtr& side : {product->lhs, product->rhs})
    if (const Read* r = side->as<Read>(); r && !r->idx.empty() && mentions(r->idx.back(), j))
      return r->name.name();
  return "";
}

// Block sizes for the loops over a name: one when all extents are known, else smaller ones for the
// boundaries.
std::vector<int64_t> sizes_for(const ProcPtr& p, const std::string& loop, int64_t size,
                               int64_t last) {
  std::vector<int64_t> out{size};
  const std::vector<Cursor> loops = require_loops(p, loop);
  if (std::all_of(loops.begin(), loops.end(),
                  [](const Cursor& c) { return literal_extent(c.as<For>()).has_value(); }))
    return out;
  int64_t n = last;
  while (2 * n < size) n *= 2;
  for (; n >= last && n < size; n /= 2) out.push_back(n);
  return out;
}

}  // namespace

ProcPtr gen_ukernel(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
                    const VectorUnit& unit) {
  return unroll_registers(register_block(p, i, j, k, unit), unit.memory);
}

ProcPtr gemm(ProcPtr p, const std::string& i, const std::string& j, const std::string& k,
             const VectorUnit& unit, const GemmBlocks& blocks) {
  const Reduce* sum = product_of(p, i, j, k);
  if (!sum)
    throw SchedulingError("gemm: the first loop over `" + i + "` is no nest of `" + i + "`, `" + j +
                          "` and `" + k + "` around one sum");
  if (blocks.mr < 1 || blocks.nr < unit.lanes || blocks.nr % unit.lanes != 0)
    throw SchedulingError(
        "gemm: the register tile must be a positive number of rows by a multiple of " +
        std::to_string(unit.lanes) + " columns");
  const Path column = child(require_loops(p, i).front().path());
  const std::string packed = along(*sum, find_loop(p, column)->iter);
  if (packed.empty()) throw SchedulingError("gemm: no factor is contiguous along `" + j + "`");
  if (blocks.nc > 0) p = block_loop(p, j, {blocks.nc}, {j + "c", j}, i);
  if (blocks.kc > 0) p = block_loop(p, k, {blocks.kc}, {k + "c", k}, i);
  // Rows of a block share a strip in the second cache. Where the columns have a boundary of unknown
  // size, which has no strips, the rows are blocked around everything and B is packed for each
  // block.
  const bool whole_strips = literal_extent(require_loops(p, j).front().as<For>()).has_value();
  if (blocks.mc > 0 && !whole_strips) p = block_loop(p, i, {blocks.mc}, {i + "c", i}, "");
  if (blocks.pack) p = pack_operand(p, packed, i, blocks.nr, unit);
  p = block_loop(p, j, sizes_for(p, j, blocks.nr, unit.lanes), {j + "o", j}, i);
  if (blocks.mc > 0 && whole_strips) p = block_loop(p, i, {blocks.mc}, {i + "c", i}, j + "o");
  p = block_loop(p, i, sizes_for(p, i, blocks.mr, 1), {i + "o", i}, "");
  return gen_ukernel(p, i, j, k, unit);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> gemm_operators() {
  using namespace params;
  return {
      {"gen_ukernel",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions")},
       "register_block, then unroll_registers",
       [](const OperatorArgs& a) -> Value {
         return gen_ukernel(a.proc(), a.string(1), a.string(2), a.string(3),
                            vector_unit(a, 4, 5, 6));
       }},
      {"gemm",
       {proc(), string("i"), string("j"), string("k"), integer("vw"), memory("mem_type"),
        procs("instructions"), integer("mr", 6), integer("nr", 16), integer("kc", 0),
        integer("mc", 0), integer("nc", 0), boolean("pack", true)},
       "for i: for j: for k: C[i, j] += A[i, k] * B[k, j]  ->  cache blocks, B packed, register "
       "tiles",
       [](const OperatorArgs& a) -> Value {
         const GemmBlocks blocks{a.integer(7),  a.integer(8),  a.integer(9),
                                 a.integer(10), a.integer(11), a.boolean(12)};
         return gemm(a.proc(), a.string(1), a.string(2), a.string(3), vector_unit(a, 4, 5, 6),
                     blocks);
       }},
  };
}

}  // namespace exotune
