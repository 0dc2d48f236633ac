// What a loop keeps of the iteration before in scalars, as rows: what is left is vectors.
#include "search/moves/carried_scalars.h"

#include <gtest/gtest.h>

#include "core/ir/printer.h"
#include "search/moves/chains.h"
#include "search/moves/distribution.h"
#include "tests/search/move_nests.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

constexpr NearestCaches kCache = {1 << 20, 0, 0, 64};

std::optional<Schedule> rows_of(const ProcPtr& p) { return carried_in_rows({p, {}, false}); }

// The diagonal of a dynamic program that keeps one row: its values are the row's old ones.
TEST(CarriedScalars, the_diagonal_of_one_row) {
  const ProcPtr p = parsed(R"(
@proc
def distance(p: f32[5], q: f32[9], row: f32[10]):
    for i in seq(0, 5):
        diagonal: f32
        diagonal = row[0]
        row[0] = row[0] + 1.0
        for j in seq(0, 9):
            old: f32
            old = row[j + 1]
            row[j + 1] = fmin(fmin(row[j], old) + 1.0, diagonal + fabs(p[i] - q[j]))
            diagonal = old
)");
  const std::optional<Schedule> rows = rows_of(p);
  ASSERT_TRUE(rows);
  EXPECT_NE(str(*rows->proc).find("diagonal_row[j + 1] = row[j + 1]"), std::string::npos)
      << str(*rows->proc);
  expect_same_result(p, rows->proc, str(*rows->proc));
  // What is left is a chain of a sum and a minimum, the rest ahead of it.
  const std::optional<Schedule> apart = chains_apart(*rows, kCache, 1);
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart->reassociated);
  expect_same_result(p, apart->proc, str(*apart->proc));
}

// Two at once in a loop from 1; the value of one is a name for what is overwritten.
TEST(CarriedScalars, two_states_of_a_profile) {
  const ProcPtr p = parsed(R"(
@proc
def states(e: i16[4, 8], ins: i16[9], dele: i16[9], mat: i16[5, 9]):
    for i in seq(1, 5):
        diagi: i16
        diagi = ins[0]
        diagd: i16
        diagd = dele[0]
        for k in seq(1, 9):
            oldi: i16
            oldi = ins[k]
            oldd: i16
            oldd = dele[k]
            ins[k] = fmax(mat[i - 1, k] + 1, oldi + 2)
            mat[i, k] = fmax(mat[i - 1, k - 1], fmax(diagi, diagd)) + e[i - 1, k - 1]
            dele[k] = fmax(mat[i, k - 1] + 3, dele[k - 1] + 4)
            diagi = oldi
            diagd = oldd
)");
  const std::optional<Schedule> rows = rows_of(p);
  ASSERT_TRUE(rows);
  const std::string text = str(*rows->proc);
  EXPECT_NE(text.find("diagi_row"), std::string::npos) << text;
  EXPECT_NE(text.find("diagd_row"), std::string::npos) << text;
  expect_same_result(p, rows->proc, text);
  const Schedule apart = distribute(*rows, true);
  expect_same_result(p, apart.proc, str(*apart.proc));
}

TEST(CarriedScalars, differences_with_the_sample_before) {
  const ProcPtr p = parsed(R"(
@proc
def differences(x: f32[12], y: f32[12], last: f32):
    for i in seq(0, 12):
        y[i] = x[i] - last
        last = x[i]
)");
  const std::optional<Schedule> rows = rows_of(p);
  ASSERT_TRUE(rows);
  EXPECT_NE(str(*rows->proc).find("last = last_row[12]"), std::string::npos) << str(*rows->proc);
  expect_same_result(p, rows->proc, str(*rows->proc));
}

// A value that needs itself is a chain: a row of it would help nobody. What is assigned before it
// is read is no carried value, and neither is what only some iterations assign.
TEST(CarriedScalars, chains_and_locals_stay) {
  const char* const bodies[] = {"        y[i] = a\n        a = 0.5 * a + x[i]\n",
                                "        a = x[i]\n        y[i] = a\n",
                                "        y[i] = a\n        if i > 3:\n            a = x[i]\n",
                                "        y[i] = a\n        a = y[i] + x[i]\n"};
  for (const char* body : bodies) {
    const ProcPtr p = parsed(std::string("@proc\ndef f(x: f32[12], y: f32[12]):\n    a: f32\n"
                                         "    a = 0.0\n    for i in seq(0, 12):\n") +
                             body);
    EXPECT_FALSE(rows_of(p)) << str(*p);
  }
}

}  // namespace
}  // namespace exotune
