// Recurrences of a few rows written out, against the interpreter.
#include "core/library/short_recurrences.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

ProcPtr parsed(const std::string& text) { return parse_module(text, "rows.exo").procs.at(0); }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// p(b, A: f64[b + 9, b + 9]) on a matrix of small integers.
std::vector<double> result(const ProcPtr& p, int64_t b) {
  Buffer a(ScalarType::kF64, {b + 9, b + 9});
  for (size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<double>(k * 7 % 5) - 2;
  run(*p, {b, &a});
  return a.data;
}

// A corner of `rows` rows whose first one and whose loops begin anywhere.
std::string corner(int rows, const std::string& begin, const std::string& lo) {
  return "@proc\ndef corner(b: size, A: f64[b + 9, b + 9]):\n    for i in seq(" + begin + ", " +
         begin + " + " + std::to_string(rows) + "):\n        for j in seq(" + lo +
         ", i):\n            for k in seq(" + lo +
         ", j):\n                A[i, j] += -A[i, k] * A[j, k]\n            A[i, j] = A[i, j] * "
         "A[j, j]\n        A[i, i] = A[i, i] + A[i, 0]\n";
}

TEST(UnrollNest, leaves_no_loop_of_a_corner_wherever_it_begins) {
  for (const std::string begin : {"0", "3", "b", "b + 2"})
    for (const int rows : {1, 2, 3, 5}) {
      const ProcPtr p = parsed(corner(rows, begin, begin)), q = unroll_nest(p, "i");
      const std::string text = str(*q);
      EXPECT_EQ(count(text, "for "), 0) << text;
      EXPECT_EQ(count(text, "pass"), 0) << text;
      // What of it is done in a row: products of two earlier elements, and two more statements.
      EXPECT_EQ(count(text, " += "), rows * (rows - 1) * (rows - 2) / 6) << text;
      for (const int64_t b : {1, 2, 4}) EXPECT_EQ(result(p, b), result(q, b)) << text;
    }
}

TEST(UnrollNest, keeps_loops_whose_length_is_not_known_and_loops_it_is_told_to_keep) {
  // Columns before the corner: as many as there are rows before it.
  const ProcPtr p = parsed(corner(3, "b", "0")), q = unroll_nest(p, "i");
  EXPECT_EQ(count(str(*q), "for j in seq(0, b"), 3) << str(*q);
  EXPECT_EQ(result(p, 3), result(q, 3)) << str(*q);
  const ProcPtr kept = unroll_nest(parsed(corner(3, "b", "b")), "i", "k");
  EXPECT_EQ(count(str(*kept), "for j"), 0) << str(*kept);
  EXPECT_EQ(count(str(*kept), "for k"), 3) << str(*kept);
}

TEST(UnrollNest, looks_into_conditions) {
  const ProcPtr p = parsed(R"(
@proc
def guarded(b: size, A: f64[b + 9, b + 9]):
    for i in seq(0, 3):
        if i < b:
            for j in seq(b, b + i):
                A[i, j] = 1.0
        else:
            for j in seq(0, 2):
                A[i, j] = 2.0
)"),
                q = unroll_nest(p, "i");
  EXPECT_EQ(count(str(*q), "for "), 0) << str(*q);
  for (const int64_t b : {1, 2, 3}) EXPECT_EQ(result(p, b), result(q, b)) << str(*q);
}

TEST(UnrollNest, refuses_what_has_no_known_length_or_is_long) {
  EXPECT_THROW((void)unroll_nest(parsed(R"(
@proc
def f(n: size, A: f64[n]):
    for i in seq(0, n):
        A[i] = 0.0
)"),
                                 "i"),
               SchedulingError);
  EXPECT_THROW((void)unroll_nest(parsed(R"(
@proc
def f(a: f64):
    for i in seq(0, 6917529027641081856):
        a = 1.0
        a = 2.0
)"),
                                 "i"),
               SchedulingError);
  EXPECT_THROW((void)unroll_nest(parsed(R"(
@proc
def f(A: f64[80, 80]):
    for i in seq(0, 80):
        for j in seq(0, 80):
            A[i, j] = 0.0
)"),
                                 "i"),
               SchedulingError);
}

// Columns [b, b + columns) of a panel, from those before them and from the triangle L.
std::string panel(int columns, int rows, const std::string& begin) {
  const std::string r = std::to_string(rows);
  return kSubtracting + R"(
@instr("times")
def times(dst: [f32][4] @ V4, a: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    for i in seq(0, 4):
        dst[i] = dst[i] * a[i]

@proc
def panel(b: size, L: f32[b + 8, b + 8], P: f32[b + 8, )" +
         r + "]):\n    for j in seq(0, " + std::to_string(columns) +
         "):\n        for i in seq(0, " + r + "):\n            for k in seq(" + begin + ", j + " +
         begin + "):\n                P[j + " + begin + ", i] += -P[k, i] * L[j + " + begin +
         ", k]\n            P[j + " + begin + ", i] = P[j + " + begin + ", i] * L[j + " + begin +
         ", j + " + begin + "]\n";
}

std::vector<double> panel_result(const ProcPtr& p, int64_t b, int64_t rows) {
  Buffer l(ScalarType::kF32, {b + 8, b + 8}), x(ScalarType::kF32, {b + 8, rows});
  for (size_t k = 0; k < l.data.size(); ++k) l.data[k] = static_cast<double>(k * 7 % 5) - 2;
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 5 % 3) - 1;
  run(*p, {b, &l, &x});
  return x.data;
}

TEST(SolveInRegisters, keeps_a_panels_columns_in_vectors) {
  for (const std::string begin : {"0", "2", "b"})
    for (const int columns : {1, 2, 4})
      for (const int rows : {4, 8}) {
        const FourLanes machine(panel(columns, rows, begin));
        const ProcPtr p = machine.find("panel"), q = solve_in_registers(p, "j", "i", machine.unit);
        const std::string text = str(*q);
        EXPECT_EQ(count(text, "for "), 0) << text;
        const int vectors = rows / 4;
        EXPECT_EQ(count(text, "    load("), columns * vectors) << text;
        EXPECT_EQ(count(text, "    store("), columns * vectors) << text;
        EXPECT_EQ(count(text, "    subtract("), columns * (columns - 1) / 2 * vectors) << text;
        EXPECT_EQ(count(text, "    times("), columns * vectors) << text;
        for (const int64_t b : {1, 3})
          EXPECT_EQ(panel_result(p, b, rows), panel_result(q, b, rows)) << text;
      }
}

TEST(SolveInRegisters, takes_systems_in_lanes_whose_steps_stand_anywhere) {
  const FourLanes machine(panel(1, 4, "0") + R"(
@proc
def systems(b: size, L: f32[b + 8, b + 8], A: f32[b + 8, 5, 4]):
    for k in seq(0, 5):
        for i in seq(k + 1, 5):
            for g in seq(0, 4):
                A[b, i, g] = A[b, i, g] * A[b, k, g]
            for j in seq(k + 1, i):
                for g in seq(0, 4):
                    A[b, i, g] += -A[b, k, g] * A[b, j, g]
)");
  const ProcPtr p = machine.find("systems"), q = solve_in_registers(p, "k", "g", machine.unit);
  const std::string text = str(*q);
  EXPECT_EQ(count(text, "for "), 0) << text;
  EXPECT_EQ(count(text, "    times("), 10) << text;
  EXPECT_EQ(count(text, "    subtract("), 10) << text;
  const auto after = [](const ProcPtr& r) {
    Buffer l(ScalarType::kF32, {10, 10}), x(ScalarType::kF32, {10, 5, 4});
    l.data.assign(l.data.size(), 1);
    for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 5 % 3) - 1;
    run(*r, {2, &l, &x});
    return x.data;
  };
  EXPECT_EQ(after(p), after(q)) << text;
}

TEST(SolveInRegisters, refuses_rows_that_are_no_whole_vectors_and_several_arrays) {
  const FourLanes odd(panel(2, 6, "b"));
  EXPECT_THROW((void)solve_in_registers(odd.find("panel"), "j", "i", odd.unit), SchedulingError);
  const FourLanes two(kSubtracting + R"(
@proc
def both(P: f32[4, 4], Q: f32[4, 4]):
    for j in seq(0, 4):
        for i in seq(0, 4):
            P[j, i] += -Q[j, i] * P[0, i]
            Q[j, i] += -P[j, i] * Q[0, i]
)");
  EXPECT_THROW((void)solve_in_registers(two.find("both"), "j", "i", two.unit), SchedulingError);
  // No instruction of the unit divides.
  std::string divides = panel(2, 4, "b");
  divides.replace(divides.rfind("* L"), 1, "/");
  const FourLanes machine(divides);
  EXPECT_THROW((void)solve_in_registers(machine.find("panel"), "j", "i", machine.unit),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
