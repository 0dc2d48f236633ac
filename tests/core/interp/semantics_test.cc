#include <cmath>

#include "tests/core/interp/fixture.h"

namespace exotune {
namespace {

TEST(Interp, multiplies_matrices) {
  const ProcPtr p = proc_of(R"(
@proc
def mm(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            C[i, j] = 0.0
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]
)");
  Buffer a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1}),
         c(ScalarType::kF32, {2, 2});
  run(*p, {int64_t{2}, int64_t{2}, int64_t{3}, &a, &b, &c});
  EXPECT_EQ(c.data, (std::vector<double>{4, 5, 10, 11}));
}

TEST(Interp, floor_division_and_modulo_of_negatives) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: index, hit: f32):
    hit = 0.0
    if x / 3 == -2 and x % 3 == 2:
        hit = 1.0
)");
  Buffer hit(ScalarType::kF32, {});
  run(*p, {int64_t{-4}, &hit});  // -4 = 3 * -2 + 2
  EXPECT_EQ(hit.data[0], 1);
  run(*p, {int64_t{4}, &hit});
  EXPECT_EQ(hit.data[0], 0);
}

TEST(Interp, quotients_and_remainders_of_iterators_are_what_arithmetic_says) {
  // Compiling folds many of these into linear forms by the iterator's range; column 40 + value of
  // row i tells what came out.
  for (int64_t lo : {-9, -8, 0, 3, 8, 12})
    for (int64_t extent : {1, 3, 8, 9})
      for (int64_t coeff : {-3, 1, 4, 6, 8})
        for (int64_t offset : {-5, 0, 8})
          for (int64_t divisor : {1, 3, 8}) {
            const std::string form = std::to_string(coeff) + " * i + " + std::to_string(offset);
            const std::string text =
                "@proc\ndef f(q: i32[9, 300], r: i32[9, 300]):\n    for i in seq(" +
                std::to_string(lo) + ", " + std::to_string(lo + extent) + "):\n        q[i - " +
                std::to_string(lo) + ", (" + form + ") / " + std::to_string(divisor) +
                " + 100] = 1.0\n        r[i - " + std::to_string(lo) + ", (" + form + ") % " +
                std::to_string(divisor) + " + 100] = 1.0\n";
            Buffer q(ScalarType::kI32, {9, 300}), r(ScalarType::kI32, {9, 300});
            run(*proc_of(text), {&q, &r});
            for (int64_t i = lo; i < lo + extent; ++i) {
              const int64_t v = coeff * i + offset;
              const auto quotient = static_cast<int64_t>(
                  std::floor(static_cast<double>(v) / static_cast<double>(divisor)));
              ASSERT_EQ(q.at({i - lo, quotient + 100}), 1) << text << i;
              ASSERT_EQ(r.at({i - lo, v - quotient * divisor + 100}), 1) << text << i;
            }
          }
}

TEST(Interp, split_indices_come_together_again) {
  const ProcPtr p = proc_of(R"(
@proc
def f(q: i32[8, 64], r: i32[8, 64]):
    for io in seq(-4, 4):
        for ii in seq(0, 8):
            q[(8 * io + ii + 32) / 8, 8 * io + ii + 32] = 1.0
            r[(8 * io + ii + 32) % 8, 8 * io + ii + 32] = 2.0
)");
  Buffer q(ScalarType::kI32, {8, 64}), r(ScalarType::kI32, {8, 64});
  run(*p, {&q, &r});
  for (int64_t k = 0; k < 64; ++k) {
    EXPECT_EQ(q.at({k / 8, k}), 1) << k;
    EXPECT_EQ(r.at({k % 8, k}), 2) << k;
  }
}

TEST(Interp, loop_with_hi_not_above_lo_runs_zero_times) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: index, x: f32):
    x = 0.0
    for i in seq(2, n):
        x += 1.0
)");
  for (int64_t n : {-5, 0, 2}) {
    Buffer x(ScalarType::kF32, {});
    run(*p, {n, &x});
    EXPECT_EQ(x.data[0], 0) << n;
  }
  Buffer x(ScalarType::kF32, {});
  run(*p, {int64_t{5}, &x});
  EXPECT_EQ(x.data[0], 3);
}

