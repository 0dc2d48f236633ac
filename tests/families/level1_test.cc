// CBLAS level 1 against long double, over sizes around the vectors' and increments of both signs.
#include "tests/families/blas_library.h"
#include "tests/families/guarded_array.h"

namespace exotune::families {
namespace {

const std::vector<int> kSizes = {0,  1,  2,  3,  7,   8,   9,   15,  16,   17,  31,
                                 33, 32, 64, 65, 100, 128, 129, 257, 4096, 4097};
const std::vector<std::pair<int, int>> kIncrements = {{1, 1}, {2, 3}, {-1, 1}, {1, -2}, {-3, -1}};

template <class T>
class Level1 : public ::testing::Test {
 protected:
  // f(library, n, incx, incy) for every combination.
  template <class F>
  void each(F f) {
    for (const BlasLibrary& library : blas_libraries())
      for (const int n : kSizes)
        for (const auto& [incx, incy] : kIncrements) {
          SCOPED_TRACE(library.target() + " n=" + std::to_string(n) +
                       " incx=" + std::to_string(incx) + " incy=" + std::to_string(incy));
          f(library, n, incx, incy);
        }
  }
  std::string name(const std::string& routine) { return "cblas_" + precision<T>() + routine; }
  Random random{1};
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Level1, Precisions);

TYPED_TEST(Level1, axpy_adds_a_multiple) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int n, int incx, int incy) {
    Vector<T> x(n, incx, this->random), y(n, incy, this->random);
    const auto xs = x.values(), ys = y.values();
    const T alpha = static_cast<T>(-1.5);
    library.at<void(int, T, const T*, int, T*, int)>(this->name("axpy"))(n, alpha, x.data(), incx,
                                                                         y.data(), incy);
    for (int i = 0; i < n; ++i) EXPECT_TRUE(close(y[i], ys[i] + alpha * xs[i], 3, 1));
    EXPECT_TRUE(x.intact() && y.intact());
  });
}

TYPED_TEST(Level1, dot_sums_products) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int n, int incx, int incy) {
    Vector<T> x(n, incx, this->random), y(n, incy, this->random);
    long double sum = 0, magnitude = 0;
    for (int i = 0; i < n; ++i) {
      sum += static_cast<long double>(x[i]) * y[i];
      magnitude += std::abs(static_cast<long double>(x[i]) * y[i]);
    }
    const T got = library.at<T(int, const T*, int, const T*, int)>(this->name("dot"))(
        n, x.data(), incx, y.data(), incy);
    EXPECT_TRUE(close(got, sum, magnitude, n));
  });
}

TYPED_TEST(Level1, copy_and_swap_move_elements_and_nothing_else) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int n, int incx, int incy) {
    Vector<T> x(n, incx, this->random), y(n, incy, this->random);
    const auto xs = x.values(), ys = y.values();
    library.at<void(int, T*, int, T*, int)>(this->name("swap"))(n, x.data(), incx, y.data(), incy);
    for (int i = 0; i < n; ++i) EXPECT_TRUE(x[i] == ys[i] && y[i] == xs[i]);
    library.at<void(int, const T*, int, T*, int)>(this->name("copy"))(n, x.data(), incx, y.data(),
                                                                      incy);
    for (int i = 0; i < n; ++i) EXPECT_TRUE(x[i] == ys[i] && y[i] == ys[i]);
    EXPECT_TRUE(x.intact() && y.intact());
  });
}

TYPED_TEST(Level1, scal_multiplies_and_leaves_other_increments_alone) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int n, int incx, int) {
    Vector<T> x(n, incx, this->random);
    const auto xs = x.values();
    library.at<void(int, T, T*, int)>(this->name("scal"))(n, 3, x.data(), incx);
    for (int i = 0; i < n; ++i) EXPECT_TRUE(close(x[i], incx > 0 ? 3 * xs[i] : xs[i], 3, 0));
    EXPECT_TRUE(x.intact());
  });
}

