#include "search/moves/closures.h"

#include "core/analysis/queries.h"
#include "search/moves/parts.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

// Steps of a block: with fewer the matrix comes from far memory too often, with more the block's
// own rows and columns, which go step by step, are too much of the work.
constexpr int64_t kLeastSteps = 32, kMostSteps = 64;
constexpr int64_t kLeastBlocks = 3;   // of a matrix that is worth cutting
constexpr size_t kMostStepSizes = 2;  // each is a program to search

// for k: for i: for j: one statement, of which k may not change its order; its literal extent.
std::optional<int64_t> steps_of(const Proc& p, const Path& path) {
  const For* k = stmt_at(p, path)->as<For>();
  const For* i = k ? only_loop_in(*k) : nullptr;
  const For* j = i ? only_loop_in(*i) : nullptr;
  if (!j || j->body.size() != 1 || !body_of(*j->body.front()).empty()) return std::nullopt;
  const auto lo = as_int(k->lo), hi = as_int(k->hi);
  if (lo != 0 || !hi || iterations_commute(p, path)) return std::nullopt;
  return *hi;
}

// Whole pairs of vectors: what is left of a row beside a block is then as long as that of the
// whole.
std::vector<int64_t> sizes_of_steps(int64_t extent, int64_t lanes) {
  const int64_t least = ceil_div(kLeastSteps, 2 * lanes) * 2 * lanes;
  std::vector<int64_t> out, others;
  for (int64_t steps = kMostSteps / (2 * lanes) * 2 * lanes; steps >= least; steps -= 2 * lanes)
    if (extent >= kLeastBlocks * steps) (extent % steps == 0 ? out : others).push_back(steps);
  out.insert(out.end(), others.begin(), others.end());
  if (out.size() > kMostStepSizes) out.resize(kMostStepSizes);
  return out;
}

}  // namespace

std::vector<Schedule> blocks_of_closures(const Schedule& s, int64_t lanes) {
  std::vector<Schedule> out;
  for (const Path& path : all_stmt_paths(*s.proc)) {
    const std::optional<int64_t> extent = steps_of(*s.proc, path);
    if (!extent) continue;
    for (const int64_t steps : sizes_of_steps(*extent, lanes)) {
      Schedule made = s;
      if (!apply(made, "block_closure", {Value(Cursor::stmt(s.proc, path)), Value(steps)}))
        out.push_back(std::move(made));
    }
  }
  return out;
}

}  // namespace exotune
