#pragma once
// Arrays for tests of BLAS routines: what a routine has no business with is poisoned, and it shows
// when it was touched. Start at Vector and Matrix.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace exotune::families {

constexpr int64_t kGuard = 70;  // elements on both sides: more than a vector register

/// Memory with a mark for each element that a routine may read or write; of all others half
/// are NaN with a bit pattern of its own, which spoils what is computed from it, even times
/// zero, and the rest a number, which something added to it would change.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(int64_t size)
      : elements_(static_cast<size_t>(size + 2 * kGuard)), given_(elements_.size(), false) {
    for (size_t k = 0; k < elements_.size(); ++k) elements_[k] = poison(k);
  }

  T* data() { return elements_.data() + kGuard; }
  T& give(int64_t place) {
    given_[static_cast<size_t>(place + kGuard)] = true;
    return elements_[static_cast<size_t>(place + kGuard)];
  }
  /// Everything that was not given is as it was.
  bool intact() const {
    for (size_t k = 0; k < elements_.size(); ++k) {
      const T clean = poison(k);
      if (!given_[k] && std::memcmp(&elements_[k], &clean, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  static T poison(size_t k) {
    T value = static_cast<T>(1234.5);
    if (std::popcount(k) % 2 != 0) return value;  // whatever the increment, some of both
    if constexpr (sizeof(T) == 4) {
      const uint32_t bits = 0x7fc0beef;
      std::memcpy(&value, &bits, sizeof value);
    } else {
      const uint64_t bits = 0x7ff8deadbeefcafe;
      std::memcpy(&value, &bits, sizeof value);
    }
    return value;
  }
  std::vector<T> elements_;
  std::vector<bool> given_;
};

using Random = std::mt19937;
template <class T>
T draw(Random& random) {
  return static_cast<T>(static_cast<double>(random() % 2001) / 1000.0 - 1.0);
}

/// n elements `inc` apart, as BLAS counts them.
template <class T>
class Vector {
 public:
  Vector(int64_t n, int64_t inc, Random& random)
      : n_(n), inc_(inc), array_(n > 0 ? (n - 1) * std::abs(inc) + 1 : 0) {
    for (int64_t i = 0; i < n; ++i) array_.give(place(i)) = draw<T>(random);
  }
  T* data() { return array_.data(); }
  T& operator[](int64_t i) { return array_.data()[place(i)]; }
  std::vector<long double> values() {
    std::vector<long double> out;
    for (int64_t i = 0; i < n_; ++i) out.push_back((*this)[i]);
    return out;
  }
  bool intact() const { return array_.intact(); }

 private:
  int64_t place(int64_t i) const { return inc_ >= 0 ? i * inc_ : (i - n_ + 1) * inc_; }
  int64_t n_, inc_;
  GuardedArray<T> array_;
};

/// |got - want| within `terms` roundings of sums of that magnitude.
template <class T>
::testing::AssertionResult close(T got, long double want, long double magnitude, int64_t terms) {
  const long double epsilon = std::numeric_limits<T>::epsilon();
  const long double error = std::abs(static_cast<long double>(got) - want);
  if (error <= epsilon * magnitude * static_cast<long double>(terms + 3))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << got << " for " << want << ", off by " << error;
}

}  // namespace exotune::families
