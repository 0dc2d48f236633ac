#include "core/library/transposition.h"

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

bool is_transpose(const Proc& instr) {
  const For* outer = instr.body.size() == 1 ? instr.body[0]->as<For>() : nullptr;
  const For* inner = outer && outer->body.size() == 1 ? outer->body[0]->as<For>() : nullptr;
  const Assign* a = inner && inner->body.size() == 1 ? inner->body[0]->as<Assign>() : nullptr;
  const Read* r = a ? a->rhs->as<Read>() : nullptr;
  if (!r || a->idx.size() != 2 || r->idx.size() != 2) return false;
  const auto is = [](const ExprPtr& e, Sym iter) {
    return affine_equal(e, read_var(iter, ScalarType::kIndex));
  };
  return is(a->idx[0], outer->iter) && is(a->idx[1], inner->iter) && is(r->idx[0], inner->iter) &&
         is(r->idx[1], outer->iter);
}

ProcPtr pack_transposed(ProcPtr p, const std::string& buffer, const Where& where,
                        const std::vector<ProcPtr>& instrs) {
  const Cursor block = where.block(p);
  const std::optional<ScopeEntry> entry = visible(p, block.path(), buffer);
  const std::optional<Rectangle> part =
      entry ? touched(p, block, entry->name, Touch::kReads) : std::nullopt;
  if (!part)
    throw SchedulingError("pack_transposed: `" + buffer +
                          "` is not read through affine indices in `" + block.describe() + "`");
  const std::vector<ScopeEntry> scope = scope_at(*p, block.path());
  std::vector<ViewAxis> axes;
  std::string element;
  for (size_t d = 0; d < part->lo.size(); ++d) {
    const ExprPtr extent = normalize(part->hi[d] - part->lo[d]);
    element += (d ? ", " : buffer + "[") + str(part->lo[d], scope);
    if (as_int(extent) == 1) continue;
    axes.push_back({buffer + "_d" + std::to_string(d), str(extent, scope)});
    element += " + " + axes.back().name;
  }
  if (axes.size() < 2)
    throw SchedulingError("pack_transposed: what `" + block.describe() + "` reads of `" + buffer +
                          "` has no two dimensions");
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  p = stage_view(p, block, buffer + "_t", axes, element + "]");
  Path tile = sibling(block.path(), 1);  // the loops that fill it, after its allocation
  for (size_t k = 2; k < axes.size(); ++k) tile.push_back({Child::kBody, 0});
  for (const ProcPtr& instr : instrs) {
    if (!is_transpose(*instr)) continue;
    try {
      return tile_to_instr(p, Cursor::stmt(p, tile), instr);
    } catch (const SchedulingError&) {
      // Another precision, or fewer elements than a tile has.
    }
  }
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> transposition_operators() {
  using namespace params;
  return {
      {"pack_transposed",
       {proc(), string("buffer"), place("block"), procs("instructions")},
       "s(B[j, k])  ->  B_t : T[K, J]; B_t[k, j] = B[j, k]; s(B_t[k, j])   in register tiles where "
       "an "
       "instruction transposes",
       [](const OperatorArgs& a) -> Value {
         return pack_transposed(a.proc(), a.string(1), a.where(2), a.procs(3));
       }},
  };
}

}  // namespace exotune
