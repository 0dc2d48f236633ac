#define IN EXO_IN_${P}
#define OUT EXO_OUT_${P}

/* What is written, and what only sums read, goes by in whole lines where there is much of it: the elements before
 * the first line go by themselves, as many as the first round takes. */
enum { kAligned = ${aligned} / sizeof(${real}), kAlignedSums = ${aligned_sums} / sizeof(${real}),
       kAlignedAlone = ${aligned_alone} / sizeof(${real}), kMoved = ${moved} / sizeof(${real}) };
static inline int64_t ${p}before_line(int64_t n, const ${real}* y) {
  const int64_t before = (int64_t)(-(uintptr_t)y % (${lanes} * sizeof(${real}))) / (int64_t)sizeof(${real});
  return before == 0 || before > n ? n : before;
}
#define EXO_IN_LINES(y, at, count) \
  for (int64_t at = 0, count = ${p}before_line(n, y); at < n; at += count, count = n - at)

/* What sums read from the second cache goes by from where it begins: a vector that stands across two lines asks for the next one
 * early. Bytes of all vectors together, from which on and up to which; none where it was not measured. */
#ifndef EXO_SPLIT_FROM
#define EXO_SPLIT_FROM ((int64_t)${split_from} / (int64_t)sizeof(${real}))
#define EXO_SPLIT_TO ((int64_t)${split_to} / (int64_t)sizeof(${real}))
#endif
static inline int64_t ${p}sums_before_line(int64_t n, const ${real}* x, int64_t vectors) {
  return EXO_BETWEEN(EXO_SPLIT_FROM, vectors * n, EXO_SPLIT_TO) ? n : ${p}before_line(n, x);
}
#define EXO_SUMS_IN_LINES(x, vectors, at, count) \
  for (int64_t at = 0, count = ${p}sums_before_line(n, x, vectors); at < n; at += count, count = n - at)

/* Vectors that no cache holds go by as four streams, which prefetchers bring in together. Elements of each; 0: few. */
#ifndef EXO_STREAMS
#define EXO_STREAMS ${streams} /* bytes */
#endif
enum { kStreams = 4, kPage = ${page} / sizeof(${real}), kApart = ${apart} / sizeof(${real}) };
static inline int64_t ${p}stream(int64_t n) {
  if (n < exo_most(EXO_STREAMS / (int64_t)sizeof(${real}), kStreams * kApart)) return 0;
  return (n / kStreams - kApart) / kPage * kPage + kApart;
}
/* Once for as many elements as the streams take; what is left over of n goes on behind them. */
#define EXO_AS_STREAMS(q, n, go_on) \
  for (int64_t q = ${p}stream(n); q > 0; (void)(go_on), n -= kStreams * q, q = 0)
#define IN2 EXO_IN2_${P}
#define OUT2 EXO_OUT2_${P}

/* y := alpha x + y. An increment of 0 makes every step meet what the one before it wrote. */
EXO_OTHERS void ${p}axpy_others(int64_t n, ${real} alpha, const ${real}* x, int64_t incx, ${real}* y,
                                int64_t incy) {
  if (incx == 1 && incy == 1) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}axpy_streams)(q, &alpha, IN2(x, q), OUT2(y, q));
    EXO_IN_LINES(y, i, r) K(${p}axpy)(r, &alpha, IN(x + i, r, 1), OUT(y + i, r, 1));
  } else if (incy == 0) {
    x += exo_first(n, incx);
    for (int64_t i = 0; i < n; ++i) *y += alpha * x[i * incx];
  } else {
    K(${p}axpy_any)(n, &alpha, IN(x, n, incx), OUT(y, n, incy));
  }
}
EXO_HERE void ${p}axpy_vectors(int64_t n, ${real} alpha, const ${real}* x, ${real}* y) {
  H(${p}axpy)(n, &alpha, IN(x, n, 1), OUT(y, n, 1));
}
EXO_FEW void ${p}axpy_body(int64_t n, ${real} alpha, const ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (exo_zero(alpha)) return;
  if (incx == 1 && incy == 1) {
    if (EXO_BETWEEN(2, n, kAligned)) {
      ${p}axpy_vectors(n, alpha, x, y);
      return;
    }
    if (EXO_BETWEEN(0, n, 3)) {
      y[0] += alpha * x[0];
      if (n == 2) y[1] += alpha * x[1];
      return;
    }
  }
  if (n > 0) ${p}axpy_others(n, alpha, x, incx, y, incy);
}

