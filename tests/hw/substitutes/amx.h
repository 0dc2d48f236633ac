// AMX's tiles on a machine that has none: eight arrays, and what Intel's manual says of each
// instruction, element by element, for tiles of sixteen rows of 64 bytes. Included before a
// target's own headers; slow, and for tests only.
#pragma once
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  uint8_t byte[16][64];
} sub_tile;
static _Thread_local sub_tile sub_tiles[8];

static inline void sub_tile_load(int t, const void* from, int64_t stride) {
  for (int row = 0; row < 16; ++row)
    memcpy(sub_tiles[t].byte[row], (const char*)from + row * stride, 64);
}
static inline void sub_tile_store(int t, void* to, int64_t stride) {
  for (int row = 0; row < 16; ++row) memcpy((char*)to + row * stride, sub_tiles[t].byte[row], 64);
}
static inline int32_t sub_byte(uint8_t b, int is_signed) { return is_signed ? (int8_t)b : b; }
static inline void sub_tile_bytes(int c, int a, int b, int a_signed, int b_signed) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      uint32_t sum;
      memcpy(&sum, &sub_tiles[c].byte[i][4 * j], 4);
      for (int k = 0; k < 64; ++k)
        sum += (uint32_t)(sub_byte(sub_tiles[a].byte[i][k], a_signed) *
                          sub_byte(sub_tiles[b].byte[k / 4][4 * j + k % 4], b_signed));
      memcpy(&sub_tiles[c].byte[i][4 * j], &sum, 4);
    }
}
// A brain float is the upper half of a float; denormals count as zero.
static inline float sub_brain(const uint8_t* at) {
  uint16_t half;
  memcpy(&half, at, 2);
  const uint32_t bits = (uint32_t)half << 16;
  float f;
  memcpy(&f, &bits, 4);
  return fpclassify(f) == FP_SUBNORMAL ? 0 : f;
}
static inline void sub_tile_brains(int c, int a, int b) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum;
      memcpy(&sum, &sub_tiles[c].byte[i][4 * j], 4);
      for (int k = 0; k < 32; ++k)
        sum += sub_brain(&sub_tiles[a].byte[i][2 * k]) *
               sub_brain(&sub_tiles[b].byte[k / 2][4 * j + 2 * (k % 2)]);
      memcpy(&sub_tiles[c].byte[i][4 * j], &sum, 4);
    }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#undef _tile_dpbf16ps
#define syscall(...) 0
#define _tile_loadconfig(shape) ((void)(shape), memset(sub_tiles, 0, sizeof sub_tiles))
#define _tile_release() ((void)memset(sub_tiles, 0xff, sizeof sub_tiles))
#define _tile_zero(t) ((void)memset(&sub_tiles[t], 0, sizeof(sub_tile)))
#define _tile_loadd(t, from, stride) sub_tile_load(t, from, stride)
#define _tile_stored(t, to, stride) sub_tile_store(t, to, stride)
#define _tile_dpbssd(c, a, b) sub_tile_bytes(c, a, b, 1, 1)
#define _tile_dpbsud(c, a, b) sub_tile_bytes(c, a, b, 1, 0)
#define _tile_dpbusd(c, a, b) sub_tile_bytes(c, a, b, 0, 1)
#define _tile_dpbuud(c, a, b) sub_tile_bytes(c, a, b, 0, 0)
#define _tile_dpbf16ps(c, a, b) sub_tile_brains(c, a, b)
