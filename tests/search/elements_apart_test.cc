// Loops that read every third byte, or a column, as vectors: finishes that are there where some
// read steps over elements, and nowhere else.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/ir/printer.h"
#include "search/finished_nests.h"
#include "search/moves/finishes.h"
#include "search/tuning_context.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kBrightness = R"(
@proc
def brightness(rgb: ui8[5, 37, 3], luma: ui8[5, 37]):
    for y in seq(0, 5):
        for x in seq(0, 37):
            luma[y, x] = (66 * i32(rgb[y, x, 0]) + 129 * i32(rgb[y, x, 1]) + 128) / 256 + 16
)";

const char* const kColumn = R"(
@proc
def column(m: f32[37, 9], x: f32[37], y: f32[37]):
    for i in seq(0, 37):
        y[i] = x[i] * m[i, 2]
)";

const char* const kBeside = R"(
@proc
def beside(x: f32[37], y: f32[37]):
    for i in seq(0, 37):
        y[i] = 2.0 * x[i]
)";

const char* const kScattered = R"(
@proc
def scattered(x: f32[37], m: f32[37, 9]):
    for i in seq(0, 37):
        m[i, 2] = x[i]
)";

class ElementsApart : public ::testing::TestWithParam<const char*> {
 protected:
  ElementsApart() : target_(load_target(GetParam(), {EXOTUNE_SOURCE_DIR "/hw"})) {
    context_.instructions = instruction_values(*target_);
    context_.weights = default_weights(CostMachine{});
  }
  std::vector<Finish> found(const ProcPtr& p) const {
    std::vector<Finish> out =
        finishes_of(outline_of(*p), *target_, target_->levels, context_.instructions);
    std::erase_if(out, [](const Finish& f) { return !f.name.starts_with("elements apart"); });
    return out;
  }

  const TargetPtr target_;
  BeamContext context_;
};

TEST_P(ElementsApart, are_read_into_vectors) {
  for (const auto& [text, load] :
       {std::pair(kBrightness, "load_of_thirds_epu8("), std::pair(kColumn, "gather_ps(")}) {
    const ProcPtr p = parsed(text);
    const std::vector<Finish> finishes = found(p);
    ASSERT_EQ(finishes.size(), 2u) << text;
    for (const FinishedNest& made :
         finish_all({p, {}, false}, finishes, PartPricing(context_), {})) {
      ASSERT_TRUE(made.plan) << made.refusals.at(0).text();
      EXPECT_NE(str(*made.plan->proc).find(load), std::string::npos) << str(*made.plan->proc);
      expect_same_result(p, made.plan->proc, script_text(*p, made.plan->steps));
    }
  }
}

TEST_P(ElementsApart, are_not_looked_for_where_all_lie_side_by_side) {
  EXPECT_TRUE(found(parsed(kBeside)).empty());
  EXPECT_TRUE(found(parsed(kScattered)).empty());
}

INSTANTIATE_TEST_SUITE_P(Targets, ElementsApart, ::testing::Values("avx512", "avx2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace exotune
