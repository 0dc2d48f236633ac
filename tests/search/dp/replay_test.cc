// Plans of the dynamic program, replayed through the core on the user's own proc.
#include "search/dp/replay.h"

#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "core/interp/interp.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "search/steps/builders.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

struct Replayed {
  ProcPtr before, after;
  std::string script;
  int vectors = 0;
};

const char* const kMatmul = R"(
@proc
def matmul(A: f32[%M, %K], B: f32[%K, %N], C: f32[%M, %N]):
    for i in seq(0, %M):
        for j in seq(0, %N):
            for k in seq(0, %K):
                C[i, j] += A[i, k] * B[k, j]
)";

std::string sized(std::string text, int m, int n, int k) {
  for (const auto& [name, value] : {std::pair{"%M", m}, {"%N", n}, {"%K", k}})
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, std::to_string(value));
  return text;
}

// Every one of the cheapest plans of one nest, as schedules.
std::vector<Replayed> replay_all(const std::string& source, const std::string& target_name,
                                 int plans, int threads = 1) {
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const TargetPtr target = library.load(target_name);
  DpMachine machine = machine_of(*target, {}, threads);
  if (threads > 1) machine.thread_start = 0;
  SpecKinds kinds;
  LayoutPool layouts;
  ActionSpace space(machine, search_rules(), kinds, layouts);
  BoxMemo memo;
  SolverOptions options;
  options.k = plans;
  SpecSolver solver(space, memo, options);

  const Module module = parse_module(source, "matmul.exo");
  const ProcPtr before = module.procs.front();
  const std::optional<LiftedNest> nest = lift_nest(*before);
  std::vector<Replayed> out;
  if (!nest) return out;
  const Spec spec = spec_of(*nest, *before, space);
  const std::optional<MemoValue> value = solver.solve(spec);
  for (int rank = 0; rank < static_cast<int>(value->best.size()); ++rank) {
    const PlanNode plan = solver.plan(spec, space.codes().all(), rank);
    Replayed r;
    r.before = before;
    r.script = "p = " + before->name + "\n";
    r.script += key_of(steps_of(plan, space, *nest, *target, instruction_values(*target)));
    r.after =
        run_script(r.script, "plan.sched", script_environment(module, {&target->library})).proc;
    for_each_stmt(r.after->body, [&](const StmtPtr& s) { r.vectors += s->as<Call>() != nullptr; });
    out.push_back(std::move(r));
  }
  return out;
}

// Specs that are worked out for the best plan.
int64_t solved(const std::string& source) {
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const DpMachine machine = machine_of(*library.load("avx512"));
  SpecKinds kinds;
  LayoutPool layouts;
  ActionSpace space(machine, search_rules(), kinds, layouts);
  BoxMemo memo;
  SpecSolver solver(space, memo);
  const ProcPtr p = parse_module(source, "product.exo").procs.front();
  solver.solve(spec_of(*lift_nest(*p), *p, space));
  return solver.statistics().solved;
}

void expect_same(const Replayed& r) {
  ASSERT_TRUE(r.after);
  expect_same_result(r.before, r.after, r.script);
}

class DpReplay : public testing::TestWithParam<std::tuple<int, int, int, const char*>> {};

TEST_P(DpReplay, every_plan_is_a_script_that_means_the_same) {
  const auto& [m, n, k, target] = GetParam();
  const std::vector<Replayed> all = replay_all(sized(kMatmul, m, n, k), target, 8);
  ASSERT_FALSE(all.empty());
  for (const Replayed& r : all) {
    expect_same(r);
    EXPECT_GT(r.vectors, 0) << r.script;
  }
}

// An operand across the vectors: the plan lays it out anew, in strips of its first dimension.
TEST(DpReplay, an_operand_is_turned_while_it_is_packed) {
  const std::vector<Replayed> all = replay_all(R"(
@proc
def product(A: f32[8, 8], B: f32[32, 8], C: f32[8, 32]):
    for i in seq(0, 8):
        for j in seq(0, 32):
            for k in seq(0, 8):
                C[i, j] += A[i, k] * B[j, k]
)",
                                               "avx512", 1);
  ASSERT_EQ(all.size(), 1u);
  expect_same(all[0]);
  EXPECT_GT(all[0].vectors, 0);
  EXPECT_NE(all[0].script.find("dim=0"), std::string::npos) << all[0].script;
}

