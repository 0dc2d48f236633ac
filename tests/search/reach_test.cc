// Every operator that the program search's moves name is reached on some nest: the names are read
// off the moves' own source, so a move that nothing can use fails here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/frontend/parser.h"
#include "core/library/operators.h"
#include "core/library/step.h"
#include "search/program_search.h"
#include "search/steps/builders.h"

namespace exotune {
namespace {

std::set<std::string> operators_named_by_moves() {
  std::set<std::string> out;
  const std::regex literal("\"([a-z_0-9]+)\"");
  for (const auto& file : std::filesystem::directory_iterator(EXOTUNE_SOURCE_DIR "/search/moves")) {
    if (file.path().extension() != ".cc") continue;
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator m(source.begin(), source.end(), literal), end; m != end; ++m)
      if (find_operator((*m)[1])) out.insert((*m)[1]);
  }
  return out;
}

// A nest for each structure that some move is for.
const char* const kNests = R"(
@proc
def torques(x: f32[32, 3], f: f32[32, 3], y: f32[32]):
    for i in seq(0, 32):
        r: f32[3]
        for k in seq(0, 3):
            r[k] = x[i, (k + 1) % 3] * f[i, k]
        y[i] = r[0] + r[1] * r[2]

@proc
def shared_solves(y: f32[20, 48]):
    for r in seq(0, 20):
        cp: f32[48]
        cp[0] = 0.25
        for i in seq(1, 48):
            cp[i] = 1.0 / (4.0 - cp[i - 1])
            y[r, i] = (y[r, i] - y[r, i - 1]) * cp[i]

@proc
def scaled_blocks(q: i8[64, 8, 32], d: f32[64, 8], x: i8[8, 32], y: f32[64]):
    for r in seq(0, 64):
        y[r] = 0.0
        for b in seq(0, 8):
            s: i32
            s = 0
            for k in seq(0, 32):
                s += i32(q[r, b, k]) * i32(x[b, k])
            y[r] += d[r, b] * f32(s)

@proc
def both_strands(p: f32[12, 5, 2], x: f32[2, 69], score: f32[12, 64]):
    for m in seq(0, 12):
        for i in seq(0, 64):
            fwd: f32
            rev: f32
            fwd = 0.0
            rev = 0.0
            for k in seq(0, 5):
                for b in seq(0, 2):
                    fwd += p[m, k, b] * x[b, i + k]
                    rev += p[m, 4 - k, 1 - b] * x[b, i + k]
            score[m, i] = fmax(fwd, rev)

@proc
def scaled_product(beta: f32, A: f32[32, 48], B: f32[48, 64], C: f32[32, 64]):
    for i in seq(0, 32):
        for j in seq(0, 64):
            C[i, j] = C[i, j] * beta
        for k in seq(0, 48):
            for j in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j]

@proc
def rows_through_a_buffer(A: f32[4, 20, 32], W: f32[32, 32], sum: f32[32]):
    for r in seq(0, 4):
        for q in seq(0, 20):
            for p in seq(0, 32):
                sum[p] = 0.0
                for s in seq(0, 32):
                    sum[p] += A[r, q, s] * W[s, p]
            for p in seq(0, 32):
                A[r, q, p] = sum[p]

@proc
def heads_of_a_group(q: f32[8, 32], k: f32[2, 12, 32], s: f32[8, 12]):
    for h in seq(0, 8):
        for t in seq(0, 12):
            for d in seq(0, 32):
                s[h, t] += q[h, d] * k[h / 4, t, d]

@proc
def scaled(alpha: f32, A: f32[32, 48], B: f32[48, 64], C: f32[32, 64]):
    for i in seq(0, 32):
        for k in seq(0, 48):
            for j in seq(0, 64):
                C[i, j] += alpha * A[i, k] * B[k, j]

@proc
def means(x: f32[2, 17, 65], y: f32[2, 8, 32]):
    for c in seq(0, 2):
        for i in seq(0, 8):
            for j in seq(0, 32):
                y[c, i, j] = 0.0
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        y[c, i, j] += x[c, 2 * i + r, 2 * j + s]
                y[c, i, j] = y[c, i, j] / 9.0

