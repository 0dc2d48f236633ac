// What Eigen's peer (runners/peers/sources) lacks of CBLAS: row-major, as the benchmark calls it.
#include <Eigen/Core>
#include <cstddef>
using Eigen::Dynamic;
template <class T>
using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Dynamic, 1>;
template <class T>
using In = Eigen::Map<const Matrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
using Out = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;
// Of the enumerations in cblas.h.
constexpr int kTrans = 112, kUpper = 121, kRight = 142;

// Calls f with the triangle of A, or of A'.
template <class T, class F>
void triangle(const In<T>& A, int uplo, int trans, F f) {
  if (trans != kTrans)
    uplo == kUpper ? f(A.template triangularView<Eigen::Upper>())
                   : f(A.template triangularView<Eigen::Lower>());
  else
    uplo == kUpper ? f(A.transpose().template triangularView<Eigen::Lower>())
                   : f(A.transpose().template triangularView<Eigen::Upper>());
}

#define RIVAL(T, P)                                                                                \
  extern "C" T cblas_##P##nrm2(int n, const T* x, int) {                                           \
    return Eigen::Map<const Vector<T>>(x, n).norm();                                               \
  }                                                                                                \
  extern "C" size_t cblas_i##P##amax(int n, const T* x, int) {                                     \
    Eigen::Index place = 0;                                                                        \
    Eigen::Map<const Vector<T>>(x, n).cwiseAbs().maxCoeff(&place);                                 \
    return static_cast<size_t>(place);                                                             \
  }                                                                                                \
  extern "C" void cblas_##P##trmv(int, int uplo, int trans, int, int n, const T* a, int lda, T* x, \
                                  int) {                                                           \
    Eigen::Map<Vector<T>> v(x, n);                                                                 \
    triangle<T>(In<T>(a, n, n, Eigen::OuterStride<>(lda)), uplo, trans,                            \
                [&](auto&& t) { v = t * v; });                                                     \
  }                                                                                                \
  extern "C" void cblas_##P##trsv(int, int uplo, int trans, int, int n, const T* a, int lda, T* x, \
                                  int) {                                                           \
    Eigen::Map<Vector<T>> v(x, n);                                                                 \
    triangle<T>(In<T>(a, n, n, Eigen::OuterStride<>(lda)), uplo, trans,                            \
                [&](auto&& t) { t.solveInPlace(v); });                                             \
  }                                                                                                \
  extern "C" void cblas_##P##symm(int, int side, int uplo, int m, int n, T alpha, const T* a,      \
                                  int lda, const T* b, int ldb, T beta, T* c, int ldc) {           \
    const int size = side == kRight ? n : m;                                                       \
    In<T> A(a, size, size, Eigen::OuterStride<>(lda)), B(b, m, n, Eigen::OuterStride<>(ldb));      \
    Out<T> C(c, m, n, Eigen::OuterStride<>(ldc));                                                  \
    if (beta != T(1)) C *= beta;                                                                   \
    const auto add = [&](auto&& s) {                                                               \
      if (side == kRight)                                                                          \
        C.noalias() += (alpha * B) * s;                                                            \
      else                                                                                         \
        C.noalias() += s * (alpha * B);                                                            \
    };                                                                                             \
    uplo == kUpper ? add(A.template selfadjointView<Eigen::Upper>())                               \
                   : add(A.template selfadjointView<Eigen::Lower>());                              \
  }                                                                                                \
  extern "C" void cblas_##P##syrk(int, int uplo, int trans, int n, int k, T alpha, const T* a,     \
                                  int lda, T beta, T* c, int ldc) {                                \
    In<T> A(a, trans == kTrans ? k : n, trans == kTrans ? n : k, Eigen::OuterStride<>(lda));       \
    Out<T> C(c, n, n, Eigen::OuterStride<>(ldc));                                                  \
    const auto add = [&](auto&& triangle) {                                                        \
      if (beta != T(1)) triangle *= beta;                                                          \
      if (trans == kTrans)                                                                         \
        triangle += alpha * A.transpose() * A;                                                     \
      else                                                                                         \
        triangle += alpha * A * A.transpose();                                                     \
    };                                                                                             \
    uplo == kUpper ? add(C.template triangularView<Eigen::Upper>())                                \
                   : add(C.template triangularView<Eigen::Lower>());                               \
  }                                                                                                \
  extern "C" void cblas_##P##syr2k(int, int uplo, int trans, int n, int k, T alpha, const T* a,    \
                                   int lda, const T* b, int ldb, T beta, T* c, int ldc) {          \
    const bool t = trans == kTrans;                                                                \
    In<T> A(a, t ? k : n, t ? n : k, Eigen::OuterStride<>(lda));                                   \
    In<T> B(b, t ? k : n, t ? n : k, Eigen::OuterStride<>(ldb));                                   \
    Out<T> C(c, n, n, Eigen::OuterStride<>(ldc));                                                  \
    const auto add = [&](auto&& triangle) {                                                        \
      if (beta != T(1)) triangle *= beta;                                                          \
      if (t)                                                                                       \
        triangle += alpha * A.transpose() * B, triangle += alpha * B.transpose() * A;              \
      else                                                                                         \
        triangle += alpha * A * B.transpose(), triangle += alpha * B * A.transpose();              \
    };                                                                                             \
    uplo == kUpper ? add(C.template triangularView<Eigen::Upper>())                                \
                   : add(C.template triangularView<Eigen::Lower>());                               \
  }                                                                                                \
  extern "C" void cblas_##P##trmm(int, int side, int uplo, int trans, int, int m, int n, T alpha,  \
                                  const T* a, int lda, T* b, int ldb) {                            \
    const int size = side == kRight ? n : m;                                                       \
    Out<T> B(b, m, n, Eigen::OuterStride<>(ldb));                                                  \
    triangle<T>(In<T>(a, size, size, Eigen::OuterStride<>(lda)), uplo, trans, [&](auto&& t) {      \
      if (side == kRight)                                                                          \
        B = (alpha * B) * t;                                                                       \
      else                                                                                         \
        B = t * (alpha * B);                                                                       \
    });                                                                                            \
  }                                                                                                \
  extern "C" void cblas_##P##trsm(int, int side, int uplo, int trans, int, int m, int n, T alpha,  \
                                  const T* a, int lda, T* b, int ldb) {                            \
    const int size = side == kRight ? n : m;                                                       \
    Out<T> B(b, m, n, Eigen::OuterStride<>(ldb));                                                  \
    if (alpha != T(1)) B *= alpha;                                                                 \
    triangle<T>(In<T>(a, size, size, Eigen::OuterStride<>(lda)), uplo, trans, [&](auto&& t) {      \
      if (side == kRight)                                                                          \
        t.template solveInPlace<Eigen::OnTheRight>(B);                                             \
      else                                                                                         \
        t.template solveInPlace<Eigen::OnTheLeft>(B);                                              \
    });                                                                                            \
  }
RIVAL(float, s)
RIVAL(double, d)
