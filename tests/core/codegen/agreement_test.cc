// The C computes what the interpreter computes, bit for bit: on random procs, with both compilers,
// and on the corners that random procs rarely hit.
#include <gtest/gtest.h>

#include <cmath>

#include "core/codegen/codegen.h"
#include "core/frontend/parser.h"
#include "tests/core/codegen/c_library.h"
#include "tests/core/codegen/random_proc.h"

namespace exotune {
namespace {

/// Runs both on the same values and compares every element that the interpreter left defined.
void expect_agreement(const ProcPtr& p, const FunctionAbi& abi, const CLibrary& library,
                      const Arguments& args, const std::string& what) {
  Arguments by_c = copy_of(args), by_interp = copy_of(args);
  InterpOptions options;
  options.poison = PoisonPolicy::kPropagate;
  run(*p, by_interp.values, options);
  EXPECT_TRUE(library.call(abi, by_c)) << what;
  for (size_t k = 0; k < by_c.buffers.size(); ++k)
    for (size_t i = 0; i < by_c.buffers[k]->data.size(); ++i)
      if (is_poison(by_interp.buffers[k]->data[i])) by_c.buffers[k]->data[i] = poison_value();
  EXPECT_EQ(first_difference(by_interp, by_c), "") << what;
}

class RandomProcs : public testing::TestWithParam<const char*> {};

TEST_P(RandomProcs, agree) {
  constexpr int kProcs = 60;
  std::vector<ProcPtr> procs;
  std::vector<std::string> texts;
  for (int k = 0; k < kProcs; ++k) {
    texts.push_back(random_module(static_cast<uint64_t>(k) + 1, "p" + std::to_string(k)));
    procs.push_back(parse_module(texts.back(), "random.exo").procs.back());
  }
  const CFile file = generate_c(procs, {});
  CompileOptions options;
  options.compiler = GetParam();
  // Random code compares unsigned values with what they never are, which compilers remark upon.
  options.flags.insert(options.flags.end(),
                       {"-DEXO_CHECKED", "-Wno-type-limits", "-Wno-tautological-compare"});
  const CLibrary library(file, options);
  ASSERT_EQ(library.error(), "");
  FillOptions fill;
  fill.strided_windows = true;
  for (int k = 0; k < kProcs; ++k)
    for (const auto& [a, n, flag] :
         {std::tuple<int64_t, int64_t, int64_t>{-13, 4, 1}, {7, 9, 0}, {0, 1, 1}})
      expect_agreement(procs[k], file.functions[k], library,
                       make_arguments(*procs[k], {{"a", a}, {"n", n}, {"flag", flag}},
                                      static_cast<uint64_t>(k), fill),
                       texts[k]);
}

INSTANTIATE_TEST_SUITE_P(Agreement, RandomProcs, testing::Values("gcc", "clang"),
                         [](const auto& info) { return std::string(info.param); });

/// One module, its last proc on the given control values.
void expect_module_agrees(const std::string& text,
                          const std::vector<std::map<std::string, int64_t>>& sizes,
                          const std::vector<std::string>& flags = {"-O2", "-ffp-contract=off"},
                          const CodegenOptions& codegen = {}) {
  const ProcPtr p = parse_module(text, "test.exo").procs.back();
  const CFile file = generate_c({p}, codegen);
  CompileOptions options;
  options.flags = flags;
  const CLibrary library(file, options);
  ASSERT_EQ(library.error(), "") << file.c;
  for (const auto& size : sizes)
    expect_agreement(p, file.functions[0], library, make_arguments(*p, size, 5), text);
}

TEST(Agreement, floor_division_of_every_small_number) {
  expect_module_agrees(R"(
@proc
def f(q: i32[41], r: i32[41]):
    for x in seq(-20, 21):
        for v in seq(-10, 10):
            if v == x / 3:
                for k in seq(0, v + 10):
                    q[x + 20] += 1.0
            if v == x % 7:
                for k in seq(0, v):
                    r[x + 20] += 1.0
)",
                       {{}});
}

// The last tile of each loop is shorter, by a quotient that is 0 or 1.
TEST(Agreement, quotients_of_two_values_are_comparisons) {
  const std::string text = R"(
@proc
def f(n: size, x: i32[10, 20]):
    assert n <= 5
    for io in seq(0, 10):
        for i in seq(0, 20 - 7 * (io / 9)):
            x[io, i] += 1.0
        for i in seq(0, 3 + (io + n) / 8):
            x[io, i] += 1.0
        for i in seq(0, 3 + io / 5):
            x[io, i] += 1.0
)";
  expect_module_agrees(text, {{{"n", 1}}, {{"n", 5}}});
  const ProcPtr p = parse_module(text, "t.exo").procs.back();
  const std::string c = generate_c({p}).c;
  EXPECT_NE(c.find("(io >= 9 ? 1 : 0)"), std::string::npos) << c;
  EXPECT_NE(c.find("(io + n >= 8 ? 1 : 0)"), std::string::npos) << c;
  EXPECT_NE(c.find("(io >= 5 ? 1 : 0)"), std::string::npos) << c;
}