@proc
def groups(A: f32[20, 2, 20], s: f32[2, 32], B: f32[2, 20, 32], C: f32[20, 32]):
    for i in seq(0, 20):
        for j in seq(0, 32):
            C[i, j] = 0.0
            for g in seq(0, 2):
                t: f32
                t = 0.0
                for k in seq(0, 20):
                    t += A[i, g, k] * B[g, k, j]
                C[i, j] += s[g, j] * t

@proc
def functions(x: f32[3, 600], s: f32[3], y: f32[3, 600]):
    for i in seq(0, 3):
        s[i] = 0.0
        for j in seq(0, 600):
            s[i] += x[i, j]
        for j in seq(0, 600):
            y[i, j] = tanh(exp(x[i, j] - s[i]))

@proc
def two_terms(A: f32[32, 48], B: f32[48, 64], D: f32[32, 48], E: f32[48, 64], C: f32[32, 64]):
    for i in seq(0, 32):
        for j in seq(0, 64):
            C[i, j] = 0.0
        for k in seq(0, 48):
            for j in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j] + D[i, k] * E[k, j]

@proc
def across_rows(A: f32[32, 48], B: f32[64, 48], C: f32[32, 64]):
    for i in seq(0, 32):
        for j in seq(0, 64):
            for k in seq(0, 48):
                C[i, j] += A[i, k] * B[j, k]

@proc
def factors(A: f64[32, 32]):
    for i in seq(0, 32):
        for j in seq(0, i):
            w: f64
            w = A[i, j]
            for k in seq(0, j):
                w += -(A[i, k] * A[k, j])
            A[i, j] = w / A[j, j]
        for j in seq(i, 32):
            for k in seq(0, i):
                A[i, j] += -(A[i, k] * A[k, j])

@proc
def roots(A: f64[32, 32]):
    for i in seq(0, 32):
        for j in seq(0, i):
            for k in seq(0, j):
                A[i, j] += -(A[i, k] * A[j, k])
            A[i, j] = A[i, j] / A[j, j]
        for k in seq(0, i):
            A[i, i] += -(A[i, k] * A[i, k])
        A[i, i] = sqrt(A[i, i])

@proc
def smoothed(x: f32[32, 20], y: f32[32, 20]):
    for i in seq(0, 32):
        s: f32
        s = 0.0
        for j in seq(0, 20):
            y[i, j] = x[i, j] + 0.5 * s
            s = y[i, j]

@proc
def normalized(x: f32[20, 96], s: f32[96], t: f32[96]):
    for i in seq(0, 20):
        for j in seq(0, 96):
            x[i, j] = x[i, j] * s[j] + t[j]

@proc
def paths(x: f32[96, 96]):
    for k in seq(0, 96):
        for i in seq(0, 96):
            for j in seq(0, 96):
                x[i, j] min= x[i, k] + x[k, j]

@proc
def bordered(x: f32[20, 40], y: f32[20, 40]):
    for i in seq(0, 20):
        for j in seq(0, 40):
            y[i, j] = 0.0
            for d in seq(0, 3):
                if 1 <= j + d and j + d < 41:
                    y[i, j] += x[i, j + d - 1]

@proc
def right_sides(L: f64[16, 16], B: f64[16, 16]):
    for r in seq(0, 16):
        for i in seq(0, 16):
            for k in seq(0, i):
                B[i, r] += -(L[i, k] * B[k, r])
            B[i, r] = B[i, r] / L[i, i]

@proc
def relaxed(A: f64[34, 40]):
    for i in seq(1, 33):
        for j in seq(1, 39):
            A[i, j] = 0.2 * (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j])

@proc
def own_half(A: f64[40, 96], C: f64[96, 96]):
    for i in seq(0, 96):
        for j in seq(i, 96):
            for k in seq(0, 40):
                C[i, j] += A[k, i] * A[k, j]

@proc
def distances(X: f32[32, 24], Y: f32[24, 64], D: f32[32, 64]):
    for i in seq(0, 32):
        for j in seq(0, 64):
            for d in seq(0, 24):
                D[i, j] += (X[i, d] - Y[d, j]) * (X[i, d] - Y[d, j])

@proc
def rows(x: f32[24, 64], y: f32[24, 64]):
    for i in seq(0, 24):
        m: f32
        m = 0.0
        for j in seq(0, 64):
            m += x[i, j]
        for j in seq(0, 64):
            y[i, j] = x[i, j] - m