EXO_OTHERS ${real} ${p}dot_others(int64_t n, const ${real}* x, int64_t incx, const ${real}* y,
                                  int64_t incy) {
  ${real} result = 0;
  if (incx == 1 && incy == 1) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}dot_streams)(q, IN2(x, q), IN2(y, q), &result);
    EXO_SUMS_IN_LINES(x, 2, i, r) {
      ${real} part;
      K(${p}dot)(r, IN(x + i, r, 1), IN(y + i, r, 1), &part);
      result += part;
    }
  } else {
    K(${p}dot_any)(n, IN(x, n, incx), IN(y, n, incy), &result);
  }
  return result;
}
EXO_HERE ${real} ${p}dot_vectors(int64_t n, const ${real}* x, const ${real}* y) {
  ${real} result;
  H(${p}dot)(n, IN(x, n, 1), IN(y, n, 1), &result);
  return result;
}
EXO_FEW ${real} ${p}dot_body(int64_t n, const ${real}* x, int64_t incx, const ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1) {
    if (EXO_BETWEEN(2, n, kAligned)) return ${p}dot_vectors(n, x, y);
    if (n == 1) return x[0] * y[0];
    if (n == 2) return x[0] * y[0] + x[1] * y[1];
  }
  return n <= 0 ? 0 : ${p}dot_others(n, x, incx, y, incy);
}

EXO_OTHERS void ${p}scal_others(int64_t n, ${real} alpha, ${real}* x, int64_t incx) {
  if (incx == 1) {
    EXO_AS_STREAMS(q, n, x += kStreams * q) K(${p}scal_streams)(q, &alpha, OUT2(x, q));
    EXO_IN_LINES(x, i, r) K(${p}scal)(r, &alpha, OUT(x + i, r, 1));
  } else {
    K(${p}scal_any)(n, &alpha, OUT(x, n, incx));
  }
}
EXO_HERE void ${p}scal_vectors(int64_t n, ${real} alpha, ${real}* x) {
  H(${p}scal)(n, &alpha, OUT(x, n, 1));
}
EXO_FEW void ${p}scal_body(int64_t n, ${real} alpha, ${real}* x, int64_t incx) {
  if (incx == 1) {
    if (EXO_BETWEEN(2, n, kAlignedAlone)) {
      ${p}scal_vectors(n, alpha, x);
      return;
    }
    if (EXO_BETWEEN(0, n, 3)) {
      x[0] *= alpha;
      if (n == 2) x[1] *= alpha;
      return;
    }
  }
  if (n > 0 && incx > 0) ${p}scal_others(n, alpha, x, incx);
}

EXO_OTHERS void ${p}copy_others(int64_t n, const ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1 && n >= kMoved) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}copy_streams)(q, IN2(x, q), OUT2(y, q));
    memmove(y, x, (size_t)n * sizeof(${real}));
  } else if (incx == 1 && incy == 1) {
    EXO_IN_LINES(y, i, r) K(${p}copy)(r, IN(x + i, r, 1), OUT(y + i, r, 1));
  } else if (incy == 0) {
    *y = x[exo_first(n, incx) + (n - 1) * incx];
  } else {
    K(${p}copy_any)(n, IN(x, n, incx), OUT(y, n, incy));
  }
}
EXO_HERE void ${p}copy_vectors(int64_t n, const ${real}* x, ${real}* y) {
  H(${p}copy)(n, IN(x, n, 1), OUT(y, n, 1));
}
EXO_FEW void ${p}copy_body(int64_t n, const ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1) {
    if (EXO_BETWEEN(2, n, kAligned)) {
      ${p}copy_vectors(n, x, y);
      return;
    }
    if (EXO_BETWEEN(0, n, 3)) {
      y[0] = x[0];
      if (n == 2) y[1] = x[1];
      return;
    }
  }
  if (n > 0) ${p}copy_others(n, x, incx, y, incy);
}

