// Schedules of whole programs: split, reordered, transposed, tiled; they compute the same, print as
// scripts that make the same procedure, and are found for nests of no known form.
#include "search/program_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/finished_nests.h"
#include "search/moves/closures.h"
#include "search/moves/distribution.h"
#include "search/moves/factors.h"
#include "search/moves/loop_order.h"
#include "search/moves/parts.h"
#include "search/moves/recurrences.h"
#include "search/moves/row_fusion.h"
#include "search/moves/separation.h"
#include "search/moves/shared_passes.h"
#include "search/moves/stage_rows.h"
#include "search/moves/transposition.h"
#include "search/moves/triangles.h"
#include "search/moves/windows.h"
#include "search/steps/builders.h"
#include "search/tuning_context.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "k.exo").procs.front(); }

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

const char* const kTransposed = R"(
@proc
def transposed(A: f32[12, 16], B: f32[40, 16], C: f32[12, 40]):
    for i in seq(0, 12):
        for j in seq(0, 40):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[j, k]
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

const char* const kSteps = R"(
@proc
def steps(x: f32[34], y: f32[34]):
    for t in seq(0, 3):
        for i in seq(1, 33):
            y[i] = x[i - 1] + x[i + 1]
        for i in seq(1, 33):
            x[i] = y[i - 1] + y[i + 1]
)";

// Rows that share y are those of b; c and d both run through y.
const char* const kFourIndices = R"(
@proc
def four_indices(x: f32[2, 6, 12], y: f32[6, 3, 32], z: f32[2, 12, 3, 32]):
    for a in seq(0, 2):
        for b in seq(0, 12):
            for c in seq(0, 3):
                for d in seq(0, 32):
                    for e in seq(0, 6):
                        z[a, b, c, d] += x[a, e, b] * y[e, c, d]
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

class ProgramSearchTest : public ::testing::Test {
 protected:
  ProgramSearchTest() : target_(load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"})) {
    context_.instructions = instruction_values(*target_);
    context_.weights = default_weights(CostMachine{});
  }
  std::vector<BeamState> found(const char* text) {
    kernel_ = parsed(text);
    ProgramSearchRequest request;
    request.target = target_.get();
    request.levels = target_->levels;
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
    request.interrupted = [&] { return ++asked > questions; };
    request.deadline = Deadline().or_when([&] { return asked > 2 * questions; });
    const std::vector<BeamState> states =
        ProgramSearch(request).run(first_state(kernel_, context_)).states;
    for (const BeamState& s : states)
      expect_same_result(kernel_, s.proc, script_text(*kernel_, s.steps));
    most = std::max(most, states.size());
  }
  EXPECT_GT(most, 0u);
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

const char* const kSweeps = R"(
@proc
def sweeps(x: f32[20, 12], y: f32[20, 12]):
    for t in seq(0, 5):
        for i in seq(1, 19):
            for j in seq(1, 11):
                y[i, j] = x[i - 1, j] + x[i, j - 1] + x[i, j + 1] + x[i + 1, j]
        for i in seq(1, 19):
            for j in seq(1, 11):
                x[i, j] = y[i - 1, j] + y[i, j - 1] + y[i, j + 1] + y[i + 1, j]
)";

const char* const kStaggered = R"(
@proc
def staggered(f: f32[6], ex: f32[20, 12], ey: f32[20, 12], hz: f32[20, 12]):
    for t in seq(0, 6):
        for j in seq(0, 12):
            ey[0, j] = f[t]
        for i in seq(1, 20):
            for j in seq(0, 12):
                ey[i, j] = ey[i, j] - hz[i, j] + hz[i - 1, j]
        for i in seq(0, 20):
            for j in seq(1, 12):
                ex[i, j] = ex[i, j] - hz[i, j] + hz[i, j - 1]
        for i in seq(0, 19):
            for j in seq(0, 11):
                hz[i, j] = hz[i, j] - ex[i, j + 1] + ex[i, j] - ey[i + 1, j] + ey[i, j]
)";

