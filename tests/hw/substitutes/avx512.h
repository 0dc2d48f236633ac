// AVX-512 on a machine that has AVX2: SIMDe's functions under Intel's names, and, lane by lane as
// Intel's manual says, those that Debian 12's SIMDe (0.7.4) lacks or has wrong. Included before a
// target's own headers; slow, and for tests only.
#pragma once
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <math.h>
#include <simde/x86/avx512.h>
#include <simde/x86/f16c.h>
#include <simde/x86/fma.h>
#include <stdint.h>
#include <string.h>

#define LANE_LOOP(n) for (int lane = 0; lane < (n); ++lane)
#define LANE_IN(mask) (((mask) >> lane) & 1)

// Loads and stores of the lanes in `k`: nothing else of memory is touched.
#define MASKED_MOVES(suffix, V, E, n, K)                                                         \
  static inline V sub_mask_loadu_##suffix(V src, K k, const void* p) {                           \
    E e[n];                                                                                      \
    memcpy(e, &src, sizeof e);                                                                   \
    LANE_LOOP(n) if (LANE_IN(k)) memcpy(&e[lane], (const char*)p + lane * sizeof(E), sizeof(E)); \
    memcpy(&src, e, sizeof e);                                                                   \
    return src;                                                                                  \
  }                                                                                              \
  static inline V sub_maskz_loadu_##suffix(K k, const void* p) {                                 \
    V zero;                                                                                      \
    memset(&zero, 0, sizeof zero);                                                               \
    return sub_mask_loadu_##suffix(zero, k, p);                                                  \
  }                                                                                              \
  static inline void sub_mask_storeu_##suffix(void* p, K k, V a) {                               \
    E e[n];                                                                                      \
    memcpy(e, &a, sizeof e);                                                                     \
    LANE_LOOP(n) if (LANE_IN(k)) memcpy((char*)p + lane * sizeof(E), &e[lane], sizeof(E));       \
  }
MASKED_MOVES(ps, __m512, float, 16, __mmask16)
MASKED_MOVES(pd, __m512d, double, 8, __mmask8)
MASKED_MOVES(epi32, __m512i, int32_t, 16, __mmask16)
MASKED_MOVES(epi16, __m512i, int16_t, 32, __mmask32)
MASKED_MOVES(epi8, __m512i, int8_t, 64, __mmask64)
MASKED_MOVES(ps256, __m256, float, 8, __mmask8)
MASKED_MOVES(epi32x8, __m256i, int32_t, 8, __mmask8)
MASKED_MOVES(epi16x8, __m128i, int16_t, 8, __mmask8)
MASKED_MOVES(epi16x16, __m256i, int16_t, 16, __mmask16)
MASKED_MOVES(epi8x16, __m128i, int8_t, 16, __mmask16)
MASKED_MOVES(epi8x32, __m256i, int8_t, 32, __mmask32)
#define _mm512_mask_loadu_ps sub_mask_loadu_ps
#define _mm512_mask_loadu_pd sub_mask_loadu_pd
#define _mm512_mask_loadu_epi32 sub_mask_loadu_epi32
#undef _mm512_mask_loadu_epi8
#define _mm512_mask_loadu_epi8 sub_mask_loadu_epi8
#undef _mm512_maskz_loadu_epi8
#define _mm512_maskz_loadu_epi8 sub_maskz_loadu_epi8
#undef _mm512_mask_storeu_epi8
#define _mm512_mask_storeu_epi8 sub_mask_storeu_epi8
#undef _mm512_mask_loadu_epi16
#define _mm512_mask_loadu_epi16 sub_mask_loadu_epi16
#undef _mm512_maskz_loadu_ps
#undef _mm512_maskz_loadu_pd
#undef _mm512_maskz_loadu_epi16
#define _mm512_maskz_loadu_ps sub_maskz_loadu_ps
#define _mm512_maskz_loadu_pd sub_maskz_loadu_pd
#define _mm512_maskz_loadu_epi32 sub_maskz_loadu_epi32
#define _mm512_maskz_loadu_epi16 sub_maskz_loadu_epi16
#define _mm256_maskz_loadu_ps sub_maskz_loadu_ps256
#define _mm256_mask_storeu_ps sub_mask_storeu_ps256
#define _mm256_maskz_loadu_epi32 sub_maskz_loadu_epi32x8
#define _mm256_mask_storeu_epi32 sub_mask_storeu_epi32x8
#define _mm_maskz_loadu_epi16 sub_maskz_loadu_epi16x8
#undef _mm256_maskz_loadu_epi16
#define _mm256_maskz_loadu_epi16 sub_maskz_loadu_epi16x16
#define _mm_maskz_loadu_epi8 sub_maskz_loadu_epi8x16
#undef _mm256_maskz_loadu_epi8
#define _mm256_maskz_loadu_epi8 sub_maskz_loadu_epi8x32
#define _mm512_mask_storeu_ps sub_mask_storeu_ps
#define _mm512_mask_storeu_pd sub_mask_storeu_pd
#define _mm512_mask_storeu_epi32 sub_mask_storeu_epi32
#undef _mm512_mask_storeu_epi16
#define _mm512_mask_storeu_epi16 sub_mask_storeu_epi16

