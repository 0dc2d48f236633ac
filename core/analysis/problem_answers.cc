// What the solver decided, in the words of the one who asked.
#include <algorithm>

#include "core/analysis/problem.h"
#include "core/analysis/solver.h"
#include "core/ir/printer.h"

namespace exotune {

bool Problem::is_named(int var) const {
  const Var& v = vars_[var];
  switch (v.kind) {
    case Var::Kind::kSymbol:
    case Var::Kind::kStride:
    case Var::Kind::kConfig:
      return true;
    case Var::Kind::kFresh:
      return v.sym.valid() || !v.text.empty();
    case Var::Kind::kQuotient:
    case Var::Kind::kOpaque:
      return false;
  }
  return false;
}

std::string Problem::name_of(int var) const {
  const Var& v = vars_[var];
  switch (v.kind) {
    case Var::Kind::kSymbol:
      return v.sym.name();
    case Var::Kind::kStride:
      return "stride(" + v.sym.name() + ", " + std::to_string(v.dim) + ")";
    case Var::Kind::kConfig:
      return v.config->name + "." + v.text;
    case Var::Kind::kFresh:
      return v.sym.valid() ? v.sym.name() + v.text : v.text;
    case Var::Kind::kOpaque:
      return str(v.opaque);
    case Var::Kind::kQuotient:
      return "q" + std::to_string(var);
  }
  return "";
}

// A model of the negated question refutes it. Before it is shown to a user it is narrowed to what
// the question is about, by following constraints from its variables: forty other sizes of the
// program would bury the two that matter.
Answer Problem::answer_of(const Decision& d, const Formula& question) const {
  Answer out;
  switch (d.feasible) {
    case Feasible::kNo:
      out.verdict = Verdict::kProved;
      break;
    case Feasible::kUnknown:
      out.verdict = Verdict::kUnknown;
      break;
    case Feasible::kYes: {
      out.verdict = Verdict::kRefuted;
      // What the question speaks of, and what facts tie to that.
      std::vector<uint8_t> told(vars_.size(), 0);
      for_each_atom(question, [&](const Constraint& c) {
        for (const Lin::Term& t : c.lin.terms) told[t.var] = 1;
      });
      for (bool grew = true; grew;) {
        grew = false;
        for (const Constraint& c : constraints_) {
          bool any = false, all = true;
          for (const Lin::Term& t : c.lin.terms) told[t.var] ? any = true : all = false;
          if (!any || all) continue;
          for (const Lin::Term& t : c.lin.terms) told[t.var] = 1;
          grew = true;
        }
      }
      // Opaque values are no real counter-example: the point may not exist.
      bool opaque = false;
      for (size_t k = 0; k < vars_.size(); ++k) {
        if (!told[k]) continue;
        if (is_named(static_cast<int>(k))) {
          if (k < d.model.size()) out.counter_example[name_of(static_cast<int>(k))] = d.model[k];
        } else {
          opaque |= vars_[k].kind != Var::Kind::kQuotient;
        }
      }
      if (opaque) out.verdict = Verdict::kUnknown;
      break;
    }
  }
  out.undecided = out.verdict == Verdict::kUnknown;
  return out;
}

// A formula that overflowed says nothing, so neither do we.
Answer Problem::excludes(const Formula& f) {
  bool overflow = false;
  for_each_atom(f, [&](const Constraint& c) { overflow |= c.lin.overflow; });
  if (overflow) return {.undecided = true};
  return answer_of(decide(constraints_, disjunctions_, f, variables(), is_size_), f);
}

// Goal and facts contradict the goal's negation: the usual refutation. Trivial goals do not reach
// the solver; they are counted, since its statistics speak of all questions.
Answer Problem::entails(const Formula& goal) {
  if (goal.kind == Formula::Kind::kTrue) {
    solver_internal::count_syntactic();
    return {Verdict::kProved, {}, {}};
  }
  return excludes(negated(goal));
}

Interval Problem::bounds(const Lin& lin) { return project(constraints_, variables(), lin); }

}  // namespace exotune
