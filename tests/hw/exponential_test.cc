// The exponentials of the targets' texts against the C library's, over numbers of every exponent.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// One vector function: its instruction, and the C of what the sweep needs of it.
struct Exponential {
  const char *target, *instruction;
  bool doubles;
  const char *flags, *define;
};

constexpr const char* kProgram = R"(
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if DOUBLES
typedef double number;
typedef uint64_t bits_of;
typedef long double exact;
#define EXACT expl
#define DIGITS 53
#define LEAST -1074
#define LARGEST 709.79
/* A prime, so that low bits of all kinds, every exponent and both signs come. */
#define STEP 4611686018427ull
#define STEPS 4000000ull
#else
typedef float number;
typedef uint32_t bits_of;
typedef double exact;
#define EXACT exp
#define DIGITS 24
#define LEAST -149
#define LARGEST 88.73f
#define STEP 997ull
#define STEPS 4307925ull
#endif

static number of_bits(uint64_t at) {
  const bits_of bits = (bits_of)at;
  number f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static number result(number x) {
  number y[LANES], all[LANES];
  for (int i = 0; i < LANES; i++) all[i] = x;
  vector_exp(all, y);
  return y[0];
}
int main(void) {
  double worst = 0;
  for (uint64_t first = 0; first < STEPS; first += LANES) {
    number x[LANES], y[LANES];
    for (uint64_t i = 0; i < LANES; i++) x[i] = of_bits(STEP * (first + i));
    vector_exp(x, y);
    for (int i = 0; i < LANES; i++) {
      if (isnan(x[i])) {
        if (!isnan(y[i])) return printf("NaN became %g\n", y[i]), 1;
        continue;
      }
      const exact right = EXACT((exact)x[i]);
      const number rounded = (number)right;
      if (isinf(rounded)) {
        if (!isinf(y[i]) && x[i] > LARGEST) return printf("exp(%g) = %g\n", x[i], y[i]), 1;
        continue;
      }
      int exponent;
      frexp(rounded, &exponent);
      const double unit = ldexp(1, exponent - DIGITS < LEAST ? LEAST : exponent - DIGITS);
      const double error = fabs((double)(right - (exact)y[i]) / unit);
      if (!(error <= worst)) worst = error;
    }
  }
  /* Where results are neither 0 nor infinite, more closely than random bits come. */
  for (int k = -200000; k <= 200000; k++) {
    const number x = (number)(k * (DOUBLES ? 0.0037 : 0.0005));
    const exact right = EXACT((exact)x);
    if (isinf((number)right)) continue;
    int exponent;
    frexp((number)right, &exponent);
    const double unit = ldexp(1, exponent - DIGITS < LEAST ? LEAST : exponent - DIGITS);
    const double error = fabs((double)(right - (exact)result(x)) / unit);
    if (!(error <= worst)) worst = error;
  }
  if (result(0) != 1) return printf("exp(0) = %g\n", result(0)), 1;
  if (result(-INFINITY) != 0) return printf("exp(-inf) = %g\n", result(-INFINITY)), 1;
  if (!isinf(result(INFINITY))) return printf("exp(inf) = %g\n", result(INFINITY)), 1;
  if (!(worst <= 2)) return printf("%g units in the last place\n", worst), 1;
  return 0;
}
)";

constexpr Exponential kAll[] = {
    {"avx2", "mm256_exp_ps", false, "-mavx2 -mfma",
     "#define LANES 8\nstatic void vector_exp(const float* x, float* y) "
     "{ _mm256_storeu_ps(y, exo256_exp(_mm256_loadu_ps(x))); }\n"},
    {"avx2", "mm256_exp_pd", true, "-mavx2 -mfma",
     "#define LANES 4\nstatic void vector_exp(const double* x, double* y) "
     "{ _mm256_storeu_pd(y, exo256_exp_pd(_mm256_loadu_pd(x))); }\n"},
    {"avx512", "mm512_exp_ps", false, "-mavx512f -mavx512vl -mavx512dq -mfma",
     "#define LANES 16\nstatic void vector_exp(const float* x, float* y) "
     "{ _mm512_storeu_ps(y, exo512_exp(_mm512_loadu_ps(x))); }\n"},
    {"avx512", "mm512_exp_pd", true, "-mavx512f -mavx512vl -mavx512dq -mfma",
     "#define LANES 8\nstatic void vector_exp(const double* x, double* y) "
     "{ _mm512_storeu_pd(y, exo512_exp_pd(_mm512_loadu_pd(x))); }\n"}};

class VectorExponential : public testing::TestWithParam<Exponential> {};

TEST_P(VectorExponential, is_within_two_units_in_the_last_place_everywhere) {
  const Exponential& e = GetParam();
  TargetLibrary library({fs::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const TargetPtr target = library.load(e.target);
  if (!supports(probe_machine(), *target)) GTEST_SKIP() << "this machine lacks " << target->isa;
  std::string function;
  for (const ProcPtr& p : target->instructions())
    if (p->name == e.instruction) function = p->instr->c_global;
  ASSERT_NE(function, "");
  const fs::path folder = fs::path(testing::TempDir()) / e.instruction;
  fs::create_directories(folder);
  std::ofstream(folder / "sweep.c")
      << "#include <immintrin.h>\n"
      << function << e.define << "#define DOUBLES " << e.doubles << "\n"
      << kProgram;
  const std::string program = (folder / "sweep").string();
  const std::string build =
      std::string("cc -O2 ") + e.flags + " -o " + program + " " + program + ".c -lm";
  ASSERT_EQ(std::system(build.c_str()), 0);
  FILE* out = popen(program.c_str(), "r");
  ASSERT_TRUE(out);
  char text[200] = "";
  if (!fgets(text, sizeof text, out)) text[0] = 0;
  EXPECT_EQ(pclose(out), 0) << text;
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Texts, VectorExponential, testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(info.param.instruction); });

}  // namespace
}  // namespace exotune
