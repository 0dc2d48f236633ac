#pragma once
// Boxes: the parts of buffers that a piece of a proc touches, and the lines that hold them. Start
// at Touches; footprint.h asks what of them stays in a cache.
//
// A box is the range of every subscript. It holds more than was touched where subscripts depend on
// each other (a triangle counts as its square). Accesses that differ by constants only share one
// box; others share one where it holds little that neither touches: `a[i, k] * a[k, j]` is a row
// and a column, not all that lies between.
#include <map>
#include <vector>

#include "core/base/symbol.h"
#include "core/ir/expr.h"
#include "cost/index_ranges.h"

namespace exotune {

/// The part of one buffer between the least and the greatest index of each dimension.
struct TouchedBox {
  std::vector<IndexRange> dims;
  std::vector<int64_t> strides;  // bytes from one index to the next, by dimension
  int64_t element = 0;           // bytes
  bool operator==(const TouchedBox&) const = default;
  /// Grows to hold the other, of the same buffer.
  void hold(const TouchedBox& o);
};

/// A box as runs of adjacent bytes, a number of them.
struct Runs {
  double count = 1;          // of runs
  double bytes = 0;          // of one, from its first to its last byte
  int64_t stride = 0;        // bytes between runs of the dimension that has most of them
  std::vector<bool> inside;  // dimension by dimension: steps along it stay in the run or next to it
};
Runs runs_of(const TouchedBox& box, double line);
/// Lines (or pages) of `line` bytes that hold the box.
double lines_of(const TouchedBox& box, double line);

/// How the runs of a box lie to those of the same box one iteration earlier.
struct Movement {
  Runs runs;         // of the later box
  double kept = 1;   // share of the runs that were there
  double shift = 0;  // bytes that each of those moved on by
};
Movement movement(const TouchedBox& from, const TouchedBox& to, double line);
/// Lines of `to` that were not among those of `from`, the same box one iteration earlier.
double lines_entered(const TouchedBox& from, const TouchedBox& to, double line);

/// The boxes of each buffer.
using Boxes = std::map<Sym, std::vector<TouchedBox>>;

/// What the subscripts are apart from constants: equal for accesses that differ by constants only.
uint64_t form_of(const std::vector<ExprPtr>& subscripts);

/// The accesses of a piece of a proc, form by form.
class Touches {
 public:
  void add(Sym buffer, uint64_t form, TouchedBox box);
  bool empty() const { return forms_.empty(); }
  /// Forms share a box unless it would hold half as many lines again as theirs together.
  Boxes boxes() const;
  /// Of another iteration of the same piece: each of its forms in the box where `like` has it, so
  /// that boxes can be compared one by one.
  Boxes boxes(const Touches& like) const;

 private:
  struct Form {
    uint64_t form = 0;
    TouchedBox box;
  };
  std::map<Sym, std::vector<Form>> forms_;
};

}  // namespace exotune
