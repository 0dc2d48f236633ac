// Convolutions in the beam: what the nest is taken for, and that every schedule made of it keeps
// its sums in registers and computes the same, boundaries included.
#include <gtest/gtest.h>

#include <set>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "search/beam.h"
#include "search/steps/builders.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

// Each with a name that says what is particular; widths and channels leave boundaries.
const char* const kConvolutions = R"(
@proc
def bias_and_rectifier(image: f32[1, 4, 9, 3], weights: f32[3, 3, 3, 40], bias: f32[40], out: f32[1, 2, 7, 40]):
    for b in seq(0, 1):
        for y in seq(0, 2):
            for x in seq(0, 7):
                for k in seq(0, 40):
                    sum: f32
                    sum = bias[k]
                    for dy in seq(0, 3):
                        for dx in seq(0, 3):
                            for c in seq(0, 3):
                                sum += image[b, y + dy, x + dx, c] * weights[dy, dx, c, k]
                    out[b, y, x, k] = relu(sum)

@proc
def plain(image: f32[4, 13, 3], weights: f32[3, 3, 3, 32], out: f32[2, 11, 32]):
    for y in seq(0, 2):
        for x in seq(0, 11):
            for k in seq(0, 32):
                for dy in seq(0, 3):
                    for dx in seq(0, 3):
                        for c in seq(0, 3):
                            out[y, x, k] += image[y + dy, x + dx, c] * weights[dy, dx, c, k]

@proc
def set_to_zero(image: f32[4, 9, 3], weights: f32[3, 3, 3, 20], out: f32[2, 7, 20]):
    for y in seq(0, 2):
        for x in seq(0, 7):
            for k in seq(0, 20):
                out[y, x, k] = 0.0
                for dy in seq(0, 3):
                    for dx in seq(0, 3):
                        for c in seq(0, 3):
                            out[y, x, k] += image[y + dy, x + dx, c] * weights[dy, dx, c, k]

@proc
def stride_two(image: f32[5, 15, 3], weights: f32[3, 3, 3, 32], out: f32[2, 7, 32]):
    for y in seq(0, 2):
        for x in seq(0, 7):
            for k in seq(0, 32):
                for dy in seq(0, 3):
                    for dx in seq(0, 3):
                        for c in seq(0, 3):
                            out[y, x, k] += image[2 * y + dy, 2 * x + dx, c] * weights[dy, dx, c, k]

@proc
def patches(image: f32[4, 14, 3], weights: f32[2, 2, 3, 32], out: f32[2, 7, 32]):
    for y in seq(0, 2):
        for x in seq(0, 7):
            for k in seq(0, 32):
                for dy in seq(0, 2):
                    for dx in seq(0, 2):
                        for c in seq(0, 3):
                            out[y, x, k] += image[2 * y + dy, 2 * x + dx, c] * weights[dy, dx, c, k]

@proc
def channels_first(image: f32[3, 4, 39], weights: f32[9, 3, 3, 3], out: f32[9, 2, 37]):
    for k in seq(0, 9):
        for c in seq(0, 3):
            for y in seq(0, 2):
                for x in seq(0, 37):
                    for dy in seq(0, 3):
                        for dx in seq(0, 3):
                            out[k, y, x] += weights[k, c, dy, dx] * image[c, y + dy, x + dx]

@proc
def depthwise(image: f32[4, 9, 40], weights: f32[3, 3, 40], out: f32[2, 7, 40]):
    for y in seq(0, 2):
        for x in seq(0, 7):
            for c in seq(0, 40):
                for dy in seq(0, 3):
                    for dx in seq(0, 3):
                        out[y, x, c] += image[y + dy, x + dx, c] * weights[dy, dx, c]

@proc
def template_match(image: f32[15, 50], weights: f32[3, 3], out: f32[13, 48]):
    for y in seq(0, 13):
        for x in seq(0, 48):
            for dy in seq(0, 3):
                for dx in seq(0, 3):
                    out[y, x] += image[y + dy, x + dx] * weights[dy, dx]

