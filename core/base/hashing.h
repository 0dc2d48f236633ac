#pragma once
// Hashes: `hash_combine` for in-memory tables, `content_hash` for anything kept on disk.
#include <cstdint>
#include <string>
#include <string_view>

namespace exotune {

/// A bijection of 64 bits whose every output bit depends on every input bit. Not for adversaries.
inline uint64_t hash_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return x ^ (x >> 32);
}
/// Depends on the order of the values: (a, b) and (b, a) differ. Fixed constants, so tables fill
/// alike in all runs, but the numbers may change with a version of the program: never store them.
inline uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return hash_mix(seed * 0x9E3779B97F4A7C15ull + value + 0x7F4A7C15ull);
}
/// 64 bits of xxHash, for tables in memory.
uint64_t hash_bytes(std::string_view bytes);

/// 32 lower-case hexadecimal digits (128-bit xxHash) of `bytes`: the key of every stored record.
/// Stable across processes and versions.
std::string content_hash(std::string_view bytes);

}  // namespace exotune
