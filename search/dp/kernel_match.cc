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

bool runs_once(const Spec& spec, int dims) {
  return std::all_of(spec.extents.begin(), spec.extents.begin() + dims,
                     [](uint32_t e) { return e == 1; });
}

bool extent_fits(const DpKernel& kernel, int loop, int64_t extent) {
  const int64_t wanted = kernel.extents[loop];
  return wanted > 0 ? extent == wanted : extent % kernel.multiples[loop] == 0;
}

// Which loop of a Spec each loop of a kernel is, and the other way round; -1: none.
struct LoopMatch {
  std::array<int, kMaxDims> loop_of, back;

  LoopMatch() {
    loop_of.fill(-1);
    back.fill(-1);
  }

  // The two terms name the same loop, as all terms before them did.
  bool add(const SubscriptTerm& mine, const SubscriptTerm& theirs) {
    const int a = mine.dim, b = theirs.dim;
    const bool fits = mine.coefficient == theirs.coefficient &&
                      (loop_of[b] == -1 || loop_of[b] == a) && (back[a] == -1 || back[a] == b);
    loop_of[b] = a;
    back[a] = b;
    return fits;
  }

  // A symbolic loop may run once: its subscript is then absent here.
  bool add(const std::vector<Subscript>& mine, const std::vector<Subscript>& theirs) {
    if (mine.size() != theirs.size()) return false;
    for (size_t s = 0; s < mine.size(); ++s) {
      if (mine[s].size() != theirs[s].size()) return false;
      for (size_t t = 0; t < mine[s].size(); ++t)
        if (!add(mine[s][t], theirs[s][t])) return false;
    }
    return true;
  }

  // Every loop of the kernel is one of the Spec of its extent, and every loop of the Spec that runs
  // more than once is one of the kernel.
  bool covers(const DpKernel& kernel, const Spec& spec, int dims) const {
    for (int d = 0; d < kernel.kind.dims(); ++d) {
      if (kernel.extents[d] == 1) continue;
      if (loop_of[d] < 0 || !extent_fits(kernel, d, spec.extents[loop_of[d]])) return false;
    }
    for (int d = 0; d < dims; ++d)
      if (spec.extents[d] != 1 && back[d] < 0) return false;
    return true;
  }
};

// Loops of the kernel to loops of the Spec, by what the operands' subscripts say; `from`: the
// kernel's operand for one of the Spec.
template <class From>
bool loops_fit(const DpKernel& kernel, const Spec& spec, const SpecKind& kind, const From& from) {
  std::array<uint32_t, kMaxDims> kernel_extents{};
  for (int d = 0; d < kernel.kind.dims(); ++d)
    kernel_extents[d] = kernel.extents[d] == 0 ? 0 : static_cast<uint32_t>(kernel.extents[d]);
  LoopMatch match;
  std::vector<Subscript> mine, theirs;
  for (int i = 0; i <= kind.output(); ++i) {
    reduced(kind.operands[i], spec.extents.data(), mine);
    reduced(kernel.kind.operands[from(i)], kernel_extents.data(), theirs);
    if (!match.add(mine, theirs)) return false;
  }
  return match.covers(kernel, spec, kind.dims());
}

}  // namespace

// Contiguity and register widths.
bool ActionSpace::vectors_fit(const DpKernel& kernel, const Spec& spec, bool scalar) const {
  const SpecKind& kind = kinds_.at(spec.kind);
  int vector = 0;
  int64_t vectors = 0;
  for (int i = 0; i <= kind.output(); ++i) {
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
  return kernel.max_vectors == 0 || vectors <= kernel.max_vectors;
}

bool ActionSpace::applies(const DpKernel& kernel, const Spec& spec) const {
  const SpecKind& kind = kinds_.at(spec.kind);
  const int dims = kind.dims();
  const bool scalar = runs_once(spec, dims);
  const int output = kind.output();
  if (kernel.is_statement()) {
    for (int i = 0; i <= output && scalar; ++i)
      if (!(kernel.levels_of(i) >> spec.operands[i].level & 1)) return false;
    return scalar;
  }
  if (kernel.block) return is_register_block(kernel, spec, kind, layouts_);
  if (!vectors_fit(kernel, spec, scalar)) return false;

  // Elements side by side in one order are one long row.
  const bool flat =
      kind.is_elementwise() && kernel.kind.is_elementwise() && kernel.kind.dims() == 1;
  if (flat || kind.statement == "= $0")
    for (int i = 1; i <= output; ++i)
      if (spec.operands[i].layout != spec.operands[0].layout && !rules_.relaxed) return false;

  for (const std::vector<int>& order : kernel.kind.symmetries) {
    const auto from = [&](int i) { return i < output ? order[i] : i; };
    bool matches = true;
    for (int i = 0; i <= output && matches; ++i)
      matches = kernel.levels[from(i)] >> spec.operands[i].level & 1;
    if (!matches) continue;
    int64_t volume = 1;
    for (int d = 0; d < dims; ++d) volume *= spec.extents[d];
    if (flat ? extent_fits(kernel, 0, volume) : loops_fit(kernel, spec, kind, from)) return true;
  }
  return false;
}

}  // namespace exotune
