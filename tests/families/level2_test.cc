// CBLAS level 2 against long double: every layout, triangle and transposition, increments of both
// signs, sizes around the blocks of triangles and past the pieces of strided vectors.
#include "tests/families/blas_library.h"
#include "tests/families/stored_matrix.h"

namespace exotune::families {
namespace {

const std::vector<std::pair<int, int>> kIncrements = {{1, 1}, {2, -1}, {-1, 3}};
// Also the last size of a version and the first of the next.
const std::vector<int> kTriangles = {1, 2, 7, 8, 9, 16, 17, 33, 65, 96, 97, 130};

// y := alpha op(A) x + beta y, and what its terms add up to without their signs.
struct Expected {
  std::vector<long double> value, magnitude;
};
Expected product(const Dense& a, const std::vector<long double>& x, long double alpha,
                 const std::vector<long double>& y, long double beta) {
  Expected out;
  for (size_t i = 0; i < a.size(); ++i) {
    long double sum = beta == 0 ? 0 : beta * y[i], size = std::abs(sum);
    for (size_t j = 0; j < x.size(); ++j) {
      sum += alpha * a[i][j] * x[j];
      size += std::abs(alpha * a[i][j] * x[j]);
    }
    out.value.push_back(sum);
    out.magnitude.push_back(size);
  }
  return out;
}

template <class T>
void expect_close(Vector<T>& y, const Expected& expected, int64_t terms) {
  for (size_t i = 0; i < expected.value.size(); ++i)
    ASSERT_TRUE(close(y[static_cast<int64_t>(i)], expected.value[i], expected.magnitude[i], terms))
        << "element " << i;
  EXPECT_TRUE(y.intact());
}

template <class T>
class Level2 : public ::testing::Test {
 protected:
  std::string name(const std::string& routine) { return "cblas_" + precision<T>() + routine; }
  // f(library, layout, incx, incy) for every combination.
  template <class F>
  void each(F f) {
    for (const BlasLibrary& library : blas_libraries())
      for (const int layout : {kRowMajor, kColMajor})
        for (const auto& [incx, incy] : kIncrements) {
          SCOPED_TRACE(library.target() + " layout " + std::to_string(layout) + " incx " +
                       std::to_string(incx) + " incy " + std::to_string(incy));
          f(library, layout, incx, incy);
        }
  }
  Random random{2};
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Level2, Precisions);

TYPED_TEST(Level2, gemv_and_gbmv_multiply) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout, int incx, int incy) {
    for (const auto& [m, n] : std::vector<std::pair<int, int>>{{1, 1},
                                                               {1, 2},
                                                               {2, 1},
                                                               {2, 2},
                                                               {3, 9},
                                                               {17, 5},
                                                               {40, 40},
                                                               {8, 16},
                                                               {20, 96},
                                                               {20, 97},
                                                               {4, 512},
                                                               {5, 530},
                                                               {530, 5}})
      for (const int trans : {kNoTrans, kTrans})
        for (const int band : {-1, 2})
          for (const T beta : {T(0), T(1), T(-2)}) {
            Storage storage{m, n, layout == kRowMajor};
            storage.below = band;
            storage.above = band < 0 ? -1 : band + 1;
            StoredMatrix<T> a(storage, this->random);
            const bool t = trans == kTrans;
            Vector<T> x(t ? m : n, incx, this->random), y(t ? n : m, incy, this->random);
            const auto expected =
                product(transposed(a.values(), t), x.values(), 1.5, y.values(), beta);
            if (beta == 0) y[0] = static_cast<T>(std::nan(""));  // is not read
            if (band < 0)
              library.at<void(int, int, int, int, T, T*, int, T*, int, T, T*, int)>(
                  this->name("gemv"))(layout, trans, m, n, T(1.5), a.data(), a.ld(), x.data(), incx,
                                      beta, y.data(), incy);
            else
              library.at<void(int, int, int, int, int, int, T, T*, int, T*, int, T, T*, int)>(
                  this->name("gbmv"))(layout, trans, m, n, band, band + 1, T(1.5), a.data(), a.ld(),
                                      x.data(), incx, beta, y.data(), incy);
            expect_close(y, expected, m + n);
          }
  });
}

TYPED_TEST(Level2, ger_syr_and_their_kin_add_outer_products) {
  using T = TypeParam;
  using Rank1 = void(int, int, int, T, T*, int, T*, int);
  using Rank2 = void(int, int, int, T, T*, int, T*, int, T*, int);
  this->each([&](const BlasLibrary& library, int layout, int incx, int incy) {
    const auto check = [&](const Storage& storage, const char* routine, bool symmetric, bool two) {
      StoredMatrix<T> a(storage, this->random);
      const int m = static_cast<int>(storage.rows), n = static_cast<int>(storage.columns);
      Vector<T> x(m, incx, this->random), y(n, incy, this->random);
      const Dense before = a.values();
      const std::string name = this->name(routine);
      if (!symmetric)
        library.at<Rank2>(name)(layout, m, n, T(0.5), x.data(), incx, y.data(), incy, a.data(),
                                a.ld());
      else if (two)
        library.at<Rank2>(name)(layout, storage.triangle, n, T(0.5), x.data(), incx, y.data(), incy,
                                a.data(), a.ld());
      else
        library.at<Rank1>(name)(layout, storage.triangle, n, T(0.5), x.data(), incx, a.data(),
                                a.ld());
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          if (!storage.has(i, j)) continue;
          long double added = 0.5L * x[i] * (symmetric && !two ? x[j] : y[j]);
          if (two) added += 0.5L * y[i] * x[j];
          ASSERT_TRUE(close(a.stored(i, j),
                            before[static_cast<size_t>(i)][static_cast<size_t>(j)] + added, 3, 4))
              << routine << " " << i << " " << j << " of " << n;
        }
      EXPECT_TRUE(a.intact()) << routine;
    };
    for (const auto& [m, n] : std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {2, 1}, {2, 2}})
      check({m, n, layout == kRowMajor}, "ger", false, false);
    check({3, 530, layout == kRowMajor}, "ger", false, false);
    check({530, 3, layout == kRowMajor}, "ger", false, false);
    for (const int triangle : {kUpper, kLower})
      for (const int n : {1, 2, 5, 33, 100}) {
        Storage storage{n, n, layout == kRowMajor, triangle};
        check(storage, "syr", true, false);
        check(storage, "syr2", true, true);
        storage.packed = true;
        check(storage, "spr", true, false);
        check(storage, "spr2", true, true);
      }
  });
}

