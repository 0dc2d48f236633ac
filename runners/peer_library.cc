#include "runners/peer_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <set>

#include "runners/threads.h"

extern char** environ;

namespace exotune {

const std::vector<std::string>& peer_environment_prefixes() {
  static const std::vector<std::string> prefixes = {
      "OPENBLAS_", "GOTO_", "BLIS_", "DNNL_", "ONEDNN_", "MKL_", "OMP_", "GOMP_", "KMP_"};
  return prefixes;
}

void clear_peer_environment() {
  std::vector<std::string> names;
  for (char** e = environ; *e; ++e)
    for (const std::string& prefix : peer_environment_prefixes())
      if (strncmp(*e, prefix.c_str(), prefix.size()) == 0) names.emplace_back(*e, strcspn(*e, "="));
  for (const std::string& name : names) unsetenv(name.c_str());
}

namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112, kUpper = 121, kLower = 122,
              kNonUnit = 131, kUnit = 132;

/// A second instance of a library that is loaded already: the loader tells files apart by inode, so
/// it gets a copy in memory.
void* open_copy(const std::string& path) {
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int copy = memfd_create("peer", MFD_CLOEXEC);
  struct stat info {};
  void* library = nullptr;
  if (from >= 0 && copy >= 0 && fstat(from, &info) == 0) {
    off_t left = info.st_size;
    while (left > 0) {
      const ssize_t n = sendfile(copy, from, nullptr, static_cast<size_t>(left));
      if (n <= 0) break;
      left -= n;
    }
    if (left == 0)
      library = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (from >= 0) close(from);
  return library;  // the copy stays open as long as the process lives
}

/// The handle of the peer's library, set up for its threads.
void* open_library(const Peer& peer, std::string* error) {
  static std::map<std::pair<std::string, std::string>, void*> loaded;  // path, core type
  static std::set<std::string> paths;
  void*& library = loaded[{peer.path, peer.core_type}];
  if (library) return library;
  clear_peer_environment();
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"})
    setenv(name, std::to_string(peer.threads).c_str(), 1);
  if (!peer.core_type.empty()) {
    const char* variable = peer.kind == Peer::Kind::kOpenBlas ? "OPENBLAS_CORETYPE"
                           : peer.kind == Peer::Kind::kBlis   ? "BLIS_ARCH_TYPE"
                                                              : "DNNL_MAX_CPU_ISA";
    setenv(variable, peer.core_type.c_str(), 1);
  }
  library = paths.insert(peer.path).second ? dlopen(peer.path.c_str(), RTLD_NOW | RTLD_LOCAL)
                                           : open_copy(peer.path);
  if (!library) {
    const char* text = dlerror();
    *error = text ? text : "cannot be loaded";
    return nullptr;
  }
  using Init = void (*)();
  using Threads = void (*)(long);
  if (auto init = reinterpret_cast<Init>(dlsym(library, "bli_init"))) init();
  for (const char* name : {"bli_thread_set_num_threads", "openblas_set_num_threads"})
    if (auto set = reinterpret_cast<Threads>(dlsym(library, name))) set(peer.threads);
  if (peer.threads > 1) limit_threads(library, peer.threads);
  return library;
}

template <class F>
F* find(void* library, const std::string& name, std::string* error) {
  void* symbol = dlsym(library, name.c_str());
  if (!symbol) *error = "has no " + name;
  return reinterpret_cast<F*>(symbol);
}

/// The arguments of one call, looked up in a candidate's.
template <class T>
struct Operands {
  const PeerProblem& problem;
  const std::vector<ArgSpec>& args;
  void** pointers;

  T* data(int arg) const {
    if (arg < 0) return nullptr;
    const auto a = static_cast<size_t>(arg);
    return static_cast<T*>(
        args[a].kind == ArgSpec::Kind::kWindow ? *static_cast<void**>(pointers[a]) : pointers[a]);
  }
  T scalar(const PeerScalar& s) const { return s.arg < 0 ? static_cast<T>(s.value) : *data(s.arg); }
  int leading(int arg, int64_t given) const {
    if (given > 0 || arg < 0) return static_cast<int>(given);
    return static_cast<int>(args[static_cast<size_t>(arg)].element_strides().at(0));
  }
  int increment(int arg, int64_t given) const {
    if (given > 0 || arg < 0) return static_cast<int>(given);
    const std::vector<int64_t> strides = args[static_cast<size_t>(arg)].element_strides();
    return strides.empty() ? 1 : static_cast<int>(strides.back());
  }
};

/// Calls each of the closures in turn.
template <class Call>
BoundCall in_turn(std::vector<Call> calls_of_sets) {
  return [all = std::move(calls_of_sets)](int64_t calls) {
    for (int64_t i = 0, s = 0; i < calls; ++i) {
      all[static_cast<size_t>(s)]();
      s = s + 1 < static_cast<int64_t>(all.size()) ? s + 1 : 0;
    }
  };
}

using DnnlSgemm = int(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                      const float*, int64_t, float, float*, int64_t);

template <class T>
Binder bind_blas(void* library, const Peer& peer, const PeerProblem& p,
                 const std::vector<ArgSpec>& args, std::string* error) {
  const char* precision = p.op == BlasOp::kDsdot ? "" : p.type == ElementType::kF32 ? "s" : "d";
  const std::string name = std::string("cblas_") + precision + blas_op_name(p.op);
  const int uplo = p.upper ? kUpper : kLower, diagonal = p.unit_diagonal ? kUnit : kNonUnit;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int ta = p.trans_a ? kTrans : kNoTrans, tb = p.trans_b ? kTrans : kNoTrans;
  const auto binder = [&](auto* f, auto make) -> Binder {
    if (!f) return {};
    return [=, &args](const std::vector<void**>& sets) {
      std::vector<decltype(make(f, Operands<T>{p, args, nullptr}))> calls;
      for (void** pointers : sets) calls.push_back(make(f, Operands<T>{p, args, pointers}));
      return in_turn(std::move(calls));
    };
  };
  // oneDNN reads its variable at first use, which may come after the next library cleared it: ask
  // now.
  if (auto* effective = reinterpret_cast<int (*)()>(dlsym(library, "dnnl_get_effective_cpu_isa")))
    effective();
  if (p.op == BlasOp::kRead)
    return binder(find<void(const void*, long)>(library, "peer_read", error),
                  [=](auto* f, const Operands<T>& o) {
                    const auto& arg = o.args[static_cast<size_t>(p.a)];
                    const long bytes = static_cast<long>(static_cast<size_t>(arg.span_elements()) *
                                                         element_bytes(arg.type));
                    return [=, from = static_cast<const void*>(o.data(p.a))] { f(from, bytes); };
                  });
  if (p.op == BlasOp::kConv2d) {
    void* from =
        peer.adapter.empty() ? library : dlopen(peer.adapter.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!from) {
      const char* text = dlerror();
      *error = text ? text : "cannot be loaded";
      return {};
    }
    return binder(
        find<void(long, long, long, long, long, long, const T*, const T*, const T*, T*, int)>(
            from, std::string("peer_") + precision + blas_op_name(p.op), error),
        [=](auto* f, const Operands<T>& o) {
          return [=, image = o.data(p.a), weights = o.data(p.b), bias = o.data(p.x),
                  result = o.data(p.c)] {
            f(p.batch, p.height, p.width, p.k, p.n, p.taps, image, weights, bias, result,
              p.rectify);
          };
        });
  }
  if (peer.kind == Peer::Kind::kOneDnn) {
    if constexpr (std::is_same_v<T, float>) {
      auto* gemm = find<DnnlSgemm>(library, "dnnl_sgemm", error);
      if (p.op == BlasOp::kGemm2)
        return binder(gemm, [=](auto* f, const Operands<float>& o) {
          const auto between = std::make_shared<std::vector<float>>(static_cast<size_t>(p.m * p.n));
          return [=, l = p.l, a = o.data(p.a), b = o.data(p.b), x = o.data(p.x), c = o.data(p.c)] {
            f('N', 'N', m, n, k, 1, a, k, b, n, 0, between->data(), n);
            f('N', 'N', m, l, n, 1, between->data(), n, x, l, 1, c, l);
          };
        });
      return binder(gemm, [=](auto* f, const Operands<float>& o) {
        return [=, a = o.data(p.a), b = o.data(p.b), c = o.data(p.c), lda = o.leading(p.a, p.lda),
                ldb = o.leading(p.b, p.ldb), ldc = o.leading(p.c, p.ldc), alpha = o.scalar(p.alpha),
                beta = o.scalar(p.beta)] {
          f(p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c,
            ldc);
        };
      });
    }
    *error = "has no double-precision gemm";
    return {};
  }
  switch (p.op) {
    case BlasOp::kGemm:
      return binder(
          find<void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
              library, name, error),
          [=](auto* f, const Operands<T>& o) {
            return
                [=, a = o.data(p.a), b = o.data(p.b), c = o.data(p.c), lda = o.leading(p.a, p.lda),
                 ldb = o.leading(p.b, p.ldb), ldc = o.leading(p.c, p.ldc),
                 alpha = o.scalar(p.alpha), beta = o.scalar(p.beta)] {
                  f(kRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
                };
          });
    case BlasOp::kGemm2:
      return binder(
          find<void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
              library, std::string("cblas_") + precision + "gemm", error),
          [=](auto* f, const Operands<T>& o) {
            const auto between = std::make_shared<std::vector<T>>(static_cast<size_t>(p.m * p.n));
            return [=, l = static_cast<int>(p.l), a = o.data(p.a), b = o.data(p.b), x = o.data(p.x),
                    c = o.data(p.c)] {
              f(kRowMajor, kNoTrans, kNoTrans, m, n, k, 1, a, k, b, n, 0, between->data(), n);
              f(kRowMajor, kNoTrans, kNoTrans, m, l, n, 1, between->data(), n, x, l, 1, c, l);
            };
          });
    case BlasOp::kGemv:
      return binder(find<void(int, int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
                        library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, a = o.data(p.a), x = o.data(p.x), y = o.data(p.y),
                              lda = o.leading(p.a, p.lda), incx = o.increment(p.x, p.incx),
                              incy = o.increment(p.y, p.incy), alpha = o.scalar(p.alpha),
                              beta = o.scalar(p.beta)] {
                        f(kRowMajor, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);
                      };
                    });
    case BlasOp::kGer:
      return binder(
          find<void(int, int, int, T, const T*, int, const T*, int, T*, int)>(library, name, error),
          [=](auto* f, const Operands<T>& o) {
            return [=, a = o.data(p.a), x = o.data(p.x), y = o.data(p.y),
                    lda = o.leading(p.a, p.lda), incx = o.increment(p.x, p.incx),
                    incy = o.increment(p.y, p.incy), alpha = o.scalar(p.alpha)] {
              f(kRowMajor, m, n, alpha, x, incx, y, incy, a, lda);
            };
          });
    case BlasOp::kSymv:
      return binder(find<void(int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
                        library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, a = o.data(p.a), x = o.data(p.x), y = o.data(p.y),
                              lda = o.leading(p.a, p.lda), incx = o.increment(p.x, p.incx),
                              incy = o.increment(p.y, p.incy), alpha = o.scalar(p.alpha),
                              beta = o.scalar(p.beta)] {
                        f(kRowMajor, uplo, n, alpha, a, lda, x, incx, beta, y, incy);
                      };
                    });
    case BlasOp::kSyr:
      return binder(find<void(int, int, int, T, const T*, int, T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, a = o.data(p.a), x = o.data(p.x), lda = o.leading(p.a, p.lda),
                              incx = o.increment(p.x, p.incx), alpha = o.scalar(p.alpha)] {
                        f(kRowMajor, uplo, n, alpha, x, incx, a, lda);
                      };
                    });
    case BlasOp::kSyr2:
      return binder(
          find<void(int, int, int, T, const T*, int, const T*, int, T*, int)>(library, name, error),
          [=](auto* f, const Operands<T>& o) {
            return [=, a = o.data(p.a), x = o.data(p.x), y = o.data(p.y),
                    lda = o.leading(p.a, p.lda), incx = o.increment(p.x, p.incx),
                    incy = o.increment(p.y, p.incy), alpha = o.scalar(p.alpha)] {
              f(kRowMajor, uplo, n, alpha, x, incx, y, incy, a, lda);
            };
          });
    case BlasOp::kTrmv:
    case BlasOp::kTrsv:
      return binder(
          find<void(int, int, int, int, int, const T*, int, T*, int)>(library, name, error),
          [=](auto* f, const Operands<T>& o) {
            return [=, a = o.data(p.a), x = o.data(p.x), lda = o.leading(p.a, p.lda),
                    incx = o.increment(p.x, p.incx)] {
              f(kRowMajor, uplo, ta, diagonal, n, a, lda, x, incx);
            };
          });
    case BlasOp::kDsdot:
      if constexpr (std::is_same_v<T, double>)
        return binder(find<double(int, const float*, int, const float*, int)>(library, name, error),
                      [=](auto* f, const Operands<double>& o) {
                        const Operands<float> in{o.problem, o.args, o.pointers};
                        return [=, x = in.data(p.x), y = in.data(p.y), result = o.data(p.result),
                                incx = o.increment(p.x, p.incx), incy = o.increment(p.y, p.incy),
                                beta = o.scalar(p.beta)] {
                          const double sum = f(n, x, incx, y, incy);
                          *result = beta == 0 ? sum : beta * *result + sum;
                        };
                      });
      *error = "gives f64 only";
      return {};
    case BlasOp::kRotm:
      return binder(find<void(int, T*, int, T*, int, const T*)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      std::array<T, 5> h = {T(-1)};
                      for (size_t i = 0; i < 4; ++i) h[i + 1] = o.scalar(p.h[i]);
                      return
                          [=, x = o.data(p.x), y = o.data(p.y), incx = o.increment(p.x, p.incx),
                           incy = o.increment(p.y, p.incy)] { f(n, x, incx, y, incy, h.data()); };
                    });
    case BlasOp::kAxpy:
      return binder(find<void(int, T, const T*, int, T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), y = o.data(p.y), incx = o.increment(p.x, p.incx),
                              incy = o.increment(p.y, p.incy),
                              alpha = o.scalar(p.alpha)] { f(n, alpha, x, incx, y, incy); };
                    });
    case BlasOp::kCopy:
    case BlasOp::kSwap:
      return binder(find<void(int, T*, int, T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), y = o.data(p.y), incx = o.increment(p.x, p.incx),
                              incy = o.increment(p.y, p.incy)] { f(n, x, incx, y, incy); };
                    });
    case BlasOp::kScal:
      return binder(find<void(int, T, T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), incx = o.increment(p.x, p.incx),
                              alpha = o.scalar(p.alpha)] { f(n, alpha, x, incx); };
                    });
    case BlasOp::kDot:
      return binder(find<T(int, const T*, int, const T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), y = o.data(p.y), result = o.data(p.result),
                              incx = o.increment(p.x, p.incx), incy = o.increment(p.y, p.incy),
                              beta = o.scalar(p.beta)] {
                        const T sum = f(n, x, incx, y, incy);
                        *result = beta == T(0) ? sum : beta * *result + sum;
                      };
                    });
    case BlasOp::kAsum:
      return binder(find<T(int, const T*, int)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), result = o.data(p.result),
                              incx = o.increment(p.x, p.incx), beta = o.scalar(p.beta)] {
                        const T sum = f(n, x, incx);
                        *result = beta == T(0) ? sum : beta * *result + sum;
                      };
                    });
    case BlasOp::kConv2d:
    case BlasOp::kRead:
      break;
    case BlasOp::kRot:
      return binder(find<void(int, T*, int, T*, int, T, T)>(library, name, error),
                    [=](auto* f, const Operands<T>& o) {
                      return [=, x = o.data(p.x), y = o.data(p.y), incx = o.increment(p.x, p.incx),
                              incy = o.increment(p.y, p.incy), c = o.scalar(p.alpha),
                              s = o.scalar(p.beta)] { f(n, x, incx, y, incy, c, s); };
                    });
  }
  return {};
}

}  // namespace

