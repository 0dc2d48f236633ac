#define IN EXO_IN_${P}
#define OUT EXO_OUT_${P}
#define IN2 EXO_IN2_${P}
#define OUT2 EXO_OUT2_${P}

enum {
  kTriangle = ${triangle}, /* rows of a block of a triangle, and what threads divide columns by */
  kSymmetric = ${symmetric}, /* rows of a block of a symmetric matrix */
  kWholeSymmetric = ${whole_symmetric}, /* rows of one that a kernel takes whole */
  kTransposed = ${transposed} /* rows of a block of one that multiplies transposed: beside it all of them go by at once */
};

enum { kStraight = ${straight} }; /* elements of a matrix that goes straight to the kernel */

/* Up to this many rows and columns are written out in the entry points: the way to a kernel would cost more
 * than the work. Elements of a matrix are `down` and `right` apart there, whatever its layout. */
enum { kFewRows = 2 };

/* ---- vectors in one piece: `x` points to the first element, elements are inc apart ---- */

/* Elements [from, from + n) in one piece: where they stand, or copied. */
static inline const ${real}* ${p}piece(const ${real}* x, int64_t inc, int64_t from, int64_t n,
                                       ${real}* room) {
  if (inc == 1) return x + from;
  for (int64_t i = 0; i < n; ++i) room[i] = x[(from + i) * inc];
  return room;
}
static inline ${real}* ${p}open(${real}* y, int64_t inc, int64_t from, int64_t n, ${real}* room) {
  return (${real}*)${p}piece(y, inc, from, n, room);
}
/* Back to where ${p}open found them. */
static inline void ${p}close(${real}* y, int64_t inc, int64_t from, int64_t n, const ${real}* room) {
  if (inc == 1) return;
  for (int64_t i = 0; i < n; ++i) y[(from + i) * inc] = room[i];
}

/* y := beta y; 0 clears whatever is there. */
static void ${p}scaled(int64_t n, ${real} beta, ${real}* y, int64_t inc) {
  if (beta == 1) return;
  if (beta == 0) {
    for (int64_t i = 0; i < n; ++i) y[i * inc] = 0;
  } else if (inc == 1) {
    K(${p}scal)(n, &beta, OUT(y, n, 1));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i * inc] *= beta;
  }
}

/* y += alpha A x or alpha A' x for an m x n matrix; no size is 0. */
static void ${p}product(bool trans, int64_t m, int64_t n, ${real} alpha, const ${real}* A,
                        int64_t lda, const ${real}* x, int64_t incx, ${real}* y, int64_t incy) {
  if (incx == 1 && incy == 1) {
    if (trans)
      K(${p}gemv_t)(m, n, &alpha, IN2(A, lda), IN(x, m, 1), OUT(y, n, 1));
    else
      K(${p}gemv_n)(m, n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, m, 1));
    return;
  }
  ${real} rx[kPiece], ry[kPiece];
  const int64_t rows = (trans ? incx : incy) == 1 ? m : kPiece;
  const int64_t columns = (trans ? incy : incx) == 1 ? n : kPiece;
  for (int64_t i = 0; i < m; i += rows)
    for (int64_t j = 0; j < n; j += columns) {
      const int64_t r = exo_least(rows, m - i), c = exo_least(columns, n - j);
      const int64_t fx = trans ? i : j, nx = trans ? r : c, fy = trans ? j : i, ny = trans ? c : r;
      const ${real}* px = ${p}piece(x, incx, fx, nx, rx);
      ${real}* py = ${p}open(y, incy, fy, ny, ry);
      if (trans)
        K(${p}gemv_t)(r, c, &alpha, IN2(A + i * lda + j, lda), IN(px, nx, 1), OUT(py, ny, 1));
      else
        K(${p}gemv_n)(r, c, &alpha, IN2(A + i * lda + j, lda), IN(px, nx, 1), OUT(py, ny, 1));
      ${p}close(y, incy, fy, ny, ry);
    }
}

/* A product that threads divide: rows of A, or columns where they are those of y. Rows of a large matrix are divided there, too:
 * they stand side by side. What those of each share but the first add up to are `parts`, which the caller adds to y. */
enum { kShare = 2 * ${lanes}, kParts = 4096 }; /* rows that shares are multiples of; sums */
struct ${p}product {
  bool trans;
  int64_t m, n;
  ${real} alpha;
  const ${real}* A;
  int64_t lda;
  const ${real}* x;
  int64_t incx;
  ${real}* y;
  int64_t incy;
  ${real}* parts;
};

static void ${p}share_of_product(const void* job, int64_t k, int64_t of) {
  const struct ${p}product* const p = job;
  const bool columns = p->trans && !p->parts, part = p->parts && k > 0;
  const int64_t side = columns ? p->n : p->m;
  const int64_t step = columns ? kTriangle : kShare;
  const int64_t from = exo_begin(side, step, k, of), size = exo_begin(side, step, k + 1, of) - from;
  if (size <= 0) return;
  ${p}product(p->trans, columns ? p->m : size, columns ? size : p->n, p->alpha, p->A + (columns ? from : from * p->lda), p->lda,
              p->x + (p->trans && !columns ? from * p->incx : 0), p->incx,
              part ? p->parts + (k - 1) * p->n : p->y + (p->trans && !columns ? 0 : from * p->incy), part ? 1 : p->incy);
}

/* Bytes of a matrix that a thread should have at least. */
#ifndef EXO_LEAST_MATRIX
#define EXO_LEAST_MATRIX ${least_matrix}
#define EXO_PARTED ${parted}
#endif

EXO_OTHERS void ${p}divided_product(int64_t threads, struct ${p}product job) {
  const int64_t n = job.n, sums = (threads - 1) * n;
  ${real} parts[kParts];
  if (!job.trans || sums > kParts || job.m < n / 4 || job.m * n * (int64_t)sizeof(${real}) < EXO_PARTED * (int64_t)EXO_LEAST_MATRIX) {
    exo_team(threads, ${p}share_of_product, &job);
    return;
  }
  memset(parts, 0, (size_t)sums * sizeof(${real}));
  job.parts = parts;
  exo_team(threads, ${p}share_of_product, &job);
  for (int64_t from = 0; from < sums; from += n)
    for (int64_t j = 0; j < n; ++j) job.y[j * job.incy] += parts[from + j];
}