const char* const kTwoPasses = R"(
@proc
def two_passes(g: f32[5], x: f32[24, 16], t: f32[24, 12], y: f32[20, 12]):
    for i in seq(0, 24):
        for j in seq(0, 12):
            t[i, j] = 0.0
            for k in seq(0, 5):
                t[i, j] += g[k] * x[i, j + k]
    for i in seq(0, 20):
        for j in seq(0, 12):
            y[i, j] = 0.0
            for k in seq(0, 5):
                y[i, j] += g[k] * t[i + k, j]
)";

int count_of(const Steps& steps, const std::string& op) {
  return static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [&](const auto& s) { return s.op == op; }));
}

TEST(RowFusion, a_sweep_follows_another_one_row_behind) {
  const ProcPtr p = parsed(kSweeps);
  const Schedule one = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(one.steps, "fuse"), 1);
  EXPECT_EQ(count_of(one.steps, "shift_loop"), 1);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(RowFusion, sweeps_of_several_time_steps_are_a_wavefront) {
  const ProcPtr p = parsed(kSweeps);
  const Schedule two = fuse_rows({p, {}, false}, 2);
  EXPECT_EQ(count_of(two.steps, "fuse"), 3);
  EXPECT_EQ(count_of(two.steps, "unroll_loop"), 1);
  expect_same_result(p, two.proc, str(*two.proc));
}

TEST(RowFusion, sweeps_of_other_ranges_are_cut_to_what_they_share) {
  const ProcPtr p = parsed(kStaggered);
  const Schedule fused = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(fused.steps, "fuse"), 2);
  expect_same_result(p, fused.proc, str(*fused.proc));
}

TEST(RowFusion, a_consumer_stays_its_halo_behind) {
  const ProcPtr p = parsed(kTwoPasses);
  const Schedule fused = fuse_rows({p, {}, false}, 1);
  EXPECT_EQ(count_of(fused.steps, "fuse"), 1);
  expect_same_result(p, fused.proc, str(*fused.proc));
}

TEST(RowFusion, what_needs_all_rows_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def mirrored(x: f32[20, 4], y: f32[20, 4]):
    for i in seq(0, 20):
        for j in seq(0, 4):
            x[i, j] = y[i, j] + 1.0
    for i in seq(0, 20):
        for j in seq(0, 4):
            y[i, j] = x[19 - i, j]
)");
  EXPECT_TRUE(fuse_rows({p, {}, false}, 1).steps.empty());
  EXPECT_FALSE(has_repeated_sweeps(*p));
  EXPECT_TRUE(fuse_rows({p, {}, false}, 2).steps.empty());
}

// A matrix and its transpose times a vector, with what is in between.
const char* const kBothWays = R"(
@proc
def both_ways(a: f64[9, 13], x: f64[9], y: f64[13], u: f64[13], v: f64[9]):
    for i in seq(0, 9):
        for j in seq(0, 13):
            x[i] += a[i, j] * u[j]
    for i in seq(0, 9):
        v[i] = v[i] * 2.0
    for i in seq(0, 13):
        for j in seq(0, 9):
            y[i] += a[j, i] * v[j]
)";

