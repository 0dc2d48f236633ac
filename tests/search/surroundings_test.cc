// The schedules around a good one: made by the core, none twice, every kind of change among the
// first, the same ones at every call.
#include "search/surroundings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "search/steps/builders.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kProduct = R"(
@proc
def product(A: f32[12, 16], B: f32[16, 64], C: f32[12, 64]):
    for i in seq(0, 12):
        for j in seq(0, 64):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[k, j]
)";

class SurroundingsTest : public ::testing::Test {
 protected:
  SurroundingsTest()
      : target_(load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"})),
        kernel_(parse_module(kProduct, "product.exo").procs.front()) {
    context_.instructions = instruction_values(*target_);
    start_ = first_state(kernel_, context_);
    good_ = start_;
    const VectorValues unit(*target_, ScalarType::kF32, context_.instructions);
    const auto refusal = extend(
        good_,
        {pack_step("B", "i", 32, unit), block_step("j", 32, "jo", "i"), block_step("i", 6, "io"),
         register_block_step("i", "j", "k", unit, false), unroll_registers_step(unit)},
        context_);
    EXPECT_FALSE(refusal) << refusal->text();
  }

  Surroundings around(size_t most, const std::set<std::string>& seen = {}) {
    return surroundings_of({good_}, most, start_, {16, 32, "j", "i"}, context_, seen, {});
  }

  TargetPtr target_;
  ProcPtr kernel_;
  BeamContext context_;
  BeamState start_, good_;
};

TEST_F(SurroundingsTest, compute_the_same_and_come_in_turn) {
  const Surroundings s = around(4);
  ASSERT_EQ(s.states.size(), 4u);
  EXPECT_GT(s.made, 4);
  const auto some = [&](const std::string& text) {
    return std::any_of(s.states.begin(), s.states.end(), [&](const BeamState& state) {
      return key_of(state.steps).find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(some("interleave_loop(")) << "interleaving";
  EXPECT_TRUE(some("prefetch_")) << "prefetching";
  EXPECT_TRUE(std::any_of(s.states.begin(), s.states.end(), [&](const BeamState& state) {
    return state.steps.size() < good_.steps.size();
  })) << "packing";
  for (const BeamState& state : s.states) {
    expect_same_result(kernel_, state.proc, str(*state.proc));
  }
}

TEST_F(SurroundingsTest, none_comes_twice_and_none_that_was_seen) {
  const Surroundings all = around(1000);
  std::set<std::string> seen;
  for (const BeamState& state : all.states) {
    EXPECT_TRUE(seen.insert(state.text_hash).second);
    EXPECT_NE(state.text_hash, good_.text_hash);
  }
  const Surroundings again = around(1000);
  ASSERT_EQ(again.states.size(), all.states.size());
  for (size_t k = 0; k < all.states.size(); ++k)
    EXPECT_EQ(key_of(again.states[k].steps), key_of(all.states[k].steps));
  EXPECT_TRUE(around(1000, seen).states.empty());
}

// The winner may be the nest as the user wrote it, where the search begins with other steps.
TEST_F(SurroundingsTest, what_begins_otherwise_has_none) {
  BeamState written = start_;
  ASSERT_FALSE(
      extend(start_, {{"reorder_loops", {Value("j k")}, {}}, {"simplify", {}, {}}}, context_));
  Neighbourhood where{16, 32, "j", "i"};
  where.estimates = {{{"simplify", {}, {}}}};
  ASSERT_FALSE(neighbours_of(written.steps, where).empty());
  const Surroundings s = surroundings_of({written}, 9, start_, where, context_, {}, {});
  EXPECT_TRUE(s.states.empty());
  EXPECT_EQ(s.made, 0);
}

TEST_F(SurroundingsTest, an_interrupted_one_is_empty) {
  const Surroundings s =
      surroundings_of({good_}, 9, start_, {16, 32, "j", "i"}, context_, {}, Deadline::after(0));
  EXPECT_TRUE(s.states.empty());
  EXPECT_TRUE(s.refusals.empty());
}

}  // namespace
}  // namespace exotune
