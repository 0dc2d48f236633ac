#include "search/families/rivals.h"

#include <dlfcn.h>
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/base/diagnostic.h"
#include "runners/peer_library.h"
#include "runners/shared_object.h"

namespace exotune {
const char* rival_source(const std::string& file);  // of rivals/, which the build carries
}

namespace exotune::families {
namespace {

// CBLAS's constants.
constexpr int kRows = 101, kNoTrans = 111, kTrans = 112, kUpper = 121, kLower = 122, kNonUnit = 131,
              kLeft = 141, kRight = 142;

template <class T>
// In [-1, 1): a linear congruence with the constants of Numerical Recipes; the same for every
// library.
std::vector<T> filled(size_t size, unsigned seed) {
  std::vector<T> values(size);
  unsigned state = seed;
  for (T& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<double>(state >> 8) / (1 << 23) - 1.0);
  }
  return values;
}

constexpr size_t kPage = 4096, kUnit = 16;  // bytes; malloc gives multiples of the second

// Numbers that begin at some multiple of kUnit in a page; the page behind the last is there, too.
template <class T>
class Placed {
 public:
  Placed(size_t size, unsigned seed, unsigned place) : memory_(size + 3 * kPage / sizeof(T)) {
    // Multiplied by a constant of hashing: places are spread over the page, array by array.
    const size_t unit = ((place * 8 + seed) * 2654435761u >> 16) % (kPage / kUnit);
    const size_t to_page = (kPage - reinterpret_cast<uintptr_t>(memory_.data()) % kPage) % kPage;
    begin_ = memory_.data() + (to_page + unit * kUnit) / sizeof(T);
    size_ = size;
    const std::vector<T> values = filled<T>(size, seed);
    std::copy(values.begin(), values.end(), begin_);
  }
  T* data() const { return begin_; }
  size_t size() const { return size_; }
  T& operator[](size_t k) { return begin_[k]; }

