#include <Eigen/Core>
#include <type_traits>
using Eigen::Dynamic;
template <class T>
using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Dynamic, 1>;
template <class T>
using In = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using Out = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

template <class M, class T>
void scale(M&& m, T beta) {
  if (beta == T(0))
    m.setZero();
  else if (beta != T(1))
    m *= beta;
}

// Calls f on the vector, as a dense one when it is dense.
template <class T, class F>
void with(const T* x, int n, int inc, F f) {
  if (inc == 1)
    f(Eigen::Map<const Vector<T>>(x, n));
  else
    f(Eigen::Map<const Vector<T>, 0, Eigen::InnerStride<>>(x, n, Eigen::InnerStride<>(inc)));
}
template <class T, class F>
void with(T* x, int n, int inc, F f) {
  if (inc == 1)
    f(Eigen::Map<Vector<T>>(x, n));
  else
    f(Eigen::Map<Vector<T>, 0, Eigen::InnerStride<>>(x, n, Eigen::InnerStride<>(inc)));
}
// Both as dense ones when both are: two instances of f, not four.
template <class T>
using Strided = Eigen::Map<T, 0, Eigen::InnerStride<>>;
template <class X, class Y, class F>
void with2(X* x, int incx, Y* y, int incy, int n, int m, F f) {
  using VX =
      std::conditional_t<std::is_const_v<X>, const Vector<std::remove_const_t<X>>, Vector<X>>;
  using VY =
      std::conditional_t<std::is_const_v<Y>, const Vector<std::remove_const_t<Y>>, Vector<Y>>;
  if (incx == 1 && incy == 1) {
    Eigen::Map<VX> vx(x, n);
    Eigen::Map<VY> vy(y, m);
    f(vx, vy);
  } else {
    Strided<VX> vx(x, n, Eigen::InnerStride<>(incx));
    Strided<VY> vy(y, m, Eigen::InnerStride<>(incy));
    f(vx, vy);
  }
}
template <class X, class Y, class F>
void with2(X* x, int incx, Y* y, int incy, int n, F f) {
  with2(x, incx, y, incy, n, n, f);
}

