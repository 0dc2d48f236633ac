/* What happens to wrong arguments. A program may have a cblas_xerbla or an xerbla_ of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

/* Set when an argument is refused, never otherwise: an own cblas_xerbla reads it, as the reference's
 * testers do, to know that positions are those of the transposed call. */
EXO_PUBLIC int RowMajorStrg = 0;

void exo_wrong_argument(bool row, int position, const char* routine) {
  RowMajorStrg = row;
  cblas_xerbla(position, routine, "");
}

EXO_PUBLIC __attribute__((weak)) void cblas_xerbla(int position, const char* routine,
                                                   const char* form, ...) {
  va_list arguments;
  va_start(arguments, form);
  fprintf(stderr, "%s: wrong argument %d%s\n", routine, position,
          RowMajorStrg ? " (counted as in the transposed call)" : "");
  vfprintf(stderr, form, arguments);
  va_end(arguments);
  exit(-1);
}

EXO_PUBLIC __attribute__((weak)) void xerbla_(const char* routine, const int* position,
                                              size_t length) {
  fprintf(stderr, " ** On entry to %.*s parameter number %2d had an illegal value\n",
          (int)(length > 32 ? 32 : length), routine, *position);
  exit(1);
}
