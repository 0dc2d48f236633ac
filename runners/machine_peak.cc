#include "runners/machine_peak.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"
#include "runners/sandbox.h"
#include "runners/shared_object.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

// Vector extensions, not intrinsics: one text for every width. 12 chains cover a latency of 4 on
// two pipes with a margin, and fit 16 registers.
constexpr const char* kSource = R"probe(
#include <stdint.h>
#include <string.h>
typedef T V __attribute__((vector_size(BYTES)));
typedef int64_t W __attribute__((vector_size(BYTES), aligned(8), may_alias));
#define LANES (BYTES / sizeof(T))

#ifdef DOT
#include <immintrin.h>
/* Dot products of groups of DOT elements into 32-bit lanes: 12 * 16 * DOT * 2 operations a step. */
double peak_flops(int64_t steps, double seed) {
  __m512i x = _mm512_set1_epi32((int)seed), y = _mm512_set1_epi32((int)seed + 1);
#if DOT == 2
#define STEP(a) a = _mm512_dpbf16_ps(a, (__m512bh)x, (__m512bh)y)
  __m512 a0 = _mm512_set1_ps((float)seed);
  __m512 a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, a10 = a0, a11 = a0;
#else
#define STEP(a) a = _mm512_dpbusd_epi32(a, x, y)
  __m512i a0 = x, a1 = x, a2 = x, a3 = x, a4 = x, a5 = x, a6 = x, a7 = x, a8 = x, a9 = x, a10 = x, a11 = x;
#endif
  for (int64_t i = 0; i < steps; ++i) {
    STEP(a0); STEP(a1); STEP(a2); STEP(a3); STEP(a4); STEP(a5);
    STEP(a6); STEP(a7); STEP(a8); STEP(a9); STEP(a10); STEP(a11);
    /* Equal chains must not become one. */
    __asm__ volatile("" : "+v"(a0), "+v"(a1), "+v"(a2), "+v"(a3), "+v"(a4), "+v"(a5), "+v"(a6), "+v"(a7),
                     "+v"(a8), "+v"(a9), "+v"(a10), "+v"(a11));
  }
  return 0;
}
int64_t flops_per_step(void) { return 12 * 16 * DOT * 2; }
#else
/* 12 * LANES * 2 floating-point operations a step. */
double peak_flops(int64_t steps, double seed) {
  V a[12], x, y;
  for (int k = 0; k < 12; ++k) for (unsigned l = 0; l < LANES; ++l) a[k][l] = (T)(seed + k);
  for (unsigned l = 0; l < LANES; ++l) { x[l] = (T)(1 - seed * 1e-6); y[l] = (T)(seed * 1e-6); }
  V a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5], a6 = a[6], a7 = a[7], a8 = a[8],
    a9 = a[9], a10 = a[10], a11 = a[11];
  for (int64_t i = 0; i < steps; ++i) {
    a0 = a0 * x + y; a1 = a1 * x + y; a2 = a2 * x + y; a3 = a3 * x + y;
    a4 = a4 * x + y; a5 = a5 * x + y; a6 = a6 * x + y; a7 = a7 * x + y;
    a8 = a8 * x + y; a9 = a9 * x + y; a10 = a10 * x + y; a11 = a11 * x + y;
  }
  V s = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11;
  double r = 0;
  for (unsigned l = 0; l < LANES; ++l) r += s[l];
  return r;
}
int64_t flops_per_step(void) { return 12 * LANES * 2; }
#endif

/* Reads `bytes` (a multiple of 16 * BYTES) `times` over. */
int64_t read_memory(const char* p, int64_t bytes, int64_t times) {
  W s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  for (int64_t t = 0; t < times; ++t) {
    const W* w = (const W*)p;
    const W* end = (const W*)(p + bytes);
    for (; w < end; w += 16) {
      s0 ^= w[0]; s1 ^= w[1]; s2 ^= w[2]; s3 ^= w[3]; s4 ^= w[4]; s5 ^= w[5]; s6 ^= w[6]; s7 ^= w[7];
      s0 ^= w[8]; s1 ^= w[9]; s2 ^= w[10]; s3 ^= w[11]; s4 ^= w[12]; s5 ^= w[13]; s6 ^= w[14]; s7 ^= w[15];
    }
    __asm__ volatile("" : : : "memory");
  }
  s0 ^= s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6 ^ s7;
  int64_t r = 0;
  for (unsigned l = 0; l < BYTES / 8; ++l) r ^= s0[l];
  return r;
}
void copy_memory(char* to, const char* from, int64_t bytes) { memcpy(to, from, bytes); }
)probe";

