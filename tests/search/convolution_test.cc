// Convolutions in the beam: what the nest is taken for, and that every schedule made of it keeps
// its sums in registers and computes the same, boundaries included.
#include <gtest/gtest.h>

#include <algorithm>
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

// Tiles of columns may go down the rows, where rows share what they read; products have none that
// do.
TEST(DownColumns, is_tried_where_neighbouring_rows_read_the_same) {
  const auto down = [](const std::string& name) {
    const SearchSpace space = space_for(inspect_nest(*kernel(name)), *target(), target()->levels);
    int out = 0;
    for (const Stage& stage : space.stages)
      for (const Move& m : stage.moves) out += m.tag == "down columns";
    return out;
  };
  EXPECT_GT(down("depthwise"), 0);
  EXPECT_GT(down("patches"), 0);
  EXPECT_EQ(down("one_dimension"), 0);
  BeamContext context;
  context.instructions = instruction_values(*target());
  const ProcPtr before = kernel("depthwise");
  int outside = 0;
  for (const BeamState& s :
       beam_search(before, space_for(inspect_nest(*before), *target(), target()->levels), context,
                   {.width = 20, .keep = 40})
           .states) {
    const std::string text = str(*s.proc);
    const size_t tiles = text.find("for xo "), rows = text.find("for y ");
    if (tiles == std::string::npos || rows == std::string::npos || tiles > rows) continue;
    ++outside;
    expect_same_result(before, s.proc, text);
  }
  EXPECT_GT(outside, 0);
}

// Rows of tiles may come before their strips, where the rows themselves overlap.
TEST(AcrossRows, is_tried_where_the_rows_of_a_tile_read_the_same) {
  const auto across = [](const std::string& name) {
    const SearchSpace space = space_for(inspect_nest(*kernel(name)), *target(), target()->levels);
    int out = 0;
    for (const Stage& stage : space.stages)
      for (const Move& m : stage.moves) out += m.tag == "across rows";
    return out;
  };
  EXPECT_GT(across("template_match"), 0);
  EXPECT_EQ(across("one_dimension"), 0);
  EXPECT_EQ(across("plain"), 0) << "the vectors are the weights'";
  BeamContext context;
  context.instructions = instruction_values(*target());
  const ProcPtr before = kernel("template_match");
  const BeamResult result =
      beam_search(before, space_for(inspect_nest(*before), *target(), target()->levels), context,
                  {.width = 20, .keep = 40});
  int inside = 0;
  for (const BeamState& s : result.states) {
    const std::string text = str(*s.proc);
    const size_t strips = text.find("for xo "), rows = text.find("for yo ");
    if (strips == std::string::npos || rows == std::string::npos || rows > strips) continue;
    ++inside;
    expect_same_result(before, s.proc, text);
  }
  EXPECT_GT(inside, 0);
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
  BeamContext context;
  context.instructions = instruction_values(*target());
  const ProcPtr before = kernel("template_match");
  int shared = 0;
  for (const BeamState& s :
       beam_search(before, space_for(inspect_nest(*before), *target(), target()->levels), context,
                   {.width = 20, .keep = 40})
           .states) {
    const std::vector<std::string> lines = lines_of(s.steps);
    if (std::none_of(lines.begin(), lines.end(), [](const std::string& line) {
          return line.find("window='dy'") != std::string::npos;
        }))
      continue;
    ++shared;
    expect_same_result(before, s.proc, str(*s.proc));
  }
  EXPECT_GT(shared, 0);
}

// Nine terms in a row; with three channels each there would be 27, and the space ends there.
TEST(WrittenOut, a_filter_without_channels_is_written_out) {
  const ProcPtr before = kernel("depthwise");
  const SearchSpace space = space_for(inspect_nest(*before), *target(), target()->levels);
  const auto unrolled = [](const Stage& stage) {
    std::set<size_t> out;
    for (const Move& m : stage.moves)
      if (!m.steps.empty() && m.steps.front().op == "unroll_all") out.insert(m.steps.size());
    return out;
  };
  EXPECT_EQ(unrolled(space.stages.back()), (std::set<size_t>{1, 2}));
  BeamContext context;
  context.instructions = instruction_values(*target());
  int written_out = 0;
  for (const BeamState& s : beam_search(before, space, context, {.width = 20, .keep = 40}).states) {
    if (str(*s.proc).find("for d") != std::string::npos) continue;
    ++written_out;
    expect_same_result(before, s.proc, str(*s.proc));
  }
  EXPECT_GT(written_out, 0);
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
