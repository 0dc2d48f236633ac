// libFuzzer program: routines of a BLAS library that `exo-tune family` wrote, over shapes, strides
// and leading dimensions, against sums in double or long double. Arrays have just the elements that
// a routine may touch; what it must not read is NaN, and what it must not write stays.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

extern "C" {
#include "cblas.h"
}

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The choices of one call, read from the fuzzer's bytes; zeros behind their end.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  int below(int n) { return next() % n; }
  bool flag() { return below(2) == 1; }
  int size() { return flag() ? below(20) : below(140); }
  int stride() {
    const int s = below(6);
    return s < 3 ? 1 : s == 3 ? 2 : s == 4 ? -1 : -3;
  }
  double scalar() {
    constexpr double kScalars[] = {0, 1, -1, 0.5, 2.25};
    return kScalars[below(5)];
  }

 private:
  int next() { return at_ < size_ ? data_[at_++] : 0; }
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

// Values in (-1, 1), the same for the same place.
double value(size_t k) { return static_cast<double>((k * 2654435761u >> 8) % 2001) / 1000.5 - 1; }

// A matrix in one of the layouts; elements are held to just before the last one's row's padding.
template <class T>
struct Matrix {
  bool by_rows;
  int rows, columns, ld;
  std::vector<T> data;
  Matrix(bool row, int m, int n, int padding)
      : by_rows(row), rows(m), columns(n), ld(std::max(1, row ? n : m) + padding) {
    const int lines = row ? m : n, length = row ? n : m;
    data.assign(lines > 0 && length > 0 ? static_cast<size_t>(lines - 1) * ld + length : 1,
                T(kNan));
  }
  T& at(int i, int j) { return data[by_rows ? size_t(i) * ld + j : size_t(j) * ld + i]; }
  void fill() {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) at(i, j) = T(value(size_t(i) * 131 + j));
  }
  // One triangle; the diagonal too, unless it is of ones.
  void fill_triangle(bool upper, bool unit, bool tame) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (i == j ? !unit : (j > i) == upper)
          at(i, j) =
              T(i == j ? 2 + value(size_t(i)) : value(size_t(i) * 131 + j) / (tame ? rows : 1));
  }
};

template <class T>
struct Vector {
  int n, inc;
  std::vector<T> data;
  Vector(int size, int stride) : n(size), inc(stride) {
    data.assign(n > 0 ? size_t(n - 1) * std::abs(inc) + 1 : 1, T(kNan));
    for (int i = 0; i < n; ++i) at(i) = T(value(size_t(i) * 7 + 3));
  }
  T& at(int i) { return data[size_t(inc > 0 ? i : n - 1 - i) * std::abs(inc)]; }
};

[[noreturn]] void wrong(const std::string& what, double got, double want) {
  std::fprintf(stderr, "%s: %.17g, not %.17g\n", what.c_str(), got, want);
  std::abort();
}

// Both of the same bits, or near for what is there.
template <class T>
void compare(const std::string& what, const std::vector<T>& got, const std::vector<double>& want,
             double size) {
  for (size_t k = 0; k < got.size(); ++k) {
    if (std::isnan(got[k]) && std::isnan(want[k])) continue;
    const double most =
        std::numeric_limits<T>::epsilon() * 16 * (size + 8) * (size + std::abs(want[k]));
    if (!(std::abs(got[k] - want[k]) <= most)) wrong(what, got[k], want[k]);
  }
}

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

#define ROUTINE(name)           \
  template <class... A>         \
  auto name(float, A... a) {    \
    return cblas_s##name(a...); \
  }                             \
  template <class... A>         \
  auto name(double, A... a) {   \
    return cblas_d##name(a...); \
  }
// clang-format off
ROUTINE(axpy) ROUTINE(dot) ROUTINE(scal) ROUTINE(copy) ROUTINE(swap) ROUTINE(asum) ROUTINE(nrm2)
ROUTINE(rot) ROUTINE(gemv) ROUTINE(ger) ROUTINE(symv) ROUTINE(syr) ROUTINE(syr2) ROUTINE(trmv)
ROUTINE(trsv) ROUTINE(gemm) ROUTINE(symm) ROUTINE(syrk) ROUTINE(syr2k) ROUTINE(trmm) ROUTINE(trsm);
// clang-format on
#undef ROUTINE

