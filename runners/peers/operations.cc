#include "runners/peers/operations.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "core/base/diagnostic.h"

namespace exotune {
// How one call of each BLAS operation is made with a candidate's arguments. Everything is looked up
// before the clock runs: the closures that are timed hold plain pointers and numbers, and call the
// library's function and nothing else.
namespace {

// Of the enumerations in cblas.h.
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112, kUpper = 121, kLower = 122,
              kNonUnit = 131, kUnit = 132;

/// The arguments of one call, looked up in a candidate's.
template <class T>
struct Operands {
  const PeerProblem& p;
  const std::vector<ArgSpec>& args;
  void** pointers;

  T* data(int arg) const {
    if (arg < 0) return nullptr;
    const auto a = static_cast<size_t>(arg);
    return static_cast<T*>(
        args[a].kind == ArgSpec::Kind::kWindow ? *static_cast<void**>(pointers[a]) : pointers[a]);
  }
  T* a() const { return data(p.a); }
  T* b() const { return data(p.b); }
  T* c() const { return data(p.c); }
  T* x() const { return data(p.x); }
  T* y() const { return data(p.y); }
  T* result() const { return data(p.result); }
  T scalar(const PeerScalar& s) const { return s.arg < 0 ? static_cast<T>(s.value) : *data(s.arg); }
  T alpha() const { return scalar(p.alpha); }
  T beta() const { return scalar(p.beta); }
  // Leading dimensions and increments as the problem gives them, else those of the dense argument:
  // a window's stride is its parent's row.
  int leading(int arg, int64_t given) const {
    if (given > 0 || arg < 0) return static_cast<int>(given);
    return static_cast<int>(args[static_cast<size_t>(arg)].element_strides().at(0));
  }
  int lda() const { return leading(p.a, p.lda); }
  int ldb() const { return leading(p.b, p.ldb); }
  int ldc() const { return leading(p.c, p.ldc); }
  int increment(int arg, int64_t given) const {
    if (given > 0 || arg < 0) return static_cast<int>(given);
    const std::vector<int64_t> strides = args[static_cast<size_t>(arg)].element_strides();
    return strides.empty() ? 1 : static_cast<int>(strides.back());
  }
  int incx() const { return increment(p.x, p.incx); }
  int incy() const { return increment(p.y, p.incy); }
  int m() const { return static_cast<int>(p.m); }
  int n() const { return static_cast<int>(p.n); }
  int k() const { return static_cast<int>(p.k); }
  int l() const { return static_cast<int>(p.l); }
  int ta() const { return p.trans_a ? kTrans : kNoTrans; }
  int tb() const { return p.trans_b ? kTrans : kNoTrans; }
  int uplo() const { return p.upper ? kUpper : kLower; }
  int diagonal() const { return p.unit_diagonal ? kUnit : kNonUnit; }
};

// Sets of arguments in turn, so that a measurement of cold data does not see what its last call
// left in the cache.
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

// The lookup by name happens once, in the process that times; an operation that a library lacks is
// said so there, not assumed from its name.
/// The function of that name, of type F, bound by `make(f, operands)`, which returns one call.
template <class T, class F, class Make>
Binder bind(const PeerSite& site, void* library, const std::string& name, Make make) {
  void* symbol = dlsym(library, name.c_str());
  if (!symbol) {
    *site.error = "has no " + name;
    return {};
  }
  auto* f = reinterpret_cast<F*>(symbol);
  return [f, make, p = site.problem, &args = site.args](const std::vector<void**>& sets) {
    std::vector<decltype(make(f, Operands<T>{p, args, nullptr}))> calls;
    for (void** pointers : sets) calls.push_back(make(f, Operands<T>{p, args, pointers}));
    return in_turn(std::move(calls));
  };
}

// The letter of the precision: sgemm, dgemm.
template <class T>
std::string named(const char* prefix, const char* operation) {
  return std::string(prefix) + (std::is_same_v<T, float> ? "s" : "d") + operation;
}
template <class T, class F, class Make>
Binder cblas(const PeerSite& site, const char* operation, Make make) {
  return bind<T, F>(site, site.library, named<T>("cblas_", operation), make);
}

template <class T>
using Gemm = void(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
using DnnlSgemm = int(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                      const float*, int64_t, float, float*, int64_t);
constexpr char kDnnlSgemm[] = "dnnl_sgemm";  // row by row, transposed by letters

bool is_dnnl(const PeerSite& site) { return dlsym(site.library, kDnnlSgemm) != nullptr; }

Binder no_doubles(const PeerSite& site) {
  *site.error = "has no double-precision gemm";
  return {};
}

// --- matrices -----------------------------------------------------------------------------------

// oneDNN's sgemm is its own, by rows and without CBLAS's enumerations; all others share CBLAS's.
template <class T>
Binder gemm(const PeerSite& site) {
  if (is_dnnl(site)) {
    if constexpr (std::is_same_v<T, float>)
      return bind<float, DnnlSgemm>(
          site, site.library, kDnnlSgemm, [](auto* f, const Operands<float>& o) {
            return [=, ta = o.p.trans_a ? 'T' : 'N', tb = o.p.trans_b ? 'T' : 'N', m = o.m(),
                    n = o.n(), k = o.k(), a = o.a(), b = o.b(), c = o.c(), lda = o.lda(),
                    ldb = o.ldb(), ldc = o.ldc(), alpha = o.alpha(),
                    beta = o.beta()] { f(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); };
          });
    return no_doubles(site);
  }
  return cblas<T, Gemm<T>>(site, "gemm", [](auto* f, const Operands<T>& o) {
    return
        [=, ta = o.ta(), tb = o.tb(), m = o.m(), n = o.n(), k = o.k(), a = o.a(), b = o.b(),
         c = o.c(), lda = o.lda(), ldb = o.ldb(), ldc = o.ldc(), alpha = o.alpha(),
         beta = o.beta()] { f(kRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); };
  });
}

// Two products, with memory for what stands between them.
template <class T>
Binder gemm2(const PeerSite& site) {
  if (is_dnnl(site)) {
    if constexpr (std::is_same_v<T, float>)
      return bind<float, DnnlSgemm>(
          site, site.library, kDnnlSgemm, [](auto* f, const Operands<float>& o) {
            const auto between =
                std::make_shared<std::vector<float>>(static_cast<size_t>(o.p.m * o.p.n));
            return [=, m = o.m(), n = o.n(), k = o.k(), l = o.l(), a = o.a(), b = o.b(), x = o.x(),
                    c = o.c()] {
              f('N', 'N', m, n, k, 1, a, k, b, n, 0, between->data(), n);
              f('N', 'N', m, l, n, 1, between->data(), n, x, l, 1, c, l);
            };
          });
    return no_doubles(site);
  }
  return cblas<T, Gemm<T>>(site, "gemm", [](auto* f, const Operands<T>& o) {
    const auto between = std::make_shared<std::vector<T>>(static_cast<size_t>(o.p.m * o.p.n));
    return [=, m = o.m(), n = o.n(), k = o.k(), l = o.l(), a = o.a(), b = o.b(), x = o.x(),
            c = o.c()] {
      f(kRowMajor, kNoTrans, kNoTrans, m, n, k, 1, a, k, b, n, 0, between->data(), n);
      f(kRowMajor, kNoTrans, kNoTrans, m, l, n, 1, between->data(), n, x, l, 1, c, l);
    };
  });
}

// No BLAS has a convolution: it comes from the adapter that was compiled against the library's own
// headers, or from a peer made of source.
template <class T>
Binder conv2d(const PeerSite& site) {
  void* from = site.peer.adapter.empty() ? site.library
                                         : dlopen(site.peer.adapter.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!from) {
    const char* text = dlerror();
    *site.error = text ? text : "cannot be loaded";
    return {};
  }
  using Conv2d = void(long, long, long, long, long, long, const T*, const T*, const T*, T*, int);
  return bind<T, Conv2d>(
      site, from, named<T>("peer_", "conv2d"), [](auto* f, const Operands<T>& o) {
        return [=, p = o.p, image = o.a(), weights = o.b(), bias = o.x(), result = o.c()] {
          f(p.batch, p.height, p.width, p.k, p.n, p.taps, image, weights, bias, result, p.rectify);
        };
      });
}

// --- a matrix and vectors -----------------------------------------------------------------------

template <class T>
Binder gemv(const PeerSite& site) {
  return cblas<T, void(int, int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
      site, "gemv", [](auto* f, const Operands<T>& o) {
        return [=, ta = o.ta(), m = o.m(), n = o.n(), a = o.a(), x = o.x(), y = o.y(),
                lda = o.lda(), incx = o.incx(), incy = o.incy(), alpha = o.alpha(),
                beta = o.beta()] { f(kRowMajor, ta, m, n, alpha, a, lda, x, incx, beta, y, incy); };
      });
}

template <class T>
Binder ger(const PeerSite& site) {
  return cblas<T, void(int, int, int, T, const T*, int, const T*, int, T*, int)>(
      site, "ger", [](auto* f, const Operands<T>& o) {
        return [=, m = o.m(), n = o.n(), a = o.a(), x = o.x(), y = o.y(), lda = o.lda(),
                incx = o.incx(), incy = o.incy(),
                alpha = o.alpha()] { f(kRowMajor, m, n, alpha, x, incx, y, incy, a, lda); };
      });
}

template <class T>
Binder symv(const PeerSite& site) {
  return cblas<T, void(int, int, int, T, const T*, int, const T*, int, T, T*, int)>(
      site, "symv", [](auto* f, const Operands<T>& o) {
        return [=, uplo = o.uplo(), n = o.n(), a = o.a(), x = o.x(), y = o.y(), lda = o.lda(),
                incx = o.incx(), incy = o.incy(), alpha = o.alpha(),
                beta = o.beta()] { f(kRowMajor, uplo, n, alpha, a, lda, x, incx, beta, y, incy); };
      });
}

template <class T>
Binder syr(const PeerSite& site) {
  return cblas<T, void(int, int, int, T, const T*, int, T*, int)>(
      site, "syr", [](auto* f, const Operands<T>& o) {
        return [=, uplo = o.uplo(), n = o.n(), a = o.a(), x = o.x(), lda = o.lda(), incx = o.incx(),
                alpha = o.alpha()] { f(kRowMajor, uplo, n, alpha, x, incx, a, lda); };
      });
}

template <class T>
Binder syr2(const PeerSite& site) {
  return cblas<T, void(int, int, int, T, const T*, int, const T*, int, T*, int)>(
      site, "syr2", [](auto* f, const Operands<T>& o) {
        return [=, uplo = o.uplo(), n = o.n(), a = o.a(), x = o.x(), y = o.y(), lda = o.lda(),
                incx = o.incx(), incy = o.incy(),
                alpha = o.alpha()] { f(kRowMajor, uplo, n, alpha, x, incx, y, incy, a, lda); };
      });
}

template <class T>
Binder triangular(const PeerSite& site) {
  return cblas<T, void(int, int, int, int, int, const T*, int, T*, int)>(
      site, blas_op_name(site.problem.op), [](auto* f, const Operands<T>& o) {
        return [=, uplo = o.uplo(), ta = o.ta(), diagonal = o.diagonal(), n = o.n(), a = o.a(),
                x = o.x(), lda = o.lda(),
                incx = o.incx()] { f(kRowMajor, uplo, ta, diagonal, n, a, lda, x, incx); };
      });
}

// --- vectors ------------------------------------------------------------------------------------

template <class T>
Binder axpy(const PeerSite& site) {
  return cblas<T, void(int, T, const T*, int, T*, int)>(
      site, "axpy", [](auto* f, const Operands<T>& o) {
        return [=, n = o.n(), x = o.x(), y = o.y(), incx = o.incx(), incy = o.incy(),
                alpha = o.alpha()] { f(n, alpha, x, incx, y, incy); };
      });
}

template <class T>
Binder scal(const PeerSite& site) {
  return cblas<T, void(int, T, T*, int)>(site, "scal", [](auto* f, const Operands<T>& o) {
    return [=, n = o.n(), x = o.x(), incx = o.incx(), alpha = o.alpha()] { f(n, alpha, x, incx); };
  });
}

template <class T>
Binder copy_or_swap(const PeerSite& site) {
  return cblas<T, void(int, T*, int, T*, int)>(
      site, blas_op_name(site.problem.op), [](auto* f, const Operands<T>& o) {
        return [=, n = o.n(), x = o.x(), y = o.y(), incx = o.incx(), incy = o.incy()] {
          f(n, x, incx, y, incy);
        };
      });
}

template <class T>
Binder dot(const PeerSite& site) {
  return cblas<T, T(int, const T*, int, const T*, int)>(
      site, "dot", [](auto* f, const Operands<T>& o) {
        return [=, n = o.n(), x = o.x(), y = o.y(), result = o.result(), incx = o.incx(),
                incy = o.incy(), beta = o.beta()] {
          const T sum = f(n, x, incx, y, incy);
          *result = beta == T(0) ? sum : beta * *result + sum;
        };
      });
}

Binder dsdot(const PeerSite& site) {
  return bind<double, double(int, const float*, int, const float*, int)>(
      site, site.library, "cblas_dsdot", [](auto* f, const Operands<double>& o) {
        const Operands<float> in{o.p, o.args, o.pointers};
        return [=, n = o.n(), x = in.x(), y = in.y(), result = o.result(), incx = o.incx(),
                incy = o.incy(), beta = o.beta()] {
          const double sum = f(n, x, incx, y, incy);
          *result = beta == 0 ? sum : beta * *result + sum;
        };
      });
}

Binder gives_f64_only(const PeerSite& site) {
  *site.error = "gives f64 only";
  return {};
}

template <class T>
Binder asum(const PeerSite& site) {
  return cblas<T, T(int, const T*, int)>(site, "asum", [](auto* f, const Operands<T>& o) {
    return [=, n = o.n(), x = o.x(), result = o.result(), incx = o.incx(), beta = o.beta()] {
      const T sum = f(n, x, incx);
      *result = beta == T(0) ? sum : beta * *result + sum;
    };
  });
}

template <class T>
Binder rot(const PeerSite& site) {
  return cblas<T, void(int, T*, int, T*, int, T, T)>(
      site, "rot", [](auto* f, const Operands<T>& o) {
        return [=, n = o.n(), x = o.x(), y = o.y(), incx = o.incx(), incy = o.incy(), c = o.alpha(),
                s = o.beta()] { f(n, x, incx, y, incy, c, s); };
      });
}

template <class T>
Binder rotm(const PeerSite& site) {
  return cblas<T, void(int, T*, int, T*, int, const T*)>(
      site, "rotm", [](auto* f, const Operands<T>& o) {
        std::array<T, 5> h = {T(-1)};
        for (size_t i = 0; i < 4; ++i) h[i + 1] = o.scalar(o.p.h[i]);
        return [=, n = o.n(), x = o.x(), y = o.y(), incx = o.incx(), incy = o.incy()] {
          f(n, x, incx, y, incy, h.data());
        };
      });
}

// Every byte of the argument, whatever its type.
template <class T>
Binder read(const PeerSite& site) {
  return bind<T, void(const void*, long)>(
      site, site.library, "peer_read", [](auto* f, const Operands<T>& o) {
        const auto& arg = o.args[static_cast<size_t>(o.p.a)];
        const long bytes =
            static_cast<long>(static_cast<size_t>(arg.span_elements()) * element_bytes(arg.type));
        return [=, from = static_cast<const void*>(o.a())] { f(from, bytes); };
      });
}

// A row an operation: its name, level, how it is bound. A new one is a row here and a word in the
// documents; what libraries have it is found by asking them.
constexpr PeerFunction kOperations[] = {
    {BlasOp::kGemm, "gemm", 3, gemm<float>, gemm<double>},
    {BlasOp::kGemv, "gemv", 2, gemv<float>, gemv<double>},
    {BlasOp::kGer, "ger", 2, ger<float>, ger<double>},
    {BlasOp::kSymv, "symv", 2, symv<float>, symv<double>},
    {BlasOp::kSyr, "syr", 2, syr<float>, syr<double>},
    {BlasOp::kSyr2, "syr2", 2, syr2<float>, syr2<double>},
    {BlasOp::kTrmv, "trmv", 2, triangular<float>, triangular<double>},
    {BlasOp::kTrsv, "trsv", 2, triangular<float>, triangular<double>},
    {BlasOp::kAxpy, "axpy", 1, axpy<float>, axpy<double>},
    {BlasOp::kDot, "dot", 1, dot<float>, dot<double>},
    {BlasOp::kDsdot, "dsdot", 1, gives_f64_only, dsdot},
    {BlasOp::kScal, "scal", 1, scal<float>, scal<double>},
    {BlasOp::kCopy, "copy", 1, copy_or_swap<float>, copy_or_swap<double>},
    {BlasOp::kSwap, "swap", 1, copy_or_swap<float>, copy_or_swap<double>},
    {BlasOp::kAsum, "asum", 1, asum<float>, asum<double>},
    {BlasOp::kRot, "rot", 1, rot<float>, rot<double>},
    {BlasOp::kRotm, "rotm", 1, rotm<float>, rotm<double>},
    {BlasOp::kConv2d, "conv2d", 3, conv2d<float>, conv2d<double>},
    {BlasOp::kRead, "read", 1, read<float>, read<double>},
    {BlasOp::kGemm2, "gemm2", 3, gemm2<float>, gemm2<double>},
};

}  // namespace

const PeerFunction& peer_function(BlasOp op) {
  for (const PeerFunction& row : kOperations)
    if (row.op == op) return row;
  EXO_CHECK(false);
}

const std::vector<BlasOp>& blas_ops() {
  static const std::vector<BlasOp> all = [] {
    std::vector<BlasOp> out;
    for (const PeerFunction& row : kOperations) out.push_back(row.op);
    return out;
  }();
  return all;
}

const char* blas_op_name(BlasOp op) { return peer_function(op).name; }
int blas_level(BlasOp op) { return peer_function(op).level; }

}  // namespace exotune