static inline __m512i sub_srai_epi32(__m512i a, int bits) {
  int32_t e[16];
  memcpy(e, &a, sizeof e);
  LANE_LOOP(16) e[lane] >>= bits;
  memcpy(&a, e, sizeof a);
  return a;
}
#undef _mm512_srai_epi32
#define _mm512_srai_epi32 sub_srai_epi32

// What no 32 bits hold is the least of them, as in SIMDe's narrower ones.
static inline __m256i sub_cvttpd_epi32(__m512d a) {
  int32_t e[8];
  __m256i all;
  LANE_LOOP(8)
  e[lane] = a[lane] > -2147483649.0 && a[lane] < 2147483648.0 ? (int32_t)a[lane] : INT32_MIN;
  memcpy(&all, e, sizeof all);
  return all;
}
static inline __m512d sub_cvtepi32_pd(__m256i a) {
  int32_t e[8];
  __m512d all;
  memcpy(e, &a, sizeof e);
  LANE_LOOP(8) all[lane] = e[lane];
  return all;
}
#undef _mm512_cvttpd_epi32
#define _mm512_cvttpd_epi32 sub_cvttpd_epi32
#undef _mm512_cvtepi32_pd
#define _mm512_cvtepi32_pd sub_cvtepi32_pd

// Halves of numbers, by those of 256 bits.
static inline __m512 sub_cvtph_ps(__m256i a) {
  __m128i half[2];
  __m256 wide[2];
  __m512 all;
  memcpy(half, &a, sizeof a);
  for (int k = 0; k < 2; ++k) wide[k] = simde_mm256_cvtph_ps(half[k]);
  memcpy(&all, wide, sizeof all);
  return all;
}
static inline __m512 sub_mask_cvtph_ps(__m512 src, __mmask16 k, __m256i a) {
  const __m512 all = sub_cvtph_ps(a);
  LANE_LOOP(16) if (LANE_IN(k)) src[lane] = all[lane];
  return src;
}
static inline __m256i sub_cvtps_ph(__m512 a) {
  __m256 wide[2];
  __m128i half[2];
  __m256i all;
  memcpy(wide, &a, sizeof a);
  for (int k = 0; k < 2; ++k) half[k] = simde_mm256_cvtps_ph(wide[k], 0);
  memcpy(&all, half, sizeof all);
  return all;
}
#define _mm512_cvtph_ps sub_cvtph_ps
#define _mm512_mask_cvtph_ps sub_mask_cvtph_ps
#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph(a, to_nearest) sub_cvtps_ph(a)
#undef _mm256_mask_storeu_epi16
#define _mm256_mask_storeu_epi16 sub_mask_storeu_epi16x16
#undef _mm256_mask_storeu_epi8
#define _mm256_mask_storeu_epi8 sub_mask_storeu_epi8x32

// One rounding each; mask3 keeps the third operand's lanes.
#define FUSED(suffix, V, n, K, fma_of)                                         \
  static inline V sub_mask3_fmadd_##suffix(V a, V b, V c, K k) {               \
    LANE_LOOP(n) if (LANE_IN(k)) c[lane] = fma_of(a[lane], b[lane], c[lane]);  \
    return c;                                                                  \
  }                                                                            \
  static inline V sub_mask3_fnmadd_##suffix(V a, V b, V c, K k) {              \
    LANE_LOOP(n) if (LANE_IN(k)) c[lane] = fma_of(-a[lane], b[lane], c[lane]); \
    return c;                                                                  \
  }
FUSED(ps, __m512, 16, __mmask16, fmaf)
FUSED(pd, __m512d, 8, __mmask8, fma)
#define _mm512_mask3_fmadd_ps sub_mask3_fmadd_ps
#define _mm512_mask3_fmadd_pd sub_mask3_fmadd_pd
#define _mm512_mask3_fnmadd_ps sub_mask3_fnmadd_ps
#define _mm512_mask3_fnmadd_pd sub_mask3_fnmadd_pd

