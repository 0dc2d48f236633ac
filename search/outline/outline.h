#pragma once
// Outline: what a search reads off any procedure before it proposes anything: its loops, its
// accesses and how far apart they step, its buffers and who makes them for whom. Start at
// outline_of.
//
// Nothing is assumed about the form of the program: several nests, imperfect ones, guards, bounds
// that depend on other loops, windows, calls and allocations are all read (calls are seen through
// their bodies, windows resolved to the buffer behind them). What needs a proof is asked of the
// core when it is wanted (role_of), the rest is syntax and costs microseconds. An outline belongs
// to one form of a procedure: after a step it is read again.
//
//   const Outline o = outline_of(proc, {{"N", 512}});
//   for (const OutlineLoop& l : o.loops) ... o.stride(access, loop)
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/queries.h"
#include "core/ir/proc.h"

namespace exotune {

struct OutlineLoop {
  Path path;
  Sym iter;
  ExprPtr lo, hi;
  std::optional<int64_t> extent;  // at the given sizes, when no other loop is in the bounds
  double trips = 1;               // at the given sizes; of a triangle the mean
  int parent = -1;                // the loop around it, -1 at the top
  std::vector<int> children;
  std::vector<int> bounded_by;  // loops that its bounds mention
  bool in_condition = false;    // an `if` inside mentions it
};

/// One element access of one statement.
struct OutlineAccess {
  Access what;             // with windows resolved; `vars` and `conditions` as the core gives them
  std::vector<int> loops;  // around it, outermost first
  ScalarType scalar = ScalarType::kF32;
  bool writes() const { return what.kind != Access::Kind::kRead; }
};

/// Who fills a buffer and who reads it, by top-level statement.
struct OutlineBuffer {
  Sym name;
  bool argument = false;
  double elements = 0;  // at the given sizes
  std::vector<int> writers, readers;
  int first = -1, last = -1;  // its life: the first and last top-level statement that touches it
};

/// A value that one top-level statement makes and a later one uses. `halo[d]`: how many elements of
/// dimension d one iteration of the consumer's loops reads beyond the one of the same index.
struct OutlineEdge {
  int producer = 0, consumer = 0;
  Sym buffer;
  std::vector<int64_t> halo;
};

/// What iterations of a loop are to each other.
enum class LoopRole : uint8_t {
  kParallel,    // none touches what another writes
  kReduction,   // they commute as the terms of a sum (or maximum) do
  kRecurrence,  // they may not change places, as far as is known
};
const char* name_of(LoopRole r);

struct Outline {
  const Proc* proc = nullptr;      // borrowed
  std::vector<OutlineLoop> loops;  // in program order, outer before inner
  std::vector<OutlineAccess> accesses;
  std::vector<OutlineBuffer> buffers;
  std::map<Sym, double> sizes;  // of size arguments

  /// Elements that the access moves from one iteration of the loop to the next; 0 when it does not
  /// mention the loop, nothing when it is not affine in it.
  std::optional<int64_t> stride(const OutlineAccess& access, int loop) const;
  /// Does the access step from line to line with this loop?
  bool scattered(const OutlineAccess& access, int loop, int line_bytes) const;
  /// Iterations of the statement of an access in one run.
  double trips(const OutlineAccess& access) const;
  /// The loop at a path; -1: none.
  int loop_at(const Path& path) const;
  /// Loops below `loop` that hold no loop.
  std::vector<int> innermost_in(int loop) const;
};

/// Every size argument has a value in `sizes`; a missing one counts as 64.
Outline outline_of(const Proc& p, const std::map<std::string, int64_t>& sizes = {});

/// Asks the core: one question, proved or not.
LoopRole role_of(const Outline& o, int loop);

/// Producer and consumer pairs among the top-level statements.
std::vector<OutlineEdge> edges_of(const Outline& o);

}  // namespace exotune
