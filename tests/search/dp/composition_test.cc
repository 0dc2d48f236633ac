// Chains: lifted, planned, and every plan replayed through the core on the proc.
#include "search/dp/composition.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "hw/kernel_table.h"
#include "search/dp/spelled_nest.h"
#include "search/steps/builders.h"

namespace exotune {
namespace {

const std::filesystem::path kRoot = EXOTUNE_SOURCE_DIR;

ProcPtr chain(int64_t m, int64_t n, int64_t k, int64_t l) {
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  return partial_eval(table.at("smatmul_chain").load(), {{"M", m}, {"N", n}, {"K", k}, {"L", l}});
}

ProcPtr proc(const std::string& text) { return parse_module(text, "chain.exo").procs.front(); }

TEST(Composition, a_chain_is_its_parts_joined_by_intermediates) {
  const std::optional<Composition> c = lift_chain(*chain(8, 6, 4, 2));
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->parts.size(), 2u);
  ASSERT_EQ(c->intermediates.size(), 1u);
  EXPECT_EQ(c->intermediates[0].name(), "E");
  EXPECT_TRUE(c->parts[0].initialised);
  EXPECT_FALSE(c->parts[1].initialised);
  EXPECT_EQ(c->parts[0].nest.extents, (std::vector<int64_t>{8, 6, 4}));
  EXPECT_EQ(c->parts[1].nest.extents, (std::vector<int64_t>{8, 2, 6}));
}

TEST(Composition, what_is_no_chain_is_refused) {
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  EXPECT_FALSE(lift_chain(*table.at("smatmul_chain").load()));  // sizes unknown
  EXPECT_FALSE(lift_chain(*table.at("sgemm").load()));
  // The second nest does not read what the first one writes, or reads it by columns.
  for (const char* read : {"A[r, n]", "E[n, r]"})
    EXPECT_FALSE(lift_chain(*proc(std::string(R"(
@proc
def f(A: f32[4, 4], D: f32[4]):
    E: f32[4, 4]
    for i in seq(0, 4):
        for j in seq(0, 4):
            E[i, j] = A[i, j]
    for r in seq(0, 4):
        for n in seq(0, 4):
            D[r] += )") + read + "\n")))
        << read;
}

// Each plan of the proc, replayed, computes the same; how many fuse all parts.
int fused_plans(const ProcPtr& before, const Target& target, int fusions) {
  const std::vector<ChainPlan> plans = chain_plans(*before, target, instruction_values(target));
  Module module;
  module.procs = {before};
  Arguments expected = make_arguments(*before, {}, 3);
  const Arguments fresh = copy_of(expected);
  run(*before, expected.values);
  int fused = 0, whole = 0;
  for (size_t k = 0; k < plans.size(); ++k) {
    if (k > 0) {
      EXPECT_LE(plans[k - 1].units, plans[k].units);
    }
    std::string script = "p = " + before->name + "\n";
    script += key_of(plans[k].steps);
    const ProcPtr after =
        run_script(script, "plan.sched", script_environment(module, {&target.library})).proc;
    Arguments got = copy_of(fresh);
    run(*after, got.values);
    for (size_t i = 0; i < got.buffers.size(); ++i)
      EXPECT_EQ(first_difference(*expected.buffers[i], *got.buffers[i]), "") << script;
    (plans[k].tile > 0 ? fused : whole) += 1;
    if (plans[k].tile == 0) continue;
    EXPECT_EQ(192 % plans[k].tile, 0);
    int found = 0;
    for (size_t at = 0; (at = script.find("compute_and_store_at", at)) != std::string::npos; ++at)
      ++found;
    EXPECT_EQ(found, fusions) << script;
  }
  EXPECT_GT(whole, 0);
  return fused;
}

TEST(Composition, every_plan_means_the_same_and_tiles_divide_the_rows) {
  TargetLibrary library({kRoot / "hw"});
  EXPECT_GE(fused_plans(chain(192, 24, 5, 40), *library.load("avx512"), 1), 3);
}

TEST(Composition, a_chain_of_three_products_goes_through_one_loop_over_tiles) {
  const ProcPtr three = proc(R"(
@proc
def three(A: f32[192, 7], B: f32[7, 24], C: f32[24, 20], D: f32[20, 33], G: f32[192, 33]):
    E: f32[192, 24]
    F: f32[192, 20]
    for i in seq(0, 192):
        for j in seq(0, 24):
            E[i, j] = 0.0
            for k in seq(0, 7):
                E[i, j] += A[i, k] * B[k, j]
    for r in seq(0, 192):
        for l in seq(0, 20):
            F[r, l] = 0.0
            for n in seq(0, 24):
                F[r, l] += E[r, n] * C[n, l]
    for s in seq(0, 192):
        for u in seq(0, 33):
            for v in seq(0, 20):
                G[s, u] += F[s, v] * D[v, u]
)");
  const std::optional<Composition> c = lift_chain(*three);
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->parts.size(), 3u);
  EXPECT_EQ(c->intermediates.size(), 2u);
  TargetLibrary library({kRoot / "hw"});
  EXPECT_GE(fused_plans(three, *library.load("avx512"), 2), 3);
}

TEST(Composition, the_steps_of_a_softmax_lifted_then_interpreted_equal_the_proc) {
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  const ProcPtr whole = partial_eval(table.at("ssoftmax").load(), {{"M", 3}, {"N", 7}});
  const std::optional<Composition> c = lift_chain(*whole);
  ASSERT_TRUE(c.has_value());
  ASSERT_EQ(c->parts.size(), 4u);
  EXPECT_EQ(c->parts[0].nest.kind.statement, "max= $0");
  EXPECT_EQ(c->parts[1].nest.kind.statement, "= exp(($0 - $1))");
  Arguments expected = make_arguments(*whole, {}, 5);
  const Arguments fresh = copy_of(expected);
  run(*whole, expected.values);
  std::map<Sym, Buffer> memory;
  for (size_t k = 0; k < whole->args.size(); ++k)
    memory.emplace(whole->args[k].name, *fresh.buffers[k]);
  for (const ChainPart& part : c->parts) {
    const ProcPtr nest = spell_nest(part.nest.kind, part.nest.extents);
    const Sym result = part.nest.buffers.back();
    if (!memory.count(result)) {
      std::vector<int64_t> shape;
      for (const ExprPtr& e : nest->args.back().type.shape) shape.push_back(*as_int(e));
      // Sums begin at 0, the maximum below everything.
      const double begin = part.nest.kind.statement.front() == 'm' ? -1e30 : 0;
      const int64_t count =
          std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
      memory.emplace(result, Buffer(ScalarType::kF32, shape,
                                    std::vector<double>(static_cast<size_t>(count), begin)));
    }
    std::vector<ArgValue> values;
    for (const Sym buffer : part.nest.buffers) values.emplace_back(&memory.at(buffer));
    run(*nest, values);
  }
  EXPECT_EQ(first_difference(*expected.buffers.back(), memory.at(whole->args.back().name)), "");
}

TEST(Composition, softmax_is_planned_row_by_row_and_replayed) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load("avx512");
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  for (const int64_t columns : {5, 64, 1000}) {
    const ProcPtr before = partial_eval(table.at("ssoftmax").load(), {{"M", 3}, {"N", columns}});
    const std::vector<ChainPlan> plans = chain_plans(*before, *target, instruction_values(*target));
    ASSERT_EQ(plans.size(), 8u);
    EXPECT_EQ(plans.front().tile, 1);
    EXPECT_LT(plans.front().units, plans.back().units);
    Module module;
    module.procs = {before};
    Arguments expected = make_arguments(*before, {}, 3);
    const Arguments fresh = copy_of(expected);
    run(*before, expected.values);
    for (const ChainPlan& plan : plans) {
      std::string script = "p = ssoftmax\n";
      script += key_of(plan.steps);
      const ProcPtr after =
          run_script(script, "plan.sched", script_environment(module, {&target->library})).proc;
      Arguments got = copy_of(fresh);
      run(*after, got.values);
      EXPECT_EQ(first_difference(expected, got, 1e-6), "") << script;
      EXPECT_NE(str(*after).find("mm512_"), std::string::npos);
    }
  }
}

TEST(Composition, an_intermediate_too_large_for_the_caches_is_better_fused) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load("avx512");
  const std::vector<ChainPlan> plans =
      chain_plans(*chain(1 << 18, 64, 64, 64), *target, instruction_values(*target));
  ASSERT_FALSE(plans.empty());
  EXPECT_GT(plans.front().tile, 0);
  EXPECT_NE(plans.front().level, "DRAM");
}

}  // namespace
}  // namespace exotune
