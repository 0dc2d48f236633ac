// Schedules of whole programs: split, reordered, transposed, tiled; they compute the same, print as
// scripts that make the same procedure, and are found for nests of no known form.
#include "search/program_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/finished_nests.h"
#include "search/moves/factors.h"
#include "search/moves/windows.h"
#include "search/steps/builders.h"
#include "search/tuning_context.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kScaledProduct = R"(
@proc
def scaled_product(beta: f32, A: f32[12, 16], B: f32[16, 40], C: f32[12, 40]):
    for i in seq(0, 12):
        for j in seq(0, 40):
            C[i, j] = C[i, j] * beta
        for k in seq(0, 16):
            for j in seq(0, 40):
                C[i, j] += A[i, k] * B[k, j]
)";

const char* const kTurnedOver = R"(
@proc
def turned_over(x: f32[3, 35, 40], y: f32[3, 40, 35]):
    for s in seq(0, 3):
        for i in seq(0, 35):
            for j in seq(0, 40):
                y[s, j, i] = x[s, i, j]
)";

const char* const kPolynomial = R"(
@proc
def polynomial(c: f32[6], x: f32[100], y: f32[100]):
    for i in seq(0, 100):
        t: f32
        t = c[0]
        for d in seq(1, 6):
            t = t * x[i] + c[d]
        y[i] = t
)";

const char* const kNeighbours = R"(
@proc
def neighbours(x: f32[18, 50], y: f32[18, 50]):
    for i in seq(1, 17):
        for j in seq(1, 49):
            y[i, j] = x[i - 1, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j]
)";

const char* const kTwoWays = R"(
@proc
def two_ways(A: f32[9, 40], p: f32[40], q: f32[9], r: f32[9], s: f32[40]):
    for i in seq(0, 9):
        q[i] = 0.0
        for j in seq(0, 40):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
)";

const char* const kEverySecond = R"(
@proc
def every_second(x: f32[2, 9, 65], y: f32[2, 4, 32]):
    for c in seq(0, 2):
        for i in seq(0, 4):
            for j in seq(0, 32):
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        y[c, i, j] += x[c, 2 * i + r, 2 * j + s]
)";

const char* const kTwoProducts = R"(
@proc
def two_products(A: f32[20, 80], B: f32[20, 80], C: f32[80, 80]):
    for i in seq(0, 80):
        for j in seq(i, 80):
            for k in seq(0, 20):
                C[i, j] += A[k, i] * B[k, j] + B[k, i] * A[k, j]
)";

const char* const kBytesBegun = R"(
@proc
def bytes_begun(A: i8[30, 64], B: i8[64, 32], C: i32[30, 32]):
    for i in seq(0, 30):
        for j in seq(0, 32):
            C[i, j] = 0
            for k in seq(0, 64):
                C[i, j] += i32(A[i, k]) * i32(B[k, j])
)";

class ProgramSearchTest : public ::testing::Test {
 protected:
  explicit ProgramSearchTest(const char* target = "avx512")
      : target_(load_target(target, {EXOTUNE_SOURCE_DIR "/hw"})) {
    levels_ = target_->levels;
    context_.instructions = instruction_values(*target_);
    context_.weights = default_weights(CostMachine{});
  }
  std::vector<BeamState> found(const char* text) {
    kernel_ = parsed(text);
    ProgramSearchRequest request;
    request.target = target_.get();
    request.levels = levels_;
    request.context = &context_;
    request.keep = 32;
    return ProgramSearch(request).run(first_state(kernel_, context_)).states;
  }
  static bool calls(const BeamState& s, const std::string& op) {
    return key_of(s.steps).find("= " + op + "(") != std::string::npos;
  }
  static bool some_call(const std::vector<BeamState>& states, const std::string& op) {
    return std::any_of(states.begin(), states.end(),
                       [&](const BeamState& s) { return calls(s, op); });
  }

  TargetPtr target_;
  std::vector<TargetLevel> levels_;
  BeamContext context_;
  ProcPtr kernel_;
};

