// Products whose operands run the wrong way: the one that vectors run along is turned while it is
// packed, the one that a sum goes across is packed too, and every schedule computes the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "search/beam.h"
#include "search/moves/transposition.h"
#include "search/steps/builders.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "product.exo").procs.front(); }

std::string product(const std::string& args, const std::string& sum) {
  return "@proc\ndef product(" + args +
         ", C: f32[13, 40]):\n    for i in seq(0, 13):\n        for j in seq(0, 40):\n"
         "            for k in seq(0, 18):\n                C[i, j] += " +
         sum + "\n";
}

const std::string kNT = product("A: f32[13, 18], B: f32[40, 18]", "A[i, k] * B[j, k]");
const std::string kTN = product("A: f32[18, 13], B: f32[18, 40]", "A[k, i] * B[k, j]");
const std::string kTT = product("A: f32[18, 13], B: f32[40, 18]", "A[k, i] * B[j, k]");

// How many of the steps pack the buffer in strips of that dimension.
int64_t packs(const BeamState& s, const std::string& buffer, int64_t dim) {
  return std::count_if(s.steps.begin(), s.steps.end(), [&](const ScheduleStep& step) {
    return step.op == "pack_operand" && *value_of(step, "buffer")->as<std::string>() == buffer &&
           *value_of(step, "dim")->as<int64_t>() == dim;
  });
}

BeamResult beam_of(const ProcPtr& p, const Target& target) {
  BeamContext context;
  context.instructions = instruction_values(target);
  return beam_search(p, space_for(inspect_nest(*p), target, target.levels), context,
                     {.width = 1, .keep = 60});
}

const Operand& operand(const Nest& nest, const std::string& buffer) {
  return *std::find_if(nest.operands.begin(), nest.operands.end(),
                       [&](const Operand& o) { return o.buffer == buffer; });
}

TEST(TurnedOperands, are_read_off_the_nest) {
  const Nest nt = inspect_nest(*parsed(kNT));
  EXPECT_EQ(nt.kind, NestKind::kContraction);
  EXPECT_EQ(nt.vector_loop, "j");
  EXPECT_EQ(nt.row_loop, "i");
  EXPECT_EQ(operand(nt, "B").turned, 0);
  EXPECT_EQ(operand(nt, "A").turned, -1);
  const Nest tn = inspect_nest(*parsed(kTN));
  EXPECT_EQ(operand(tn, "B").turned, -1);
  EXPECT_EQ(operand(tn, "A").dimension.at("i"), 1);
  EXPECT_EQ(operand(tn, "A").dimension.at("k"), 0);
}

// A product with itself is read in two ways, a batch of matrix-vector products once an element,
// and a halo is no strip.
TEST(TurnedOperands, are_not_those_that_packing_does_not_serve) {
  const char* const others[] = {R"(
@proc
def product(A: f32[32, 8], C: f32[32, 32]):
    for i in seq(0, 32):
        for j in seq(0, 32):
            for k in seq(0, 8):
                C[i, j] += A[i, k] * A[j, k]
)",
                                R"(
@proc
def product(A: f32[4, 32, 8], x: f32[4, 8], C: f32[4, 32]):
    for b in seq(0, 4):
        for j in seq(0, 32):
            for k in seq(0, 8):
                C[b, j] += A[b, j, k] * x[b, k]
)",
                                R"(
@proc
def product(A: f32[4, 8], B: f32[40, 4], C: f32[4, 32]):
    for i in seq(0, 4):
        for j in seq(0, 32):
            for k in seq(0, 8):
                C[i, j] += A[i, k] * B[j + k, i]
)"};
  for (const char* text : others)
    for (const Operand& o : inspect_nest(*parsed(text)).operands) EXPECT_EQ(o.turned, -1) << text;
}

TEST(TurnedOperands, are_packed_in_strips_by_every_schedule) {
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  for (const std::string& text : {kNT, kTT}) {
    const ProcPtr before = parsed(text);
    const BeamResult found = beam_of(before, *target);
    EXPECT_EQ(found.first_refusal, "") << text;
    ASSERT_GT(found.states.size(), 4u) << text;
    for (size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(packs(found.states[k], "B", 0), 1) << key_of(found.states[k].steps);
      expect_same_result(before, found.states[k].proc, key_of(found.states[k].steps));
    }
  }
}

