// Rows asked for further on: the text that prefetch_rows makes, and what it leaves alone.
#include "core/library/row_hints.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/prefetching.h"
#include "tests/core/library/four_lanes.h"
#include "tests/said.h"

namespace exotune {
namespace {

constexpr const char* kRows = R"(
@proc
def rows(M: size, N: size, A: f32[M, N], B: f32[N, M], y: f32[M], c: f32[N, 2]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i] += A[i, j] * B[j, i]
            y[i] += A[i, j] * c[j, 0]
)";

ProcPtr parsed(const std::string& text) {
  return parse_module(std::string(kFourLanes) + text, "rows.exo").procs.back();
}
std::string asked(const std::string& text, const std::string& buffer, int64_t lines = 8) {
  return str(*prefetch_rows(parsed(text), buffer, lines));
}
int times(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// A second read of the line asks for nothing: the first one did. B goes along columns.
TEST(PrefetchRows, asks_once_behind_the_statement_for_a_line_of_the_same_row) {
  const std::string text = asked(kRows, "A");
  EXPECT_EQ(times(text, "prefetch_3_f32(A[i, j + 128])"), 1) << text;
  EXPECT_EQ(times(text, "if j + 128 < N"), 1) << text;
  EXPECT_LT(text.find("B[j, i]"), text.find("prefetch_3_f32")) << text;
  EXPECT_GT(text.find("c[j, 0]"), text.find("prefetch_3_f32")) << text;
  EXPECT_NE(asked(kRows, "A", 2).find("A[i, j + 32]"), std::string::npos);
  EXPECT_EQ(asked(kRows, ""), text) << "every argument: the others have no rows here";
}

TEST(PrefetchRows, asks_for_each_line_of_what_is_read_at_once) {
  constexpr const char* kVectors = R"(
@proc
def vectors(A: f32[4, 4096], y: f32[4096]):
    for i in seq(0, 4):
        for jo in seq(0, 128):
            for jv in seq(0, 8):
                v: f32[4] @ V4
                load(v[0:4], A[i, 32 * jo + 4 * jv:32 * jo + 4 * jv + 4])
                store(y[32 * jo + 4 * jv:32 * jo + 4 * jv + 4], v[0:4])
        for k in seq(0, 100):
            v: f32[4] @ V4
            load(v[0:4], A[i, 40 * k:40 * k + 4])
            load(v[0:4], A[i, 40 * k + 8:40 * k + 12])
            load(v[0:4], A[i, 40 * k + 32:40 * k + 36])
            store(y[40 * k:40 * k + 4], v[0:4])
)";
  const std::string text = asked(kVectors, "A");
  EXPECT_EQ(times(text, "prefetch_3_f32(A[i, 32 * jo + 4 * jv + 128])"), 1) << text;
  EXPECT_EQ(times(text, "prefetch_3_f32(A[i, 40 * k"), 2) << text;
}

TEST(PrefetchRows, leaves_out_what_lies_behind_the_end_whatever_the_sizes) {
  constexpr const char* kShort = R"(
@proc
def short(A: f32[8, 128], y: f32[8]):
    for i in seq(0, 8):
        for j in seq(0, 128):
            y[i] += A[i, j]
)";
  EXPECT_THROW((void)prefetch_rows(parsed(kShort), "A"), SchedulingError);
  EXPECT_NE(asked(kShort, "A", 7).find("if j + 112 < 128"), std::string::npos);
}

TEST(PrefetchRows, refuses_where_no_loop_goes_along_rows) {
  const auto refused = [](const char* buffer, int64_t lines) {
    return said_by([&] { (void)prefetch_rows(parsed(kRows), buffer, lines); });
  };
  EXPECT_NE(refused("B", 8).find("no loop goes along rows of `B`"), std::string::npos);
  EXPECT_NE(refused("c", 8).find("no loop goes along rows of `c`"), std::string::npos);
  EXPECT_NE(refused("nothing", 8).find("there is no buffer `nothing`"), std::string::npos);
  for (const int64_t lines : {int64_t{0}, int64_t{-5}, int64_t{1} << 21, int64_t{1} << 62})
    EXPECT_NE(refused("A", lines).find("at least 1 line"), std::string::npos) << lines;
}

TEST(PrefetchRows, means_nothing_to_the_result) {
  const ProcPtr before = parsed(kRows), after = prefetch_rows(before, "A", 1);
  const auto result = [](const ProcPtr& p) {
    Buffer A(ScalarType::kF32, {3, 40}), B(ScalarType::kF32, {40, 3}), y(ScalarType::kF32, {3}),
        c(ScalarType::kF32, {40, 2});
    for (Buffer* b : {&A, &B, &c, &y})
      for (size_t k = 0; k < b->data.size(); ++k) b->data[k] = static_cast<double>(k * 7 % 11);
    run(*p, {int64_t{3}, int64_t{40}, &A, &B, &y, &c});
    return y.data;
  };
  EXPECT_EQ(result(before), result(after));
}