TEST(Interp, loops_may_run_over_negative_numbers) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[6]):
    for i in seq(-3, 3):
        x[i + 3] = 1.0
)");
  Buffer x(ScalarType::kF32, {6});
  run(*p, {&x});
  EXPECT_EQ(x.data, std::vector<double>(6, 1.0));
}

TEST(Interp, windows_drop_point_dimensions_and_compose) {
  const ProcPtr p = proc_of(R"(
@proc
def f(A: f32[4, 5, 6]):
    w = A[1:4, 2, 0:6]
    v = w[1, 2:5]
    for i in seq(0, 3):
        v[i] = 7.0
)");
  Buffer a(ScalarType::kF32, {4, 5, 6}, std::vector<double>(120, 0));
  run(*p, {&a});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 5; ++j)
      for (int64_t k = 0; k < 6; ++k)
        EXPECT_EQ(a.at({i, j, k}), i == 2 && j == 2 && k >= 2 && k < 5 ? 7 : 0);
}

TEST(Interp, window_of_a_column_has_the_row_length_as_stride) {
  const ProcPtr p = proc_of(R"(
@proc
def g(n: size, x: [f32][n]):
    assert stride(x, 0) == 5
    for i in seq(0, n):
        x[i] = 1.0

@proc
def f(A: f32[3, 5]):
    g(3, A[0:3, 4])
)");
  Buffer a(ScalarType::kF32, {3, 5}, std::vector<double>(15, 0));
  run(*p, {&a});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 5; ++j) EXPECT_EQ(a.at({i, j}), j == 4 ? 1 : 0);
}

TEST(Interp, aliasing_windows_see_each_others_writes_in_order) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[8]):
    a = x[0:7]
    b = x[1:8]
    for i in seq(0, 7):
        b[i] = a[i]
)");
  Buffer x = f32({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  run(*p, {&x});
  EXPECT_EQ(x.data, std::vector<double>(8, 1.0));
}

TEST(Interp, one_buffer_may_be_two_arguments) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: size, x: [f32][n], y: [f32][n]):
    for i in seq(0, n):
        y[i] = x[i] + 1.0
)");
  Buffer m = f32({8}, {0, 0, 0, 0, 0, 0, 0, 0});
  run(*p, {int64_t{7}, WindowValue{&m, 0, {1}, {7}}, WindowValue{&m, 1, {1}, {7}}});
  EXPECT_EQ(m.data, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Interp, max_reduction_keeps_the_larger) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[6], m: f32):
    for i in seq(0, 6):
        m max= x[i]
)");
  Buffer x = f32({6}, {3, -1, 9, 2, 9, 0}), m = Buffer::scalar(ScalarType::kF32, -100);
  run(*p, {&x, &m});
  EXPECT_EQ(m.data[0], 9);
}

TEST(Interp, min_reduction_keeps_the_smaller) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[6], m: f32):
    for i in seq(0, 6):
        m min= x[i]
)");
  Buffer x = f32({6}, {3, -1, 9, 2, 9, 0}), m = Buffer::scalar(ScalarType::kF32, 100);
  run(*p, {&x, &m});
  EXPECT_EQ(m.data[0], -1);
}

TEST(Interp, sizes_and_indices_become_data_rounded_once) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: size, x: f32[2], y: f64, z: i8[3]):
    x[0] = f32(n)
    x[1] = 1.0 / f32(n - 16777212)
    y = f64(n)
    for i in seq(-1, 2):
        z[i + 1] = i8(3 * i)
)");
  Buffer x(ScalarType::kF32, {2}), y(ScalarType::kF64, {}), z(ScalarType::kI8, {3});
  run(*p, {int64_t{16777217}, &x, &y, &z});
  EXPECT_EQ(x.data, (std::vector<double>{16777216, 1.0f / 5.0f}));
  EXPECT_EQ(y.data[0], 16777217);
  EXPECT_EQ(z.data, (std::vector<double>{-3, 0, 3}));
}

