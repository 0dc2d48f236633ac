// How long the dynamic program takes for an f32 matrix product, and what its memo looks like.
//
//   bench_dp TARGET MxNxK [THREADS [SOLVERS [MEMO.db]]]
//
// THREADS that the product may use, SOLVERS that plan it: eight plans, from an empty or the stored
// memo
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/diagnostic.h"
#include "search/dp/dp.h"
#include "search/dp/stored_memo.h"

namespace exotune {
namespace {

constexpr int kPlans = 8;

Spec product(const std::array<uint32_t, 3>& sizes, ActionSpace& space) {
  const Subscript i{{0, 1}}, j{{1, 1}}, k{{2, 1}};
  const ScalarType t = ScalarType::kF32;
  const SpecKind kind{"+= $0 * $1",         true,
                      {false, false, true}, {{t, {i, k}}, {t, {k, j}}, {t, {i, j}}},
                      {{0, 1}, {1, 0}},     "0"};
  Spec spec;
  spec.kind = static_cast<uint16_t>(space.kinds().id(kind));
  std::copy(sizes.begin(), sizes.end(), spec.extents.begin());
  for (int o = 0; o < 3; ++o) {
    const OperandShape shape = operand_shape(kind.operands[o], spec.extents.data());
    spec.operands[o].level = static_cast<uint8_t>(space.machine().outermost());
    spec.operands[o].layout = space.layouts().id(TensorLayout::row_major(shape));
  }
  spec.threads = Threads::kMayStart;
  return spec;
}

void run(const std::string& target, const std::array<uint32_t, 3>& sizes, int threads, int solvers,
         const std::string& file) {
  const DpMachine machine =
      machine_of(*load_target(target, {EXOTUNE_SOURCE_DIR "/hw"}), {}, threads);
  const auto start = std::chrono::steady_clock::now();
  SpecKinds kinds;
  LayoutPool layouts;
  const DpRules rules = search_rules();
  std::unique_ptr<StoredMemo> stored;
  BoxMemo fresh;
  if (!file.empty())
    stored =
        std::make_unique<StoredMemo>(file, memo_identity(machine, rules, kPlans), kinds, layouts);
  SpecMemo& memo = stored ? static_cast<SpecMemo&>(*stored) : fresh;
  ActionSpace space(machine, rules, kinds, layouts);
  SolverOptions options;
  options.k = kPlans;
  options.threads = solvers;
  SpecSolver solver(space, memo, options);
  const Spec spec = product(sizes, space);
  const std::optional<MemoValue> value = solver.solve(spec);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (stored) stored->save();
  if (!value || value->best.empty()) {
    std::printf("no plan\n");
    return;
  }
  std::printf("%ux%ux%u: %zu plans in %.2f s, the best in %.0f cycles\n%s\n", sizes[0], sizes[1],
              sizes[2], value->best.size(), seconds,
              static_cast<double>(value->best[0].cost.units) / machine.units_per_cycle,
              str(memo.statistics()).c_str());
  const SolverStatistics& work = solver.statistics();
  std::printf("%lld worked out, %lld actions, %lld of them pruned, %lld relaxed\n",
              static_cast<long long>(work.solved), static_cast<long long>(work.expanded),
              static_cast<long long>(work.pruned), static_cast<long long>(work.relaxed));
  for (int rank = 0; rank < static_cast<int>(value->best.size()); ++rank)
    std::printf("plan %d: %lld units\n", rank,
                static_cast<long long>(value->best[rank].cost.units));
  std::printf("%s", str(solver.plan(spec, space.codes().all()), space).c_str());
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  std::array<uint32_t, 3> sizes{};
  int threads = 1, solvers = 1;
  if (argc < 3 || argc > 6 ||
      std::sscanf(argv[2], "%ux%ux%u", &sizes[0], &sizes[1], &sizes[2]) != 3 ||
      (argc > 3 && (std::sscanf(argv[3], "%d", &threads) != 1 || threads < 1)) ||
      (argc > 4 && (std::sscanf(argv[4], "%d", &solvers) != 1 || solvers < 1))) {
    std::fprintf(stderr, "usage: bench_dp TARGET MxNxK [THREADS [SOLVERS [MEMO.db]]]\n");
    return 2;
  }
  try {
    exotune::run(argv[1], sizes, threads, solvers, argc > 5 ? argv[5] : "");
  } catch (const exotune::Error& e) {
    std::fprintf(stderr, "%s", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
  return 0;
}
