#define OUT EXO_OUT_${P}
#define IN2 EXO_IN2_${P}
#define OUT2 EXO_OUT2_${P}

/* Sizes of the pieces that a product goes by: kDepth x kWidth of the second factor in strips, kHeight
 * x kDepth of the first; a strip is as wide as a register tile. */
enum {
  kStrip = ${tile_vectors} * ${lanes},
  kDepth = 384,
  kWidth = 2048,
  kHeight = 256 / ${tile_rows} * ${tile_rows},
  kPitch = kDepth + kStrip, /* rows of a packed first factor: not all in the same lines of a cache */
  kTriangle = 64, /* rows of a triangle that is turned to be applied from the right */
  kSmallTriangle = 16
};

/* ---- factors: matrices as products read them ---- */

/* Element (i, j) stands at a[i * ld + j], or a[j * ld + i] when transposed; of a symmetric one only
 * the upper or the lower triangle of that stands there. */
struct ${p}factor {
  const ${real}* a;
  int64_t ld;
  bool trans;
  enum { kGeneral, kUpperHalf, kLowerHalf } shape;
};

static inline const ${real}* ${p}element(struct ${p}factor f, int64_t i, int64_t j) {
  return f.a + (f.trans ? j * f.ld + i : i * f.ld + j);
}

/* to[r * ld + c] := element (i + r, j + c) for m rows and n columns, both at least 1. */
static void ${p}bring(struct ${p}factor f, int64_t i, int64_t j, int64_t m, int64_t n, ${real}* to,
                      int64_t ld) {
  const bool upper = f.shape == kUpperHalf;
  if (f.shape == kGeneral || (upper ? i + m - 1 <= j : j + n - 1 <= i)) {
    if (f.trans)
      K(${p}transposed)(m, n, IN2(${p}element(f, i, j), f.ld), OUT2(to, ld));
    else
      K(${p}copied)(m, n, IN2(${p}element(f, i, j), f.ld), OUT2(to, ld));
  } else if (upper ? j + n - 1 <= i : i + m - 1 <= j) { /* in the other triangle */
    f.shape = kGeneral, f.trans = !f.trans;
    ${p}bring(f, i, j, m, n, to, ld);
  } else if (m > 8 && m >= n) {
    ${p}bring(f, i, j, m / 2, n, to, ld);
    ${p}bring(f, i + m / 2, j, m - m / 2, n, to + m / 2 * ld, ld);
  } else if (n > 8) {
    ${p}bring(f, i, j, m, n / 2, to, ld);
    ${p}bring(f, i, j + n / 2, m, n - n / 2, to + n / 2, ld);
  } else {
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        const bool there = upper ? i + r <= j + c : i + r >= j + c;
        to[r * ld + c] = there ? *${p}element(f, i + r, j + c) : *${p}element(f, j + c, i + r);
      }
  }
}

/* ---- the product ---- */

/* C += alpha A B for a strip of w columns; A is turned when its columns are contiguous. */
static inline void ${p}strip(bool turned, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                             const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                             int64_t ldc) {
  const struct exo_win_2${T}c a = {A, {turned ? 1 : lda, turned ? lda : 1}};
  if (w == kStrip)
    (turned ? K(${p}gemm_strip_turned) : K(${p}gemm_strip))(m, k, alpha, a, IN2(B, ldb), OUT2(C, ldc));
  else
    (turned ? K(${p}gemm_rest_turned) : K(${p}gemm_rest))(m, w, k, alpha, a, IN2(B, ldb),
                                                          OUT2(C, ldc));
}

enum exo_part { kWhole, kUpperPart, kLowerPart };

/* The same for rows [i, i + m) and columns [j, j + w) of C, of which only a part is there; A has
 * these rows. Where the diagonal goes through, a square on the stack takes the product. */