EXO_OTHERS void ${p}swap_others(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}swap_streams)(q, OUT2(x, q), OUT2(y, q));
    EXO_IN_LINES(y, i, r) K(${p}swap)(r, OUT(x + i, r, 1), OUT(y + i, r, 1));
  } else if (incx == 0 || incy == 0) {
    x += exo_first(n, incx);
    y += exo_first(n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const ${real} t = x[i * incx];
      x[i * incx] = y[i * incy];
      y[i * incy] = t;
    }
  } else {
    K(${p}swap_any)(n, OUT(x, n, incx), OUT(y, n, incy));
  }
}
EXO_HERE void ${p}swap_vectors(int64_t n, ${real}* x, ${real}* y) {
  H(${p}swap)(n, OUT(x, n, 1), OUT(y, n, 1));
}
EXO_FEW void ${p}swap_body(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1 && EXO_BETWEEN(2, n, kAligned)) {
    ${p}swap_vectors(n, x, y);
    return;
  }
  if (n <= 0) return;
  if (n > 2 || incx != 1 || incy != 1) {
    ${p}swap_others(n, x, incx, y, incy);
    return;
  }
  const ${real} t = x[0];
  x[0] = y[0];
  y[0] = t;
  if (n == 1) return;
  const ${real} u = x[1];
  x[1] = y[1];
  y[1] = u;
}

EXO_OTHERS ${real} ${p}asum_others(int64_t n, const ${real}* x, int64_t incx) {
  ${real} result = 0;
  if (incx == 1) {
    EXO_AS_STREAMS(q, n, x += kStreams * q) K(${p}asum_streams)(q, IN2(x, q), &result);
    EXO_SUMS_IN_LINES(x, 1, i, r) {
      ${real} part;
      K(${p}asum)(r, IN(x + i, r, 1), &part);
      result += part;
    }
  } else {
    K(${p}asum_any)(n, IN(x, n, incx), &result);
  }
  return result;
}
EXO_HERE ${real} ${p}asum_vectors(int64_t n, const ${real}* x) {
  ${real} result;
  H(${p}asum)(n, IN(x, n, 1), &result);
  return result;
}
EXO_FEW ${real} ${p}asum_body(int64_t n, const ${real}* x, int64_t incx) {
  if (incx == 1) {
    if (EXO_BETWEEN(2, n, kAlignedSums)) return ${p}asum_vectors(n, x);
    if (n == 1) return ${fabs}(x[0]);
    if (n == 2) return ${fabs}(x[0]) + ${fabs}(x[1]);
  }
  return n <= 0 || incx <= 0 ? 0 : ${p}asum_others(n, x, incx);
}

/* By hand: the sum of squares is the kernel's; where it left the range in which squares keep their
 * digits, it is formed again in long double, whose range holds them all. */
EXO_OTHERS ${real} ${p}wide_nrm2(int64_t n, const ${real}* x, int64_t incx) {
  long double wide = 0;
  x += exo_first(n, incx);
  for (int64_t i = 0; i < n; ++i) wide += (long double)x[i * incx] * x[i * incx];
  return (${real})sqrtl(wide);
}
static inline ${real} ${p}squares(int64_t n, const ${real}* x) {
  ${real} sum = 0;
  EXO_AS_STREAMS(q, n, x += kStreams * q) K(${p}sumsq_streams)(q, IN2(x, q), &sum);
  EXO_SUMS_IN_LINES(x, 1, i, r) {
    ${real} part;
    K(${p}sumsq)(r, IN(x + i, r, 1), &part);
    sum += part;
  }
  return sum;
}
EXO_OTHERS ${real} ${p}nrm2_others(int64_t n, const ${real}* x, int64_t incx) {
  ${real} sum = 0;
  if (incx == 1)
    sum = ${p}squares(n, x);
  else
    K(${p}sumsq_any)(n, IN(x, n, incx), &sum);
  return sum > ${safe_low} && sum < ${safe_high} ? ${sqrt}(sum) : ${p}wide_nrm2(n, x, incx);
}
EXO_HERE ${real} ${p}nrm2_vectors(int64_t n, const ${real}* x) {
  ${real} sum;
  H(${p}sumsq)(n, IN(x, n, 1), &sum);
  return sum > ${safe_low} && sum < ${safe_high} ? ${sqrt}(sum) : ${p}wide_nrm2(n, x, 1);
}
EXO_FEW ${real} ${p}nrm2_body(int64_t n, const ${real}* x, int64_t incx) {
  if (incx == 1 && EXO_BETWEEN(2, n, kAlignedSums)) return ${p}nrm2_vectors(n, x);
  if (n == 1) return ${fabs}(x[0]);
  if (n <= 0) return 0;
  if (n == 2 && incx == 1) {
    const ${real} sum = x[0] * x[0] + x[1] * x[1];
    if (sum > ${safe_low} && sum < ${safe_high}) return ${sqrt}(sum);
  }
  return ${p}nrm2_others(n, x, incx);
}