TYPED_TEST(Level2, symmetric_products_read_one_triangle) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout, int incx, int incy) {
    for (const int triangle : {kUpper, kLower})
      for (const int n : kTriangles) {
        Vector<T> x(n, incx, this->random), y(n, incy, this->random);
        const auto check = [&](const Storage& storage, const auto& call) {
          StoredMatrix<T> a(storage, this->random);
          const auto expected = product(a.values(true), x.values(), -0.5, y.values(), 3);
          call(a);
          expect_close(y, expected, n);
        };
        Storage storage{n, n, layout == kRowMajor, triangle};
        check(storage, [&](StoredMatrix<T>& a) {
          library.at<void(int, int, int, T, T*, int, T*, int, T, T*, int)>(this->name("symv"))(
              layout, triangle, n, T(-0.5), a.data(), a.ld(), x.data(), incx, 3, y.data(), incy);
        });
        storage.packed = true;
        check(storage, [&](StoredMatrix<T>& a) {
          library.at<void(int, int, int, T, T*, T*, int, T, T*, int)>(this->name("spmv"))(
              layout, triangle, n, T(-0.5), a.data(), x.data(), incx, 3, y.data(), incy);
        });
        storage.packed = false;
        const int k = 4;
        storage.below = triangle == kLower ? k : 0;
        storage.above = triangle == kUpper ? k : 0;
        check(storage, [&](StoredMatrix<T>& a) {
          library.at<void(int, int, int, int, T, T*, int, T*, int, T, T*, int)>(this->name("sbmv"))(
              layout, triangle, n, k, T(-0.5), a.data(), a.ld(), x.data(), incx, 3, y.data(), incy);
        });
      }
  });
}

TYPED_TEST(Level2, triangles_multiply_and_solve_in_place) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout, int incx, int) {
    for (const int triangle : {kUpper, kLower})
      for (const int trans : {kNoTrans, kTrans})
        for (const int diag : {kNonUnit, kUnit})
          for (const int n : {1, 2, 7, 8, 9, 16, 17, 33, 65, 96, 97, 130, 530}) {
            if (n > 200 && (incx != 1 || diag == kUnit)) continue;
            const auto check = [&](const Storage& storage, const auto& multiply,
                                   const auto& solve) {
              StoredMatrix<T> a(storage, this->random, n + 2.0);
              // A diagonal of ones beside larger elements would make solutions grow.
              if (diag == kUnit)
                for (int64_t i = 0; i < n; ++i)
                  for (int64_t j = 0; j < n; ++j)
                    if (storage.has(i, j)) a.data()[storage.place(i, j)] /= static_cast<T>(n);
              Vector<T> x(n, incx, this->random);
              const auto before = x.values();
              const auto expected =
                  product(transposed(a.values(), trans == kTrans), before, 1, before, 0);
              multiply(a, x);
              expect_close(x, expected, n);
              solve(a, x);
              for (int64_t i = 0; i < n; ++i)
                ASSERT_TRUE(close(x[i], before[static_cast<size_t>(i)], 4, 2 * n)) << n;
              EXPECT_TRUE(x.intact() && a.intact());
            };
            Storage storage{n, n, layout == kRowMajor, triangle, diag == kUnit};
            const auto full = [&](const char* routine) {
              return [&, routine](StoredMatrix<T>& a, Vector<T>& x) {
                library.at<void(int, int, int, int, int, T*, int, T*, int)>(this->name(routine))(
                    layout, triangle, trans, diag, n, a.data(), a.ld(), x.data(), incx);
              };
            };
            check(storage, full("trmv"), full("trsv"));
            storage.packed = true;
            const auto packed = [&](const char* routine) {
              return [&, routine](StoredMatrix<T>& a, Vector<T>& x) {
                library.at<void(int, int, int, int, int, T*, T*, int)>(this->name(routine))(
                    layout, triangle, trans, diag, n, a.data(), x.data(), incx);
              };
            };
            check(storage, packed("tpmv"), packed("tpsv"));
            storage.packed = false;
            const int k = 3;
            storage.below = triangle == kLower ? k : 0;
            storage.above = triangle == kUpper ? k : 0;
            const auto band = [&](const char* routine) {
              return [&, routine](StoredMatrix<T>& a, Vector<T>& x) {
                library.at<void(int, int, int, int, int, int, T*, int, T*, int)>(
                    this->name(routine))(layout, triangle, trans, diag, n, k, a.data(), a.ld(),
                                         x.data(), incx);
              };
            };
            check(storage, band("tbmv"), band("tbsv"));
          }
  });
}

}  // namespace
}  // namespace exotune::families