// Estimates of fourteen bits: `rest` of a number's are rounded off. Classes by bits of `kinds`,
// from the lowest: a quiet NaN, 0, -0, infinity, -infinity, denormal, less than 0 and finite, a
// signalling NaN (here none).
#define ESTIMATES(suffix, V, E, n, K, U, rest, least)                                           \
  static inline E sub_rounded_##suffix(E x) {                                                   \
    U bits;                                                                                     \
    memcpy(&bits, &x, sizeof bits);                                                             \
    if (isfinite(x)) bits = (bits + ((U)1 << ((rest)-1))) & ~(((U)1 << (rest)) - 1);            \
    memcpy(&x, &bits, sizeof x);                                                                \
    return x;                                                                                   \
  }                                                                                             \
  static inline V sub_maskz_rsqrt14_##suffix(K k, V a) {                                        \
    LANE_LOOP(n) a[lane] = LANE_IN(k) ? sub_rounded_##suffix((E)(1 / (E)sqrt(a[lane]))) : 0;    \
    return a;                                                                                   \
  }                                                                                             \
  static inline V sub_rsqrt14_##suffix(V a) { return sub_maskz_rsqrt14_##suffix((K)~0u, a); }   \
  static inline V sub_rcp14_##suffix(V a) {                                                     \
    LANE_LOOP(n) a[lane] = sub_rounded_##suffix(1 / a[lane]);                                   \
    return a;                                                                                   \
  }                                                                                             \
  static inline K sub_fpclass_##suffix##_mask(V a, int kinds) {                                 \
    K out = 0;                                                                                  \
    LANE_LOOP(n) {                                                                              \
      const E x = a[lane];                                                                      \
      const int minus = signbit(x) != 0, is_none = isnan(x) || x == 0 || isinf(x);              \
      const int kind = isnan(x)            ? 0                                                  \
                       : x == 0            ? 1 + minus                                          \
                       : isinf(x)          ? 3 + minus                                          \
                       : fabs(x) < (least) ? 5                                                  \
                                           : 8;                                                 \
      if ((kinds >> kind & 1) || (minus && !is_none && (kinds & 0x40))) out |= (K)(1u << lane); \
    }                                                                                           \
    return out;                                                                                 \
  }                                                                                             \
  static inline K sub_cmplt_as_##suffix##_mask(__m512i a, __m512i b) {                          \
    U x[n], y[n];                                                                               \
    K less = 0;                                                                                 \
    memcpy(x, &a, sizeof a);                                                                    \
    memcpy(y, &b, sizeof b);                                                                    \
    LANE_LOOP(n) less |= (K)((x[lane] < y[lane]) << lane);                                      \
    return less;                                                                                \
  }
ESTIMATES(ps, __m512, float, 16, __mmask16, uint32_t, 10, 0x1p-126f)
ESTIMATES(pd, __m512d, double, 8, __mmask8, uint64_t, 38, 0x1p-1022)
#define _mm512_maskz_rsqrt14_ps sub_maskz_rsqrt14_ps
#define _mm512_maskz_rsqrt14_pd sub_maskz_rsqrt14_pd
#define _mm512_rsqrt14_ps sub_rsqrt14_ps
#define _mm512_rsqrt14_pd sub_rsqrt14_pd
#define _mm512_rcp14_ps sub_rcp14_ps
#define _mm512_rcp14_pd sub_rcp14_pd
#undef _mm512_fpclass_ps_mask
#undef _mm512_fpclass_pd_mask
#undef _mm512_cmplt_epu32_mask
#undef _mm512_cmplt_epu64_mask
#define _mm512_fpclass_ps_mask sub_fpclass_ps_mask
#define _mm512_fpclass_pd_mask sub_fpclass_pd_mask
#define _mm512_cmplt_epu32_mask sub_cmplt_as_ps_mask
#define _mm512_cmplt_epu64_mask sub_cmplt_as_pd_mask
// Four bits of `table` for a quiet NaN, a signalling one (here none), 0, 1, -infinity, infinity,
// less and greater than 0: `a` stays at 0, is `b` at 1, and no number at 2; no others are asked
// for.
static inline __m512d sub_fixupimm_pd(__m512d a, __m512d b, __m512i table, int exceptions) {
  uint64_t kinds[8];
  memcpy(kinds, &table, sizeof table);
  (void)exceptions;
  LANE_LOOP(8) {
    const double x = b[lane];
    const int kind = isnan(x) ? 0 : x == 0 ? 2 : x == 1 ? 3 : isinf(x) ? 4 + (x > 0) : 6 + (x > 0);
    const int what = (int)(kinds[lane] >> (4 * kind) & 15);
    a[lane] = what == 0 ? a[lane] : what == 1 ? x : NAN;
  }
  return a;
}
#undef _mm512_fixupimm_pd
#define _mm512_fixupimm_pd sub_fixupimm_pd

