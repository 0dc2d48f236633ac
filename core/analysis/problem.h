#pragma once
// Problem: what is known at a place, as integer constraints, and questions put to it. It turns
// control expressions into linear form: each quotient gets a variable q with
// 0 <= n - c*q < c (the remainder is n - c*q); strides of dense tensors become their extents; what
// is not affine becomes an opaque variable. Start at Problem::assume and Problem::entails.
#include <span>
#include <string>
#include <vector>

#include "core/analysis/linear.h"
#include "core/analysis/queries.h"
#include "core/analysis/scope.h"

namespace exotune {

/// Facts only ever grow, but for rollback to a mark: a walk over a program marks when it enters a
/// loop or branch, assumes what holds inside, and rolls back when it leaves. Questions leave the
/// facts as they were. Not thread-safe; walks own one each.
class Problem {
 public:
  /// `scope` (may be null) resolves strides; borrowed.
  explicit Problem(const Scope* scope = nullptr) : scope_(scope) {}
  void set_scope(const Scope* scope) { scope_ = scope; }

  // --- variables ---
  /// A fresh variable that `s` means from now on, until unbind: loop iterators of one of two
  /// compared instances. Named in counter-examples with `suffix`.
  int bind(Sym s, const char* suffix = "");
  void unbind(int count) { bindings_.resize(bindings_.size() - count); }
  /// Binds `s` to an existing variable.
  void bind_to(Sym s, int var) { bindings_.push_back({s, var}); }
  /// A variable that nothing else in the program means; `name` is for counter-examples alone.
  int fresh(std::string name = "");
  /// Sizes are positive: assumes it when the variable is first met.
  int variable_of(Sym s, ScalarType type);

  // --- translation ---
  /// What is not affine becomes an opaque variable, the same one for equal expressions: so `n * m
  /// == n * m` is proved, and nothing about its value is assumed.
  Lin lin(const ExprPtr& e);
  /// Of a control boolean. Comparisons of integers become atoms, and, or, not the structure above
  /// them; equal flags are compared as 0 and 1.
  Formula formula(const ExprPtr& condition);
  Lin quotient(const Lin& n, int64_t divisor);  // floor(n / divisor), divisor > 0

  // --- facts ---
  void assume(const ExprPtr& condition) { assume(formula(condition)); }
  void assume(Formula f);
  /// The caller vouches for what it assumes: a wrong fact makes wrong proofs. Facts come from
  /// loops' bounds, conditions that hold at the place, asserts and sizes, nowhere else.
  void assume_at_least_zero(Lin lin);
  void assume_zero(Lin lin);
  /// `flag`, a boolean as 0 or 1, is the truth of `value`.
  void assume_flag(const Lin& flag, const Formula& value);
  /// lo <= var < hi.
  void assume_range(int var, const ExprPtr& lo, const ExprPtr& hi);
  /// Reads of this config field are no longer the value that facts spoke of.
  void forget_config(const std::string& config, const std::string& field);
  /// The value of a config field that was read or written before, as it is now.
  Lin config_value(const ConfigPtr& config, const std::string& field);
  /// Fields whose reads are to be unknown values, each read its own.
  void set_havoc(std::vector<std::pair<std::string, std::string>> fields) {
    havoc_ = std::move(fields);
  }

  /// A place in the history of facts. Marks nest: rolling back to one makes later ones invalid.
  struct Mark {
    size_t variables, constraints, disjunctions, quotients, bindings;
  };
  Mark mark() const;
  void rollback(const Mark& m);

  // --- questions ---
  /// Do the facts imply `goal`? kProved, kRefuted with a point that shows it, or kUnknown.
  /// Conjunctive goals are asked part by part; the cache of decisions (question_cache.h) is asked
  /// before the solver is.
  Answer entails(const Formula& goal);
  Answer entails(const ExprPtr& goal) { return entails(formula(goal)); }
  /// Do the facts and `f` contradict? kProved: no point satisfies all. kRefuted carries one.
  Answer excludes(const Formula& f);
  /// As project() of linear.h under the facts: sound, not always tight.
  Interval bounds(const Lin& lin);

  const std::vector<Constraint>& constraints() const { return constraints_; }
  const std::vector<Formula>& disjunctions() const { return disjunctions_; }
  int variables() const { return static_cast<int>(vars_.size()); }
  std::string name_of(int var) const;
  bool is_named(int var) const;

 private:
  struct Var {
    enum class Kind : uint8_t { kSymbol, kStride, kConfig, kQuotient, kOpaque, kFresh };
    Kind kind;
    Sym sym;
    int dim = 0;
    const Config* config = nullptr;
    std::string text;  // field, or a name for counter-examples
    ExprPtr opaque;
    bool size = false;
  };
  struct Quotient {
    Lin n;
    int64_t divisor;
    int var;
  };
  struct Bound {
    Sym sym;
    int var;
  };

  Lin stride(Sym name, int dim);
  int add(Var v);
  int config_variable(const ReadConfig& read);
  int opaque_variable(const ExprPtr& e);
  Formula compare(BinOpKind op, const ExprPtr& a, const ExprPtr& b);
  Answer answer_of(const struct Decision& d, const Formula& question) const;

  const Scope* scope_;
  std::vector<Var> vars_;
  std::vector<uint8_t> is_size_;
  std::vector<Constraint> constraints_;
  std::vector<Formula> disjunctions_;
  std::vector<Quotient> quotients_;
  std::vector<Bound> bindings_;
  std::vector<std::pair<std::string, std::string>> havoc_;
};

}  // namespace exotune
