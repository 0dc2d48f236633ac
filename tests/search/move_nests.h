#pragma once
// Nests that several tests of moves and of the search by them share.
#include <string>

#include "core/frontend/parser.h"

namespace exotune {

inline ProcPtr parsed(const std::string& text) { return parse_module(text, "k.exo").procs.front(); }

inline constexpr const char* kTransposed = R"(
@proc
def transposed(A: f32[12, 16], B: f32[40, 16], C: f32[12, 40]):
    for i in seq(0, 12):
        for j in seq(0, 40):
            for k in seq(0, 16):
                C[i, j] += A[i, k] * B[j, k]
)";

inline constexpr const char* kSteps = R"(
@proc
def steps(x: f32[34], y: f32[34]):
    for t in seq(0, 3):
        for i in seq(1, 33):
            y[i] = x[i - 1] + x[i + 1]
        for i in seq(1, 33):
            x[i] = y[i - 1] + y[i + 1]
)";

// Rows that share y are those of b; c and d both run through y.
inline constexpr const char* kFourIndices = R"(
@proc
def four_indices(x: f32[2, 6, 12], y: f32[6, 3, 32], z: f32[2, 12, 3, 32]):
    for a in seq(0, 2):
        for b in seq(0, 12):
            for c in seq(0, 3):
                for d in seq(0, 32):
                    for e in seq(0, 6):
                        z[a, b, c, d] += x[a, e, b] * y[e, c, d]
)";

}  // namespace exotune