// Exponents, and what they leave: from 0.75 to 1.5, no number of what is less than 0.
#define EXPONENTS(suffix, V, E, n, exponent_of, split)                     \
  static inline V sub_getexp_##suffix(V a) {                               \
    LANE_LOOP(n) a[lane] = exponent_of(a[lane]);                           \
    return a;                                                              \
  }                                                                        \
  static inline V sub_getmant_##suffix(V a) {                              \
    LANE_LOOP(n) {                                                         \
      const E x = a[lane];                                                 \
      int exponent;                                                        \
      const E half = split(x, &exponent); /* from 0.5 to 1 */              \
      a[lane] = isnan(x) || x < 0    ? (E)NAN                              \
                : x == 0 || isinf(x) ? 1                                   \
                                     : (half < (E)0.75 ? 2 * half : half); \
    }                                                                      \
    return a;                                                              \
  }
EXPONENTS(ps, __m512, float, 16, logbf, frexpf)
EXPONENTS(pd, __m512d, double, 8, logb, frexp)
#undef _mm512_getmant_ps
#undef _mm512_getmant_pd
#define _mm512_getexp_ps sub_getexp_ps
#define _mm512_getexp_pd sub_getexp_pd
#define _mm512_getmant_ps(a, range, sign) sub_getmant_ps(a)
#define _mm512_getmant_pd(a, range, sign) sub_getmant_pd(a)

// Halves added to halves, as the compilers write the reductions out.
#define REDUCTION(name, suffix, V, E, n, K, empty, combined)        \
  static inline E sub_mask_reduce_##name##_##suffix(K k, V v) {     \
    E e[n];                                                         \
    memcpy(e, &v, sizeof e);                                        \
    LANE_LOOP(n) if (!LANE_IN(k)) e[lane] = (empty);                \
    for (int half = (n) / 2; half > 0; half /= 2) LANE_LOOP(half) { \
        const E a = e[lane], b = e[lane + half];                    \
        e[lane] = (combined);                                       \
      }                                                             \
    return e[0];                                                    \
  }                                                                 \
  static inline E sub_reduce_##name##_##suffix(V v) {               \
    return sub_mask_reduce_##name##_##suffix((K)-1, v);             \
  }
REDUCTION(add, ps, __m512, float, 16, __mmask16, 0, a + b)
REDUCTION(add, pd, __m512d, double, 8, __mmask8, 0, a + b)
REDUCTION(add, epi32, __m512i, int32_t, 16, __mmask16, 0, (int32_t)((uint32_t)a + (uint32_t)b))
REDUCTION(max, ps, __m512, float, 16, __mmask16, -INFINITY, a > b ? a : b)
REDUCTION(max, pd, __m512d, double, 8, __mmask8, -INFINITY, a > b ? a : b)
REDUCTION(max, epi32, __m512i, int32_t, 16, __mmask16, INT32_MIN, a > b ? a : b)
REDUCTION(min, ps, __m512, float, 16, __mmask16, INFINITY, a < b ? a : b)
REDUCTION(min, pd, __m512d, double, 8, __mmask8, INFINITY, a < b ? a : b)
REDUCTION(min, epi32, __m512i, int32_t, 16, __mmask16, INT32_MAX, a < b ? a : b)
#define _mm512_mask_reduce_add_ps sub_mask_reduce_add_ps
#define _mm512_mask_reduce_add_pd sub_mask_reduce_add_pd
#define _mm512_reduce_add_ps sub_reduce_add_ps
#define _mm512_reduce_add_pd sub_reduce_add_pd
#define _mm512_reduce_add_epi32 sub_reduce_add_epi32
#undef _mm512_reduce_max_ps
#undef _mm512_reduce_max_pd
#undef _mm512_reduce_max_epi32
#undef _mm512_reduce_min_ps
#undef _mm512_reduce_min_pd
#undef _mm512_reduce_min_epi32
#define _mm512_mask_reduce_max_ps sub_mask_reduce_max_ps
#define _mm512_mask_reduce_max_pd sub_mask_reduce_max_pd
#define _mm512_mask_reduce_min_ps sub_mask_reduce_min_ps
#define _mm512_mask_reduce_min_pd sub_mask_reduce_min_pd
#define _mm512_reduce_max_ps sub_reduce_max_ps
#define _mm512_reduce_max_pd sub_reduce_max_pd
#define _mm512_reduce_max_epi32 sub_reduce_max_epi32
#define _mm512_reduce_min_ps sub_reduce_min_ps
#define _mm512_reduce_min_pd sub_reduce_min_pd
#define _mm512_reduce_min_epi32 sub_reduce_min_epi32

