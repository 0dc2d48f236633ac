// Every BLAS kernel of levels 1 and 2 becomes vector code on every native target with vectors: the
// library's schedules find an instruction for each operation, and the result means the same.
#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "core/library/level2.h"
#include "core/library/reads_first.h"
#include "hw/kernel_table.h"
#include "hw/target.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

TargetLibrary& library() {
  static TargetLibrary kLibrary({fs::path(EXOTUNE_SOURCE_DIR) / "hw"});
  return kLibrary;
}

std::vector<std::string> vector_targets() {
  std::vector<std::string> names;
  for (const std::string& name : library().names())
    if (library().load(name)->vector_memory) names.push_back(name);
  return names;
}

ProcPtr scheduled(const KernelEntry& kernel, const ProcPtr& p, const Target& target) {
  const VectorUnit unit{target.lanes_of(kernel.precision), target.vector_memory,
                        target.instructions()};
  if (kernel.family == "blas1") return optimize_level_1(p, "i", unit, 4);
  const std::vector<Cursor> around = enclosing_loops(loops_named(p, "j").back());
  return optimize_level_2(p, around.back().as<For>().iter.name(), "j", unit, 4, 2);
}

class VectorizedKernels : public testing::TestWithParam<std::string> {};

TEST_P(VectorizedKernels, mean_the_same) {
  const KernelTable table = load_kernel_table(fs::path(EXOTUNE_SOURCE_DIR) / "kernels");
  const TargetPtr target = library().load(GetParam());
  int vectorized = 0;
  for (const KernelEntry& kernel : table.kernels()) {
    if (kernel.family != "blas1" && kernel.family != "blas2") continue;
    const ProcPtr p = kernel.load();
    ProcPtr fast;
    try {
      fast = scheduled(kernel, p, *target);
    } catch (const SchedulingError& e) {
      // NEON and RISC-V V have no forms for vectors of any stride and for widened sums yet.
      EXPECT_FALSE(target->runner.is_this_machine()) << kernel.name << ": " << e.what();
      continue;
    }
    ++vectorized;
    for (const int64_t n : {1, 16, 37, 70}) {
      std::map<std::string, int64_t> sizes;
      for (const auto& [name, unused] : kernel.sizes[0])
        sizes[name] = n + 2 * static_cast<int64_t>(sizes.size());
      FillOptions fill;
      fill.strided_windows = true;
      Arguments expected = make_arguments(*p, sizes, 3, fill);
      for (const auto& buffer : expected.buffers)
        for (double& v : buffer->data)
          if (v == 0) v = 1;  // solvers divide by diagonals
      Arguments got = copy_of(expected);
      InterpOptions exact;
      exact.arithmetic = Arithmetic::kExact;
      run(*p, expected.values, exact);
      run(*fast, got.values, exact);
      ASSERT_EQ(first_difference(expected, got, 1e-9), "") << kernel.name << " n = " << n;
    }
  }
  EXPECT_GT(vectorized, 20);
}

// Loops inside the one that vectors run along: whole vectors, several, and what is left over.
TEST_P(VectorizedKernels, have_loops_around_their_vectors) {
  const ProcPtr p = parse_module(R"(
@proc
def around(n: size, w: f32[5, 3], x: f32[5, n], y: f32[3, n]):
    for i in seq(0, n):
        t: f32
        t = 0.0
        for k in seq(0, 5):
            t += x[k, i]
        for r in seq(0, 3):
            s: f32
            s = 0.0
            for k in seq(0, 5):
                s += w[k, r] * x[k, i]
            y[r, i] = s + t
)",
                                 "around.exo")
                        .procs.at(0);
  const TargetPtr target = library().load(GetParam());
  const VectorUnit unit{target->lanes_of(ScalarType::kF32), target->vector_memory,
                        target->instructions()};
  for (const int64_t vectors : {1, 2, 4}) {
    const ProcPtr fast = optimize_level_1(p, "i", unit, vectors);
    EXPECT_EQ(str(*fast).find("for il in"), std::string::npos) << str(*fast);
    for (const int64_t n : {1, 15, 16, 37, 70, 133}) {
      Arguments expected = make_arguments(*p, {{"n", n}}, 3, {});
      Arguments got = copy_of(expected);
      InterpOptions exact;
      exact.arithmetic = Arithmetic::kExact;
      run(*p, expected.values, exact);
      run(*fast, got.values, exact);
      ASSERT_EQ(first_difference(expected, got, 1e-9), "") << vectors << ", n = " << n;
    }
  }
}

// A cast to bytes is an assignment of its own: it is done by the store, no register holds bytes.
TEST(VectorizedConversions, are_done_by_stores) {
  const ProcPtr p = parse_module(R"(
@proc
def quantize(n: size, x: f32[n], q: i8[n]):
    for i in seq(0, n):
        q[i] = i8(fmin(fmax(rint(x[i]), -127.0), 127.0))
)",
                                 "quantize.exo")
                        .procs.at(0);
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = library().load(name);
    const VectorUnit unit{target->lanes_of(ScalarType::kF32), target->vector_memory,
                          target->instructions()};
    const ProcPtr fast = optimize_level_1(p, "i", unit, 2);
    EXPECT_EQ(str(*fast).find("i8["), str(*fast).find("i8[n]")) << str(*fast);
    EXPECT_EQ(str(*fast).find("for il in"), std::string::npos) << str(*fast);
    for (const int64_t n : {1, 15, 37, 70}) {
      Arguments expected = make_arguments(*p, {{"n", n}}, 3, {});
      Arguments got = copy_of(expected);
      run(*p, expected.values);
      run(*fast, got.values);
      ASSERT_EQ(first_difference(expected, got, 0), "") << name << ", n = " << n;
    }
  }
}

