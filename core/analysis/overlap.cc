#include "core/analysis/overlap.h"

#include "core/analysis/solver.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

// Binds an instance's iterators and an access's own loops while it lives.
class Bound {
 public:
  Bound(Problem& p, const Instance& instance) : problem_(p) {
    for (const Instance::Meaning& m : instance.meanings) bind(m.iter, m.var);
  }
  ~Bound() { problem_.unbind(count_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  void bind(Sym s, int var) {
    problem_.bind_to(s, var);
    ++count_;
  }
  int fresh(Sym s, const char* suffix) {
    ++count_;
    return problem_.bind(s, suffix);
  }

 private:
  Problem& problem_;
  int count_ = 0;
};

// An access in the solver's words: its own loops as fresh variables, its indices as linear forms.
struct Translated {
  std::vector<int> vars;
  std::vector<Lin> idx;
};

Translated translate(Problem& problem, const Effect& e, const Instance& instance) {
  Bound bound(problem, instance);
  Translated out;
  for (const RangedVar& v : e.access.vars) out.vars.push_back(bound.fresh(v.var, instance.suffix));
  for (const ExprPtr& i : e.access.idx) out.idx.push_back(problem.lin(i));
  return out;
}

// The access happens at all: its loops are within their bounds and its conditions hold. Bounds may
// name outer loops of the access, so each variable is bound before the next one's are read.
void assume_execution(Problem& problem, const Effect& e, const Instance& instance,
                      const std::vector<int>& vars) {
  Bound bound(problem, instance);
  for (size_t k = 0; k < vars.size(); ++k) {
    const RangedVar& v = e.access.vars[k];
    problem.assume_range(vars[k], v.lo, v.hi);
    bound.bind(v.var, vars[k]);
  }
  for (const ExprPtr& c : e.access.conditions) problem.assume(c);
}

}  // namespace

// Cheapest first: other buffers, then constants that differ in one index, then a difference of
// linear forms that is a constant other than zero. Only what is left goes to the solver, which is
// asked whether both can be executed with all indices equal.
Answer never_overlap(Problem& problem, const Effect& a, const Instance& in_a, const Effect& b,
                     const Instance& in_b) {
  if (a.access.buffer != b.access.buffer) return {Verdict::kProved, {}, {}};
  for (size_t k = 0; k < a.access.idx.size() && k < b.access.idx.size(); ++k) {
    const std::optional<int64_t> x = as_int(a.access.idx[k]), y = as_int(b.access.idx[k]);
    if (x && y && *x != *y) {
      solver_internal::count_syntactic();
      return {Verdict::kProved, {}, {}};
    }
  }
  const Problem::Mark mark = problem.mark();
  const Translated ta = translate(problem, a, in_a), tb = translate(problem, b, in_b);
  std::vector<Formula> same;
  Answer out;
  bool decided = false;
  for (size_t k = 0; k < ta.idx.size() && k < tb.idx.size() && !decided; ++k) {
    Lin difference = ta.idx[k] - tb.idx[k];
    if (difference.is_constant()) {
      if (difference.constant != 0) {
        out.verdict = Verdict::kProved;
        decided = true;
        solver_internal::count_syntactic();
      }
      continue;
    }
    same.push_back(Formula::equals_zero(std::move(difference)));
  }
  if (!decided) {
    assume_execution(problem, a, in_a, ta.vars);
    assume_execution(problem, b, in_b, tb.vars);
    out = problem.excludes(Formula::all_of(std::move(same)));
  }
  problem.rollback(mark);
  // The text is made when somebody reads it: most refusals of a search are only counted.
  if (!out) {
    const Access x = a.access, y = b.access;
    out.why = LazyText([x, y] {
      return describe(x) + " (" + verb(x.kind) + ") and " + describe(y) + " (" + verb(y.kind) +
             ") may be the same element";
    });
  }
  return out;
}

bool kinds_commute(Access::Kind a, Access::Kind b) { return a == b && a != Access::Kind::kWrite; }

const char* verb(Access::Kind k) {
  switch (k) {
    case Access::Kind::kRead:
      return "read";
    case Access::Kind::kWrite:
      return "written";
    case Access::Kind::kReduceAdd:
      return "reduced by +=";
    case Access::Kind::kReduceMax:
      return "reduced by max=";
    case Access::Kind::kReduceMin:
      return "reduced by min=";
  }
  return "";
}

std::string describe(const Access& a) {
  std::string out = a.buffer.name();
  if (a.idx.empty()) return out;
  out += "[";
  for (size_t k = 0; k < a.idx.size(); ++k) out += (k ? ", " : "") + str(a.idx[k]);
  return out + "]";
}

}  // namespace exotune