// Conversions, lane by lane in the current rounding; lanes that are not in `k` are those of `src`.
#define CONVERSION(name, To, T, From, F, n, K)               \
  static inline To sub_mask_##name(To src, K k, From from) { \
    F f[n];                                                  \
    T t[n];                                                  \
    memcpy(f, &from, sizeof f);                              \
    memcpy(t, &src, sizeof t);                               \
    LANE_LOOP(n) if (LANE_IN(k)) t[lane] = (T)f[lane];       \
    memcpy(&src, t, sizeof src);                             \
    return src;                                              \
  }                                                          \
  static inline To sub_##name(From from) {                   \
    To to;                                                   \
    memset(&to, 0, sizeof to);                               \
    return sub_mask_##name(to, (K)-1, from);                 \
  }
CONVERSION(cvtps_pd, __m512d, double, __m256, float, 8, __mmask8)
CONVERSION(cvtepi32_pd8, __m512d, double, __m256i, int32_t, 8, __mmask8)
#define _mm512_mask_cvtepi32_pd sub_mask_cvtepi32_pd8
CONVERSION(cvtpd_ps, __m256, float, __m512d, double, 8, __mmask8)
CONVERSION(cvtepi16_epi32, __m512i, int32_t, __m256i, int16_t, 16, __mmask16)
CONVERSION(cvtepu16_epi32, __m512i, int32_t, __m256i, uint16_t, 16, __mmask16)
CONVERSION(cvtepi8_epi32, __m512i, int32_t, __m128i, int8_t, 16, __mmask16)
CONVERSION(cvtepu8_epi32, __m512i, int32_t, __m128i, uint8_t, 16, __mmask16)
CONVERSION(cvtepi8_epi16, __m512i, int16_t, __m256i, int8_t, 32, __mmask32)
CONVERSION(cvtepu8_epi16, __m512i, int16_t, __m256i, uint8_t, 32, __mmask32)
CONVERSION(cvtepi32_ps, __m512, float, __m512i, int32_t, 16, __mmask16)
CONVERSION(cvttps_epi32, __m512i, int32_t, __m512, float, 16, __mmask16)
#undef _mm512_cvtepi16_epi32
#undef _mm512_cvtepi8_epi32
#undef _mm512_mask_cvtepi16_epi32
#undef _mm512_mask_cvtepi8_epi32
#define _mm512_cvtps_pd sub_cvtps_pd
#define _mm512_mask_cvtps_pd sub_mask_cvtps_pd
#define _mm512_cvtpd_ps sub_cvtpd_ps
#define _mm512_mask_cvtpd_ps sub_mask_cvtpd_ps
#define _mm512_cvtepi16_epi32 sub_cvtepi16_epi32
#define _mm512_mask_cvtepi16_epi32 sub_mask_cvtepi16_epi32
#define _mm512_cvtepu16_epi32 sub_cvtepu16_epi32
#define _mm512_mask_cvtepu16_epi32 sub_mask_cvtepu16_epi32
#define _mm512_cvtepi8_epi32 sub_cvtepi8_epi32
#define _mm512_mask_cvtepi8_epi32 sub_mask_cvtepi8_epi32
#define _mm512_cvtepu8_epi32 sub_cvtepu8_epi32
#define _mm512_mask_cvtepu8_epi32 sub_mask_cvtepu8_epi32
#undef _mm512_cvtepi8_epi16
#undef _mm512_cvtepu8_epi16
#define _mm512_cvtepi8_epi16 sub_cvtepi8_epi16
#define _mm512_cvtepu8_epi16 sub_cvtepu8_epi16
#define _mm512_cvtepi32_ps sub_cvtepi32_ps
#define _mm512_mask_cvtepi32_ps sub_mask_cvtepi32_ps
#define _mm512_cvttps_epi32 sub_cvttps_epi32
#define _mm512_mask_cvttps_epi32 sub_mask_cvttps_epi32