static void ${p}part_of_strip(enum exo_part part, bool turned, int64_t i, int64_t m, int64_t j, int64_t w,
                              int64_t k, const ${real}* alpha, const ${real}* A, int64_t lda,
                              const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  int64_t from = i, to = i + m;
  const int64_t step = turned ? 1 : lda;
  if (part == kLowerPart) from = exo_most(from, j + w);
  if (part == kUpperPart) to = exo_least(to, j);
  if (from < to)
    ${p}strip(turned, to - from, w, k, alpha, A + (from - i) * step, lda, B, ldb, C + from * ldc + j,
              ldc);
  if (part == kWhole) return;
  from = exo_most(i, j), to = exo_least(i + m, j + w);
  if (from >= to) return;
  ${real} square[kStrip * kStrip];
  for (int64_t r = 0; r < to - from; ++r)
    for (int64_t c = 0; c < w; ++c) square[r * kStrip + c] = 0;
  ${p}strip(turned, to - from, w, k, alpha, A + (from - i) * step, lda, B, ldb, square, kStrip);
  for (int64_t r = from; r < to; ++r)
    for (int64_t c = part == kLowerPart ? j : r; c < (part == kLowerPart ? r + 1 : j + w); ++c)
      C[r * ldc + c] += square[(r - from) * kStrip + c - j];
}

/* C += alpha A B, A m x k and B k x n, or only a part of square C. Strips of B are packed unless few
 * rows use them; rows of A are where they are transposed, symmetric, or would share cache lines.
 * Workspace: at most kDepth (kWidth + kHeight) elements and some padding. */
static void ${p}multiply(enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha,
                         struct ${p}factor A, struct ${p}factor B, ${real}* C, int64_t ldc) {
  if (m == 0 || n == 0 || k == 0 || alpha == 0) return;
  const bool plain_b = !B.trans && B.shape == kGeneral;
  if (part == kWhole && plain_b && A.shape == kGeneral && m <= 3 * ${tile_rows} && n <= kStrip &&
      k <= kDepth) {
    ${p}strip(A.trans, m, n, k, &alpha, A.a, A.ld, B.a, B.ld, C, ldc);
    return;
  }
  const bool pack_b = !plain_b || m > 3 * ${tile_rows};
  const bool pack_a = A.shape != kGeneral || (A.trans && n > 2 * kStrip && k > 64) ||
                      (n > kStrip && A.ld * sizeof(${real}) % 1024 == 0);
  const bool turned = A.trans && !pack_a;
  const int64_t depth = exo_least(k, kDepth), width = exo_least(n, kWidth);
  const int64_t strips = (width + kStrip - 1) / kStrip;
  ${real} few[2048] __attribute__((aligned(64)));
  const int64_t need_b = pack_b ? strips * depth * kStrip : 0;
  const int64_t need_a = pack_a ? exo_least(m, kHeight) * kPitch : 0;
  ${real}* const room = (need_a + need_b) * sizeof(${real}) <= sizeof few
                            ? few
                            : exo_workspace((need_a + need_b) * sizeof(${real}));
  ${real}* const packed_a = room + need_b;
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t d = exo_least(kDepth, k - k0);
    for (int64_t j0 = 0; j0 < n; j0 += kWidth) {
      const int64_t end = exo_least(j0 + kWidth, n);
      if (pack_b)
        for (int64_t j = j0; j < end; j += kStrip)
          ${p}bring(B, k0, j, d, exo_least(kStrip, end - j), room + (j - j0) * depth, kStrip);
      for (int64_t i = 0; i < m; i += kHeight) {
        const int64_t h = exo_least(kHeight, m - i);
        if (part == kLowerPart && i + h <= j0) continue;
        if (part == kUpperPart && i >= end) break;
        if (pack_a) ${p}bring(A, i, k0, h, d, packed_a, kPitch);
        const ${real}* a = pack_a ? packed_a : ${p}element(A, i, k0);
        const int64_t lda = pack_a ? kPitch : A.ld;
        for (int64_t j = j0; j < end; j += kStrip)
          ${p}part_of_strip(part, turned, i, h, j, exo_least(kStrip, end - j), d, &alpha, a, lda,
                            pack_b ? room + (j - j0) * depth : ${p}element(B, k0, j),
                            pack_b ? kStrip : B.ld, C, ldc);
      }
    }
  }
}

/* C := beta C, or a part of it; 0 clears whatever is there. */
static void ${p}scaled_matrix(enum exo_part part, int64_t m, int64_t n, ${real} beta, ${real}* C,
                              int64_t ldc) {
  if (beta == 1) return;
  for (int64_t i = 0; i < m; ++i) {
    const int64_t from = part == kUpperPart ? i : 0, to = part == kLowerPart ? i + 1 : n;
    ${real}* row = C + i * ldc + from;
    if (beta != 0 && from < to)
      K(${p}scal)(to - from, &beta, OUT(row, to - from, 1));
    else
      for (int64_t j = 0; j < to - from; ++j) row[j] = 0;
  }
}

