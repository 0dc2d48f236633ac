#pragma once
// Memory: the one block of memory a bare-metal program sees, from `base` on. Fresh memory is zero.
// The program's code and constants come first and cannot be written; stores to `tohost` are the
// program's way to talk to its host.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace exotune::sim {

/// Addresses are those of the program. Reads and writes here are the simulator's own and check
/// nothing: whoever has an address from the program asks first.
class Memory {
 public:
  /// `bytes` is a multiple of 4096; pages that are never touched cost nothing.
  Memory(uint64_t base, uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint64_t base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  uint8_t* data() const { return data_; }

  /// [code_begin, code_end) may be executed; stores below `writable` are refused.
  void protect(uint64_t code_begin, uint64_t code_end, uint64_t writable);
  uint64_t code_begin() const { return code_begin_; }
  uint64_t code_end() const { return code_end_; }
  uint64_t writable() const { return writable_; }

  /// Written so that no sum can wrap around: `address + count` of a program may.
  bool holds(uint64_t address, uint64_t count) const {
    return address >= base_ && count <= bytes_ && address - base_ <= bytes_ - count;
  }
  /// The loop of the processor has the same test inline; this one is for devices and loaders.
  bool may_write(uint64_t address, uint64_t count) const {
    return holds(address, count) && address >= writable_;
  }
  /// The caller has asked holds() (or may_write()) first.
  uint8_t* at(uint64_t address) const { return data_ + (address - base_); }
  /// As little-endian values, at any alignment.
  template <class T>
  T read(uint64_t address) const {
    T value;
    std::memcpy(&value, at(address), sizeof value);
    return value;
  }
  template <class T>
  void write(uint64_t address, T value) const {
    std::memcpy(at(address), &value, sizeof value);
  }

 private:
  uint64_t base_, bytes_;
  uint8_t* data_;
  uint64_t code_begin_ = 0, code_end_ = 0, writable_ = 0;
};

}  // namespace exotune::sim
