// Rows of half a vector: where they are seen, and what vectors of half the width make of them.
#include "search/short_rows.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "core/library/script.h"
#include "hw/half_width.h"
#include "search/program_search.h"
#include "search/steps/builders.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kTransforms = R"(
@proc
def transforms(D: f32[8, 8], x: f32[5, 8, 8], y: f32[5, 8, 8]):
    for b in seq(0, 5):
        for u in seq(0, 8):
            for j in seq(0, 8):
                y[b, u, j] = 0.0
                for i in seq(0, 8):
                    y[b, u, j] += D[u, i] * x[b, i, j]
)";

const char* const kSquares = R"(
@proc
def squares(x: f32[5, 8]):
    for i in seq(0, 5):
        for j in seq(0, 8):
            x[i, j] = x[i, j] * x[i, j]
)";

TargetPtr wide() {
  static const TargetPtr loaded = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  return loaded;
}

bool short_rows(const char* type, int along) {
  const std::string n = std::to_string(along), t = type;
  const ProcPtr p = parsed("@proc\ndef scaled(x: " + t + "[9, " + n + "]):\n" +
                           "    for i in seq(0, 9):\n        for j in seq(0, " + n + "):\n" +
                           "            x[i, j] = x[i, j] * x[i, j]\n");
  return has_rows_of_half(outline_of(*p), *wide());
}

TEST(ShortRows, are_half_a_vector_long_or_one_and_a_half) {
  EXPECT_TRUE(short_rows("f32", 8));
  EXPECT_TRUE(short_rows("f32", 24));
  EXPECT_TRUE(short_rows("f64", 4));
  for (const int other : {4, 7, 9, 16, 32, 40}) EXPECT_FALSE(short_rows("f32", other)) << other;
  EXPECT_FALSE(short_rows("f64", 8));
}

TEST(ShortRows, of_columns_there_are_none) {
  const ProcPtr p = parsed(R"(
@proc
def columns(x: f32[8, 90], y: f32[90]):
    for j in seq(0, 90):
        for i in seq(0, 8):
            y[j] += x[i, j]
)");
  EXPECT_FALSE(has_rows_of_half(outline_of(*p), *wide()));
}

TEST(ShortRows, of_an_eighth_of_a_vector_are_no_vectors) {
  EXPECT_FALSE(fills_lanes(2, 16));
  EXPECT_TRUE(fills_lanes(3, 16));
  EXPECT_FALSE(fills_lanes(8, 64));
  EXPECT_TRUE(fills_lanes(2, 8));
  EXPECT_TRUE(fills_lanes(std::nullopt, 16));
}

// What is found there replays as a script of the wide target, which has both lists of instructions.
TEST(ShortRows, schedules_of_half_vectors_name_their_instructions) {
  const TargetPtr half = half_width_of(*wide());
  ASSERT_NE(half, nullptr);
  BeamContext context;
  context.instructions = instruction_values(*half);
  context.weights = default_weights(CostMachine{});
  ProgramSearchRequest request;
  request.target = half.get();
  request.levels = half->levels;
  request.context = &context;
  request.keep = 8;
  const ProcPtr kernel = parsed(kTransforms);
  const auto states = ProgramSearch(request).run(first_state(kernel, context)).states;
  ASSERT_FALSE(states.empty());
  ScriptEnvironment env = script_environment({}, {&wide()->library, &half->library});
  env.start = kernel;
  EXPECT_EQ(env.names.count("machine"), 1u);  // of the target's own registers
  bool vectors = false;
  for (const BeamState& s : states) {
    const std::string text = key_of(s.steps);
    vectors |= str(*s.proc).find("mm256_") != std::string::npos &&
               text.find("8, AVX2, instrs_avx2") != std::string::npos;
    EXPECT_EQ(canonical_text(*run_script(text, "k.sched", env).proc), canonical_text(*s.proc));
    expect_same_result(kernel, s.proc, text);
  }
  EXPECT_TRUE(vectors);
}

// A constraint holds of both lists.
TEST(ShortRows, what_is_avoided_is_avoided_among_half_vectors_too) {
  const TargetPtr half = half_width_of(*wide());
  ScriptEnvironment env = script_environment({}, {&wide()->library, &half->library});
  env.start = parsed(kSquares);
  const std::string vectors = "p = vectorize(p, 'j', 8, AVX2, instrs_avx2)\n";
  EXPECT_NE(str(*run_script(vectors, "k.sched", env).proc).find("mm256_mul_ps"), std::string::npos);
  EXPECT_THROW((void)run_script("avoid(mm256_mul_ps)\n" + vectors, "k.sched", env),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
