#pragma once
// Reductions over windows, in programs: pooling. Directions of the windows may be reduced over one
// after the other, so that what neighbours share is computed once. Start at lift_windows; in_steps
// makes it the program's. Which directions go ahead is found by rewriting: window_term and steps_of
// lead there and back.
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/path.h"
#include "core/ir/proc.h"
#include "search/eqsat/product.h"

namespace exotune::eqsat {

/// `out[c, y, x] max= a[c, 2 * y + r, 2 * x + s]`, a minimum or a sum, also with factors that do
/// not depend on r or s, wherever it stands below loops. The output may be a scalar in some of
/// them.
struct WindowReduction {
  Path reduce;             // the statement
  std::string buffer;      // that the windows are of
  const Read* element;     // of it, in the statement
  Path outermost;          // of the loops that place the windows
  std::vector<Path> taps;  // loops along a window, each longer than 1: two or more
  bool sums = false;       // by +=
};
std::vector<WindowReduction> lift_windows(const Proc& p,
                                          const std::map<std::string, int64_t>& sizes);

/// The reduction as a term over the tensor alone, and the operand that it speaks of.
struct WindowTerm {
  Product product;  // of the one operand, left
  Term term;
};
/// Nothing where the operand is read in a way that no view says.
std::optional<WindowTerm> window_term(const Proc& p, const WindowReduction& w,
                                      AccessLanguage& language);

/// Loops by their path, in the order in which they are reduced over, but for those of the last
/// step. Nothing but a reason where a step of the term is over no loop.
std::variant<std::vector<Path>, std::string> steps_of(const Proc& p, const WindowReduction& w,
                                                      const WindowTerm& window, const Term& term,
                                                      const AccessLanguage& language);

/// These loops reduced over ahead, each by reduce_ahead in front of the outermost loop that allows
/// it: the program after each step. Throws SchedulingError where none does.
std::vector<ProcPtr> in_steps(const ProcPtr& p, const WindowReduction& w,
                              const std::vector<Path>& ahead);
/// "a_r = maximum of a over r".
std::string text_of(const Proc& p, const WindowReduction& w, const std::vector<Path>& ahead);

/// What both forms take, in numbers.
struct WindowFigures {
  double written = 0;  // reductions into elements, as written
  double steps = 0;    // in all steps
  double stored = 0;   // elements of what is reduced first
  double along = 1;    // the extent of the loop that runs along the output's last subscript
};
/// `made` is what in_steps gave. Nothing where `sizes` lacks an extent.
std::optional<WindowFigures> figures_of(const Proc& p, const WindowReduction& w,
                                        const std::vector<Path>& ahead,
                                        const std::vector<ProcPtr>& made,
                                        const std::map<std::string, int64_t>& sizes);

}  // namespace exotune::eqsat
