#include "search/view_need.h"

#include <algorithm>

#include "core/ir/path.h"
#include "search/joined_rows.h"
#include "search/nest.h"
#include "search/outline/outline.h"
#include "search/tuning_context.h"

namespace exotune {
namespace {

// The one statement of the program that reads anything, if that is `x += a * b`.
const OutlineAccess* only_product(const Outline& o) {
  const OutlineAccess* sum = nullptr;
  int reads = 0;
  for (const OutlineAccess& access : o.accesses) {
    if (!access.writes()) ++reads;
    if (access.what.kind != Access::Kind::kReduceAdd) continue;
    if (sum != nullptr) return nullptr;
    sum = &access;
  }
  if (sum == nullptr || reads != 2) return nullptr;
  const auto* reduce = stmt_at(*o.proc, sum->what.stmt)->as<Reduce>();
  if (reduce == nullptr) return nullptr;
  const auto* product = reduce->rhs->as<BinOp>();
  return product != nullptr && product->op == BinOpKind::kMul ? sum : nullptr;
}

bool is_turned(const Nest& nest, const std::string& loop, const std::string& buffer) {
  return nest.ends_in_product() && loop == nest.vector_loop &&
         std::any_of(nest.operands.begin(), nest.operands.end(),
                     [&](const Operand& o) { return o.buffer == buffer && o.turned >= 0; });
}

// Whole vectors along the loop, each loaded at once, broadcast or stored at once; where the search
// turns an operand while it packs it, its vectors are loaded at once, too.
bool whole_vectors(const Outline& o, const OutlineAccess& sum, int loop, int64_t lanes) {
  const Nest nest = inspect_nest(*o.proc);
  const std::optional<int64_t>& extent = o.loops[static_cast<size_t>(loop)].extent;
  if (!extent || *extent % lanes != 0 || o.stride(sum, loop) != 1) return false;
  return std::all_of(o.accesses.begin(), o.accesses.end(), [&](const OutlineAccess& access) {
    const std::optional<int64_t> step = o.stride(access, loop);
    return access.writes() || step == 0 || step == 1 ||
           is_turned(nest, o.loops[static_cast<size_t>(loop)].iter.name(),
                     access.what.buffer.name());
  });
}

bool fills_vectors(const TuneRequest& request) {
  SizeBinding sizes = request.representative;
  for (const auto& [name, value] : request.sizes) sizes[name] = value;
  const ProcPtr asked = with_folded_updates(at_sizes(request.proc, request.sizes));
  const ProcPtr proc = rows_joined({asked, {}, false}, sizes, *request.target).proc;
  const Outline o = outline_of(*proc, sizes);
  const OutlineAccess* const sum = only_product(o);
  if (sum == nullptr) return false;
  const int64_t lanes = std::max<int64_t>(1, request.target->lanes_of(request.kernel.precision));
  return std::any_of(sum->loops.begin(), sum->loops.end(),
                     [&](int loop) { return whole_vectors(o, *sum, loop, lanes); });
}

}  // namespace

// Machines without vectors multiply tiles: theirs are other views.
bool views_may_help(const TuneRequest& request) {
  if (request.partial) return false;
  if (request.strategy == Strategy::kEqsat) return true;
  if (request.strategy != Strategy::kAll) return false;
  return request.target->vector_memory == nullptr || !fills_vectors(request);
}

}  // namespace exotune