TEST(Interp, every_function_is_that_of_the_c_library) {
  for (const auto& [fn, f, g] :
       std::vector<std::tuple<std::string, float (*)(float), double (*)(double)>>{
           {"log", std::log, std::log},
           {"log2", std::log2, std::log2},
           {"log10", std::log10, std::log10},
           {"log1p", std::log1p, std::log1p},
           {"exp2", std::exp2, std::exp2},
           {"expm1", std::expm1, std::expm1},
           {"cbrt", std::cbrt, std::cbrt},
           {"tan", std::tan, std::tan},
           {"asin", std::asin, std::asin},
           {"acos", std::acos, std::acos},
           {"atan", std::atan, std::atan},
           {"sinh", std::sinh, std::sinh},
           {"cosh", std::cosh, std::cosh},
           {"erf", std::erf, std::erf},
           {"floor", std::floor, std::floor},
           {"ceil", std::ceil, std::ceil},
           {"trunc", std::trunc, std::trunc},
           {"round", std::round, std::round}}) {
    const ProcPtr p =
        proc_of("@proc\ndef f(x: f32, y: f64):\n    x = " + fn + "(x)\n    y = " + fn + "(y)\n");
    Buffer x = Buffer::scalar(ScalarType::kF32, 0.625), y = Buffer::scalar(ScalarType::kF64, 0.625);
    run(*p, {&x, &y});
    EXPECT_EQ(x.data[0], f(0.625f)) << fn;
    EXPECT_EQ(y.data[0], g(0.625)) << fn;
  }
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f64[4], y: f64):
    x[0] = pow(y, 3.0)
    x[1] = atan2(y, -2.0)
    x[2] = hypot(y, 2.0)
    x[3] = fmod(y, 1.0)
)");
  Buffer x(ScalarType::kF64, {4}), y = Buffer::scalar(ScalarType::kF64, 1.75);
  run(*p, {&x, &y});
  EXPECT_EQ(x.data, (std::vector<double>{std::pow(1.75, 3), std::atan2(1.75, -2),
                                         std::hypot(1.75, 2), std::fmod(1.75, 1)}));
}

TEST(Interp, externs_compute_in_the_precision_of_their_argument) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32, y: f64, out: f32[11], wide: f64[2]):
    out[0] = sin(x)
    out[1] = exp(x)
    out[2] = sqrt(x)
    out[3] = relu(-x)
    out[4] = sigmoid(x)
    out[5] = fabs(-x)
    out[6] = fmax(x, 2.0)
    out[7] = select(x, 0.75, 5.0, 6.0)
    out[8] = rint(x)
    out[9] = rint(x + 1.0)
    out[10] = rint(-2.75 * x)
    wide[0] = exp(y)
    wide[1] = tanh(y)
)");
  Buffer x = Buffer::scalar(ScalarType::kF32, 0.5), y = Buffer::scalar(ScalarType::kF64, 0.5);
  Buffer out(ScalarType::kF32, {11}), wide(ScalarType::kF64, {2});
  run(*p, {&x, &y, &out, &wide});
  const std::vector<double> want = {std::sin(0.5f),
                                    std::exp(0.5f),
                                    std::sqrt(0.5f),
                                    0,
                                    1.0f / (1.0f + std::exp(-0.5f)),
                                    0.5,
                                    2,
                                    5,
                                    0,
                                    2,
                                    -1};
  EXPECT_EQ(out.data, want);
  EXPECT_EQ(wide.data, (std::vector<double>{std::exp(0.5), std::tanh(0.5)}));
}

TEST(Interp, f32_rounds_after_each_operation_and_exact_mode_does_not) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32, y: f32):
    y = x + 16777216.0 - 16777216.0
)");
  Buffer x = Buffer::scalar(ScalarType::kF32, 1), y(ScalarType::kF32, {});
  run(*p, {&x, &y});
  EXPECT_EQ(y.data[0], 0);  // 2^24 + 1 is no f32
  InterpOptions exact;
  exact.arithmetic = Arithmetic::kExact;
  run(*p, {&x, &y}, exact);
  EXPECT_EQ(y.data[0], 1);
}

