#define IN EXO_IN_${P}
#define OUT EXO_OUT_${P}
#define IN2 EXO_IN2_${P}
#define OUT2 EXO_OUT2_${P}

/* Sizes of the pieces that a product goes by, at most: depth x width of the second factor in strips, height x depth of the
 * first; a strip is as wide as a register tile. */
#ifndef EXO_DEPTH
#define EXO_DEPTH ${depth}
#define EXO_WIDTH ${width}
#define EXO_HEIGHT ${height}
#define EXO_NEAR ${near}
#define EXO_NEAR_LEAST 128
#endif
enum {
  kStrip = ${tile_vectors} * ${lanes},
  kStep = 2 * ${tile_rows}, /* pieces of the depth are multiples of it */
  kDeepest = EXO_DEPTH / kStep * kStep, /* where a few columns leave room for it */
  kDepth = ${panel_depth} < kDeepest ? ${panel_depth} / kStep * kStep : kDeepest,
  kPlainDepth = ${plain_depth} < EXO_DEPTH ? ${plain_depth} / kStep * kStep : kDepth, /* where the second factor stands as it is */
  kFar = ${far} / (int64_t)sizeof(${real}), /* elements of one that does beyond which so few rows go by less of its depth at a time, */
  kFarRows = ${far_rows}, /* at most */
  kFarDepth = ${far_depth}, /* as many of its rows as are fetched ahead side by side */
  kAhead = ${ahead} / (int64_t)sizeof(${real}), /* elements of one beyond which its next strip is asked for while one is read, */
  kAheadRows = ${ahead_rows}, /* rows up to which it then stands as it is, */
  kAheadDepth = ${ahead_depth} < EXO_DEPTH ? ${ahead_depth} / kStep * kStep : kDepth, /* and so much of its depth at a time */
  kAheadHeld = ${ahead_held}, /* bytes of a second cache for rows that share its lines, half of it; */
  kAheadShared = ${ahead_shared}, /* of rows that share more it holds few, and more than two tiles have them packed */
  kWidth = EXO_WIDTH,
  kHeight = EXO_HEIGHT / ${tile_rows} * ${tile_rows},
  kShallow = ${shallow}, /* depth up to which a product mostly writes */
  kShallowLeast = ${shallow_least} / (int64_t)sizeof(${real}), /* elements of a result that no cache keeps then, */
  kShallowRows = ${shallow_vectors} * ${lanes} / ${tile_rows} * ${tile_rows},
  kShallowHeight = kShallowRows < kHeight ? kShallowRows : kHeight, /* and whose rows then go by a few at a time, to their ends */
  kPitch = kDepth + kStrip, /* rows of a first factor that is copied as it stands: not all in the same lines of a cache */
  kTile = ${tile_rows}, /* rows of a register tile */
  kTileSize = kTile * ${depth}, /* elements of a packed tile of the first factor */
  kNear = EXO_NEAR, /* strips that a tile goes by before the next tile does */
  kNearRows = ${near_rows}, /* rows that do so where they are not packed */
  kNearLeast = EXO_NEAR_LEAST, /* rows and columns of a product up to which all go by a strip */
  kSomeRows = 8 * kTile, /* that go by way of the stack at once, where a strip is not whole */
  kFewRows = 40, /* rows up to which a product has kernels of its own */
  kManyColumns = ${many} * kStrip, /* columns beyond which a few rows are enough for packing a second factor */
  kTiledColumns = ${tiled} * kStrip, /* columns beyond which a first factor that stands well is packed, too */
  kTriangle = ${applied}, /* rows of a triangle that is applied in blocks of kCorner */
  kCorner = ${corner},
  kColumns = 3 * ${lanes}, /* that go by at once in such blocks */
  kLargeTriangle = 2 * kTriangle, /* rows beyond which one is applied a piece of the depth at a time, from the right */
  kMostHalved = ${halved}, /* the same that is halved even so, where it multiplies finite numbers */
  kLargeFactor = 3 * kTriangle, /* the same of one that multiplies from the left */
  kLargeSolved = 4 * kTriangle, /* and of one that is solved with from there */
  kSquares = 4 * ${tile_rows}, /* rows of such a piece that are solved with at a time: whole tiles and corners */
  kFourStrips = 4 * kStrip, /* columns that go back from there at once */
  kTinyTriangle = ${tiny_triangle}, /* rows and columns up to which a triangle is multiplied by in the entry point */
  kTinyRight = ${tiny_right}, /* the same from the right, where rows are turned over */
  kTinySolved = ${tiny_solved}, /* and solved with */
  kMostFours = 8, /* at most: rows that are kept in registers */
  kFewColumns = ${lanes} < 16 ? ${lanes} / 2 : 8, /* at the end of a row, up to which sums along the depth are formed */
  kLeastAcross = ${lanes}, /* steps from which on they are in A B', of more than four columns twice as many */
  kLeastSums = ${lanes} < 16 ? 64 : 32, /* steps from which on those of two and more are, where they may go by with a vector */
  kRowsAtOnce = 256, /* of a first factor turned over, for the last few columns */
  kSquare = 16, /* rows that the diagonal of a symmetric matrix is taken by */
  kMirrored = ${mirrored}, /* up to which that is mirrored element by element */
  kAll = ${single} ? ${all} : ${all_doubles}, /* rows of a triangle of a result that is computed with what is beside it */
  kSmall = ${small}, /* sides of products whose factors come onto the stack */
  kTwice = 64, /* rows of a triangle of A B + B' A' that is made of one product */
  kMostTwice = 160, /* rows of one that is made of such triangles */
  kTiny = 4, /* sides of products that stand in the entry points, as squares of four */
  kSlim = 16, /* rows and steps of products of a strip that go straight to a kernel */
  kAtOnce = 64, /* rows and steps of products that are asked for before anything else is */
  kAlike = ${alike_rows}, /* rows of a tile at most where tiles are alike, */
  kAlikeBroad = ${broad_rows}, /* and with a vector more than a strip has; */
  kFewerRows = 3, /* so many fewer at most */
  kTallest = kAlike + kFewerRows + 1, /* rows of a tile at most that has up to a vector of columns */
  kBroad = kStrip + ${lanes}, /* columns that have so many vectors go by together */
  kBroadRows = ${broad}, /* from so many rows on */
  kTogether = ${together}, /* rows from which on a part of a vector goes by together with the whole ones before it */
  kTinyTurned = ${tiny_turned}, /* of those whose second factor is turned over, and has to be for any kernel */
  kTinyPart = ${tiny_part}, /* of those of which a triangle is computed */
  kTinyMirrored = ${tiny_mirrored}, /* rows and columns of those with a symmetric factor */
  kMostPlain = ${plain}, /* rows that take a second factor as it stands */
  kMostTurned = ${turned} / (int64_t)sizeof(${real}) /* elements of a transposed first factor beside one that does */
};

_Static_assert(kAtOnce <= kMostPlain && kAtOnce <= kPlainDepth, "both factors stand as kernels take them");
_Static_assert(EXO_DEPTH <= ${depth} && kDepth >= kStrip, "a strip goes by in pieces of the depth");
_Static_assert(kTinyTriangle <= kMostFours && kTinyRight <= kMostFours && kTinySolved <= kMostFours, "there is a copy for each size");
_Static_assert(kTogether >= kAlike && kBroadRows >= kAlikeBroad && kAlike <= 8,
               "two and more tiles of up to kAlike rows have kAlike - kFewerRows at least");
_Static_assert(kWidth >= kDepth && kHeight >= kStep, "pieces of triangles are square, and two tiles high at least");

/* As many as whole vectors hold. */
static inline int64_t ${p}whole(int64_t n) { return (n + ${lanes} - 1) / ${lanes} * ${lanes}; }

/* ---- factors: matrices as products read them ---- */

/* Element (i, j) stands at a[i * ld + j], or a[j * ld + i] when transposed; of a symmetric one only
 * the upper or the lower triangle of that stands there. */
struct ${p}factor {
  const ${real}* a;
  int64_t ld;
  bool trans;
  enum { kGeneral, kUpperHalf, kLowerHalf } shape;
  bool brain; /* bf16 stands there, always to be brought elsewhere */
};

static inline const ${real}* ${p}element(struct ${p}factor f, int64_t i, int64_t j) {
  const int64_t at = f.trans ? j * f.ld + i : i * f.ld + j;
  return f.brain ? (const ${real}*)((const bfloat16*)f.a + at) : f.a + at;
}

#if ${single}
enum { kTurnedBrain = 64 }; /* elements of a row of bf16 that are turned at once */
static void sbring_brain(struct sfactor f, int64_t i, int64_t j, int64_t m, int64_t n, float* to, int64_t ld) {
  const bfloat16* const from = (const bfloat16*)selement(f, i, j);
  if (!f.trans) {
    K(swidened)(m, n, EXO_WINDOW2(exo_win_2bf16c, from, f.ld, 1), OUT2(to, ld));
    return;
  }
  float wide[kSquare * kTurnedBrain] __attribute__((aligned(64)));
  for (int64_t c = 0; c < n; c += kSquare)
    for (int64_t r = 0; r < m; r += kTurnedBrain) {
      const int64_t w = exo_least(kSquare, n - c), h = exo_least(kTurnedBrain, m - r);
      K(swidened)(w, h, EXO_WINDOW2(exo_win_2bf16c, from + c * f.ld + r, f.ld, 1), OUT2(wide, kTurnedBrain));
      K(stransposed)(h, w, IN2(wide, kTurnedBrain), OUT2(to + r * ld + c, ld));
    }
}
#endif

/* to[r * ld + c] := element (i + r, j + c) of what is stored, for m rows and n columns. */
static inline void ${p}bring_stored(struct ${p}factor f, int64_t i, int64_t j, int64_t m, int64_t n,
                                    ${real}* to, int64_t ld) {
  if (m <= 0 || n <= 0) return;
#if ${single}
  if (f.brain) {
    sbring_brain(f, i, j, m, n, to, ld);
    return;
  }
#endif
  if (f.trans)
    K(${p}transposed)(m, n, IN2(${p}element(f, i, j), f.ld), OUT2(to, ld));
  else
    K(${p}copied)(m, n, IN2(${p}element(f, i, j), f.ld), OUT2(to, ld));
}

/* A square of a few rows on the diagonal, from one of its triangles: element by element, or turned over as a whole, where
 * what the other triangle holds is moved too and then written over. */
static inline void ${p}bring_square(struct ${p}factor f, int64_t i, int64_t n, ${real}* to, int64_t ld) {
  const struct exo_win_2${T}c a = IN2(f.a + i * f.ld + i, f.ld);
  const bool lower = f.shape == kLowerHalf;
  if (n <= kMirrored) {
    (lower ? K(${p}mirrored_l) : K(${p}mirrored_u))(n, a, OUT2(to, ld));
    return;
  }
  K(${p}transposed)(n, n, a, OUT2(to, ld));
  (lower ? K(${p}half_l) : K(${p}half_u))(n, a, OUT2(to, ld));
}

/* What is above or below the diagonal of a symmetric factor, as a general one. */
static inline struct ${p}factor ${p}side(struct ${p}factor f, bool above) {
  f.trans = f.trans != (f.shape != (above ? kUpperHalf : kLowerHalf));
  f.shape = kGeneral;
  return f;
}

/* The same for any factor. Rows of a symmetric one that the diagonal goes through are taken a few at a
 * time: what is before the square on the diagonal, the square, what is behind it. */
static void ${p}bring(struct ${p}factor f, int64_t i, int64_t j, int64_t m, int64_t n, ${real}* to,
                      int64_t ld) {
  if (f.shape == kGeneral) {
    ${p}bring_stored(f, i, j, m, n, to, ld);
    return;
  }
  const struct ${p}factor upper = ${p}side(f, true), lower = ${p}side(f, false);
  const int64_t from = exo_least(exo_most(i, j), i + m), to_row = exo_most(from, exo_least(i + m, j + n));
  /* Rows before the first diagonal element of these columns are above it, those behind the last below. */
  ${p}bring_stored(upper, i, j, from - i, n, to, ld);
  ${p}bring_stored(lower, to_row, j, i + m - to_row, n, to + (to_row - i) * ld, ld);
  for (int64_t d = from; d < to_row; d += kSquare) {
    const int64_t h = exo_least(kSquare, to_row - d);
    ${real}* const row = to + (d - i) * ld;
    ${p}bring_stored(lower, d, j, h, d - j, row, ld);
    ${p}bring_square(f, d, h, row + d - j, ld);
    ${p}bring_stored(upper, d, d + h, h, j + n - d - h, row + d + h - j, ld);
  }
}

/* n columns of a factor from (i, j) on, m rows of it, as strips that are `apart`. */
static void ${p}bring_strips(struct ${p}factor f, int64_t i, int64_t j, int64_t m, int64_t n, ${real}* to,
                             int64_t apart) {
  int64_t done = 0;
  if (f.shape == kGeneral && !f.trans && !f.brain && n >= kStrip) {
    done = n / kStrip * kStrip;
    K(${p}paneled)(m, n / kStrip, IN2(${p}element(f, i, j), f.ld), OUT2(to, apart));
  }
  for (; done < n; done += kStrip) {
    const int64_t w = exo_least(kStrip, n - done);
    ${real}* const strip = to + done / kStrip * apart;
    if (w < kStrip) memset(strip, 0, m * kStrip * sizeof(${real})); /* kernels compute what is beside it, too */
    ${p}bring(f, i, j + done, m, w, strip, kStrip);
  }
}

/* ---- four elements in registers ---- */

typedef ${real} ${p}four __attribute__((vector_size(4 * sizeof(${real}))));

/* What stands at the four places, or at the first `some` of them; two side by side are moved at once. */
EXO_FEW ${p}four ${p}gather_four(const ${real}* from, int64_t step, int64_t some) {
  ${p}four v = {0};
  if (step == 1 && some == 4) {
    memcpy(&v, from, sizeof v);
  } else if (step == 1 && some >= 2) {
    memcpy(&v, from, sizeof v / 2);
    if (some > 2) v[2] = from[2];
  } else {
    v[0] = from[0];
    for (int64_t c = 1; c < 4; ++c)
      if (c < some) v[c] = from[c * step];
  }
  return v;
}
EXO_FEW void ${p}scatter_four(${p}four v, ${real}* to, int64_t step, int64_t some) {
  if (step == 1 && some == 4) {
    memcpy(to, &v, sizeof v);
  } else if (step == 1 && some >= 2) {
    memcpy(to, &v, sizeof v / 2);
    if (some > 2) to[2] = v[2];
  } else {
    to[0] = v[0];
    for (int64_t c = 1; c < 4; ++c)
      if (c < some) to[c * step] = v[c];
  }
}

/* Four rows of four become columns. */
EXO_FEW void ${p}turn_four(${p}four v[4]) {
  const ${p}four a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6), b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  const ${p}four c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6), d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/* ---- the product ---- */

/* Rows of a tile whose sums with so many columns are formed at once. */
static inline int64_t ${p}rows_of(int64_t columns) {
  return columns == 2 ? ${rows_of_2} : columns == 4 ? ${rows_of_4} : ${rows_of_8};
}

/* w columns of k rows of B, or of B' where that is `across`, come to stand side by side, ${depth} apart; more than two as fours,
 * of which the last ones may be zeros. */
static inline void ${p}columns_beside(bool across, int64_t w, int64_t k, const ${real}* B, int64_t ldb, ${real}* to) {
  int64_t j = 0;
  if (across) {
    for (; j < w; ++j) K(${p}copied)(1, k, IN2(B + j * ldb, ldb), OUT2(to + j * ${depth}, ${depth}));
    for (; w > 2 && j % 4 != 0; ++j) memset(to + j * ${depth}, 0, k * sizeof(${real}));
    return;
  }
  for (; w > 2 && j < w; j += 4) {
    const int64_t some = exo_least(4, w - j);
    int64_t l = 0;
    for (; l + 4 <= k; l += 4) {
      ${p}four v[4];
      for (int64_t r = 0; r < 4; ++r) v[r] = ${p}gather_four(B + (l + r) * ldb + j, 1, some);
      ${p}turn_four(v);
      for (int64_t c = 0; c < 4; ++c) memcpy(to + (j + c) * ${depth} + l, v + c, sizeof *v);
    }
    for (; l < k; ++l)
      for (int64_t c = 0; c < 4; ++c) to[(j + c) * ${depth} + l] = c < some ? B[l * ldb + j + c] : 0;
  }
  for (; j < w; ++j)
    for (int64_t l = 0; l < k; ++l) to[j * ${depth} + l] = B[l * ldb + j];
}