TYPED_TEST(Level1, asum_and_nrm2_sum_sizes) {
  using T = TypeParam;
  this->each([&](const BlasLibrary& library, int n, int incx, int) {
    Vector<T> x(n, incx, this->random);
    long double sizes = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      sizes += std::abs(static_cast<long double>(x[i]));
      squares += static_cast<long double>(x[i]) * x[i];
    }
    using Norm = T(int, const T*, int);
    EXPECT_TRUE(close(library.at<Norm>(this->name("asum"))(n, x.data(), incx), incx > 0 ? sizes : 0,
                      sizes, n));
    EXPECT_TRUE(close(library.at<Norm>(this->name("nrm2"))(n, x.data(), incx), std::sqrt(squares),
                      std::sqrt(squares), n));
  });
}

TYPED_TEST(Level1, nrm2_neither_overflows_nor_vanishes) {
  using T = TypeParam;
  for (const BlasLibrary& library : blas_libraries()) {
    const auto nrm2 = library.at<T(int, const T*, int)>(this->name("nrm2"));
    for (const T size : {std::numeric_limits<T>::max() / 8, std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::denorm_min() * 64}) {
      const std::vector<T> x(9, size);
      EXPECT_TRUE(close(nrm2(9, x.data(), 1), 3 * static_cast<long double>(size), 3 * size, 2));
    }
    const T infinity = std::numeric_limits<T>::infinity();
    const std::vector<T> x = {1, infinity, 2};
    EXPECT_EQ(nrm2(3, x.data(), 1), infinity);
    const std::vector<T> y = {1, std::numeric_limits<T>::quiet_NaN(), infinity};
    EXPECT_TRUE(std::isnan(nrm2(3, y.data(), 1)));
    // Wherever in a line they lie, what is behind them is not read.
    for (size_t at = 0; at < 16; ++at) {
      std::vector<T> zeros(64, 1);
      zeros[at] = zeros[at + 1] = 0;
      EXPECT_EQ(nrm2(2, &zeros[at], 1), 0) << at;
    }
  }
}

TYPED_TEST(Level1, iamax_finds_the_first_of_the_greatest) {
  using T = TypeParam;
  for (const BlasLibrary& library : blas_libraries()) {
    const auto iamax = library.at<size_t(int, const T*, int)>("cblas_i" + precision<T>() + "amax");
    for (const int n : {1, 2, 15, 64, 100, 5000}) {
      std::vector<T> x(static_cast<size_t>(n), 1);
      EXPECT_EQ(iamax(n, x.data(), 1), 0u);
      for (const int at : {n - 1, n / 2, n / 3}) {
        x[static_cast<size_t>(at)] = -2;
        EXPECT_EQ(iamax(n, x.data(), 1), static_cast<size_t>(at)) << n;
      }
      x[static_cast<size_t>(n / 4)] = std::nan("");
      EXPECT_EQ(iamax(n, x.data(), 1), static_cast<size_t>(n / 4 == 0 ? 0 : n / 3)) << n;
    }
    const std::vector<T> gaps = {1, 9, 2, 9, -3};
    EXPECT_EQ(iamax(3, gaps.data(), 2), 2u);
    EXPECT_EQ(iamax(3, gaps.data(), -2), 0u);
    EXPECT_EQ(library.at<int(const int*, const T*, const int*)>("i" + precision<T>() + "amax_")(
                  std::vector<int>{3}.data(), gaps.data(), std::vector<int>{2}.data()),
              3);
  }
}