template <class T>
void level1(Choices& c) {
  const int n = c.size() * (c.flag() ? 1 : 9);
  Vector<T> x(n, c.stride()), y(n, c.stride());
  const T alpha = T(c.scalar()), beta = T(c.scalar());
  Vector<double> a(n, x.inc), b(n, y.inc);
  for (int i = 0; i < n; ++i) a.at(i) = x.at(i), b.at(i) = y.at(i);
  double sum = 0;
  const int which = c.below(8);
  for (int i = 0; i < n; ++i) {
    const double u = a.at(i), v = b.at(i);
    if (which == 0) b.at(i) = alpha * u + v;
    if (which == 1) sum += u * v;
    if (which == 2 && x.inc > 0) a.at(i) = alpha * u;
    if (which == 3) b.at(i) = u;
    if (which == 4) a.at(i) = v, b.at(i) = u;
    if (which == 5 && x.inc > 0) sum += std::abs(u);
    if (which == 6) sum += u * u;
    if (which == 7) a.at(i) = alpha * u + beta * v, b.at(i) = alpha * v - beta * u;
  }
  T *px = x.data.data(), *py = y.data.data(), got = T(sum);
  if (which == 0) axpy(T(), n, alpha, px, x.inc, py, y.inc);
  if (which == 1) got = dot(T(), n, px, x.inc, py, y.inc);
  if (which == 2) scal(T(), n, alpha, px, x.inc);
  if (which == 3) copy(T(), n, px, x.inc, py, y.inc);
  if (which == 4) swap(T(), n, px, x.inc, py, y.inc);
  if (which == 5) got = asum(T(), n, px, x.inc);
  if (which == 6) got = nrm2(T(), n, px, x.inc), sum = std::sqrt(sum);
  if (which == 7) rot(T(), n, px, x.inc, py, y.inc, alpha, beta);
  compare("a sum of level 1", std::vector<T>{got}, {sum}, n);
  compare("x of level 1", x.data, a.data, 1);
  compare("y of level 1", y.data, b.data, 1);
}

// op(A)(i, j) for what is stored; symmetric and triangular ones have one half, a unit diagonal
// ones.
enum class Shape { kGeneral, kSymmetric, kTriangular };
template <class T>
double element(Matrix<T>& A, Shape shape, bool upper, bool unit, bool trans, int i, int j) {
  if (trans) std::swap(i, j);
  if (shape == Shape::kSymmetric && i != j && (j > i) != upper) std::swap(i, j);
  if (shape == Shape::kTriangular && i == j && unit) return 1;
  if (shape == Shape::kTriangular && i != j && (j > i) != upper) return 0;
  return A.at(i, j);
}

// C := alpha L R + beta C for m x k and k x n functions; only the places that `there` allows.
template <class T, class L, class R, class There>
std::vector<double> product(Matrix<T>& C, int k, double alpha, double beta, L left, R right,
                            There there) {
  Matrix<double> out(C.by_rows, C.rows, C.columns, 0);
  out.ld = C.ld, out.data = widened(C.data);
  for (int i = 0; i < C.rows; ++i)
    for (int j = 0; j < C.columns; ++j) {
      if (!there(i, j)) continue;
      double sum = 0;
      for (int l = 0; alpha != 0 && l < k; ++l) sum += left(i, l) * right(l, j);
      out.at(i, j) = (beta == 0 ? 0 : beta * C.at(i, j)) + alpha * sum;
    }
  return out.data;
}

