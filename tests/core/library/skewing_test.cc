// Rows one behind the other, against the interpreter.
#include "core/library/skewing.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "sweep.exo").procs.at(0); }

constexpr const char* kSweep = R"(
@proc
def sweep(N: size, A: f64[N, 24]):
    assert N >= 3
    for t in seq(0, 2):
        for i in seq(1, N - 1):
            for j in seq(1, 23):
                A[i, j] = A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i + 1, j + 1]
)";

void expect_same(const ProcPtr& p, const ProcPtr& q, int64_t n) {
  const auto result = [n](const ProcPtr& proc) {
    Buffer a(ScalarType::kF64, {n, 24});
    for (size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<double>(k * 7 % 11);
    run(*proc, {n, &a});
    return a.data;
  };
  EXPECT_EQ(result(p), result(q)) << "size " << n << "\n" << str(*q);
}

TEST(JamSkewed, runs_rows_one_behind_the_other) {
  const ProcPtr p = parsed(kSweep);
  for (const int64_t rows : {2, 3, 4}) {
    const ProcPtr q = jam_skewed(p, "i", rows, 2);
    for (const int64_t n : {3, 5, 6, 11}) expect_same(p, q, n);
  }
  const std::string text = str(*jam_skewed(p, "i", 2, 2));
  // Rows count from zero now; the second is two elements behind.
  EXPECT_NE(text.find("for j in seq(3, 23):"), std::string::npos) << text;
  EXPECT_NE(text.find("A[2 * io + 2, j - 2] ="), std::string::npos) << text;
}

TEST(JamSkewed, refuses_a_shift_that_the_dependences_do_not_allow) {
  // Row i reads A[i - 1, j + 1], which the row before must have computed.
  EXPECT_THROW((void)jam_skewed(parsed(kSweep), "i", 2, 0), SchedulingError);
  EXPECT_THROW((void)jam_skewed(parsed(kSweep), "i", 1, 2), SchedulingError);
}

TEST(JamSkewed, refuses_rows_too_short_for_the_shifts_and_bounds_that_move) {
  EXPECT_THROW((void)jam_skewed(parsed(kSweep), "i", 16, 2), SchedulingError);
  EXPECT_THROW((void)jam_skewed(parsed(kSweep), "i", 4, int64_t{1} << 62), SchedulingError);
  EXPECT_THROW((void)jam_skewed(parsed(R"(
@proc
def half(N: size, A: f64[N, N]):
    for i in seq(0, N):
        for j in seq(0, i):
            A[i, j] = A[i, j] + 1.0
)"),
                                "i", 2, 1),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