TEST(Agreement, integer_corners) {
  expect_module_agrees(R"(
@proc
def f(a: i32[4], b: i8[4], c: ui16[4], d: i16[4]):
    a[0] = -2147483648.0
    a[1] = -a[0]
    a[2] = a[0] / -1.0
    a[3] = a[0] * a[0] + a[0] - 1.0
    b[0] = -128.0
    b[1] = -b[0]
    b[2] = fabs(b[0])
    b[3] = b[0] / -1.0
    c[0] = 65535.0
    c[1] = c[0] * c[0]
    c[2] = c[0] + c[0]
    c[3] = c[2] / 3.0
    d[0] = -32768.0
    d[1] = d[0] * d[0] * d[0]
    d[2] = (d[0] - 1.0) / 2.0
    d[3] = relu(d[0] + d[0])
)",
                       {{}}, {"-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"});
}

TEST(Agreement, conversions_between_all_types) {
  std::string text = "@proc\ndef f(";
  const std::vector<std::string> types = {"f16", "bf16", "f32",  "f64", "i8",
                                          "ui8", "i16",  "ui16", "i32"};
  for (size_t k = 0; k < types.size(); ++k)
    text += (k ? ", " : "") + ("x" + types[k]) + ": " + types[k] + "[4], y" + types[k] + ": " +
            types[k] + "[9, 4]";
  text += "):\n    for i in seq(0, 4):\n";
  for (const std::string& to : types)
    for (size_t k = 0; k < types.size(); ++k)
      text += "        y" + to + "[" + std::to_string(k) + ", i] = x" + types[k] + "[i]\n";
  expect_module_agrees(text, {{}});
}

TEST(Agreement, narrow_floats_round_as_the_interpreter_says) {
  expect_module_agrees(R"(
@proc
def f(x: f32[64], h: f16[64], b: bf16[64], g: f32[64]):
    for i in seq(0, 64):
        x[i] = g[i] / 7.0
        for k in seq(0, i):
            x[i] = x[i] * 1.7
        h[i] = x[i] * 0.000001
        b[i] = x[i]
        g[i] = h[i]
        h[i] += h[i] * 3.0
        b[i] = b[i] / 3.0
)",
                       {{}});
}

TEST(Agreement, externs_of_both_precisions) {
  expect_module_agrees(R"(
@proc
def f(x: f32[8], y: f64[8], u: f32[9, 8], v: f64[9, 8]):
    for i in seq(0, 8):
        u[0, i] = sin(x[i])
        u[1, i] = cos(x[i])
        u[2, i] = exp(x[i])
        u[3, i] = sqrt(fabs(x[i]))
        u[4, i] = relu(x[i])
        u[5, i] = sigmoid(x[i])
        u[6, i] = tanh(x[i])
        u[7, i] = fmin(x[i], select(x[i], 0.5, 1.0, 2.0))
        u[8, i] = rint(4.0 * x[i])
        v[0, i] = sin(y[i])
        v[1, i] = cos(y[i])
        v[2, i] = exp(y[i])
        v[3, i] = sqrt(fabs(y[i]))
        v[4, i] = relu(y[i])
        v[5, i] = sigmoid(y[i])
        v[6, i] = tanh(y[i])
        v[7, i] = fmin(y[i], select(y[i], 0.5, 1.0, 2.0))
        v[8, i] = rint(4.0 * y[i])
)",
                       {{}}, {"-O2", "-ffp-contract=off", "-fno-builtin"});
}

constexpr const char* kScratch = R"(
@proc
def inner(n: size, x: [f32][n]):
    t: f32[n, 3]
    for i in seq(0, n):
        t[i, 1] = x[i]
    for i in seq(0, n):
        x[i] = t[n - 1 - i, 1]