TEST(Interp, narrow_floats_are_rounded_when_stored) {
  const ProcPtr p = proc_of(R"(
@proc
def f(h: f16, b: bf16, x: f32):
    h = x
    b = x
)");
  Buffer h(ScalarType::kF16, {}), b(ScalarType::kBf16, {}),
      x = Buffer::scalar(ScalarType::kF32, 2049);
  run(*p, {&h, &b, &x});
  EXPECT_EQ(h.data[0], 2048);  // 11 bits, ties to even
  EXPECT_EQ(b.data[0], 2048);  // 8 bits
  x.data[0] = 70000;
  run(*p, {&h, &b, &x});
  EXPECT_EQ(h.data[0], INFINITY);
  EXPECT_EQ(b.data[0], 70144);
}

TEST(Interp, integer_operations_wrap_around_in_their_type) {
  const ProcPtr p = proc_of(R"(
@proc
def f(a: i8, u: ui8, c: i32, w: i32):
    a = a * a
    u = u + u
    c = c * c
    w = a
)");
  Buffer a = Buffer::scalar(ScalarType::kI8, 100), u = Buffer::scalar(ScalarType::kUi8, 200);
  Buffer c = Buffer::scalar(ScalarType::kI32, 100000), w(ScalarType::kI32, {});
  run(*p, {&a, &u, &c, &w});
  EXPECT_EQ(a.data[0], static_cast<int8_t>(10000));
  EXPECT_EQ(u.data[0], static_cast<uint8_t>(400));
  EXPECT_EQ(c.data[0], static_cast<int32_t>(10000000000LL));
  EXPECT_EQ(w.data[0], a.data[0]);
}

TEST(Interp, integer_data_division_truncates) {
  const ProcPtr p = proc_of(R"(
@proc
def f(a: i32, b: i32):
    a = a / b
)");
  Buffer a = Buffer::scalar(ScalarType::kI32, -7), b = Buffer::scalar(ScalarType::kI32, 2);
  run(*p, {&a, &b});
  EXPECT_EQ(a.data[0], -3);
}

TEST(Interp, assignment_converts_float_to_integer_toward_zero) {
  const ProcPtr p = proc_of(R"(
@proc
def f(a: i8, x: f32):
    a = x
)");
  Buffer a(ScalarType::kI8, {}), x = Buffer::scalar(ScalarType::kF32, -2.75);
  run(*p, {&a, &x});
  EXPECT_EQ(a.data[0], -2);
  x.data[0] = 300;
  run(*p, {&a, &x});
  EXPECT_EQ(a.data[0], 44);
}

constexpr const char* kConfigProc = R"(
@config
class Cfg:
    n: index
    scale: f32

@proc
def f(x: f32[8]):
    for i in seq(0, Cfg.n):
        x[i] = Cfg.scale
    Cfg.n = 5
    Cfg.scale = 0.5
)";

TEST(Interp, config_fields_come_in_and_go_out) {
  const ProcPtr p = proc_of(kConfigProc);
  ConfigState state = {{"Cfg.n", int64_t{3}}, {"Cfg.scale", 2.0}};
  Buffer x(ScalarType::kF32, {8}, std::vector<double>(8, 0));
  InterpOptions options;
  options.config = &state;
  run(*p, {&x}, options);
  EXPECT_EQ(x.data, (std::vector<double>{2, 2, 2, 0, 0, 0, 0, 0}));
  EXPECT_EQ(std::get<int64_t>(state["Cfg.n"]), 5);
  EXPECT_EQ(std::get<double>(state["Cfg.scale"]), 0.5);
}

TEST(Interp, a_config_field_never_written_is_an_error) {
  const ProcPtr p = proc_of(kConfigProc);
  Buffer x(ScalarType::kF32, {8}, std::vector<double>(8, 0));
  EXPECT_EQ(error_of(*p, {&x}), InterpError::Kind::kConfig);
}