bool has_dot_products(ElementType precision) {
#if defined(__x86_64__)
  return precision == ElementType::kBf16 ? __builtin_cpu_supports("avx512bf16")
                                         : __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

/// What selects the kernel in the source, and the instructions it needs.
std::vector<const char*> precision_flags(const std::string& isa, ElementType precision) {
  if (precision == ElementType::kF32) return {"-DT=float"};
  if (precision == ElementType::kF64) return {"-DT=double"};
  const bool half = precision == ElementType::kBf16;
  if (!half && precision != ElementType::kI8 && precision != ElementType::kUi8)
    throw InputError({}, std::string("no peak is defined for ") + element_name(precision),
                     "one of f32, f64, bf16, i8, ui8");
  if (isa != "avx512" || !has_dot_products(precision))
    throw Error(Diagnostic{{},
                           std::string("this CPU has no ") + element_name(precision) +
                               " dot products for " + isa,
                           {},
                           {}},
                ExitCode::kUnavailable);
  if (half) return {"-DT=float", "-DDOT=2", "-mavx512bf16"};
  return {"-DT=float", "-DDOT=4", "-mavx512vnni"};
}

/// The toolchain whose flags are those of `isa`.
TargetToolchain toolchain_for(const std::string& isa, const std::string& cc) {
  if (!cpu_supports(isa))
    throw Error(Diagnostic{{}, "this CPU cannot run " + isa + " code", {}, {}},
                ExitCode::kUnavailable);
  TargetToolchain toolchain = default_toolchain(isa, cc);
  toolchain.vector_bytes = isa == "avx512" ? 64 : isa == "avx2" ? 32 : 16;
  return toolchain;
}

/// The probe's shared object in `directory`.
std::string compile_probe(const TargetToolchain& toolchain, ElementType precision,
                          const std::string& directory) {
  SharedObjectRequest request;
  request.compiler = toolchain.cc;
  request.flags = toolchain.flags;
  for (std::string& flag : request.flags)
    if (flag == "-O3") flag = "-O2";
  const int bytes = std::max(toolchain.vector_bytes, 16);
  for (const std::string& flag :
       {std::string("-w"), std::string("-ffp-contract=fast"), "-DBYTES=" + std::to_string(bytes)})
    request.flags.push_back(flag);
  for (const char* flag : precision_flags(toolchain.isa, precision)) request.flags.push_back(flag);
  request.source = kSource;
  request.name = "peak";
  std::string error;
  std::string library = compile_shared_object(request, directory, &error);
  if (library.empty())
    throw Error(Diagnostic{{}, "the peak measurement does not compile: " + error, {}, {}},
                ExitCode::kUnavailable);
  return library;
}

/// The probe for one vector width, compiled and gone with the object.
class Probe {
 public:
  Probe(const TargetToolchain& toolchain, ElementType precision)
      : directory_(""), library_(compile_probe(toolchain, precision, directory_.path())) {}

  /// Runs `body(find, results)` in a child; throws when it does not end well.
  template <class F>
  std::vector<double> measure(size_t results, F body) const {
    SharedMemory memory(sizeof(double) * (results + 1));
    auto* values = memory.as<double>();
    const ChildOutcome outcome = run_in_child(
        [&] {
          void* library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
          if (!library) _exit(3);
          body(library, values);
        },
        60);
    if (!outcome.ok())
      throw Error(Diagnostic{{}, "the peak measurement " + outcome.describe(), {}, {}},
                  ExitCode::kUnavailable);
    return {values, values + results};
  }

 private:
  WorkDirectory directory_;
  std::string library_;
};

template <class F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

int64_t cache_bytes(int name, int64_t fallback) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : fallback;
}

}  // namespace

