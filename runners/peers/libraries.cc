#include "runners/peers/libraries.h"

#include <dlfcn.h>

namespace exotune {
namespace {

std::string text_of(void* library, const char* function) {
  using Text = const char* (*)();
  const auto f = reinterpret_cast<Text>(dlsym(library, function));
  const char* s = f ? f() : nullptr;
  return s ? s : "";
}

std::string openblas_version(void* library) {
  const std::string config = text_of(library, "openblas_get_config");  // "OpenBLAS 0.3.21 DYN..."
  const size_t second = config.find(' ', config.find(' ') + 1);
  return config.substr(0, second) + " " + text_of(library, "openblas_get_corename");
}

std::string blis_version(void* library) {
  using Query = int (*)();
  using Name = const char* (*)(int);
  const auto query = reinterpret_cast<Query>(dlsym(library, "bli_arch_query_id"));
  const auto name = reinterpret_cast<Name>(dlsym(library, "bli_arch_string"));
  return "BLIS " + text_of(library, "bli_info_get_version_str") +
         (query && name ? std::string(" ") + name(query()) : "");
}

std::string onednn_version(void* library) {
  struct Version {
    int major, minor, patch;
  };
  using Query = const Version* (*)();
  const auto query = reinterpret_cast<Query>(dlsym(library, "dnnl_version"));
  if (!query) return "oneDNN";
  const Version& v = *query();
  return "oneDNN " + std::to_string(v.major) + "." + std::to_string(v.minor) + "." +
         std::to_string(v.patch);
}

std::string own_version(void* library) { return text_of(library, "peer_version"); }

// Its second core differs in the level 1 kernels only.
bool openblas_serves(const Peer& peer, const PeerProblem& p) {
  return p.op != BlasOp::kConv2d && (blas_level(p.op) == 1 || peer.name == "openblas");
}
bool blis_serves(const Peer&, const PeerProblem& p) { return p.op != BlasOp::kConv2d; }

bool onednn_serves(const Peer& peer, const PeerProblem& p) {
  if (p.type != ElementType::kF32) return false;
  if (p.op == BlasOp::kConv2d) return !peer.adapter.empty();
  return p.op == BlasOp::kGemm || p.op == BlasOp::kGemm2;
}

bool eigen_serves(const Peer&, const PeerProblem& p) {
  if (p.op == BlasOp::kTrmv || p.op == BlasOp::kTrsv) return !p.trans_a && !p.unit_diagonal;
  return p.op != BlasOp::kConv2d;
}

// The products are what is asked for most, and a quarter of the work each for one type.
std::vector<std::string> eigen_part(const PeerProblem& p) {
  if (p.op != BlasOp::kGemm && p.op != BlasOp::kGemm2) return {};
  // One in floats is always there: what was made is tried with it.
  return p.type == ElementType::kF32 ? std::vector<std::string>{"-DPEER_PRODUCTS", "-DPEER_FLOAT"}
                                     : std::vector<std::string>{"-DPEER_PRODUCTS"};
}

// Products that its authors call small, as they lie, added to the result or in its place.
bool libxsmm_serves(const Peer&, const PeerProblem& p) {
  // Its own bound, LIBXSMM_MAX_MNK by default.
  constexpr int64_t kSmall = int64_t{64} * 64 * 64;
  const bool plain = p.alpha.arg < 0 && p.alpha.value == 1 && p.beta.arg < 0 &&
                     (p.beta.value == 0 || p.beta.value == 1);
  return p.op == BlasOp::kGemm && !p.trans_a && !p.trans_b && plain && p.m * p.n <= kSmall &&
         p.m * p.n * p.k <= kSmall;
}

std::vector<PeerLibrary> rows() {
  const std::vector<std::string> c_compilers = {"clang", "gcc", "cc"};
  return {
      {.name = "openblas",
       .variable = "OPENBLAS_CORETYPE",
       .plain_core = "Prescott",
       .files = {"libopenblas.so.0", "libopenblas.so"},
       .folders = {"openblas-serial", "openblas-pthread", "openblas-openmp", ""},
       .folders_of_threads = {"openblas-pthread", "openblas-openmp", ""},
       .serves = openblas_serves,
       .version = openblas_version},
      // BLIS 0.9 takes numbers only: 5 is penryn. Left to itself it may not know the core and fall
      // to its generic kernels.
      {.name = "blis",
       .variable = "BLIS_ARCH_TYPE",
       .plain_core = "5",
       .files = {"libblis.so.4", "libblis.so.3", "libblis.so"},
       .folders = {"blis-serial", "blis-pthread", "blis-openmp", ""},
       .folders_of_threads = {"blis-openmp", "blis-pthread", ""},
       .serves = blis_serves,
       .version = blis_version},
      // Its convolution has no stable C interface: compiled against its headers where they are.
      {.name = "onednn",
       .variable = "DNNL_MAX_CPU_ISA",
       .plain_core = "SSE41",
       .files = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"},
       .adapter = "onednn_convolution.cc",
       .serves = onednn_serves,
       .version = onednn_version},
      // It makes no plain code.
      {.name = "libxsmm",
       .variable = "LIBXSMM_TARGET",
       .plain_core = std::nullopt,
       .source = "libxsmm.c",
       .compilers = c_compilers,
       .flags = {"-O2", "-w"},
       .libraries = {"-lxsmm", "-lxsmmnoblas", "-lpthread", "-ldl"},
       .header = "libxsmm.h",
       .threads = false,
       .serves = libxsmm_serves,
       .version = own_version},
      {.name = "eigen",
       .source = "eigen.cc",
       .compilers = {"clang++", "g++"},
       .flags = {"-O3", "-w", "-std=c++17", "-DNDEBUG", "-I/usr/include/eigen3",
                 "-I/usr/local/include/eigen3"},
       .one_thread = "-DEIGEN_DONT_PARALLELIZE",
       .many_threads = "-fopenmp",
       .part = eigen_part,
       .header = "Eigen/Core",
       .description = "Eigen, ",
       .serves = eigen_serves},
      // What one thread can read is no roof for several.
      {.name = "reads",
       .source = "reading.c",
       .compilers = c_compilers,
       .flags = {"-O3", "-w", "-std=gnu11", "-ffast-math"},
       .threads = false,
       .multiplies = false},
      {.name = "c",
       .source = "plain.c",
       .compilers = c_compilers,
       .flags = {"-O3", "-w", "-std=gnu11", "-ffast-math"},
       .threads = false},
  };
}

}  // namespace

const std::vector<PeerLibrary>& peer_libraries() {
  static const std::vector<PeerLibrary> all = rows();
  return all;
}

const PeerLibrary* find_peer_library(const std::string& name) {
  for (const PeerLibrary& row : peer_libraries())
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace exotune
