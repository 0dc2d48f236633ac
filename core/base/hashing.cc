#define XXH_INLINE_ALL
#include "core/base/hashing.h"

#include <xxhash.h>

namespace exotune {

uint64_t hash_bytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string content_hash(std::string_view bytes) {
  XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (uint64_t half : {h.high64, h.low64})
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(half >> shift) & 15];
  return out;
}

}  // namespace exotune
