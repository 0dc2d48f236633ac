/* What the hand-written parts share: windows as the kernels take them, and refused arguments. */
#ifndef EXO_BLAS_COMMON_H
#define EXO_BLAS_COMMON_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cblas.h"

#define EXO_PUBLIC __attribute__((visibility("default")))
/* Few elements go straight to the kernel, which stands in a function beside the entry point; all others have
 * functions of their own, so that nothing is saved and restored for their sake. */
#define EXO_STRAIGHT static inline __attribute__((flatten))
/* One or two elements are taken where the entry begins and nothing is saved yet. */
#define EXO_FEW static inline __attribute__((always_inline))
#define EXO_VECTORS static __attribute__((noinline, flatten))
/* What saves no registers stands in the entry itself: each jump that is taken costs as much as adding a vector. */
#define EXO_HERE static inline __attribute__((always_inline, flatten))
#define EXO_OTHERS static __attribute__((noinline))
#define EXO_RARE(condition) __builtin_expect(!!(condition), 0)

/* few < n < most, in one comparison: what is asked first is what most calls are. */
#define EXO_BETWEEN(few, n, most) ((uint64_t)(n) - (few) - 1 < (uint64_t)(most) - (few) - 1)

/* Is a number zero, or the same as a constant that is not? Of their bits: what is not ordered need not be asked for, which is
 * another jump, and one that mostly is taken. */
#define exo_bits(x) _Generic((x), float: exo_bits_of_float, double: exo_bits_of_double)(x)
#define exo_zero(x) (exo_bits(x) << 1 == 0)
#define exo_same(x, constant) (exo_bits(x) == exo_bits(constant))
static inline uint32_t exo_bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline uint64_t exo_bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Elements of a vector that are brought into one piece at a time, on the stack. */
enum { kPiece = 512 };

static inline int64_t exo_most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t exo_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* How large pieces of n elements are that are to be alike: at most `most`, rounded up to whole multiples of
 * `step`. */
static inline int64_t exo_alike(int64_t n, int64_t most, int64_t step) {
  const int64_t pieces = (n + most - 1) / most;
  return ((n + pieces - 1) / pieces + step - 1) / step * step;
}

/* The first element of a vector in the order of its indices: BLAS counts from the far end of one
 * whose increment is negative. */
static inline int64_t exo_first(int64_t n, int64_t inc) { return inc < 0 ? (1 - n) * inc : 0; }

/* Windows. Kernels take them in memory, which compilers fill by halves and copy as a whole: a load that
 * waits for two stores. The address and the first stride are written at once. */
typedef int64_t exo_pair __attribute__((vector_size(16)));
#define EXO_WINDOW(type, address, stride)                                     \
  ({                                                                          \
    struct type exo_window;                                                   \
    const exo_pair exo_head = {(int64_t)(intptr_t)(address), (stride)};       \
    memcpy(&exo_window, &exo_head, sizeof exo_head);                          \
    exo_window;                                                               \
  })
#define EXO_WINDOW2(type, address, row, column)                               \
  ({                                                                          \
    struct type exo_window;                                                   \
    const exo_pair exo_head = {(int64_t)(intptr_t)(address), (row)};          \
    memcpy(&exo_window, &exo_head, sizeof exo_head);                          \
    exo_window.strides[1] = (column);                                         \
    exo_window;                                                               \
  })

/* A vector of n elements as a window. */
#define EXO_IN_S(x, n, inc) EXO_WINDOW(exo_win_1f32c, (x) + exo_first(n, inc), inc)
#define EXO_IN_D(x, n, inc) EXO_WINDOW(exo_win_1f64c, (x) + exo_first(n, inc), inc)
#define EXO_OUT_S(x, n, inc) EXO_WINDOW(exo_win_1f32, (x) + exo_first(n, inc), inc)
#define EXO_OUT_D(x, n, inc) EXO_WINDOW(exo_win_1f64, (x) + exo_first(n, inc), inc)

/* A matrix as a window: rows are ld apart. */
#define EXO_IN2_S(a, ld) EXO_WINDOW2(exo_win_2f32c, a, ld, 1)
#define EXO_IN2_D(a, ld) EXO_WINDOW2(exo_win_2f64c, a, ld, 1)
#define EXO_OUT2_S(a, ld) EXO_WINDOW2(exo_win_2f32, a, ld, 1)
#define EXO_OUT2_D(a, ld) EXO_WINDOW2(exo_win_2f64, a, ld, 1)

/* Is the first letter of a Fortran string one of these? */
static inline bool exo_letter(const char* text, const char* letters) {
  for (; *letters; ++letters)
    if (*text == *letters) return true;
  return false;
}

/* Memory of the calling thread, aligned to a page: `bytes` at least, until the next call. It is kept
 * for later calls and given back when the thread ends. Ends the program when there is none. */
void* exo_workspace(size_t bytes);

/* How many threads `work` is worth, of which one should have `least` at least: 1 where the environment
 * names no number of threads, and inside of a parallel region. */
int64_t exo_team_size(int64_t work, int64_t least);

/* Calls share(job, k, of) for k = 0 .. of - 1, each on a thread of its own, and waits for them; `of` is
 * at most `size`. */
typedef void exo_share(const void* job, int64_t k, int64_t of);
void exo_team(int64_t size, exo_share* share, const void* job);

/* Where share k of n elements begins, in whole multiples of `step`; share `of` begins at n. */
static inline int64_t exo_begin(int64_t n, int64_t step, int64_t k, int64_t of) {
  return exo_least(n, (n + step - 1) / step * k / of * step);
}

/* Both may be the program's own. */
void xerbla_(const char* routine, const int* position, size_t length);
void exo_wrong_argument(bool row, int position, const char* routine);
#endif
