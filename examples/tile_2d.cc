// Your first scheduling function: tile two loops; where the tiles do not divide them, guard the
// tails.
//
// A scheduling operator is a function from a proc, the places it works on and its parameters to a
// proc. Whether one of the library's or yours, nobody can tell the difference from outside.
#include <exotune/exotune.h>

#include <cstdio>

#include "same_result.h"

using namespace exotune;

namespace {

struct Tile {
  const char *outer, *inner;
  int64_t size;
};

ProcPtr tile_2d_perfectly(ProcPtr p, const Cursor& i, const Cursor& j, const Tile& ti,
                          const Tile& tj) {
  p = divide_loop(p, i, ti.size, {ti.outer, ti.inner}, Tail::kPerfect);
  p = divide_loop(p, j, tj.size, {tj.outer, tj.inner}, Tail::kPerfect);
  p = lift_scope(p, tj.outer);  // for ii: for jo  ->  for jo: for ii
  return simplify(p);
}

ProcPtr tile_2d(ProcPtr p, const Cursor& i, const Cursor& j, const Tile& ti, const Tile& tj) {
  try {
    return tile_2d_perfectly(p, i, j, ti, tj);
  } catch (const SchedulingError& refused) {
    std::printf("# not perfectly: %s\n", refused.diagnostic().message.str().c_str());
  }
  // A proc is immutable: `p` and the cursors into it are as they were.
  p = divide_loop(p, i, ti.size, {ti.outer, ti.inner}, Tail::kGuard);
  p = divide_loop(p, j, tj.size, {tj.outer, tj.inner}, Tail::kGuard);
  p = lift_scope(p, tj.outer);  // out of the guard of i
  return lift_scope(p, tj.outer);
}

// y += x over 4*M x 8*N elements, which the tiles divide, and over M x N, which they may not.
constexpr const char* kKernels = R"(
@proc
def add_whole(M: size, N: size, x: f32[4 * M, 8 * N], y: f32[4 * M, 8 * N]):
    for i in seq(0, 4 * M):
        for j in seq(0, 8 * N):
            y[i, j] += x[i, j]

@proc
def add(M: size, N: size, x: f32[M, N], y: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i, j] += x[i, j]
)";

void show(const ProcPtr& p) {
  const ProcPtr tiled =
      tile_2d(p, find_loop(p, "i"), find_loop(p, "j"), {"io", "ii", 4}, {"jo", "ji", 8});
  require_same_result(p, tiled, {{"M", 3}, {"N", 2}});
  require_same_result(p, tiled, {{"M", 9}, {"N", 17}});
  std::printf("%s\n", str(*tiled).c_str());
}

}  // namespace

int main() {
  try {
    for (const ProcPtr& p : parse_module(kKernels, "add.exo").user_procs()) show(p);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
}