TEST(SharedPasses, a_matrix_is_read_once_for_both_products) {
  const ProcPtr p = parsed(kBothWays);
  const Schedule one = share_passes({p, {}, false});
  EXPECT_EQ(count_of(one.steps, "reorder_loops"), 1);
  EXPECT_EQ(count_of(one.steps, "fuse"), 2);
  // v is scaled before the second product, which cannot pass it, but after the first, which can.
  EXPECT_EQ(count_of(one.steps, "reorder_stmts"), 1);
  EXPECT_EQ(one.proc->body.size(), 2u);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(SharedPasses, an_updated_array_is_used_where_it_was_updated) {
  const ProcPtr p = parsed(R"(
@proc
def rank_one_and_product(a: f64[7, 9], s: f64[7], t: f64[9], x: f64[9], y: f64[7]):
    for i in seq(0, 7):
        for j in seq(0, 9):
            a[i, j] += s[i] * t[j]
    for j in seq(0, 9):
        for i in seq(0, 7):
            x[j] += a[i, j] * y[i]
)");
  const Schedule one = share_passes({p, {}, false});
  EXPECT_EQ(count_of(one.steps, "fuse"), 2);
  EXPECT_EQ(one.proc->body.size(), 1u);
  expect_same_result(p, one.proc, str(*one.proc));
}

TEST(SharedPasses, what_needs_the_whole_sum_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def there_and_back(a: f64[7, 9], t: f64[7], x: f64[9], y: f64[9]):
    for i in seq(0, 7):
        for j in seq(0, 9):
            t[i] += a[i, j] * x[j]
    for j in seq(0, 9):
        for i in seq(0, 7):
            y[j] += a[i, j] * t[i]
)");
  EXPECT_TRUE(share_passes({p, {}, false}).steps.empty());
}

// Two passes with planes outside, what they make in arrays of the procedure.
const char* const kStages = R"(
@proc
def stages(w: f32[3], x: f32[2, 11, 9], y: f32[2, 9, 9]):
    gray: f32[11, 9]
    for i in seq(0, 11):
        for j in seq(0, 9):
            gray[i, j] = w[0] * x[0, i, j] + w[1] * x[1, i, j]
    edge: f32[9, 9]
    for i in seq(0, 9):
        for j in seq(0, 9):
            edge[i, j] = gray[i, j] - gray[i + 2, j]
    for c in seq(0, 2):
        for i in seq(0, 9):
            for j in seq(0, 9):
                y[c, i, j] = x[c, i + 1, j] + w[2] * edge[i, j]
)";

TEST(StageRows, rows_are_made_where_they_are_read) {
  const ProcPtr p = parsed(kStages);
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_EQ(rows.size(), 1u);  // not inside the planes: rows of edge would be made for each
  EXPECT_EQ(count_of(rows[0].steps, "reorder_loops"), 1);
  EXPECT_EQ(count_of(rows[0].steps, "compute_at"), 2);
  EXPECT_EQ(count_of(rows[0].steps, "store_at"), 1);    // of edge one row at a time
  EXPECT_EQ(count_of(rows[0].steps, "resize_dim"), 1);  // of gray a ring
  EXPECT_NE(str(*rows[0].proc).find("gray : f32[4, 9]"), std::string::npos) << str(*rows[0].proc);
  expect_same_result(p, rows[0].proc, str(*rows[0].proc));
}

TEST(StageRows, an_argument_between_them_stays_whole) {
  const ProcPtr p = parsed(R"(
@proc
def two_passes(x: f32[9, 12], t: f32[9, 8], y: f32[5, 8]):
    for i in seq(0, 9):
        for j in seq(0, 8):
            t[i, j] = x[i, j] + x[i, j + 4]
    for i in seq(0, 5):
        for j in seq(0, 8):
            y[i, j] = t[i, j] + t[i + 4, j]
)");
  const std::vector<Schedule> rows = stages_by_rows({p, {}, false});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(count_of(rows[0].steps, "compute_at"), 1);
  EXPECT_EQ(rows[0].steps.size(), 1u);
  expect_same_result(p, rows[0].proc, str(*rows[0].proc));
}

TEST(StageRows, what_needs_all_rows_before_stays_apart) {
  const ProcPtr p = parsed(R"(
@proc
def mirrored(x: f32[20, 4], y: f32[20, 4]):
    t: f32[20, 4]
    for i in seq(0, 20):
        for j in seq(0, 4):
            t[i, j] = x[i, j] + 1.0
    for i in seq(0, 20):
        for j in seq(0, 4):
            y[i, j] = t[19 - i, j]
)");
  EXPECT_TRUE(stages_by_rows({p, {}, false}).empty());
}