/* C += alpha sums, `fresh` C = alpha sums, for w columns of which `together` stand side by side there: 2, or some fours. */
static inline void ${p}put_sums(bool fresh, int64_t m, int64_t w, int64_t together, ${real} alpha, const ${real}* sums,
                                ${real}* C, int64_t ldc) {
  typedef ${real} two __attribute__((vector_size(2 * sizeof(${real}))));
  for (int64_t i = 0; together == 2 && i < m; ++i) {
    two v, c = {0};
    memcpy(&v, sums + 2 * i, sizeof v);
    if (!fresh) memcpy(&c, C + i * ldc, sizeof c);
    v = fresh ? alpha * v : c + alpha * v;
    memcpy(C + i * ldc, &v, sizeof v);
  }
  for (int64_t j = 0; together > 2 && j < w; j += 4) {
    const int64_t some = exo_least(4, w - j);
    for (int64_t i = 0; i < m; ++i) {
      ${real}* const c = C + i * ldc + j;
      ${p}four v;
      memcpy(&v, sums + i * together + j, sizeof v);
      ${p}scatter_four(fresh ? alpha * v : ${p}gather_four(c, 1, some) + alpha * v, c, 1, some);
    }
  }
}

/* A few columns of C, `fresh` where nothing stands there yet that counts: A's rows times columns of B, which come to where they
 * stand side by side. Sums come onto the stack, some tiles of rows at a time, and from there a row at once. What is no whole
 * tile of rows goes by columns. */
static __attribute__((noinline)) void ${p}columns(bool fresh, bool across, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                                  const ${real}* A, int64_t lda, const ${real}* B,
                                                  int64_t ldb, ${real}* C, int64_t ldc) {
  enum { kSums = 512 };
  ${real} columns[kFewColumns * ${depth}] __attribute__((aligned(64))), sums[kSums] __attribute__((aligned(64)));
  ${p}columns_beside(across, w, k, B, ldb, columns);
  int64_t done = 0;
  if (w > 1) {
    const int64_t together = w <= 2 ? 2 : w <= 4 ? 4 : 8, rows = ${p}rows_of(together), at_once = kSums / together;
    for (const int64_t end = m / rows * rows; done < end; done += at_once) {
      const int64_t h = exo_least(at_once, end - done);
      (together == 2 ? K(${p}gemm_few2) : together == 4 ? K(${p}gemm_few4) : K(${p}gemm_few8))(
          h / rows, k, IN2(A + done * lda, lda), columns, sums);
      ${p}put_sums(fresh, h, w, together, *alpha, sums, C + done * ldc, ldc);
    }
    done = m / rows * rows;
  }
  if (done == m) return;
  A += done * lda, C += done * ldc;
  for (int64_t j = 0; j < w; ++j)
    (fresh ? K(${p}gemm_dots_fresh) : K(${p}gemm_dots))(m - done, k, alpha, IN2(A, lda), IN(columns + j * ${depth}, k, 1),
                                                        EXO_WINDOW(exo_win_1${T}, C + j, ldc));
}

static inline void ${p}strips(bool fresh, bool turned, int64_t m, int64_t n, int64_t k, const ${real}* alpha,
                              const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                              int64_t ldc);

/* h rows and w columns of C += sums, `fresh` C = sums, which stand turned over there, h apart: squares of four. */
static inline void ${p}put_turned(bool fresh, int64_t h, int64_t w, const ${real}* sums, ${real}* C, int64_t ldc) {
  for (int64_t j = 0; j < w; j += 4) {
    const int64_t some = exo_least(4, w - j);
    int64_t r = 0;
    for (; r + 4 <= h; r += 4) {
      ${p}four v[4];
      for (int64_t c = 0; c < 4; ++c) memcpy(v + c, sums + (j + (c < some ? c : 0)) * h + r, sizeof *v);
      ${p}turn_four(v);
      for (int64_t q = 0; q < 4; ++q) {
        ${real}* const c = C + (r + q) * ldc + j;
        ${p}scatter_four(fresh ? v[q] : ${p}gather_four(c, 1, some) + v[q], c, 1, some);
      }
    }
    for (; r < h; ++r)
      for (int64_t c = 0; c < some; ++c) {
        const ${real} sum = sums[(j + c) * h + r];
        C[r * ldc + j + c] = fresh ? sum : C[r * ldc + j + c] + sum;
      }
  }
}

/* The same where A's columns are contiguous: C' += alpha B' A, some rows of C at a time by way of the stack. */
static __attribute__((noinline)) void ${p}columns_turned(bool fresh, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                                         const ${real}* A, int64_t lda, const ${real}* B,
                                                         int64_t ldb, ${real}* C, int64_t ldc) {
  ${real} sums[kFewColumns * kRowsAtOnce] __attribute__((aligned(64))), column[kDeepest];
  const ${real} one = 1;
  for (int64_t i = 0; i < m; i += kRowsAtOnce) {
    const int64_t h = exo_least(kRowsAtOnce, m - i);
    if (w == 1) {
      memset(sums, 0, h * sizeof(${real}));
      for (int64_t l = 0; l < k; ++l) column[l] = *alpha * B[l * ldb];
      K(${p}gemv_t)(k, h, &one, IN2(A + i, lda), IN(column, k, 1), OUT(sums, h, 1));
    } else {
      ${p}strips(true, true, w, h, k, alpha, B, ldb, A + i, lda, sums, h);
    }
    for (int64_t r = 0; w == 1 && r < h; ++r) C[(i + r) * ldc] = fresh ? sums[r] : C[(i + r) * ldc] + sums[r];
    if (w > 1) ${p}put_turned(fresh, h, w, sums, C + i * ldc, ldc);
  }
}

/* Vectors along a few columns would be mostly empty: do sums along k, some steps dearer by the additions in the
 * end, take fewer steps for the last of w columns? One alone reads all of A again: its steps are dearer where that is
 * not in the nearest cache. Where A is turned vectors are along the rows. */
static inline bool ${p}sums_along(bool turned, int64_t m, int64_t w, int64_t k) {
  const int64_t few = w % ${lanes}, step = m * k * (int64_t)sizeof(${real}) > 32768 ? ${far_step} : 1;
  if (few == 0 || few > kFewColumns || k < (few == 1 ? ${least_sum} / 2 : ${least_sum})) return false;
  if (turned) return m >= ${lanes} && few * (k / ${lanes} + 4) * (k < 24 ? 5 : 3) < 4 * k;
  if (few == 1) return step * k / ${lanes} + 8 < k;
  const int64_t together = few <= 2 ? 2 : few <= 4 ? 4 : 8;
  return m >= ${p}rows_of(together) && together * (k / ${lanes} + 6) < k;
}

/* Are a few columns of A B', all there are, sums along the depth? Both factors stand for them as they are. */
static inline bool ${p}columns_across(int64_t m, int64_t n, int64_t k) {
  const int64_t together = n <= 2 ? 2 : n <= 4 ? 4 : 8;
  return (uint64_t)(n - 1) < kFewColumns && k >= (together > 4 ? 2 : 1) * kLeastAcross && k <= kDeepest && m >= ${p}rows_of(together);
}

/* Do the last of w columns, whole vectors and a part of one, go by together? */
static inline bool ${p}parted(int64_t m, int64_t w) { return m >= kTogether && w > ${lanes} && w % ${lanes} != 0; }
static inline bool ${p}together(int64_t m, int64_t w) { return ${p}parted(m, w) && w % kStrip > ${lanes}; }

/* Are sums along the depth better even so? More than two columns are four at least, twice the steps. */
static inline bool ${p}sums_beside(bool turned, int64_t m, int64_t w, int64_t k) {
  const int64_t few = w % ${lanes};
  return ${p}sums_along(turned, m, w, k) &&
         !(k < (few == 1 ? ${least_sum} : few == 2 ? kLeastSums : kLeastSums * 3 / 2) && ${p}together(m, w));
}

typedef void ${p}tiles_of_rows(int64_t, int64_t, int64_t, const ${real}*, struct exo_win_2${T}c, struct exo_win_2${T}c,
                               struct exo_win_2${T});

/* C += alpha A B, `fresh` C = alpha A B, for w columns: tiles of as many rows, `most` of them, as can be alike. */
static inline void ${p}rows_alike(${p}tiles_of_rows* const* by_height, const int64_t most, int64_t m, int64_t w, int64_t k,
                                  const ${real}* alpha, struct exo_win_2${T}c A, const ${real}* B, int64_t ldb, ${real}* C,
                                  int64_t ldc) {
  const int64_t tiles = (m + most - 1) / most, rows = m / tiles, taller = m % tiles, done = taller * (rows + 1);
  const int64_t least = most - kFewerRows;
  if (taller > 0) by_height[rows + 1 - least](taller, w, k, alpha, A, IN2(B, ldb), OUT2(C, ldc));
  A.data += done * A.strides[0];
  by_height[rows - least](tiles - taller, w, k, alpha, A, IN2(B, ldb), OUT2(C + done * ldc, ldc));
}

/* The same as ${p}together tells. */
static __attribute__((noinline)) void ${p}rows_together(bool fresh, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                                        struct exo_win_2${T}c A, const ${real}* B, int64_t ldb, ${real}* C,
                                                        int64_t ldc) {
  static ${p}tiles_of_rows* const kernels[2][2][kFewerRows + 1] = {
      {{K(${p}gemm_partly1_0), K(${p}gemm_partly1_1), K(${p}gemm_partly1_2), K(${p}gemm_partly1_3)},
       {K(${p}gemm_partly2_0), K(${p}gemm_partly2_1), K(${p}gemm_partly2_2), K(${p}gemm_partly2_3)}},
      {{K(${p}gemm_partly1_0_fresh), K(${p}gemm_partly1_1_fresh), K(${p}gemm_partly1_2_fresh), K(${p}gemm_partly1_3_fresh)},
       {K(${p}gemm_partly2_0_fresh), K(${p}gemm_partly2_1_fresh), K(${p}gemm_partly2_2_fresh), K(${p}gemm_partly2_3_fresh)}}};
  ${p}rows_alike(kernels[fresh][w > kStrip - ${lanes}], kAlike, m, w, k, alpha, A, B, ldb, C, ldc);
}

/* The same for up to a vector of columns and rows that are one tile, up to four more than of several vectors. One column is
 * a sum along the depth where that takes fewer steps. */
static inline bool ${p}one_tile(bool turned, int64_t m, int64_t w, int64_t k) {
  return w <= ${lanes} && (uint64_t)(m - (kAlike - kFewerRows)) <= 2 * kFewerRows + 1 &&
         (w > 1 || !${p}sums_along(turned, m, w, k));
}
typedef void ${p}rows_of_tile(int64_t, int64_t, const ${real}*, struct exo_win_2${T}c, struct exo_win_2${T}c,
                              struct exo_win_2${T});
static inline void ${p}tile_of_rows(bool fresh, int64_t m, int64_t w, int64_t k, const ${real}* alpha, struct exo_win_2${T}c A,
                                    const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  static ${p}rows_of_tile* const kernels[2][2 * (kFewerRows + 1)] = {
      {K(${p}gemm_partly0_0), K(${p}gemm_partly0_1), K(${p}gemm_partly0_2), K(${p}gemm_partly0_3), K(${p}gemm_partly4_0),
       K(${p}gemm_partly4_1), K(${p}gemm_partly4_2), K(${p}gemm_partly4_3)},
      {K(${p}gemm_partly0_0_fresh), K(${p}gemm_partly0_1_fresh), K(${p}gemm_partly0_2_fresh), K(${p}gemm_partly0_3_fresh),
       K(${p}gemm_partly4_0_fresh), K(${p}gemm_partly4_1_fresh), K(${p}gemm_partly4_2_fresh), K(${p}gemm_partly4_3_fresh)}};
  kernels[fresh][m - (kAlike - kFewerRows)](w, k, alpha, A, IN2(B, ldb), OUT2(C, ldc));
}

/* The same for as many vectors as kBroad columns have. */
static __attribute__((noinline)) void ${p}rows_broad(bool fresh, bool turned, int64_t m, int64_t w, int64_t k,
                                                     const ${real}* alpha, const ${real}* A, int64_t lda, const ${real}* B,
                                                     int64_t ldb, ${real}* C, int64_t ldc) {
  static ${p}tiles_of_rows* const kernels[2][kFewerRows + 1] = {
      {K(${p}gemm_partly3_0), K(${p}gemm_partly3_1), K(${p}gemm_partly3_2), K(${p}gemm_partly3_3)},
      {K(${p}gemm_partly3_0_fresh), K(${p}gemm_partly3_1_fresh), K(${p}gemm_partly3_2_fresh), K(${p}gemm_partly3_3_fresh)}};
  ${p}rows_alike(kernels[fresh], kAlikeBroad, m, w, k, alpha, EXO_WINDOW2(exo_win_2${T}c, A, turned ? 1 : lda, turned ? lda : 1),
                 B, ldb, C, ldc);
}

/* C += alpha A B, `fresh` C = alpha A B, for a strip of w columns, k at most kDeepest, by a kernel whose vectors are along the
 * columns; A is turned when its columns are contiguous. */
static inline void ${p}rows_and_strip(bool fresh, bool turned, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                      const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                                      int64_t ldc) {
  const struct exo_win_2${T}c a = EXO_WINDOW2(exo_win_2${T}c, A, turned ? 1 : lda, turned ? lda : 1);
  if (w == kStrip)
    (fresh ? turned ? K(${p}gemm_strip_turned_fresh) : K(${p}gemm_strip_fresh)
           : turned ? K(${p}gemm_strip_turned) : K(${p}gemm_strip))(m, k, alpha, a, IN2(B, ldb), OUT2(C, ldc));
  else
    (fresh ? turned ? K(${p}gemm_rest_turned_fresh) : K(${p}gemm_rest_fresh)
           : turned ? K(${p}gemm_rest_turned) : K(${p}gemm_rest))(m, w, k, alpha, a, IN2(B, ldb), OUT2(C, ldc));
}

/* The same, a part of a vector together with the whole ones before it. Where rows are few, as on a diagonal, the question alone
 * takes longer than it saves. */
static inline void ${p}rows_and_end(bool fresh, bool turned, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                    const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  if (${p}together(m, w))
    ${p}rows_together(fresh, m, w, k, alpha, EXO_WINDOW2(exo_win_2${T}c, A, turned ? 1 : lda, turned ? lda : 1), B, ldb, C, ldc);
  else
    ${p}rows_and_strip(fresh, turned, m, w, k, alpha, A, lda, B, ldb, C, ldc);
}

/* C += alpha A B for a strip; its last columns are sums along the depth where these take fewer steps. */
static inline void ${p}strip(bool turned, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                             const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                             int64_t ldc) {
  if (${p}sums_along(turned, m, w, k)) {
    const int64_t few = w % ${lanes};
    w -= few;
    if (turned)
      ${p}columns_turned(false, m, few, k, alpha, A, lda, B + w, ldb, C + w, ldc);
    else
      ${p}columns(false, false, m, few, k, alpha, A, lda, B + w, ldb, C + w, ldc);
    if (w == 0) return;
  }
  ${p}rows_and_strip(false, turned, m, w, k, alpha, A, lda, B, ldb, C, ldc);
}

/* C = alpha A B for a strip: what stands in C does not count. */
static inline void ${p}fresh_strip(bool turned, int64_t m, int64_t w, int64_t k, const ${real}* alpha,
                                   const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                                   int64_t ldc) {
  if (${p}sums_along(turned, m, w, k)) {
    const int64_t few = w % ${lanes};
    w -= few;
    if (w > 0) ${p}rows_and_strip(true, turned, m, w, k, alpha, A, lda, B, ldb, C, ldc);
    if (turned)
      ${p}columns_turned(true, m, few, k, alpha, A, lda, B + w, ldb, C + w, ldc);
    else
      ${p}columns(true, false, m, few, k, alpha, A, lda, B + w, ldb, C + w, ldc);
  } else {
    ${p}rows_and_strip(true, turned, m, w, k, alpha, A, lda, B, ldb, C, ldc);
  }
}

