// Powers of the targets' texts against the C library's pow: pairs of special numbers, and numbers
// of every exponent.
#include <gtest/gtest.h>

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

static uint32_t state = 2463534242u;
static uint32_t drawn(void) {
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return state;
}
static float of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
static void powers(float* r, const float* x, const float* y) {
  for (int k = 0; k < 16; k += LANES) STORE(r + k, POW(LOAD(x + k), LOAD(y + k)));
}

/* Distance from pow in units in the last place; infinite where zero, infinity, sign or no number
   is not as it must be. */
static double distance(float got, float x, float y) {
  const double want = pow(x, y);
  const float near = (float)want;
  if (isnan(near)) return isnan(got) ? 0 : INFINITY;
  if (signbit(near) != signbit(got)) return INFINITY;
  if (isinf(near) || isinf(got)) return near == got || fabs(want) > 3.4028e38 ? 0 : INFINITY;
  int exponent;
  frexp(want, &exponent);
  return fabs(got - want) / ldexp(1, exponent - 24 > -149 ? exponent - 24 : -149);
}

int main(void) {
  const float special[] = {0, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 2.5f, -7.5f, 1e-45f, -1e-45f,
                           1e30f, 3.4e38f, 16777216, 33554432, INFINITY, -INFINITY, NAN};
  const int specials = sizeof special / sizeof *special;
  float x[16], y[16], r[16];
  double worst = 0;
  for (int i = 0; i < specials; ++i)
    for (int j = 0; j < specials; ++j) {
      for (int k = 0; k < 16; ++k) x[k] = special[i], y[k] = special[j];
      powers(r, x, y);
      if (!(distance(r[5], x[5], y[5]) <= 1))
        return printf("%g to the %g is %g\n", x[5], y[5], r[5]), 1;
    }
  for (int it = 0; it < 200000; ++it) {
    for (int k = 0; k < 16; ++k) {
      x[k] = of_bits(drawn());
      y[k] = of_bits(drawn());
      /* Half of them where results are neither 0 nor infinite. */
      if (it & 1) x[k] = (float)(drawn() % 2000000) / 1e6f;
      if (it & 1) y[k] = (float)((int)(drawn() % 2000000) - 1000000) / (it & 2 ? 1e4f : 1e6f);
    }
    powers(r, x, y);
    for (int k = 0; k < 16; ++k) {
      const double d = distance(r[k], x[k], y[k]);
      if (d > worst) worst = d;
      if (!(d <= 1)) return printf("%g to the %g is %g\n", x[k], y[k], r[k]), 1;
    }
  }
  printf("%g units in the last place\n", worst);
  return 0;
}
)";

struct Vectors {
  const char *target, *instruction, *names, *flags;
};

class VectorPowers : public testing::TestWithParam<Vectors> {};

TEST_P(VectorPowers, are_within_a_unit_in_the_last_place) {
  const Vectors& v = GetParam();
  TargetLibrary library({fs::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const TargetPtr target = library.load(v.target);
  if (!supports(probe_machine(), *target)) GTEST_SKIP() << "this machine lacks " << v.target;
  std::string function;
  for (const ProcPtr& p : target->instructions())
    if (p->name == v.instruction) function = p->instr->c_global;
  ASSERT_FALSE(function.empty());
  const fs::path folder = fs::path(testing::TempDir()) / ("vector_powers_" + target->name);
  fs::create_directories(folder);
  std::ofstream(folder / "powers.c") << "#include <immintrin.h>\n"
                                     << v.names << function << kProgram;
  const std::string program = (folder / "powers").string(),
                    build = std::string("cc -O2 -mavx2 -mfma ") + v.flags + " -o " + program + " " +
                            (folder / "powers.c").string() + " -lm";
  ASSERT_EQ(std::system(build.c_str()), 0) << build;
  EXPECT_EQ(std::system(program.c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Native, VectorPowers,
    testing::Values(Vectors{"avx512", "mm512_pow_ps",
                            "#define LANES 16\n#define LOAD _mm512_loadu_ps\n"
                            "#define STORE _mm512_storeu_ps\n#define POW exo512_pow_ps\n",
                            "-mavx512f -mavx512vl -mavx512dq -mavx512bw"},
                    Vectors{"avx2", "mm256_pow_ps",
                            "#define LANES 8\n#define LOAD _mm256_loadu_ps\n"
                            "#define STORE _mm256_storeu_ps\n#define POW exo256_pow_ps\n",
                            ""}),
    [](const testing::TestParamInfo<Vectors>& i) { return std::string(i.param.target); });

}  // namespace
}  // namespace exotune