TEST(Parts, a_time_loop_is_walked_into) {
  EXPECT_EQ(parts_of(parsed(kSteps)).size(), 2u);
  EXPECT_TRUE(is_one_nest(parsed(kTransposed)));
  EXPECT_FALSE(is_one_nest(parsed(kSteps)));
}

TEST(LoopOrders, are_all_legal_ones) {
  const ProcPtr p = parsed(kTransposed);
  EXPECT_EQ(loop_orders({p, {}, false}, {{Child::kBody, 0}}).size(), 6u);
}

TEST(LoopOrders, bring_what_is_named_inside_with_the_fewest_swaps) {
  const Path band = {{Child::kBody, 0}};
  const ProcPtr p = parsed(kFourIndices);
  const std::vector<LoopOrder> orders = loop_orders({p, {}, false}, band);
  const auto product = with_innermost(orders.front(), band, {"b", "d", "e"});
  ASSERT_TRUE(product);
  EXPECT_EQ(product->order, (std::vector<int>{0, 2, 1, 3, 4}));
  EXPECT_EQ(product->schedule.steps.size(), 1u);
  EXPECT_FALSE(with_innermost(orders.front(), band, {"b", "q"}));
}

TEST(Distribution, keeps_what_depends_together) {
  const ProcPtr p = parsed(kSteps);
  EXPECT_TRUE(distribute({p, {}, false}, true).steps.empty());
}

TEST(Triangles, are_cut_into_whole_blocks_and_corners) {
  const ProcPtr p = parsed(R"(
@proc
def triangle(A: f32[24, 24], B: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i + 1):
            B[i, j] += A[j, i]
)");
  const std::optional<Schedule> cut =
      rectangle_and_corner({p, {}, false}, {{Child::kBody, 0}}, 8, false);
  ASSERT_TRUE(cut);
  EXPECT_NE(str(*cut->proc).find("for j in seq(0, 8 * ib)"), std::string::npos) << str(*cut->proc);
  expect_same_result(p, cut->proc, str(*cut->proc));
}

TEST(Triangles, may_be_of_the_sum_or_of_the_result) {
  const Path band = {{Child::kBody, 0}};
  EXPECT_TRUE(triangle_is_summed(*parsed(R"(
@proc
def lower(L: f32[24, 24], B: f32[24, 9], C: f32[24, 9]):
    for i in seq(0, 24):
        for j in seq(0, 9):
            for k in seq(0, i + 1):
                C[i, j] += L[i, k] * B[k, j]
)"),
                                 band));
  EXPECT_FALSE(triangle_is_summed(*parsed(R"(
@proc
def gram(X: f32[24, 12], G: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i + 1):
            for k in seq(0, 12):
                G[i, j] += X[i, k] * X[j, k]
)"),
                                  band));
  EXPECT_FALSE(triangle_is_summed(*parsed(kTransposed), band));
}

TEST(Triangles, have_corners_that_are_squares_in_a_buffer) {
  const ProcPtr p = parsed(R"(
@proc
def gram(X: f32[12, 24], G: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(i, 24):
            G[i, j] = 0.0
            for k in seq(0, 12):
                G[i, j] += X[k, i] * X[k, j]
)");
  const std::optional<Schedule> cut =
      rectangle_and_corner({p, {}, false}, {{Child::kBody, 0}}, 8, true);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->steps.back().op, "square_corner");
  EXPECT_NE(str(*cut->proc).find("G_square : f32[8, 8]"), std::string::npos) << str(*cut->proc);
  expect_same_result(p, cut->proc, str(*cut->proc));
}