TYPED_TEST(Level1, rot_and_rotm_turn_pairs) {
  using T = TypeParam;
  const std::vector<T> flags = {-1, 0, 1, -2};
  this->each([&](const BlasLibrary& library, int n, int incx, int incy) {
    Vector<T> x(n, incx, this->random), y(n, incy, this->random);
    auto xs = x.values(), ys = y.values();
    const T c = static_cast<T>(0.8), s = static_cast<T>(-0.6);
    library.at<void(int, T*, int, T*, int, T, T)>(this->name("rot"))(n, x.data(), incx, y.data(),
                                                                     incy, c, s);
    for (int i = 0; i < n; ++i) {
      EXPECT_TRUE(close(x[i], c * xs[i] + s * ys[i], 2, 2));
      EXPECT_TRUE(close(y[i], c * ys[i] - s * xs[i], 2, 2));
    }
    for (const T flag : flags) {
      xs = x.values(), ys = y.values();
      const T P[5] = {flag, static_cast<T>(0.5), static_cast<T>(-0.25), 2, static_cast<T>(0.75)};
      library.at<void(int, T*, int, T*, int, const T*)>(this->name("rotm"))(n, x.data(), incx,
                                                                            y.data(), incy, P);
      const T h11 = flag == -1 || flag == 1 ? P[1] : 1, h22 = flag == -1 || flag == 1 ? P[4] : 1;
      const T h21 = flag == 1 ? -1 : flag == -2 ? 0 : P[2];
      const T h12 = flag == 1 ? 1 : flag == -2 ? 0 : P[3];
      for (int i = 0; i < n; ++i) {
        EXPECT_TRUE(close(x[i], h11 * xs[i] + h12 * ys[i], 30, 2));
        EXPECT_TRUE(close(y[i], h21 * xs[i] + h22 * ys[i], 30, 2));
      }
    }
    EXPECT_TRUE(x.intact() && y.intact());
  });
}

TYPED_TEST(Level1, rotg_makes_the_second_zero) {
  using T = TypeParam;
  const T huge = std::numeric_limits<T>::max() / 4, tiny = std::numeric_limits<T>::min();
  for (const BlasLibrary& library : blas_libraries())
    for (const T a0 : {T(3), T(-3), T(0), huge, tiny})
      for (const T b0 : {T(4), T(-2), T(0), huge, -tiny}) {
        T a = a0, b = b0, c = 7, s = 7;
        library.at<void(T*, T*, T*, T*)>(this->name("rotg"))(&a, &b, &c, &s);
        const long double r = std::hypot(static_cast<long double>(a0), b0);
        EXPECT_TRUE(close(static_cast<T>(std::abs(a)), r, r, 2)) << a0 << " " << b0;
        EXPECT_TRUE(close(static_cast<T>(c * c + s * s), 1, 1, 4));
        EXPECT_TRUE(close(static_cast<T>(c * (a0 / r) + s * (b0 / r)), r == 0 ? a : a / r, 1, 4) ||
                    r == 0);
      }
}

TEST(MixedDots, are_summed_in_double_precision) {
  for (const BlasLibrary& library : blas_libraries()) {
    const std::vector<float> x = {1e8f, 1, -1e8f}, y = {1, 1, 1};
    EXPECT_EQ(library.at<double(int, const float*, int, const float*, int)>("cblas_dsdot")(
                  3, x.data(), 1, y.data(), 1),
              1.0);
    EXPECT_EQ(library.at<float(int, float, const float*, int, const float*, int)>("cblas_sdsdot")(
                  3, 2.0f, x.data(), 1, y.data(), -1),
              3.0f);
  }
}

TYPED_TEST(Level1, an_increment_of_zero_meets_one_element_again_and_again) {
  using T = TypeParam;
  for (const BlasLibrary& library : blas_libraries()) {
    std::vector<T> x = {1, 2, 3}, y = {10};
    library.at<void(int, T, const T*, int, T*, int)>(this->name("axpy"))(3, 2, x.data(), 1,
                                                                         y.data(), 0);
    EXPECT_EQ(y[0], 22);
    library.at<void(int, const T*, int, T*, int)>(this->name("copy"))(3, x.data(), 1, y.data(), 0);
    EXPECT_EQ(y[0], 3);
  }
}

}  // namespace
}  // namespace exotune::families