// The low bits of integers.
static inline void sub_mask_cvtepi32_storeu_epi8(void* p, __mmask16 k, __m512i a) {
  int32_t e[16];
  memcpy(e, &a, sizeof e);
  LANE_LOOP(16) if (LANE_IN(k))((int8_t*)p)[lane] = (int8_t)e[lane];
}
static inline void sub_mask_cvtepi32_storeu_epi16(void* p, __mmask16 k, __m512i a) {
  int32_t e[16];
  memcpy(e, &a, sizeof e);
  LANE_LOOP(16) if (LANE_IN(k)) {
    const int16_t low = (int16_t)e[lane];
    memcpy((char*)p + 2 * lane, &low, sizeof low);
  }
}
static inline __m128i sub_cvtepi32_epi8(__m512i a) {
  __m128i low;
  sub_mask_cvtepi32_storeu_epi8(&low, 0xFFFF, a);
  return low;
}
#define _mm512_cvtepi32_epi8 sub_cvtepi32_epi8
static inline __m256i sub_cvtepi32_epi16(__m512i a) {
  __m256i low;
  sub_mask_cvtepi32_storeu_epi16(&low, 0xFFFF, a);
  return low;
}
#undef _mm512_cvtepi32_epi16
#define _mm512_cvtepi32_epi16 sub_cvtepi32_epi16
#define _mm512_mask_cvtepi32_storeu_epi8 sub_mask_cvtepi32_storeu_epi8
#define _mm512_mask_cvtepi32_storeu_epi16 sub_mask_cvtepi32_storeu_epi16

// The same of eight lanes: the upper ones are 0 and stored nowhere.
static inline __m512i sub_with_zeros(__m256i a) {
  __m512i all;
  memset(&all, 0, sizeof all);
  memcpy(&all, &a, sizeof a);
  return all;
}
static inline void sub_mask_cvtepi32_storeu_epi8x8(void* p, __mmask8 k, __m256i a) {
  sub_mask_cvtepi32_storeu_epi8(p, k, sub_with_zeros(a));
}
static inline void sub_mask_cvtepi32_storeu_epi16x8(void* p, __mmask8 k, __m256i a) {
  sub_mask_cvtepi32_storeu_epi16(p, k, sub_with_zeros(a));
}
static inline __m128i sub_cvtepi32_epi8x8(__m256i a) {
  return sub_cvtepi32_epi8(sub_with_zeros(a));
}
static inline __m128i sub_cvtepi32_epi16x8(__m256i a) {
  const __m256i low = sub_cvtepi32_epi16(sub_with_zeros(a));
  return _mm256_castsi256_si128(low);
}
#define _mm256_mask_cvtepi32_storeu_epi8 sub_mask_cvtepi32_storeu_epi8x8
#define _mm256_mask_cvtepi32_storeu_epi16 sub_mask_cvtepi32_storeu_epi16x8
#define _mm256_cvtepi32_epi8 sub_cvtepi32_epi8x8
#define _mm256_cvtepi32_epi16 sub_cvtepi32_epi16x8

// Blocks of 128 bits: the lower half of the result from `a`, the upper from `b`.
static inline __m512d sub_shuffle_f64x2(__m512d a, __m512d b, int which) {
  __m512d r;
  LANE_LOOP(8) {
    const int from = 2 * ((which >> (lane / 2 * 2)) & 3) + lane % 2;
    r[lane] = lane < 4 ? a[from] : b[from];
  }
  return r;
}
static inline __m512 sub_shuffle_f32x4(__m512 a, __m512 b, int which) {
  __m512 r;
  LANE_LOOP(16) {
    const int from = 4 * ((which >> (lane / 4 * 2)) & 3) + lane % 4;
    r[lane] = lane < 8 ? a[from] : b[from];
  }
  return r;
}
static inline __m256 sub_extractf32x8_ps(__m512 a, int which) {
  __m256 r;
  LANE_LOOP(8) r[lane] = a[8 * which + lane];
  return r;
}
static inline __m128d sub_extractf64x2_pd(__m512d a, int which) {
  __m128d r;
  LANE_LOOP(2) r[lane] = a[2 * which + lane];
  return r;
}
#undef _mm512_shuffle_f64x2
#undef _mm512_shuffle_f32x4
#undef _mm512_extractf32x8_ps
#undef _mm512_extractf64x2_pd
#define _mm512_shuffle_f64x2 sub_shuffle_f64x2
#define _mm512_shuffle_f32x4 sub_shuffle_f32x4
#define _mm512_extractf32x8_ps sub_extractf32x8_ps
#define _mm512_extractf64x2_pd sub_extractf64x2_pd