EXO_OTHERS void ${p}gemv_others(bool trans, int64_t m, int64_t n, ${real} alpha, const ${real}* A,
                                int64_t lda, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                                int64_t incy) {
  x += exo_first(trans ? m : n, incx), y += exo_first(trans ? n : m, incy);
  ${p}scaled(trans ? n : m, beta, y, incy);
  if (alpha == 0) return;
  const int64_t bytes = m * n * (int64_t)sizeof(${real});
  const int64_t threads = bytes < 2 * EXO_LEAST_MATRIX ? 1 : exo_team_size(bytes, EXO_LEAST_MATRIX);
  if (threads == 1) {
    ${p}product(trans, m, n, alpha, A, lda, x, incx, y, incy);
    return;
  }
  ${p}divided_product(threads, (struct ${p}product){trans, m, n, alpha, A, lda, x, incx, y, incy, NULL});
}
/* Vectors in one piece, added to: a function for few rows and columns, which has the kernels for so few in it and saves nothing for
 * the sake of others, and one for more, whose kernels begin beyond them. The entry point jumps to either with what registers hold:
 * beside 3 to 16 rows, what is pushed and read back again was up to a third of a call. Matrices of many elements go on to the
 * function for all others from there. */
enum { kFewOfMatrix = 16 }; /* the last bucket of sizes whose kernels fit into one short function */
_Static_assert(kFewOfMatrix * kFewOfMatrix <= kStraight && kFewOfMatrix <= kWholeSymmetric, "few go straight to a kernel");
#define EXO_STRAIGHT_TO(name, few, many, parameters, call_of_few, call, others) \
  EXO_VECTORS void name##_few parameters {                                      \
    if (!(few)) __builtin_unreachable();                                        \
    call_of_few;                                                                \
  }                                                                             \
  EXO_VECTORS void name##_straight parameters {                                 \
    if (few) __builtin_unreachable();                                           \
    if (many) {                                                                 \
      others;                                                                   \
      return;                                                                   \
    }                                                                           \
    call;                                                                       \
  }

/* Few columns that are added to: rows of so many elements, a constant, which go by in whole vectors and the halves, quarters ..
 * that are left. Nothing is asked of a row, and whoever reads it next finds the vectors that were written: what a masked one
 * has written waits for the cache. */
typedef ${real} ${p}ones_2 __attribute__((vector_size(2 * sizeof(${real})), aligned(sizeof(${real})), may_alias));
typedef ${real} ${p}ones_4 __attribute__((vector_size(4 * sizeof(${real})), aligned(sizeof(${real})), may_alias));
typedef ${real} ${p}ones_8 __attribute__((vector_size(8 * sizeof(${real})), aligned(sizeof(${real})), may_alias));
typedef ${real} ${p}ones_16 __attribute__((vector_size(16 * sizeof(${real})), aligned(sizeof(${real})), may_alias));
#define EXO_OF_ROW(count, sum)                                        \
  for (; (count) <= ${lanes} && j + (count) <= width; j += (count)) { \
    typedef ${p}ones_##count ones;                                    \
    *(ones*)(row + j) += sum;                                         \
  }
#define EXO_ALL_OF_ROW(sum) \
  int64_t j = 0;            \
  EXO_OF_ROW(16, sum)       \
  EXO_OF_ROW(8, sum)        \
  EXO_OF_ROW(4, sum)        \
  EXO_OF_ROW(2, sum)        \
  if (j < width) row[j] +=
EXO_FEW void ${p}add_to_ones(int64_t width, ${real} t, const ${real}* restrict y, ${real}* restrict row) {
  EXO_ALL_OF_ROW(t * *(const ones*)(y + j)) t * y[j];
}
EXO_FEW void ${p}add_two_to_ones(int64_t width, ${real} t, const ${real}* restrict y, ${real} u, const ${real}* restrict x,
                                 ${real}* restrict row) {
  EXO_ALL_OF_ROW(t * *(const ones*)(y + j) + u * *(const ones*)(x + j)) t * y[j] + u * x[j];
}
#undef EXO_ALL_OF_ROW
#undef EXO_OF_ROW
/* A case for each number of columns, from the most down. */
_Static_assert(kFewOfMatrix == 16, "a case for each");
#define EXO_CASES_TO_10(x) x(10) x(9) x(8) x(7) x(6) x(5) x(4) x(3) x(2) x(1)
#define EXO_CASES(x) x(16) x(15) x(14) x(13) x(12) x(11) EXO_CASES_TO_10(x)
EXO_STRAIGHT_TO(${p}gemv_n, m <= kFewOfMatrix && n <= kFewOfMatrix, m * n > kStraight,
                (int64_t m, int64_t n, ${real} alpha, const ${real}* A, int64_t lda, const ${real}* x, ${real}* y),
                H(${p}gemv_n)(m, n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, m, 1)),
                H(${p}gemv_n)(m, n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, m, 1)),
                ${p}gemv_others(false, m, n, alpha, A, lda, x, 1, 1, y, 1))
EXO_STRAIGHT_TO(${p}gemv_t, m <= kFewOfMatrix && n <= kFewOfMatrix, m * n > kStraight,
                (int64_t m, int64_t n, ${real} alpha, const ${real}* A, int64_t lda, const ${real}* x, ${real}* y),
                H(${p}gemv_t)(m, n, &alpha, IN2(A, lda), IN(x, m, 1), OUT(y, n, 1)),
                H(${p}gemv_t)(m, n, &alpha, IN2(A, lda), IN(x, m, 1), OUT(y, n, 1)),
                ${p}gemv_others(true, m, n, alpha, A, lda, x, 1, 1, y, 1))
