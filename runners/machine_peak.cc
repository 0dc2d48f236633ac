#include "runners/machine_peak.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/diagnostic.h"
#include "runners/batch_timer.h"
#include "runners/sandbox.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

constexpr int64_t kRoofSteps = 5000;  // of one call among the contenders

// Vector extensions, or the instruction that a target names: one text for every machine. 12 chains
// cover a latency of 4 on two pipes with a margin, and fit 16 registers.
constexpr const char* kSource = R"probe(
typedef T V __attribute__((vector_size(BYTES)));
#define LANES (BYTES / sizeof(T))

#ifdef OPERATIONS
/* Chains of the target's own instruction, each from another start: equal ones would become one. */
ROOF {
  BEGIN;
  OPERAND x, y;
  CHAIN c[12];
  memset(&x, 0x3f, sizeof x);
  memset(&y, 0x3f, sizeof y);
  for (int k = 0; k < 12; ++k) memset(&c[k], k + (int)seed, sizeof c[k]);
  CHAIN a0 = c[0], a1 = c[1], a2 = c[2], a3 = c[3], a4 = c[4], a5 = c[5], a6 = c[6], a7 = c[7], a8 = c[8],
    a9 = c[9], a10 = c[10], a11 = c[11];
  for (int64_t i = 0; i < steps; ++i) {
    a0 = step(a0, x, y); a1 = step(a1, x, y); a2 = step(a2, x, y); a3 = step(a3, x, y);
    a4 = step(a4, x, y); a5 = step(a5, x, y); a6 = step(a6, x, y); a7 = step(a7, x, y);
    a8 = step(a8, x, y); a9 = step(a9, x, y); a10 = step(a10, x, y); a11 = step(a11, x, y);
  }
  CHAIN last[12] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
  const char* bytes = (const char*)last;
  double r = 0;
  for (unsigned k = 0; k < sizeof last; ++k) r += bytes[k];
  return r;
}
int64_t flops_per_step(void) { return 12 * OPERATIONS; }
#else
/* 12 * LANES * 2 floating-point operations a step. */
ROOF {
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

/// The probe's text for `precision`: of the target's own instruction where it names one.
std::string source_for(const TargetToolchain& toolchain, ElementType precision) {
  const std::string name = element_name(precision);
  const auto own = toolchain.roofs.find(name);
  if (own == toolchain.roofs.end()) {
    if (precision == ElementType::kF32) return "#define T float\n" + std::string(kSource);
    if (precision == ElementType::kF64) return "#define T double\n" + std::string(kSource);
    throw Error(Diagnostic{{},
                           "nothing measures the peak of " + name + " for " + toolchain.isa,
                           {},
                           "name an instruction in [roof." + name + "] of the target's text"},
                ExitCode::kUnavailable);
  }
  const RoofLoop& loop = own->second;
  std::string text;
  for (const std::string& line : toolchain.includes) text += line + "\n";
  text += "typedef " + loop.chain + " CHAIN;\ntypedef " + loop.operand + " OPERAND;\n";
  text += "static inline CHAIN step(CHAIN a, OPERAND x, OPERAND y) { " + loop.step +
          "; return a; }\n#define OPERATIONS " + std::to_string(loop.operations) +
          "\n#define BEGIN " + loop.begin + "\n";
  return text + "#define T float\n" + kSource;
}

/// The probe for one vector width, compiled and gone with the object.
class Probe {
 public:
  Probe(const TargetToolchain& toolchain, ElementType precision)
      : directory_(""),
        library_(compile_roof(toolchain, source_for(toolchain, precision), directory_.path())) {}

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

double measure_peak(const TargetToolchain& toolchain, ElementType precision) {
  const Probe probe(toolchain, precision);
  return probe.measure(1, [](void* library, double* best) {
    auto* run = symbol<double(int64_t, double)>(library, "roof");
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
  roof.library = compile_roof(toolchain, source_for(toolchain, precision), directory);
  SharedMemory memory(sizeof(double));
  auto* flops = memory.as<double>();
  run_in_child(
      [&] {
        if (void* library = dlopen(roof.library.c_str(), RTLD_NOW | RTLD_LOCAL))
          *flops = static_cast<double>(symbol<int64_t()>(library, "flops_per_step")());
      },
      20);
  roof.steps = kRoofSteps;
  roof.work = *flops * static_cast<double>(kRoofSteps);
  return roof;
}

namespace {

constexpr int64_t kDram = 256 << 20;  // more than any cache of one core's share

// The arguments of a fake call: aligned, on huge pages.
constexpr int kOnHugePages = 2;  // the variation of GuardedArguments
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

Bandwidth measure_bandwidth(const TargetToolchain& toolchain) {
  const Probe probe(toolchain, ElementType::kF32);
  const int64_t l1 = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  const int64_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  const int64_t l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20);
  const std::vector<double> r = probe.measure(5, [&](void* library, double* out) {
    const PreparedCase prepared = two_buffers(kDram);
    GuardedArguments memory(prepared, GuardedArguments::Placement::kTiming, kOnHugePages);
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