/* C += alpha A B, `fresh` C = alpha A B, for any number of columns. The last vectors, one more than a strip has, go by together;
 * four of them else as two and two: of a strip and one alone that one waits for its own sums. */
static inline void ${p}few_strips(bool fresh, bool turned, int64_t m, int64_t n, int64_t k, const ${real}* alpha,
                                  const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                                  int64_t ldc) {
  for (int64_t j = 0, w; j < n; j += w) {
    if (n - j == kBroad && m >= kBroadRows) {
      ${p}rows_broad(fresh, turned, m, kBroad, k, alpha, A, lda, B + j, ldb, C + j, ldc);
      return;
    }
    w = n - j == 4 * ${lanes} ? 2 * ${lanes} : exo_least(kStrip, n - j);
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, w, k, alpha, A, lda, B + j, ldb, C + j, ldc);
  }
}

/* The same where the last vector is a part of one, for rows enough that it goes by together with the one before. */
static __attribute__((noinline)) void ${p}strips_together(bool fresh, bool turned, int64_t m, int64_t n, int64_t k,
                                                          const ${real}* alpha, const ${real}* A, int64_t lda,
                                                          const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  for (int64_t j = 0, w; j < n; j += w) {
    const int64_t rest = n - j, two = 2 * ${lanes};
    if (rest > kStrip && rest < kBroad + ${lanes}) { /* so many vectors, the last one a part, or some columns beside them */
      const bool sums = ${p}sums_beside(turned, m, rest, k);
      if (m >= kBroadRows && sums == rest > kBroad) {
        w = exo_least(rest, kBroad);
        ${p}rows_broad(fresh, turned, m, w, k, alpha, A, lda, B + j, ldb, C + j, ldc);
        continue;
      }
      if (rest < 2 * two && ${p}together(m, rest - two) && !sums) {
        w = two;
        ${p}rows_and_end(fresh, turned, m, w, k, alpha, A, lda, B + j, ldb, C + j, ldc);
        continue;
      }
    }
    w = exo_least(kStrip, rest);
    if (${p}sums_beside(turned, m, w, k))
      (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, w, k, alpha, A, lda, B + j, ldb, C + j, ldc);
    else
      ${p}rows_and_end(fresh, turned, m, w, k, alpha, A, lda, B + j, ldb, C + j, ldc);
  }
}

static inline void ${p}strips(bool fresh, bool turned, int64_t m, int64_t n, int64_t k, const ${real}* alpha,
                              const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                              int64_t ldc) {
  (${p}parted(m, n) ? ${p}strips_together : ${p}few_strips)(fresh, turned, m, n, k, alpha, A, lda, B, ldb, C, ldc);
}

/* C += alpha A B, `fresh` C = alpha A B, for strips that stand side by side in a far cache: each is asked for while the first
 * tile of rows goes by the one before it. Returns the columns that are done: the last whole strip has none beside it. */
static int64_t ${p}strips_ahead(bool fresh, int64_t m, int64_t n, int64_t k, const ${real}* alpha, const ${real}* A,
                                int64_t lda, const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  const int64_t first = exo_least(exo_alike(m, kTile, 1), m);
  int64_t j = 0;
  for (; j + 2 * kStrip <= n; j += kStrip) {
    (fresh ? K(${p}gemm_ahead_fresh) : K(${p}gemm_ahead))(first, k, alpha, IN2(A, lda), IN2(B + j, ldb), OUT2(C + j, ldc));
    if (first < m)
      ${p}rows_and_strip(fresh, false, m - first, kStrip, k, alpha, A + first * lda, lda, B + j, ldb, C + first * ldc + j, ldc);
  }
  return j;
}

/* C += alpha A B, `fresh` C = alpha A B, for n columns in strips that are `apart`: `rows` rows with all strips, then the next
 * ones. Columns whose sums are formed along the depth go by in the end. */
static inline void ${p}rows_and_strips(bool fresh, bool turned, int64_t rows, int64_t m, int64_t n, int64_t k,
                                       const ${real}* alpha, const ${real}* A, int64_t lda, const ${real}* strips,
                                       int64_t apart, int64_t ldb, ${real}* C, int64_t ldc) {
  const bool all = rows >= m; /* C is asked for meanwhile where it is so large that it goes by a few rows at a time */
  const bool sums = (all ? ${p}sums_beside : ${p}sums_along)(turned, m, n, k);
  const int64_t few = sums ? n % ${lanes} : 0, w = n - few;
  for (int64_t i = 0; i < m; i += rows)
    for (int64_t j = 0; j < w; j += kStrip)
      (all ? ${p}rows_and_end : ${p}rows_and_strip)(fresh, turned, exo_least(rows, m - i), exo_least(kStrip, w - j), k, alpha,
                                                    A + i * (turned ? 1 : lda), lda, strips + j / kStrip * apart, ldb,
                                                    C + i * ldc + j, ldc);
  if (few > 0)
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, few, k, alpha, A, lda, strips + w / kStrip * apart + w % kStrip, ldb,
                                          C + w, ldc);
}

/* What of a result is computed: all of it, or a triangle. `fresh` beside it: nothing that counts stands there yet. */
enum exo_part { kWhole, kUpperPart, kLowerPart };

/* C +=, `fresh` =, the upper or lower triangle of n rows and columns. */
static inline void ${p}put_triangle(bool fresh, bool lower, int64_t n, const ${real}* from, int64_t ld, ${real}* C,
                                    int64_t ldc) {
  if (fresh)
    (lower ? K(${p}half_l) : K(${p}half_u))(n, IN2(from, ld), OUT2(C, ldc));
  else
    (lower ? K(${p}added_l) : K(${p}added_u))(n, IN2(from, ld), OUT2(C, ldc));
}

/* Rows [i, i + h) of the square block of C whose diagonal begins at its first element: the triangle
 * by way of the stack, what is beside it in these rows as it stands. Pointers are to the block's rows and
 * columns. */
static void ${p}on_diagonal(bool fresh, bool lower, bool turned, int64_t n, int64_t k, const ${real}* alpha,
                            const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real}* C,
                            int64_t ldc) {
  const int64_t step = turned ? 1 : lda;
  for (int64_t d = 0; d < n; d += kSquare) {
    const int64_t h = exo_least(kSquare, n - d);
    const ${real}* const a = A + d * step;
    ${real}* const c = C + d * ldc;
    if (lower && d > 0) ${p}few_strips(fresh, turned, h, d, k, alpha, a, lda, B, ldb, c, ldc);
    if (!lower && d + h < n)
      ${p}few_strips(fresh, turned, h, n - d - h, k, alpha, a, lda, B + d + h, ldb, c + d + h, ldc);
    ${real} square[kSquare * kSquare] __attribute__((aligned(64)));
    ${p}few_strips(true, turned, h, h, k, alpha, a, lda, B + d, ldb, square, kSquare);
    ${p}put_triangle(fresh, lower, h, square, kSquare, c + d, ldc);
  }
}

/* The same for rows [i, i + m) and columns [j, j + w) of C, of which only a part is there; A has
 * these rows. */
static inline void ${p}part_of_strip(bool fresh, enum exo_part part, bool turned, int64_t i, int64_t m, int64_t j,
                                     int64_t w, int64_t k, const ${real}* alpha, const ${real}* A,
                                     int64_t lda, const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  if (part == kWhole) {
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, w, k, alpha, A, lda, B, ldb, C + i * ldc + j, ldc);
    return;
  }
  const int64_t step = turned ? 1 : lda;
  const bool lower = part == kLowerPart;
  /* Rows that are there with all these columns, and those that the diagonal goes through. */
  const int64_t from = lower ? exo_most(i, j + w) : i, to = lower ? i + m : exo_least(i + m, j);
  if (from < to)
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, to - from, w, k, alpha, A + (from - i) * step, lda, B, ldb,
                                          C + from * ldc + j, ldc);
  const int64_t top = exo_most(i, j), end = exo_least(i + m, j + w);
  if (top >= end) return;
  const ${real}* const a = A + (top - i) * step;
  if (lower && top > j) /* columns before the diagonal in all of its rows */
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, end - top, top - j, k, alpha, a, lda, B, ldb, C + top * ldc + j, ldc);
  if (!lower && end < j + w)
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, end - top, j + w - end, k, alpha, a, lda, B + end - j, ldb,
                                          C + top * ldc + end, ldc);
  ${p}on_diagonal(fresh, lower, turned, end - top, k, alpha, a, lda, B + top - j, ldb, C + top * ldc + top, ldc);
}

/* ---- packed factors ---- */

/* m rows of a factor from (i, j) on, d columns of it, as tiles: what the rows of a tile have in a column stands together.
 * Of a symmetric one the columns before and behind the diagonal of all these rows are brought at once, then those of each
 * tile, and the squares between them element by element. */
static void ${p}bring_tiles(struct ${p}factor f, int64_t i, int64_t j, int64_t m, int64_t d, ${real}* to) {
  if (m <= 0 || d <= 0) return;
  if (f.brain) {
    f.trans = !f.trans;
    for (int64_t r = 0; r < m; r += kTile) ${p}bring(f, j, i + r, d, exo_least(kTile, m - r), to + r / kTile * kTileSize, kTile);
    return;
  }
  if (f.shape == kGeneral) {
    (f.trans ? K(${p}tiled_turned) : K(${p}tiled))(m, d, IN2(${p}element(f, i, j), f.ld), to);
    return;
  }
  const struct ${p}factor upper = ${p}side(f, true), lower = ${p}side(f, false);
  const int64_t before = exo_least(exo_most(i - j, 0), d), behind = exo_least(exo_most(i + m - j, 0), d);
  ${p}bring_tiles(lower, i, j, m, before, to);
  ${p}bring_tiles(upper, i, j + behind, m, d - behind, to + behind * kTile);
  for (int64_t r = 0; r < m; r += kTile) {
    const int64_t h = exo_least(kTile, m - r), row = i + r;
    const int64_t from = exo_least(exo_most(row - j, before), behind), end = exo_least(exo_most(row + h - j, before), behind);
    ${real}* const tile = to + r / kTile * kTileSize;
    ${p}bring_tiles(lower, row, j + before, h, from - before, tile + before * kTile);
    ${p}bring_tiles(upper, row, j + end, h, behind - end, tile + end * kTile);
    for (int64_t c = from; c < end; ++c)
      for (int64_t q = 0; q < h; ++q) tile[c * kTile + q] = *${p}element(row + q < j + c ? upper : lower, row + q, j + c);
  }
}

/* C += alpha A B for m rows of tiles and the whole vectors, fewer than a strip has, of w columns. */
static inline void ${p}tiles_and_vectors(int64_t m, int64_t w, int64_t k, const ${real}* alpha, const ${real}* tiles,
                                         const ${real}* strip, ${real}* C, int64_t ldc) {
  (w == ${lanes} ? K(${p}gemm_packed_narrow1) : K(${p}gemm_packed_narrow2))(m, k, alpha, tiles, strip, OUT2(C, ldc));
}

/* C += alpha A B, `fresh` C = alpha A B, for m rows of tiles and w columns of a strip: some rows at a time by way of the stack
 * where those are fewer than the kernel takes, in as many vectors as they need. */
static void ${p}tiles_and_strip(bool fresh, int64_t m, int64_t w, int64_t k, const ${real}* alpha, const ${real}* tiles,
                                const ${real}* strip, ${real}* C, int64_t ldc) {
  if (w == kStrip) {
    (fresh ? K(${p}gemm_packed_fresh) : K(${p}gemm_packed))(m, k, alpha, tiles, strip, OUT2(C, ldc));
    return;
  }
  const int64_t whole = ${p}whole(w);
  if (w == whole && !fresh) {
    ${p}tiles_and_vectors(m, w, k, alpha, tiles, strip, C, ldc);
    return;
  }
  ${real} sums[kSomeRows * kStrip] __attribute__((aligned(64)));
  const ${real} one = 1;
  for (int64_t i = 0; i < m; i += kSomeRows) {
    const int64_t h = exo_least(kSomeRows, m - i);
    const ${real}* const rows = tiles + i / kTile * kTileSize;
    if (whole == kStrip) {
      K(${p}gemm_packed_fresh)(h, k, alpha, rows, strip, OUT2(sums, kStrip));
    } else {
      memset(sums, 0, h * whole * sizeof(${real}));
      ${p}tiles_and_vectors(h, whole, k, alpha, rows, strip, sums, whole);
    }
    if (fresh)
      K(${p}copied)(h, w, IN2(sums, whole), OUT2(C + i * ldc, ldc));
    else
      for (int64_t r = 0; r < h; ++r)
        K(${p}axpy)(w, &one, IN(sums + r * whole, w, 1), OUT(C + (i + r) * ldc, w, 1));
  }
}

/* The same for n columns in strips that are `apart`: a tile after the other with kNear of them, or all rows with each. */
static inline void ${p}tiles_and_strips(bool fresh, int64_t m, int64_t n, int64_t k, const ${real}* alpha,
                                        const ${real}* tiles, const ${real}* strips, int64_t apart, ${real}* C, int64_t ldc) {
  const int64_t rows = kNear > 1 ? kTile : m, whole = n / kStrip * kStrip, near = kNear * kStrip;
  for (int64_t j0 = 0; j0 < whole; j0 += near)
    for (int64_t i = 0; i < m; i += rows)
      for (int64_t j = j0; j < exo_least(j0 + near, whole); j += kStrip)
        ${p}tiles_and_strip(fresh, exo_least(rows, m - i), kStrip, k, alpha, tiles + i / kTile * kTileSize,
                            strips + j / kStrip * apart, C + i * ldc + j, ldc);
  if (whole < n)
    ${p}tiles_and_strip(fresh, m, n - whole, k, alpha, tiles, strips + whole / kStrip * apart, C + whole, ldc);
}

/* Rows [i, i + m) and columns [j, j + w) of C, of which only a part may be there, for tiles of these rows of A. Where A stands
 * somewhere too, what is no whole strip or no whole tile is computed from there, lda rows or columns apart. */
static inline void ${p}part_of_tiles(bool fresh, enum exo_part part, int64_t i, int64_t m, int64_t j, int64_t w, int64_t k,
                                     const ${real}* alpha, const ${real}* tiles, const ${real}* A, bool turned,
                                     int64_t lda, const ${real}* strip, ${real}* C, int64_t ldc) {
  if (part == kWhole) {
    ${real}* const c = C + i * ldc + j;
    if (w == kStrip || !A || !${p}sums_along(turned, m, w, k))
      ${p}tiles_and_strip(fresh, m, w, k, alpha, tiles, strip, c, ldc);
    else
      (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, w, k, alpha, A, lda, strip, kStrip, c, ldc);
    return;
  }
  /* Whole tiles behind the diagonal or, of an upper part, before it. */
  const bool lower = part == kLowerPart;
  const int64_t there = lower ? exo_least(m, (exo_most(j + w - i, 0) + kTile - 1) / kTile * kTile)
                              : exo_most(0, exo_least(j - i, m)) / kTile * kTile;
  const int64_t first = lower ? there : 0, rows = lower ? m - there : there;
  if (rows > 0)
    ${p}part_of_tiles(fresh, kWhole, i + first, rows, j, w, k, alpha, tiles + first / kTile * kTileSize,
                      A + first * (turned ? 1 : lda), turned, lda, strip, C, ldc);
  const int64_t rest = lower ? 0 : there;
  if (rows < m)
    ${p}part_of_strip(fresh, part, turned, i + rest, m - rows, j, w, k, alpha, A + rest * (turned ? 1 : lda), lda, strip, kStrip,
                      C, ldc);
}

/* Bytes: the largest power of two that rows which are ld apart are a multiple of. */
static inline int64_t ${p}shared(int64_t ld) {
  const int64_t apart = ld * (int64_t)sizeof(${real});
  return apart & -apart;
}

