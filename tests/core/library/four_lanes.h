#pragma once
// A vector unit of four lanes for tests of the scheduling library: its instructions as text, and
// the kernels of a test beside them in one module.
#include <string>

#include "core/frontend/parser.h"
#include "core/library/vectorize.h"

namespace exotune {

inline constexpr const char* kFourLanes = R"(
@memory
class V4:
    kind = "vector"
    bytes = 16

@instr("load")
def load(dst: [f32][4] @ V4, src: [f32][4] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("store")
def store(dst: [f32][4] @ DRAM, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("load_prefix")
def load_prefix(n: size, dst: [f32][4] @ V4, src: [f32][n] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("store_prefix")
def store_prefix(n: size, dst: [f32][n] @ DRAM, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("broadcast")
def broadcast(dst: [f32][4] @ V4, src: [f32][1] @ DRAM):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[0]

@instr("fma")
def fma(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] += a[i] * b[i]

@instr("fma_prefix")
def fma_prefix(n: size, dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] += a[i] * b[i]

@instr("broadcast_prefix")
def broadcast_prefix(n: size, dst: [f32][4] @ V4, src: [f32][1] @ DRAM):
    assert stride(dst, 0) == 1
    assert n <= 4
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[0]

@instr("zero")
def zero(dst: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = 0.0

@instr("lanes")
def lanes(dst: [f32][1] @ DRAM, src: [f32][4] @ V4):
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[0] += src[i]

@instr("lanes_scalar")
def lanes_scalar(dst: f32 @ DRAM, src: [f32][4] @ V4):
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst += src[i]
)";

/// For units that subtract products, too: in front of a test's own text.
inline const std::string kSubtracting = R"(
@instr("subtract")
def subtract(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] += -a[i] * b[i]
)";

// Halves come in whole vectors alone.
inline constexpr const char* kHalves = R"(
@instr("load_half4")
def load_half4(dst: [f32][4] @ V4, src: [f16][4] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("mul4")
def mul4(dst: [f32][4] @ V4, a: [f32][4] @ V4, b: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(a, 0) == 1
    assert stride(b, 0) == 1
    for i in seq(0, 4):
        dst[i] = a[i] * b[i]
)";

struct FourLanes {
  Module module;
  VectorUnit unit;

  explicit FourLanes(const std::string& kernels)
      : module(parse_module(kFourLanes + kernels, "lanes.exo")) {
    unit.lanes = 4;
    unit.memory = module.memories.at("V4");
    for (const ProcPtr& p : module.procs)
      if (p->instr) unit.instrs.push_back(p);
  }
  ProcPtr find(const std::string& name) const { return module.find_proc(name); }
};

}  // namespace exotune