TEST_F(ProgramSearchTest, an_imperfect_nest_is_split_and_its_product_tiled) {
  const std::vector<BeamState> states = found(kScaledProduct);
  ASSERT_FALSE(states.empty());
  EXPECT_TRUE(some_call(states, "fission"));
  EXPECT_TRUE(some_call(states, "register_block"));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, the_printed_steps_make_the_same_procedure) {
  for (const BeamState& s : found(kScaledProduct)) {
    ScriptEnvironment env = script_environment({}, {&target_->library});
    env.start = kernel_;
    const std::string text = key_of(s.steps);
    EXPECT_EQ(canonical_text(*run_script(text, "k.sched", env).proc), canonical_text(*s.proc));
  }
}

TEST_F(ProgramSearchTest, rows_of_a_tile_are_those_that_share_an_operand) {
  const std::vector<BeamState> states = found(kFourIndices);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return key_of(s.steps).find("register_block(p, 'b', 'd', 'e'") != std::string::npos;
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, vectors_may_read_every_second_element) {
  const std::vector<BeamState> states = found(kEverySecond);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return str(*s.proc).find("mm512_load_second_ps") != std::string::npos;
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, neighbours_come_out_of_registers_and_rows_are_jammed) {
  const std::vector<BeamState> states = found(kNeighbours);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "unroll_and_jam") &&
           str(*s.proc).find("mm512_shifted_2_ps") != std::string::npos;
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, what_two_statements_read_of_a_row_is_loaded_once) {
  const std::vector<BeamState> states = found(kTwoWays);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return key_of(s.steps).find("1, True)") != std::string::npos;
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, an_operand_across_its_rows_is_copied_transposed) {
  const std::vector<BeamState> states = found(kTransposed);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "stage_view") && calls(s, "register_block");
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, a_transposing_copy_goes_through_registers) {
  const std::vector<BeamState> states = found(kTurnedOver);
  EXPECT_TRUE(some_call(states, "tile_to_instr"));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

class HalfLineProgramSearchTest : public ProgramSearchTest {
 protected:
  HalfLineProgramSearchTest() : ProgramSearchTest("avx2") {}
};

TEST_F(HalfLineProgramSearchTest, a_transposing_copy_goes_by_whole_lines_and_pairs_of_them) {
  const auto by = [](int calls, const std::vector<BeamState>& states) {
    const std::string block = "transpose8x8_ps, block=" + std::to_string(calls) + ")";
    return std::any_of(states.begin(), states.end(), [&](const BeamState& s) {
      return key_of(s.steps).find(block) != std::string::npos;
    });
  };
  for (TargetLevel& level : levels_) level.line_bytes = 32;  // each row of a call is one
  std::vector<BeamState> states = found(kTurnedOver);
  EXPECT_TRUE(by(2, states));
  EXPECT_FALSE(by(4, states));
  for (TargetLevel& level : levels_) level.line_bytes = 64;
  states = found(kTurnedOver);
  EXPECT_TRUE(by(2, states));
  EXPECT_TRUE(by(4, states));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, vectors_run_along_a_loop_around_short_ones) {
  const std::vector<BeamState> states = found(kPolynomial);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "unroll_loop") && calls(s, "optimize_level_1");
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, sweeps_inside_a_time_loop_are_searched) {
  const std::vector<BeamState> states = found(kSteps);
  EXPECT_TRUE(some_call(states, "optimize_level_1"));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

const char* const kManyOperands = R"(
@proc
def many_operands(x: f32[160, 4], c: f32[40, 4], d: f32[160]):
    for i in seq(0, 160):
        for k in seq(0, 40):
            for j in seq(0, 4):
                d[i] += (x[i, j] - c[k, j]) * (x[i, j] - c[k, j])
)";

// A vector for each of a thousand operands takes minutes: that has a share of the time, and the
// others theirs.
TEST_F(ProgramSearchTest, a_finish_that_runs_away_leaves_time_for_the_others) {
  const ProcPtr p = parsed(kManyOperands);
  const ScheduleStep vectors{
      "optimize_level_1",
      {"i", 16, Value(target_->vector_memory), Value(context_.instructions), 1},
      {}};
  const Finish away{"away", {{"unroll_loop", {"j"}, {}}, {"unroll_loop", {"k"}, {}}, vectors}};
  const std::vector<FinishedNest> done = finish_all({p, {}, false}, {away, Finish{"as it is", {}}},
                                                    PartPricing(context_), Deadline::after(8));
  EXPECT_FALSE(done[0].plan);
  EXPECT_TRUE(done[1].plan);
}

