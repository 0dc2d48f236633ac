// CBLAS level 3 against long double: every layout, side, triangle and transposition, sizes around
// register tiles and past the pieces that go through the caches.
#include <array>
#include <bit>

#include "tests/families/blas_library.h"
#include "tests/families/stored_matrix.h"

namespace exotune::families {
namespace {

// C := alpha A B + beta C, and what its terms add up to without their signs.
struct Expected {
  Dense value, magnitude;
};
Expected product(const Dense& a, const Dense& b, long double alpha, const Dense& c,
                 long double beta) {
  Expected out{c, c};
  for (size_t i = 0; i < c.size(); ++i)
    for (size_t j = 0; j < c[i].size(); ++j) {
      long double sum = 0, size = 0;
      for (size_t k = 0; k < b.size(); ++k) {
        sum += a[i][k] * b[k][j];
        size += std::abs(a[i][k] * b[k][j]);
      }
      out.value[i][j] = alpha * sum + (beta == 0 ? 0 : beta * c[i][j]);
      out.magnitude[i][j] = std::abs(alpha) * size + std::abs(beta * c[i][j]);
    }
  return out;
}

template <class T>
void expect_close(StoredMatrix<T>& c, const Expected& expected, int64_t terms) {
  for (int64_t i = 0; i < c.storage().rows; ++i)
    for (int64_t j = 0; j < c.storage().columns; ++j) {
      if (!c.storage().has(i, j)) continue;
      const auto r = static_cast<size_t>(i), s = static_cast<size_t>(j);
      ASSERT_TRUE(close(c.stored(i, j), expected.value[r][s], expected.magnitude[r][s], terms))
          << "element " << i << ", " << j;
    }
  EXPECT_TRUE(c.intact());
}

template <class T>
class Level3 : public ::testing::Test {
 protected:
  std::string name(const std::string& routine) { return "cblas_" + precision<T>() + routine; }
  template <class F>
  void each(F f) {
    for (const BlasLibrary& library : blas_libraries())
      for (const int layout : {kRowMajor, kColMajor}) {
        SCOPED_TRACE(library.target() + " layout " + std::to_string(layout));
        f(library, layout);
      }
  }
  Storage matrix(int layout, int64_t rows, int64_t columns, bool transposed = false) {
    return {transposed ? columns : rows, transposed ? rows : columns, layout == kRowMajor};
  }
  Random random{3};
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Level3, Precisions);

TYPED_TEST(Level3, gemm_multiplies) {
  using T = TypeParam;
  struct Sizes {
    int m, n, k;
  };
  this->each([&](const BlasLibrary& library, int layout) {
    for (const auto& [m, n, k] : std::vector<Sizes>{{1, 1, 1},
                                                    {2, 1, 2},
                                                    {1, 2, 1},
                                                    {2, 2, 2},
                                                    {2, 2, 3},
                                                    {7, 5, 3},
                                                    {15, 33, 16},
                                                    {64, 64, 64},
                                                    {47, 31, 400},
                                                    {135, 49, 390},
                                                    {300, 17, 9},
                                                    {33, 20, 60},  // a few columns behind vectors
                                                    {19, 50, 90},
                                                    {41, 22, 130},
                                                    {3, 2100, 2},
                                                    {45, 70, 0}})
      for (const bool ta : {false, true})
        for (const bool tb : {false, true})
          for (const T beta : {T(0), T(-2)}) {
            SCOPED_TRACE(std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k));
            StoredMatrix<T> a(this->matrix(layout, m, k, ta), this->random),
                b(this->matrix(layout, k, n, tb), this->random),
                c(this->matrix(layout, m, n), this->random);
            const auto expected = product(transposed(a.values(), ta), transposed(b.values(), tb),
                                          1.5, c.values(), beta);
            if (beta == 0) *c.data() = static_cast<T>(std::nan(""));  // is not read
            library.at<void(int, int, int, int, int, int, T, T*, int, T*, int, T, T*, int)>(
                this->name("gemm"))(layout, ta ? kTrans : kNoTrans, tb ? kTrans : kNoTrans, m, n, k,
                                    T(1.5), a.data(), a.ld(), b.data(), b.ld(), beta, c.data(),
                                    c.ld());
            expect_close(c, expected, k);
          }
  });
}

// Upper halves of floats: what stands in `from`, poison included, and its values.
struct Halves {
  std::vector<uint16_t> bits;
  Dense values;
  explicit Halves(StoredMatrix<float>& from) : values(from.values()) {
    for (int64_t k = 0; k < from.storage().size(); ++k)
      bits.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(from.data()[k]) >> 16));
    for (int64_t i = 0; i < from.storage().rows; ++i)
      for (int64_t j = 0; j < from.storage().columns; ++j)
        values[static_cast<size_t>(i)][static_cast<size_t>(j)] = std::bit_cast<float>(
            static_cast<uint32_t>(bits[static_cast<size_t>(from.storage().place(i, j))]) << 16);
  }
};