/* By hand: the greatest |x| in lanes of its own, then the first place that has it. A comparison with
 * NaN is false, so that NaN is passed over unless it comes first. The last lanes meet some elements
 * again, which changes nothing. Vectors are of the compilers' own kind: an array of lanes would go through
 * memory at each step. */
enum { k${P}Vector = ${lanes}, k${P}Lanes = 2 * k${P}Vector };
typedef ${real} ${p}vector __attribute__((vector_size(k${P}Vector * sizeof(${real}))));
typedef ${bits} ${p}lanes_set __attribute__((vector_size(k${P}Vector * sizeof(${real}))));
static inline ${p}vector ${p}larger(${p}vector most, ${p}vector a) {
  const ${p}lanes_set raised = (${p}lanes_set)(a > most);
  return (${p}vector)((raised & (${p}lanes_set)a) | (~raised & (${p}lanes_set)most));
}
static inline ${p}vector ${p}raised(${p}vector most, const ${real}* x) {
  ${p}lanes_set bits;
  memcpy(&bits, x, sizeof bits);
  return ${p}larger(most, (${p}vector)(bits & ((${bits})-1 >> 1)));
}
static inline ${real} ${p}folded(${p}vector a) {
  ${real} lane[k${P}Vector];
  memcpy(lane, &a, sizeof lane);
#define EXO_FOLD(half)                                       \
  for (int l = 0; l < (half) && (half) < k${P}Vector; ++l)     \
    lane[l] = lane[l + (half)] > lane[l] ? lane[l + (half)] : lane[l];
  EXO_FOLD(8) EXO_FOLD(4) EXO_FOLD(2) EXO_FOLD(1)
#undef EXO_FOLD
  return lane[0];
}
static inline ${real} ${p}greatest(const ${real}* x, int64_t n) {
  const ${p}vector none = (${p}vector){0} - 1;
  ${p}vector a = none, b = none, c = none, d = none;
  int64_t i = 0;
  for (; i + 4 * k${P}Vector <= n; i += 4 * k${P}Vector) {
    a = ${p}raised(a, x + i);
    b = ${p}raised(b, x + i + k${P}Vector);
    c = ${p}raised(c, x + i + 2 * k${P}Vector);
    d = ${p}raised(d, x + i + 3 * k${P}Vector);
  }
  for (; i + k${P}Vector <= n; i += k${P}Vector) a = ${p}raised(a, x + i);
  b = ${p}raised(b, x + n - k${P}Vector);
  return ${p}folded(${p}larger(${p}larger(a, b), ${p}larger(c, d)));
}
/* The first block of the four streams of q elements that has the greatest of them all. */
static inline int64_t ${p}greatest_block(const ${real}* x, int64_t q, int64_t block, ${real}* most) {
  int64_t best[kStreams] = {0};
  ${real} greatest[kStreams] = {-1, -1, -1, -1};
  for (int64_t from = 0; from < q; from += block) {
    const ${real}* at = x + from;
    const int64_t n = exo_least(block, q - from);
    ${p}vector a = (${p}vector){0} - 1, b = a, c = a, d = a;
    for (int64_t i = 0; i < n; i += k${P}Vector) {
      const int64_t k = exo_least(i, n - k${P}Vector);
      a = ${p}raised(a, at + k);
      b = ${p}raised(b, at + q + k);
      c = ${p}raised(c, at + 2 * q + k);
      d = ${p}raised(d, at + 3 * q + k);
    }
    const ${real} here[kStreams] = {${p}folded(a), ${p}folded(b), ${p}folded(c), ${p}folded(d)};
    for (int s = 0; s < kStreams; ++s)
      if (here[s] > greatest[s]) greatest[s] = here[s], best[s] = s * q + from;
  }
  int first = 0;
  for (int s = 1; s < kStreams; ++s)
    if (greatest[s] > greatest[first]) first = s;
  *most = greatest[first];
  return best[first];
}

