// Inputs on which a program's results mean something.
#include "search/test_data.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/frontend/parser.h"
#include "core/primitives/primitives.h"
#include "search/problem.h"

namespace exotune {
namespace {

TuningProblem problem_of(const char* text, const SizeBinding& sizes) {
  return make_problem(parse_module(text, "k.exo").procs.front(), sizes);
}

size_t index_of(const TuningProblem& p, const std::string& name) {
  return static_cast<size_t>(std::find(p.names.begin(), p.names.end(), name) - p.names.begin());
}

TEST(TestData, columns_lie_behind_one_another_where_the_kernel_says_so) {
  const TuningProblem p = problem_of(R"(
@proc
def f(m: size, n: size, A: [f32][m, n], B: [f32][m, n], C: [f32][m, n], y: f32[n]):
    assert stride(A, 0) == 1
    assert stride(B, 0) == 2 * n + 1
    for i in seq(0, m):
        for j in seq(0, n):
            y[j] += A[i, j] * B[i, j] * C[i, j]
)",
                                     {{"m", 3}, {"n", 5}});
  EXPECT_EQ(p.args.at(index_of(p, "A")).strides, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(p.args.at(index_of(p, "B")).strides, (std::vector<int64_t>{11, 1}));
  EXPECT_EQ(p.args.at(index_of(p, "C")).strides, (std::vector<int64_t>{10, 2}));
}

TEST(TestData, sums_of_small_integers_are_exact) {
  const TuningProblem p = problem_of(R"(
@proc
def f(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] += 2.0 * x[i]
)",
                                     {{"n", 100}});
  EXPECT_EQ(p.test.tolerance, 0);
  EXPECT_TRUE(p.test.slack.empty());
  EXPECT_EQ(compared_share(p.test), 1);
}

// With a coefficient of 2 or 3 it leaves the range of f32 after a hundred steps.
TEST(TestData, a_recurrence_stays_within_its_types_range) {
  const TuningProblem p = problem_of(R"(
@proc
def recurrence(n: size, a: f32, x: f32[n], y: f32[n]):
    for i in seq(0, n - 1):
        y[i + 1] = a * y[i] + x[i]
)",
                                     {{"n", 4000}});
  for (const double v : p.test.expected[index_of(p, "y")]) EXPECT_LT(std::fabs(v), 1e6);
  EXPECT_EQ(compared_share(p.test), 1);
}

TEST(TestData, a_factorisation_divides_by_no_small_pivot) {
  const TuningProblem p = problem_of(R"(
@proc
def lu(n: size, A: f64[n, n]):
    for k in seq(0, n):
        for i in seq(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in seq(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
)",
                                     {{"n", 40}});
  EXPECT_EQ(compared_share(p.test), 1);
  for (const double v : p.test.expected[index_of(p, "A")]) EXPECT_LT(std::fabs(v), 1e4);
}

TEST(TestData, roots_are_of_positive_numbers) {
  const TuningProblem p = problem_of(R"(
@proc
def roots(n: size, x: f32[n], y: f32[n]):
    for i in seq(0, n):
        y[i] = sqrt(x[i])
)",
                                     {{"n", 50}});
  for (const double v : p.test.inputs[index_of(p, "x")]) EXPECT_GT(v, 0);
  EXPECT_EQ(compared_share(p.test), 1);
}

// A residual after a step in floats is what floats round, not what doubles do.
TEST(TestData, what_floats_inside_round_is_no_error_of_doubles) {
  const char* text = R"(
@proc
def residual(n: size, a: f64[n], b: f64[n], r: f64[n]):
    for i in seq(0, n):
        z: f32
        z = b[i] / (3.0 + fabs(a[i]))
        r[i] = b[i] - (3.0 + fabs(a[i])) * f64(z)
)";
  const TuningProblem p = problem_of(text, {{"n", 50}});
  const size_t r = index_of(p, "r");
  const ArgumentValues rounded =
      interpreted(p.kernel, p.args)->run(p.test.inputs, Arithmetic::kRounded);
  ASSERT_EQ(p.test.slack[r].size(), 50u);
  double most = 0;
  for (size_t i = 0; i < 50; ++i) {
    const double off = std::fabs(rounded[r][i] - p.test.expected[r][i]);
    most = std::max(most, off);
    EXPECT_LE(off, p.test.slack[r][i]);
  }
  EXPECT_GT(most, 1e-9);
  EXPECT_EQ(compared_share(p.test), 1);
}

