#pragma once
// Nests that several tests of moves and of the search by them share.
#include <algorithm>
#include <string>

#include "core/frontend/parser.h"
#include "search/moves/step.h"

namespace exotune {

inline ProcPtr parsed(const std::string& text) { return parse_module(text, "k.exo").procs.front(); }

inline int count_of(const Steps& steps, const std::string& op) {
  return static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [&](const auto& s) { return s.op == op; }));
}

// Four heads for each group of keys.
inline constexpr const char* kGrouped = R"(
@proc
def grouped(q: f32[8, 32], k: f32[2, 12, 32], s: f32[8, 12]):
    for h in seq(0, 8):
        for t in seq(0, 12):
            for d in seq(0, 32):
                s[h, t] += q[h, d] * k[h / 4, t, d]
)";

// Results that no long loop runs along.
inline constexpr const char* kScattered = R"(
@proc
def scattered(x: f32[8, 20], w: f32[8, 32, 4], y: f32[32, 42]):
    for c in seq(0, 8):
        for k in seq(0, 32):
            for i in seq(0, 20):
                for r in seq(0, 4):
                    y[k, 2 * i + r] += x[c, i] * w[c, k, r]
)";

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

// Two passes with planes outside, what they make in arrays of the procedure.
inline constexpr const char* kStages = R"(
@proc
def stages(w: f32[3], x: f32[2, 11, 9], y: f32[2, 9, 9]):
    gray: f32[11, 9]
    for i in seq(0, 11):
        for j in seq(0, 9):
            gray[i, j] = w[0] * x[0, i, j] + w[1] * x[1, i, j]
    edge: f32[9, 9]
    for i in seq(0, 9):
        for j in seq(0, 9):
            edge[i, j] = gray[i, j] - gray[i + 2, j]
    for c in seq(0, 2):
        for i in seq(0, 9):
            for j in seq(0, 9):
                y[c, i, j] = x[c, i + 1, j] + w[2] * edge[i, j]
)";

}  // namespace exotune
