#pragma once
// Loops of plain statements as a C compiler makes vectors of them. Start at CompiledLoops.
#include <map>
#include <vector>

#include "cost/index_ranges.h"
#include "cost/instruction_class.h"
#include "cost/terms.h"

namespace exotune {

class CompiledLoops {
 public:
  /// Both are looked at later: `ranges` is where the walk over the proc stands.
  CompiledLoops(const CostMachine& machine, IndexRanges& ranges)
      : machine_(machine), ranges_(ranges) {}

  void declare(Sym buffer, ScalarType type) { types_[buffer] = type; }

  /// Cycles of the busiest port when a compiler makes vectors of the loop's iterations; 0 when it
  /// does not: some statement is no scalar one, some access neither runs along the loop nor stays,
  /// or a sum goes through it. Short loops inside are unrolled first, where the compiler knows how
  /// many iterations they have. Statements that write every k-th element, k of them side by side,
  /// are vectors taken apart by shuffles, up to eight.
  double cycles(const For& f);

 private:
  struct Body {
    PortCycles ports;               // of one vector of iterations
    int bytes = 1;                  // of the widest element
    std::map<Sym, double> written;  // times, by buffer
    std::map<Sym, int64_t> apart;   // elements from one iteration's write to the next
  };
  /// Elements from one iteration's access to the next; 0: it stays; -1: none of one dimension.
  int64_t step(const For& f, const std::vector<ExprPtr>& idx);
  bool compiles(const For& f, const Block& b, double times, Body& body);
  bool runs_along(const For& f, const ExprPtr& e, double times, Body& body);
  double elements(const std::vector<ExprPtr>& idx) const;
  /// Loads and stores of vectors `step` elements apart.
  void load(int64_t step, double times, Body& body) const;
  void store(int64_t step, double times, Body& body) const;

  const CostMachine& machine_;
  IndexRanges& ranges_;
  std::map<Sym, ScalarType> types_;
  std::vector<const For*> unrolled_;  // around the statement that is looked at, inside the loop
};

}  // namespace exotune
