// Register tiles of products that no cache holds: what is packed and copied for them, and that it
// computes the same.
#include "search/moves/tiles.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/finished_nests.h"
#include "search/steps/builders.h"
#include "search/tuning_context.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

class Tiles : public ::testing::Test {
 protected:
  Tiles() : target_(load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"})), levels_(target_->levels) {
    context_.instructions = instruction_values(*target_);
    context_.weights = default_weights(CostMachine{});
  }

  const TargetPtr target_;
  std::vector<TargetLevel> levels_;
  BeamContext context_;
};

const char* const kTurnedRows = R"(
@proc
def turned_rows(A: f32[96, 45], B: f32[96, 52], C: f32[45, 52]):
    for i in seq(0, 45):
        for j in seq(0, 52):
            for k in seq(0, 96):
                C[i, j] += A[k, i] * B[k, j]
)";

// Of caches as small as these both operands are large.
TEST_F(Tiles, rows_that_step_over_their_array_are_packed_too) {
  const ProcPtr p = parsed(kTurnedRows);
  for (TargetLevel& level : levels_)
    if (level.is_cache()) level.bytes = 4096;
  const auto both_packed = [&] {
    std::vector<Finish> out;
    for (Finish& f : register_tiles_of(inspect_nest(*p), *target_, levels_, context_.instructions))
      if (f.name.find("both packed") != std::string::npos) out.push_back(std::move(f));
    return out;
  };
  const std::vector<Finish> finishes = both_packed();
  ASSERT_FALSE(finishes.empty());
  for (const FinishedNest& made : finish_all({p, {}, false}, finishes, PartPricing(context_), {})) {
    ASSERT_TRUE(made.plan) << made.refusals.at(0).text();
    const std::string steps = key_of(made.plan->steps);
    EXPECT_NE(steps.find("pack_operand(p, 'A', 'jc', "), std::string::npos) << steps;
    EXPECT_NE(steps.find("pack_operand(p, 'B', 'i', "), std::string::npos) << steps;
    expect_same_result(p, made.plan->proc, script_text(*p, made.plan->steps));
  }
  for (TargetLevel& level : levels_)
    if (level.is_cache()) level.bytes = 1 << 20;
  EXPECT_TRUE(both_packed().empty());
}

const char* const kFewRowsOfProduct = R"(
@proc
def few_rows(A: f32[10, 70], B: f32[70, 120], C: f32[10, 120]):
    for i in seq(0, 10):
        for j in seq(0, 120):
            for k in seq(0, 70):
                C[i, j] += A[i, k] * B[k, j]
)";

// A second factor that a second cache does not hold, of which each tile asks for the next strip.
TEST_F(Tiles, few_rows_read_a_large_factor_where_it_stands) {
  const ProcPtr p = parsed(kFewRowsOfProduct);
  const auto standing = [&](int64_t bytes) {
    for (TargetLevel& level : levels_)
      if (level.is_cache()) level.bytes = bytes;
    std::vector<Finish> out;
    for (Finish& f : register_tiles_of(inspect_nest(*p), *target_, levels_, context_.instructions))
      if (f.name.find("as it stands") != std::string::npos) out.push_back(std::move(f));
    return out;
  };
  const std::vector<Finish> finishes = standing(4096);
  ASSERT_FALSE(finishes.empty());
  for (const FinishedNest& made : finish_all({p, {}, false}, finishes, PartPricing(context_), {})) {
    ASSERT_TRUE(made.plan) << made.refusals.at(0).text();
    const std::string steps = key_of(made.plan->steps);
    EXPECT_NE(steps.find("prefetch_beside(p, 'k', 'B', "), std::string::npos) << steps;
    EXPECT_EQ(steps.find("pack_operand"), std::string::npos) << steps;
    expect_same_result(p, made.plan->proc, script_text(*p, made.plan->steps));
  }
  EXPECT_TRUE(standing(1 << 20).empty());
}

std::string product_of_terms(const std::string& terms) {
  return "@proc\ndef product(A: f32[40, " + terms + "], B: f32[" + terms +
         R"(, 100], C: f32[40, 100]):
    for i in seq(0, 40):
        for j in seq(0, 100):
            for k in seq(0, )" +
         terms + R"():
                C[i, j] += A[i, k] * B[k, j]
)";
}

TEST_F(Tiles, rows_a_power_of_two_apart_are_copied_block_by_block) {
  for (TargetLevel& level : levels_)
    if (level.is_cache()) level.bytes = 4096;
  const auto copies = [&](const ProcPtr& p) {
    std::vector<Finish> out;
    for (Finish& f : register_tiles_of(inspect_nest(*p), *target_, levels_, context_.instructions))
      if (f.name.find("rows copied") != std::string::npos) out.push_back(std::move(f));
    return out;
  };
  const ProcPtr p = parsed(product_of_terms("256"));
  const std::vector<Finish> finishes = copies(p);
  ASSERT_FALSE(finishes.empty());
  for (const FinishedNest& made : finish_all({p, {}, false}, finishes, PartPricing(context_), {})) {
    ASSERT_TRUE(made.plan) << made.refusals.at(0).text();
    const std::string text = str(*made.plan->proc);
    const size_t blocks = text.find("for ib in seq("), copy = text.find("A_pack : f32["),
                 strips = text.find("for jo in seq(");
    EXPECT_TRUE(blocks < copy && copy < strips && strips != std::string::npos) << text;
    expect_same_result(p, made.plan->proc, script_text(*p, made.plan->steps));
  }
  EXPECT_TRUE(copies(parsed(product_of_terms("250"))).empty());
}

}  // namespace
}  // namespace exotune
