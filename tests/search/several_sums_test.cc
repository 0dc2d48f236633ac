// Nests of several sums: read as sums, tiled with a result of each in registers, their operands
// packed together, whoever proposes it.
#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/beam.h"
#include "search/finished_nests.h"
#include "search/moves.h"
#include "search/moves/tiles.h"
#include "search/part_pricing.h"
#include "search/steps/builders.h"
#include "search/tuning_context.h"
#include "tests/search/machines.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kComplex = R"(
@proc
def complex_product(Ar: f32[13, 18], Ai: f32[13, 18], Br: f32[18, 40], Bi: f32[18, 40], Cr: f32[13, 40], Ci: f32[13, 40]):
    for i in seq(0, 13):
        for j in seq(0, 40):
            for k in seq(0, 18):
                Cr[i, j] += Ar[i, k] * Br[k, j] - Ai[i, k] * Bi[k, j]
                Ci[i, j] += Ar[i, k] * Bi[k, j] + Ai[i, k] * Br[k, j]
)";

const char* const kGated = R"(
@proc
def gated(x: f32[13, 18], g: f32[18, 40], u: f32[18, 40], h: f32[13, 40]):
    for i in seq(0, 13):
        for j in seq(0, 40):
            G: f32
            U: f32
            G = 0.0
            U = 0.0
            for k in seq(0, 18):
                G += x[i, k] * g[k, j]
                U += x[i, k] * u[k, j]
            h[i, j] = G * U
)";

class SeveralSums : public ::testing::Test {
 protected:
  SeveralSums() : target_(avx512()) { context_.instructions = instruction_values(*target_); }

  const TargetPtr target_;
  BeamContext context_;
};

TEST_F(SeveralSums, are_read_as_sums_of_several_results) {
  for (const char* const text : {kComplex, kGated}) {
    const Nest nest = inspect_nest(*parsed(text));
    EXPECT_EQ(nest.kind, NestKind::kSums) << text;
    EXPECT_EQ(nest.results, 2);
    EXPECT_EQ(nest.shared, 2);
    EXPECT_EQ(nest.vector_loop, "j");
    EXPECT_EQ(nest.row_loop, "i");
  }
  // One result in two statements is one tile; a sum of another's result is none.
  const Nest twice = inspect_nest(*parsed(R"(
@proc
def twice(A: f32[13, 18], B: f32[18, 40], C: f32[13, 40]):
    for i in seq(0, 13):
        for j in seq(0, 40):
            for k in seq(0, 18):
                C[i, j] += A[i, k] * B[k, j]
                C[i, j] += B[k, j]
)"));
  EXPECT_EQ(twice.results, 1);
  EXPECT_NE(inspect_nest(*parsed(R"(
@proc
def follows(A: f32[13, 18], B: f32[18, 40], C: f32[13, 40], D: f32[13, 40]):
    for i in seq(0, 13):
        for j in seq(0, 40):
            for k in seq(0, 18):
                C[i, j] += A[i, k] * B[k, j]
                D[i, j] += A[i, k] * C[i, j]
)"))
                .kind,
            NestKind::kSums);
}

// Of a cache as small as this the operands are cut into panels, too.
TEST_F(SeveralSums, have_tiles_that_fit_the_registers_with_all_operands_packed) {
  std::vector<TargetLevel> levels = target_->levels;
  for (TargetLevel& level : levels)
    if (level.is_cache()) level.bytes = 1024;
  for (const char* const text : {kComplex, kGated}) {
    const ProcPtr p = parsed(text);
    int packed = 0, panels = 0;
    const std::vector<Finish> finishes =
        register_tiles_of(inspect_nest(*p), *target_, levels, context_.instructions);
    for (const FinishedNest& made :
         finish_all({p, {}, false}, finishes, PartPricing(context_), {})) {
      if (!made.plan) continue;
      const std::string script = script_text(*p, made.plan->steps);
      expect_same_result(p, made.plan->proc, script);
      packed += script.find("pack_operand") != script.rfind("pack_operand");
      panels += script.find("'k', ") < script.find("pack_operand");
    }
    EXPECT_GE(packed, 2) << text;
    // The gate's sums begin and end, so they stay whole.
    EXPECT_EQ(panels > 0, text == kComplex) << text;
  }
}

// A loop whose iterations need one another has no vectors, however many at once.
TEST_F(SeveralSums, finishes_that_two_of_their_kind_were_refused_as_are_not_tried) {
  const ProcPtr p = parsed(R"(
@proc
def chain(x: f32[64], y: f32[64]):
    for i in seq(1, 64):
        x[i] += x[i - 1] * y[i]
        y[i] += x[i] * y[i - 1]
)");
  const VectorValues unit(*target_, ScalarType::kF32, context_.instructions);
  std::vector<Finish> finishes;
  for (const int64_t vectors : {1, 2, 4, 8})
    finishes.push_back({"", {unit.step("optimize_level_1", {Value("i")}, {Value(vectors)})}});
  finishes.push_back({"",
                      {{"divide_loop",
                        {Value("i"), Value(int64_t{8}), Value::strings({"io", "i"}), Value("cut")},
                        {}}}});
  const std::vector<FinishedNest> made =
      finish_all({p, {}, false}, finishes, PartPricing(context_), {});
  ASSERT_EQ(made.size(), 5u);
  for (const size_t k : {0, 1}) {
    ASSERT_EQ(made[k].refusals.size(), 1u);
    EXPECT_FALSE(made[k].plan);
  }
  for (const size_t k : {2, 3}) EXPECT_TRUE(made[k].refusals.empty() && !made[k].plan);
  EXPECT_TRUE(made[4].plan);
}

TEST_F(SeveralSums, are_packed_together_by_the_beam) {
  for (const char* const text : {kComplex, kGated}) {
    const ProcPtr p = parsed(text);
    const BeamResult found = beam_search(p, space_for(inspect_nest(*p), *target_, target_->levels),
                                         context_, {.width = 2, .keep = 24});
    int together = 0;
    for (const BeamState& s : found.states) {
      const std::string script = script_text(*p, s.steps);
      expect_same_result(p, s.proc, script);
      const size_t packs = script.find("pack_operand") == std::string::npos              ? 0
                           : script.find("pack_operand") == script.rfind("pack_operand") ? 1
                                                                                         : 2;
      EXPECT_NE(packs, 1u) << script;
      together += packs == 2;
    }
    EXPECT_GT(together, 0) << text;
  }
}

}  // namespace
}  // namespace exotune
