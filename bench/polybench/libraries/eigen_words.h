// Arrays by rows as Eigen sees them: R(A, M, N) a matrix, V(x, N) a vector, AR and AV the same for
// arithmetic by elements.
#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <cstdint>

using namespace Eigen;
template <class T>
using Rows = Matrix<T, Dynamic, Dynamic, RowMajor>;
template <class T>
using Grid = Array<T, Dynamic, Dynamic, RowMajor>;
template <class T>
auto R(T* at, Index m, Index n) {
  return Map<Rows<T>>(at, m, n);
}
template <class T>
auto R(const T* at, Index m, Index n) {
  return Map<const Rows<T>>(at, m, n);
}
template <class T>
auto V(T* at, Index n) {
  return Map<Matrix<T, Dynamic, 1>>(at, n);
}
template <class T>
auto V(const T* at, Index n) {
  return Map<const Matrix<T, Dynamic, 1>>(at, n);
}
template <class T>
auto AR(T* at, Index m, Index n) {
  return Map<Grid<T>>(at, m, n);
}
template <class T>
auto AR(const T* at, Index m, Index n) {
  return Map<const Grid<T>>(at, m, n);
}
template <class T>
auto AV(T* at, Index n) {
  return Map<Array<T, Dynamic, 1>>(at, n);
}
template <class T>
auto AV(const T* at, Index n) {
  return Map<const Array<T, Dynamic, 1>>(at, n);
}
/// Many small products, sizes known.
template <int N, class T>
void products(Index count, const T* a, const T* b, T* c, bool add) {
  using S = Matrix<T, N, N, RowMajor>;
  for (Index g = 0; g < count; ++g) {
    Map<const S> A(a + g * N * N), B(b + g * N * N);
    Map<S> C(c + g * N * N);
    if (add)
      C.noalias() += A * B;
    else
      C.noalias() = A * B;
  }
}
