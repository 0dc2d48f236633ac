#include <cmath>

#include "tests/core/interp/fixture.h"

namespace exotune {
namespace {

constexpr const char* kProc = R"(
@proc
def f(m: size, n: size, A: f32[m, n + 1], u: ui8[n], w: [f32][m, n], d: [f32][n]):
    assert stride(d, 0) == 1
    pass
)";

TEST(Arguments, shapes_follow_the_control_values) {
  const ProcPtr p = proc_of(kProc);
  const Arguments a = make_arguments(*p, {{"m", 2}, {"n", 3}}, 1);
  ASSERT_EQ(a.buffers.size(), 4u);
  EXPECT_EQ(a.buffers[0]->shape, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(a.buffers[1]->shape, (std::vector<int64_t>{3}));
  run(*p, a.values);
}

TEST(Arguments, windows_stand_as_asserts_say) {
  const ProcPtr p = proc_of(R"(
@proc
def f(m: size, n: size, A: [f32][m, n], B: [f32][m, n]):
    assert stride(A, 0) == 1
    assert stride(B, 0) == n + 4
    for i in seq(0, m):
        for j in seq(0, n):
            A[i, j] += B[i, j]
)");
  for (const bool strided : {false, true}) {
    const Arguments a = make_arguments(*p, {{"m", 3}, {"n", 5}}, 1, {.strided_windows = strided});
    EXPECT_EQ(std::get<WindowValue>(a.values[2]).strides, (std::vector<int64_t>{1, 3}));
    EXPECT_EQ(std::get<WindowValue>(a.values[3]).strides, (std::vector<int64_t>{9, 1}));
    run(*p, a.values);  // whose first steps are the asserts
  }
}

TEST(Arguments, values_are_small_integers_and_depend_on_the_seed_only) {
  const ProcPtr p = proc_of(kProc);
  const Arguments a = make_arguments(*p, {{"m", 5}, {"n", 9}}, 7),
                  b = make_arguments(*p, {{"m", 5}, {"n", 9}}, 7),
                  c = make_arguments(*p, {{"m", 5}, {"n", 9}}, 8);
  EXPECT_EQ(first_difference(a, b), "");
  EXPECT_NE(first_difference(a, c), "");
  for (double v : a.buffers[0]->data) EXPECT_TRUE(std::fabs(v) <= 3 && v == std::floor(v));
  for (double v : a.buffers[1]->data) EXPECT_TRUE(v >= 0 && v <= 3);
}

TEST(Arguments, strided_windows_leave_asserted_strides_alone) {
  const ProcPtr p = proc_of(kProc);
  FillOptions options;
  options.strided_windows = true;
  const Arguments a = make_arguments(*p, {{"m", 2}, {"n", 3}}, 1, options);
  EXPECT_TRUE(std::holds_alternative<WindowValue>(a.values[4]));
  EXPECT_TRUE(std::holds_alternative<Buffer*>(a.values[5]));
  run(*p, a.values);
}

TEST(Arguments, a_copy_has_storage_of_its_own) {
  const ProcPtr p = proc_of(kProc);
  FillOptions options;
  options.strided_windows = true;
  const Arguments a = make_arguments(*p, {{"m", 2}, {"n", 3}}, 1, options);
  Arguments b = copy_of(a);
  b.buffers[2]->data[0] += 1;
  EXPECT_NE(first_difference(a, b), "");
  EXPECT_EQ(std::get<WindowValue>(b.values[4]).buffer, b.buffers[2].get());
}

TEST(Arguments, a_missing_control_value_is_an_error) {
  const ProcPtr p = proc_of(kProc);
  EXPECT_THROW(make_arguments(*p, {{"m", 2}}, 1), InterpError);
}

TEST(Buffers, differences_name_the_element) {
  const Buffer a = f32({2, 2}, {1, 2, 3, 4}), b = f32({2, 2}, {1, 2, 3, 5});
  EXPECT_NE(first_difference(a, b).find("[1, 1]"), std::string::npos);
  EXPECT_EQ(first_difference(a, b, 0.5), "");
}

TEST(Buffers, poison_equals_poison_and_nothing_else) {
  const Buffer a(ScalarType::kF32, {1}), b(ScalarType::kF32, {1});
  EXPECT_EQ(first_difference(a, b), "");
  EXPECT_NE(first_difference(a, f32({1}, {NAN})), "");
  EXPECT_FALSE(is_poison(NAN));
}

TEST(Buffers, values_are_rounded_to_their_type) {
  EXPECT_EQ(round_to(ScalarType::kF16, 1.0 / 3), 0.333251953125);
  EXPECT_EQ(round_to(ScalarType::kBf16, 1.0 / 3), 0.333984375);
  EXPECT_EQ(round_to(ScalarType::kF16, 5.9604644775390625e-08),
            5.9604644775390625e-08);  // smallest subnormal
  EXPECT_EQ(round_to(ScalarType::kF16, 65519), 65504);
  EXPECT_EQ(round_to(ScalarType::kI8, 130), -126);
  EXPECT_EQ(round_to(ScalarType::kUi16, -1), 65535);
}

}  // namespace
}  // namespace exotune