/* One by one: few elements, and those that are apart. Places count from 0 in C, from 1 in Fortran. */
static inline int64_t ${p}first_of_few(int64_t n, const ${real}* x, int64_t first) {
  int64_t best = 0;
  ${real} most = ${fabs}(x[0]);
${few}
  for (int64_t i = 1; i < n; ++i) {
    const ${real} a = ${fabs}(x[i]);
    if (a > most) most = a, best = i;
  }
  return best + first;
}
static inline int64_t ${p}first_greatest(int64_t n, const ${real}* x, int64_t incx, int64_t first) {
  int64_t best = 0;
  ${real} most = ${fabs}(x[0]);
  for (int64_t i = 1; i < n; ++i) {
    const ${real} a = ${fabs}(x[i * incx]);
    if (a > most) most = a, best = i;
  }
  return best + first;
}

/* A few: `count` vectors, of which the last ones overlap, all read at once. First the greatest, of halves that are held to each
 * other, then where in each lane it is first, and the first of these, as places of 16 bits, of which many machines have an
 * instruction for the least of eight. Only what is greater than all before takes their place, which passes over NaN. */
enum {
  kOnes = 4,
  kAmongFours = 8,
  kAmongEights = 16,
  kAmongTwo = 2 * k${P}Vector,
  kAmongVectors = 4 * k${P}Vector,
  kAmongMore = 6 * k${P}Vector
};
#define EXO_CHOSEN(type, chosen, a, b) ((type)(((chosen) & (__typeof__(chosen))(a)) | (~(chosen) & (__typeof__(chosen))(b))))
typedef ${real} ${p}lanes_2 __attribute__((vector_size(2 * sizeof(${real}))));
static inline ${real} ${p}most_of_2(${p}lanes_2 a) { return a[1] > a[0] ? a[1] : a[0]; }
#define EXO_MOST(width, half)                                                                    \
  typedef ${real} ${p}lanes_##width __attribute__((vector_size((width) * sizeof(${real}))));       \
  static inline ${real} ${p}most_of_##width(${p}lanes_##width a) {                                 \
    ${p}lanes_##half low, high;                                                                  \
    memcpy(&low, &a, sizeof low);                                                                \
    memcpy(&high, (const char*)&a + sizeof low, sizeof high);                                    \
    return ${p}most_of_##half(EXO_CHOSEN(${p}lanes_##half, high > low, high, low));              \
  }
EXO_MOST(4, 2)
EXO_MOST(8, 4)
EXO_MOST(16, 8)
#undef EXO_MOST

typedef uint16_t ${p}places_4 __attribute__((vector_size(8)));
typedef uint16_t ${p}places_8 __attribute__((vector_size(16)));
typedef uint16_t ${p}places_16 __attribute__((vector_size(32)));
static inline ${p}places_8 ${p}sooner(${p}places_8 a, ${p}places_8 b) {
  const ${p}places_8 less = (${p}places_8)(a < b);
  return (less & a) | (~less & b);
}
static inline int64_t ${p}first_of_8(${p}places_8 a) {
  a = ${p}sooner(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
  a = ${p}sooner(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 4, 5, 6, 7));
  return ${p}sooner(a, __builtin_shufflevector(a, a, 1, 0, 2, 3, 4, 5, 6, 7))[0];
}
static inline int64_t ${p}first_of_4(${p}places_4 a) {
  ${p}places_8 twice;
  memcpy(&twice, &a, sizeof a);
  memcpy((char*)&twice + sizeof a, &a, sizeof a);
  return ${p}first_of_8(twice);
}
static inline int64_t ${p}first_of_16(${p}places_16 a) {
  ${p}places_8 low, high;
  memcpy(&low, &a, sizeof low);
  memcpy(&high, (const char*)&a + sizeof low, sizeof high);
  return ${p}first_of_8(${p}sooner(low, high));
}