// The chain of additions that what is left over makes, and half of those that add up the
// accumulators, need not wait for the main part.
TEST(VectorizedSums, wait_for_as_few_additions_as_they_can) {
  const KernelTable table = load_kernel_table(fs::path(EXOTUNE_SOURCE_DIR) / "kernels");
  const ProcPtr dot = table.find("sdot")->load();
  const TargetPtr target = library().load("avx2");
  const VectorUnit unit{8, target->vector_memory, target->instructions()};
  const auto text = [&](int64_t interleave) {
    return str(*optimize_level_1(dot, "i", unit, interleave));
  };
  const std::string eight = text(8);
  const size_t single = eight.find("for iu in"), guarded = eight.find("if n / 8 < (n + 7) / 8:"),
               main = eight.find("for io in"), half = eight.find("(result_acc_half[0:8])", main);
  ASSERT_NE(half, std::string::npos) << eight;
  EXPECT_LT(single, guarded);
  EXPECT_LT(guarded, main);
  const auto additions_to = [](const std::string& code, const std::string& sum) {
    int count = 0;
    const std::string call = "mm256_reg_add_ps(" + sum + "[0:8]";
    for (size_t at = code.find(call); at != std::string::npos; at = code.find(call, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(additions_to(eight, "result_acc_half"), 4);
  EXPECT_EQ(additions_to(eight, "result_acc"), 5);
  EXPECT_EQ(additions_to(text(2), "result_acc"), 2) << "too few to be halved";
}

// What accumulators are called by default, the user may have called arrays.
TEST(VectorizedSums, leave_the_users_names_alone) {
  const ProcPtr p = parse_module(R"(
@proc
def f(n: size, s: f32, s_acc: [f32][n], s_accs: [f32][n]):
    for i in seq(0, n):
        s += s_acc[i] * s_accs[i]
)",
                                 "names.exo")
                        .find_proc("f");
  const TargetPtr target = library().load("avx2");
  const ProcPtr fast =
      optimize_level_1(p, "i", {8, target->vector_memory, target->instructions()}, 4);
  EXPECT_NE(str(*fast).find("s_acc_ : f32[8]"), std::string::npos) << str(*fast);
  for (const int64_t n : {1, 37, 70}) {
    const Arguments expected = make_arguments(*p, {{"n", n}}, 3), got = copy_of(expected);
    run(*p, expected.values);
    run(*fast, got.values);
    EXPECT_EQ(first_difference(expected, got, 1e-4), "") << n;
  }
}

constexpr const char* kSeveralWrites = R"(
@proc
def rotated(n: size, x: f32[n], y: f32[n], c: f32, s: f32):
    for i in seq(0, n):
        t: f32
        t = c * x[i] + s * y[i]
        y[i] = c * y[i] - s * x[i]
        x[i] = t

@proc
def moved(n: size, x: f32[n], v: f32[n], f: f32[n], dt: f32):
    for i in seq(0, n):
        v[i] += dt * f[i]
        x[i] += dt * v[i]

@proc
def shifted(n: size, x: f32[n + 1], y: f32[n]):
    for i in seq(0, n):
        y[i] = x[i] * 2.0
        x[i + 1] = y[i] + 1.0

@proc
def short(x: f32[24], y: f32[24]):
    for i in seq(0, 24):
        x[i] = y[i] * 2.0
        y[i] = 0.5
)";

// Two arrays are written: reads between the writes would wait for them.
TEST(SeveralWrites, follow_all_reads) {
  const Module module = parse_module(kSeveralWrites, "writes.exo");
  const TargetPtr target = library().load("avx2");
  const VectorUnit unit{8, target->vector_memory, target->instructions()};
  const ProcPtr rotated = module.find_proc("rotated");
  for (const int64_t vectors : {2, 4}) {
    const ProcPtr fast = read_then_write(rotated, "i", unit, vectors);
    const std::string code = str(*fast);
    const size_t loop = code.find("for io in"), write = code.find("mm256_storeu_ps(", loop),
                 end = code.find("\n    for ", loop + 1);
    ASSERT_LT(write, end) << code;
    EXPECT_GT(code.find("mm256_loadu_ps(", write), end) << code;
  }
  // What it has written itself the body reads where it stood.
  for (const char* name : {"rotated", "moved"}) {
    const ProcPtr p = module.find_proc(name), fast = read_then_write(p, "i", unit, 4);
    for (const int64_t n : {1, 31, 32, 37, 70}) {
      const Arguments expected = make_arguments(*p, {{"n", n}}, 3), got = copy_of(expected);
      run(*p, expected.values);
      run(*fast, got.values);
      EXPECT_EQ(first_difference(expected, got, 1e-5), "") << name << n;
    }
  }
}

TEST(SeveralWrites, that_an_iteration_reads_of_the_one_before_are_refused) {
  const Module module = parse_module(kSeveralWrites, "writes.exo");
  const TargetPtr target = library().load("avx2");
  const VectorUnit unit{8, target->vector_memory, target->instructions()};
  EXPECT_THROW((void)read_then_write(module.find_proc("shifted"), "i", unit, 4), SchedulingError);
  EXPECT_THROW((void)read_then_write(module.find_proc("short"), "i", unit, 4), SchedulingError);
  for (const int64_t vectors : {int64_t{1}, int64_t{65}, int64_t{1} << 62})
    EXPECT_THROW((void)read_then_write(module.find_proc("rotated"), "i", unit, vectors),
                 SchedulingError);
  EXPECT_NO_THROW((void)read_then_write(module.find_proc("short"), "i", unit, 2));
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorizedKernels, testing::ValuesIn(vector_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace exotune
