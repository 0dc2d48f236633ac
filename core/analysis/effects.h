#pragma once
// Effects: what a block does to memory and configuration, in program order, with windows resolved
// to root buffers and calls replaced by what their bodies do. Thesis 5.5. Start at effects_of.
#include <memory>

#include "core/analysis/facts.h"
#include "core/analysis/queries.h"

namespace exotune {

/// One element access, reduced or plain, with the loops around it as ranges of variables.
/// Over-approximate: what may not run under a condition is listed with the condition.
struct Effect {
  Access access;
  std::vector<int> loops;  // per entry of access.vars: which loop statement (instance) it is
  ScalarType element = ScalarType::kR;
  bool local = false;           // to a buffer allocated inside the block: nobody else sees it
  size_t outer_loops = 0;       // local: how many of access.vars and access.conditions stand
  size_t outer_conditions = 0;  // around the allocation
};

struct ConfigEffect {
  ConfigPtr config;
  ConfigFieldName field;
  ExprPtr value;          // written value; null: a read (an assert of a callee reads too)
  bool definite = false;  // not under a loop or condition of the block
  std::vector<RangedVar> vars;
  bool opaque = false;  // the value reads data other than whole scalars by the name of their buffer
};

struct Effects {
  std::vector<Effect> memory;  // reads of a statement before its write
  std::vector<ConfigEffect> config;
  int loops = 0;  // number of loop instances numbered
  /// Fields written anywhere in the block: their reads inside it have no single value.
  std::vector<ConfigFieldName> written() const;
};

/// Of the `n` statements at `first`. `scope` is what is visible there. With `only`, of memory what
/// is done to that buffer alone. Cost: linear in the block and in what its callees do; the
/// summaries of callees are kept.
Effects effects_of(const Scope& scope, const Block& block, const Path& first, int n,
                   std::optional<Sym> only = {});
/// Of a callee's body in terms of its formals; remembered while the callee lives. Loop variables
/// are private to the summary.
std::shared_ptr<const Effects> effects_of_callee(const ProcPtr& callee);

/// Replaces control formals and strides of formals in callee expressions by what a call passes.
class CallSubstitution {
 public:
  CallSubstitution(const Proc& callee, const std::vector<ExprPtr>& args);
  ExprPtr apply(const ExprPtr& e) const;
  /// The caller's name and index for element `idx` of a data formal; nothing when the argument is a
  /// value (then `value_of` has it).
  std::optional<Location> locate(Sym formal, const std::vector<ExprPtr>& idx) const;
  /// The caller's name alone.
  std::optional<Sym> buffer_of(Sym formal) const;
  ExprPtr value_of(Sym formal) const;
  /// As apply; an expression that is a data formal and no more becomes what is passed for it.
  ExprPtr apply_to_value(const ExprPtr& e) const;

 private:
  struct Pair {
    Sym formal;
    ExprPtr arg;
    bool control;
  };
  const Pair* find(Sym formal) const;
  std::vector<Pair> pairs_;
  uint64_t bloom_ = 0;
};

}  // namespace exotune