static void ${p}gemm_body(bool row, bool transa, bool transb, int64_t m, int64_t n, int64_t k,
                          ${real} alpha, const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb,
                          ${real} beta, ${real}* C, int64_t ldc) {
  const struct ${p}factor a = {A, lda, transa, kGeneral}, b = {B, ldb, transb, kGeneral};
  ${p}scaled_matrix(kWhole, row ? m : n, row ? n : m, beta, C, ldc);
  if (row)
    ${p}multiply(kWhole, m, n, k, alpha, a, b, C, ldc);
  else
    ${p}multiply(kWhole, n, m, k, alpha, b, a, C, ldc);
}

static void ${p}symm_body(bool row, bool right, bool upper, int64_t m, int64_t n, ${real} alpha,
                          const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                          ${real}* C, int64_t ldc) {
  if (!row) {
    const int64_t t = m;
    m = n, n = t, right = !right, upper = !upper;
  }
  const struct ${p}factor a = {A, lda, false, upper ? kUpperHalf : kLowerHalf};
  const struct ${p}factor b = {B, ldb, false, kGeneral};
  ${p}scaled_matrix(kWhole, m, n, beta, C, ldc);
  if (right)
    ${p}multiply(kWhole, m, n, n, alpha, b, a, C, ldc);
  else
    ${p}multiply(kWhole, m, n, m, alpha, a, b, C, ldc);
}

static void ${p}syrk_body(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                          const ${real}* A, int64_t lda, ${real} beta, ${real}* C, int64_t ldc) {
  const enum exo_part part = upper == row ? kUpperPart : kLowerPart;
  const struct ${p}factor a = {A, lda, trans == row, kGeneral}, b = {A, lda, trans != row, kGeneral};
  ${p}scaled_matrix(part, n, n, beta, C, ldc);
  ${p}multiply(part, n, n, k, alpha, a, b, C, ldc);
}

static void ${p}syr2k_body(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                           const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                           ${real}* C, int64_t ldc) {
  const enum exo_part part = upper == row ? kUpperPart : kLowerPart;
  const bool t = trans == row;
  ${p}scaled_matrix(part, n, n, beta, C, ldc);
  ${p}multiply(part, n, n, k, alpha, (struct ${p}factor){A, lda, t, kGeneral},
               (struct ${p}factor){B, ldb, !t, kGeneral}, C, ldc);
  ${p}multiply(part, n, n, k, alpha, (struct ${p}factor){B, ldb, t, kGeneral},
               (struct ${p}factor){A, lda, !t, kGeneral}, C, ldc);
}

/* ---- triangles ---- */

typedef void ${p}small_triangle(int64_t, int64_t, struct exo_win_2${T}c, struct exo_win_2${T});

/* What is done with a triangle: multiply by it, or solve with it. */
struct ${p}task {
  bool solve, unit;
};

static ${p}small_triangle* ${p}kernel_for(struct ${p}task task, bool lower) {
  if (task.solve)
    return lower ? task.unit ? K(${p}trsm_lu) : K(${p}trsm_ln)
                 : task.unit ? K(${p}trsm_uu) : K(${p}trsm_un);
  return lower ? task.unit ? K(${p}trmm_lu) : K(${p}trmm_ln)
               : task.unit ? K(${p}trmm_uu) : K(${p}trmm_un);
}

static void ${p}apply(struct ${p}task task, bool right, bool lower, struct ${p}factor A, int64_t m,
                      int64_t n, ${real}* B, int64_t ldb);

