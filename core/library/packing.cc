// pack_operand: strips of an operand, copied in the order in which they will be read. Strips of a
// dimension that is not the operand's last one are copied in register tiles that turn them.
#include <algorithm>

#include "core/library/attempted.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/tiles.h"
#include "core/library/transposition.h"

namespace exotune {

namespace {

// The innermost loop of a nest in vectors, after simplify, which may find that the nest never runs.
ProcPtr vectorize_simplified(ProcPtr p, const Cursor& nest, const VectorUnit& unit) {
  const Cursor inner = at(p, innermost(p, nest.path()));
  p = simplify(p, nest);
  const Cursor left = forward(p, inner);
  return left.valid() ? vectorize(p, left, unit, VectorTail::kCutAndPredicate) : p;
}

// The two innermost loops of a nest that reads along the outer one of them, in the first tiles that
// an instruction turns; where none does, as they are. As many rows as a tile has are read to their
// end, since more of them than a set of the cache has lines push each other out.
ProcPtr turn_simplified(ProcPtr p, const Cursor& nest, const VectorUnit& unit) {
  const Cursor tile = at(p, parent_stmt(innermost(p, nest.path())));
  p = simplify(p, nest);
  const Cursor left = forward(p, tile);
  if (!left.valid()) return p;
  const Path top = left.path();
  for (const ProcPtr& instr : unit.instrs) {
    if (!is_transpose(*instr)) continue;
    const auto turn = [&](const ProcPtr& q) { return tile_to_instr(q, at(q, top), instr); };
    if (!attempted(p, turn)) continue;
    if (size_of_block(p, child(top)) == 1 && at(p, child(top)).is<For>())
      attempted(p, [&](const ProcPtr& q) { return reorder_loops(q, at(q, top)); });
    break;
  }
  return p;
}

// The buffer's copy around a loop, of what is read of it alone: results that lie in other rows of
// the same array are no operand. SchedulingError where they are not proved to.
ProcPtr stage_operand(const ProcPtr& p, const Path& path, Sym buffer, const std::string& name) {
  const Cursor loop = at(p, path);
  const auto is_operand = [](const Access& a) { return a.kind == Access::Kind::kRead; };
  const auto rows = touched(p, loop, buffer, Touch::kReads, is_operand);
  if (!rows) throw SchedulingError("pack_operand: no operand is read");
  return stage_mem(p, Cursor::block(p, path, 1), rows->text(buffer.name(), scope_at(*p, path)),
                   name);
}

// Which dimension of the copy that the nest at `copy` fills is dimension `dim` of what it reads.
// SchedulingError when the copy has none: it is one element wide there.
int dimension_of_copy(const ProcPtr& p, const Path& copy, int dim) {
  std::optional<int> found;
  for_each_stmt({at(p, copy).stmt()}, [&](const StmtPtr& s) {
    const Assign* a = s->as<Assign>();
    const Read* r = a ? a->rhs->as<Read>() : nullptr;
    if (!r || dim >= static_cast<int>(r->idx.size())) return;
    for (size_t d = 0; d < a->idx.size(); ++d)
      if (const Read* iter = a->idx[d]->as<Read>(); iter && mentions(r->idx[dim], iter->name))
        found = static_cast<int>(d);
  });
  if (!found)
    throw SchedulingError("pack_operand: what is copied has no extent in dimension " +
                          std::to_string(dim));
  return *found;
}

// Dimension `d` of the copy becomes its last, and the loop along it the innermost.
ProcPtr bring_last(ProcPtr p, const Path& alloc, int d) {
  const int rank = at(p, alloc).as<Alloc>().type.rank();
  std::vector<int> order;
  for (int k = 0; k < rank; ++k)
    if (k != d) order.push_back(k);
  order.push_back(d);
  p = rearrange_dim(p, at(p, alloc), order);
  Path loop = sibling(alloc, 1);
  for (int k = 0; k < rank - 1; ++k, loop = child(loop))
    if (k >= d) p = reorder_loops(p, at(p, loop));
  return p;
}

// B_pack[.., n]  ->  B_pack[n / strip, .., strip], and the nest that fills it strip by strip; true:
// the last, shorter strip has a nest of its own behind it.
bool lay_in_strips(ProcPtr& p, const Path& alloc, int64_t strip) {
  p = split_last_dim(p, alloc, strip);
  const int rank = at(p, alloc).as<Alloc>().type.rank();
  std::vector<int> order = {rank - 2};
  for (int d = 0; d < rank - 2; ++d) order.push_back(d);
  order.push_back(rank - 1);
  p = rearrange_dim(p, at(p, alloc), order);
  // The strip loop outermost, then the rows, then one strip's row.
  const Path copy = sibling(alloc, 1), last = innermost(p, copy);
  const int levels = static_cast<int>(last.size() - copy.size());
  const auto extent = literal_extent(loop_at(p, last));
  if (extent && *extent <= strip) return false;
  p = divide_loop(p, at(p, last), strip, {"s", "e"}, Tail::kCut);
  const bool boundary = size_of_block(p, last) > 1;
  if (boundary && levels > 0) p = fission(p, at(p, last).after(), levels);
  p = lift_scope_n(p, at(p, last), levels);
  return boundary;
}

}  // namespace

ProcPtr pack_operand(ProcPtr p, const std::string& buffer, const std::string& before, int64_t strip,
                     const VectorUnit& unit, const std::string& rows, int dim) {
  std::vector<Cursor> loops = require_loops(p, before);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path path = c->path(), copy = sibling(path, 1);
    auto entry = visible(p, path, buffer);
    if (!entry)
      throw InvalidCursorError("there is no buffer `" + buffer + "` at the loop over `" + before +
                               "`");
    if (!mentions(at(p, path).stmt(), entry->name)) continue;
    const std::string packed = buffer + "_pack";
    if (!attempted(p,
                   [&](const ProcPtr& q) { return stage_operand(q, path, entry->name, packed); }))
      p = stage_around(p, path, entry->name, packed);
    if (loop_at(p, copy).iter.name() != rows) p = rename_loop(p, at(p, copy), rows);
    const int last = at(p, path).as<Alloc>().type.rank() - 1;
    const int along = dim < 0 ? last : dimension_of_copy(p, copy, dim);
    if (along != last) p = bring_last(p, path, along);
    const auto fill = along == last ? vectorize_simplified : turn_simplified;
    // The boundary strip's copy follows the whole strips'.
    if (strip > 0 && lay_in_strips(p, path, strip)) p = fill(p, at(p, sibling(copy, 1)), unit);
    p = fill(p, at(p, copy), unit);
  }
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> packing_operators() {
  using namespace params;
  return {
      {"pack_operand",
       {proc(), string("buffer"), string("before"), integer("strip"), integer("vw"),
        memory("mem_type"), procs("instructions"), new_name("rows", "i0"), integer("dim", -1)},
       "for k: s(B[k])  ->  for k: B_pack = B[k]; s(B_pack)   copied row by row, in a loop `rows`",
       [](const OperatorArgs& a) -> Value {
         return pack_operand(a.proc(), a.string(1), a.string(2), a.integer(3),
                             vector_unit(a, 4, 5, 6), a.string(7), static_cast<int>(a.integer(8)));
       }},
  };
}

}  // namespace exotune