// Sums that are long enough are added to the result in the end; the largest of terms is none.
TEST(TurnedOperands, tiles_of_every_schedule_are_added_in_the_end) {
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const auto apart = [](const BeamState& s) {
    return std::count_if(s.steps.begin(), s.steps.end(), [](const ScheduleStep& step) {
      return step.op == "register_block" && *value_of(step, "apart")->as<bool>();
    });
  };
  std::string largest = kNT, few = kNT;
  largest.replace(largest.find("+= A[i, k] *"), 12, "max= A[i, k] +");
  for (size_t at; (at = few.find("18")) != std::string::npos;) few.replace(at, 2, "9");
  for (const auto& [text, wanted] : {std::pair(kNT, 1), {kTT, 1}, {largest, 0}, {few, 0}}) {
    const BeamResult found = beam_of(parsed(text), *target);
    ASSERT_GT(found.states.size(), 4u) << text;
    for (size_t k = 0; k < 4; ++k)
      EXPECT_EQ(apart(found.states[k]), wanted) << key_of(found.states[k].steps);
  }
}

// In strips as high as the tile, turned, and not at all.
TEST(TurnedOperands, that_a_sum_goes_across_are_packed_in_turn) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  for (const std::string& text : {kTN, kTT}) {
    const ProcPtr before = parsed(text);
    const BeamResult found = beam_of(before, *target);
    EXPECT_EQ(found.first_refusal, "") << text;
    int64_t strips = 0, turned = 0, neither = 0;
    for (size_t k = 0; k < std::min<size_t>(12, found.states.size()); ++k) {
      const BeamState& s = found.states[k];
      strips += packs(s, "A", 1), turned += packs(s, "A", 0);
      neither += packs(s, "A", 1) + packs(s, "A", 0) == 0;
      expect_same_result(before, s.proc, key_of(s.steps));
    }
    EXPECT_GT(strips, 0) << text;
    EXPECT_GT(turned, 0) << text;
    EXPECT_GT(neither, 0) << text;
  }
}

// Filters with their results first, channels last.
TEST(TurnedOperands, of_several_sums_are_packed_once) {
  const ProcPtr before = parsed(R"(
@proc
def conv(image: f32[5, 9, 8], filters: f32[36, 3, 3, 8], out: f32[3, 7, 36]):
    for y in seq(0, 3):
        for x in seq(0, 7):
            for o in seq(0, 36):
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        for c in seq(0, 8):
                            out[y, x, o] += image[y + r, x + s, c] * filters[o, r, s, c]
)");
  const Nest nest = inspect_nest(*before);
  EXPECT_EQ(nest.kind, NestKind::kSums);
  EXPECT_EQ(nest.vector_loop, "o");
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const BeamResult found = beam_of(before, *target);
  EXPECT_EQ(found.first_refusal, "");
  ASSERT_GT(found.states.size(), 3u);
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(packs(found.states[k], "filters", 0), 1);
    expect_same_result(before, found.states[k].proc, key_of(found.states[k].steps));
  }
}

const std::string kTransform = R"(
@proc
def transform(c: f32[8, 8], x: f32[5, 8, 8], y: f32[5, 8, 8]):
    for b in seq(0, 5):
        t: f32[8, 8]
        for i in seq(0, 8):
            for j in seq(0, 8):
                t[i, j] = 0.0
                for k in seq(0, 8):
                    t[i, j] += c[i, k] * x[b, k, j]
        for i in seq(0, 8):
            for j in seq(0, 8):
                y[b, i, j] = 0.0
                for k in seq(0, 8):
                    y[b, i, j] += t[i, k] * c[j, k]
)";

TEST(TurnedOperands, that_are_the_same_for_all_are_turned_once) {
  const ProcPtr p = parsed(kTransform);
  const std::optional<Schedule> made = transpose_constants({p, {}, false}, {});
  ASSERT_TRUE(made);
  const std::string text = str(*made->proc);
  EXPECT_LT(text.find("c_t[t1, t0] = c[t0, t1]"), text.find("for b in")) << text;
  EXPECT_NE(text.find("t[i, k] * c_t[k, j]"), std::string::npos) << text;
  expect_same_result(p, made->proc, text);
  // What each iteration has of its own is not.
  EXPECT_FALSE(transpose_constants({parsed(R"(
@proc
def own(c: f32[5, 8, 8], x: f32[5, 8, 8], y: f32[5, 8, 8]):
    for b in seq(0, 5):
        for i in seq(0, 8):
            for j in seq(0, 8):
                for k in seq(0, 8):
                    y[b, i, j] += x[b, i, k] * c[b, j, k]
        for i in seq(0, 8):
            y[b, i, 0] = 0.0
)"),
                                    {},
                                    false},
                                   {}));
}

}  // namespace
}  // namespace exotune