@proc
def one_dimension(data: f32[4, 41], kernels: f32[10, 4, 5], out: f32[10, 37]):
    for i in seq(0, 10):
        for j in seq(0, 37):
            for c in seq(0, 4):
                for r in seq(0, 5):
                    out[i, j] += kernels[i, c, r] * data[c, j + r]
)";

TargetPtr target() {
  static const TargetPtr t = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  return t;
}

ProcPtr kernel(const std::string& name) {
  static const Module m = parse_module(kConvolutions, "convolutions.exo");
  for (const ProcPtr& p : m.procs)
    if (p->name == name) return p;
  return nullptr;
}

class Convolution : public testing::TestWithParam<const char*> {};

TEST_P(Convolution, keeps_its_sums_in_registers_and_its_meaning) {
  const ProcPtr before = kernel(GetParam());
  ASSERT_TRUE(before);
  const Nest nest = inspect_nest(*before);
  EXPECT_EQ(nest.kind, NestKind::kSums);
  BeamContext context;
  context.instructions = instruction_values(*target());
  const BeamResult result = beam_search(before, space_for(nest, *target(), target()->levels),
                                        context, {.width = 2, .keep = 6});
  EXPECT_EQ(result.first_refusal, "");
  int blocked = 0;
  for (const BeamState& state : result.states) {
    if (str(*state.proc).find("mm512_") == std::string::npos) continue;  // as written
    ++blocked;
    EXPECT_NE(str(*state.proc).find("mm512_fmadd_ps("), std::string::npos) << str(*state.proc);
    expect_same_result(before, state.proc, str(*state.proc));
  }
  EXPECT_GT(blocked, 1);
}

INSTANTIATE_TEST_SUITE_P(Forms, Convolution,
                         testing::Values("bias_and_rectifier", "plain", "set_to_zero", "stride_two",
                                         "patches", "channels_first", "depthwise", "one_dimension",
                                         "template_match"),
                         [](const auto& info) { return std::string(info.param); });

SearchSpace space_of(const std::string& name) {
  return space_for(inspect_nest(*kernel(name)), *target(), target()->levels);
}

// Moves of the kernel's space that leave schedules with the tag.
int tagged(const std::string& name, const std::string& tag) {
  const SearchSpace space = space_of(name);
  int out = 0;
  for (const Stage& stage : space.stages)
    for (const Move& m : stage.moves) out += m.tag == tag;
  return out;
}

// How many schedules of the kernel are as `is_so` says, each of which must compute what it does.
template <class IsSo>
int found(const std::string& name, IsSo is_so) {
  BeamContext context;
  context.instructions = instruction_values(*target());
  const ProcPtr before = kernel(name);
  const BeamResult result = beam_search(before, space_of(name), context, {.width = 20, .keep = 40});
  int out = 0;
  for (const BeamState& s : result.states) {
    const std::string text = str(*s.proc);
    if (!is_so(s, text)) continue;
    ++out;
    expect_same_result(before, s.proc, text);
  }
  return out;
}

// Does the one stand in the text, and the other behind it?
bool in_order(const std::string& text, const std::string& first, const std::string& second) {
  const size_t a = text.find(first), b = text.find(second);
  return a != std::string::npos && b != std::string::npos && a < b;
}

// Tiles of columns may go down the rows, where rows share what they read; products have none that
// do.
TEST(DownColumns, is_tried_where_neighbouring_rows_read_the_same) {
  EXPECT_GT(tagged("depthwise", "down columns"), 0);
  EXPECT_GT(tagged("patches", "down columns"), 0);
  EXPECT_EQ(tagged("one_dimension", "down columns"), 0);
  EXPECT_GT(found("depthwise",
                  [](const BeamState& /*s*/, const std::string& text) {
                    return in_order(text, "for xo ", "for y ");
                  }),
            0);
}