/* Do `rows` of a second factor that are ld apart and read one below the other share so few lines of a nearest cache of 32 KB in
 * 8 ways that it cannot hold them? They meet again after 4 KB; those that are an odd number of lines apart share none. */
static inline bool ${p}crowded(int64_t ld, int64_t rows) {
  const int64_t shared = ${p}shared(ld);
  return shared > ${meet_b} && rows * exo_least(shared, 4096) > 8 * 4096;
}

/* Rows that go by at once of a second factor that stands in a far cache, ld apart, and is read by m rows of the first. A strip
 * of rows that do not begin with a line lies in twice as many lines of the nearest cache. Where rows share lines in a second
 * cache it holds so many of them; further tiles read them again. */
static inline int64_t ${p}ahead_depth(int64_t m, int64_t ld) {
  const int64_t shared = ${p}shared(ld), depth = shared < 64 ? kAheadDepth / 2 / kStep * kStep : kAheadDepth;
  return m <= kTile ? depth : exo_least(depth, exo_most(kAheadHeld / shared / kStep * kStep, 8 * kStep));
}

/* Is a transposed first factor so large that its columns, of which each step reads a few elements, come from far every time?
 * Packed in tiles they are read once for all columns of the result. */
static inline bool ${p}large_turned(int64_t m, int64_t n, int64_t k) {
  return m * k > kMostTurned && m > kFewRows && n > 2 * kStrip && k > 64;
}

/* C += alpha A B for m rows of A and n columns of B from these on, or only a part of square C. Strips of B are packed unless few
 * rows use them (fewer where many columns stand far apart); rows of A are where the kernel for packed ones takes
 * both, or where they are transposed, symmetric, or would share cache lines.
 * Workspace: at most kDepth kWidth + kDeepest kHeight elements and some padding (triangles take kDepth kDeepest more). */
static __attribute__((noinline)) void ${p}multiply_from(bool all_fresh, enum exo_part part, int64_t m, int64_t n,
                                                        int64_t k, ${real} alpha, struct ${p}factor A,
                                                        int64_t first_row, struct ${p}factor B,
                                                        int64_t first_column, ${real}* C, int64_t ldc) {
  if (k == 0 || alpha == 0) return;
  const bool plain_b = !B.trans && B.shape == kGeneral && !B.brain;
  /* What is read once, column by column. */
  const bool columns = A.shape == kGeneral && !A.brain && !A.trans && n <= kFewColumns && ${p}sums_along(false, m, n, k);
  const bool far = m <= kFarRows && k * n > kFar;
  const bool ahead = !far && plain_b && A.shape == kGeneral && k * n > kAhead && n >= 2 * kStrip;
  const bool pack_b = !plain_b || (!columns && (m > (n > kManyColumns ? ahead ? kAheadRows : kFewRows : kMostPlain) ||
                                       (ahead ? m > 2 * ${tile_rows} && ${p}shared(B.ld) > kAheadShared
                                              : m > ${tile_rows} && ${p}crowded(B.ld, k)) ||
                                       (A.trans && ${p}large_turned(m, n, k))));
  const bool pack_a = A.shape != kGeneral || A.brain || (A.trans && n > 2 * kStrip && k > 64) ||
                      (pack_b && m > kFewRows && n > kTiledColumns && k > kShallow / 2) ||
                      (n > kStrip && ${p}shared(A.ld) > ${meet_a});
  const bool tiles = pack_a && pack_b && m > kFewRows, turned = A.trans && (tiles || !pack_a);
  /* Rows that are not packed go a few at a time by as much of the second factor as a second cache holds. */
  const bool near = kNear > 1 && pack_b && !pack_a && exo_most(m, n) > kNearLeast;
  int64_t deepest = kDepth;
  if (near) {
    const int64_t room_for = kNear * kDepth / ((n + kStrip - 1) / kStrip) / kStep * kStep;
    deepest = exo_least(exo_most(room_for, kDepth), kDeepest);
  }
  /* Pieces alike: a last one of a few steps would cost a way through all of C, one of a few rows one
   * through all of the second factor. */
  const int64_t depth = exo_alike(k, pack_b ? deepest : far ? kFarDepth : ahead ? ${p}ahead_depth(m, B.ld) : kPlainDepth, kStep);
  const int64_t width = exo_alike(n, near ? exo_least(kNear * kDepth / depth * kStrip, kWidth) : kWidth, kStrip);
  /* Columns beside the strips read the first factor's rows again: no more of these at a time than a second cache holds. */
  const bool all_rows = near && part == kWhole && !${p}sums_along(turned, m, n, depth);
  const int64_t height = all_rows ? m : exo_alike(m, k <= kShallow && m * n > kShallowLeast ? kShallowHeight : kHeight, ${tile_rows});
  const int64_t strips = (width + kStrip - 1) / kStrip;
  ${real} few[2048] __attribute__((aligned(64)));
  const int64_t need_b = pack_b ? strips * depth * kStrip : 0;
  const int64_t rows = exo_least(m, height);
  const int64_t need_a = !pack_a ? 0 : tiles ? (rows + kTile - 1) / kTile * kTileSize : rows * kPitch;
  ${real}* const room = (need_a + need_b) * sizeof(${real}) <= sizeof few
                            ? few
                            : exo_workspace((need_a + need_b) * sizeof(${real}));
  ${real}* const packed_a = room + need_b;
  for (int64_t k0 = 0; k0 < k; k0 += depth) {
    const int64_t d = exo_least(depth, k - k0);
    const bool fresh = all_fresh && k0 == 0;
    for (int64_t j0 = 0; j0 < n; j0 += width) {
      const int64_t end = exo_least(j0 + width, n);
      if (pack_b) ${p}bring_strips(B, k0, first_column + j0, d, end - j0, room, depth * kStrip);
      for (int64_t i = 0; i < m; i += height) {
        const int64_t h = exo_least(height, m - i);
        if (part == kLowerPart && i + h <= j0) continue;
        if (part == kUpperPart && i >= end) break;
        /* Columns that are there in all these rows; strips beside them are there in some. */
        const int64_t behind = j0 + exo_most(0, i + h - j0 + kStrip - 1) / kStrip * kStrip;
        const int64_t before = j0 + exo_most(0, i - j0) / kStrip * kStrip;
        const int64_t first = part == kUpperPart ? exo_least(behind, end) : j0;
        const int64_t last = part == kLowerPart && i < end ? before : end;
        const int64_t from = first > j0 ? j0 : last, to = first > j0 ? first : end;
        if (tiles) {
          ${p}bring_tiles(A, first_row + i, k0, h, d, packed_a);
          const ${real}* const a = A.shape == kGeneral && !A.brain ? ${p}element(A, first_row + i, k0) : NULL;
          const int64_t whole = (last - first) / kStrip * kStrip;
          ${p}tiles_and_strips(fresh, h, whole, d, &alpha, packed_a, room + (first - j0) * depth, depth * kStrip,
                               C + i * ldc + first, ldc);
          if (first + whole < last)
            ${p}part_of_tiles(fresh, part, i, h, first + whole, last - first - whole, d, &alpha, packed_a, a, turned, A.ld,
                              room + (first + whole - j0) * depth, C, ldc);
          for (int64_t j = from; j < to; j += kStrip)
            ${p}part_of_tiles(fresh, part, i, h, j, exo_least(kStrip, to - j), d, &alpha, packed_a, a, turned, A.ld,
                              room + (j - j0) * depth, C, ldc);
          continue;
        }
        if (pack_a) ${p}bring(A, first_row + i, k0, h, d, packed_a, kPitch);
        const ${real}* a = pack_a ? packed_a : ${p}element(A, first_row + i, k0);
        const int64_t lda = pack_a ? kPitch : A.ld;
        const ${real}* const b = pack_b ? room : ${p}element(B, k0, first_column + j0);
        const int64_t ldb = pack_b ? kStrip : B.ld, next = pack_b ? depth : 1; /* strips are kStrip * next apart */
        const bool stays = k <= kShallow && m * n <= 2 * kFar; /* C, in a second cache: a strip need not be left for its sake */
        const int64_t together = near && n >= kStrip ? (stays ? 12 : 1) * kNearRows : h;
        const int64_t begun = first + (!ahead || pack_b || turned ? 0
                                       : ${p}strips_ahead(fresh, h, last - first, d, &alpha, a, lda, b + (first - j0),
                                                          ldb, C + i * ldc + first, ldc));
        ${p}rows_and_strips(fresh, turned, together, h, last - begun, d, &alpha, a, lda, b + (begun - j0) * next,
                            next * kStrip, ldb, C + i * ldc + begun, ldc);
        for (int64_t j = from; j < to; j += kStrip)
          ${p}part_of_strip(fresh, part, turned, i, h, j, exo_least(kStrip, to - j), d, &alpha, a, lda, b + (j - j0) * next,
                           ldb, C, ldc);
      }
    }
  }
}

/* The same for at most kSmall rows and columns: factors that do not stand as kernels take them come onto
 * the stack. */
static __attribute__((noinline)) void ${p}multiply_small(bool fresh, int64_t m, int64_t n, int64_t k, ${real} alpha,
                                                         struct ${p}factor A, struct ${p}factor B,
                                                         ${real}* C, int64_t ldc) {
  ${real} a[kSmall * kSmall] __attribute__((aligned(64))), b[kSmall * kSmall] __attribute__((aligned(64)));
  if (A.shape != kGeneral) {
    ${p}bring_square(A, 0, m, a, kSmall);
    A = (struct ${p}factor){a, kSmall, false, kGeneral, false};
  }
  if (B.trans || B.shape != kGeneral) {
    if (B.shape != kGeneral)
      ${p}bring_square(B, 0, n, b, kSmall);
    else
      ${p}bring_stored(B, 0, 0, k, n, b, kSmall);
    B = (struct ${p}factor){b, kSmall, false, kGeneral, false};
  }
  ${p}strips(fresh, A.trans, m, n, k, &alpha, A.a, A.ld, B.a, B.ld, C, ldc);
}

/* A triangle of at most kSquare rows and columns: C += alpha A B, `twice` alpha (A B + (A B)'), k at most
 * kSmall. All of the product comes into a square on the stack, whose rows are whole vectors. */
static __attribute__((noinline)) void ${p}multiply_square(bool fresh, bool lower, bool twice, int64_t n, int64_t k,
                                                          ${real} alpha, struct ${p}factor A,
                                                          struct ${p}factor B, ${real}* C, int64_t ldc) {
  ${real} square[kSquare * kSquare] __attribute__((aligned(64)));
  ${real} b[kSmall * kSquare] __attribute__((aligned(64)));
  if (n < ${p}whole(n)) memset(b, 0, k * kSquare * sizeof(${real}));
  ${p}bring(B, 0, 0, k, n, b, kSquare);
  ${p}strips(true, A.trans, n, ${p}whole(n), k, &alpha, A.a, A.ld, b, kSquare, square, kSquare);
  ${p}put_triangle(fresh, lower, n, square, kSquare, C, ldc);
  if (!twice) return;
  K(${p}transposed)(n, n, IN2(square, kSquare), OUT2(b, kSquare));
  ${p}put_triangle(false, lower, n, b, kSquare, C, ldc);
}

/* Small products of matrices as they stand need no panels. */
static inline bool ${p}needs_no_panels(int64_t m, int64_t n, int64_t k, bool transa, int64_t ldb) {
  return m <= kMostPlain && n <= kMostPlain && k <= kPlainDepth && !(m > ${tile_rows} && ${p}crowded(ldb, k)) &&
         !(transa && ${p}large_turned(m, n, k));
}
static inline bool ${p}goes_as_it_stands(enum exo_part part, int64_t m, int64_t n, int64_t k, struct ${p}factor A,
                                         struct ${p}factor B) {
  return part == kWhole && A.shape == kGeneral && B.shape == kGeneral && !B.trans &&
         ${p}needs_no_panels(m, n, k, A.trans, B.ld);
}

/* A triangle of a few more: all of the product as well. */
static void ${p}multiply(bool fresh, enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha, struct ${p}factor A,
                         struct ${p}factor B, ${real}* C, int64_t ldc);
static __attribute__((noinline)) void ${p}multiply_whole(bool fresh, bool lower, int64_t n, int64_t k, ${real} alpha,
                                                         struct ${p}factor A, struct ${p}factor B, ${real}* C,
                                                         int64_t ldc) {
  ${real} sums[kAll * kAll] __attribute__((aligned(64)));
  ${p}multiply(true, kWhole, n, n, k, alpha, A, B, sums, kAll);
  ${p}put_triangle(fresh, lower, n, sums, kAll, C, ldc);
}

/* The same for any sides. */
static void ${p}multiply(bool fresh, enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha,
                                struct ${p}factor A, struct ${p}factor B, ${real}* C, int64_t ldc) {
  if (m == 0 || n == 0 || k == 0 || alpha == 0) return;
  if (A.brain) {
    ${p}multiply_from(fresh, part, m, n, k, alpha, A, 0, B, 0, C, ldc);
    return;
  }
  if (${p}goes_as_it_stands(part, m, n, k, A, B)) {
    ${p}strips(fresh, A.trans, m, n, k, &alpha, A.a, A.ld, B.a, B.ld, C, ldc);
  } else if (part == kWhole && m <= kSmall && n <= kSmall && k <= kSmall) {
    ${p}multiply_small(fresh, m, n, k, alpha, A, B, C, ldc);
  } else if (part != kWhole && n <= kSquare && k <= kSmall) {
    ${p}multiply_square(fresh, part == kLowerPart, false, n, k, alpha, A, B, C, ldc);
  } else if (part != kWhole && n <= kAll && k <= kTwice) {
    ${p}multiply_whole(fresh, part == kLowerPart, n, k, alpha, A, B, C, ldc);
  } else {
    ${p}multiply_from(fresh, part, m, n, k, alpha, A, 0, B, 0, C, ldc);
  }
}

/* C := beta C, or a part of it; 0 clears whatever is there. */
static __attribute__((noinline)) void ${p}scale_matrix(enum exo_part part, int64_t m, int64_t n,
                                                       ${real} beta, ${real}* C, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    const int64_t from = part == kUpperPart ? i : 0, to = part == kLowerPart ? i + 1 : n;
    ${real}* row = C + i * ldc + from;
    if (beta != 0 && from < to)
      K(${p}scal)(to - from, &beta, OUT(row, to - from, 1));
    else
      for (int64_t j = 0; j < to - from; ++j) row[j] = 0;
  }
}

static inline void ${p}scaled_matrix(enum exo_part part, int64_t m, int64_t n, ${real} beta, ${real}* C,
                                     int64_t ldc) {
  if (beta != 1) ${p}scale_matrix(part, m, n, beta, C, ldc);
}

/* C := beta C where alpha A B is added to it then. Or does that overwrite what stands there? Clearing it first would write C
 * and read it once more. */
static inline bool ${p}prepared(enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha, ${real} beta, ${real}* C,
                                int64_t ldc) {
  if (beta == 0 && alpha != 0 && k > 0) return true;
  ${p}scaled_matrix(part, m, n, beta, C, ldc);
  return false;
}

/* ---- shares of threads ---- */

/* A product that threads divide: C := alpha A B + beta C, or a part of it. */
struct ${p}product {
  enum exo_part part;
  int64_t m, n, k;
  ${real} alpha, beta;
  struct ${p}factor A, B;
  ${real}* C;
  int64_t ldc;
};

/* The product's rows [i, i + m) and columns [j, j + n), `part` of them. */
static void ${p}compute(const struct ${p}product* p, enum exo_part part, int64_t i, int64_t m, int64_t j,
                        int64_t n) {
  if (m <= 0 || n <= 0) return;
  struct ${p}factor A = p->A, B = p->B;
  ${real}* const C = p->C + i * p->ldc + j;
  const bool fresh = ${p}prepared(part, m, n, p->k, p->alpha, p->beta, C, p->ldc);
  if (A.shape == kGeneral && B.shape == kGeneral) {
    A.a = ${p}element(A, i, 0);
    B.a = ${p}element(B, 0, j);
    ${p}multiply(fresh, part, m, n, p->k, p->alpha, A, B, C, p->ldc);
  } else if (A.shape == kGeneral) { /* columns of a symmetric factor have no address of their own */
    A.a = ${p}element(A, i, 0);
    ${p}multiply_from(fresh, part, m, n, p->k, p->alpha, A, 0, B, j, C, p->ldc);
  } else {
    B.a = ${p}element(B, 0, j);
    ${p}multiply_from(fresh, part, m, n, p->k, p->alpha, A, i, B, 0, C, p->ldc);
  }
}