// In strips as wide as the tile, in front of the rows; and as few Specs as a product whose second
// factor lies along the vectors.
TEST(DpReplay, a_turned_operand_is_packed_once_in_front_of_what_reads_it_again) {
  const std::string turned = R"(
@proc
def product(A: f32[%K, %M], B: f32[%N, %K], C: f32[%M, %N]):
    for i in seq(0, %M):
        for j in seq(0, %N):
            for k in seq(0, %K):
                C[i, j] += A[k, i] * B[j, k]
)";
  for (const auto& [m, n, k] : {std::tuple(24, 64, 48), {64, 96, 128}}) {
    const std::vector<Replayed> all = replay_all(sized(turned, m, n, k), "avx512", 4);
    ASSERT_FALSE(all.empty());
    for (const Replayed& r : all) {
      expect_same(r);
      const size_t pack = r.script.find("pack_operand("), rows = r.script.find("block_loop(p, 'i'");
      ASSERT_NE(pack, std::string::npos) << r.script;
      EXPECT_EQ(r.script.find("'B'", pack), pack + 16) << r.script;
      EXPECT_TRUE(rows == std::string::npos || pack < rows) << r.script;
      EXPECT_EQ(r.script.find("pack_operand(p, 'B'", pack + 1), std::string::npos) << r.script;
    }
    EXPECT_LE(solved(sized(turned, m, n, k)), 3 * solved(sized(kMatmul, m, n, k)));
  }
}

// Sums of several loops: convolutions with channels last, of stride two, by depth, in one
// dimension.
class DpReplayOfSums : public testing::TestWithParam<const char*> {};

TEST_P(DpReplayOfSums, every_plan_is_a_script_that_means_the_same) {
  const std::vector<Replayed> all = replay_all(GetParam(), "avx512", 4);
  ASSERT_FALSE(all.empty());
  for (const Replayed& r : all) {
    expect_same(r);
    EXPECT_NE(r.script.find("sum_block("), std::string::npos) << r.script;
    EXPECT_GT(r.vectors, 0) << r.script;
  }
}

INSTANTIATE_TEST_SUITE_P(Convolutions, DpReplayOfSums,
                         testing::Values(R"(
@proc
def channels_last(image: f32[5, 9, 8], weights: f32[3, 3, 8, 40], out: f32[3, 7, 40]):
    for y in seq(0, 3):
        for x in seq(0, 7):
            for k in seq(0, 40):
                for dy in seq(0, 3):
                    for dx in seq(0, 3):
                        for c in seq(0, 8):
                            out[y, x, k] += image[y + dy, x + dx, c] * weights[dy, dx, c, k]
)",
                                         R"(
@proc
def stride_two(image: f32[1, 7, 13, 4], weights: f32[3, 3, 4, 32], out: f32[1, 3, 6, 32]):
    for b in seq(0, 1):
        for y in seq(0, 3):
            for x in seq(0, 6):
                for k in seq(0, 32):
                    for dy in seq(0, 3):
                        for dx in seq(0, 3):
                            for c in seq(0, 4):
                                out[b, y, x, k] += image[b, 2 * y + dy, 2 * x + dx, c] * weights[dy, dx, c, k]
)",
                                         R"(
@proc
def one_dimension(data: f32[4, 41], kernels: f32[10, 4, 5], out: f32[10, 37]):
    for i in seq(0, 10):
        for c in seq(0, 4):
            for j in seq(0, 37):
                for r in seq(0, 5):
                    out[i, j] += kernels[i, c, r] * data[c, j + r]
)"));

// Small products, on a machine whose threads cost nothing to start.
TEST(DpReplay, parallel_plans_run_without_races_and_mean_the_same) {
  for (const auto& [m, n, k] : {std::array{64, 64, 32}, {50, 48, 20}, {31, 70, 9}, {7, 200, 16}}) {
    int parallel = 0;
    for (const Replayed& r : replay_all(sized(kMatmul, m, n, k), "avx512", 8, 2)) {
      expect_same(r);
      for_each_stmt(r.after->body, [&](const StmtPtr& s) {
        parallel += s->as<For>() && s->as<For>()->mode == LoopMode::kPar;
      });
      EXPECT_NO_THROW(check(*r.after)) << r.script;
    }
    EXPECT_GT(parallel, 0) << m << "x" << n << "x" << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Matmul, DpReplay,
    testing::Values(std::tuple{16, 16, 16, "avx512"}, std::tuple{18, 32, 12, "avx512"},
                    std::tuple{20, 40, 9, "avx512"}, std::tuple{63, 42, 97, "avx512"},
                    std::tuple{1, 64, 64, "avx512"}, std::tuple{64, 16, 3, "avx512"},
                    std::tuple{31, 21, 49, "avx512"}, std::tuple{48, 48, 48, "avx512"},
                    std::tuple{8, 24, 16, "avx2"}, std::tuple{31, 20, 48, "avx2"}));

}  // namespace
}  // namespace exotune
