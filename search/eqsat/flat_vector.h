#pragma once
// A vector of plain data that grows by realloc. Start at FlatVector.
//
// Tables of an e-graph double many times; std::vector then copies and touches fresh pages each
// time, where realloc moves large blocks by their page tables. Elements that resize() adds are not
// set.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace exotune::eqsat {

/// For trivial types alone: elements are moved as bytes and never destroyed. Not copyable; throws
/// std::bad_alloc when memory is out. As in std::vector, growing invalidates pointers.
template <typename T>
class FlatVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  FlatVector() = default;
  FlatVector(FlatVector&& from) noexcept { swap(from); }
  FlatVector& operator=(FlatVector&& from) noexcept {
    swap(from);
    return *this;
  }
  ~FlatVector() { std::free(data_); }

  /// As those of std::vector. None checks its bounds: this is the innermost storage of the e-graph,
  /// and its users index by ids that they made.
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  /// Keeps the room.
  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void push_back(T value) {
    if (size_ == capacity_) reserve(size_ + 1);
    data_[size_++] = value;
  }
  /// Room for `count` more elements at the end, to be written by the caller.
  T* extend(size_t count) {
    resize(size_ + count);
    return data_ + (size_ - count);
  }
  /// New elements are not set: the caller writes them before it reads them.
  void resize(size_t size) {
    if (size > capacity_) reserve(size);
    size_ = size;
  }
  /// Constant time, whatever the sizes.
  void swap(FlatVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  // At least doubles, so that a sequence of additions costs constant time each.
  void reserve(size_t least) {
    const size_t capacity = std::max({least, 2 * capacity_, size_t{16}});
    void* const data = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (!data) throw std::bad_alloc();
    data_ = static_cast<T*>(data);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace exotune::eqsat