 private:
  std::vector<T> memory_;
  T* begin_;
  size_t size_;
};

template <class T>
struct Arrays {
  Placed<T> a, b, c;
  Arrays(const Workload& w, int n, unsigned place)
      : a(w.level == 1 ? n : square(n), 1, place),
        b(w.level == 3 ? square(n) : n, 2, place),
        c(w.level == 3 ? square(n) : n, 3, place) {
    const size_t side = static_cast<size_t>(n);
    // Solves and products by triangles are run again and again on their own result: with a matrix
    // next to the identity it neither grows nor vanishes.
    if (w.routine.rfind("tr", 0) != 0) return;
    for (size_t i = 0; i < side; ++i)  // next to the identity
      for (size_t j = 0; j < side; ++j)
        a[i * side + j] = i == j ? T(1) : static_cast<T>(1e-9) * a[i * side + j];
  }
  static size_t square(int n) { return static_cast<size_t>(n) * static_cast<size_t>(n); }
};

template <class T, class... Args>
// Calls of a C function with these types, put together from what it was given.
Calls bound(void* symbol, Args... args) {
  return [=](int64_t times) {
    auto* const f = reinterpret_cast<T (*)(Args...)>(symbol);
    for (int64_t k = 0; k < times; ++k) f(args...);
  };
}

// The arrays are written by some calls and read by all: the library's own affair.
template <class T>
Calls level1(void* f, const Workload& w, int n, T* x, T* y) {
  // rotm's flag -1: all four elements are given.
  static T h[5] = {-1, T(0.8), T(-0.6), T(0.6), T(0.8)};
  // Sums into y grow by a billionth with each call: no run becomes infinite or denormal.
  const T tiny = T(1e-9);
  if (w.routine == "axpy") return bound<void>(f, n, tiny, x, 1, y, 1);
  if (w.routine == "dot") return bound<T>(f, n, x, 1, y, 1);
  // Next to one: after a million calls the numbers are still numbers.
  if (w.routine == "scal") return bound<void>(f, n, T(0.9999999), x, 1);
  if (w.routine == "copy" || w.routine == "swap") return bound<void>(f, n, x, 1, y, 1);
  if (w.routine == "rot") return bound<void>(f, n, x, 1, y, 1, T(0.8), T(0.6));
  if (w.routine == "rotm") return bound<void>(f, n, x, 1, y, 1, &h[0]);
  if (w.routine == "iamax") return bound<size_t>(f, n, x, 1);
  return bound<T>(f, n, x, 1);  // asum, nrm2
}

template <class T>
Calls level2(void* f, const Workload& w, int n, T* a, T* x, T* y) {
  // beta is one, so that the result is read and written as in most uses.
  const T tiny = T(1e-9), one = 1;
  const int t = w.trans ? kTrans : kNoTrans, uplo = w.lower ? kLower : kUpper;
  if (w.routine == "gemv") return bound<void>(f, kRows, t, n, n, tiny, a, n, x, 1, one, y, 1);
  if (w.routine == "ger") return bound<void>(f, kRows, n, n, tiny, x, 1, y, 1, a, n);
  if (w.routine == "symv") return bound<void>(f, kRows, uplo, n, tiny, a, n, x, 1, one, y, 1);
  if (w.routine == "syr") return bound<void>(f, kRows, uplo, n, tiny, x, 1, a, n);
  if (w.routine == "syr2") return bound<void>(f, kRows, uplo, n, tiny, x, 1, y, 1, a, n);
  return bound<void>(f, kRows, uplo, t, kNonUnit, n, a, n, x, 1);  // trmv, trsv
}

template <class T>
Calls level3(void* f, const Workload& w, int n, T* a, T* b, T* c) {
  const T tiny = T(1e-9), one = 1;
  const int t = w.trans ? kTrans : kNoTrans, tb = w.transb ? kTrans : kNoTrans;
  const int uplo = w.lower ? kLower : kUpper, side = w.right ? kRight : kLeft;
  // Overwritten results do not grow from call to call: alpha is what it mostly is.
  if (w.routine == "gemm")
    return bound<void>(f, kRows, t, tb, n, n, n, w.overwrites ? one : tiny, a, n, b, n,
                       w.overwrites ? T(0) : one, c, n);
  if (w.routine == "symm")
    return bound<void>(f, kRows, side, uplo, n, n, tiny, a, n, b, n, one, c, n);
  if (w.routine == "syrk") return bound<void>(f, kRows, uplo, t, n, n, tiny, a, n, one, c, n);
  if (w.routine == "syr2k")
    return bound<void>(f, kRows, uplo, t, n, n, tiny, a, n, b, n, one, c, n);
  return bound<void>(f, kRows, side, uplo, t, kNonUnit, n, n, one, a, n, b, n);  // trmm, trsm
}

template <class T>
Calls call_of(void* f, const Workload& w, int n, Arrays<T>& arrays) {
  // One set for all rivals: each finds it where the one before left it, in memory and in value.
  T *a = arrays.a.data(), *b = arrays.b.data(), *c = arrays.c.data();
  if (w.level == 1) return level1<T>(f, w, n, a, b);
  return w.level == 2 ? level2<T>(f, w, n, a, b, c) : level3<T>(f, w, n, a, b, c);
}

}  // namespace