/* Of more than (count - 1) * width elements; of more vectors than two, of more than (count - 2) * width. */
#define EXO_AMONG(name, width, count)                                                                                 \
  EXO_VECTORS int64_t name(int64_t n, const ${real}* x, int64_t first) {                                              \
    typedef ${p}lanes_##width lanes;                                                                                  \
    typedef ${whole} there __attribute__((vector_size((width) * sizeof(${real})))); /* all bits of a lane, or none */ \
    const int64_t end = n - (width), before = (count) > 2 ? exo_least(((count)-2) * (width), end) : 0;                \
    lanes v[count], greatest = {0};                                                                                   \
    for (int k = 0; k < (count); ++k) {                                                                               \
      there bits;                                                                                                     \
      memcpy(&bits, x + (k == (count)-1 ? end : k == (count)-2 ? before : k * (width)), sizeof bits);                 \
      v[k] = (lanes)(bits & (__typeof__(bits[0]))((${bits})-1 >> 1));                                                 \
      greatest = EXO_CHOSEN(lanes, v[k] > greatest, v[k], greatest);                                                  \
    }                                                                                                                 \
    const lanes most = (lanes){0} + ${p}most_of_##width(greatest);                                                    \
    there own;                                                                                                        \
    for (int l = 0; l < (width); ++l) own[l] = l;                                                                     \
    there place = own + kAmongMore;                                                                                   \
    for (int k = (count)-1; k >= 0; --k) {                                                                            \
      const there from = own + (__typeof__(own[0]))(k == (count)-1 ? end : k == (count)-2 ? before : k * (width));    \
      place = EXO_CHOSEN(there, v[k] == most, from, place);                                                           \
    }                                                                                                                 \
    return ${p}first_of_##width(__builtin_convertvector(place, ${p}places_##width)) + first;                          \
  }
EXO_AMONG(${p}greatest_of_fours, 4, 2)
EXO_AMONG(${p}greatest_of_eights, 8, 2)
#if ${lanes} > 8
EXO_AMONG(${p}greatest_of_two, ${lanes}, 2)
#endif
#if ${lanes} > 4
EXO_AMONG(${p}greatest_of_vectors, ${lanes}, 4)
EXO_AMONG(${p}greatest_of_more, ${lanes}, 6)
#endif
#undef EXO_AMONG
#undef EXO_CHOSEN

EXO_OTHERS int64_t i${p}amax_others(int64_t n, const ${real}* x, int64_t incx, int64_t first) {
  if (incx != 1) return ${p}first_greatest(n, x, incx, first);
#if ${lanes} > 4
  if (n <= kAmongMore) return ${p}greatest_of_more(n, x, first);
#endif
  const int64_t block = 1024;
  const int64_t q = ${p}stream(n);
  int64_t best = 0;
  ${real} most = -1;
  if (q > 0) best = ${p}greatest_block(x, q, block, &most);
  for (int64_t from = kStreams * q; from < n; from += block) {
    const ${real} here = ${p}greatest(x + from, exo_least(block, n - from));
    if (here > most) {
      most = here;
      best = from;
    }
  }
  for (; best + k${P}Lanes <= n; best += k${P}Lanes) {
    int there = 0;
    for (int l = 0; l < k${P}Lanes; ++l) there |= ${fabs}(x[best + l]) == most;
    if (there) break;
  }
  while (${fabs}(x[best]) != most) ++best;
  return best + first;
}
EXO_STRAIGHT int64_t i${p}amax_body(int64_t n, const ${real}* x, int64_t incx, int64_t first) {
  if (n <= 0 || incx <= 0) return 0;
  if (x[0] != x[0]) return first;
  if (incx == 1 && n <= kOnes) return ${p}first_of_few(n, x, first);
  if (incx == 1 && n <= kAmongFours) return ${p}greatest_of_fours(n, x, first);
  if (incx == 1 && n <= kAmongEights) return ${p}greatest_of_eights(n, x, first);
#if ${lanes} > 8
  if (incx == 1 && n <= kAmongTwo) return ${p}greatest_of_two(n, x, first);
#endif
#if ${lanes} > 4
  if (incx == 1 && n <= kAmongVectors) return ${p}greatest_of_vectors(n, x, first);
#endif
  return i${p}amax_others(n, x, incx, first);
}

