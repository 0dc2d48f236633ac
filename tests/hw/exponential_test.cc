// The exponential of the target's text against the C library's, over floats of every exponent.
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

constexpr const char* kProgram = R"(
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static float of_bits(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static float result(float x) {
  float y[16];
  _mm512_storeu_ps(y, exo512_exp(_mm512_set1_ps(x)));
  return y[0];
}
int main(void) {
  double worst = 0;
  /* 997 is prime: low bits of all kinds, every exponent, both signs. */
  for (uint64_t first = 0; first < 1ull << 32; first += 16 * 997) {
    float x[16], y[16];
    for (int i = 0; i < 16; i++) x[i] = of_bits((uint32_t)(first + 997u * (uint64_t)i));
    _mm512_storeu_ps(y, exo512_exp(_mm512_loadu_ps(x)));
    for (int i = 0; i < 16; i++) {
      if (isnan(x[i])) {
        if (!isnan(y[i])) return printf("NaN became %g\n", y[i]), 1;
        continue;
      }
      const double right = exp((double)x[i]);
      const float rounded = (float)right;
      if (isinf(rounded)) {
        if (!isinf(y[i]) && x[i] > 88.73f) return printf("exp(%g) = %g\n", x[i], y[i]), 1;
        continue;
      }
      int exponent;
      frexp(rounded, &exponent);
      const double unit = ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
      const double error = fabs(right - (double)y[i]) / unit;
      if (!(error <= worst)) worst = error;
    }
  }
  if (result(0.0f) != 1.0f) return printf("exp(0) = %g\n", result(0.0f)), 1;
  if (result(-INFINITY) != 0.0f) return printf("exp(-inf) = %g\n", result(-INFINITY)), 1;
  if (!isinf(result(INFINITY))) return printf("exp(inf) = %g\n", result(INFINITY)), 1;
  if (!(worst <= 2)) return printf("%g units in the last place\n", worst), 1;
  return 0;
}
)";

TEST(Exponential, is_within_two_units_in_the_last_place_everywhere) {
  TargetLibrary library({fs::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const TargetPtr target = library.load("avx512");
  if (!supports(probe_machine(), *target)) GTEST_SKIP() << "this machine lacks " << target->isa;
  std::string function;
  for (const ProcPtr& p : target->instructions())
    if (p->name == "mm512_exp_ps") function = p->instr->c_global;
  ASSERT_NE(function, "");
  const fs::path folder = fs::path(testing::TempDir()) / "exotune_exponential";
  fs::create_directories(folder);
  std::ofstream(folder / "sweep.c") << "#include <immintrin.h>\n" << function << kProgram;
  const std::string program = (folder / "sweep").string();
  const std::string build =
      "cc -O2 -mavx512f -mavx512vl -mavx512dq -mfma -o " + program + " " + program + ".c -lm";
  ASSERT_EQ(std::system(build.c_str()), 0);
  FILE* out = popen(program.c_str(), "r");
  ASSERT_TRUE(out);
  char text[200] = "";
  if (!fgets(text, sizeof text, out)) text[0] = 0;
  EXPECT_EQ(pclose(out), 0) << text;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace exotune
