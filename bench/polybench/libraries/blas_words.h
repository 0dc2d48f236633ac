// What rows of calls.toml may say beside CBLAS: LAPACK by its Fortran names, and a buffer.
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

#define ROW CblasRowMajor
#define N_ CblasNoTrans
#define T_ CblasTrans
#define LOW CblasLower
#define UP CblasUpper
#define LEFT CblasLeft
#define RIGHT CblasRight
#define PLAIN CblasNonUnit
#define UNIT CblasUnit

// Room that stays from call to call.
static void* room(size_t bytes) {
  static void* at;
  static size_t have;
  if (have < bytes) at = realloc(at, have = bytes);
  return at;
}
