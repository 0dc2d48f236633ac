// The exponentials of the targets' texts, what is made of them, and roots and quotients by
// estimates, against the C library's functions, over numbers of every exponent.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "hw/machine.h"
#include "hw/target.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// One vector function: its instruction, and the C of what the sweep needs of it.
struct Exponential {
  const char *target, *instruction;
  bool doubles;
  const char *flags, *call;          // of the C function
  const char* exact;                 // the same of the C library, of a wider type
  double at_zero, at_less, at_more;  // results at 0 and at both infinities
  double largest, units;             // results are infinite beyond; distance from the exact result
  double least = 0;                  // below this operand the result is at_less
  int coarser = 1;                   // of so many numbers one is looked at
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
#define DIGITS 53
#define LEAST -1074
/* A prime, so that low bits of all kinds, every exponent and both signs come. */
#define STEP (4611686018427ull * COARSER)
#define STEPS (4000000ull / COARSER)
#else
typedef float number;
typedef uint32_t bits_of;
typedef double exact;
#define DIGITS 24
#define LEAST -149
#define STEP (997ull * COARSER)
#define STEPS (4307925ull / COARSER)
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
  vector_function(all, y);
  return y[0];
}
static int same(double a, double b) { return isnan(a) ? isnan(b) : a == b; }
int main(void) {
  double worst = 0;
  for (uint64_t first = 0; first < STEPS; first += LANES) {
    number x[LANES], y[LANES];
    for (uint64_t i = 0; i < LANES; i++) x[i] = of_bits(STEP * (first + i));
    vector_function(x, y);
    for (int i = 0; i < LANES; i++) {
      if (isnan(x[i])) {
        if (!isnan(y[i])) return printf("NaN became %g\n", y[i]), 1;
        continue;
      }
      if (x[i] < LEAST_OPERAND) {
        if (y[i] != AT_LESS) return printf("f(%g) = %g\n", x[i], y[i]), 1;
        continue;
      }
      const exact right = EXACT((exact)x[i]);
      const number rounded = (number)right;
      if (isnan(right)) {
        if (!isnan(y[i])) return printf("f(%g) = %g\n", x[i], y[i]), 1;
        continue;
      }
      if (isinf(rounded)) {
        if (!isinf(y[i]) && x[i] > LARGEST) return printf("f(%g) = %g\n", x[i], y[i]), 1;
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
  for (int k = -200000; k <= 200000; k += COARSER) {
    const number x = (number)(k * (DOUBLES ? 0.0037 : 0.0005));
    const exact right = EXACT((exact)x);
    if (x < LEAST_OPERAND) continue;
    if (isinf((number)right) || isnan(right)) continue;
    int exponent;
    frexp((number)right, &exponent);
    const double unit = ldexp(1, exponent - DIGITS < LEAST ? LEAST : exponent - DIGITS);
    const double error = fabs((double)(right - (exact)result(x)) / unit);
    if (!(error <= worst)) worst = error;
  }
  if (!same(result(0), AT_ZERO)) return printf("f(0) = %g\n", result(0)), 1;
  if (!same(result(-INFINITY), AT_LESS)) return printf("f(-inf) = %g\n", result(-INFINITY)), 1;
  if (!same(result(INFINITY), AT_MORE)) return printf("f(inf) = %g\n", result(INFINITY)), 1;
  if (!(worst <= UNITS)) return printf("%g units in the last place\n", worst), 1;
  return 0;
}
)";

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr const char* kAvx2 = "-mavx2 -mfma";
constexpr const char* kAvx512 = "-mavx512f -mavx512vl -mavx512dq -mfma";
constexpr const char* kSigmoid = "1 / (1 + exp(-(x)))";
constexpr const char *kRoot = "sqrt(x)", *kOverRoot = "1 / sqrt(x)", *kReciprocal = "1 / (x)";
constexpr const char *kRootL = "sqrtl(x)", *kOverRootL = "1 / sqrtl(x)",
                     *kReciprocalL = kReciprocal;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Exponential kAll[] = {
    {"avx2", "mm256_exp_ps", false, kAvx2, "exo256_exp", "exp(x)", 1, 0, kInf, 88.73, 2},
    {"avx2", "mm256_exp_pd", true, kAvx2, "exo256_exp_pd", "expl(x)", 1, 0, kInf, 709.79, 2},
    {"avx2", "mm256_tanh_ps", false, kAvx2, "exo256_tanh", "tanh(x)", 0, -1, 1, kInf, 3},
    {"avx2", "mm256_sigmoid_ps", false, kAvx2, "exo256_sigmoid", kSigmoid, 0.5, 0, 1, kInf, 4,
     -88.37},
    {"avx512", "mm512_exp_ps", false, kAvx512, "exo512_exp", "exp(x)", 1, 0, kInf, 88.73, 2},
    {"avx512", "mm512_exp_pd", true, kAvx512, "exo512_exp_pd", "expl(x)", 1, 0, kInf, 709.79, 2},
    {"avx512", "mm512_tanh_ps", false, kAvx512, "exo512_tanh", "tanh(x)", 0, -1, 1, kInf, 3},
    {"avx512", "mm512_sigmoid_ps", false, kAvx512, "exo512_sigmoid", kSigmoid, 0.5, 0, 1, kInf, 4,
     -88.37},
    {"avx512", "mm512_log_ps", false, kAvx512, "exo512_log", "log(x)", -kInf, kNone, kInf, kInf, 2},
    {"avx512", "mm512_log_pd", true, kAvx512, "exo512_log_pd", "logl(x)", -kInf, kNone, kInf, kInf,
     1},
    // Roots and quotients by estimates: what is not for them, too.
    {"avx2", "mm256_sqrt_by_estimate_ps", false, kAvx2, "exo256_sqrt_by_estimate_ps", kRoot, 0,
     kNone, kInf, 0, 3, 0, 7},
    {"avx2", "mm256_over_sqrt_by_estimate_ps", false, kAvx2, "exo256_over_sqrt_by_estimate_ps",
     kOverRoot, kInf, kNone, 0, 0, 3, 0, 7},
    {"avx2", "mm256_reciprocal_by_estimate_ps", false, kAvx2, "exo256_reciprocal_by_estimate_ps",
     kReciprocal, kInf, 0, 0, 0, 3, 0, 7},
    {"avx512", "mm512_sqrt_by_estimate_ps", false, kAvx512, "exo512_sqrt_by_estimate_ps", kRoot, 0,
     kNone, kInf, 0, 1, 0, 7},
    {"avx512", "mm512_over_sqrt_by_estimate_ps", false, kAvx512, "exo512_over_sqrt_by_estimate_ps",
     kOverRoot, kInf, kNone, 0, 0, 2, 0, 7},
    {"avx512", "mm512_reciprocal_by_estimate_ps", false, kAvx512,
     "exo512_reciprocal_by_estimate_ps", kReciprocal, kInf, 0, 0, 0, 2, 0, 7},
    {"avx512", "mm512_sqrt_by_estimate_pd", true, kAvx512, "exo512_sqrt_by_estimate_pd", kRootL, 0,
     kNone, kInf, 0, 1, 0, 7},
    {"avx512", "mm512_over_sqrt_by_estimate_pd", true, kAvx512, "exo512_over_sqrt_by_estimate_pd",
     kOverRootL, kInf, kNone, 0, 0, 2, 0, 7},
    {"avx512", "mm512_reciprocal_by_estimate_pd", true, kAvx512, "exo512_reciprocal_by_estimate_pd",
     kReciprocalL, kInf, 0, 0, 0, 2, 0, 7},
};

std::string number(double x) {
  if (std::isnan(x)) return "NAN";
  return std::isinf(x) ? x > 0 ? "INFINITY" : "-INFINITY" : std::to_string(x);
}

// What the program is told of a function.
std::string defines(const Exponential& e) {
  const bool wide = std::string(e.target) == "avx512";
  const std::string prefix = wide ? "_mm512_" : "_mm256_", s = e.doubles ? "pd" : "ps";
  const std::string type = e.doubles ? "double" : "float";
  return "#define DOUBLES " + std::to_string(e.doubles) + "\n#define LANES " +
         std::to_string((wide ? 16 : 8) / (e.doubles ? 2 : 1)) + "\n#define EXACT(x) (" + e.exact +
         ")\n#define AT_ZERO " + number(e.at_zero) + "\n#define AT_LESS " + number(e.at_less) +
         "\n#define AT_MORE " + number(e.at_more) + "\n#define LARGEST " + number(e.largest) +
         "\n#define UNITS " + number(e.units) + "\n#define COARSER " + std::to_string(e.coarser) +
         "\n#define LEAST_OPERAND " + number(e.least == 0 ? -kInf : e.least) +
         "\nstatic void vector_function(const " + type + "* x, " + type + "* y) { " + prefix +
         "storeu_" + s + "(y, " + e.call + "(" + prefix + "loadu_" + s + "(x))); }\n";
}

class VectorExponential : public testing::TestWithParam<Exponential> {};

TEST_P(VectorExponential, is_within_units_in_the_last_place_everywhere) {
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
  std::ofstream(folder / "sweep.c") << "#include <immintrin.h>\n"
                                    << function << "#include <math.h>\n"
                                    << defines(e) << kProgram;
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