Binder load_peer(const PeerCall& call, const std::vector<ArgSpec>& args, std::string* error) {
  if (!call.peer.supports(call.problem)) {
    *error = "has no such operation";
    return {};
  }
  void* library = open_library(call.peer, error);
  if (!library) return {};
  return call.problem.type == ElementType::kF32
             ? bind_blas<float>(library, call.peer, call.problem, args, error)
             : bind_blas<double>(library, call.peer, call.problem, args, error);
}

std::string peer_version(const Peer& peer, std::string* error) {
  void* library = open_library(peer, error);
  if (!library) return "";
  using Text = const char* (*)();
  const auto text = [&](const char* name) -> std::string {
    const auto f = reinterpret_cast<Text>(dlsym(library, name));
    const char* s = f ? f() : nullptr;
    return s ? s : "";
  };
  switch (peer.kind) {
    case Peer::Kind::kOpenBlas: {
      const std::string config = text("openblas_get_config");  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
      const size_t second = config.find(' ', config.find(' ') + 1);
      return config.substr(0, second) + " " + text("openblas_get_corename");
    }
    case Peer::Kind::kBlis: {
      using Query = int (*)();
      using Name = const char* (*)(int);
      const auto query = reinterpret_cast<Query>(dlsym(library, "bli_arch_query_id"));
      const auto name = reinterpret_cast<Name>(dlsym(library, "bli_arch_string"));
      return "BLIS " + text("bli_info_get_version_str") +
             (query && name ? std::string(" ") + name(query()) : "");
    }
    case Peer::Kind::kOneDnn: {
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
    case Peer::Kind::kEigen:
    case Peer::Kind::kPlainC:
    case Peer::Kind::kReads:
    case Peer::Kind::kCblas:
      return peer.version;
  }
  return "";
}

}  // namespace exotune
