#pragma once
// From a proc and the values of its control arguments to nodes (machine.h). Internal to
// core/interp.
#include <map>
#include <unordered_map>

#include "core/interp/machine.h"

namespace exotune::interp {

/// A tensor, window or scalar at compile time: a linear place in a root buffer.
struct View {
  int base = 0;
  ScalarType type = ScalarType::kR;
  IntVal offset = 0;                  // linear
  std::vector<IntVal> shape, stride;  // linear
  std::string name;
};

/// What an argument of the outermost proc is, once control values are known.
struct EntryView {
  std::vector<int64_t> shape, strides;
};

struct Compiled {
  NodeList body;
  int int_slots = 0;
  int base_slots = 0;               // the first ones belong to the data arguments, in order
  std::vector<std::string> config;  // "Config.field" by slot
  std::vector<bool> config_is_data;
};

/// `control`: one value per control formal; `entry`: one per data formal, in order. Throws
/// InterpError. Calls are inlined, so the size of the result may be exponential in the depth
/// of a chain of procs that each call the next twice; the thread's deadline stops it.
Compiled compile(const Proc& proc, Arithmetic arithmetic, const std::vector<int64_t>& control,
                 const std::vector<EntryView>& entry);

/// Control values of formals, and constant evaluation over them.
class ControlEvaluator {
 public:
  void set(Sym s, int64_t v) { values_[s] = v; }
  /// InterpError(kArgument) for a variable without a value.
  int64_t eval(const ExprPtr& e) const;

 private:
  std::unordered_map<Sym, int64_t> values_;
};

/// What operations on the type round to.
Rounding arithmetic_rounding(ScalarType t, Arithmetic mode);
Rounding storage_rounding(ScalarType t, Arithmetic mode);

}  // namespace exotune::interp