Rival::Rival(std::string name, const std::vector<std::string>& paths) : name_(std::move(name)) {
  for (const std::string& path : paths) {
    // RTLD_LOCAL: every library exports the same names.
    handles_.push_back(dlopen(path.empty() ? nullptr : path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (handles_.back() == nullptr) throw InputError({}, name_ + " does not load: " + dlerror());
  }
}

void* Rival::find(const std::string& symbol) const {
  // The first that has the symbol: what completes a peer stands before the peer.
  for (void* handle : handles_)
    if (void* found = dlsym(handle, symbol.c_str())) return found;
  return nullptr;
}

namespace {

// What a peer that was made here lacks of CBLAS, compiled the same way; "" when it has all, or what
// it lacks does not compile.
std::string rest_of(const Peer& peer, const TargetToolchain& toolchain, const std::string& folder) {
  SharedObjectRequest request;
  request.name = "rival-" + peer.library;
  request.flags = toolchain.flags;
  const bool clang = toolchain.cc.find("clang") != std::string::npos;
  // Headers only: the calls of CBLAS are a source of ours around it.
  if (peer.library == "eigen") {
    request.compiler = clang ? "clang++" : "g++";
    request.extension = ".cc";
    request.source = rival_source("eigen.cc");
    for (const char* flag : {"-O3", "-w", "-std=c++17", "-DNDEBUG", "-DEIGEN_DONT_PARALLELIZE",
                             "-I/usr/include/eigen3", "-I/usr/local/include/eigen3"})
      request.flags.emplace_back(flag);
  } else if (peer.library == "c") {
    request.compiler = toolchain.cc;
    request.source = rival_source("plain.c");
    for (const char* flag : {"-O3", "-w", "-std=gnu11", "-ffast-math"})
      request.flags.emplace_back(flag);
  } else {
    return "";
  }
  std::string error;
  return compile_shared_object(request, folder, &error);
}

}  // namespace

std::vector<RivalLibrary> rival_libraries(const std::vector<Peer>& peers,
                                          const TargetToolchain& toolchain,
                                          const std::string& folder) {
  std::vector<RivalLibrary> out;
  std::vector<std::string> seen;
  for (const Peer& peer : peers) {
    const bool open = peer.library == "openblas", blis = peer.library == "blis";
    if (!open && !blis && peer.library != "eigen" && peer.library != "c") continue;
    // Another core type of the same library would be the same one again.
    if (std::find(seen.begin(), seen.end(), peer.path) != seen.end()) continue;
    seen.push_back(peer.path);
    RivalLibrary library{peer.name, {peer.path}, "", peer.core_type, open || blis};
    if (!peer.core_type.empty())
      library.core_variable = open ? "OPENBLAS_CORETYPE" : "BLIS_ARCH_TYPE";
    if (const std::string rest = rest_of(peer, toolchain, folder); !rest.empty())
      library.paths.insert(library.paths.begin(), rest);
    out.push_back(std::move(library));
  }
  return out;
}

Rival load_rival(const RivalLibrary& library, int threads) {
  // Libraries read it when they are loaded or set up.
  clear_peer_environment();
  const std::string number = std::to_string(threads);
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS"})
    setenv(variable, number.c_str(), 1);
  if (!library.core_variable.empty())
    setenv(library.core_variable.c_str(), library.core.c_str(), 1);
  Rival rival(library.name, library.paths);
  // BLIS reads it at its first call otherwise, when the next one's words stand there.
  if (auto* const init = reinterpret_cast<void (*)()>(rival.find("bli_init"))) init();
  return rival;
}

std::string Workload::title(bool is_double) const {
  const std::string p = is_double ? "d" : "s";
  // The letter of the precision stands behind the i.
  const std::string name = routine == "iamax" ? "i" + p + "amax" : p + routine;
  return variant.empty() ? name : name + " " + variant;
}

double Workload::flops(double n) const {
  // By convention, as all benchmarks of the BLAS count; copy and swap do none, and are seen in
  // bytes.
  if (level == 1) return 2 * n;
  // Half of a matrix, or a triangle: half of the products.
  const bool half = routine == "syr" || routine == "syrk" || routine.rfind("tr", 0) == 0;
  return (half ? 1 : 2) * n * n * (level == 3 ? n : 1);
}

double Workload::bytes(double n, bool is_double) const {
  const double size = is_double ? 8 : 4;
  // Reads one vector only.
  const bool one =
      routine == "scal" || routine == "asum" || routine == "nrm2" || routine == "iamax";
  if (level == 1) return (one ? 1 : 2) * n * size;
  const bool half = routine.rfind("sy", 0) == 0 || routine.rfind("tr", 0) == 0;
  if (level == 2) return (half ? 0.5 : 1) * n * n * size;
  const double others = routine == "gemm" || routine == "symm" || routine == "syr2k" ? 2 : 1;
  return (others + (half ? 0.5 : 1)) * n * n * size;
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      {"axpy", "", 1},
      {"dot", "", 1},
      {"scal", "", 1},
      {"copy", "", 1},
      {"swap", "", 1},
      {"asum", "", 1},
      {"nrm2", "", 1},
      {"iamax", "", 1},
      {"rot", "", 1},
      {"rotm", "", 1},
      {"gemv", "", 2},
      {"gemv", "T", 2, true},
      {"ger", "", 2},
      {"symv", "lower", 2},
      {"symv", "upper", 2, false, false, false},
      {"syr", "lower", 2},
      {"syr2", "lower", 2},
      {"trmv", "lower", 2},
      {"trmv", "upper T", 2, true, false, false},
      {"trsv", "lower", 2},
      {"trsv", "upper", 2, false, false, false},
      {"trsv", "lower T", 2, true},
      {"gemm", "", 3},
      {"gemm", "A B'", 3, false, true},
      {"gemm", "A' B", 3, true},
      // By far the most of what programs call; libraries have code of its own for it.
      {"gemm", "beta 0", 3, false, false, true, false, true},
      {"gemm", "A B' beta 0", 3, false, true, true, false, true},
      {"gemm", "A' B beta 0", 3, true, false, true, false, true},
      {"symm", "lower", 3},
      {"syrk", "lower", 3},
      {"syr2k", "lower", 3},
      {"trmm", "left lower", 3},
      {"trmm", "right lower", 3, false, false, true, true},
      {"trsm", "left lower", 3},
      {"trsm", "right lower", 3, false, false, true, true},
  };
  return all;
}

const std::vector<int>& sizes_of_level(int level) {
  // Some powers of two, some beside them, and such that fall into each level of usual caches.
  static const std::vector<int> vectors = {1,     2,     4,      8,      16,      33,     64,
                                           100,   256,   500,    1000,   2048,    4096,   10000,
                                           30000, 65536, 200000, 500000, 1000000, 4000000};
  static const std::vector<int> matrices = {1,  2,   4,   6,   8,   12,  16,  24,   33,   48,
                                            64, 100, 128, 200, 256, 400, 512, 1000, 1500, 3000};
  static const std::vector<int> products = {1,  2,  4,   6,   8,   12,  16,  20,  24,  33,
                                            48, 64, 100, 128, 192, 256, 384, 512, 777, 1024};
  return level == 1 ? vectors : level == 2 ? matrices : products;
}

struct WorkloadArrays::Memory {
  Workload workload;
  int n;
  std::unique_ptr<Arrays<float>> single;
  std::unique_ptr<Arrays<double>> twice;
};

WorkloadArrays::WorkloadArrays(const Workload& workload, int n, bool is_double, unsigned place)
    : memory_(std::make_unique<Memory>()) {
  memory_->workload = workload;
  memory_->n = n;
  if (is_double)
    memory_->twice = std::make_unique<Arrays<double>>(workload, n, place);
  else
    memory_->single = std::make_unique<Arrays<float>>(workload, n, place);
}

WorkloadArrays::~WorkloadArrays() = default;

Calls WorkloadArrays::call(const Rival& rival) const {
  const Workload& w = memory_->workload;
  const bool is_double = memory_->twice != nullptr;
  Workload plain = w;
  plain.variant.clear();
  // Nothing to call: this library does not have the routine.
  void* f = rival.find("cblas_" + plain.title(is_double));
  if (f == nullptr) return {};
  return is_double ? call_of<double>(f, w, memory_->n, *memory_->twice)
                   : call_of<float>(f, w, memory_->n, *memory_->single);
}

void WorkloadArrays::flush() const {
  const auto out = [](const auto& values) {
    const char* const begin = reinterpret_cast<const char*>(values.data());
    for (size_t at = 0; at < values.size() * sizeof(*values.data()) + 64; at += 64)
      _mm_clflush(begin + at);
  };
  const auto all = [&](const auto& arrays) { out(arrays.a), out(arrays.b), out(arrays.c); };
  if (memory_->twice != nullptr)
    all(*memory_->twice);
  else
    all(*memory_->single);
  _mm_mfence();
}

}  // namespace exotune::families