// At whatever moment it is stopped: what was found is finished and right.
TEST_F(ProgramSearchTest, a_search_that_is_stopped_leaves_whole_schedules) {
  size_t most = 0;
  for (const int questions : {0, 30, 300, 3000, 30000}) {
    std::atomic<int> asked = 0;
    kernel_ = parsed(kScaledProduct);
    ProgramSearchRequest request;
    request.target = target_.get();
    request.levels = target_->levels;
    request.context = &context_;
    const ProgramDeadlines until = {Deadline().or_when([&] { return ++asked > questions; }),
                                    Deadline().or_when([&] { return asked > 2 * questions; })};
    const std::vector<BeamState> states =
        ProgramSearch(request).run(first_state(kernel_, context_), until).states;
    for (const BeamState& s : states)
      expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
    most = std::max(most, states.size());
  }
  EXPECT_GT(most, 0u);
}

// The first tile of a finish is not made where what it is made of was refused: the steps behind
// would unroll all that is there.
TEST_F(ProgramSearchTest, a_finish_ends_with_its_first_refused_step) {
  const ProcPtr p = parsed(R"(
@proc
def sums(A: f32[64, 64], s: f32[64]):
    for i in seq(0, 64):
        for k in seq(0, 64):
            s[i] += A[i, k]
)");
  const Schedule start{p, {}, false};
  Finish finish{"both", {}, true};
  finish.steps = {
      {"block_loop", {Value("none"), Value::ints({4}), Value::strings({"a", "b"}), Value("")}, {}},
      {"unroll_loop", {Value("i")}, {}}};
  for (const bool together : {true, false}) {
    finish.together = together;
    const FinishedNest done = finish_all(start, {finish}, PartPricing(context_), {}).at(0);
    EXPECT_EQ(done.refusals.size(), 1u);
    EXPECT_EQ(done.plan.has_value(), !together);
    EXPECT_EQ(done.plan ? done.plan->steps.size() : 0, together ? 0 : 1u);
  }
}

// The core looks at the time more often than once a step.
TEST_F(ProgramSearchTest, a_step_that_runs_away_is_left) {
  const ProcPtr p = parsed(R"(
@proc
def long(x: f32[16, 64, 64]):
    for i in seq(0, 16):
        for j in seq(0, 64):
            for k in seq(0, 64):
                x[i, j, k] = x[i, j, k] + x[i, k, j]
)");
  const auto unroll = [](const char* loop) { return ScheduleStep{"unroll_loop", {loop}, {}}; };
  const Steps steps = {unroll("k"), unroll("j"), unroll("i"), {"simplify", {}, {}}};
  int asked = 0;
  const Deadline deadline = Deadline().or_when([&] { return ++asked > 1000; });
  const std::vector<Extended> made =
      extend_all(first_state(p, context_), {steps}, context_, deadline);
  EXPECT_FALSE(made.front().reached);
  EXPECT_FALSE(made.front().refusal) << "the core did not refuse";
  EXPECT_LT(asked, 2000);
}

TEST_F(ProgramSearchTest, the_fastest_of_each_part_are_put_together) {
  kernel_ = parsed(kSteps);
  ProgramSearchRequest request;
  request.target = target_.get();
  request.levels = target_->levels;
  request.context = &context_;
  ProgramSearch search(request);
  std::map<std::string, double> seconds;
  double next = 1;
  for (const BeamState& s : search.run(first_state(kernel_, context_)).states)
    seconds[s.text_hash] = next *= 0.9;  // the later, the faster
  for (const BeamState& s : search.recombine(seconds)) {
    EXPECT_FALSE(seconds.count(s.text_hash));
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
  }
}

const char* const kHeavyAndLight = R"(
@proc
def heavy_and_light(A: f32[60, 60], B: f32[60, 60], C: f32[60, 60], x: f32[100000]):
    for i in seq(0, 100000):
        x[i] = 2.0 * x[i]
    for i in seq(0, 60):
        for j in seq(0, 60):
            for k in seq(0, 60):
                C[i, j] += A[i, k] * B[k, j]
)";