constexpr const char* kNormalized = R"(
@proc
def normalized(x: f32[5, 64], y: f32[5, 64]):
    for i in seq(0, 5):
        s: f32
        s = 0.0
        for j in seq(0, 64):
            s += x[i, j]
        for k in seq(0, 16):
            y[i, k] = 0.0
        for j in seq(0, 32):
            s += x[i, 2 * j]
        for j in seq(0, 64):
            y[i, j] = x[i, j] / s
)";

TEST(PrefetchNextRows, are_asked_for_in_the_passes_behind_the_first) {
  const ProcPtr before = parsed(kNormalized), after = prefetch_next_rows(before, "x");
  const std::string text = str(*after);
  // Four lines: one in the second pass over x, the others in the third, which is twice as long.
  EXPECT_EQ(times(text, "prefetch_3_f32("), 2) << text;
  EXPECT_EQ(times(text, "prefetch_3_f32(x[i + 1, "), 2) << text;
  EXPECT_EQ(times(text.substr(0, text.find("for k in")), "prefetch"), 0) << text;
  const auto result = [](const ProcPtr& p) {
    Buffer x(ScalarType::kF32, {5, 64}), y(ScalarType::kF32, {5, 64});
    for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
    run(*p, {&x, &y});
    return y.data;
  };
  EXPECT_EQ(result(before), result(after));
}

constexpr const char* kVectors = R"(
@proc
def vectors(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        y[i] = 2.0 * x[i]
)";

TEST(PrefetchRows, asks_for_vectors_where_one_dimension_is_enough) {
  EXPECT_THROW((void)prefetch_rows(parsed(kVectors), ""), SchedulingError);
  const ProcPtr before = parsed(kVectors), after = prefetch_rows(before, "", 32, 1);
  const std::string text = str(*after);
  EXPECT_EQ(times(text, "prefetch_3_f32(x[i + 512]"), 1) << text;
  EXPECT_EQ(times(text, "prefetch_3_f32(y[i + 512]"), 1) << text;
  EXPECT_THROW((void)prefetch_rows(before, "", 32, 0), SchedulingError);
}

constexpr const char* kTurned = R"(
@instr("turn")
def turn(dst: [f32][4, 4] @ DRAM, src: [f32][4, 4] @ DRAM):
    assert stride(dst, 1) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i, j] = src[j, i]

@proc
def turned(x: f32[12, 8], y: f32[8, 12], z: f32[8, 12]):
    for j in seq(0, 2):
        for i in seq(0, 3):
            turn(y[4 * j:4 * j + 4, 4 * i:4 * i + 4], x[4 * i:4 * i + 4, 4 * j:4 * j + 4])
    for j in seq(0, 8):
        for i in seq(0, 12):
            z[j, i] = x[i, j]
)";

// Of several rows at once, and of what is only written.
TEST(PrefetchResults, asks_for_the_rows_of_later_tiles) {
  const ProcPtr before = parsed(kTurned), after = prefetch_results(before, 2);
  const std::string text = str(*after);
  EXPECT_EQ(times(text, "prefetch_3_f32("), 1) << text;
  EXPECT_EQ(times(text, "prefetch_3_f32(y["), 1) << text;
  EXPECT_NE(text.find("4 * i + 8"), std::string::npos) << text;
  const auto result = [](const ProcPtr& p) {
    Buffer x(ScalarType::kF32, {12, 8}), y(ScalarType::kF32, {8, 12}), z(ScalarType::kF32, {8, 12});
    for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k);
    run(*p, {&x, &y, &z});
    return y.data;
  };
  EXPECT_EQ(result(before), result(after));
}

TEST(PrefetchResults, refuses_where_no_loop_writes_several_rows) {
  EXPECT_THROW((void)prefetch_results(parsed(kRows)), SchedulingError);
  EXPECT_THROW((void)prefetch_results(parsed(kNormalized)), SchedulingError);
  EXPECT_THROW((void)prefetch_results(parsed(kTurned), 0), SchedulingError);
}

TEST(PrefetchNextRows, refuses_where_there_is_one_pass_or_no_time) {
  EXPECT_THROW((void)prefetch_next_rows(parsed(kRows), "A"), SchedulingError);
  EXPECT_NE(said_by([] {
              (void)prefetch_next_rows(parsed(kRows), "nothing");
            }).find("there is no buffer `nothing`"),
            std::string::npos);
  constexpr const char* kLate = R"(
@proc
def late(x: f32[5, 640], y: f32[5]):
    for i in seq(0, 5):
        for j in seq(0, 640):
            y[i] += x[i, j]
        for j in seq(0, 2):
            y[i] += x[i, j]
)";
  EXPECT_THROW((void)prefetch_next_rows(parsed(kLate), "x"), SchedulingError);
}

}  // namespace
}  // namespace exotune
