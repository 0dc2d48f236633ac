#pragma once
// Object code that several tests read.
#include <string>
#include <vector>

namespace exotune::samples {

inline const std::string kSgemm = R"exo(@proc
def sgemm(M: size, N: size, K: size, C: f32[M, N], A: f32[M, K], B: f32[K, N]):
    for k in seq(0, K):
        for i in seq(0, M):
            for j in seq(0, N):
                C[i, j] += A[i, k] * B[k, j]
)exo";

inline const std::vector<std::string> kFiles = {
    kSgemm,
    R"exo(
W = 8
H = 2 * W

@memory
class VEC:
    kind = "vector"
    count = 16
    bytes = 32
    c_types = {"f32": "__m256"}

@memory
class SRAM:
    """A scratchpad."""
    kind = 'scratchpad'
    bytes = 65536
    read = "sram_read({offset})"

@config
class Cfg:
    scale : f32
    src_stride : stride
    on : bool
    n : size

@config(readwrite=False)
class Hidden:
    mode : index

@instr("{dst_data} = _mm256_loadu_ps(&{src_data});", "#include <immintrin.h>\n", cost = 0.5)
def load8(dst: [f32][8] @ VEC, src: [f32][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 8):
        dst[i] = src[i]

@proc
def everything(n: size, m: size, b: bool, s: stride, o: index, x: R, y: f32[n, m + 1] @ DRAM,
               w: [f64][n, 4], z: i8[16]):
    "Uses every form once."
    assert n % W == 0 and m > 0
    assert 0 <= o < n or not b
    assert stride(w, 0) == 4
    t : f32 @ DRAM
    t = 1.5
    x = -t
    acc : f32[H, n]
    v : f32[8] @ VEC
    for i in seq(0, n):
        for j in par(0, m + 1):
            if i < 4 and j != 3:
                y[i, j] = 2.0 * t + sin(t) / 3.0
            elif j == 2 or b:
                y[i, j] += select(t, 0.0, y[i, j], -1.0)
            else:
                y[i, j] max= -(t - 1.0) * (t + 2.0)
                y[i, j] min= pow(t, 2.0) + f32(n - i) / f32(3)
    for i in seq(1, n / 8):
        load8(v[0:8], y[i, 0:8])
        row = y[i, 0:m]
        for j in seq(0, m):
            row[j] = 0.0
    for i in seq(-2, 3):
        pass
    Cfg.scale = t * 2.0
    Cfg.on = n > 3
    Cfg.n = n
    if Cfg.on:
        t = Cfg.scale
    for i in seq(0, (n + 7) / 8 * 8 - 3 * (n - 1) % 4):
        if i < n:
            y[i, 0] = w[i, 3]
    z[0] = 3
    z[1] = z[0] * 2 - (z[1] - z[2])
    e : f64
    e = 1e-300 + w[0, 0] / 7.0
    if n - 1 - (m - 2) < 3 * 2 - -4:
        everything_less : R
        everything_less = 0.1
)exo",
    "@proc\ndef tabs(x: R):\n\tfor i in seq(0, 1):\n\t\tx = 1.0\n\tx += 2.0\n",
    "@proc\r\ndef crlf(x: R):\r\n    x = 1.0\r\n\r\n    x += 2.0\r\n",
    "@proc\ndef one_line(x: R): x = 1.0; x += 2.0",
    "@proc\ndef shadow(n: size, x: R[n]):\n    for i in seq(0, n):\n        for i in seq(0, n):\n"
    "            x[i] = 0.0\n    for i in seq(0, n):\n        i_1 : R\n        for i in seq(0, "
    "n):\n"
    "            i_1 = 0.0\n            x[i] = i_1\n",
    "@proc\ndef nothing():\n    pass\n",
    "@proc\ndef a(x: f32):\n    x = 0.0\n\n@proc\ndef b(n: size, x: f32[n], i: index):\n"
    "    assert i >= 0\n    assert i < n\n    a(x[i])\n    y : f32\n    a(y)\n",
    "@proc\ndef win(x: [f32][4]):\n    x[0] = 0.0\n\n@proc\ndef caller(x: f32[4, 8], y: "
    "[f32][4]):\n"
    "    win(x[:, 3])\n    win(x[1, 2:6])\n    win(y)\n    z : f32[4]\n    win(z)\n    w = x[1:3, "
    ":]\n"
    "    v = w[0, 1:5]\n    win(v)\n",
};

}  // namespace exotune::samples
