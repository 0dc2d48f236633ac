#include "core/base/deadline.h"
#include "tests/core/interp/fixture.h"

namespace exotune {
namespace {

constexpr const char* kShift = R"(
@proc
def f(n: size, o: index, x: f32[n]):
    for i in seq(0, n):
        x[i + o] = 1.0
)";

TEST(InterpErrors, an_index_outside_is_reported_with_place_and_iterators) {
  const ProcPtr p = proc_of(kShift);
  Buffer x(ScalarType::kF32, {4});
  try {
    run(*p, {int64_t{4}, int64_t{2}, &x});
    FAIL() << "ran out of bounds";
  } catch (const InterpError& e) {
    EXPECT_EQ(e.kind(), InterpError::Kind::kOutOfBounds);
    const std::string text = e.what();
    EXPECT_NE(text.find("test.exo:5:"), std::string::npos) << text;
    EXPECT_NE(text.find("index 4 of dimension 0 of `x` is not in [0, 4)"), std::string::npos)
        << text;
    EXPECT_NE(text.find("with i = 2"), std::string::npos) << text;
  }
  EXPECT_EQ(x.data[3], 1);  // what came before stays
}

TEST(InterpErrors, a_negative_index_is_outside) {
  const ProcPtr p = proc_of(kShift);
  Buffer x(ScalarType::kF32, {4});
  EXPECT_EQ(error_of(*p, {int64_t{4}, int64_t{-1}, &x}), InterpError::Kind::kOutOfBounds);
}

TEST(InterpErrors, each_dimension_is_checked_though_the_address_stays_inside) {
  const ProcPtr p = proc_of(R"(
@proc
def f(j: index, x: f32[4, 4]):
    x[0, j] = 1.0
)");
  Buffer x(ScalarType::kF32, {4, 4});
  EXPECT_EQ(error_of(*p, {int64_t{4}, &x}), InterpError::Kind::kOutOfBounds);
}

TEST(InterpErrors, a_window_must_lie_inside_its_tensor) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: index, x: f32[4]):
    w = x[0:n]
)");
  Buffer x(ScalarType::kF32, {4});
  EXPECT_EQ(error_of(*p, {int64_t{5}, &x}), InterpError::Kind::kOutOfBounds);
  EXPECT_EQ(error_of(*p, {int64_t{4}, &x}), std::nullopt);
}

TEST(InterpErrors, an_access_outside_its_window_is_outside_though_inside_the_tensor) {
  const ProcPtr p = proc_of(R"(
@proc
def f(i: index, x: f32[8]):
    w = x[2:4]
    w[i] = 1.0
)");
  Buffer x(ScalarType::kF32, {8});
  EXPECT_EQ(error_of(*p, {int64_t{2}, &x}), InterpError::Kind::kOutOfBounds);
}

TEST(InterpErrors, asserts_are_checked_at_entry_and_at_calls) {
  const ProcPtr p = proc_of(R"(
@proc
def g(n: size):
    assert n % 4 == 0
    pass

@proc
def f(n: size):
    assert n > 2
    g(n)
)");
  EXPECT_EQ(error_of(*p, {int64_t{2}}), InterpError::Kind::kAssert);
  EXPECT_EQ(error_of(*p, {int64_t{6}}), InterpError::Kind::kAssert);
  EXPECT_EQ(error_of(*p, {int64_t{8}}), std::nullopt);
}

TEST(InterpErrors, sizes_are_positive) {
  const ProcPtr p = proc_of(R"(
@proc
def g(n: size):
    pass

@proc
def f(n: size, m: index):
    for i in seq(0, m):
        g(n - i)
)");
  EXPECT_EQ(error_of(*p, {int64_t{0}, int64_t{0}}), InterpError::Kind::kSize);
  EXPECT_EQ(error_of(*p, {int64_t{3}, int64_t{4}}), InterpError::Kind::kSize);
  EXPECT_EQ(error_of(*p, {int64_t{3}, int64_t{3}}), std::nullopt);
}

TEST(InterpErrors, code_that_does_not_run_raises_nothing) {
  const ProcPtr p = proc_of(R"(
@proc
def g(n: size):
    assert n > 100
    pass

@proc
def f(n: size, x: f32[n]):
    if n > 1000:
        g(1)
        x[n] = 0.0
)");
  Buffer x(ScalarType::kF32, {3});
  EXPECT_EQ(error_of(*p, {int64_t{3}, &x}), std::nullopt);
}

TEST(InterpErrors, an_allocation_needs_positive_extents) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: index):
    t: f32[n]
)");
  EXPECT_EQ(error_of(*p, {int64_t{0}}), InterpError::Kind::kSize);
}

