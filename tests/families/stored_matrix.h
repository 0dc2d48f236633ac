#pragma once
// Matrices for tests of BLAS routines, in every way BLAS stores one: both layouts, triangles,
// bands, packed triangles. What is not part of the matrix is poisoned. Start at StoredMatrix.
#include "tests/families/guarded_array.h"

namespace exotune::families {

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kUpper = 121,
              kLower = 122, kNonUnit = 131, kUnit = 132, kLeft = 141, kRight = 142;

using Dense = std::vector<std::vector<long double>>;

/// Which elements there are and where.
struct Storage {
  int64_t rows = 0, columns = 0;
  bool row_major = true;
  int triangle = 0;                // kUpper, kLower, or 0: all of it
  bool unit = false;               // a diagonal of ones that is not stored
  int64_t below = -1, above = -1;  // diagonals of a band; -1: no band
  bool packed = false;
  int64_t padding = 3;  // between rows or columns

  bool has(int64_t i, int64_t j) const {
    if (triangle == kUpper && (j < i)) return false;
    if (triangle == kLower && (j > i)) return false;
    if (below >= 0 && (i - j > below || j - i > above)) return false;
    return !(unit && i == j);
  }
  int64_t ld() const {
    const int64_t line = below >= 0 ? below + above + 1 : row_major ? columns : rows;
    return std::max<int64_t>(1, line) + padding;
  }
  /// From the definitions in the BLAS's own words: column-major first, row-major as its transpose.
  int64_t place(int64_t i, int64_t j) const {
    const bool upper = triangle == kUpper;
    if (packed) {
      const int64_t n = rows;
      if (row_major) return upper ? j + i * (2 * n - i - 1) / 2 : j + i * (i + 1) / 2;
      return upper ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2;
    }
    if (below >= 0) return row_major ? i * ld() + below + j - i : j * ld() + above + i - j;
    return row_major ? i * ld() + j : j * ld() + i;
  }
  int64_t size() const {
    if (packed) return rows * (rows + 1) / 2;
    return (row_major ? rows : columns) * ld();
  }
};

template <class T>
class StoredMatrix {
 public:
  /// `diagonal` is added to each element of the diagonal, so that solving stays tame.
  StoredMatrix(const Storage& storage, Random& random, double diagonal = 0)
      : storage_(storage), array_(storage.size()) {
    for (int64_t i = 0; i < storage.rows; ++i)
      for (int64_t j = 0; j < storage.columns; ++j)
        if (storage.has(i, j))
          array_.give(storage.place(i, j)) =
              draw<T>(random) + static_cast<T>(i == j ? diagonal : 0);
  }
  T* data() { return array_.data(); }
  int ld() const { return static_cast<int>(storage_.ld()); }
  T stored(int64_t i, int64_t j) { return array_.data()[storage_.place(i, j)]; }
  const Storage& storage() const { return storage_; }
  bool intact() const { return array_.intact(); }

  /// As a matrix of all its elements; `symmetric`: the other triangle mirrored, else zeros.
  Dense values(bool symmetric = false) {
    Dense dense(static_cast<size_t>(storage_.rows),
                std::vector<long double>(static_cast<size_t>(storage_.columns), 0));
    for (int64_t i = 0; i < storage_.rows; ++i)
      for (int64_t j = 0; j < storage_.columns; ++j) {
        auto& element = dense[static_cast<size_t>(i)][static_cast<size_t>(j)];
        if (storage_.has(i, j))
          element = stored(i, j);
        else if (storage_.unit && i == j)
          element = 1;
        else if (symmetric && storage_.has(j, i))
          element = stored(j, i);
      }
    return dense;
  }

 private:
  Storage storage_;
  GuardedArray<T> array_;
};

inline Dense transposed(const Dense& a, bool really) {
  if (!really || a.empty()) return a;
  Dense t(a[0].size(), std::vector<long double>(a.size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) t[j][i] = a[i][j];
  return t;
}

}  // namespace exotune::families