constexpr int kTrans = 112, kUpper = 121;
#define PEER_VECTORS(T, P)                                                                         \
  extern "C" void cblas_##P##axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {          \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { b += alpha * a; });                       \
  }                                                                                                \
  extern "C" T cblas_##P##dot(int n, const T* x, int incx, const T* y, int incy) {                 \
    T r = 0;                                                                                       \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { r = a.dot(b); });                         \
    return r;                                                                                      \
  }                                                                                                \
  extern "C" void cblas_##P##scal(int n, T alpha, T* x, int incx) {                                \
    with(x, n, incx, [&](auto&& a) { a *= alpha; });                                               \
  }                                                                                                \
  extern "C" void cblas_##P##copy(int n, const T* x, int incx, T* y, int incy) {                   \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { b = a; });                                \
  }                                                                                                \
  extern "C" void cblas_##P##swap(int n, T* x, int incx, T* y, int incy) {                         \
    with2(x, incx, y, incy, n, [&](auto&& a, auto&& b) { a.swap(b); });                            \
  }                                                                                                \
  extern "C" T cblas_##P##asum(int n, const T* x, int incx) {                                      \
    T r = 0;                                                                                       \
    with(x, n, incx, [&](auto&& a) { r = a.cwiseAbs().sum(); });                                   \
    return r;                                                                                      \
  }                                                                                                \
  extern "C" void cblas_##P##rot(int n, T* x, int incx, T* y, int incy, T c, T s) {                \
    for (int i = 0; i < n;) {                                                                      \
      constexpr int kBlock = 512;                                                                  \
      const int m = n - i < kBlock ? n - i : kBlock;                                               \
      with2(x + long(i) * incx, incx, y + long(i) * incy, incy, m, [&](auto&& a, auto&& b) {       \
        Eigen::Matrix<T, Dynamic, 1, 0, kBlock, 1> t = c * a + s * b;                              \
        b = c * b - s * a;                                                                         \
        a = t;                                                                                     \
      });                                                                                          \
      i += m;                                                                                      \
    }                                                                                              \
  }                                                                                                \
  extern "C" void cblas_##P##rotm(int n, T* x, int incx, T* y, int incy, const T* h) {             \
    for (int i = 0; i < n;) {                                                                      \
      constexpr int kBlock = 512;                                                                  \
      const int m = n - i < kBlock ? n - i : kBlock;                                               \
      with2(x + long(i) * incx, incx, y + long(i) * incy, incy, m, [&](auto&& a, auto&& b) {       \
        Eigen::Matrix<T, Dynamic, 1, 0, kBlock, 1> t = h[1] * a + h[3] * b;                        \
        b = h[2] * a + h[4] * b;                                                                   \
        a = t;                                                                                     \
      });                                                                                          \
      i += m;                                                                                      \
    }                                                                                              \
  }                                                                                                \
  extern "C" void cblas_##P##symv(int, int uplo, int n, T alpha, const T* a, int lda, const T* x,  \
                                  int incx, T beta, T* y, int incy) {                              \
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                   \
    with2(x, incx, y, incy, n, [&](auto&& vx, auto&& vy) {                                         \
      scale(vy, beta);                                                                             \
      if (uplo == kUpper)                                                                          \
        vy.noalias() += A.template selfadjointView<Eigen::Upper>() * (alpha * vx);                 \
      else                                                                                         \
        vy.noalias() += A.template selfadjointView<Eigen::Lower>() * (alpha * vx);                 \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##syr(int, int uplo, int n, T alpha, const T* x, int incx, T* a,        \
                                 int lda) {                                                        \
    Out<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                  \
    with(x, n, incx, [&](auto&& vx) {                                                              \
      if (uplo == kUpper)                                                                          \
        A.template selfadjointView<Eigen::Upper>().rankUpdate(vx, alpha);                          \
      else                                                                                         \
        A.template selfadjointView<Eigen::Lower>().rankUpdate(vx, alpha);                          \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##syr2(int, int uplo, int n, T alpha, const T* x, int incx, const T* y, \
                                  int incy, T* a, int lda) {                                       \
    Out<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                  \
    with2(x, incx, y, incy, n, [&](auto&& vx, auto&& vy) {                                         \
      if (uplo == kUpper)                                                                          \
        A.template selfadjointView<Eigen::Upper>().rankUpdate(vx, vy, alpha);                      \
      else                                                                                         \
        A.template selfadjointView<Eigen::Lower>().rankUpdate(vx, vy, alpha);                      \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##trmv(int, int uplo, int, int, int n, const T* a, int lda, T* x,       \
                                  int inc) {                                                       \
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                   \
    with(x, n, inc, [&](auto&& v) {                                                                \
      if (uplo == kUpper)                                                                          \
        v = A.template triangularView<Eigen::Upper>() * v;                                         \
      else                                                                                         \
        v = A.template triangularView<Eigen::Lower>() * v;                                         \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##trsv(int, int uplo, int, int, int n, const T* a, int lda, T* x,       \
                                  int inc) {                                                       \
    In<T> A(a, n, n, Eigen::OuterStride<>(lda));                                                   \
    with(x, n, inc, [&](auto&& v) {                                                                \
      if (uplo == kUpper)                                                                          \
        A.template triangularView<Eigen::Upper>().solveInPlace(v);                                 \
      else                                                                                         \
        A.template triangularView<Eigen::Lower>().solveInPlace(v);                                 \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##gemv(int, int trans, int m, int n, T alpha, const T* a, int lda,      \
                                  const T* x, int incx, T beta, T* y, int incy) {                  \
    In<T> A(a, m, n, Eigen::OuterStride<>(lda));                                                   \
    const bool t = trans == kTrans;                                                                \
    with2(x, incx, y, incy, t ? m : n, t ? n : m, [&](auto&& vx, auto&& vy) {                      \
      scale(vy, beta);                                                                             \
      if (t)                                                                                       \
        vy.noalias() += alpha * (A.transpose() * vx);                                              \
      else                                                                                         \
        vy.noalias() += alpha * (A * vx);                                                          \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##ger(int, int m, int n, T alpha, const T* x, int incx, const T* y,     \
                                 int incy, T* a, int lda) {                                        \
    Out<T> A(a, m, n, Eigen::OuterStride<>(lda));                                                  \
    with2(x, incx, y, incy, m, n,                                                                  \
          [&](auto&& vx, auto&& vy) { A.noalias() += (alpha * vx) * vy.transpose(); });            \
  }
#define PEER_PRODUCT(T, P)                                                                       \
  extern "C" void cblas_##P##gemm(int, int ta, int tb, int m, int n, int k, T alpha, const T* a, \
                                  int lda, const T* b, int ldb, T beta, T* c, int ldc) {         \
    const bool at = ta == kTrans, bt = tb == kTrans;                                             \
    In<T> A(a, at ? k : m, at ? m : k, Eigen::OuterStride<>(lda));                               \
    In<T> B(b, bt ? n : k, bt ? k : n, Eigen::OuterStride<>(ldb));                               \
    Out<T> C(c, m, n, Eigen::OuterStride<>(ldc));                                                \
    scale(C, beta);                                                                              \
    if (at && bt)                                                                                \
      C.noalias() += alpha * (A.transpose() * B.transpose());                                    \
    else if (at)                                                                                 \
      C.noalias() += alpha * (A.transpose() * B);                                                \
    else if (bt)                                                                                 \
      C.noalias() += alpha * (A * B.transpose());                                                \
    else                                                                                         \
      C.noalias() += alpha * (A * B);                                                            \
  }
// Compiled in parts: half a minute for all of it is long to wait for one product.
PEER_PRODUCT(float, s)
#ifndef PEER_FLOAT
PEER_PRODUCT(double, d)
#endif
#ifndef PEER_PRODUCTS
PEER_VECTORS(float, s)
PEER_VECTORS(double, d)
extern "C" double cblas_dsdot(int n, const float* x, int incx, const float* y, int incy) {
  double r = 0;
  with2(x, incx, y, incy, n,
        [&](auto&& a, auto&& b) { r = a.template cast<double>().dot(b.template cast<double>()); });
  return r;
}
#endif