EXO_OTHERS void ${p}rot_others(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy, ${real} c,
                               ${real} s) {
  if (incx == 1 && incy == 1) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}rot_streams)(q, OUT2(x, q), OUT2(y, q), &c, &s);
    EXO_IN_LINES(y, i, r) K(${p}rot)(r, OUT(x + i, r, 1), OUT(y + i, r, 1), &c, &s);
  } else if (incx == 0 || incy == 0) {
    x += exo_first(n, incx);
    y += exo_first(n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const ${real} t = c * x[i * incx] + s * y[i * incy];
      y[i * incy] = c * y[i * incy] - s * x[i * incx];
      x[i * incx] = t;
    }
  } else {
    K(${p}rot_any)(n, OUT(x, n, incx), OUT(y, n, incy), &c, &s);
  }
}
EXO_HERE void ${p}rot_vectors(int64_t n, ${real}* x, ${real}* y, ${real} c, ${real} s) {
  H(${p}rot)(n, OUT(x, n, 1), OUT(y, n, 1), &c, &s);
}
EXO_FEW void ${p}rot_body(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy, ${real} c, ${real} s) {
  if (incx == 1 && incy == 1 && EXO_BETWEEN(1, n, kAligned)) {
    ${p}rot_vectors(n, x, y, c, s);
    return;
  }
  if (n <= 0) return;
  if (n > 1) {
    ${p}rot_others(n, x, incx, y, incy, c, s);
    return;
  }
  const ${real} t = c * x[0] + s * y[0];
  y[0] = c * y[0] - s * x[0];
  x[0] = t;
}

/* The entries of H that the flag P[0] leaves out are ones and zeros; -2 is the identity. */
EXO_OTHERS void ${p}rotm_others(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy, ${real} h11,
                                ${real} h21, ${real} h12, ${real} h22) {
  if (incx == 1 && incy == 1) {
    EXO_AS_STREAMS(q, n, (x += kStreams * q, y += kStreams * q)) K(${p}rotm_streams)(q, OUT2(x, q), OUT2(y, q), &h11, &h21, &h12, &h22);
    EXO_IN_LINES(y, i, r) K(${p}rotm)(r, OUT(x + i, r, 1), OUT(y + i, r, 1), &h11, &h21, &h12, &h22);
  } else if (incx == 0 || incy == 0) {
    x += exo_first(n, incx);
    y += exo_first(n, incy);
    for (int64_t i = 0; i < n; ++i) {
      const ${real} t = h11 * x[i * incx] + h12 * y[i * incy];
      y[i * incy] = h21 * x[i * incx] + h22 * y[i * incy];
      x[i * incx] = t;
    }
  } else {
    K(${p}rotm_any)(n, OUT(x, n, incx), OUT(y, n, incy), &h11, &h21, &h12, &h22);
  }
}
EXO_HERE void ${p}rotm_vectors(int64_t n, ${real}* x, ${real}* y, ${real} h11, ${real} h21, ${real} h12,
                                  ${real} h22) {
  H(${p}rotm)(n, OUT(x, n, 1), OUT(y, n, 1), &h11, &h21, &h12, &h22);
}
EXO_FEW void ${p}rotm_one(${real}* x, ${real}* y, ${real} h11, ${real} h21, ${real} h12, ${real} h22) {
  const ${real} t = h11 * *x + h12 * *y;
  *y = h21 * *x + h22 * *y;
  *x = t;
}
EXO_FEW void ${p}rotm_body(int64_t n, ${real}* x, int64_t incx, ${real}* y, int64_t incy,
                                const ${real}* P) {
  if (n <= 0) return;
  const bool given = exo_same(P[0], (${real})-1); /* all four */
  if (!given && P[0] == -2) return;
  ${real} h11 = P[1], h21 = P[2], h12 = P[3], h22 = P[4];
  if (!given) {
    if (P[0] == 0) h11 = h22 = 1;
    if (P[0] == 1) h12 = 1, h21 = -1;
  }
  if (incx == 1 && incy == 1) {
    if (EXO_BETWEEN(2, n, kAligned)) {
      ${p}rotm_vectors(n, x, y, h11, h21, h12, h22);
      return;
    }
    if (n <= 2) {
      ${p}rotm_one(x, y, h11, h21, h12, h22);
      if (n == 2) ${p}rotm_one(x + 1, y + 1, h11, h21, h12, h22);
      return;
    }
  }
  ${p}rotm_others(n, x, incx, y, incy, h11, h21, h12, h22);
}