TEST(Recurrences, are_blocked_and_hold_a_product_that_fits_register_tiles) {
  const ProcPtr p = parsed(R"(
@proc
def cholesky(A: f32[24, 24]):
    for i in seq(0, 24):
        for j in seq(0, i):
            for k in seq(0, j):
                A[i, j] += -(A[i, k] * A[j, k])
            A[i, j] = A[i, j] / A[j, j]
        for k in seq(0, i):
            A[i, i] += -(A[i, k] * A[i, k])
        A[i, i] = 2.0 * A[i, i]
)");
  const std::vector<Schedule> made = blocks_of_recurrences({p, {}, false}, 4);
  ASSERT_FALSE(made.empty());
  for (const Schedule& s : made) {
    EXPECT_TRUE(std::any_of(s.steps.begin(), s.steps.end(),
                            [](const ScheduleStep& step) { return step.op == "stage_panel"; }));
    EXPECT_NE(str(*s.proc).find("A_panel[j + 4 * jb, i] += -(A_panel[k, i] * A[j + 4 * jb, k])"),
              std::string::npos)
        << str(*s.proc);
  }
  EXPECT_TRUE(blocks_of_recurrences({parsed(kSteps), {}, false}, 4).empty());
}

TEST(Closures, are_taken_in_blocks_of_whole_vectors_that_divide_them_first) {
  const ProcPtr p = parsed(R"(
@proc
def paths(x: f32[144, 144]):
    for k in seq(0, 144):
        for i in seq(0, 144):
            for j in seq(0, 144):
                x[i, j] min= x[i, k] + x[k, j]
)");
  const std::vector<Schedule> made = blocks_of_closures({p, {}, false}, 4);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(*made[0].steps.back().args.back().as<int64_t>(), 48);
  EXPECT_NE(str(*made[0].proc).find("x[i, j] min= x_column1[k, i] + x_row1[k, j]"),
            std::string::npos);
  EXPECT_TRUE(blocks_of_closures({parsed(kSteps), {}, false}, 4).empty());
}

TEST(Recurrences, of_independent_rows_run_in_lanes) {
  const ProcPtr p = parsed(R"(
@proc
def sums(x: f32[16, 12]):
    for t in seq(0, 2):
        for i in seq(0, 16):
            for j in seq(1, 12):
                x[i, j] += x[i, j - 1]
)");
  const std::vector<Schedule> made = rows_in_lanes({p, {}, false}, 4);
  ASSERT_EQ(made.size(), 3u);  // 2, 1 and 4 vectors of rows
  for (const Schedule& s : made) {
    EXPECT_NE(str(*s.proc).find("x_lanes[j, i] += x_lanes[j - 1, i]"), std::string::npos)
        << str(*s.proc);
    expect_same_result(p, s.proc, str(*s.proc));
  }
  EXPECT_TRUE(rows_in_lanes({p, {}, false}, 32).empty());  // more lanes than rows
  EXPECT_TRUE(rows_in_lanes({parsed(kSteps), {}, false}, 4).empty());
}

TEST(Recurrences, go_by_columns_where_their_sums_go_down_one) {
  const ProcPtr p = parsed(R"(
@proc
def pairs(t: f32[12, 12]):
    for ii in seq(0, 12):
        for j in seq(12 - ii, 12):
            t[11 - ii, j] max= t[11 - ii, j - 1]
            for k in seq(12 - ii, j):
                t[11 - ii, j] max= t[11 - ii, k] + t[k + 1, j]
)");
  const std::optional<Schedule> columns = recurrences_by_columns({p, {}, false});
  ASSERT_TRUE(columns);
  const std::string text = str(*columns->proc);
  EXPECT_NE(text.find("t_column[k + 1]"), std::string::npos) << text;
  EXPECT_LT(text.find("for j in"), text.find("for ii in")) << text;
  expect_same_result(p, columns->proc, text);
  EXPECT_FALSE(recurrences_by_columns({parsed(kSteps), {}, false}));
}

