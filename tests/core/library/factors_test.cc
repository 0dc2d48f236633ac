// What fewer loops change, computed ahead of its nest, against the interpreter.
#include "core/library/factors.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "factors.exo").procs.at(0); }

Buffer filled(std::vector<int64_t> dims, int seed) {
  Buffer x(ScalarType::kF64, std::move(dims));
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11) - seed;
  return x;
}

// C after the procedure, whose arguments are a scalar, A[6, 5], B[5, 7] and C[6, 7].
std::vector<double> product(const ProcPtr& p) {
  Buffer alpha = filled({}, 3), a = filled({6, 5}, 4), b = filled({5, 7}, 5), c = filled({6, 7}, 6);
  run(*p, {&alpha, &a, &b, &c});
  return c.data;
}

const char* const kArguments = "alpha: f64, A: f64[6, 5], B: f64[5, 7], C: f64[6, 7]";

ProcPtr with_body(const std::string& body) {
  return parsed("@proc\ndef product(" + std::string(kArguments) + "):\n" + body);
}

TEST(FactorsAhead, a_scaled_operand_is_computed_once_for_each_of_its_elements) {
  const ProcPtr p = with_body(R"(
    for i in seq(0, 6):
        for k in seq(0, 5):
            for j in seq(0, 7):
                C[i, j] += alpha * A[i, k] * B[k, j]
)");
  const ProcPtr q = factors_ahead(p, "i");
  EXPECT_EQ(product(p), product(q)) << str(*q);
  EXPECT_NE(str(*q).find("alpha_A : f64[6, 5]"), std::string::npos) << str(*q);
  EXPECT_NE(str(*q).find("C[i, j] += alpha_A[i, k] * B[k, j]"), std::string::npos) << str(*q);
  EXPECT_EQ(q->body.size(), 3u) << str(*q);
}

// A value with a name under a condition leads out of it in no way that is known.
TEST(FactorsAhead, what_stands_under_a_condition_stays) {
  const ProcPtr p = parsed(R"(
@proc
def f(N: size, al: f64, x: f64[N], y: f64[N, N]):
    for i in seq(0, N):
        for j in seq(0, N):
            if j < 3:
                t: f64
                t = x[i] * al
                y[i, j] += t
)");
  EXPECT_THROW((void)factors_ahead(p, "i"), SchedulingError);
}

TEST(FactorsAhead, a_loop_outside_that_does_not_change_it_goes) {
  const ProcPtr p = with_body(R"(
    for i in seq(0, 6):
        for j in seq(0, 7):
            for k in seq(0, 5):
                C[i, j] += A[i, k] * (alpha * B[k, j] + 1.0)
)");
  const ProcPtr q = factors_ahead(p, "i");
  EXPECT_EQ(product(p), product(q)) << str(*q);
  EXPECT_NE(str(*q).find("+= A[i, k] * alpha_B[k, j]"), std::string::npos) << str(*q);
}

TEST(FactorsAhead, triangles_have_arrays_as_wide_as_their_operand) {
  const ProcPtr p = with_body(R"(
    for i in seq(0, 6):
        for k in seq(0, 5):
            for j in seq(0, i + 1):
                C[i, j] += fabs(A[i, k]) * B[k, j]
)");
  const ProcPtr q = factors_ahead(p, "i");
  EXPECT_EQ(product(p), product(q)) << str(*q);
  const ProcPtr rows = with_body(R"(
    for i in seq(0, 5):
        for j in seq(0, 7):
            for k in seq(i, 5):
                C[i, j] += B[k, j] * (A[k, i] / alpha)
)");
  const ProcPtr ahead = factors_ahead(rows, "i");
  EXPECT_EQ(product(rows), product(ahead)) << str(*ahead);
  EXPECT_NE(str(*ahead).find("A_alpha : f64[6, 5]"), std::string::npos) << str(*ahead);
}

TEST(FactorsAhead, another_pair_of_a_product_is_taken_where_one_has_no_bounds) {
  const ProcPtr p = with_body(R"(
    for i in seq(0, 5):
        for k in seq(0, 5):
            for j in seq(0, i + 1):
                C[i, j] += B[k, j] * alpha * A[i, k]
)");
  const ProcPtr q = factors_ahead(p, "i");
  EXPECT_EQ(product(p), product(q)) << str(*q);
  EXPECT_NE(str(*q).find("+= A_alpha[i, k] * B[k, j]"), std::string::npos) << str(*q);
  const ProcPtr last = with_body(R"(
    for i in seq(0, 6):
        for j in seq(0, 7):
            for k in seq(0, 5):
                C[i, j] += A[i, k] * B[k, j] * alpha
)");
  const ProcPtr ahead = factors_ahead(last, "i");
  EXPECT_EQ(product(last), product(ahead)) << str(*ahead);
  EXPECT_NE(str(*ahead).find("alpha_B : f64"), std::string::npos) << str(*ahead);
}

// Vectors run along the last subscript of the result, whichever the operand's is.
TEST(FactorsAhead, the_results_neighbours_are_the_arrays) {
  const ProcPtr p = parsed(R"(
@proc
def product(alpha: f64, A: f64[6, 5], B: f64[7, 5], C: f64[6, 7]):
    for i in seq(0, 6):
        for k in seq(0, 5):
            for j in seq(0, 7):
                C[i, j] += alpha * B[j, k] * A[i, k]
)");
  EXPECT_NE(str(*factors_ahead(p, "i")).find("alpha_B : f64[5, 7]"), std::string::npos);
}

TEST(FactorsAhead, converted_operands_are_converted_once) {
  const ProcPtr p = parsed(R"(
@proc
def product(A: f32[6, 5], B: f32[5, 7], C: f64[6, 7]):
    for i in seq(0, 6):
        for j in seq(0, 7):
            for k in seq(0, 5):
                C[i, j] += f64(A[i, k]) * f64(B[k, j])
)");
  const ProcPtr q = factors_ahead(p, "i");
  EXPECT_NE(str(*q).find("C[i, j] += A_f64[i, k] * B_f64[k, j]"), std::string::npos) << str(*q);
  const auto result = [](const ProcPtr& r) {
    Buffer a(ScalarType::kF32, {6, 5}), b(ScalarType::kF32, {5, 7}), c = filled({6, 7}, 6);
    for (size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<double>(k % 9) - 4;
    for (size_t k = 0; k < b.data.size(); ++k) b.data[k] = static_cast<double>(k * 5 % 7) - 3;
    run(*r, {&a, &b, &c});
    return c.data;
  };
  EXPECT_EQ(result(p), result(q)) << str(*q);
}

TEST(FactorsAhead, refuses_what_the_nest_changes_and_what_all_loops_change) {
  EXPECT_THROW((void)factors_ahead(with_body(R"(
    for i in seq(0, 6):
        for k in seq(0, 5):
            for j in seq(0, 7):
                C[i, j] += A[i, k] * B[k, j]
)"),
                                   "i"),
               SchedulingError);
  EXPECT_THROW((void)factors_ahead(with_body(R"(
    for i in seq(0, 5):
        for k in seq(0, 5):
            for j in seq(0, 7):
                C[i, j] += fabs(C[i, k]) * B[k, j]
)"),
                                   "i"),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
