// Does a kernel implement a Spec as it stands?
#include <algorithm>

#include "core/base/diagnostic.h"
#include "search/dp/actions.h"
#include "search/dp/register_block.h"

namespace exotune {

namespace {

// An operand's subscripts without the loops that run once.
void reduced(const OperandKind& operand, const uint32_t* extents, std::vector<Subscript>& out) {
  out.clear();
  for (const Subscript& s : operand.subscripts) {
    Subscript kept;
    for (const SubscriptTerm& t : s)
      if (extents[t.dim] != 1) kept.push_back(t);
    if (!kept.empty()) out.push_back(std::move(kept));
  }
}

bool all_ones(const Spec& spec, int dims) {
  return std::all_of(spec.extents.begin(), spec.extents.begin() + dims,
                     [](uint32_t e) { return e == 1; });
}

bool extent_fits(const DpKernel& kernel, int loop, int64_t extent) {
  const int64_t wanted = kernel.extents[loop];
  return wanted > 0 ? extent == wanted : extent % kernel.multiples[loop] == 0;
}

}  // namespace

bool ActionSpace::applies(const DpKernel& kernel, const Spec& spec) const {
  const SpecKind& kind = kinds_.at(spec.kind);
  const int dims = kind.dims();
  const bool scalar = all_ones(spec, dims);
  const int output = kind.output();
  if (kernel.is_statement()) {
    for (int i = 0; i <= output && scalar; ++i)
      if (!(kernel.levels_of(i) >> spec.operands[i].level & 1)) return false;
    return scalar;
  }

  if (kernel.block) return is_register_block(kernel, spec, kind, layouts_);

  // Contiguity, register widths.
  int vector = 0;
  int64_t vectors = 0;
  for (int i = 0; i <= output; ++i) {
    const OperandState& o = spec.operands[i];
    if (!scalar && !layouts_.at(o.layout).is_contiguous()) return false;
    if (o.vector == 0) continue;
    const int64_t volume = operand_shape(kind.operands[i], spec.extents.data()).volume();
    if (volume % o.vector != 0) return false;
    if (vector != 0 && vector != o.vector && kernel.same_vectors) return false;
    if (kernel.strip > 0 && o.vector != kernel.strip) return false;
    if (vector == 0) vector = o.vector;
    vectors = std::max(vectors, volume / o.vector);
  }
  if (kernel.max_vectors > 0 && vectors > kernel.max_vectors) return false;

  // Elements side by side in one order are one long row.
  const bool flat =
      kind.is_elementwise() && kernel.kind.is_elementwise() && kernel.kind.dims() == 1;
  if (flat || kind.statement == "= $0")
    for (int i = 1; i <= output; ++i)
      if (spec.operands[i].layout != spec.operands[0].layout && !rules_.relaxed) return false;

  for (const std::vector<int>& order : kernel.kind.symmetries) {
    bool matches = true;
    const auto from = [&](int i) { return i < output ? order[i] : i; };
    for (int i = 0; i <= output && matches; ++i)
      matches = kernel.levels[from(i)] >> spec.operands[i].level & 1;
    if (!matches) continue;
    if (flat) {
      int64_t volume = 1;
      for (int d = 0; d < dims; ++d) volume *= spec.extents[d];
      if (extent_fits(kernel, 0, volume)) return true;
      continue;
    }
    // Loops of the kernel to loops of the Spec, by what the operands' subscripts say.
    std::array<uint32_t, kMaxDims> kernel_extents{};
    for (int d = 0; d < kernel.kind.dims(); ++d)
      kernel_extents[d] = kernel.extents[d] == 0 ? 0 : static_cast<uint32_t>(kernel.extents[d]);
    std::array<int, kMaxDims> loop_of;
    std::array<int, kMaxDims> back;
    loop_of.fill(-1);
    back.fill(-1);
    std::vector<Subscript> mine, theirs;
    for (int i = 0; i <= output && matches; ++i) {
      reduced(kind.operands[i], spec.extents.data(), mine);
      reduced(kernel.kind.operands[from(i)], kernel_extents.data(), theirs);
      // A symbolic loop may run once: its subscript is then absent here.
      if (mine.size() != theirs.size()) {
        matches = false;
        break;
      }
      for (size_t s = 0; s < mine.size() && matches; ++s) {
        if (mine[s].size() != theirs[s].size()) {
          matches = false;
          break;
        }
        for (size_t t = 0; t < mine[s].size() && matches; ++t) {
          const int a = mine[s][t].dim, b = theirs[s][t].dim;
          matches = mine[s][t].coefficient == theirs[s][t].coefficient &&
                    (loop_of[b] == -1 || loop_of[b] == a) && (back[a] == -1 || back[a] == b);
          loop_of[b] = a;
          back[a] = b;
        }
      }
    }
    if (!matches) continue;
    for (int d = 0; d < kernel.kind.dims() && matches; ++d) {
      if (kernel.extents[d] == 1) continue;
      if (loop_of[d] < 0) {
        matches = false;
        break;
      }
      const uint32_t extent = spec.extents[loop_of[d]];
      matches =
          kernel.extents[d] > 0 ? extent == kernel.extents[d] : extent % kernel.multiples[d] == 0;
    }
    for (int d = 0; d < dims && matches; ++d) matches = spec.extents[d] == 1 || back[d] >= 0;
    if (matches) return true;
  }
  return false;
}

}  // namespace exotune