TEST(Recurrences, run_in_rows_one_behind_the_other) {
  const ProcPtr p = parsed(R"(
@proc
def relaxed(x: f32[11, 20]):
    for i in seq(1, 10):
        for j in seq(1, 19):
            x[i, j] = x[i - 1, j + 1] + x[i, j - 1] + x[i + 1, j]
)");
  const std::vector<Schedule> made = wavefronts({p, {}, false});
  ASSERT_EQ(made.size(), 3u);  // 4, 8 and 2 rows
  for (const Schedule& s : made) expect_same_result(p, s.proc, str(*s.proc));
  EXPECT_TRUE(wavefronts({parsed(kSteps), {}, false}).empty());
}

TEST(Separation, gives_a_buffer_read_twice_a_copy) {
  const ProcPtr p = parsed(R"(
@proc
def twice(A: f32[16, 24], C: f32[8, 16]):
    for i in seq(0, 8):
        for j in seq(0, 16):
            for k in seq(0, 16):
                C[i, j] += A[k, i + 16] * A[k, j]
)");
  const std::optional<Schedule> apart =
      separate_operands({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {});
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->steps.front().op, "stage_mem");
  expect_same_result(p, apart->proc, str(*apart->proc));
}

TEST(Transposition, copies_what_the_nest_reads_of_an_operand) {
  const ProcPtr p = parsed(R"(
@proc
def part(A: f32[12, 16], B: f32[400, 16], C: f32[12, 40]):
    for i in seq(0, 12):
        for j in seq(0, 40):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[j + 80, k]
)");
  const std::optional<Schedule> turned =
      transpose_operands({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {});
  ASSERT_TRUE(turned);
  EXPECT_NE(str(*turned->proc).find("B_t : f32[16, 40]"), std::string::npos) << str(*turned->proc);
  expect_same_result(p, turned->proc, str(*turned->proc));
}

const char* const kScattered = R"(
@proc
def scattered(x: f32[8, 20], w: f32[8, 32, 4], y: f32[32, 42]):
    for c in seq(0, 8):
        for k in seq(0, 32):
            for i in seq(0, 20):
                for r in seq(0, 4):
                    y[k, 2 * i + r] += x[c, i] * w[c, k, r]
)";

std::optional<Schedule> turned_results(const std::string& text, int64_t lanes) {
  const ProcPtr p = parsed(text);
  std::optional<Schedule> turned =
      transpose_results({p, {}, false}, Cursor::stmt(p, {{Child::kBody, 0}}), {}, lanes);
  if (turned) expect_same_result(p, turned->proc, str(*turned->proc));
  return turned;
}

TEST(Transposition, turns_results_that_no_long_loop_runs_along) {
  const std::optional<Schedule> turned = turned_results(kScattered, 16);
  ASSERT_TRUE(turned);
  const std::string text = str(*turned->proc);
  EXPECT_NE(text.find("y_t : f32[42, 32]"), std::string::npos) << text;
  EXPECT_NE(text.find("y_t[2 * i + r, k] += "), std::string::npos) << text;
}

TEST(Transposition, leaves_results_that_would_not_gain) {
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  };
  EXPECT_FALSE(turned_results(kScattered, 4)) << "vectors run along r as it is";
  EXPECT_FALSE(turned_results(kScattered, 64)) << "no loop is long enough";
  EXPECT_FALSE(turned_results(with(kScattered, "seq(0, 8)", "seq(0, 2)"), 16)) << "few terms";
  EXPECT_FALSE(turned_results(with(kScattered, "y[k, 2 * i", "y[k / 2 + k / 2, 2 * i"), 16))
      << "not one by one";
}

TEST_F(ProgramSearchTest, scattered_results_become_tiles_of_a_copy) {
  const std::vector<BeamState> states = found(kScattered);
  EXPECT_TRUE(std::any_of(states.begin(), states.end(), [](const BeamState& s) {
    return calls(s, "rearrange_dim") && calls(s, "sum_block");
  }));
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
