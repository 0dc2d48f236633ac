// Closures in blocks of steps, against the interpreter.
#include "core/library/closures.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "closure.exo").procs.at(0); }

ProcPtr paths(int64_t n) {
  return partial_eval(parsed(R"(
@proc
def paths(N: size, x: f64[N, N]):
    for k in seq(0, N):
        for i in seq(0, N):
            for j in seq(0, N):
                x[i, j] min= x[i, k] + x[k, j]
)"),
                      {{"N", n}});
}

// Distances below zero too, cycles of less than nothing among them: only the order of reads and
// writes may be relied on.
std::vector<double> result(const ProcPtr& p, int64_t n) {
  Buffer x(ScalarType::kF64, {n, n});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11) - 3.0;
  run(*p, {&x});
  return x.data;
}

TEST(BlockClosure, is_the_same_for_whatever_data) {
  for (const int64_t n : {6, 8, 9})
    for (const int64_t block : {2, 3, 4}) {
      const ProcPtr p = paths(n), q = block_closure(p, "k", block);
      EXPECT_EQ(result(p, n), result(q, n)) << n << " in blocks of " << block << "\n" << str(*q);
    }
}

TEST(BlockClosure, leaves_products_of_what_was_kept) {
  const std::string text = str(*block_closure(paths(12), "k", 4));
  EXPECT_NE(text.find("x[i, j] min= x_column1[k, i] + x_row1[k, j]"), std::string::npos) << text;
  EXPECT_NE(text.find("x[i, j] min= x_column4[k, i] + x_row4[k, j]"), std::string::npos) << text;
  EXPECT_NE(text.find("x_columns[j - 4 * kb, i] min= "), std::string::npos) << text;
}

TEST(BlockClosure, takes_any_operation_on_the_row_and_the_column) {
  const ProcPtr p = parsed(R"(
@proc
def eliminate(x: f64[6, 6]):
    for k in seq(0, 6):
        for i in seq(0, 6):
            for j in seq(0, 6):
                x[i, j] = x[i, j] * 0.5 + x[i, k] * x[k, j]
)");
  EXPECT_EQ(result(p, 6), result(block_closure(p, "k", 3), 6));
}

TEST(BlockClosure, refuses_other_forms) {
  // The element behind the row's end of the block belongs to nobody that is kept.
  EXPECT_THROW((void)block_closure(parsed(R"(
@proc
def sweep(x: f64[8, 8]):
    for k in seq(0, 8):
        for i in seq(1, 7):
            for j in seq(1, 7):
                x[i, j] = x[i - 1, j] + x[i, j + 1]
)"),
                                   "k", 4),
               SchedulingError);
  EXPECT_THROW((void)block_closure(parsed(R"(
@proc
def half(x: f64[8, 8]):
    for k in seq(0, 8):
        for i in seq(0, 8):
            for j in seq(0, i):
                x[i, j] min= x[i, k] + x[k, j]
)"),
                                   "k", 4),
               SchedulingError);
  EXPECT_THROW((void)block_closure(paths(8), "i", 4), SchedulingError);
  EXPECT_THROW((void)block_closure(paths(8), "k", 0), SchedulingError);
}

}  // namespace
}  // namespace exotune