EXO_FEW void ${p}gemv_body(bool row, bool trans, int64_t m, int64_t n, ${real} alpha, const ${real}* A,
                                 int64_t lda, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                                 int64_t incy) {
  if (m == 0 || n == 0 || (exo_zero(alpha) && exo_same(beta, (${real})1))) return;
  const bool across = trans == row; /* y is as long as a row of the matrix */
  if (incx != 1 || incy != 1 || !exo_same(beta, (${real})1)) {
    ${p}gemv_others(across, row ? m : n, row ? n : m, alpha, A, lda, x, incx, beta, y, incy);
    return;
  }
  if (m > kFewRows || n > kFewRows) {
    const int64_t rows = row ? m : n, columns = row ? n : m;
    if (m <= kFewOfMatrix && n <= kFewOfMatrix)
      (across ? ${p}gemv_t_few : ${p}gemv_n_few)(rows, columns, alpha, A, lda, x, y);
    else
      (across ? ${p}gemv_t_straight : ${p}gemv_n_straight)(rows, columns, alpha, A, lda, x, y);
    return;
  }
  const int64_t down = across ? 1 : lda, right = across ? lda : 1;
  const int64_t results = trans ? n : m, terms = trans ? m : n;
  y[0] += alpha * (terms == 1 ? A[0] * x[0] : A[0] * x[0] + A[right] * x[1]);
  if (results == 1) return;
  A += down;
  y[1] += alpha * (terms == 1 ? A[0] * x[0] : A[0] * x[0] + A[right] * x[1]);
}

/* Rows one by one, each in whole lines: those of medium matrices, which a cache brings as fast as a core stores. A vector
 * that stands across two lines is stored twice. Elements of a matrix from which on, and up to which. */
#ifndef EXO_IN_LINES_FROM
#define EXO_IN_LINES_FROM (${in_lines} / (int64_t)sizeof(${real}))
#define EXO_IN_LINES_TO (${beyond_lines} / (int64_t)sizeof(${real}))
#endif
enum { kLongRow = 4 * ${lanes} }; /* what such a row has at least */
EXO_VECTORS void ${p}outer_in_lines(int64_t m, int64_t n, ${real} alpha, const ${real}* x, int64_t incx, const ${real}* y,
                                    ${real}* A, int64_t lda) {
  for (int64_t i = 0; i < m; ++i, A += lda) {
    const ${real} t = alpha * x[i * incx];
    const int64_t before = ${lanes} - (int64_t)((uintptr_t)A / sizeof(${real}) % ${lanes});
    H(${p}ger_row)(before, n, &t, IN(y, n, 1), OUT(A, n, 1));
  }
}

/* A += alpha x y'; no size is 0. */
static void ${p}outer(int64_t m, int64_t n, ${real} alpha, const ${real}* x, int64_t incx,
                      const ${real}* y, int64_t incy, ${real}* A, int64_t lda) {
  ${real} ry[kPiece];
  const int64_t columns = incy == 1 ? n : kPiece;
  for (int64_t j = 0; j < n; j += columns) {
    const int64_t c = exo_least(columns, n - j);
    const ${real}* py = ${p}piece(y, incy, j, c, ry);
    if (c >= kLongRow && EXO_BETWEEN(EXO_IN_LINES_FROM, m * c, EXO_IN_LINES_TO))
      ${p}outer_in_lines(m, c, alpha, x, incx, py, A + j, lda);
    else
      K(${p}ger)(m, c, &alpha, EXO_WINDOW(exo_win_1${T}c, x, incx), IN(py, c, 1), OUT2(A + j, lda));
  }
}

/* A that threads add rows of an outer product to. */
struct ${p}sum {
  int64_t m, n;
  ${real} alpha;
  const ${real}* x;
  int64_t incx;
  const ${real}* y;
  int64_t incy;
  ${real}* A;
  int64_t lda;
};

static void ${p}share_of_sum(const void* job, int64_t k, int64_t of) {
  const struct ${p}sum* const p = job;
  const int64_t from = exo_begin(p->m, 1, k, of), size = exo_begin(p->m, 1, k + 1, of) - from;
  if (size > 0)
    ${p}outer(size, p->n, p->alpha, p->x + from * p->incx, p->incx, p->y, p->incy, p->A + from * p->lda,
              p->lda);
}

EXO_OTHERS void ${p}ger_others(bool row, int64_t m, int64_t n, ${real} alpha, const ${real}* x,
                               int64_t incx, const ${real}* y, int64_t incy, ${real}* A, int64_t lda) {
  x += exo_first(m, incx), y += exo_first(n, incy);
  const struct ${p}sum job = row ? (struct ${p}sum){m, n, alpha, x, incx, y, incy, A, lda}
                                 : (struct ${p}sum){n, m, alpha, y, incy, x, incx, A, lda};
  const int64_t bytes = m * n * (int64_t)sizeof(${real});
  const int64_t threads = bytes < 2 * EXO_LEAST_MATRIX ? 1 : exo_team_size(bytes, EXO_LEAST_MATRIX);
  if (threads == 1)
    ${p}outer(job.m, job.n, alpha, job.x, job.incx, job.y, job.incy, A, lda);
  else
    exo_team(threads, ${p}share_of_sum, &job);
}
EXO_FEW void ${p}ger_of_few(int64_t m, int64_t n, ${real} alpha, const ${real}* x, const ${real}* y, ${real}* A, int64_t lda) {
#define EXO_COLUMNS(width)                                                                \
  case width:                                                                             \
    for (int64_t i = 0; i < m; ++i, A += lda) ${p}add_to_ones(width, alpha * x[i], y, A); \
    break;
  switch (n) { EXO_CASES(EXO_COLUMNS) }
#undef EXO_COLUMNS
}
EXO_STRAIGHT_TO(${p}ger, m <= kFewOfMatrix && n <= kFewOfMatrix, m * n > kStraight,
                (int64_t m, int64_t n, ${real} alpha, const ${real}* x, const ${real}* y, ${real}* A, int64_t lda),
                ${p}ger_of_few(m, n, alpha, x, y, A, lda),
                H(${p}ger)(m, n, &alpha, IN(x, m, 1), IN(y, n, 1), OUT2(A, lda)),
                ${p}ger_others(true, m, n, alpha, x, 1, y, 1, A, lda))