@proc
def columns(A: f64[40, 64], x: f64[40], y: f64[64]):
    for i in seq(0, 40):
        for j in seq(0, 64):
            y[j] += A[i, j] * x[i]

@proc
def sweeps(x: f32[20, 34], y: f32[20, 34]):
    for t in seq(0, 4):
        for i in seq(1, 20):
            for j in seq(1, 33):
                y[i, j] = x[i - 1, j] + x[i, j - 1] + x[i, j + 1]
        for i in seq(1, 20):
            for j in seq(1, 33):
                x[i, j] = y[i - 1, j] + y[i, j - 1] + y[i, j + 1]

@proc
def turned_over(x: f32[40, 34], y: f32[34, 40]):
    for i in seq(0, 40):
        for j in seq(0, 34):
            y[j, i] = x[i, j]

@proc
def polynomial(c: f32[6], x: f32[100], y: f32[100]):
    for i in seq(0, 100):
        t: f32
        t = c[0]
        for d in seq(1, 6):
            t = t * x[i] + c[d]
        y[i] = t

@proc
def turned_pairs(c: f32[64], s: f32[64], x: f32[128]):
    for d in seq(0, 64):
        u: f32
        u = x[2 * d]
        x[2 * d] = u * c[d] - x[2 * d + 1] * s[d]
        x[2 * d + 1] = u * s[d] + x[2 * d + 1] * c[d]

@proc
def windows(x: f32[64, 96], s: f32[4, 3], q: f32[4, 3]):
    for i in seq(0, 4):
        for j in seq(0, 3):
            for r in seq(0, 16):
                for c in seq(0, 32):
                    s[i, j] += x[16 * i + r, 32 * j + c]
                    q[i, j] += x[16 * i + r, 32 * j + c] * x[16 * i + r, 32 * j + c]

@proc
def scattered(x: f32[8, 40], w: f32[8, 32, 4], y: f32[32, 82]):
    for c in seq(0, 8):
        for k in seq(0, 32):
            for i in seq(0, 40):
                for r in seq(0, 4):
                    y[k, 2 * i + r] += x[c, i] * w[c, k, r]

@proc
def product_of_polynomials(a: f32[32], b: f32[200], c: f32[240]):
    for i in seq(0, 32):
        for j in seq(0, 200):
            c[i + j] += a[i] * b[j]

@proc
def rotated(x: f32[100], y: f32[100], c: f32, s: f32):
    for i in seq(0, 100):
        t: f32
        t = c * x[i] + s * y[i]
        y[i] = c * y[i] - s * x[i]
        x[i] = t

@proc
def bytes(A: i8[12, 32], B: i8[32, 64], C: i32[12, 64]):
    for i in seq(0, 12):
        for j in seq(0, 64):
            for k in seq(0, 32):
                a: i32
                b: i32
                a = A[i, k]
                b = B[k, j]
                C[i, j] += a * b

@proc
def staggered(a: f32[40, 34], b: f32[40, 34], c: f32[40, 34]):
    for i in seq(1, 39):
        for j in seq(0, 34):
            a[i, j] = c[i, j] * 2.0
    for i in seq(0, 40):
        for j in seq(0, 34):
            b[i, j] = c[i, j] * 3.0

@proc
def sharpened(w: f32[3], x: f32[2, 35, 64], y: f32[2, 33, 64]):
    gray: f32[35, 64]
    for i in seq(0, 35):
        for j in seq(0, 64):
            gray[i, j] = w[0] * x[0, i, j] + w[1] * x[1, i, j]
    edge: f32[33, 64]
    for i in seq(0, 33):
        for j in seq(0, 64):
            edge[i, j] = gray[i, j] - gray[i + 2, j]
    for c in seq(0, 2):
        for i in seq(0, 33):
            for j in seq(0, 64):
                y[c, i, j] = x[c, i + 1, j] + w[2] * edge[i, j]

@proc
def filtered(x: f32[64], y: f32[64]):
    a: f32
    a = 0.0
    for i in seq(0, 64):
        a = 0.5 * a + sqrt(x[i])
        y[i] = a * x[i]

@proc
def edits(p: f32[6], q: f32[64], row: f32[65]):
    for i in seq(0, 6):
        diagonal: f32
        diagonal = row[0]
        for j in seq(0, 64):
            old: f32
            old = row[j + 1]
            row[j + 1] = fmin(fmin(row[j], old) + 1.0, diagonal + fabs(p[i] - q[j]))
            diagonal = old

