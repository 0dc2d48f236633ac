// Products larger than the second cache: schedules that keep the rows of a tile near and let panels
// of the packed operand go by are made too, and compute the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "search/beam.h"
#include "search/steps/builders.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kProduct = R"(
@proc
def product(A: f32[19, 40], B: f32[40, 210], C: f32[19, 210]):
    for i in seq(0, 19):
        for j in seq(0, 210):
            for k in seq(0, 40):
                C[i, j] += A[i, k] * B[k, j]
)";

// AVX-512 with caches of 2 and 16 KiB.
std::vector<TargetLevel> small_caches(const Target& target) {
  std::vector<TargetLevel> levels = target.levels;
  int64_t bytes = 2048;
  for (TargetLevel& l : levels)
    if (l.is_cache() && l.bytes > 0) {
      l.bytes = bytes;
      bytes *= 8;
    }
  return levels;
}

bool has_panels(const BeamState& s) { return key_of(s.steps).find("'jc'") != std::string::npos; }

bool stands(const BeamState& s) {
  return key_of(s.steps).find("prefetch_beside(p, 'k', 'B', ") != std::string::npos;
}

bool asks_for_the_next(const BeamState& s) {
  return std::count_if(s.steps.begin(), s.steps.end(), [](const ScheduleStep& step) {
           return step.op == "prefetch_meanwhile";
         }) == 2;
}

TEST(Panels, go_by_while_rows_stay) {
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const ProcPtr before = parse_module(kProduct, "product.exo").procs.front();
  const Nest nest = inspect_nest(*before);
  const SearchSpace space = space_for(nest, *target, small_caches(*target));
  ASSERT_FALSE(space.stages.empty());
  EXPECT_EQ(space.stages.front().name, "order");
  BeamContext context;
  context.instructions = instruction_values(*target);
  const BeamResult result = beam_search(before, space, context, {.width = 4, .keep = 400});
  // Nothing is refused but asking for the next panel where few rows go by.
  EXPECT_TRUE(result.first_refusal.empty() ||
              result.first_refusal.find("has time to ask") != std::string::npos)
      << result.first_refusal;
  // Both orders are among the first.
  ASSERT_GT(result.states.size(), 8u);
  EXPECT_TRUE(std::any_of(result.states.begin(), result.states.begin() + 8, has_panels));
  EXPECT_FALSE(std::all_of(result.states.begin(), result.states.begin() + 8, has_panels));
  EXPECT_TRUE(std::any_of(result.states.begin(), result.states.begin() + 12, stands));
  int panels = 0, asking = 0, standing = 0;
  for (const BeamState& state : result.states) {
    if (stands(state) && standing++ < 6) expect_same_result(before, state.proc, str(*state.proc));
    if (!has_panels(state) || ++panels > 6) continue;
    asking += asks_for_the_next(state);
    expect_same_result(before, state.proc, str(*state.proc));
  }
  EXPECT_GT(standing, 0);
  EXPECT_GT(panels, 0);
  EXPECT_GT(asking, 0);
  // A narrow pass is enough where few are asked for.
  const BeamResult few =
      beam_search(before, space, context, {.width = 4, .keep = 400, .enough = 8});
  EXPECT_GE(few.states.size(), 8u);
  EXPECT_LT(few.made, result.made);
  // What fits the second cache has one order.
  EXPECT_NE(space_for(nest, *target, target->levels).stages.front().name, "order");
}

}  // namespace
}  // namespace exotune
