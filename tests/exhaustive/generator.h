#pragma once
// All small procs of a grammar. Arguments are always the same: N: size, x and y: f32[2*N + 2],
// z: f32[N + 2, N + 2], s: f32; what stands in the body is up to the grammar and the choices.
#include "core/ir/proc.h"
#include "tests/exhaustive/choices.h"

namespace exotune::exhaustive {

struct Grammar {
  const char* name;
  int max_leaves = 2;    // assignments, reductions, calls
  int max_depth = 2;     // nested scopes
  bool small = false;    // fewest forms per leaf, for exhaustive enumeration
  bool locals = false;   // allocations
  bool windows = false;  // window statements
  bool calls = false;
  bool guards = false;     // ifs, with else
  bool config = false;     // writes and reads of a config field
  bool device = false;     // calls that set the field a, or assert what it is
  bool parallel = false;   // par loops
  bool matrix = false;     // accesses to z
  bool idioms = false;     // runs of statements that particular operators look for
  bool shadowing = false;  // every loop is called i, every local and window t
  bool statics = false;    // locals in static memory
  bool casts = false;      // sizes and indices as data
  bool procs = false;      // procs of their own, which call one another
  bool rare = false;       // only what operators that seldom find a place look for
};

/// Everything together but what only some operators look for.
inline const Grammar kEverything{.name = "all",
                                 .max_leaves = 4,
                                 .max_depth = 3,
                                 .locals = true,
                                 .windows = true,
                                 .calls = true,
                                 .guards = true,
                                 .config = true,
                                 .device = true,
                                 .parallel = true,
                                 .matrix = true,
                                 .idioms = true,
                                 .statics = true,
                                 .casts = true,
                                 .procs = true};
/// Buffers and windows of them.
inline const Grammar kBuffers{.name = "buffers",
                              .max_leaves = 3,
                              .max_depth = 2,
                              .locals = true,
                              .windows = true,
                              .parallel = true,
                              .matrix = true};

/// May be no valid program (out of bounds for some N): filter with check().
ProcPtr generate(const Grammar& g, Choices& c);

}  // namespace exotune::exhaustive