EXO_FEW void ${p}ger_body(bool row, int64_t m, int64_t n, ${real} alpha, const ${real}* x,
                          int64_t incx, const ${real}* y, int64_t incy, ${real}* A, int64_t lda) {
  if (m == 0 || n == 0 || exo_zero(alpha)) return;
  if (m > kFewRows || n > kFewRows || incx != 1 || incy != 1) {
    if (incx != 1 || incy != 1)
      ${p}ger_others(row, m, n, alpha, x, incx, y, incy, A, lda);
    else
      (m <= kFewOfMatrix && n <= kFewOfMatrix ? ${p}ger_few : ${p}ger_straight)(row ? m : n, row ? n : m, alpha, row ? x : y, row ? y : x, A, lda);
    return;
  }
  const int64_t down = row ? lda : 1, right = row ? 1 : lda;
  for (int64_t i = 0; i < m; ++i, A += down) {
    const ${real} t = alpha * x[i];
    A[0] += t * y[0];
    if (n > 1) A[right] += t * y[1];
  }
}

/* Where vectors are in one piece a kernel takes a triangle whole. Others go by in blocks of kTriangle rows: the triangle on the diagonal by a kernel of its own,
 * the rectangle beside it (before it in a lower triangle, behind it in an upper one) by the kernel
 * for matrices. */
struct exo_beside {
  int64_t from, n;
};
static inline struct exo_beside exo_beside(bool upper, int64_t n, int64_t i, int64_t r) {
  return upper ? (struct exo_beside){i + r, n - i - r} : (struct exo_beside){0, i};
}

EXO_OTHERS void ${p}symv_others(bool upper, int64_t n, ${real} alpha, const ${real}* A,
                          int64_t lda, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                          int64_t incy) {
  x += exo_first(n, incx), y += exo_first(n, incy);
  ${p}scaled(n, beta, y, incy);
  if (alpha == 0) return;
  if (incx == 1 && incy == 1 && n <= kWholeSymmetric) {
    (upper ? K(${p}symv_u) : K(${p}symv_l))(n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, n, 1));
    return;
  }
  ${real} rx[kSymmetric], ry[kSymmetric], cx[kPiece], cy[kPiece];
  const int64_t beside = incx == 1 && incy == 1 ? ${beside} : kPiece;
  for (int64_t i = 0; i < n; i += kSymmetric) {
    const int64_t r = exo_least(kSymmetric, n - i);
    const ${real}* px = ${p}piece(x, incx, i, r, rx);
    ${real}* py = ${p}open(y, incy, i, r, ry);
    (upper ? K(${p}symv_u) : K(${p}symv_l))(r, &alpha, IN2(A + i * lda + i, lda), IN(px, r, 1),
                                            OUT(py, r, 1));
    ${p}close(y, incy, i, r, ry);
    const struct exo_beside b = exo_beside(upper, n, i, r);
    for (int64_t j = b.from; j < b.from + b.n; j += beside) { /* while it is in a near cache */
      const int64_t c = exo_least(beside, b.from + b.n - j);
      const ${real}* pc = ${p}piece(x, incx, j, c, cx);
      ${real}* yc = ${p}open(y, incy, j, c, cy);
      K(${p}symv_beside)(r, c, &alpha, IN2(A + i * lda + j, lda), EXO_WINDOW(exo_win_1${T}c, x + i * incx, incx),
                         IN(pc, c, 1), EXO_WINDOW(exo_win_1${T}, y + i * incy, incy), OUT(yc, c, 1));
      ${p}close(y, incy, j, c, cy);
    }
  }
}