TEST(Interp, callees_run_their_bodies_and_instructions_too) {
  const ProcPtr p = proc_of(R"(
@instr("add4({y_data}, {x_data});")
def add4(y: [f32][4], x: [f32][4]):
    for i in seq(0, 4):
        y[i] += x[i]

@proc
def twice(n: size, y: [f32][n], x: [f32][n]):
    assert n % 4 == 0
    for k in seq(0, 2):
        for io in seq(0, n / 4):
            add4(y[4 * io:4 * io + 4], x[4 * io:4 * io + 4])

@proc
def f(y: f32[12], x: f32[12]):
    twice(8, y[2:10], x[4:12])
)");
  Buffer y = f32({12}, std::vector<double>(12, 0)),
         x = f32({12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  run(*p, {&y, &x});
  EXPECT_EQ(y.data, (std::vector<double>{0, 0, 8, 10, 12, 14, 16, 18, 20, 22, 0, 0}));
}

TEST(Interp, a_scalar_formal_takes_an_element_by_reference) {
  const ProcPtr p = proc_of(R"(
@proc
def inc(a: f32):
    a += 1.0

@proc
def f(x: f32[4]):
    for i in seq(0, 4):
        inc(x[i])
)");
  Buffer x = f32({4}, {1, 2, 3, 4});
  run(*p, {&x});
  EXPECT_EQ(x.data, (std::vector<double>{2, 3, 4, 5}));
}

TEST(Interp, procs_that_share_symbols_do_not_disturb_each_other) {
  // A callee derived from its caller binds the caller's own iterator symbol.
  const ProcPtr inner = proc_of(R"(
@proc
def f(x: f32[4]):
    for i in seq(0, 4):
        x[i] += 1.0
)");
  const auto* loop = inner->body[0]->as<For>();
  Proc outer = *inner;
  outer.name = "g";
  const Block body = {
      make_call(inner, {make_expr(Read{inner->args[0].name, {}}, ScalarType::kF32)}),
      make_reduce(inner->args[0].name, {read_var(loop->iter, ScalarType::kIndex)}, data_const(10))};
  outer.body = {make_for(loop->iter, int_const(0), int_const(4), body)};
  Buffer x = f32({4}, {0, 0, 0, 0});
  run(outer, {&x});
  EXPECT_EQ(x.data, std::vector<double>(4, 14.0));
}

TEST(Interp, an_allocation_starts_undefined_at_each_entry) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[2]):
    for i in seq(0, 2):
        t: f32
        if i == 0:
            t = 1.0
        x[i] = t
)");
  Buffer x(ScalarType::kF32, {2});
  EXPECT_EQ(error_of(*p, {&x}), InterpError::Kind::kPoison);
}

TEST(Interp, an_allocation_may_have_the_size_of_an_iterator) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: f32[5]):
    for i in seq(0, 5):
        t: f32[i + 1, i + 2]
        for a in seq(0, i + 1):
            for b in seq(0, i + 2):
                t[a, b] = 1.0
        x[i] = 0.0
        for a in seq(0, i + 1):
            for b in seq(0, i + 2):
                x[i] += t[a, b]
)");
  Buffer x(ScalarType::kF32, {5});
  run(*p, {&x});
  EXPECT_EQ(x.data, (std::vector<double>{2, 6, 12, 20, 30}));
}

TEST(Interp, r_counts_as_f32) {
  const ProcPtr p = proc_of(R"(
@proc
def f(x: R):
    x = 0.1
)");
  Buffer x(ScalarType::kF32, {});
  run(*p, {&x});
  EXPECT_EQ(x.data[0], 0.1f);
}

TEST(Interp, a_program_serves_many_sizes) {
  const ProcPtr p = proc_of(R"(
@proc
def f(n: size, x: f32[n]):
    for i in seq(0, n):
        x[i] = 1.0
)");
  Program program(*p);
  for (int64_t n : {1, 7, 3, 3, 300}) {
    Buffer x(ScalarType::kF32, {n});
    program.run({n, &x});
    EXPECT_EQ(x.data, std::vector<double>(static_cast<size_t>(n), 1.0));
  }
}

}  // namespace
}  // namespace exotune