// Eight elements at distances of `scale` bytes.
#define STRIDED(suffix, V, E)                                                          \
  static inline V sub_i64gather_##suffix(__m512i index, const void* p, int scale) {    \
    int64_t i[8];                                                                      \
    memcpy(i, &index, sizeof i);                                                       \
    E e[8];                                                                            \
    LANE_LOOP(8) memcpy(&e[lane], (const char*)p + i[lane] * scale, sizeof(E));        \
    V v;                                                                               \
    memcpy(&v, e, sizeof v);                                                           \
    return v;                                                                          \
  }                                                                                    \
  static inline void sub_i64scatter_##suffix(void* p, __m512i index, V v, int scale) { \
    int64_t i[8];                                                                      \
    memcpy(i, &index, sizeof i);                                                       \
    E e[8];                                                                            \
    memcpy(e, &v, sizeof e);                                                           \
    LANE_LOOP(8) memcpy((char*)p + i[lane] * scale, &e[lane], sizeof(E));              \
  }
STRIDED(ps, __m256, float)
STRIDED(pd, __m512d, double)
#undef _mm512_i64gather_ps
#undef _mm512_i64gather_pd
#undef _mm512_i64scatter_ps
#undef _mm512_i64scatter_pd
#define _mm512_i64gather_ps sub_i64gather_ps
#define _mm512_i64gather_pd sub_i64gather_pd
#define _mm512_i64scatter_ps sub_i64scatter_ps
#define _mm512_i64scatter_pd sub_i64scatter_pd

static inline __m512i sub_madd_epi16(__m512i a, __m512i b) {
  int16_t x[32], y[32];
  uint32_t sums[16];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  LANE_LOOP(16)
  sums[lane] =
      (uint32_t)(x[2 * lane] * y[2 * lane]) + (uint32_t)(x[2 * lane + 1] * y[2 * lane + 1]);
  memcpy(&a, sums, sizeof a);
  return a;
}
#undef _mm512_madd_epi16
#define _mm512_madd_epi16 sub_madd_epi16
static inline __m512i sub_mulhi_epu16(__m512i a, __m512i b) {
  uint16_t x[32], y[32];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  LANE_LOOP(32) x[lane] = (uint16_t)(((uint32_t)x[lane] * y[lane]) >> 16);
  memcpy(&a, x, sizeof x);
  return a;
}
#undef _mm512_mulhi_epu16
#define _mm512_mulhi_epu16 sub_mulhi_epu16
// Sums of the products of neighbours.
static inline __mmask16 sub_cmplt_epi32_mask(__m512i a, __m512i b) {
  int32_t x[16], y[16];
  memcpy(x, &a, sizeof x);
  memcpy(y, &b, sizeof y);
  unsigned less = 0;
  LANE_LOOP(16) less |= (unsigned)(x[lane] < y[lane]) << lane;
  return (__mmask16)less;
}
#undef _mm512_cmplt_epi32_mask
#define _mm512_cmplt_epi32_mask sub_cmplt_epi32_mask

#define LESS_WORDS(suffix, E)                                               \
  static inline __mmask32 sub_cmplt_##suffix##_mask(__m512i a, __m512i b) { \
    E x[32], y[32];                                                         \
    memcpy(x, &a, sizeof x);                                                \
    memcpy(y, &b, sizeof y);                                                \
    __mmask32 k = 0;                                                        \
    LANE_LOOP(32) k |= (__mmask32)(x[lane] < y[lane]) << lane;              \
    return k;                                                               \
  }
LESS_WORDS(epi16, int16_t)
LESS_WORDS(epu16, uint16_t)
#undef _mm512_cmplt_epi16_mask
#undef _mm512_cmplt_epu16_mask
#define _mm512_cmplt_epi16_mask sub_cmplt_epi16_mask
#define _mm512_cmplt_epu16_mask sub_cmplt_epu16_mask
// The elements from number `by` on of `low` and then `high`.
#define ALIGNED(bits, E, n)                                                       \
  static inline __m512i sub_alignr_epi##bits(__m512i high, __m512i low, int by) { \
    E e[2 * (n)];                                                                 \
    memcpy(e, &low, sizeof low);                                                  \
    memcpy(e + (n), &high, sizeof high);                                          \
    memcpy(&low, e + by, sizeof low);                                             \
    return low;                                                                   \
  }