// Columns beyond the rank are quotients of rounding errors, whatever the inputs.
TEST(TestData, what_no_input_determines_is_not_compared) {
  const TuningProblem p = problem_of(R"(
@proc
def orthonormal(m: size, n: size, A: f64[m, n], R: f64[n, n], Q: f64[m, n]):
    nrm: f64
    for k in seq(0, n):
        nrm = 0.0
        for i in seq(0, m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = sqrt(nrm)
        for i in seq(0, m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in seq(k + 1, n):
            R[k, j] = 0.0
            for i in seq(0, m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in seq(0, m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]
)",
                                     {{"m", 30}, {"n", 50}});
  const std::vector<double>& slack = p.test.slack[index_of(p, "Q")];
  EXPECT_TRUE(std::isfinite(slack[0 * 50 + 10]));
  EXPECT_TRUE(std::isinf(slack[0 * 50 + 40]));
  EXPECT_GT(compared_share(p.test), 0.4);
  EXPECT_LT(compared_share(p.test), 1);
}

// The nest's own C, which is asked where the interpreter would take too long.
class Counted : public Reference {
 public:
  explicit Counted(const TuningProblem& p) : inner_(interpreted(p.kernel, p.args)) {}
  ArgumentValues run(const ArgumentValues& inputs, Arithmetic arithmetic) override {
    ++runs;
    return inner_->run(inputs, arithmetic);
  }
  bool has_exact() const override { return false; }
  int runs = 0;

 private:
  std::unique_ptr<Reference> inner_;
};

TEST(TestData, a_long_run_is_not_repeated_for_the_last_elements) {
  const char* const kNothingLast = R"(
@proc
def last(n: size, x: f32[n], y: f32[n + 1]):
    for i in seq(0, n):
        y[i] = 1.5 * x[i]
    y[n] = (x[0] - x[0]) / (x[0] - x[0])
)";
  for (const int64_t n : {9, 2000}) {
    const TuningProblem p = problem_of(kNothingLast, {{"n", n}});
    Counted reference(p);
    const TestCase test = choose_test(*p.kernel, p.args, 1, reference);
    EXPECT_EQ(reference.runs > 2, n == 9) << reference.runs;
    EXPECT_TRUE(std::isinf(test.slack[index_of(p, "y")].back()));
  }
}

// Nobody sees that these are pivots; integers do not determine them.
TEST(TestData, what_served_at_another_size_is_tried_first) {
  const TuningProblem p = problem_of(R"(
@proc
def lu(n: size, A: f64[n, n]):
    for k in seq(0, n):
        pivot: f64
        pivot = A[k, k]
        for i in seq(k + 1, n):
            A[i, k] = A[i, k] / pivot
            for j in seq(k + 1, n):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]
)",
                                     {{"n", 40}});
  ASSERT_NE(p.test.kind, InputKind::kIntegers);
  Counted all(p), first(p);
  EXPECT_EQ(choose_test(*p.kernel, p.args, 1, all).kind, p.test.kind);
  EXPECT_EQ(choose_test(*p.kernel, p.args, 1, first, p.test.kind).kind, p.test.kind);
  EXPECT_EQ(first.runs, 2);
  EXPECT_GE(all.runs, 4);
}

TEST(TestData, pivots_are_of_dominant_diagonals) {
  const TuningProblem p = problem_of(R"(
@proc
def cholesky(n: size, A: f64[n, n]):
    for k in seq(0, n):
        A[k, k] = sqrt(A[k, k])
        for i in seq(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
        for i in seq(k + 1, n):
            for j in seq(k + 1, i + 1):
                A[i, j] = A[i, j] - A[i, k] * A[j, k]
)",
                                     {{"n", 40}});
  EXPECT_EQ(p.test.kind, InputKind::kDominant);
  Counted reference(p);
  (void)choose_test(*p.kernel, p.args, 1, reference);
  EXPECT_EQ(reference.runs, 2);
}

// Of temperatures below 30 degrees a saturation pressure is no number of single precision.
TEST(TestData, physical_fields_are_near_one_or_near_three_hundred) {
  const TuningProblem p = problem_of(R"(
@proc
def saturation(n: size, rho: f32[n], exner: f32[n], th: f32[n], qv: f32[n], qs: f32[n]):
    for i in seq(0, n):
        T: f32
        T = th[i] * exner[i]
        es: f32
        es = 611.2 * exp(17.67 * (T - 273.15) / (T - 29.65))
        qs[i] = 0.622 * es / (100000.0 * pow(exner[i], 3.5) - 0.378 * es)
        qv[i] += rho[i] * (qs[i] - qv[i])
)",
                                     {{"n", 40}});
  EXPECT_EQ(p.test.kind, InputKind::kFields);
  EXPECT_EQ(compared_share(p.test), 1);
}

TEST(TestData, the_same_inputs_for_the_same_seed) {
  const std::vector<ArgSpec> args = {ArgSpec::tensor("A", ElementType::kF32, {5, 5}, true, false)};
  for (const InputKind kind : kInputKinds) {
    const auto a = make_inputs(args, 3, kind).inputs, b = make_inputs(args, 3, kind).inputs;
    EXPECT_EQ(a, b);
    EXPECT_NE(a, make_inputs(args, 4, kind).inputs);
  }
}

