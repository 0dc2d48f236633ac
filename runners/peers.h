#pragma once
// Peers: the libraries a kernel is measured against: OpenBLAS, BLIS, oneDNN,
// libxsmm, Eigen and plain C, one
// thread each, or as many as the toolchain says (plain C: always one). Start at discover_peers,
// then put PeerCalls into a shoot-out (shootout.h).
//
// A library is loaded only in the child that times it (dlopen, RTLD_LOCAL), after the environment
// variables that would falsify it were removed. OpenBLAS appears once per core type that is worth
// having for level 1 (SkylakeX and Cooperlake), as two copies in one process. Which libraries there
// are is in peers/libraries.cc, which operations in peers/operations.cc, a row each.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runners/candidate.h"
#include "runners/runner.h"
#include "runners/toolchain.h"

namespace exotune {

enum class BlasOp {
  kGemm,
  kGemv,
  kGer,
  kSymv,
  kSyr,
  kSyr2,
  kTrmv,
  kTrsv,
  kAxpy,
  kDot,
  kDsdot,
  kScal,
  kCopy,
  kSwap,
  kAsum,
  kRot,
  kRotm,
  kConv2d,
  kRead,
  kGemm2,
};
/// All of them, in the order above.
const std::vector<BlasOp>& blas_ops();
const char* blas_op_name(BlasOp op);  // "gemm", ...
/// 1 for vectors, 2 for a matrix and vectors, 3 for matrices.
int blas_level(BlasOp op);

/// A factor of a BLAS call: a constant, or the value a data scalar argument holds.
struct PeerScalar {
  double value = 1;
  int arg = -1;  // index into the arguments; -1 = `value`
};

/// One BLAS call over a candidate's arguments, row-major. Buffers are indices into the arguments.
///   gemm  C(m,n) = alpha op(A)(m,k) op(B)(k,n) + beta C      a, b, c
///   gemv  y = alpha op(A) x + beta y, A is m by n            a, x, y
///   ger   A(m,n) += alpha x y^T                              a, x, y
///   symv  y = alpha A x + beta y, A symmetric, n by n        a, x, y
///   syr   A += alpha x x^T; syr2: alpha (x y^T + y x^T)      a, x, y
///   trmv  x = op(A) x; trsv: x = op(A)^-1 x, A triangular    a, x
///   axpy  y += alpha x; scal x *= alpha; copy y = x; swap    x, y, length n
///   dot   result = x.y (+= when beta is 1); asum             x, y, result
///   dsdot result = x.y, x and y f32, summed and given in f64  x, y, result; type f64
///   rot   (x, y) = (c x + s y, c y - s x)                    x, y; alpha is c, beta is s
///   rotm  (x, y) = (h11 x + h12 y, h21 x + h22 y)            x, y, h
///   conv2d  c(batch, height, width, n) = sum of the taps by taps windows of the image
///         a(batch, height + taps - 1, width + taps - 1, k) times b(taps, taps, k, n), plus x(n);
///         then max(0, c) when `rectify`                      a, b, c, x
///   gemm2 C(m,l) += (A(m,k) B(k,n)) X(n,l): two calls, with memory for the product between
///         them                                               a, b, c, x
///   read  no result: every byte of `a` once. Not a rival but the roof of a kernel that has to
///         read it: the bandwidth seen in the same rounds           a
/// Symmetric and triangular: only the lower triangle is referred to, or the upper one.
/// A leading dimension or increment of 0 means the one of the argument's own shape and strides.
struct PeerProblem {
  BlasOp op = BlasOp::kGemm;
  ElementType type = ElementType::kF32;  // f32 or f64
  int64_t m = 0, n = 0, k = 0, l = 0;
  bool trans_a = false, trans_b = false;
  bool upper = false, unit_diagonal = false;
  int64_t batch = 0, height = 0, width = 0, taps = 0;  // conv2d
  bool rectify = false;
  PeerScalar alpha{1, -1}, beta{0, -1};
  PeerScalar h[4] = {{1, -1}, {0, -1}, {0, -1}, {1, -1}};  // h11, h21, h12, h22
  int a = -1, b = -1, c = -1, x = -1, y = -1, result = -1;
  int64_t lda = 0, ldb = 0, ldc = 0, incx = 0, incy = 0;
};

/// A library's call, or plain C, that does what a kernel does: where it lies and how it is held to
/// the kernel's instruction set and to one thread. It is loaded in a process of its own.
struct Peer {
  std::string name;  // "openblas", "openblas-cooperlake", "blis", "onednn", "eigen", "c", "reads"
  std::string library;    // its row in peers/libraries.h; "" = a library that the user named
  std::string path;       // the shared object
  std::string adapter;    // another, compiled here, with what the library offers in C++ only
  std::string core_type;  // OPENBLAS_CORETYPE / BLIS_ARCH_TYPE / DNNL_MAX_CPU_ISA to set
  std::string version;    // what the library says of itself, with the core it chose
  int threads = 1;
  bool supports(const PeerProblem& problem) const;
};

struct PeerCall {
  Peer peer;
  PeerProblem problem;
};

struct PeerOptions {
  std::string cache_directory;  // for the compiled Eigen and C peers; "" = $XDG_CACHE_HOME/exo-tune
                                // or the like
  std::vector<std::string> only;  // peer names; empty = all
  /// The one problem that will be asked of them: what is compiled may leave out the rest (all of
  /// Eigen's operations take a compiler half a minute, its product of floats a quarter of that).
  std::optional<PeerProblem> problem;
};

struct PeerReport {
  std::vector<Peer> peers;                       // those that load and work
  std::vector<std::string> absent;               // "blis: no libblis.so.4 found"
  std::vector<std::string> cleared_environment;  // "OPENBLAS_CORETYPE=Haswell"
};

/// Finds, compiles (Eigen, C) and load-tests every peer for `toolchain`. Never throws for an
/// absent one. Some seconds the first time (Eigen compiles), milliseconds with a warm cache.
PeerReport discover_peers(const TargetToolchain& toolchain, const PeerOptions& options = {});

/// The name under which a table shows it: a library that is not let loose on this machine, because
/// the target's own instructions are none it knows, is "openblas (held to plain code)".
std::string shown_name(const Peer& peer, const TargetToolchain& toolchain);

/// Any shared object with cblas_ functions as a peer, under its file's name. InputError when there
/// is no such file; what it lacks shows when it is called.
Peer cblas_library(const std::string& path);

/// Runs one peer on `test` in a child, correctness only: status and cause as for a candidate.
TrialResult check_peer(const PeerCall& call, const std::vector<ArgSpec>& args, const TestCase& test,
                       double timeout_seconds = 10);

}  // namespace exotune