@proc
def options(s: f32[32], r: f32[32], price: f32[32]):
    v: f32[9]
    for o in seq(0, 32):
        for j in seq(0, 9):
            v[j] = s[o] * 1.5
        for n in seq(0, 8):
            for j in seq(0, 8):
                v[j] = r[o] * (v[j + 1] + v[j])
        price[o] = v[0]
)";

// For caches that they do not fit.
const char* const kLargeNests = R"(
@proc
def long_sum(x: f32[100000], r: f32):
    for i in seq(0, 100000):
        r += x[i]

@proc
def turned_over(x: f32[128, 192], y: f32[192, 128]):
    for i in seq(0, 128):
        for j in seq(0, 192):
            y[j, i] = x[i, j]

@proc
def few_rows(A: f32[6, 128], B: f32[128, 192], C: f32[6, 192]):
    for i in seq(0, 6):
        for j in seq(0, 192):
            for k in seq(0, 128):
                C[i, j] += A[i, k] * B[k, j]
)";

// For the tiles of another file of registers.
const char* const kTiledNests = R"(
@proc
def bytes(A: i8[32, 128], B: i8[128, 48], C: i32[32, 48]):
    for i in seq(0, 32):
        for j in seq(0, 48):
            for k in seq(0, 128):
                C[i, j] += i32(A[i, k]) * i32(B[k, j])
)";

std::vector<TargetLevel> with_small_caches(std::vector<TargetLevel> levels) {
  int64_t bytes = 1 << 14;
  for (TargetLevel& l : levels)
    if (l.is_cache()) l.bytes = bytes *= 2, l.line_bytes = 64;
  return levels;
}

constexpr size_t kReplayed = 4;  // states of each nest

// Takes what the search had accepted in one of the nests off the list.
void search_nest(const ProcPtr& nest, const Target& target, const std::vector<TargetLevel>& levels,
                 std::set<std::string>& missing) {
  BeamContext context;
  context.instructions = instruction_values(target);
  context.weights = default_weights(CostMachine{});
  ProgramSearchRequest request;
  request.target = &target;
  request.levels = levels;
  request.context = &context;
  request.keep = 24;  // structures take turns in them
  const ProgramSearchResult found = ProgramSearch(request).run(first_state(nest, context));
  EXPECT_EQ(found.refused.count(kInternalError), 0u) << nest->name;
  for (const auto& [op, n] : found.accepted)
    if (n > 0) missing.erase(op);
  // What was put together of parts is what its steps make from the start.
  for (size_t k = 0; k < std::min(found.states.size(), kReplayed); ++k) {
    BeamState again = first_state(nest, context);
    EXPECT_FALSE(extend(again, found.states[k].steps, context)) << key_of(found.states[k].steps);
    EXPECT_EQ(again.text_hash, found.states[k].text_hash) << key_of(found.states[k].steps);
    EXPECT_EQ(again.reassociated, found.states[k].reassociated);
  }
  // Parts are taken out and put back in every schedule of several nests.
  for (const BeamState& s : found.states)
    for (const std::string& line : lines_of(s.steps))
      for (const char* op : {"extract_subproc", "call_eqv"})
        if (line.find(std::string("= ") + op + "(") != std::string::npos) missing.erase(op);
}

TEST(Reach, every_operator_of_a_move_is_accepted_on_some_nest) {
  const TargetPtr target = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  const TargetPtr tiles = load_target("avx512_amx", {EXOTUNE_SOURCE_DIR "/hw"});
  std::set<std::string> missing = operators_named_by_moves();
  EXPECT_GT(missing.size(), 12u);
  for (const ProcPtr& nest : parse_module(kNests, "nests.exo").procs)
    search_nest(nest, *target, target->levels, missing);
  for (const ProcPtr& nest : parse_module(kLargeNests, "nests.exo").procs)
    search_nest(nest, *target, with_small_caches(target->levels), missing);
  for (const ProcPtr& nest : parse_module(kTiledNests, "nests.exo").procs)
    search_nest(nest, *tiles, tiles->levels, missing);
  std::string names;
  for (const std::string& op : missing) names += op + " ";
  EXPECT_EQ(names, "");
}

}  // namespace
}  // namespace exotune