TEST_F(ProgramSearchTest, other_ways_for_the_part_that_takes_longest_come_first) {
  const std::vector<BeamState> states = found(kHeavyAndLight);
  const auto light = [](const BeamState& s) { return str(*s.proc, {s.proc->body[0]}); };
  ASSERT_GT(states.size(), 4u);
  for (size_t k = 1; k < 4; ++k) EXPECT_EQ(light(states[k]), light(states[0])) << k;
  EXPECT_NE(light(states.back()), light(states[0]));
}

// Found through the quotient and by the tile: neither alone has vectors of four heads.
TEST_F(ProgramSearchTest, few_rows_are_multiplied_by_rows) {
  const std::vector<BeamState> states = found(kGrouped);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "multiply_rows") && calls(s, "divide_loop");
  }));
}

TEST_F(ProgramSearchTest, scattered_results_become_tiles_of_a_copy) {
  const std::vector<BeamState> states = found(kScattered);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "rearrange_dim") && calls(s, "sum_block");
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

// Six loops, not tried in all orders: rows that are worth a tile, vectors and all sums go inside.
TEST_F(ProgramSearchTest, sums_of_a_deep_nest_become_tiles) {
  const char* const text = R"(
@proc
def deep(x: f32[2, 4, 18], w: f32[2, 5, 3, 3], y: f32[5, 6, 16]):
    for c in seq(0, 2):
        for d in seq(0, 5):
            for i in seq(0, 4):
                for j in seq(0, 16):
                    for s in seq(0, 3):
                        for r in seq(0, 3):
                            y[d, i + r, j] += x[c, i, j + s] * w[c, d, r, s]
)";
  EXPECT_EQ(inspect_nest(*parsed(text)).row_loop, "d");
  const std::vector<BeamState> states = found(text);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(),
                          [](const BeamState& s) { return calls(s, "sum_block"); }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

const char* const kMeans = R"(
@proc
def means(x: f32[2, 17, 65], y: f32[2, 8, 32]):
    for c in seq(0, 2):
        for i in seq(0, 8):
            for j in seq(0, 32):
                y[c, i, j] = 0.0
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        y[c, i, j] += x[c, 2 * i + r, 2 * j + s]
                y[c, i, j] = y[c, i, j] / 8.0
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

class DotProgramSearchTest : public ProgramSearchTest {
 protected:
  DotProgramSearchTest() : ProgramSearchTest("avx512_vnni") {}
};

TEST_F(DotProgramSearchTest, sums_of_bytes_begin_in_registers) {
  const std::vector<BeamState> states = found(kBytesBegun);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "dot_block") && !calls(s, "fission");
  }));
  // Dot products without groups of neighbours are none.
  EXPECT_FALSE(some_call(found(kScaledProduct), "dot_block"));
}

class TileProgramSearchTest : public ProgramSearchTest {
 protected:
  TileProgramSearchTest() : ProgramSearchTest("avx512_amx") {}
};

TEST_F(TileProgramSearchTest, sums_of_bytes_in_tiles_and_what_they_leave_by_dot_products) {
  const auto both = [](const BeamState& s) {
    return calls(s, "tile_block") && calls(s, "dot_block");
  };
  const std::vector<BeamState> states = found(kBytesBegun);  // 30 rows: one tile and 14
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), both));
}