ALIGNED(32, int32_t, 16)
ALIGNED(64, int64_t, 8)
#undef _mm512_alignr_epi32
#undef _mm512_alignr_epi64
#define _mm512_alignr_epi32 sub_alignr_epi32
#define _mm512_alignr_epi64 sub_alignr_epi64
// The same in some lanes; the others stay as in `kept`, or are zero.
#define ALIGNED_IN_SOME(bits, E, n)                                                          \
  static inline __m512i sub_mask_alignr_epi##bits(__m512i kept, unsigned mask, __m512i high, \
                                                  __m512i low, int by) {                     \
    E to[n], from[n];                                                                        \
    const __m512i moved = sub_alignr_epi##bits(high, low, by);                               \
    memcpy(to, &kept, sizeof to);                                                            \
    memcpy(from, &moved, sizeof from);                                                       \
    LANE_LOOP(n) to[lane] = mask >> lane & 1 ? from[lane] : to[lane];                        \
    memcpy(&kept, to, sizeof to);                                                            \
    return kept;                                                                             \
  }                                                                                          \
  static inline __m512i sub_maskz_alignr_epi##bits(unsigned mask, __m512i high, __m512i low, \
                                                   int by) {                                 \
    return sub_mask_alignr_epi##bits(_mm512_setzero_si512(), mask, high, low, by);           \
  }
ALIGNED_IN_SOME(32, int32_t, 16)
ALIGNED_IN_SOME(64, int64_t, 8)
#undef _mm512_mask_alignr_epi32
#undef _mm512_mask_alignr_epi64
#undef _mm512_maskz_alignr_epi32
#undef _mm512_maskz_alignr_epi64
#define _mm512_mask_alignr_epi32 sub_mask_alignr_epi32
#define _mm512_mask_alignr_epi64 sub_mask_alignr_epi64
#define _mm512_maskz_alignr_epi32 sub_maskz_alignr_epi32
#define _mm512_maskz_alignr_epi64 sub_maskz_alignr_epi64
// A store past the caches is a store; its address is aligned, or the program ends.
#define STREAMED(suffix, V)                              \
  static inline void sub_stream_##suffix(void* p, V a) { \
    if ((uintptr_t)p % sizeof a) __builtin_trap();       \
    memcpy(p, &a, sizeof a);                             \
  }
STREAMED(ps, __m512)
STREAMED(pd, __m512d)
STREAMED(si512, __m512i)
#undef _mm512_stream_si512
#define _mm512_stream_ps sub_stream_ps
#define _mm512_stream_pd sub_stream_pd
#define _mm512_stream_si512 sub_stream_si512

// The C library's vectors of 512 bits, by its scalars; a declaration that follows means these.
#define FUNCTION(op)                                 \
  static inline __m512 _ZGVeN16v_##op##f(__m512 x) { \
    LANE_LOOP(16) x[lane] = op##f(x[lane]);          \
    return x;                                        \
  }                                                  \
  static inline __m512d _ZGVeN8v_##op(__m512d x) {   \
    LANE_LOOP(8) x[lane] = op(x[lane]);              \
    return x;                                        \
  }
#define FUNCTION_OF_TWO(op)                                     \
  static inline __m512 _ZGVeN16vv_##op##f(__m512 x, __m512 y) { \
    LANE_LOOP(16) x[lane] = op##f(x[lane], y[lane]);            \
    return x;                                                   \
  }                                                             \
  static inline __m512d _ZGVeN8vv_##op(__m512d x, __m512d y) {  \
    LANE_LOOP(8) x[lane] = op(x[lane], y[lane]);                \
    return x;                                                   \
  }
FUNCTION(exp)
FUNCTION(log)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(exp2)
FUNCTION(expm1)
FUNCTION(log2)
FUNCTION(log10)
FUNCTION(log1p)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(erf)
FUNCTION(cbrt)
FUNCTION_OF_TWO(pow)
FUNCTION_OF_TWO(atan2)
FUNCTION_OF_TWO(hypot)

// The next of `a` for each lane in `k`, zeros for the others.
static inline __m512i sub_maskz_expand_epi32(__mmask16 k, __m512i a) {
  int32_t from[16], to[16] = {0};
  memcpy(from, &a, sizeof from);
  int next = 0;
  LANE_LOOP(16) if (LANE_IN(k)) to[lane] = from[next++];
  memcpy(&a, to, sizeof to);
  return a;
}
#define _mm512_maskz_expand_epi32 sub_maskz_expand_epi32
