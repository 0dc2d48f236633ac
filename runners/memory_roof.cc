#include "runners/memory_roof.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace exotune {

namespace {

constexpr double kMostMoved = 256 << 20;  // of the arrays: memory is no slower behind that
constexpr int kMovedAtOnce = 8;           // vectors of the largest array in one iteration

// Vectors go side by side: a core loads and stores at once. What lies beyond the caches is written
// without being read first, which no kernel has to do.
constexpr const char* kMoves = R"roof(
#include <stdlib.h>
#include <sys/mman.h>
static char* pages(int64_t bytes) {
  const int64_t huge = 2 << 20;
  char* p;
  if (bytes == 0) return 0;
  bytes = (bytes + huge - 1) / huge * huge;
  if (posix_memalign((void**)&p, huge, bytes)) return 0;
  madvise(p, bytes, MADV_HUGEPAGE);
  memset(p, 1, bytes);
  return p;
}
#if PAST_CACHES && defined(__clang__)
#define PUT(to, value) __builtin_nontemporal_store(value, &(to))
#else
#define PUT(to, value) ((to) = (value))
#endif
ROOF {
  static char *in, *out, *both;
  const int64_t iterations = ITERATIONS;
  if (!in && !out && !both) {
    in = pages(iterations * READ * BYTES);
    out = pages(iterations * WRITTEN * BYTES);
    both = pages(iterations * UPDATED * BYTES);
  }
  if (!in != !READ || !out != !WRITTEN || !both != !UPDATED) return 0;
  Words s[8], x;
  memset(s, 0, sizeof s);
  memset(&x, (int)seed, sizeof x);
  Words s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3], s4 = s[4], s5 = s[5], s6 = s[6], s7 = s[7];
  for (int64_t step = 0; step < steps; ++step) {
    const Words* r = (const Words*)in;
    Words *w = (Words*)out, *u = (Words*)both;
    for (int64_t i = 0; i < iterations; ++i) {
BODY
      r += READ_STEP, w += WRITTEN_STEP, u += UPDATED_STEP;
    }
    __asm__ volatile("" : : : "memory");
  }
  s0 ^= s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6 ^ s7;
  double sum = 0;
  for (unsigned l = 0; l < BYTES / 8; ++l) sum += (double)s0[l];
  return sum;
}
)roof";

// One of the three arrays: so many of its vectors are moved in an iteration, in several streams far
// apart, as memory gives more to four than to one. Past the caches lines are filled side by side.
struct Moved {
  int vectors = 0;
  bool one_stream = false;
  int streams() const {
    for (const int n : {4, 3, 2})
      if (!one_stream && vectors % n == 0) return n;
    return 1;
  }
  int of_each_stream() const { return vectors / streams(); }
  // "[2 * iterations + 1]": vector number k of an iteration.
  std::string place(int k) const {
    const int stream = k / of_each_stream();
    return "[" + std::to_string(stream * of_each_stream()) + " * iterations + " +
           std::to_string(k % of_each_stream()) + "]";
  }
};

// Statements that move one vector each, those of the three arrays mixed evenly.
std::string body_of(const Moved& read, const Moved& written, const Moved& updated) {
  std::string out;
  for (int k = 0; k < kMovedAtOnce; ++k) {
    if (k < read.vectors) out += "      s" + std::to_string(k) + " ^= r" + read.place(k) + ";\n";
    if (k < updated.vectors) out += "      u" + updated.place(k) + " ^= x;\n";
    if (k < written.vectors) out += "      PUT(w" + written.place(k) + ", x);\n";
  }
  return out;
}

int64_t bytes_of_caches() {
  const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return last > 0 ? last : 32 << 20;  // an ordinary one, where nobody says
}

}  // namespace

Roof make_memory_roof(const TargetToolchain& toolchain, const Traffic& traffic,
                      const std::string& directory) {
  const double largest = std::max({traffic.read, traffic.written, traffic.updated});
  Roof out;
  out.of_memory = true;
  if (largest <= 0) return out;
  const int bytes = std::max(toolchain.vector_bytes, 16);
  const bool past_caches = traffic.footprint() > static_cast<double>(bytes_of_caches());
  // The largest array has all vectors of an iteration, the others their share of that.
  const auto vectors = [&](double array) {
    return static_cast<int>(std::lround(kMovedAtOnce * array / largest));
  };
  const Moved read{vectors(traffic.read)}, written{vectors(traffic.written), past_caches},
      updated{vectors(traffic.updated)};
  const double share = std::min(1.0, kMostMoved / traffic.footprint());
  const auto iterations =
      static_cast<int64_t>(std::max(1.0, std::ceil(share * largest / (kMovedAtOnce * bytes))));
  std::string source = kMoves;
  source.replace(source.find("BODY"), 4, body_of(read, written, updated));
  const auto define = [](const char* name, int64_t value) {
    return "#define " + std::string(name) + " " + std::to_string(value) + "\n";
  };
  std::string head = define("ITERATIONS", iterations) + define("PAST_CACHES", past_caches);
  head += define("READ", read.vectors) + define("READ_STEP", read.of_each_stream());
  head += define("WRITTEN", written.vectors) + define("WRITTEN_STEP", written.of_each_stream());
  head += define("UPDATED", updated.vectors) + define("UPDATED_STEP", updated.of_each_stream());
  out.library = compile_roof(toolchain, head + source, directory);
  out.steps = 1;
  out.work = static_cast<double>(iterations * bytes *
                                 (read.vectors + written.vectors + 2 * updated.vectors));
  return out;
}

}  // namespace exotune