/* Whole products: the longer side of C; columns, too, where rows of the first factor go as they stand and the second one is
 * packed, which each thread would do with all of it. Triangles: rows, so many that their parts are equally large. */
static void ${p}share_of_product(const void* job, int64_t k, int64_t of) {
  const struct ${p}product* const p = job;
  const bool packed = kNear > 1 && p->A.shape == kGeneral && !p->A.trans && !p->A.brain &&
                      p->n >= exo_most(p->m / 2, 2 * of * kStrip) &&
                      (p->m > kMostPlain || p->B.trans || p->B.shape != kGeneral);
  if (p->part == kWhole && p->m >= p->n && !packed) {
    const int64_t i = exo_begin(p->m, 2 * ${tile_rows}, k, of), end = exo_begin(p->m, 2 * ${tile_rows}, k + 1, of);
    ${p}compute(p, kWhole, i, end - i, 0, p->n);
  } else if (p->part == kWhole) {
    const int64_t step = packed ? ${lanes} : kStrip, j = exo_begin(p->n, step, k, of), end = exo_begin(p->n, step, k + 1, of);
    ${p}compute(p, kWhole, 0, p->m, j, end - j);
  } else {
    const bool lower = p->part == kLowerPart;
    const double from = sqrt((double)(lower ? k : of - k) / (double)of);
    const double to = sqrt((double)(lower ? k + 1 : of - k - 1) / (double)of);
    const int64_t i = (int64_t)(p->n * (lower ? from : 1 - from));
    const int64_t end = k + 1 == of ? p->n : (int64_t)(p->n * (lower ? to : 1 - to));
    ${p}compute(p, p->part, i, end - i, i, end - i);
    ${p}compute(p, kWhole, i, end - i, lower ? 0 : end, lower ? i : p->n - end);
  }
}

/* Multiplications that a thread should have at least. */
#ifndef EXO_LEAST_PRODUCT
#define EXO_LEAST_PRODUCT ${least_product}
#endif

static void ${p}multiply_scaled(enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha,
                                struct ${p}factor A, struct ${p}factor B, ${real} beta, ${real}* C,
                                int64_t ldc) {
  const int64_t threads = m * n * k < 2 * EXO_LEAST_PRODUCT ? 1 : exo_team_size(m * n * k, EXO_LEAST_PRODUCT);
  if (threads == 1) {
    const bool fresh = ${p}prepared(part, m, n, k, alpha, beta, C, ldc);
    ${p}multiply(fresh, part, m, n, k, alpha, A, B, C, ldc);
    return;
  }
  const struct ${p}product job = {part, m, n, k, alpha, beta, A, B, C, ldc};
  exo_team(threads, ${p}share_of_product, &job);
}

EXO_OTHERS void ${p}gemm_panels(bool transa, bool transb, int64_t m, int64_t n, int64_t k, ${real} alpha,
                                const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta, ${real}* C,
                                int64_t ldc) {
  const struct ${p}factor a = {A, lda, transa, kGeneral, false}, b = {B, ldb, transb, kGeneral, false};
  ${p}multiply_scaled(kWhole, m, n, k, alpha, a, b, beta, C, ldc);
}

/* Small products go straight to the kernels: a factor that is described in memory and read back is a good part
 * of their time. */