TEST(InterpErrors, poison_may_be_copied_along_instead) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[8], y: f32[8]):
    for i in seq(0, 8):
        y[i] = x[i] + 1.0
)");
  Buffer x(ScalarType::kF32, {8}), y(ScalarType::kF32, {8});
  for (int64_t i : {0, 1, 2, 4, 5, 6, 7}) x.at({i}) = static_cast<double>(i);
  EXPECT_EQ(error_of(*p, {&x, &y}), InterpError::Kind::kPoison);
  InterpOptions options;
  options.poison = PoisonPolicy::kPropagate;
  run(*p, {&x, &y}, options);
  for (int64_t i = 0; i < 8; ++i) {
    if (i == 3)
      EXPECT_TRUE(is_poison(y.at({i})));
    else
      EXPECT_EQ(y.at({i}), static_cast<double>(i + 1));
  }
}

TEST(InterpErrors, select_needs_only_the_side_it_takes) {
  const ProcPtr p = proc_of(R"(
@proc
def f(a: f32, b: f32, out: f32):
    out = select(a, 0.0, b, a)
)");
  Buffer a = Buffer::scalar(ScalarType::kF32, 1), b(ScalarType::kF32, {}),
         out(ScalarType::kF32, {});
  EXPECT_EQ(error_of(*p, {&a, &b, &out}), std::nullopt);
  a.data[0] = -1;
  EXPECT_EQ(error_of(*p, {&a, &b, &out}), InterpError::Kind::kPoison);
}

TEST(InterpErrors, integer_division_by_zero) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: i32[8], y: i32[8]):
    for i in seq(0, 8):
        x[i] = x[i] / y[i]
)");
  Buffer x(ScalarType::kI32, {8}, std::vector<double>(8, 6)),
      y(ScalarType::kI32, {8}, {1, 2, 3, 1, 2, 3, 0, 1});
  EXPECT_EQ(error_of(*p, {&x, &y}), InterpError::Kind::kDivision);
  EXPECT_EQ(x.data[1], 3);
}

TEST(InterpErrors, the_step_limit_ends_a_long_run) {
  const ProcPtr p = proc_of(kShift);
  Buffer x(ScalarType::kF32, {1000});
  InterpOptions options;
  options.step_limit = 100;
  EXPECT_EQ(error_of(*p, {int64_t{1000}, int64_t{0}, &x}, options), InterpError::Kind::kSteps);
  options.step_limit = 2000;
  EXPECT_EQ(error_of(*p, {int64_t{1000}, int64_t{0}, &x}, options), std::nullopt);
}

TEST(InterpErrors, the_threads_deadline_ends_a_long_run) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: size, x: f32[4]):
    for i in seq(0, n):
        for j in seq(0, 2):
            x[j] += 1.0
)");
  Buffer x(ScalarType::kF32, {4}, std::vector<double>(4, 0));
  int asked = 0;
  const DeadlineScope scope(Deadline().or_when([&] { return ++asked == 3; }));
  EXPECT_EQ(error_of(*p, {int64_t{1} << 40, &x}), InterpError::Kind::kSteps);
  EXPECT_EQ(asked, 3);
}

TEST(InterpErrors, arguments_must_fit_their_formals) {
  const ProcPtr p = proc_of(kShift);
  Buffer x(ScalarType::kF32, {4}), wide(ScalarType::kF64, {4}), square(ScalarType::kF32, {2, 2});
  const int64_t n = 4, o = 0;
  EXPECT_EQ(error_of(*p, {n, o}), InterpError::Kind::kArgument);
  EXPECT_EQ(error_of(*p, {n, o, n}), InterpError::Kind::kArgument);
  EXPECT_EQ(error_of(*p, {n, o, &wide}), InterpError::Kind::kArgument);
  EXPECT_EQ(error_of(*p, {n, o, &square}), InterpError::Kind::kArgument);
  EXPECT_EQ(error_of(*p, {int64_t{5}, o, &x}), InterpError::Kind::kArgument);
  EXPECT_EQ(error_of(*p, {n, o, WindowValue{&x, 0, {1}, {4}}}), InterpError::Kind::kArgument);
}

TEST(InterpErrors, a_window_argument_must_stay_in_its_buffer) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: [f32][4]):
    pass
)");
  Buffer x(ScalarType::kF32, {8});
  EXPECT_EQ(error_of(*p, {WindowValue{&x, 0, {2}, {4}}}), std::nullopt);
  EXPECT_EQ(error_of(*p, {WindowValue{&x, 2, {2}, {4}}}), InterpError::Kind::kArgument);
}

}  // namespace
}  // namespace exotune