TEST_F(ProgramSearchTest, two_products_of_a_triangle_share_a_tile) {
  const std::vector<BeamState> states = found(kTwoProducts);
  const auto in_blocks_of = [&](int64_t rows) {
    const std::string block = "for i in _: _', " + std::to_string(rows) + ", ['ib', 'i']";
    return std::any_of(states.begin(), states.end(), [&](const BeamState& s) {
      return key_of(s.steps).find(block) != std::string::npos && calls(s, "square_corner") &&
             (calls(s, "register_block") || calls(s, "sum_block"));
    });
  };
  EXPECT_TRUE(in_blocks_of(32));
  EXPECT_TRUE(in_blocks_of(16));  // several strips at once
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST_F(ProgramSearchTest, short_triangles_have_blocks_of_one_vector) {
  int blocked = 0;
  for (const BeamState& s : found(replaced(kTwoProducts, "80", "40").c_str())) {
    if (key_of(s.steps).find("for i in _: _', 16, ['ib', 'i']") == std::string::npos ||
        !calls(s, "square_corner") || !calls(s, "register_block") || ++blocked > 3)
      continue;
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
  }
  EXPECT_GT(blocked, 0);
}

TEST(Windows, that_overlap_are_summed_one_direction_after_the_other) {
  const ProcPtr p = parsed(kMeans);
  const std::vector<Schedule> made = windows_ahead({p, {}, false}, {});
  // Down the columns first, of all rows and row by row; and along the rows first.
  ASSERT_EQ(made.size(), 3u);
  for (const Schedule& s : made) expect_same_result(p, s.proc, str(*s.proc));
  EXPECT_NE(str(*made[0].proc).find("x_sums[i, 2 * j + s]"), std::string::npos)
      << str(*made[0].proc);
}

TEST(Windows, that_share_nothing_stay) {
  const std::string apart = replaced(replaced(kMeans, "r in seq(0, 3)", "r in seq(0, 2)"),
                                     "s in seq(0, 3)", "s in seq(0, 2)");
  EXPECT_TRUE(windows_ahead({parsed(apart), {}, false}, {}).empty());
  // Each element with a weight of its own.
  const std::string weighted =
      replaced(replaced(kMeans, "2 * j + s]", "2 * j + s] * x[c, r, s]"), "/ 8.0", "+ 1.0");
  EXPECT_TRUE(windows_ahead({parsed(weighted), {}, false}, {}).empty());
}

TEST_F(ProgramSearchTest, means_of_windows_go_by_sums_of_columns) {
  const std::vector<BeamState> states = found(kMeans);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "reduce_ahead") &&
           str(*s.proc).find("mm512_load_second_ps") != std::string::npos;
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

const char* const kFunctions = R"(
@proc
def functions(x: f32[3, 600], s: f32[3], y: f32[3, 600]):
    for i in seq(0, 3):
        s[i] = 0.0
        for j in seq(0, 600):
            s[i] += x[i, j]
        for j in seq(0, 600):
            y[i, j] = tanh(exp(x[i, j] - s[i]))
)";

TEST_F(ProgramSearchTest, functions_of_a_part_go_in_loops_of_their_own) {
  const std::vector<BeamState> states = found(kFunctions);
  EXPECT_TRUE(some_call(states, "stage_functions"));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
  EXPECT_FALSE(some_call(found(kSteps), "stage_functions"));
}

const char* const kGroups = R"(
@proc
def groups(A: f32[20, 2, 20], s: f32[2, 32], B: f32[2, 20, 32], C: f32[20, 32]):
    for i in seq(0, 20):
        for j in seq(0, 32):
            C[i, j] = 0.0
            for g in seq(0, 2):
                t: f32
                t = 0.0
                for k in seq(0, 20):
                    t += A[i, g, k] * B[g, k, j]
                C[i, j] += s[g, j] * t
)";

TEST_F(ProgramSearchTest, sums_of_groups_with_factors_are_a_product) {
  const std::vector<BeamState> states = found(kGroups);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "distribute_factor") && (calls(s, "register_block") || calls(s, "sum_block"));
  }));
  for (const BeamState& s : states)
    expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
}

TEST(Factors, go_into_sums_of_groups_alone) {
  const ProcPtr p = parsed(kGroups);
  const auto inside = with_factors_inside({p, {}, false});
  ASSERT_TRUE(inside);
  expect_same_result(p, inside->proc, str(*inside->proc));
  EXPECT_EQ(str(*inside->proc).find("t :"), std::string::npos) << str(*inside->proc);
  EXPECT_FALSE(with_factors_inside({parsed(kScaledProduct), {}, false}));
  EXPECT_FALSE(with_factors_inside(
      {parsed(replaced(kGroups, "s[g, j] * t", "s[g, j] * t * t")), {}, false}));
}

TEST(Steps, refuse_without_a_change) {
  Schedule s{parsed(kTransposed), {}, false};
  const std::optional<StepRefusal> refusal = apply(s, "unroll_loop", {Value("x")});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->op, "unroll_loop");
  EXPECT_TRUE(s.steps.empty());
}

}  // namespace
}  // namespace exotune
