#pragma once
// Reductions over windows, in programs: pooling. One direction of the windows may be reduced over
// before the other, so that what neighbours share is computed once. Start at lift_windows;
// one_direction_ahead makes it the program's.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/path.h"
#include "core/ir/proc.h"

namespace exotune::eqsat {

/// `out[c, y, x] max= a[c, 2 * y + r, 2 * x + s]`, a minimum or a sum, also with factors that do
/// not depend on r or s, wherever it stands below loops.
struct WindowReduction {
  Path reduce;             // the statement
  std::string buffer;      // that the windows are of
  Path outermost;          // of the loops that place the windows
  std::vector<Path> taps;  // loops along a window, each longer than 1: two or more
  bool sums = false;       // by +=
};
std::vector<WindowReduction> lift_windows(const Proc& p,
                                          const std::map<std::string, int64_t>& sizes);

/// The loop at `tap`, one of its taps, reduced over first, by reduce_ahead: in front of the
/// outermost loop that allows it. Throws SchedulingError where none does.
ProcPtr one_direction_ahead(const ProcPtr& p, const WindowReduction& w, const Path& tap);
/// "a_r = maximum of a over r".
std::string text_of(const Proc& p, const WindowReduction& w, const Path& tap);

/// What both forms take, in numbers.
struct WindowFigures {
  double written = 0;  // reductions into elements, as written
  double steps = 0;    // in both steps
  double stored = 0;   // elements of what is reduced first
  double along = 1;    // the extent of the loop that runs along the output's last subscript
};
/// Nothing where `sizes` lacks an extent.
std::optional<WindowFigures> figures_of(const Proc& p, const WindowReduction& w, const Path& tap,
                                        const Proc& made,
                                        const std::map<std::string, int64_t>& sizes);

}  // namespace exotune::eqsat