EXO_OTHERS void ${p}gemm_rows(bool transa, bool transb, int64_t m, int64_t n, int64_t k, ${real} alpha,
                              const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta, ${real}* C,
                              int64_t ldc) {
  if (!transa && transb && ${p}columns_across(m, n, k) && alpha != 0 && m * n * k < 2 * EXO_LEAST_PRODUCT) {
    if (beta != 0) ${p}scaled_matrix(kWhole, m, n, beta, C, ldc);
    ${p}columns(beta == 0, true, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  } else if (transb || m == 0 || n == 0 || k == 0 || alpha == 0 || !${p}needs_no_panels(m, n, k, transa, ldb) ||
      m * n * k >= 2 * EXO_LEAST_PRODUCT) {
    ${p}gemm_panels(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  } else if (beta == 0) {
    ${p}strips(true, transa, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  } else {
    ${p}scaled_matrix(kWhole, m, n, beta, C, ldc);
    ${p}strips(false, transa, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  }
}
EXO_STRAIGHT void ${p}gemm_others(bool row, bool transa, bool transb, int64_t m, int64_t n, int64_t k,
                                  ${real} alpha, const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb,
                                  ${real} beta, ${real}* C, int64_t ldc) {
  if (row)
    ${p}gemm_rows(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  else
    ${p}gemm_rows(transb, transa, n, m, k, alpha, B, ldb, A, lda, beta, C, ldc);
}

/* Products of at most `most` rows, columns and steps stand in the entry points: what is set up for others
 * takes longer than they do. Is this one, with something to be done? */
static inline bool exo_is_tiny(int64_t m, int64_t n, int64_t k, uint64_t most) {
  return (uint64_t)(m - 1) < most && (uint64_t)(n - 1) < most && (uint64_t)(k - 1) < most;
}
static inline bool exo_is_tiny_part(int64_t n, int64_t k, uint64_t most) {
  return (uint64_t)(n - 1) < most && (uint64_t)(k - 1) < most;
}
static inline struct exo_win_2${T}c ${p}as_it_stands(const ${real}* a, int64_t ld, bool trans) {
  return EXO_WINDOW2(exo_win_2${T}c, a, trans ? 1 : ld, trans ? ld : 1);
}

/* Of at most kFewest rows, columns and steps, by hand: a kernel would ask how many there are first, and compilers
 * make vectors of loops, whose registers the entry point would save for every call.
 * C := alpha A B + beta C, the part of C that is told; what beta = 0 leaves out is not read. */
enum { kFewest = 2 };
EXO_FEW void ${p}put(${real} value, ${real} beta, ${real}* c) { *c = beta == 0 ? value : value + beta * *c; }
EXO_FEW void ${p}few_products(enum exo_part part, int64_t m, int64_t n, int64_t k, ${real} alpha,
                              struct exo_win_2${T}c a, struct exo_win_2${T}c b, ${real} beta, ${real}* C,
                              int64_t ldc) {
  const ${real} *x = a.data, *const y = b.data, *const z = y + b.strides[1];
  const int64_t along = a.strides[1], down = b.strides[0];
  const bool two = k > 1;
  ${real} x0 = x[0], x1 = two ? x[along] : 0;
  const ${real} y0 = y[0], y1 = two ? y[down] : 0, z0 = n > 1 ? z[0] : 0, z1 = n > 1 && two ? z[down] : 0;
  ${p}put(alpha * (x0 * y0 + x1 * y1), beta, C);
  if (n > 1 && part != kLowerPart) ${p}put(alpha * (x0 * z0 + x1 * z1), beta, C + 1);
  if (m == 1) return;
  x += a.strides[0], C += ldc;
  x0 = x[0], x1 = two ? x[along] : 0;
  if (part != kUpperPart) ${p}put(alpha * (x0 * y0 + x1 * y1), beta, C);
  if (n > 1) ${p}put(alpha * (x0 * z0 + x1 * z1), beta, C + 1);
}

/* ---- a few rows and columns, four at a time, in registers ---- */

/* Lanes [first, end) of a row of C become beta times what stands there and v; what beta = 0 leaves out is not read. */
EXO_FEW void ${p}put_row(${p}four v, ${real} beta, int64_t first, int64_t end, ${real}* c) {
  if (first == 0) {
    if (beta != 0) v += beta * ${p}gather_four(c, 1, end);
    ${p}scatter_four(v, c, 1, end);
    return;
  }
  for (int64_t j = 1; j < 4; ++j)
    if (j >= first && j < end) c[j] = beta == 0 ? v[j] : v[j] + beta * c[j];
}

/* Columns [j, j + some) of k rows of B: from where they stand side by side, or turned over. */
EXO_FEW void ${p}columns_as_fours(struct exo_win_2${T}c B, int64_t j, int64_t some, int64_t k, ${p}four* to) {
  const int64_t down = B.strides[0], along = B.strides[1];
  const ${real}* const from = B.data + j * along;
  int64_t l = 0;
  if (along != 1 && down == 1)
    for (; l + 4 <= k; l += 4) {
      for (int64_t r = 0; r < 4; ++r) memcpy(to + l + r, from + l + (r < some ? r : 0) * along, sizeof *to);
      ${p}turn_four(to + l);
    }
  for (; l < k; ++l) to[l] = ${p}gather_four(from + l * down, along, some);
}

/* Sums of four rows of A, the last one again where there are fewer, with as many columns of B. */
EXO_FEW void ${p}add_fours(struct exo_win_2${T}c A, int64_t i, int64_t rows, int64_t k, const ${p}four* b, ${p}four* sums) {
  const int64_t down = A.strides[0], along = A.strides[1];
  const ${real}* const a0 = A.data + i * down;
  const ${real} *const a1 = a0 + (rows > 1 ? down : 0), *const a2 = rows > 2 ? a0 + 2 * down : a1,
                      *const a3 = rows > 3 ? a0 + 3 * down : a1;
  ${p}four s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  for (int64_t l = 0; l < k; ++l) {
    s0 += a0[l * along] * b[l], s1 += a1[l * along] * b[l];
    s2 += a2[l * along] * b[l], s3 += a3[l * along] * b[l];
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* C := alpha A B + beta C, `twice` alpha (A B + A2 B2) + beta C, or a triangle of it, by squares of four; k at most kMostSteps. */
enum { kMostSteps = 16 };
_Static_assert(kTiny <= kMostSteps && kTinyTurned <= kMostSteps && kTinyPart <= kMostSteps && kTinyMirrored <= kMostSteps,
               "columns of a product stand on the stack");
EXO_FEW void ${p}square_by_square(enum exo_part part, bool twice, int64_t m, int64_t n, int64_t k, ${real} alpha,
                                  struct exo_win_2${T}c A, struct exo_win_2${T}c B, struct exo_win_2${T}c A2,
                                  struct exo_win_2${T}c B2, ${real} beta, ${real}* C, int64_t ldc) {
  for (int64_t j = 0; j < n; j += 4) {
    const int64_t columns = exo_least(4, n - j);
    ${p}four b[kMostSteps], b2[kMostSteps];
    ${p}columns_as_fours(B, j, columns, k, b);
    if (twice) ${p}columns_as_fours(B2, j, columns, k, b2);
    const int64_t top = part == kLowerPart ? j : 0, bottom = part == kUpperPart ? exo_least(j + 4, m) : m;
    for (int64_t i = top; i < bottom; i += 4) {
      const int64_t rows = exo_least(4, m - i);
      ${p}four sums[4] = {{0}, {0}, {0}, {0}};
      ${p}add_fours(A, i, rows, k, b, sums);
      if (twice) ${p}add_fours(A2, i, rows, k, b2, sums);
      for (int64_t r = 0; r < 4; ++r) {
        if (r >= rows) break;
        const bool diagonal = part != kWhole && i == j;
        ${p}put_row(alpha * sums[r], beta, diagonal && part == kUpperPart ? r : 0,
                    diagonal && part == kLowerPart ? exo_least(r + 1, columns) : columns, C + (i + r) * ldc + j);
      }
    }
  }
}

EXO_VECTORS void ${p}gemm_some(bool row, bool transa, bool transb, int64_t m, int64_t n, int64_t k,
                                ${real} alpha, const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb,
                                ${real} beta, ${real}* C, int64_t ldc) {
  if (exo_is_tiny(m, n, k, (row ? transb : transa) ? kTinyTurned : kTiny) && alpha != 0) {
    const struct exo_win_2${T}c a = ${p}as_it_stands(A, lda, transa), b = ${p}as_it_stands(B, ldb, transb);
    const struct exo_win_2${T}c first = row ? a : b, second = row ? b : a;
    ${p}square_by_square(kWhole, false, row ? m : n, row ? n : m, k, alpha, first, second, first, second, beta, C, ldc);
    return;
  }
  const int64_t rows = row ? m : n, columns = row ? n : m;
  if (!exo_is_tiny(rows, 1, k, kSlim) || (uint64_t)(columns - 1) >= kStrip || (row ? transb : transa) || alpha == 0) {
    ${p}gemm_others(row, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  if (beta != 0) ${p}scaled_matrix(kWhole, rows, columns, beta, C, ldc);
  if (${p}one_tile(row ? transa : transb, rows, columns, k))
    ${p}tile_of_rows(beta == 0, rows, columns, k, &alpha, ${p}as_it_stands(row ? A : B, row ? lda : ldb, row ? transa : transb),
                     row ? B : A, row ? ldb : lda, C, ldc);
  else if (columns < 2 * ${lanes} && ${p}together(rows, columns)) /* of three vectors the way there takes longer */
    ${p}strips_together(beta == 0, row ? transa : transb, rows, columns, k, &alpha, row ? A : B, row ? lda : ldb, row ? B : A,
                        row ? ldb : lda, C, ldc);
  else if (!${p}sums_along(row ? transa : transb, rows, columns, k))
    ${p}rows_and_strip(beta == 0, row ? transa : transb, rows, columns, k, &alpha, row ? A : B, row ? lda : ldb, row ? B : A,
                       row ? ldb : lda, C, ldc);
  else
    (beta == 0 ? ${p}fresh_strip : ${p}strip)(row ? transa : transb, rows, columns, k, &alpha, row ? A : B, row ? lda : ldb,
                                              row ? B : A, row ? ldb : lda, C, ldc);
}
/* Products of so few rows, columns and steps, which are added to what stands there or overwrite it, are asked for before
 * anything else is, by what stands in registers. */
EXO_FEW bool ${p}gemm_at_once_if(bool row, bool transa, bool transb, CBLAS_INT m, CBLAS_INT n, CBLAS_INT k) {
  return (uint32_t)((row ? m : n) - 1) < kAtOnce && (uint32_t)((row ? n : m) - 1) < kBroad && (uint32_t)(k - 1) < kAtOnce &&
         !(row ? transb : transa);
}
EXO_OTHERS void ${p}strips_at_once(bool turned, int64_t m, int64_t n, int64_t k, ${real} alpha, const ${real}* A, int64_t lda,
                                   const ${real}* B, int64_t ldb, bool fresh, ${real}* C, int64_t ldc) {
  if (n == kBroad && m >= kBroadRows)
    ${p}rows_broad(fresh, turned, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  else if (n > kStrip)
    ${p}strips(fresh, turned, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  else if (${p}sums_beside(turned, m, n, k))
    (fresh ? ${p}fresh_strip : ${p}strip)(turned, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
  else
    ${p}rows_and_end(fresh, turned, m, n, k, &alpha, A, lda, B, ldb, C, ldc);
}
#define EXO_ROWS(rows, kernel)                                                        \
  case rows:                                                                         \
    if (fresh)                                                                       \
      H(${p}gemm_partly##kernel##_fresh)(n, k, &alpha, a, IN2(B, ldb), OUT2(C, ldc)); \
    else                                                                             \
      H(${p}gemm_partly##kernel)(n, k, &alpha, a, IN2(B, ldb), OUT2(C, ldc));         \
    break;
EXO_FEW void ${p}tile_at_once(bool fresh, int64_t m, int64_t n, int64_t k, ${real} alpha, struct exo_win_2${T}c a,
                              const ${real}* B, int64_t ldb, ${real}* C, int64_t ldc) {
  switch (m) {
    EXO_ROWS(1, 5_0)
    EXO_ROWS(2, 5_1)
#if ${alike_rows} > 6
    EXO_ROWS(3, 5_2)
    EXO_ROWS(4, 5_3)
#endif
    EXO_ROWS(${alike_rows} - 3, 0_0)
    EXO_ROWS(${alike_rows} - 2, 0_1)
    EXO_ROWS(${alike_rows} - 1, 0_2)
    EXO_ROWS(${alike_rows}, 0_3)
    EXO_ROWS(${alike_rows} + 1, 4_0)
    EXO_ROWS(${alike_rows} + 2, 4_1)
    EXO_ROWS(${alike_rows} + 3, 4_2)
    EXO_ROWS(${alike_rows} + 4, 4_3)
  }
}
/* Two of them: a function of its own, since the loop has more to keep than one tile has. */
EXO_VECTORS void ${p}tiles_at_once(bool turned, int64_t m, int64_t n, int64_t k, ${real} alpha, const ${real}* A, int64_t lda,
                                   const ${real}* B, int64_t ldb, bool fresh, ${real}* C, int64_t ldc) {
  const int64_t rows = (m + 1) / 2;
  for (int64_t i = 0; i < m; i += rows)
    ${p}tile_at_once(fresh, exo_least(rows, m - i), n, k, alpha, ${p}as_it_stands(A + i * (turned ? 1 : lda), lda, turned), B, ldb,
                     C + i * ldc, ldc);
}
#undef EXO_ROWS
/* Is it done? Not where an argument is wrong. */
EXO_HERE bool ${p}gemm_at_once(bool right, bool row, bool transa, bool transb, CBLAS_INT m, CBLAS_INT n, CBLAS_INT k,
                               ${real} alpha, const ${real}* A, CBLAS_INT lda, const ${real}* B, CBLAS_INT ldb, ${real} beta,
                               ${real}* C, CBLAS_INT ldc) {
  const bool turned = row ? transa : transb;
  const CBLAS_INT rows = row ? m : n, columns = row ? n : m, ld = row ? lda : ldb, ld2 = row ? ldb : lda;
  if (!right || ld < (turned ? rows : k) || ld2 < columns || ldc < columns || exo_zero(alpha) ||
      !(exo_zero(beta) || exo_same(beta, (${real})1)))
    return false;
  const ${real} *const first = row ? A : B, *const second = row ? B : A;
  const bool fresh = exo_zero(beta);
  if (rows <= kFewest && columns <= kFewest && k <= kFewest) {
    ${p}few_products(kWhole, rows, columns, k, alpha, ${p}as_it_stands(first, ld, turned), IN2(second, ld2), beta, C, ldc);
  } else if (rows <= 2 * kTallest && columns <= ${lanes} && (columns > 1 || k <= kFewest) &&
             !(k >= ${least_sum} && ${p}sums_along(turned, rows, columns, k))) {
    if (rows <= kTallest)
      ${p}tile_at_once(fresh, rows, columns, k, alpha, ${p}as_it_stands(first, ld, turned), second, ld2, C, ldc);
    else
      ${p}tiles_at_once(turned, rows, columns, k, alpha, first, ld, second, ld2, fresh, C, ldc);
  } else if (${p}needs_no_panels(rows, columns, k, turned, ld2)) {
    ${p}strips_at_once(turned, rows, columns, k, alpha, first, ld, second, ld2, fresh, C, ldc);
  } else {
    return false;
  }
  return true;
}

EXO_FEW void ${p}gemm_body(bool row, bool transa, bool transb, int64_t m, int64_t n, int64_t k, ${real} alpha,
                           const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta, ${real}* C,
                           int64_t ldc) {
  if (!exo_is_tiny(m, n, k, kFewest) || alpha == 0) {
    ${p}gemm_some(row, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  const struct exo_win_2${T}c a = ${p}as_it_stands(A, lda, transa), b = ${p}as_it_stands(B, ldb, transb);
  ${p}few_products(kWhole, row ? m : n, row ? n : m, k, alpha, row ? a : b, row ? b : a, beta, C, ldc);
}

#if ${single}
static void sbgemm_body(bool row, bool transa, bool transb, int64_t m, int64_t n, int64_t k, float alpha,
                        const bfloat16* A, int64_t lda, const bfloat16* B, int64_t ldb, float beta, float* C,
                        int64_t ldc) {
  const struct sfactor a = {(const float*)A, lda, transa, kGeneral, true};
  const struct sfactor b = {(const float*)B, ldb, transb, kGeneral, true};
  if (row)
    smultiply_scaled(kWhole, m, n, k, alpha, a, b, beta, C, ldc);
  else
    smultiply_scaled(kWhole, n, m, k, alpha, b, a, beta, C, ldc);
}
#endif

EXO_OTHERS void ${p}symm_others(bool row, bool right, bool upper, int64_t m, int64_t n, ${real} alpha,
                                const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                                ${real}* C, int64_t ldc) {
  if (!row) {
    const int64_t t = m;
    m = n, n = t, right = !right, upper = !upper;
  }
  const struct ${p}factor a = {A, lda, false, upper ? kUpperHalf : kLowerHalf, false};
  const struct ${p}factor b = {B, ldb, false, kGeneral, false};
  if (right)
    ${p}multiply_scaled(kWhole, m, n, n, alpha, b, a, beta, C, ldc);
  else
    ${p}multiply_scaled(kWhole, m, n, m, alpha, a, b, beta, C, ldc);
}

EXO_VECTORS void ${p}symm_some(bool row, bool right, bool upper, int64_t m, int64_t n, ${real} alpha,
                                const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                                ${real}* C, int64_t ldc) {
  if (!exo_is_tiny(m, n, 1, kTinyMirrored) || alpha == 0) {
    ${p}symm_others(row, right, upper, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  /* In column-major order it is the transposed problem. */
  const int64_t rows = row ? m : n, columns = row ? n : m;
  const bool behind = right == row;
  const int64_t size = behind ? columns : rows;
  ${real} whole[kTinyMirrored * kTinyMirrored];
  const bool lower = upper != row;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j)
      whole[i * kTinyMirrored + j] = whole[j * kTinyMirrored + i] = lower ? A[i * lda + j] : A[j * lda + i];
  const struct exo_win_2${T}c a = IN2(whole, kTinyMirrored), b = IN2(B, ldb);
  const struct exo_win_2${T}c first = behind ? b : a, second = behind ? a : b;
  ${p}square_by_square(kWhole, false, rows, columns, size, alpha, first, second, first, second, beta, C, ldc);
}
EXO_FEW void ${p}symm_body(bool row, bool right, bool upper, int64_t m, int64_t n, ${real} alpha, const ${real}* A,
                           int64_t lda, const ${real}* B, int64_t ldb, ${real} beta, ${real}* C, int64_t ldc) {
  if (!exo_is_tiny(m, n, 1, kFewest) || alpha == 0) {
    ${p}symm_some(row, right, upper, m, n, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  const int64_t rows = row ? m : n, columns = row ? n : m;
  const bool behind = right == row;
  const int64_t size = behind ? columns : rows;
  ${real} whole[kFewest * kFewest] = {A[0]};
  if (size == 2) {
    whole[1] = whole[2] = upper != row ? A[lda] : A[1];
    whole[3] = A[lda + 1];
  }
  const struct exo_win_2${T}c a = IN2(whole, kFewest), b = IN2(B, ldb);
  ${p}few_products(kWhole, rows, columns, size, alpha, behind ? b : a, behind ? a : b, beta, C, ldc);
}

EXO_OTHERS void ${p}syrk_others(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                                const ${real}* A, int64_t lda, ${real} beta, ${real}* C, int64_t ldc) {
  const enum exo_part part = upper == row ? kUpperPart : kLowerPart;
  const struct ${p}factor a = {A, lda, trans == row, kGeneral, false}, b = {A, lda, trans != row, kGeneral, false};
  ${p}multiply_scaled(part, n, n, k, alpha, a, b, beta, C, ldc);
}

EXO_VECTORS void ${p}syrk_some(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                                const ${real}* A, int64_t lda, ${real} beta, ${real}* C, int64_t ldc) {
  if (!exo_is_tiny_part(n, k, kTinyPart) || alpha == 0) {
    ${p}syrk_others(row, upper, trans, n, k, alpha, A, lda, beta, C, ldc);
    return;
  }
  const bool lower = upper != row, t = trans == row;
  const struct exo_win_2${T}c a = ${p}as_it_stands(A, lda, t), b = ${p}as_it_stands(A, lda, !t);
  if (lower)
    ${p}square_by_square(kLowerPart, false, n, n, k, alpha, a, b, a, b, beta, C, ldc);
  else
    ${p}square_by_square(kUpperPart, false, n, n, k, alpha, a, b, a, b, beta, C, ldc);
}
EXO_FEW void ${p}syrk_body(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha, const ${real}* A,
                           int64_t lda, ${real} beta, ${real}* C, int64_t ldc) {
  if (!exo_is_tiny_part(n, k, kFewest) || alpha == 0) {
    ${p}syrk_some(row, upper, trans, n, k, alpha, A, lda, beta, C, ldc);
    return;
  }
  const bool t = trans == row;
  ${p}few_products(upper != row ? kLowerPart : kUpperPart, n, n, k, alpha, ${p}as_it_stands(A, lda, t),
                   ${p}as_it_stands(A, lda, !t), beta, C, ldc);
}

/* The triangle of C += alpha (A B + (A B)'), n at most kTwice: one product, added as it is and turned over. */
static __attribute__((noinline)) void ${p}multiply_turned_too(bool fresh, bool lower, int64_t n, int64_t k, ${real} alpha,
                                                              struct ${p}factor A, struct ${p}factor B,
                                                              ${real}* C, int64_t ldc) {
  ${real} sums[kTwice * kTwice] __attribute__((aligned(64))), turned[kTwice * kTwice] __attribute__((aligned(64)));
  const int64_t whole = ${p}whole(n);
  ${p}multiply(true, kWhole, n, n, k, alpha, A, B, sums, whole);
  K(${p}transposed)(n, n, IN2(sums, whole), OUT2(turned, whole));
  ${p}put_triangle(fresh, lower, n, sums, whole, C, ldc);
  ${p}put_triangle(false, lower, n, turned, whole, C, ldc);
}

/* The same for more rows: halves, and the rectangle between them as two products, A B and B' A'. */
static void ${p}multiply_twice(bool fresh, bool lower, int64_t n, int64_t k, ${real} alpha, struct ${p}factor A,
                               struct ${p}factor B, ${real}* C, int64_t ldc) {
  if (n <= kTwice) {
    ${p}multiply_turned_too(fresh, lower, n, k, alpha, A, B, C, ldc);
    return;
  }
  const int64_t half = ${p}whole(n / 2);
  struct ${p}factor A2 = A, B2 = B;
  A2.a = ${p}element(A, half, 0), B2.a = ${p}element(B, 0, half);
  const struct ${p}factor At = {A.a, A.ld, !A.trans, kGeneral, false}, Bt = {B.a, B.ld, !B.trans, kGeneral, false};
  const struct ${p}factor A2t = {A2.a, A2.ld, !A2.trans, kGeneral, false}, B2t = {B2.a, B2.ld, !B2.trans, kGeneral, false};
  ${p}multiply_twice(fresh, lower, half, k, alpha, A, B, C, ldc);
  ${p}multiply_twice(fresh, lower, n - half, k, alpha, A2, B2, C + half * ldc + half, ldc);
  if (lower) {
    ${p}multiply(fresh, kWhole, n - half, half, k, alpha, A2, B, C + half * ldc, ldc);
    ${p}multiply(false, kWhole, n - half, half, k, alpha, B2t, At, C + half * ldc, ldc);
  } else {
    ${p}multiply(fresh, kWhole, half, n - half, k, alpha, A, B2, C + half, ldc);
    ${p}multiply(false, kWhole, half, n - half, k, alpha, Bt, A2t, C + half, ldc);
  }
}

EXO_OTHERS void ${p}syr2k_others(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                                 const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                                 ${real}* C, int64_t ldc) {
  const enum exo_part part = upper == row ? kUpperPart : kLowerPart;
  const bool t = trans == row;
  const struct ${p}factor a = {A, lda, t, kGeneral, false}, b = {B, ldb, !t, kGeneral, false};
  if (n <= kMostTwice && (n * n * k < 2 * EXO_LEAST_PRODUCT || exo_team_size(n * n * k, EXO_LEAST_PRODUCT) == 1)) {
    const bool fresh = ${p}prepared(part, n, n, k, alpha, beta, C, ldc);
    if (n == 0 || k == 0 || alpha == 0) return;
    if (n <= kSquare && k <= kSmall)
      ${p}multiply_square(fresh, part == kLowerPart, true, n, k, alpha, a, b, C, ldc);
    else
      ${p}multiply_twice(fresh, part == kLowerPart, n, k, alpha, a, b, C, ldc);
    return;
  }
  ${p}multiply_scaled(part, n, n, k, alpha, a, b, beta, C, ldc);
  ${p}multiply_scaled(part, n, n, k, alpha, (struct ${p}factor){B, ldb, t, kGeneral, false},
                      (struct ${p}factor){A, lda, !t, kGeneral, false}, 1, C, ldc);
}

EXO_VECTORS void ${p}syr2k_some(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha,
                                 const ${real}* A, int64_t lda, const ${real}* B, int64_t ldb, ${real} beta,
                                 ${real}* C, int64_t ldc) {
  if (!exo_is_tiny_part(n, k, kTinyPart) || alpha == 0) {
    ${p}syr2k_others(row, upper, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  const bool lower = upper != row, t = trans == row;
  const struct exo_win_2${T}c a = ${p}as_it_stands(A, lda, t), a_turned = ${p}as_it_stands(A, lda, !t);
  const struct exo_win_2${T}c b = ${p}as_it_stands(B, ldb, t), b_turned = ${p}as_it_stands(B, ldb, !t);
  if (lower)
    ${p}square_by_square(kLowerPart, true, n, n, k, alpha, a, b_turned, b, a_turned, beta, C, ldc);
  else
    ${p}square_by_square(kUpperPart, true, n, n, k, alpha, a, b_turned, b, a_turned, beta, C, ldc);
}
EXO_FEW void ${p}syr2k_body(bool row, bool upper, bool trans, int64_t n, int64_t k, ${real} alpha, const ${real}* A,
                            int64_t lda, const ${real}* B, int64_t ldb, ${real} beta, ${real}* C, int64_t ldc) {
  if (!exo_is_tiny_part(n, k, kFewest) || alpha == 0) {
    ${p}syr2k_some(row, upper, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    return;
  }
  const bool t = trans == row;
  const enum exo_part part = upper != row ? kLowerPart : kUpperPart;
  ${p}few_products(part, n, n, k, alpha, ${p}as_it_stands(A, lda, t), ${p}as_it_stands(B, ldb, !t), beta, C, ldc);
  ${p}few_products(part, n, n, k, alpha, ${p}as_it_stands(B, ldb, t), ${p}as_it_stands(A, lda, !t), 1, C, ldc);
}

/* ---- triangles ---- */

typedef void ${p}small_triangle(int64_t, int64_t, struct exo_win_2${T}c, struct exo_win_2${T});

/* What is done with a triangle: multiply by it, or solve with it. `finite`: B is known to be, so that zeros beside a triangle
 * may be multiplied, too. */
struct ${p}task {
  bool solve, unit, finite;
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

static inline struct exo_win_2${T}c ${p}any(const ${real}* a, struct ${p}factor A) {
  return EXO_WINDOW2(exo_win_2${T}c, a, A.trans ? 1 : A.ld, A.trans ? A.ld : 1);
}

typedef void ${p}row_blocks(int64_t, int64_t, int64_t, struct exo_win_1${T}c, struct exo_win_2${T}c,
                            struct exo_win_2${T});

static ${p}row_blocks* ${p}blocks_for(struct ${p}task task, bool lower, int64_t vectors) {
  static ${p}row_blocks* const kernels[2][2][3] = {
      {{K(${p}trmm_rows_u1), K(${p}trmm_rows_u2), K(${p}trmm_rows_u3)},
       {K(${p}trmm_rows_l1), K(${p}trmm_rows_l2), K(${p}trmm_rows_l3)}},
      {{K(${p}trsm_rows_u1), K(${p}trsm_rows_u2), K(${p}trsm_rows_u3)},
       {K(${p}trsm_rows_l1), K(${p}trsm_rows_l2), K(${p}trsm_rows_l3)}}};
  return kernels[task.solve][lower][vectors - 1];
}

/* The triangle's diagonal as the kernels take it: ones, or what is divided by as factors. */
static void ${p}bring_diagonal(struct ${p}task task, struct ${p}factor A, int64_t m, ${real}* diagonal) {
  for (int64_t i = 0; i < m; ++i) diagonal[i] = task.unit ? 1 : A.a[i * (A.ld + 1)];
  if (task.solve)
    for (int64_t i = 0; i < m; ++i) diagonal[i] = 1 / diagonal[i];
}

/* A triangle applied to up to three vectors of columns, w, by blocks of kCorner rows; rows that are no whole block have a
 * kernel of their own. */
static void ${p}apply_in_place(struct ${p}task task, bool lower, struct ${p}factor A, const ${real}* diagonal, int64_t m,
                               int64_t w, ${real}* b, int64_t ld) {
  const int64_t blocks = m / kCorner, h = m % kCorner, i = lower ? 0 : m - h;
  const struct exo_win_2${T}c corner = ${p}any(${p}element(A, i, i), A);
  ${p}small_triangle* const few_rows = ${p}kernel_for(task, lower);
  if (task.solve && h > 0) few_rows(h, w, corner, OUT2(b + i * ld, ld));
  if (blocks > 0)
    ${p}blocks_for(task, lower, (w + ${lanes} - 1) / ${lanes})(m, w, blocks, IN(diagonal, m, 1), ${p}any(A.a, A),
                                                              OUT2(b, ld));
  if (!task.solve && h > 0) few_rows(h, w, corner, OUT2(b + i * ld, ld));
}

/* How many of n columns go by at once: up to three vectors, but two and two of four, since one alone waits for its own sums. */
static inline int64_t ${p}some_columns(int64_t n) {
  return n > kColumns && n <= 4 * ${lanes} ? 2 * ${lanes} : exo_least(kColumns, n);
}

/* The same for a triangle of a few rows and any number of columns. Those whose rows share lines of a cache come onto the
 * stack meanwhile. */
static __attribute__((noinline)) void ${p}small_left(struct ${p}task task, bool lower, struct ${p}factor A,
                                                     int64_t m, int64_t n, ${real}* B, int64_t ldb) {
  ${real} strip[kTriangle * kColumns] __attribute__((aligned(64)));
  ${real} diagonal[kTriangle];
  ${p}bring_diagonal(task, A, m, diagonal);
  const bool packed = ${p}crowded(ldb, m);
  ${real}* b = packed ? strip : B;
  const int64_t ld = packed ? kColumns : ldb;
  for (int64_t j = 0, w; j < n; j += w, b += packed ? 0 : w) {
    w = ${p}some_columns(n - j);
    if (packed) K(${p}copied)(m, w, IN2(B + j, ldb), OUT2(strip, kColumns));
    ${p}apply_in_place(task, lower, A, diagonal, m, w, b, ld);
    if (packed) K(${p}copied)(m, w, IN2(strip, kColumns), OUT2(B + j, ldb));
  }
}

/* Of a square of n rows on the diagonal, whose rows are `apart` and columns `step`, what is not part of the triangle becomes
 * zeros, and the diagonal ones where it is not read. */
static void ${p}make_triangle(bool unit, bool lower, int64_t n, ${real}* square, int64_t apart, int64_t step) {
  for (int64_t r = 0; r < n; ++r) {
    if (unit) square[r * (apart + step)] = 1;
    for (int64_t c = lower ? r + 1 : 0; c < (lower ? n : r); ++c) square[r * apart + c * step] = 0;
  }
}

/* C = A T for m rows of A and the strip of a triangle of n rows whose diagonal begins in row j. A whole strip goes by its vectors
 * of columns where the triangle has them: few zeros are multiplied. */
static void ${p}corner_of_triangle(bool lower, int64_t m, int64_t n, int64_t j, const ${real}* A, int64_t lda,
                                   const ${real}* strip, ${real}* C, int64_t ldc) {
  const int64_t w = exo_least(kStrip, n - j), last = w == kStrip ? w - ${lanes} : 0;
  const int64_t from = lower ? j + last : 0, end = lower ? n : j + w - last;
  const ${real} one = 1;
  ${p}rows_and_strip(true, false, m, w, end - from, &one, A + from, lda, strip + from * kStrip, kStrip, C, ldc);
  for (int64_t v = ${lanes}; v <= last; v += ${lanes}) {
    const int64_t at = lower ? j + v - ${lanes} : j + v, first = lower ? 0 : v;
    ${p}rows_and_strip(false, false, m, lower ? v : w - v, ${lanes}, &one, A + at, lda, strip + at * kStrip + first, kStrip,
                       C + first, ldc);
  }
}

/* B := B T for finite B: products with a triangle that has zeros beside it, of a copy of some rows at a time. */
static void ${p}multiply_small_right(struct ${p}task task, bool lower, struct ${p}factor A, int64_t m, int64_t n, ${real}* B,
                                     int64_t ldb) {
  ${real} rows[kSomeRows * kTriangle] __attribute__((aligned(64)));
  ${real}* const strips = exo_workspace((kTriangle + kStrip) * kTriangle * sizeof(${real}));
  for (int64_t j = 0; j < n; j += kStrip) {
    const int64_t w = exo_least(kStrip, n - j), from = lower ? j : 0, end = lower ? n : j + w;
    ${real}* const strip = strips + j * kTriangle;
    ${p}bring(A, from, j, end - from, w, strip + from * kStrip, kStrip);
    ${p}make_triangle(task.unit, lower, w, strip + j * kStrip, kStrip, 1);
  }
  for (int64_t i = 0; i < m; i += kSomeRows) {
    const int64_t h = exo_least(kSomeRows, m - i);
    K(${p}copied)(h, n, IN2(B + i * ldb, ldb), OUT2(rows, kTriangle));
    for (int64_t j = 0; j < n; j += kStrip)
      ${p}corner_of_triangle(lower, h, n, j, rows, kTriangle, strips + j * kTriangle, B + i * ldb + j, ldb);
  }
}

/* B A = (A' B')': rows of B in blocks, transposed there and back. */
static void ${p}small_right(struct ${p}task task, bool lower, struct ${p}factor A, int64_t m, int64_t n,
                            ${real}* B, int64_t ldb) {
  ${real} turned[kTriangle * kColumns] __attribute__((aligned(64)));
  A.trans = !A.trans;
  for (int64_t i = 0, h; i < m; i += h) {
    h = ${p}some_columns(m - i);
    K(${p}transposed)(n, h, IN2(B + i * ldb, ldb), OUT2(turned, kColumns));
    ${p}small_left(task, !lower, A, n, h, turned, kColumns);
    K(${p}transposed)(h, n, IN2(turned, kColumns), OUT2(B + i * ldb, ldb));
  }
}
/* B := T B, inverse(T) B (left), B T, B inverse(T) (right) for the triangle T = A, in place: halves of
 * T one after the other, and the rectangle between them as a product. */
static void ${p}apply(struct ${p}task task, bool right, bool lower, struct ${p}factor A, int64_t m,
                      int64_t n, ${real}* B, int64_t ldb) {
  const int64_t size = right ? n : m;
  if (size <= kTriangle) {
    (!right ? ${p}small_left : task.finite ? ${p}multiply_small_right : ${p}small_right)(task, lower, A, m, n, B, ldb);
    return;
  }
  const int64_t half = (size / 2 + kTriangle - 1) / kTriangle * kTriangle;
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
      const struct ${p}factor source = {writes_second ? B1 : B2, ldb, false, kGeneral, false};
      const ${real} sign = task.solve ? -1 : 1;
      ${real}* const target = writes_second ? B2 : B1;
      const int64_t rows = writes_second ? m2 : m1, columns = writes_second ? n2 : n1;
      if (right)
        ${p}multiply(false, kWhole, rows, columns, writes_second ? n1 : n2, sign, source, between, target, ldb);
      else
        ${p}multiply(false, kWhole, rows, columns, writes_second ? m1 : m2, sign, between, source, target, ldb);
    } else if ((step == 0) == (writes_second != task.solve)) {
      ${p}apply(task, right, lower, second, m2, n2, B2, ldb);
    } else {
      ${p}apply(task, right, lower, first, m1, n1, B1, ldb);
    }
  }
}

/* ---- large triangles: a piece of the depth after the other, packed once ---- */

/* Memory for what is packed at a time: strips of the second factor and tiles of the first, so many rows or columns of a piece
 * of the depth. */
struct ${p}room {
  ${real}*strips, *tiles, *more;
};
static struct ${p}room ${p}room_for(int64_t depth, int64_t columns, int64_t rows, int64_t more_rows) {
  const int64_t b = (columns + kStrip - 1) / kStrip * kStrip * depth, a = (rows + kTile - 1) / kTile * kTileSize;
  const int64_t more = (more_rows + kTile - 1) / kTile * kTileSize;
  ${real}* const room = exo_workspace((a + b + more) * sizeof(${real}));
  return (struct ${p}room){room, room + b, room + b + a};
}

/* A piece of a triangle that is solved with, d rows: kSquares of them at a time, which the others come off before. `beside`
 * are the tiles of what is multiplied then. */
struct ${p}piece {
  struct ${p}task task;
  bool lower;
  struct ${p}factor T;
  int64_t d;
  ${real}* beside;
  ${real} diagonal[kDepth];
};

static void ${p}bring_piece(struct ${p}piece* p, bool unit, bool lower, struct ${p}factor T, int64_t d, ${real}* beside) {
  p->task = (struct ${p}task){true, unit, false}, p->lower = lower, p->T = T, p->d = d, p->beside = beside;
  ${p}bring_diagonal(p->task, T, d, p->diagonal);
  for (int64_t r = 0; r < d; r += kSquares) {
    const int64_t h = exo_least(kSquares, d - r), from = lower ? 0 : r + h, end = lower ? r : d;
    if (from < end) ${p}bring_tiles(T, r, from, h, end - from, p->beside + r / kTile * kTileSize + from * kTile);
  }
}

/* w columns of a strip of d rows. */
static void ${p}solve_strip(const struct ${p}piece* p, int64_t w, ${real}* strip) {
  const ${real} minus = -1;
  const int64_t squares = (p->d + kSquares - 1) / kSquares;
  for (int64_t q = 0; q < squares; ++q) {
    const int64_t r = (p->lower ? q : squares - 1 - q) * kSquares, h = exo_least(kSquares, p->d - r);
    const int64_t from = p->lower ? 0 : r + h, end = p->lower ? r : p->d;
    ${real}* const rows = strip + r * kStrip;
    struct ${p}factor T = p->T;
    T.a = ${p}element(T, r, r);
    if (from < end)
      K(${p}gemm_packed)(h, end - from, &minus, p->beside + r / kTile * kTileSize + from * kTile, strip + from * kStrip,
                         OUT2(rows, kStrip));
    ${p}apply_in_place(p->task, p->lower, T, p->diagonal + r, h, w, rows, kStrip);
  }
}

/* n columns that stand in strips `apart`, from where they go to B, a few strips at a time. */
static void ${p}solve_strips(const struct ${p}piece* p, int64_t n, ${real}* strips, int64_t apart, ${real}* B, int64_t ldb) {
  for (int64_t j = 0; j < n; j += kFourStrips) {
    const int64_t count = exo_least(kFourStrips, n - j), whole = count / kStrip, w = count % kStrip;
    ${real}* const first = strips + j / kStrip * apart;
    for (int64_t s = 0; s < whole; ++s) ${p}solve_strip(p, kStrip, first + s * apart);
    if (w > 0) ${p}solve_strip(p, w, first + whole * apart);
    if (whole > 0) K(${p}unpaneled)(p->d, whole, IN2(first, apart), OUT2(B + j, ldb));
    if (w > 0) K(${p}copied)(p->d, w, IN2(first + whole * apart, kStrip), OUT2(B + j + whole * kStrip, ldb));
  }
}

/* C += sign A B for tiles of `rows` rows of A from (i, k) on, some at a time, and n columns in strips. */
static void ${p}multiply_strips(${real} sign, struct ${p}factor A, int64_t i, int64_t k, int64_t rows, int64_t d, int64_t n,
                                struct ${p}room room, int64_t apart, ${real}* C, int64_t ldc) {
  for (int64_t r = 0; r < rows; r += kHeight) {
    const int64_t h = exo_least(kHeight, rows - r);
    ${p}bring_tiles(A, i + r, k, h, d, room.tiles);
    ${p}tiles_and_strips(false, h, n, d, &sign, room.tiles, room.strips, apart, C + r * ldc, ldc);
  }
}

/* B := inverse(T) B: a piece of B's rows is solved with in its strips, which rows of T beside the piece are multiplied by
 * then. */
static void ${p}solve_left(bool unit, bool lower, struct ${p}factor A, int64_t m, int64_t n, ${real}* B, int64_t ldb) {
  const int64_t depth = exo_alike(m, kDepth, kStep), width = exo_alike(n, kWidth, kStrip), apart = depth * kStrip;
  const int64_t pieces = (m + depth - 1) / depth;
  const struct ${p}room room = ${p}room_for(depth, width, kHeight, depth);
  struct ${p}piece piece;
  for (int64_t q = 0; q < pieces; ++q) {
    const int64_t k = (lower ? q : pieces - 1 - q) * depth, d = exo_least(depth, m - k);
    const int64_t i = lower ? k + d : 0, rows = lower ? m - i : k;
    struct ${p}factor T = A;
    T.a = ${p}element(A, k, k);
    ${p}bring_piece(&piece, unit, lower, T, d, room.more);
    for (int64_t j = 0; j < n; j += width) {
      const int64_t w = exo_least(width, n - j);
      ${p}bring_strips((struct ${p}factor){B, ldb, false, kGeneral, false}, k, j, d, w, room.strips, apart);
      ${p}solve_strips(&piece, w, room.strips, apart, B + k * ldb + j, ldb);
      ${p}multiply_strips(-1, A, i, k, rows, d, w, room, apart, B + i * ldb + j, ldb);
    }
  }
}

/* B := B inverse(T) = (inverse(T') B')': a piece of B's columns is solved with in strips that are turned over, there and
 * back; what it is multiplied by comes off the other columns as a product. */
static void ${p}solve_right(bool unit, bool lower, struct ${p}factor A, int64_t m, int64_t n, ${real}* B, int64_t ldb) {
  const int64_t depth = exo_alike(n, kDepth / kStrip * kStrip, kStrip), pieces = (n + depth - 1) / depth;
  struct ${p}piece piece;
  for (int64_t q = 0; q < pieces; ++q) {
    const int64_t k = (lower ? pieces - 1 - q : q) * depth, d = exo_least(depth, n - k);
    const struct ${p}room room = ${p}room_for(d, kStrip, 0, depth);
    struct ${p}factor T = A;
    T.a = ${p}element(A, k, k), T.trans = !A.trans;
    ${p}bring_piece(&piece, unit, !lower, T, d, room.more);
    for (int64_t i = 0; i < m; i += kStrip) {
      const int64_t h = exo_least(kStrip, m - i);
      ${real}* const b = B + i * ldb + k;
      if (h < kStrip) memset(room.strips, 0, d * kStrip * sizeof(${real}));
      K(${p}transposed)(d, h, IN2(b, ldb), OUT2(room.strips, kStrip));
      ${p}solve_strip(&piece, h, room.strips);
      K(${p}transposed)(h, d, IN2(room.strips, kStrip), OUT2(b, ldb));
    }
    const int64_t other = lower ? 0 : k + d, others = lower ? k : n - other;
    struct ${p}factor rows = A;
    rows.a = ${p}element(A, k, other);
    if (others > 0)
      ${p}multiply_from(false, kWhole, m, others, d, -1, (struct ${p}factor){B + k, ldb, false, kGeneral, false}, 0, rows, 0,
                        B + other, ldb);
  }
}

/* Rows [i, i + m) of the triangle as tiles, of the d columns from k on, which the diagonal goes through in these rows. Zeros
 * stand beside it as far as the kStep rows go that are multiplied at once. */
static void ${p}bring_triangle(bool unit, bool lower, struct ${p}factor A, int64_t i, int64_t k, int64_t m, int64_t d,
                               ${real}* to) {
  for (int64_t r = 0; r < m; r += kTile, to += kTileSize) {
    const int64_t h = exo_least(kTile, m - r), row = i + r - k, group = row - r % kStep; /* counted from k on */
    const int64_t from = lower ? 0 : row, end = lower ? row + h : d;
    ${p}bring_tiles(A, i + r, k + from, h, end - from, to + from * kTile);
    ${p}make_triangle(unit, lower, h, to + row * kTile, 1, kTile);
    const int64_t zeros = lower ? end : group, to_zeros = lower ? exo_least(group + kStep, d) : row;
    for (int64_t z = zeros * kTile; z < to_zeros * kTile; ++z) to[z] = 0;
  }
}

/* B := alpha T B for finite B: a zero that stands for no element of the triangle is multiplied, too. A piece of B's rows is
 * packed before it is written over; the rows it is added to have been. */
static void ${p}multiply_left(bool unit, bool lower, struct ${p}factor A, int64_t m, int64_t n, ${real} alpha, ${real}* B,
                              int64_t ldb) {
  const int64_t depth = exo_alike(m, kDepth, kStep), width = exo_alike(n, kWidth, kStrip), apart = depth * kStrip;
  const int64_t height = kHeight / kStep * kStep, pieces = (m + depth - 1) / depth;
  const struct ${p}room room = ${p}room_for(depth, width, kHeight, 0);
  for (int64_t q = 0; q < pieces; ++q) {
    const int64_t k = (lower ? pieces - 1 - q : q) * depth, d = exo_least(depth, m - k);
    const int64_t other = lower ? k + d : 0, others = lower ? m - other : k;
    for (int64_t j0 = 0; j0 < n; j0 += width) {
      const int64_t w = exo_least(width, n - j0);
      ${p}bring_strips((struct ${p}factor){B, ldb, false, kGeneral, false}, k, j0, d, w, room.strips, apart);
      for (int64_t i = k; i < k + d; i += height) { /* the diagonal's rows, kStep at a time as far as they go */
        const int64_t h = exo_least(height, k + d - i);
        ${p}bring_triangle(unit, lower, A, i, k, h, d, room.tiles);
        for (int64_t j = 0; j < w; j += kStrip)
          for (int64_t r = 0; r < h; r += kStep) {
            const int64_t from = lower ? 0 : i + r - k, end = lower ? exo_least(i + r + kStep - k, d) : d;
            ${p}tiles_and_strip(true, exo_least(kStep, h - r), exo_least(kStrip, w - j), end - from, &alpha,
                                room.tiles + r / kTile * kTileSize + from * kTile,
                                room.strips + j / kStrip * apart + from * kStrip, B + (i + r) * ldb + j0 + j, ldb);
          }
      }
      ${p}multiply_strips(alpha, A, other, k, others, d, w, room, apart, B + other * ldb + j0, ldb);
    }
  }
}

/* B := alpha B T for finite B. A piece of B's columns is multiplied by the rows of T that it meets: the columns of B it is
 * added to have been written over, its own are in the end. */
static void ${p}multiply_right(bool unit, bool lower, struct ${p}factor A, int64_t m, int64_t n, ${real} alpha, ${real}* B,
                               int64_t ldb) {
  const int64_t depth = exo_alike(n, kDepth / kStrip * kStrip, kStrip), pieces = (n + depth - 1) / depth;
  const int64_t height = exo_alike(m, kHeight, kTile), apart = depth * kStrip;
  for (int64_t q = 0; q < pieces; ++q) {
    const int64_t k = (lower ? q : pieces - 1 - q) * depth, d = exo_least(depth, n - k);
    const struct ${p}factor source = {B + k, ldb, false, kGeneral, false};
    /* Columns beside the piece: those next to it together with it, as many as are packed at once, the others before. */
    const int64_t beside = exo_least(lower ? k : n - k - d, (kWidth - d) / kStrip * kStrip);
    const int64_t first = lower ? k - beside : k + d, others = lower ? first : n - first - beside;
    const int64_t other = lower ? 0 : first + beside;
    if (others > 0) {
      struct ${p}factor T = A;
      T.a = ${p}element(A, k, other);
      ${p}multiply_from(false, kWhole, m, others, d, alpha, source, 0, T, 0, B + other, ldb);
    }
    const int64_t strips = (beside + kStrip - 1) / kStrip * kStrip;
    const struct ${p}room room = ${p}room_for(depth, strips + d, height, 0);
    ${real}* const own = room.strips + strips * depth;
    ${p}bring_strips(A, k, first, d, beside, room.strips, apart);
    for (int64_t j = 0; j < d; j += kStrip) {
      const int64_t w = exo_least(kStrip, d - j), from = lower ? j : 0, end = lower ? d : j + w;
      ${real}* const strip = own + j * depth;
      ${p}bring(A, k + from, k + j, end - from, w, strip + from * kStrip, kStrip);
      ${p}make_triangle(unit, lower, w, strip + j * kStrip, kStrip, 1);
    }
    for (int64_t i = 0; i < m; i += height) {
      const int64_t h = exo_least(height, m - i);
      ${p}bring_tiles(source, i, 0, h, d, room.tiles);
      ${p}tiles_and_strips(false, h, beside, d, &alpha, room.tiles, room.strips, apart, B + i * ldb + first, ldb);
      for (int64_t j = 0; j < d; j += kStrip) {
        const int64_t w = exo_least(kStrip, d - j), from = lower ? j : 0, end = lower ? d : j + w;
        ${p}tiles_and_strip(true, h, w, end - from, &alpha, room.tiles + from * kTile, own + j * depth + from * kStrip,
                            B + i * ldb + k + j, ldb);
      }
    }
  }
}

/* Is every element finite, and the sum of a row's magnitudes? */
static bool ${p}is_finite(int64_t m, int64_t n, const ${real}* B, int64_t ldb) {
  for (int64_t i = 0; i < m; ++i) {
    ${real} sum = 0;
    K(${p}asum)(n, IN(B + i * ldb, n, 1), &sum);
    if (!isfinite(sum)) return false;
  }
  return true;
}

/* A triangle applied to B, which threads divide: columns that it is left of, rows that it is right of. */
struct ${p}application {
  struct ${p}task task;
  bool right, lower;
  struct ${p}factor A;
  int64_t m, n;
  ${real} alpha;
  ${real}* B;
  int64_t ldb;
};

static void ${p}share_of_application(const void* job, int64_t k, int64_t of) {
  const struct ${p}application* const p = job;
  const int64_t side = p->right ? p->m : p->n;
  const int64_t from = exo_begin(side, kStrip, k, of), size = exo_begin(side, kStrip, k + 1, of) - from;
  if (size <= 0) return;
  ${real}* const B = p->right ? p->B + from * p->ldb : p->B + from;
  const int64_t m = p->right ? size : p->m, n = p->right ? p->n : size;
  const bool unit = p->task.unit, solve = p->task.solve;
  const bool large = p->right ? n > kLargeTriangle && m > kStrip : m > (solve ? kLargeSolved : kLargeFactor) && n > kStrip;
  struct ${p}task task = p->task;
  task.finite = large && !solve && p->alpha != 0 && ${p}is_finite(m, n, B, p->ldb);
  /* Rows that are a page apart meet in a cache, where they are not packed. */
  const bool halves = p->right && n <= kMostHalved && ${p}shared(p->ldb) < 4096;
  if (task.finite && !halves) {
    (p->right ? ${p}multiply_right : ${p}multiply_left)(unit, p->lower, p->A, m, n, p->alpha, B, p->ldb);
    return;
  }
  ${p}scaled_matrix(kWhole, m, n, p->alpha, B, p->ldb);
  if (p->alpha == 0) return;
  if (large && solve)
    (p->right ? ${p}solve_right : ${p}solve_left)(unit, p->lower, p->A, m, n, B, p->ldb);
  else
    ${p}apply(task, p->right, p->lower, p->A, m, n, B, p->ldb);
}

/* ---- a few rows and columns of a triangle, four of the others at a time, in registers ---- */

/* Rows of four columns of B, from the left, or columns of four of its rows. */
EXO_FEW void ${p}bring_fours(bool right, int64_t size, const ${real}* B, int64_t ldb, int64_t some, ${p}four* v) {
  int64_t i = 0;
  for (; right && i + 4 <= size; i += 4) {
    for (int64_t r = 0; r < 4; ++r) memcpy(v + i + r, B + (r < some ? r : 0) * ldb + i, sizeof *v);
    ${p}turn_four(v + i);
  }
  for (; i < size; ++i) v[i] = ${p}gather_four(right ? B + i : B + i * ldb, right ? ldb : 1, some);
}
EXO_FEW void ${p}put_fours(bool right, int64_t size, ${real}* B, int64_t ldb, int64_t some, ${p}four* v) {
  int64_t i = 0;
  for (; right && i + 4 <= size; i += 4) {
    ${p}turn_four(v + i);
    for (int64_t r = 0; r < 4; ++r)
      if (r < some) memcpy(B + r * ldb + i, v + i + r, sizeof *v);
  }
  for (; i < size; ++i) ${p}scatter_four(v[i], right ? B + i : B + i * ldb, right ? ldb : 1, some);
}

/* B := T B or inverse(T) B for the lower (forward: the element i is made of those up to it) or upper triangle T of `size`
 * rows whose elements are so far apart; `count` columns of B, or rows that T is applied to from the right. */
EXO_FEW void ${p}fours(const bool solve, const bool forward, const bool right, const int64_t size, bool unit,
                       const ${real}* T, int64_t down, int64_t along, int64_t count, ${real}* B, int64_t ldb) {
  ${real} diagonal[kMostFours];
  for (int64_t i = 0; i < size; ++i) diagonal[i] = unit ? 1 : T[i * (down + along)];
  if (solve)
    for (int64_t i = 0; i < size; ++i) diagonal[i] = 1 / diagonal[i];
  for (int64_t c = 0; c < count; c += 4) {
    ${real}* const b = right ? B + c * ldb : B + c;
    const int64_t some = exo_least(4, count - c);
    ${p}four v[kMostFours];
    ${p}bring_fours(right, size, b, ldb, some, v);
    for (int64_t r = 0; r < size; ++r) { /* sums of those that are not written yet, or have been */
      const int64_t i = solve == forward ? r : size - 1 - r;
      if (!solve) v[i] *= diagonal[i];
      for (int64_t l = forward ? 0 : i + 1; l < (forward ? i : size); ++l) {
        const ${p}four product = T[i * down + l * along] * v[l];
        v[i] = solve ? v[i] - product : v[i] + product;
      }
      if (solve) v[i] *= diagonal[i];
    }
    ${p}put_fours(right, size, b, ldb, some, v);
  }
}

/* At most eight rows and columns, in the entry point: a copy for each number of rows, whose elements stay in registers. */
#define EXO_FOURS(forward, right, size)                                                              \
  case size:                                                                                         \
    ${p}fours(solve, forward, right, size, unit, A, down, along, (right) ? m : n, B, ldb);             \
    break;
#define EXO_SIZES(forward, right)                                                                    \
  switch ((right) ? n : m) {                                                                         \
    EXO_FOURS(forward, right, 1) EXO_FOURS(forward, right, 2) EXO_FOURS(forward, right, 3)             \
    EXO_FOURS(forward, right, 4) EXO_FOURS(forward, right, 5) EXO_FOURS(forward, right, 6)             \
    EXO_FOURS(forward, right, 7) EXO_FOURS(forward, right, 8)                                          \
  }
static inline void ${p}apply_tiny(bool solve, bool unit, bool right, bool lower, bool trans, int64_t m, int64_t n,
                                  ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {
  if (alpha != 1) ${p}scale_matrix(kWhole, m, n, alpha, B, ldb);
  if (alpha == 0) return;
  const bool turned = trans != right;
  const int64_t down = turned ? 1 : lda, along = turned ? lda : 1;
  if (right && lower)
    EXO_SIZES(false, true)
  else if (right)
    EXO_SIZES(true, true)
  else if (lower)
    EXO_SIZES(true, false)
  else
    EXO_SIZES(false, false)
}
#undef EXO_SIZES
#undef EXO_FOURS

/* At most two rows and columns, by hand. A lower triangle is an upper one from its other end. */
EXO_FEW void ${p}apply_few(bool solve, bool unit, bool right, bool lower, bool trans, int64_t m, int64_t n,
                           ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {
  const bool turned = trans != right;
  const int64_t rows = right ? n : m, columns = right ? m : n, column = right ? ldb : 1;
  if (rows == 1) {
    const ${real} a = unit ? 1 : A[0];
    const ${real} x = alpha * B[0];
    B[0] = solve ? x / a : x * a;
    if (columns == 1) return;
    const ${real} y = alpha * B[column];
    B[column] = solve ? y / a : y * a;
    return;
  }
  const int64_t next = right ? 1 : ldb, from_end = lower != right;
  const ${real} first = unit ? 1 : A[from_end ? lda + 1 : 0], last = unit ? 1 : A[from_end ? 0 : lda + 1];
  const ${real} across = A[turned != from_end ? lda : 1];
  ${real} *const above = B + (from_end ? next : 0), *const below = B + (from_end ? 0 : next);
  for (int64_t j = 0;; j = column) { /* both columns, not a loop that is made vectors of */
    const ${real} x = alpha * above[j], y = alpha * below[j], z = solve ? y / last : y * last;
    below[j] = z;
    above[j] = solve ? (x - across * z) / first : x * first + across * y;
    if (columns == 1 || j == column) return;
  }
}

EXO_OTHERS void ${p}triangular(struct ${p}task task, bool right, bool lower, bool trans, int64_t m, int64_t n,
                               ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {
  if (m == 0 || n == 0) return;
  const struct ${p}application job = {task, right, lower, {A, lda, trans, kGeneral, false}, m, n, alpha, B, ldb};
  /* Half as many multiplications, which wait for one another. */
  const int64_t work = m * n * (right ? n : m);
  const int64_t threads = work < 2 * EXO_LEAST_PRODUCT ? 1 : exo_team_size(work, EXO_LEAST_PRODUCT);
  if (threads == 1)
    ${p}share_of_application(&job, 0, 1);
  else
    exo_team(threads, ${p}share_of_application, &job);
}

/* In column-major order it is the transposed problem. */
static inline void ${p}triangle_some(bool solve, bool row, bool right, bool upper, bool trans, bool unit, int64_t m,
                                     int64_t n, ${real} alpha, const ${real}* A, int64_t lda, ${real}* B,
                                     int64_t ldb) {
  const int64_t rows = row ? m : n, columns = row ? n : m;
  const bool behind = right == row, lower = (upper == row) == trans;
  const uint64_t tiny = solve ? kTinySolved : behind ? kTinyRight : kTinyTriangle;
  if (exo_is_tiny_part(rows, columns, tiny))
    ${p}apply_tiny(solve, unit, behind, lower, trans, rows, columns, alpha, A, lda, B, ldb);
  else
    ${p}triangular((struct ${p}task){solve, unit, false}, behind, lower, trans, rows, columns, alpha, A, lda, B, ldb);
}
#define EXO_TRIANGLE(name, solve)                                                                                  \
  EXO_VECTORS void ${p}##name##_some(bool row, bool right, bool upper, bool trans, bool unit, int64_t m, int64_t n, \
                                     ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {       \
    ${p}triangle_some(solve, row, right, upper, trans, unit, m, n, alpha, A, lda, B, ldb);                          \
  }                                                                                                                \
  EXO_FEW void ${p}##name##_body(bool row, bool right, bool upper, bool trans, bool unit, int64_t m, int64_t n,     \
                                 ${real} alpha, const ${real}* A, int64_t lda, ${real}* B, int64_t ldb) {           \
    if (exo_is_tiny_part(m, n, kFewest) && alpha != 0)                                                             \
      ${p}apply_few(solve, unit, right == row, (upper == row) == trans, trans, row ? m : n, row ? n : m, alpha, A, \
                    lda, B, ldb);                                                                                  \
    else                                                                                                           \
      ${p}##name##_some(row, right, upper, trans, unit, m, n, alpha, A, lda, B, ldb);                               \
  }
EXO_TRIANGLE(trmm, false)
EXO_TRIANGLE(trsm, true)
#undef EXO_TRIANGLE