TEST(Level3Brain, sbgemm_multiplies_halves_of_floats) {
  Random random{5};
  for (const BlasLibrary& library : blas_libraries()) {
    auto* const call = library.at<void(int, int, int, int, int, int, float, const uint16_t*, int,
                                       const uint16_t*, int, float, float*, int)>("cblas_sbgemm");
    for (const int layout : {kRowMajor, kColMajor})
      for (const int ta : {kNoTrans, kTrans})
        for (const int tb : {kNoTrans, kTrans})
          for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{
                   {1, 1, 1}, {5, 3, 2}, {17, 33, 40}, {135, 49, 390}, {70, 130, 65}, {4, 3, 0}})
            for (const float beta : {0.0F, 1.0F, -0.5F}) {
              SCOPED_TRACE(library.target() + " " + std::to_string(m) + " " +
                           std::to_string(layout));
              const auto of = [&](int rows, int columns, int trans) {
                return trans == kTrans ? Storage{columns, rows, layout == kRowMajor}
                                       : Storage{rows, columns, layout == kRowMajor};
              };
              StoredMatrix<float> a(of(m, k, ta), random), b(of(k, n, tb), random),
                  c(of(m, n, kNoTrans), random);
              const Halves ha(a), hb(b);
              const Expected expected =
                  product(transposed(ha.values, ta == kTrans), transposed(hb.values, tb == kTrans),
                          0.75, c.values(), beta);
              call(layout, ta, tb, m, n, k, 0.75F, ha.bits.data(), a.ld(), hb.bits.data(), b.ld(),
                   beta, c.data(), c.ld());
              expect_close(c, expected, k + 2);
            }
  }
}

TYPED_TEST(Level3, symm_reads_one_triangle) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout) {
    for (const int side : {kLeft, kRight})
      for (const int triangle : {kUpper, kLower})
        for (const auto& [m, n] : std::vector<std::pair<int, int>>{
                 {1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {9, 40}, {33, 20}, {300, 7}, {7, 300}}) {
          Storage storage = this->matrix(layout, side == kLeft ? m : n, side == kLeft ? m : n);
          storage.triangle = triangle;
          StoredMatrix<T> a(storage, this->random), b(this->matrix(layout, m, n), this->random),
              c(this->matrix(layout, m, n), this->random);
          const Dense whole = a.values(true), factor = b.values();
          const auto expected = side == kLeft ? product(whole, factor, -1, c.values(), 3)
                                              : product(factor, whole, -1, c.values(), 3);
          library.at<void(int, int, int, int, int, T, T*, int, T*, int, T, T*, int)>(
              this->name("symm"))(layout, side, triangle, m, n, T(-1), a.data(), a.ld(), b.data(),
                                  b.ld(), T(3), c.data(), c.ld());
          expect_close(c, expected, std::max(m, n));
        }
  });
}