/* By hand: c and s with (c s; -s c) (a b)' = (r 0)', scaled so that no square overflows. */
static void ${p}rotg_body(${real}* a, ${real}* b, ${real}* c, ${real}* s) {
  const ${real} size_a = ${fabs}(*a), size_b = ${fabs}(*b);
  if (*b == 0) {
    *c = 1;
    *s = 0;
    *b = 0;
    return;
  }
  if (*a == 0) {
    *c = 0;
    *s = 1;
    *a = *b;
    *b = 1;
    return;
  }
  const ${real} tiny = ${tiny}, huge = 1 / tiny;
  ${real} scale = size_a > size_b ? size_a : size_b;
  if (scale < tiny) scale = tiny;
  if (scale > huge) scale = huge;
  const ${real} sa = *a / scale, sb = *b / scale;
  const ${real} r = (size_a > size_b ? copysign(1, *a) : copysign(1, *b)) *
                    (scale * (${real})sqrt(sa * sa + sb * sb));
  *c = *a / r;
  *s = *b / r;
  *a = r;
  *b = size_a > size_b ? *s : *c != 0 ? 1 / *c : 1;
}

/* By hand: one entry of H per row becomes +-1; d1 and d2 are kept within 4096^-2 .. 4096^2 by
 * scaling the rows. */
static void ${p}rotmg_body(${real}* d1, ${real}* d2, ${real}* b1, ${real} b2, ${real}* P) {
  const ${real} gam = 4096, big = gam * gam, small = 1 / big;
  ${real} flag = -1, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
  if (*d1 < 0) {
    *d1 = *d2 = *b1 = 0;
  } else {
    const ${real} p2 = *d2 * b2;
    if (p2 == 0) {
      P[0] = -2;
      return;
    }
    const ${real} p1 = *d1 * *b1, q2 = p2 * b2, q1 = p1 * *b1;
    if (${fabs}(q1) > ${fabs}(q2)) {
      h21 = -b2 / *b1;
      h12 = p2 / p1;
      const ${real} u = 1 - h12 * h21;
      if (u > 0) {
        flag = 0;
        h11 = h22 = 1;
        *d1 /= u;
        *d2 /= u;
        *b1 *= u;
      } else {
        h12 = h21 = 0;
        *d1 = *d2 = *b1 = 0;
      }
    } else if (q2 < 0) {
      *d1 = *d2 = *b1 = 0;
    } else {
      flag = 1;
      h11 = p1 / p2;
      h22 = *b1 / b2;
      h12 = 1;
      h21 = -1;
      const ${real} u = 1 + h11 * h22, t = *d2 / u;
      *d2 = *d1 / u;
      *d1 = t;
      *b1 = b2 * u;
    }
    while (*d1 != 0 && (*d1 <= small || *d1 >= big)) {
      flag = -1;
      const ${real} by = *d1 <= small ? gam : 1 / gam;
      *d1 *= by * by;
      *b1 /= by;
      h11 /= by;
      h12 /= by;
    }
    while (*d2 != 0 && (${fabs}(*d2) <= small || ${fabs}(*d2) >= big)) {
      flag = -1;
      const ${real} by = ${fabs}(*d2) <= small ? gam : 1 / gam;
      *d2 *= by * by;
      h21 /= by;
      h22 /= by;
    }
  }
  P[0] = flag;
  if (flag <= 0) {
    P[2] = h21;
    P[3] = h12;
  }
  if (flag != 0) {
    P[1] = h11;
    P[4] = h22;
  }
}