double measure_peak(const std::string& isa, ElementType precision, const std::string& cc) {
  return measure_peak(toolchain_for(isa, cc), precision);
}

double measure_peak(const TargetToolchain& toolchain, ElementType precision) {
  const Probe probe(toolchain, precision);
  return probe.measure(1, [](void* library, double* best) {
    auto* run = symbol<double(int64_t, double)>(library, "peak_flops");
    const auto per_step = static_cast<double>(symbol<int64_t()>(library, "flops_per_step")());
    // Long beside a tick of the clock, short beside what else runs: the best of 25 batches counts.
    constexpr int64_t kSteps = 200'000;
    volatile double sink = run(kSteps, 1.5);
    for (int batch = 0; batch < 25; ++batch) {
      const double start = thread_seconds();
      sink = run(kSteps, 1.5);
      best[0] = std::max(best[0], per_step * kSteps / (thread_seconds() - start) * 1e-9);
    }
    (void)sink;
  })[0];
}

Roof make_roof(const TargetToolchain& toolchain, ElementType precision,
               const std::string& directory) {
  Roof roof;
  roof.library = compile_probe(toolchain, precision, directory);
  SharedMemory memory(sizeof(double));
  auto* flops = memory.as<double>();
  run_in_child(
      [&] {
        if (void* library = dlopen(roof.library.c_str(), RTLD_NOW | RTLD_LOCAL))
          *flops = static_cast<double>(symbol<int64_t()>(library, "flops_per_step")());
      },
      20);
  roof.flops_per_step = *flops;
  return roof;
}

namespace {

constexpr int64_t kDram = 256 << 20;  // more than any cache of one core's share

// The arguments of a fake call: aligned, spread, huge pages.
PreparedCase two_buffers(int64_t bytes) {
  PreparedCase prepared;
  for (int k = 0; k < 2; ++k) {
    prepared.specs.push_back(ArgSpec::control("", 0));
    prepared.specs.back().kind = ArgSpec::Kind::kContext;
    prepared.specs.back().value = bytes;
  }
  prepared.args.resize(2);
  return prepared;
}

// Bytes a nanosecond, the best of some batches: what disturbs one only makes it slower.
double best_rate(int batches, double bytes, const std::function<void()>& pass) {
  double best = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = thread_seconds();
    pass();
    best = std::max(best, bytes / (thread_seconds() - start) * 1e-9);
  }
  return best;
}

}  // namespace

Bandwidth measure_bandwidth(const std::string& isa, const std::string& cc) {
  const Probe probe(toolchain_for(isa, cc), ElementType::kF32);
  const int64_t l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  const int64_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  const int64_t l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20);
  const std::vector<double> r = probe.measure(5, [&](void* library, double* out) {
    const PreparedCase prepared = two_buffers(kDram);
    GuardedArguments memory(prepared, GuardedArguments::Placement::kTiming);
    memory.fill(0);
    auto* from = static_cast<char*>(memory.pointers()[0]);
    auto* to = static_cast<char*>(memory.pointers()[1]);
    auto* read = symbol<int64_t(const char*, int64_t, int64_t)>(library, "read_memory");
    auto* copy = symbol<void(char*, const char*, int64_t)>(library, "copy_memory");
    volatile int64_t sink = 0;
    const int64_t sizes[] = {l1 / 2, l2 / 2, l3 / 2, kDram};
    for (int level = 0; level < 4; ++level) {
      const int64_t bytes = sizes[level] / 1024 * 1024;
      const int64_t times = std::max<int64_t>(1, (int64_t{128} << 20) / bytes);
      sink = read(from, bytes, 1);
      const double rate = best_rate(level < 3 ? 9 : 3, static_cast<double>(bytes * times),
                                    [&] { sink = read(from, bytes, times); });
      out[level] = std::max(out[level], rate);
    }
    out[4] = std::max(out[4], best_rate(3, 2.0 * kDram, [&] { copy(to, from, kDram); }));
    (void)sink;
  });
  return {r[0], r[1], r[2], r[3], r[4]};
}

}  // namespace exotune