// Rows of tiles may come before their strips, where the rows themselves overlap.
TEST(AcrossRows, is_tried_where_the_rows_of_a_tile_read_the_same) {
  EXPECT_GT(tagged("template_match", "across rows"), 0);
  EXPECT_EQ(tagged("one_dimension", "across rows"), 0);
  EXPECT_EQ(tagged("plain", "across rows"), 0) << "the vectors are the weights'";
  EXPECT_GT(found("template_match",
                  [](const BeamState& /*s*/, const std::string& text) {
                    return in_order(text, "for yo ", "for xo ");
                  }),
            0);
}

// Rows that a tile's results share may come in turn: of images that vectors are read of, not of
// weights.
TEST(SharedRows, are_tried_where_the_windows_of_a_tile_overlap) {
  const auto windows = [](const std::string& name) {
    return inspect_nest(*kernel(name)).windows();
  };
  EXPECT_EQ(windows("template_match"), std::vector<std::string>{"dy"});
  EXPECT_TRUE(windows("one_dimension").empty());
  EXPECT_TRUE(windows("plain").empty()) << "the vectors are the weights'";
  EXPECT_GT(found("template_match",
                  [](const BeamState& s, const std::string& /*text*/) {
                    return key_of(s.steps).find("window='dy'") != std::string::npos;
                  }),
            0);
}

// Nine terms in a row; with three channels each there would be 27, and the space ends there.
TEST(WrittenOut, a_filter_without_channels_is_written_out) {
  const SearchSpace space = space_of("depthwise");
  std::set<size_t> unrolled;
  for (const Move& m : space.stages.back().moves)
    if (!m.steps.empty() && m.steps.front().op == "unroll_all") unrolled.insert(m.steps.size());
  EXPECT_EQ(unrolled, (std::set<size_t>{1, 2}));
  EXPECT_GT(found("depthwise",
                  [](const BeamState& /*s*/, const std::string& text) {
                    return text.find("for d") == std::string::npos;
                  }),
            0);
}

// One loop of results: vectors of them, many at a time, for each tap.
TEST(Filter, has_vectors_of_results_where_they_lie_side_by_side) {
  const Module m = parse_module(R"(
@proc
def filter(x: f32[204], h: f32[5], y: f32[200]):
    for i in seq(0, 200):
        y[i] = 0.0
        for k in seq(0, 5):
            y[i] += x[i + k] * h[k]

@proc
def rows(A: f32[200, 50], x: f32[50], y: f32[200]):
    for i in seq(0, 200):
        for k in seq(0, 50):
            y[i] += A[i, k] * x[k]
)",
                                "filter.exo");
  EXPECT_FALSE(inspect_nest(*m.procs[1]).slides);  // a column of A is scattered
  const ProcPtr before = m.procs[0];
  const Nest nest = inspect_nest(*before);
  EXPECT_TRUE(nest.slides);
  BeamContext context;
  context.instructions = instruction_values(*target());
  int side_by_side = 0;
  for (const BeamState& s : beam_search(before, space_for(nest, *target(), target()->levels),
                                        context, {.width = 20, .keep = 40})
                                .states) {
    expect_same_result(before, s.proc, str(*s.proc));
    if (str(*s.proc).find("h[k:k + 1])") != std::string::npos) ++side_by_side;
  }
  EXPECT_GT(side_by_side, 0);
}

TEST(NoConvolution, of_what_is_no_sum_of_loops_stays_as_it_is) {
  const Module m = parse_module(R"(
@proc
def guarded(data: f32[4, 40], kernels: f32[10, 4, 5], out: f32[10, 40]):
    for i in seq(0, 10):
        for j in seq(0, 40):
            out[i, j] = 0.0
            for c in seq(0, 4):
                for r in seq(0, 5):
                    y: f32
                    if j + r < 40:
                        y = data[c, j + r]
                    else:
                        y = 0.0
                    out[i, j] += kernels[i, c, r] * y
)",
                                "guarded.exo");
  const Nest nest = inspect_nest(*m.procs.front());
  EXPECT_EQ(nest.kind, NestKind::kOther);
  EXPECT_TRUE(space_for(nest, *target(), target()->levels).stages.empty());
}

}  // namespace
}  // namespace exotune