@proc
def f(n: size, m: size, x: f32[n, m]):
    big: f32[200, 200]
    for i in seq(0, n):
        row: f32[m]
        for j in seq(0, m):
            big[i % 200, j % 200] = 1.0
            row[j] = x[i, j] + big[i % 200, j % 200]
        inner(m, row[0:m])
        for j in seq(0, m):
            x[i, j] = row[j]
)";
const std::vector<std::map<std::string, int64_t>> kScratchSizes = {{{"n", 3}, {"m", 5}},
                                                                   {{"n", 40}, {"m", 3000}},
                                                                   {{"n", 1}, {"m", 1}},
                                                                   {{"n", 2}, {"m", 900000}}};

TEST(Agreement, dynamic_and_large_allocations_use_the_arena) {
  expect_module_agrees(kScratch, kScratchSizes);
}

TEST(Agreement, dynamic_and_large_allocations_use_the_callers_workspace) {
  CodegenOptions options;
  options.scratch = CodegenOptions::Scratch::kCaller;
  options.scratch_padding_bytes = 0;
  expect_module_agrees(kScratch, kScratchSizes, {"-O2", "-ffp-contract=off"}, options);
}

TEST(Agreement, workspace_follows_loops_and_conditions) {
  CodegenOptions options;
  options.scratch = CodegenOptions::Scratch::kCaller;
  expect_module_agrees(R"(
@proc
def inner(n: size, x: f32):
    t: f32[n]
    t[n - 1] = x
    x = t[n - 1] + 1.0

@proc
def f(n: size, flag: bool, x: f32):
    for i in seq(0, n):
        t: f32[i + 1]
        t[i] = x
        if flag and i > 3:
            u: f32[i - 3, 100]
            u[i - 4, 99] = t[i]
            x = u[i - 4, 99]
            inner(i - 3, x)
        else:
            inner(7, x)
    for j in seq(5, n):
        v: f32[n - 5]
        v[j - 5] = x
        x = v[j - 5] + 1.0
)",
                       {{{"n", 3}, {"flag", 1}}, {{"n", 9}, {"flag", 1}}, {{"n", 30}, {"flag", 0}}},
                       {"-O2", "-ffp-contract=off"}, options);
}

TEST(Agreement, parallel_loops_have_scratch_memory_of_their_own) {
  expect_module_agrees(R"(
@proc
def f(n: size, m: size, x: f32[n, m]):
    for i in par(0, n):
        row: f32[m]
        table: f32[8] @ DRAM_STATIC
        for j in seq(0, m):
            row[j] = x[i, j]
        for k in seq(0, 8):
            table[k] = row[k % 1]
        for j in seq(0, m):
            x[i, j] = row[m - 1 - j] + table[j % 8]
)",
                       {{{"n", 64}, {"m", 5000}}, {{"n", 3}, {"m", 1}}},
                       {"-O2", "-ffp-contract=off", "-fopenmp"});
}

TEST(AgreementDeathTest, checked_code_stops_where_an_assert_is_violated) {
  const ProcPtr p = parse_module(
                        "@proc\ndef f(n: size, w: [f32][n]):\n    assert n % 4 == 0\n    assert "
                        "stride(w, 0) == 1\n"
                        "    for i in seq(0, n):\n        w[i] = 0.0\n",
                        "test.exo")
                        .procs.back();
  const CFile file = generate_c({p}, {});
  CompileOptions options;
  options.flags.push_back("-DEXO_CHECKED");
  const CLibrary library(file, options);
  ASSERT_EQ(library.error(), "");
  Buffer memory(ScalarType::kF32, {16}, std::vector<double>(16, 1));
  Arguments args;
  args.buffers.push_back(std::make_unique<Buffer>(memory));
  auto with = [&](int64_t n, int64_t stride) {
    args.values = {n, WindowValue{args.buffers[0].get(), 0, {stride}, {n}}};
    library.call(file.functions[0], args);
  };
  with(4, 1);
  EXPECT_EQ(args.buffers[0]->data[3], 0);
  EXPECT_DEATH(with(3, 1), "violated: n % 4 == 0");
  EXPECT_DEATH(with(4, 2), "violated: w.strides\\[0\\] == 1");
  EXPECT_DEATH(with(0, 1), "violated: n >= 1");
}

TEST(Agreement, names_that_c_keeps_for_itself) {
  expect_module_agrees(R"(
@proc
def exp(double: size, int: f32[double], sin: f32, I: f32, restrict: f32):
    for for_ in seq(0, double):
        sin += exp(int[for_])
        for while_ in seq(0, 3):
            if_: f32
            if_ = sin(int[for_])
            I += if_ + restrict
)",
                       {{{"double", 4}}}, {"-O1", "-ffp-contract=off", "-fno-builtin"});
}

}  // namespace
}  // namespace exotune