#define EXO_SYMV(triangle, is_upper)                                                                       \
  EXO_STRAIGHT_TO(${p}symv_##triangle, n <= kFewOfMatrix, n > kWholeSymmetric,                             \
                  (int64_t n, ${real} alpha, const ${real}* A, int64_t lda, const ${real}* x, ${real}* y), \
                  H(${p}symv_##triangle)(n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, n, 1)),               \
                  H(${p}symv_##triangle)(n, &alpha, IN2(A, lda), IN(x, n, 1), OUT(y, n, 1)),               \
                  ${p}symv_others(is_upper, n, alpha, A, lda, x, 1, 1, y, 1))
EXO_SYMV(u, true) EXO_SYMV(l, false)
EXO_FEW void ${p}symv_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* A,
                           int64_t lda, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                           int64_t incy) {
  if (n == 0 || (exo_zero(alpha) && exo_same(beta, (${real})1))) return;
  if (incx != 1 || incy != 1 || !exo_same(beta, (${real})1)) {
    ${p}symv_others(upper == row, n, alpha, A, lda, x, incx, beta, y, incy);
    return;
  }
  if (n > kFewRows) {
    if (n <= kFewOfMatrix)
      (upper == row ? ${p}symv_u_few : ${p}symv_l_few)(n, alpha, A, lda, x, y);
    else
      (upper == row ? ${p}symv_u_straight : ${p}symv_l_straight)(n, alpha, A, lda, x, y);
    return;
  }
  if (n == 1) {
    y[0] += alpha * (A[0] * x[0]);
    return;
  }
  const ${real} across = A[upper == row ? 1 : lda];
  y[0] += alpha * (A[0] * x[0] + across * x[1]);
  y[1] += alpha * (across * x[0] + A[lda + 1] * x[1]);
}

EXO_OTHERS void ${p}syr_others(bool upper, int64_t n, ${real} alpha, const ${real}* x,
                         int64_t incx, ${real}* A, int64_t lda) {
  if (incx == 1) {
    (upper ? K(${p}syr_u) : K(${p}syr_l))(n, &alpha, IN(x, n, 1), OUT2(A, lda));
    return;
  }
  x += exo_first(n, incx);
  ${real} rx[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t r = exo_least(kPiece, n - i);
    const ${real}* px = ${p}piece(x, incx, i, r, rx);
    (upper ? K(${p}syr_u) : K(${p}syr_l))(r, &alpha, IN(px, r, 1), OUT2(A + i * lda + i, lda));
    const struct exo_beside b = exo_beside(upper, n, i, r);
    if (b.n > 0)
      ${p}outer(r, b.n, alpha, x + i * incx, incx, x + b.from * incx, incx, A + i * lda + b.from,
                lda);
  }
}
/* From the longest row to the shortest: down an upper triangle, up a lower one. */
EXO_FEW void ${p}syr_of_few_u(int64_t n, ${real} alpha, const ${real}* x, ${real}* A, int64_t lda) {
#define EXO_ROW(width)                          \
  case width:                                   \
    ${p}add_to_ones(width, alpha * x[0], x, A); \
    ++x, A += lda + 1; __attribute__((fallthrough));
  switch (n) { EXO_CASES(EXO_ROW) default: break; }
#undef EXO_ROW
}
EXO_FEW void ${p}syr_of_few_l(int64_t n, ${real} alpha, const ${real}* x, ${real}* A, int64_t lda) {
  A += (n - 1) * lda;
#define EXO_ROW(width)                                  \
  case width:                                           \
    ${p}add_to_ones(width, alpha * x[(width)-1], x, A); \
    A -= lda; __attribute__((fallthrough));
  switch (n) { EXO_CASES(EXO_ROW) default: break; }
#undef EXO_ROW
}
#define EXO_SYR(triangle, is_upper)                                                      \
  EXO_STRAIGHT_TO(${p}syr_##triangle, n <= kFewOfMatrix, n * n > kStraight,              \
                  (int64_t n, ${real} alpha, const ${real}* x, ${real}* A, int64_t lda), \
                  ${p}syr_of_few_##triangle(n, alpha, x, A, lda),                        \
                  H(${p}syr_##triangle)(n, &alpha, IN(x, n, 1), OUT2(A, lda)),           \
                  ${p}syr_others(is_upper, n, alpha, x, 1, A, lda))
EXO_SYR(u, true) EXO_SYR(l, false)
EXO_FEW void ${p}syr_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* x, int64_t incx, ${real}* A, int64_t lda) {
  if (n == 0 || exo_zero(alpha)) return;
  if (incx != 1) {
    ${p}syr_others(upper == row, n, alpha, x, incx, A, lda);
    return;
  }
  if (n > kFewRows) {
    if (n <= kFewOfMatrix)
      (upper == row ? ${p}syr_u_few : ${p}syr_l_few)(n, alpha, x, A, lda);
    else
      (upper == row ? ${p}syr_u_straight : ${p}syr_l_straight)(n, alpha, x, A, lda);
    return;
  }
  A[0] += alpha * x[0] * x[0];
  if (n == 1) return;
  const ${real} t = alpha * x[1];
  A[upper == row ? 1 : lda] += t * x[0];
  A[lda + 1] += t * x[1];
}

EXO_OTHERS void ${p}syr2_others(bool upper, int64_t n, ${real} alpha, const ${real}* x,
                          int64_t incx, const ${real}* y, int64_t incy, ${real}* A, int64_t lda) {
  if (incx == 1 && incy == 1) {
    (upper ? K(${p}syr2_u) : K(${p}syr2_l))(n, &alpha, IN(x, n, 1), IN(y, n, 1), OUT2(A, lda));
    return;
  }
  x += exo_first(n, incx), y += exo_first(n, incy);
  ${real} rx[kPiece], ry[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t r = exo_least(kPiece, n - i);
    const ${real}* px = ${p}piece(x, incx, i, r, rx);
    const ${real}* py = ${p}piece(y, incy, i, r, ry);
    (upper ? K(${p}syr2_u) : K(${p}syr2_l))(r, &alpha, IN(px, r, 1), IN(py, r, 1),
                                            OUT2(A + i * lda + i, lda));
    const struct exo_beside b = exo_beside(upper, n, i, r);
    if (b.n == 0) continue;
    ${real}* part = A + i * lda + b.from;
    ${p}outer(r, b.n, alpha, x + i * incx, incx, y + b.from * incy, incy, part, lda);
    ${p}outer(r, b.n, alpha, y + i * incy, incy, x + b.from * incx, incx, part, lda);
  }
}
EXO_FEW void ${p}syr2_of_few_u(int64_t n, ${real} alpha, const ${real}* x, const ${real}* y, ${real}* A, int64_t lda) {
#define EXO_ROW(width)                                               \
  case width:                                                        \
    ${p}add_two_to_ones(width, alpha * x[0], y, alpha * y[0], x, A); \
    ++x, ++y, A += lda + 1; __attribute__((fallthrough));
  switch (n) { EXO_CASES(EXO_ROW) default: break; }
#undef EXO_ROW
}
EXO_FEW void ${p}syr2_of_few_l(int64_t n, ${real} alpha, const ${real}* x, const ${real}* y, ${real}* A, int64_t lda) {
  A += (n - 1) * lda;
#define EXO_ROW(width)                                                               \
  case width:                                                                        \
    ${p}add_two_to_ones(width, alpha * x[(width)-1], y, alpha * y[(width)-1], x, A); \
    A -= lda; __attribute__((fallthrough));
  switch (n) { EXO_CASES(EXO_ROW) default: break; }
#undef EXO_ROW
}
#define EXO_SYR2(triangle, is_upper)                                                                       \
  EXO_STRAIGHT_TO(${p}syr2_##triangle, n <= kFewOfMatrix, n * n > kStraight,                               \
                  (int64_t n, ${real} alpha, const ${real}* x, const ${real}* y, ${real}* A, int64_t lda), \
                  ${p}syr2_of_few_##triangle(n, alpha, x, y, A, lda),                                      \
                  H(${p}syr2_##triangle)(n, &alpha, IN(x, n, 1), IN(y, n, 1), OUT2(A, lda)),               \
                  ${p}syr2_others(is_upper, n, alpha, x, 1, y, 1, A, lda))
EXO_SYR2(u, true) EXO_SYR2(l, false)
EXO_FEW void ${p}syr2_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* x, int64_t incx, const ${real}* y, int64_t incy, ${real}* A, int64_t lda) {
  if (n == 0 || exo_zero(alpha)) return;
  if (incx != 1 || incy != 1) {
    ${p}syr2_others(upper == row, n, alpha, x, incx, y, incy, A, lda);
    return;
  }
  if (n > kFewRows) {
    if (n <= kFewOfMatrix)
      (upper == row ? ${p}syr2_u_few : ${p}syr2_l_few)(n, alpha, x, y, A, lda);
    else
      (upper == row ? ${p}syr2_u_straight : ${p}syr2_l_straight)(n, alpha, x, y, A, lda);
    return;
  }
  const ${real} tx = alpha * x[0], ty = alpha * y[0];
  A[0] += tx * y[0] + ty * x[0];
  if (n == 1) return;
  A[upper == row ? 1 : lda] += tx * y[1] + ty * x[1];
  A[lda + 1] += alpha * x[1] * y[1] + alpha * y[1] * x[1];
}

typedef void ${p}triangle(int64_t, struct exo_win_2${T}c, struct exo_win_1${T});

/* Few rows: a function for each triangle, reached by one jump and without windows, which has the kernels for those rows in it.
 * Beside so little work calls count. */
enum { kFewOfTriangle = 16, kFewestOfTriangle = 10 };
_Static_assert(kFewestOfTriangle == 10, "a case for each");
_Static_assert(kFewOfTriangle <= 2 * kTransposed && kFewOfTriangle <= ${whole_transposed} && kFewOfTriangle <= ${whole_upwards},
               "a kernel takes them whole");
typedef void ${p}few(int64_t, const ${real}*, int64_t, ${real}*);
/* Products of the fewest rows, each a sum of so many elements, a constant, from the longest to the shortest. Is it done? */
EXO_FEW ${real} ${p}sum_of(int64_t n, ${real} sum, const ${real}* a, const ${real}* x) {
  for (int64_t j = 0; j < n; ++j) sum += a[j] * x[j];
  return sum;
}
EXO_FEW bool ${p}trmv_fewest(unsigned which, int64_t n, const ${real}* restrict A, int64_t lda, ${real}* restrict x) {
  const bool trans = which & 4, upper = which & 2, unit = which & 1;
  if (trans || n > kFewestOfTriangle) return false;
  if (upper) {
#define EXO_ROW(width)                                                     \
  case width:                                                              \
    x[0] = ${p}sum_of((width)-1, unit ? x[0] : A[0] * x[0], A + 1, x + 1); \
    ++x, A += lda + 1; __attribute__((fallthrough));
    switch (n) { EXO_CASES_TO_10(EXO_ROW) default: break; }
#undef EXO_ROW
  } else {
    A += (n - 1) * lda;
#define EXO_ROW(width)                                                                             \
  case width:                                                                                      \
    x[(width)-1] = ${p}sum_of((width)-1, unit ? x[(width)-1] : A[(width)-1] * x[(width)-1], A, x); \
    A -= lda; __attribute__((fallthrough));
    switch (n) { EXO_CASES_TO_10(EXO_ROW) default: break; }
#undef EXO_ROW
  }
  return true;
}
#define EXO_FEWEST_trmv(...) ${p}trmv_fewest(__VA_ARGS__)
#define EXO_FEWEST_trsv(...) false
#define EXO_FEW_OF(routine, triangle, which)                                                              \
  EXO_VECTORS void ${p}##routine##_few_##triangle(int64_t n, const ${real}* A, int64_t lda, ${real}* x) { \
    if (n > kFewOfTriangle) __builtin_unreachable();                                                      \
    if (EXO_FEWEST_##routine(which, n, A, lda, x)) return;                                                \
    H(${p}##routine##_##triangle)(n, IN2(A, lda), OUT(x, n, 1));                                          \
  }
/* All there are, each where exo_which says. */
#define EXO_TRIANGLES(routine)                                                                                    \
  EXO_FEW_OF(routine, nln, 0) EXO_FEW_OF(routine, nlu, 1) EXO_FEW_OF(routine, nun, 2) EXO_FEW_OF(routine, nuu, 3) \
  EXO_FEW_OF(routine, tln, 4) EXO_FEW_OF(routine, tlu, 5) EXO_FEW_OF(routine, tun, 6) EXO_FEW_OF(routine, tuu, 7) \
  static ${p}few* const ${p}##routine##_few[] = {                                                                 \
      ${p}##routine##_few_nln, ${p}##routine##_few_nlu, ${p}##routine##_few_nun, ${p}##routine##_few_nuu,         \
      ${p}##routine##_few_tln, ${p}##routine##_few_tlu, ${p}##routine##_few_tun, ${p}##routine##_few_tuu};        \
  static ${p}triangle* const ${p}##routine##_whole[] = {                                                          \
      K(${p}##routine##_nln), K(${p}##routine##_nlu), K(${p}##routine##_nun), K(${p}##routine##_nuu),             \
      K(${p}##routine##_tln), K(${p}##routine##_tlu), K(${p}##routine##_tun), K(${p}##routine##_tuu)};
EXO_TRIANGLES(trmv)
EXO_TRIANGLES(trsv)

/* Which triangle, as rows of the matrix see it. */
static inline unsigned exo_which(bool row, bool upper, bool trans, bool unit) {
  return 4 * (trans == row) + 2 * (upper == row) + unit;
}

/* Blocks of a triangle from the first down or from the last up. */
static inline int64_t exo_block(bool down, int64_t rows, int64_t n, int64_t done) {
  return down ? done : exo_most(0, n - done - rows);
}

/* A kernel takes the whole triangle, but not from the last row up past the caches, and of transposed ones only
 * those of few rows: columns beside the diagonal go faster by many rows at once. */
static inline bool exo_whole(bool down, bool trans, int64_t few, int64_t upwards, int64_t n, int64_t inc) {
  return inc == 1 && n <= (trans ? few : down ? INT64_MAX : upwards);
}

EXO_OTHERS void ${p}trmv_others(${p}triangle* kernel, bool upper, bool trans, int64_t n, const ${real}* A,
                                int64_t lda, ${real}* x, int64_t incx) {
  x += exo_first(n, incx);
  ${real} rx[kTriangle];
  const ${real} one = 1;
  const int64_t rows = trans ? kTransposed : kTriangle;
  for (int64_t done = 0; done < n; done += rows) {
    const int64_t i = exo_block(upper != trans, rows, n, done), r = exo_least(rows, n - done);
    const struct exo_beside b = exo_beside(upper, n, i, r);
    const ${real}* part = A + i * lda + b.from;
    if (trans && b.n > 0)
      ${p}product(true, r, b.n, one, part, lda, x + i * incx, incx, x + b.from * incx, incx);
    ${real}* px = ${p}open(x, incx, i, r, rx);
    kernel(r, IN2(A + i * lda + i, lda), OUT(px, r, 1));
    ${p}close(x, incx, i, r, rx);
    if (!trans && b.n > 0)
      ${p}product(false, r, b.n, one, part, lda, x + b.from * incx, incx, x + i * incx, incx);
  }
}
EXO_OTHERS void ${p}trmv_some(unsigned which, int64_t n, const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  const bool trans = which & 4, upper = which & 2;
  if (exo_whole(upper != trans, trans, 2 * kTransposed, ${whole_upwards}, n, incx))
    ${p}trmv_whole[which](n, IN2(A, lda), OUT(x, n, 1));
  else
    ${p}trmv_others(${p}trmv_whole[which], upper, trans, n, A, lda, x, incx);
}
static inline void ${p}trmv_body(bool row, bool upper, bool trans, bool unit, int64_t n,
                                 const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  if (n == 0) return;
  if (n > kFewRows || incx != 1) {
    const unsigned which = exo_which(row, upper, trans, unit);
    if (n <= kFewOfTriangle && incx == 1)
      ${p}trmv_few[which](n, A, lda, x);
    else
      ${p}trmv_some(which, n, A, lda, x, incx);
    return;
  }
  if (n == 1) {
    if (!unit) x[0] *= A[0];
    return;
  }
  const bool above = upper != trans; /* the product's triangle */
  const int64_t first = above ? 0 : 1, last = 1 - first;
  const ${real} t = x[first], across = A[upper == row ? 1 : lda];
  x[first] = (unit ? t : A[first * (lda + 1)] * t) + across * x[last];
  if (!unit) x[last] *= A[last * (lda + 1)];
}

EXO_OTHERS void ${p}trsv_others(${p}triangle* kernel, bool upper, bool trans, int64_t n, const ${real}* A,
                                int64_t lda, ${real}* x, int64_t incx) {
  x += exo_first(n, incx);
  ${real} rx[kTriangle];
  const ${real} minus = -1;
  for (int64_t done = 0; done < n; done += kTriangle) {
    const int64_t i = exo_block(upper == trans, kTriangle, n, done), r = exo_least(kTriangle, n - done);
    const struct exo_beside b = exo_beside(upper, n, i, r);
    const ${real}* part = A + i * lda + b.from;
    if (!trans && b.n > 0)
      ${p}product(false, r, b.n, minus, part, lda, x + b.from * incx, incx, x + i * incx, incx);
    ${real}* px = ${p}open(x, incx, i, r, rx);
    kernel(r, IN2(A + i * lda + i, lda), OUT(px, r, 1));
    ${p}close(x, incx, i, r, rx);
    if (trans && b.n > 0)
      ${p}product(true, r, b.n, minus, part, lda, x + i * incx, incx, x + b.from * incx, incx);
  }
}
EXO_OTHERS void ${p}trsv_some(unsigned which, int64_t n, const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  const bool trans = which & 4, upper = which & 2;
  if (exo_whole(upper == trans, trans, ${whole_transposed}, exo_least(${whole_upwards}, ${solved_upwards} / (int64_t)sizeof(${real})), n, incx))
    ${p}trsv_whole[which](n, IN2(A, lda), OUT(x, n, 1));
  else
    ${p}trsv_others(${p}trsv_whole[which], upper, trans, n, A, lda, x, incx);
}
static inline void ${p}trsv_body(bool row, bool upper, bool trans, bool unit, int64_t n,
                                 const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  if (n == 0) return;
  if (n > kFewRows || incx != 1) {
    const unsigned which = exo_which(row, upper, trans, unit);
    if (n <= kFewOfTriangle && incx == 1)
      ${p}trsv_few[which](n, A, lda, x);
    else
      ${p}trsv_some(which, n, A, lda, x, incx);
    return;
  }
  if (n == 1) {
    if (!unit) x[0] /= A[0];
    return;
  }
  const bool above = upper != trans; /* the system's triangle */
  const int64_t first = above ? 1 : 0, last = 1 - first;
  if (!unit) x[first] /= A[first * (lda + 1)];
  x[last] -= A[upper == row ? 1 : lda] * x[first];
  if (!unit) x[last] /= A[last * (lda + 1)];
}

/* ---- banded and packed matrices: row by row, with the kernels of level 1 ---- */

/* What is stored of a row: columns [from, to), that of column j at a[j]. */
struct ${p}row {
  const ${real}* a;
  int64_t from, to;
};

/* Row i of a triangle: a band of k columns beside the diagonal with ld elements a row, or packed
 * (ld 0). */
static inline struct ${p}row ${p}row_of(const ${real}* A, int64_t ld, bool upper, int64_t n,
                                        int64_t k, int64_t i) {
  struct ${p}row r = {A, upper ? i : exo_most(0, i - k), upper ? exo_least(n, i + k + 1) : i + 1};
  if (ld > 0)
    r.a += i * ld - i + (upper ? 0 : k);
  else
    r.a += upper ? i * (2 * n - i - 1) / 2 : i * (i + 1) / 2;
  return r;
}
/* The row without its diagonal. */
static inline struct ${p}row ${p}aside(struct ${p}row r, bool upper) {
  if (upper)
    ++r.from;
  else
    --r.to;
  return r;
}

static inline ${real} ${p}row_dot(struct ${p}row r, const ${real}* x, int64_t inc) {
  const int64_t n = r.to - r.from;
  if (n <= 0) return 0;
  ${real} sum;
  if (inc == 1)
    K(${p}dot)(n, IN(r.a + r.from, n, 1), IN(x + r.from, n, 1), &sum);
  else
    K(${p}dot_any)
  (n, IN(r.a + r.from, n, 1), EXO_WINDOW(exo_win_1${T}c, x + r.from * inc, inc), &sum);
  return sum;
}
static inline void ${p}row_add(${real} alpha, struct ${p}row r, ${real}* y, int64_t inc) {
  const int64_t n = r.to - r.from;
  if (n <= 0) return;
  if (inc == 1)
    K(${p}axpy)(n, &alpha, IN(r.a + r.from, n, 1), OUT(y + r.from, n, 1));
  else
    K(${p}axpy_any)
  (n, &alpha, IN(r.a + r.from, n, 1), EXO_WINDOW(exo_win_1${T}, y + r.from * inc, inc));
}
/* The row itself is what is added to. */
static inline void ${p}add_to_row(${real} alpha, const ${real}* x, int64_t inc, struct ${p}row r) {
  const int64_t n = r.to - r.from;
  if (n <= 0) return;
  K(${p}axpy_any)
  (n, &alpha, EXO_WINDOW(exo_win_1${T}c, x + r.from * inc, inc), OUT((${real}*)r.a + r.from, n, 1));
}

static void ${p}gbmv_body(bool row, bool trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
                          ${real} alpha, const ${real}* A, int64_t lda, const ${real}* x,
                          int64_t incx, ${real} beta, ${real}* y, int64_t incy) {
  if (m == 0 || n == 0 || (alpha == 0 && beta == 1)) return;
  if (!row) {
    const int64_t t = m, u = kl;
    m = n, n = t, kl = ku, ku = u, trans = !trans;
  }
  x += exo_first(trans ? m : n, incx), y += exo_first(trans ? n : m, incy);
  ${p}scaled(trans ? n : m, beta, y, incy);
  if (alpha == 0) return;
  for (int64_t i = 0; i < m; ++i) {
    const struct ${p}row r = {A + i * lda + kl - i, exo_most(0, i - kl), exo_least(n, i + ku + 1)};
    if (trans)
      ${p}row_add(alpha * x[i * incx], r, y, incy);
    else
      y[i * incy] += alpha * ${p}row_dot(r, x, incx);
  }
}

/* y := alpha A x + beta y, A symmetric, its rows as ${p}row_of has them. */
static void ${p}symmetric(bool upper, int64_t n, int64_t k, ${real} alpha, const ${real}* A,
                          int64_t ld, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                          int64_t incy) {
  if (n == 0 || (alpha == 0 && beta == 1)) return;
  x += exo_first(n, incx), y += exo_first(n, incy);
  ${p}scaled(n, beta, y, incy);
  if (alpha == 0) return;
  for (int64_t i = 0; i < n; ++i) {
    const struct ${p}row r = ${p}row_of(A, ld, upper, n, k, i), aside = ${p}aside(r, upper);
    const ${real} t = alpha * x[i * incx];
    y[i * incy] += t * r.a[i] + alpha * ${p}row_dot(aside, x, incx);
    ${p}row_add(t, aside, y, incy);
  }
}

/* x := A x, x := A' x; the order of rows is the kernels'. */
static void ${p}multiplied(bool upper, bool trans, bool unit, int64_t n, int64_t k, const ${real}* A,
                           int64_t ld, ${real}* x, int64_t inc) {
  x += exo_first(n, inc);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper != trans ? step : n - 1 - step;
    const struct ${p}row r = ${p}row_of(A, ld, upper, n, k, i), aside = ${p}aside(r, upper);
    const ${real} t = x[i * inc], own = unit ? t : r.a[i] * t;
    if (trans)
      ${p}row_add(t, aside, x, inc);
    x[i * inc] = trans ? own : own + ${p}row_dot(aside, x, inc);
  }
}

/* x := inverse(A) x, x := inverse(A') x. */
static void ${p}solved(bool upper, bool trans, bool unit, int64_t n, int64_t k, const ${real}* A,
                       int64_t ld, ${real}* x, int64_t inc) {
  x += exo_first(n, inc);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper == trans ? step : n - 1 - step;
    const struct ${p}row r = ${p}row_of(A, ld, upper, n, k, i), aside = ${p}aside(r, upper);
    if (!trans) x[i * inc] -= ${p}row_dot(aside, x, inc);
    if (!unit) x[i * inc] /= r.a[i];
    if (trans) ${p}row_add(-x[i * inc], aside, x, inc);
  }
}

static void ${p}sbmv_body(bool row, bool upper, int64_t n, int64_t k, ${real} alpha, const ${real}* A,
                          int64_t lda, const ${real}* x, int64_t incx, ${real} beta, ${real}* y,
                          int64_t incy) {
  ${p}symmetric(upper == row, n, k, alpha, A, lda, x, incx, beta, y, incy);
}
static void ${p}spmv_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* A,
                          const ${real}* x, int64_t incx, ${real} beta, ${real}* y, int64_t incy) {
  ${p}symmetric(upper == row, n, n, alpha, A, 0, x, incx, beta, y, incy);
}
static void ${p}tbmv_body(bool row, bool upper, bool trans, bool unit, int64_t n, int64_t k,
                          const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  ${p}multiplied(upper == row, trans == row, unit, n, k, A, lda, x, incx);
}
static void ${p}tpmv_body(bool row, bool upper, bool trans, bool unit, int64_t n, const ${real}* A,
                          ${real}* x, int64_t incx) {
  ${p}multiplied(upper == row, trans == row, unit, n, n, A, 0, x, incx);
}
static void ${p}tbsv_body(bool row, bool upper, bool trans, bool unit, int64_t n, int64_t k,
                          const ${real}* A, int64_t lda, ${real}* x, int64_t incx) {
  ${p}solved(upper == row, trans == row, unit, n, k, A, lda, x, incx);
}
static void ${p}tpsv_body(bool row, bool upper, bool trans, bool unit, int64_t n, const ${real}* A,
                          ${real}* x, int64_t incx) {
  ${p}solved(upper == row, trans == row, unit, n, n, A, 0, x, incx);
}

static void ${p}spr_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* x,
                         int64_t incx, ${real}* A) {
  if (n == 0 || alpha == 0) return;
  if (!row) upper = !upper;
  x += exo_first(n, incx);
  for (int64_t i = 0; i < n; ++i)
    ${p}add_to_row(alpha * x[i * incx], x, incx, ${p}row_of(A, 0, upper, n, n, i));
}
static void ${p}spr2_body(bool row, bool upper, int64_t n, ${real} alpha, const ${real}* x,
                          int64_t incx, const ${real}* y, int64_t incy, ${real}* A) {
  if (n == 0 || alpha == 0) return;
  if (!row) upper = !upper;
  x += exo_first(n, incx), y += exo_first(n, incy);
  for (int64_t i = 0; i < n; ++i) {
    const struct ${p}row r = ${p}row_of(A, 0, upper, n, n, i);
    ${p}add_to_row(alpha * x[i * incx], y, incy, r);
    ${p}add_to_row(alpha * y[i * incy], x, incx, r);
  }
}