TEST(TestData, a_dominant_square_is_symmetric_and_ruled_by_its_diagonal) {
  const std::vector<ArgSpec> args = {
      ArgSpec::tensor("A", ElementType::kF64, {2, 7, 7}, true, false)};
  const std::vector<double> a = make_inputs(args, 3, InputKind::kDominant).inputs[0];
  for (size_t m = 0; m < 2; ++m)
    for (size_t i = 0; i < 7; ++i) {
      double others = 0;
      for (size_t j = 0; j < 7; ++j) {
        EXPECT_EQ(a[m * 49 + i * 7 + j], a[m * 49 + j * 7 + i]);
        if (i != j) others += std::fabs(a[m * 49 + i * 7 + j]);
      }
      EXPECT_GT(a[m * 49 + i * 8], others);
    }
}

TEST(Problem, an_argument_named_as_a_function_of_libm_is_passed) {
  const ProcPtr p = parse_module(R"(
@proc
def f(n: size, y1: f32[n], j0: f32[n]):
    for i in seq(0, n):
        y1[i] += j0[i]
)",
                                 "k.exo")
                        .procs.front();
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const TuningProblem problem = make_problem(p, {{"n", 8}});
  EXPECT_EQ(problem.names, (std::vector<std::string>{"n", "y1", "j0"}));
  const Candidate c = make_candidate(partial_eval(p, {{"n", 8}}), *target, problem);
  EXPECT_EQ(c.parameters, (std::vector<size_t>{1, 2}));
}

// A runner whose code computes whatever the test says.
class Oracle : public FakeRunner {
 public:
  explicit Oracle(std::vector<std::vector<double>> outputs)
      : FakeRunner([](const Candidate& c) {
          TrialResult r;
          r.candidate_id = c.id;
          r.status = TrialStatus::kOk;
          return r;
        }),
        outputs_(std::move(outputs)) {}
  Evaluation evaluate(const Candidate&, const std::vector<std::vector<double>>&, double) override {
    ++asked;
    return {outputs_, ""};
  }
  int asked = 0;

 private:
  std::vector<std::vector<double>> outputs_;
};

TEST(TestData, where_the_interpreter_takes_too_long_the_compiled_nest_speaks) {
  const ProcPtr p = parse_module(R"(
@proc
def again(n: size, x: f32[4], y: f32[4]):
    for r in seq(0, n):
        for i in seq(0, 4):
            y[i] = x[i]
)",
                                 "k.exo")
                        .procs.front();
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  Oracle runner({{}, {}, {4, 3, 2, 1}});
  ProblemOptions options;
  options.runner = &runner;
  options.target = target.get();
  options.interpreted_steps = 2000;
  EXPECT_EQ(make_problem(p, {{"n", 30}}, options).test.expected[2].size(), 4u);
  EXPECT_EQ(runner.asked, 0);
  const TuningProblem large = make_problem(p, {{"n", 1000000}}, options);
  EXPECT_EQ(large.test.expected[2], (std::vector<double>{4, 3, 2, 1}));
  EXPECT_EQ(runner.asked, 1);
}

// There is no small size; the interpreter would take minutes.
TEST(TestData, of_literal_sizes_the_compiled_nest_speaks_as_well) {
  const ProcPtr p = parse_module(R"(
@proc
def again(x: f32[4], y: f32[4]):
    for r in seq(0, 100000000):
        for i in seq(0, 4):
            y[i] = x[i]
)",
                                 "k.exo")
                        .procs.front();
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  Oracle runner({{}, {4, 3, 2, 1}});
  ProblemOptions options;
  options.runner = &runner;
  options.target = target.get();
  EXPECT_EQ(make_problem(p, {}, options).test.expected[1], (std::vector<double>{4, 3, 2, 1}));
  EXPECT_EQ(runner.asked, 1);
}

// Whoever divides by an array of integers has no zeros in it.
TEST(TestData, integers_that_are_divided_by_are_not_zero) {
  const Module module = parse_module(R"(
@proc
def ratios(x: i32[400], y: i16[400], z: i32[400], q: i32[400]):
    for i in seq(0, 400):
        d: i32 = i32(y[i])
        q[i] = x[i] / d + z[i]
)",
                                     "k.exo");
  const TuningProblem problem = make_problem(module.procs.front(), {});
  const std::vector<double>&x = problem.test.inputs[0], &y = problem.test.inputs[1],
        &z = problem.test.inputs[2];
  EXPECT_EQ(std::count(y.begin(), y.end(), 0.0), 0);
  EXPECT_GT(std::count(x.begin(), x.end(), 0.0), 0);
  EXPECT_GT(std::count(z.begin(), z.end(), 0.0), 0);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(problem.test.expected[3][i], std::trunc(x[i] / y[i]) + z[i]);
}

}  // namespace
}  // namespace exotune
