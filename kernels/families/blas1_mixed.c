static double dsdot_body(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy) {
  if (n <= 0) return 0;
  double result;
  if (incx == 1 && incy == 1)
    K(dsdot)(n, EXO_IN_S(x, n, 1), EXO_IN_S(y, n, 1), &result);
  else
    K(dsdot_any)(n, EXO_IN_S(x, n, incx), EXO_IN_S(y, n, incy), &result);
  return result;
}

static float sdsdot_body(int64_t n, float sb, const float* x, int64_t incx, const float* y,
                         int64_t incy) {
  return (float)(sb + dsdot_body(n, x, incx, y, incy));
}