TYPED_TEST(Level3, syrk_and_syr2k_write_one_triangle) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout) {
    for (const int triangle : {kUpper, kLower})
      for (const bool trans : {false, true})
        for (const auto& [n, k] : std::vector<std::pair<int, int>>{
                 {1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {20, 7}, {33, 400}, {260, 5}, {250, 90}})
          for (const T beta : {T(0), T(2)}) {
            StoredMatrix<T> a(this->matrix(layout, n, k, trans), this->random),
                b(this->matrix(layout, n, k, trans), this->random);
            const Dense x = transposed(a.values(), trans), y = transposed(b.values(), trans);
            Storage storage = this->matrix(layout, n, n);
            storage.triangle = triangle;
            StoredMatrix<T> c(storage, this->random);
            const auto first = product(x, transposed(x, true), T(0.5), c.values(), beta);
            if (beta == 0) *c.data() = static_cast<T>(std::nan(""));
            library.at<void(int, int, int, int, int, T, T*, int, T, T*, int)>(this->name("syrk"))(
                layout, triangle, trans ? kTrans : kNoTrans, n, k, T(0.5), a.data(), a.ld(), beta,
                c.data(), c.ld());
            expect_close(c, first, k);
            const auto half = product(x, transposed(y, true), T(0.5), c.values(), 1);
            const auto second = product(y, transposed(x, true), T(0.5), half.value, 1);
            library.at<void(int, int, int, int, int, T, T*, int, T*, int, T, T*, int)>(
                this->name("syr2k"))(layout, triangle, trans ? kTrans : kNoTrans, n, k, T(0.5),
                                     a.data(), a.ld(), b.data(), b.ld(), 1, c.data(), c.ld());
            expect_close(c, second, 3 * k);
          }
  });
}

TYPED_TEST(Level3, triangles_multiply_and_solve_in_place) {
  using T = TypeParam;
  using Triangular = void(int, int, int, int, int, int, int, T, T*, int, T*, int);
  this->each([&](const BlasLibrary& library, int layout) {
    for (const int side : {kLeft, kRight})
      for (const int triangle : {kUpper, kLower})
        for (const bool trans : {false, true})
          for (const int diag : {kNonUnit, kUnit})
            for (const auto& [m, n] : std::vector<std::pair<int, int>>{{1, 1},
                                                                       {1, 2},
                                                                       {2, 1},
                                                                       {2, 2},
                                                                       {1, 3},
                                                                       {2, 3},
                                                                       {20, 33},
                                                                       {65, 10},
                                                                       {10, 150},
                                                                       {200, 9},
                                                                       {270, 120},
                                                                       {120, 230}}) {
              const int size = side == kLeft ? m : n;
              Storage storage = this->matrix(layout, size, size);
              storage.triangle = triangle;
              storage.unit = diag == kUnit;
              StoredMatrix<T> a(storage, this->random, size + 2.0);
              if (diag == kUnit)
                for (int64_t i = 0; i < size; ++i)
                  for (int64_t j = 0; j < size; ++j)
                    if (storage.has(i, j)) a.data()[storage.place(i, j)] /= static_cast<T>(size);
              StoredMatrix<T> b(this->matrix(layout, m, n), this->random);
              const Dense t = transposed(a.values(), trans), before = b.values();
              const Dense none(before.size(), std::vector<long double>(before[0].size(), 0));
              const auto expected =
                  side == kLeft ? product(t, before, 2, none, 0) : product(before, t, 2, none, 0);
              library.at<Triangular>(this->name("trmm"))(layout, side, triangle,
                                                         trans ? kTrans : kNoTrans, diag, m, n,
                                                         T(2), a.data(), a.ld(), b.data(), b.ld());
              expect_close(b, expected, size);
              library.at<Triangular>(this->name("trsm"))(
                  layout, side, triangle, trans ? kTrans : kNoTrans, diag, m, n, T(0.5), a.data(),
                  a.ld(), b.data(), b.ld());
              Expected back{before, before};
              for (auto& line : back.magnitude) std::fill(line.begin(), line.end(), 4);
              expect_close(b, back, 2 * size);
              EXPECT_TRUE(a.intact());
            }
  });
}

TYPED_TEST(Level3, a_zero_of_a_triangle_meets_no_nan) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int layout) {
    for (const auto& [n, columns] : {std::pair{70, 5}, {300, 170}}) {
      Storage storage = this->matrix(layout, n, n);
      storage.triangle = kLower;
      StoredMatrix<T> a(storage, this->random), b(this->matrix(layout, n, columns), this->random);
      b.data()[b.storage().place(40, 2)] = static_cast<T>(std::nan(""));
      library.at<void(int, int, int, int, int, int, int, T, T*, int, T*, int)>(this->name("trmm"))(
          layout, kLeft, kLower, kNoTrans, kNonUnit, n, columns, 1, a.data(), a.ld(), b.data(),
          b.ld());
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < columns; ++j)
          EXPECT_EQ(std::isnan(b.stored(i, j)), j == 2 && i >= 40) << i << " " << j;
    }
  });
}

}  // namespace
}  // namespace exotune::families