template <class T>
void matrices(Choices& c, bool vectors) {
  const bool row = c.flag(), upper = c.flag(), unit = c.flag(), right = c.flag();
  const bool ta = c.flag(), tb = c.flag();
  const int which = c.below(6), m = c.size(), pad = c.below(4);
  // Vectors are matrices of one column whose rows are apart.
  const int n = vectors ? 1 : c.size(), k = c.size();
  double alpha = c.scalar(), beta = c.scalar();
  const CBLAS_LAYOUT layout = row ? CblasRowMajor : CblasColMajor;
  const CBLAS_TRANSPOSE a_t = ta ? CblasTrans : CblasNoTrans, b_t = tb ? CblasTrans : CblasNoTrans;
  const CBLAS_UPLO uplo = upper ? CblasUpper : CblasLower;
  const CBLAS_DIAG diag = unit ? CblasUnit : CblasNonUnit;
  const CBLAS_SIDE side = right ? CblasRight : CblasLeft;
  const auto all = [](int, int) { return true; };
  const auto half = [&](int i, int j) { return i == j || (j > i) == upper; };
  if (which == 0 && !vectors) {  // gemm
    Matrix<T> A(row, ta ? k : m, ta ? m : k, pad), B(row, tb ? n : k, tb ? k : n, c.below(4)),
        C(row, m, n, c.below(4));
    if (alpha != 0) A.fill(), B.fill();
    if (beta != 0) C.fill();
    const auto want = product(
        C, k, alpha, beta, [&](int i, int l) { return double(ta ? A.at(l, i) : A.at(i, l)); },
        [&](int l, int j) { return double(tb ? B.at(j, l) : B.at(l, j)); }, all);
    gemm(T(), layout, a_t, b_t, m, n, k, T(alpha), A.data.data(), A.ld, B.data.data(), B.ld,
         T(beta), C.data.data(), C.ld);
    compare("gemm", C.data, want, k);
  } else if (which == 1 && !vectors) {  // symm
    const int size = right ? n : m;
    Matrix<T> A(row, size, size, pad), B(row, m, n, c.below(4)), C(row, m, n, c.below(4));
    if (alpha != 0) A.fill_triangle(upper, false, false), B.fill();
    if (beta != 0) C.fill();
    const auto sym = [&](int i, int j) {
      return element(A, Shape::kSymmetric, upper, false, false, i, j);
    };
    const auto b = [&](int i, int j) { return double(B.at(i, j)); };
    const auto want =
        right ? product(C, n, alpha, beta, b, sym, all) : product(C, m, alpha, beta, sym, b, all);
    symm(T(), layout, side, uplo, m, n, T(alpha), A.data.data(), A.ld, B.data.data(), B.ld, T(beta),
         C.data.data(), C.ld);
    compare("symm", C.data, want, size);
  } else if (which <= 3 && !vectors) {  // syrk, syr2k
    const bool two = which == 3;
    Matrix<T> A(row, ta ? k : m, ta ? m : k, pad), B(row, ta ? k : m, ta ? m : k, c.below(4)),
        C(row, m, m, c.below(4));
    if (alpha != 0) A.fill(), B.fill();
    if (alpha != 0 && two)
      for (T& v : B.data) v = -v * T(0.5);
    if (beta != 0) C.fill_triangle(upper, false, false);
    const auto a = [&](int i, int l) { return double(ta ? A.at(l, i) : A.at(i, l)); };
    const auto b = [&](int i, int l) { return double(ta ? B.at(l, i) : B.at(i, l)); };
    const auto left = [&](int i, int l) { return l < k ? a(i, l) : b(i, l - k); };
    const auto want = product(
        C, two ? 2 * k : k, alpha, beta, left,
        [&](int l, int j) { return two ? (l < k ? b(j, l) : a(j, l - k)) : a(j, l); }, half);
    if (two)
      syr2k(T(), layout, uplo, a_t, m, k, T(alpha), A.data.data(), A.ld, B.data.data(), B.ld,
            T(beta), C.data.data(), C.ld);
    else
      syrk(T(), layout, uplo, a_t, m, k, T(alpha), A.data.data(), A.ld, T(beta), C.data.data(),
           C.ld);
    compare(two ? "syr2k" : "syrk", C.data, want, 2 * k);
  } else if (!vectors) {  // trmm, and trsm by multiplying its solution
    const int size = right ? n : m;
    Matrix<T> A(row, size, size, pad), B(row, m, n, c.below(4));
    A.fill_triangle(upper, unit, true);
    B.fill();
    Matrix<T> before = B;
    const auto t = [&](int i, int j) {
      return element(A, Shape::kTriangular, upper, unit, ta, i, j);
    };
    const auto of = [&](Matrix<T>& X, double by) {
      const auto x = [&](int i, int j) { return double(X.at(i, j)); };
      return right ? product(X, n, by, 0, x, t, all) : product(X, m, by, 0, t, x, all);
    };
    if (which == 4) {
      const auto want = of(B, alpha);
      trmm(T(), layout, side, uplo, a_t, diag, m, n, T(alpha), A.data.data(), A.ld, B.data.data(),
           B.ld);
      compare("trmm", B.data, want, size);
    } else {
      trsm(T(), layout, side, uplo, a_t, diag, m, n, T(alpha), A.data.data(), A.ld, B.data.data(),
           B.ld);
      const std::vector<double> back = of(B, 1);
      std::vector<double> want = widened(before.data);
      for (double& v : want) v = alpha == 0 && !std::isnan(v) ? 0 : alpha * v;
      compare("trsm", std::vector<T>(back.begin(), back.end()), want, size);
    }
  } else if (which <= 1) {  // gemv, symv
    const bool sym = which == 1;
    Matrix<T> A(row, m, sym ? m : k, pad);
    if (alpha != 0) sym ? A.fill_triangle(upper, false, false) : A.fill();
    const bool t = ta && !sym;
    const int in = sym ? m : t ? m : k, out = sym ? m : t ? k : m;
    Vector<T> x(in, c.stride()), y(out, c.stride());
    if (!sym && (m == 0 || k == 0)) return;
    Vector<double> want(out, y.inc);
    for (int i = 0; i < out; ++i) {
      double sum = 0;
      for (int j = 0; alpha != 0 && j < in; ++j)
        sum +=
            element(A, sym ? Shape::kSymmetric : Shape::kGeneral, upper, false, t, i, j) * x.at(j);
      want.at(i) = beta * y.at(i) + alpha * sum;
    }
    if (sym)
      symv(T(), layout, uplo, m, T(alpha), A.data.data(), A.ld, x.data.data(), x.inc, T(beta),
           y.data.data(), y.inc);
    else
      gemv(T(), layout, a_t, m, k, T(alpha), A.data.data(), A.ld, x.data.data(), x.inc, T(beta),
           y.data.data(), y.inc);
    compare(sym ? "symv" : "gemv", y.data, want.data, in);
  } else if (which <= 3) {  // ger, syr, syr2
    const int kind = c.below(3), columns = kind == 0 ? k : m;
    Matrix<T> A(row, m, columns, pad);
    kind == 0 ? A.fill() : A.fill_triangle(upper, false, false);
    Vector<T> x(m, c.stride()), y(columns, c.stride());
    const auto want = product(
        A, 1, 1, 1, [&](int i, int) { return double(T(alpha) * x.at(i)); },
        [&](int, int) { return 0.0; }, all);
    Matrix<double> sum(row, m, columns, 0);
    sum.ld = A.ld, sum.data = want;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < columns; ++j)
        if (kind == 0 || half(i, j))
          sum.at(i, j) +=
              alpha * (kind == 1 ? double(x.at(i)) * x.at(j) : double(x.at(i)) * y.at(j)) +
              (kind == 2 ? alpha * double(y.at(i)) * x.at(j) : 0);
    if (kind == 0)
      ger(T(), layout, m, k, T(alpha), x.data.data(), x.inc, y.data.data(), y.inc, A.data.data(),
          A.ld);
    if (kind == 1) syr(T(), layout, uplo, m, T(alpha), x.data.data(), x.inc, A.data.data(), A.ld);
    if (kind == 2)
      syr2(T(), layout, uplo, m, T(alpha), x.data.data(), x.inc, y.data.data(), y.inc,
           A.data.data(), A.ld);
    compare("an outer product", A.data, sum.data, 4);
  } else {  // trmv, and trsv by multiplying its solution
    Matrix<T> A(row, m, m, pad);
    A.fill_triangle(upper, unit, true);
    Vector<T> x(m, c.stride());
    Vector<T> before = x;
    if (which == 4)
      trmv(T(), layout, uplo, a_t, diag, m, A.data.data(), A.ld, x.data.data(), x.inc);
    else
      trsv(T(), layout, uplo, a_t, diag, m, A.data.data(), A.ld, x.data.data(), x.inc);
    Vector<T>& from = which == 4 ? before : x;
    Vector<T>& to = which == 4 ? x : before;
    Vector<double> want(m, x.inc);
    for (int i = 0; i < m; ++i) {
      want.at(i) = 0;
      for (int j = 0; j < m; ++j)
        want.at(i) += element(A, Shape::kTriangular, upper, unit, ta, i, j) * from.at(j);
    }
    compare(which == 4 ? "trmv" : "trsv", to.data, want.data, m);
  }
}

template <class T>
void call(Choices& c) {
  const int level = c.below(3);
  if (level == 0)
    level1<T>(c);
  else
    matrices<T>(c, level == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  choices.flag() ? call<double>(choices) : call<float>(choices);
  return 0;
}
