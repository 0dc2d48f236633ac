/* The C interface of the BLAS routines in this library, as cblas.h has them. */
#ifndef CBLAS_H
#define CBLAS_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CBLAS_INT
#define CBLAS_INT int32_t
#endif
#define CBLAS_INDEX size_t
typedef uint16_t bfloat16; /* of cblas_sbgemm's factors: the upper half of a float */
typedef enum CBLAS_LAYOUT { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_LAYOUT;
typedef enum CBLAS_TRANSPOSE {
  CblasNoTrans = 111,
  CblasTrans = 112,
  CblasConjTrans = 113
} CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;
#define CBLAS_ORDER CBLAS_LAYOUT

void cblas_xerbla(int position, const char* routine, const char* form, ...);

${prototypes}

#ifdef __cplusplus
}
#endif
#endif