/* A triangle of at most kSmallTriangle rows; columns of B in strips that stay in the nearest cache. */
static void ${p}small_left(struct ${p}task task, bool lower, struct ${p}factor A, int64_t m, int64_t n,
                           ${real}* B, int64_t ldb) {
  ${p}small_triangle* const kernel = ${p}kernel_for(task, lower);
  const struct exo_win_2${T}c a = {A.a, {A.trans ? 1 : A.ld, A.trans ? A.ld : 1}};
  const int64_t width = 8 * ${lanes};
  for (int64_t j = 0; j < n; j += width)
    kernel(m, exo_least(width, n - j), a, OUT2(B + j, ldb));
}
/* B A = (A' B')': rows of B in blocks, transposed there and back. */
static void ${p}small_right(struct ${p}task task, bool lower, struct ${p}factor A, int64_t m, int64_t n,
                            ${real}* B, int64_t ldb) {
  ${real} turned[kTriangle * kTriangle];
  A.trans = !A.trans;
  for (int64_t i = 0; i < m; i += kTriangle) {
    const int64_t h = exo_least(kTriangle, m - i);
    K(${p}transposed)(n, h, IN2(B + i * ldb, ldb), OUT2(turned, kTriangle));
    ${p}apply(task, false, !lower, A, n, h, turned, kTriangle);
    K(${p}transposed)(h, n, IN2(turned, kTriangle), OUT2(B + i * ldb, ldb));
  }
}

/* B := T B, inverse(T) B (left), B T, B inverse(T) (right) for the triangle T = A, in place: halves of
 * T one after the other, and the rectangle between them as a product. */
static void ${p}apply(struct ${p}task task, bool right, bool lower, struct ${p}factor A, int64_t m,
                      int64_t n, ${real}* B, int64_t ldb) {
  const int64_t size = right ? n : m;
  const int64_t block = right ? kTriangle : kSmallTriangle;
  if (size <= block) {
    (right ? ${p}small_right : ${p}small_left)(task, lower, A, m, n, B, ldb);
    return;
  }
  const int64_t half = (size / 2 + block - 1) / block * block;
  struct ${p}factor first = A, second = A, between = A;
  second.a = ${p}element(A, half, half);
  between.a = lower ? ${p}element(A, half, 0) : ${p}element(A, 0, half);
  ${real}* const B1 = B;
  ${real}* const B2 = right ? B + half : B + half * ldb;
  const int64_t m1 = right ? m : half, n1 = right ? half : n;
  const int64_t m2 = right ? m : m - half, n2 = right ? n - half : n;
  /* The half that the rectangle writes: by products before the other changes, by solutions after. */
  const bool writes_second = lower != right;
  for (int step = 0; step < 3; ++step) {
    if (step == 1) {
      const struct ${p}factor source = {writes_second ? B1 : B2, ldb, false, kGeneral};
      const ${real} sign = task.solve ? -1 : 1;
      ${real}* const target = writes_second ? B2 : B1;
      const int64_t rows = writes_second ? m2 : m1, columns = writes_second ? n2 : n1;
      if (right)
        ${p}multiply(kWhole, rows, columns, writes_second ? n1 : n2, sign, source, between, target, ldb);
      else
        ${p}multiply(kWhole, rows, columns, writes_second ? m1 : m2, sign, between, source, target, ldb);
    } else if ((step == 0) == (writes_second != task.solve)) {
      ${p}apply(task, right, lower, second, m2, n2, B2, ldb);
    } else {
      ${p}apply(task, right, lower, first, m1, n1, B1, ldb);
    }
  }
}

static void ${p}triangular(struct ${p}task task, bool row, bool right, bool upper, bool trans,
                           int64_t m, int64_t n, ${real} alpha, const ${real}* A, int64_t lda,
                           ${real}* B, int64_t ldb) {
  if (m == 0 || n == 0) return;
  if (!row) {
    const int64_t t = m;
    m = n, n = t, right = !right, upper = !upper;
  }
  ${p}scaled_matrix(kWhole, m, n, alpha, B, ldb);
  if (alpha == 0) return;
  ${p}apply(task, right, upper == trans, (struct ${p}factor){A, lda, trans, kGeneral}, m, n, B, ldb);
}

static void ${p}trmm_body(bool row, bool right, bool upper, bool trans, bool unit, int64_t m, int64_t n,
                          ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {
  ${p}triangular((struct ${p}task){false, unit}, row, right, upper, trans, m, n, alpha, A, lda, B, ldb);
}
static void ${p}trsm_body(bool row, bool right, bool upper, bool trans, bool unit, int64_t m, int64_t n,
                          ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {
  ${p}triangular((struct ${p}task){true, unit}, row, right, upper, trans, m, n, alpha, A, lda, B, ldb);
}
