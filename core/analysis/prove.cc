// Questions about control values at a place. Syntax is asked first: most questions of a search are
// settled by what both sides look like. Then the facts that hold
// at the place are collected, once for all questions there, and each question is put on top of them
// and taken off again.
#include <sstream>

#include "core/analysis/effects.h"
#include "core/analysis/facts.h"
#include "core/analysis/place_prover.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune {

std::vector<LazyText> Answer::notes() const {
  std::vector<LazyText> out;
  if (!why.empty()) out.push_back(why);
  switch (verdict) {
    case Verdict::kProved:
      break;
    case Verdict::kUnknown:
      if (undecided) out.push_back("the solver answered unknown, which counts as a refusal");
      break;
    case Verdict::kRefuted:
      if (!counter_example.empty()) {
        std::ostringstream text;
        text << "fails for ";
        const char* separator = "";
        for (const auto& [name, value] : counter_example) {
          text << separator << name << " = " << value;
          separator = ", ";
        }
        out.push_back(text.str());
      }
      break;
  }
  return out;
}

PlaceProver::PlaceProver(const Proc& p, Path at)
    : PlaceProver(p, std::move(at), ConfigFacts::kLasting) {}
PlaceProver::PlaceProver(const Proc& p, Path at, ConfigFacts config)
    : p_(p), at_(std::move(at)), config_(config) {}
PlaceProver::~PlaceProver() = default;

// Made when the first question needs it: facts cost more than most answers.
Place& PlaceProver::place() {
  if (!place_) place_ = std::make_unique<Place>(p_, at_, config_);
  return *place_;
}

Answer PlaceProver::prove(const ExprPtr& cond) {
  const ExprPtr simple = normalize(cond);
  if (const Const* c = simple->as<Const>())
    if (const bool* b = std::get_if<bool>(&c->value); b && *b) {
      solver_internal::count_syntactic();
      return {Verdict::kProved, {}, {}};
    }
  // Only what was proved is remembered: a refusal ends most steps, and is not asked twice.
  for (auto [at, end] = proved_.equal_range(cond->hash); at != end; ++at)
    if (equal(at->second, cond)) return {Verdict::kProved, {}, {}};
  Problem& problem = place().problem();
  const Problem::Mark before = problem.mark();
  Answer out = problem.entails(cond);
  problem.rollback(before);
  if (out) proved_.emplace(cond->hash, cond);
  if (!out) out.why = LazyText([cond] { return "cannot prove " + str(cond); });
  return out;
}

Answer PlaceProver::prove_equal(const ExprPtr& a, const ExprPtr& b) {
  if (affine_equal(a, b)) {
    solver_internal::count_syntactic();
    return {Verdict::kProved, {}, {}};
  }
  Problem& problem = place().problem();
  const Problem::Mark before = problem.mark();
  Answer out;
  // Conditions have no difference.
  if (a->type == ScalarType::kBool || b->type == ScalarType::kBool) {
    out = problem.entails(bin_op(BinOpKind::kEq, a, b));
  } else {
    out = problem.entails(Formula::equals_zero(problem.lin(a) - problem.lin(b)));
  }
  problem.rollback(before);
  if (!out)
    out.why = LazyText([a, b] { return "cannot prove that " + str(a) + " equals " + str(b); });
  return out;
}

Answer prove(const Proc& p, const Path& at, const ExprPtr& cond) {
  return PlaceProver(p, at).prove(cond);
}

Answer prove_equal(const Proc& p, const Path& at, const ExprPtr& a, const ExprPtr& b) {
  return PlaceProver(p, at).prove_equal(a, b);
}

// With the values that configuration has just before the statement, not only those that it keeps
// all along.
Answer prove_on_arrival(const Proc& p, const Path& at, const ExprPtr& cond) {
  return PlaceProver(p, at, ConfigFacts::kOnArrival).prove(cond);
}

namespace {

// What the statement itself, or the procedure that it calls, gives to the field, in order; with a
// null where that is not plain.
std::vector<ExprPtr> values_given(const Stmt& s, const ConfigFieldName& field) {
  std::vector<ExprPtr> out;
  if (const WriteConfig* w = s.as<WriteConfig>())
    if (ConfigFieldName{w->config->name, w->field} == field) out.push_back(w->rhs);
  const Call* c = s.as<Call>();
  if (!c || !config_writes(s).contains(field)) return out;
  const CallSubstitution at_call(*c->callee, c->args);
  for (const StmtPtr& inner : c->callee->body) {
    if (!config_writes(*inner).contains(field)) continue;
    const WriteConfig* w = inner->as<WriteConfig>();
    out.push_back(w ? at_call.apply_to_value(w->rhs) : nullptr);
  }
  return out;
}

// A field of data, of which solvers know nothing, holds what it is given here where that is an
// argument that nothing writes, the program begins by giving it and never gives anything else.
bool always_holds_argument(const Proc& p, const Path& at, const ConfigFieldName& field) {
  const std::vector<ExprPtr> here = values_given(*stmt_at(p, at), field);
  const Read* value = here.size() == 1 && here[0] ? here[0]->as<Read>() : nullptr;
  if (!value || !value->idx.empty() || !p.find_arg(value->name)) return false;
  bool begins = false, only = true;
  for (int k = 0; k < at.front().index; ++k)
    begins = begins || !values_given(*p.body[static_cast<size_t>(k)], field).empty();
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    for (const ExprPtr& e : values_given(*s, field)) only = only && e && equal(e, here[0]);
  });
  if (!begins || !only) return false;
  const std::vector<Access> all =
      accesses_of(p, {{Child::kBody, 0}}, static_cast<int>(p.body.size()));
  return std::none_of(all.begin(), all.end(), [&](const Access& a) {
    return a.buffer == value->name && a.kind != Access::Kind::kRead;
  });
}

}  // namespace

// Unchanged, or given what it holds already.
Answer keeps_field(const Proc& p, const Path& at, const std::string& config,
                   const std::string& field) {
  const StmtPtr s = stmt_at(p, at);
  const FieldOutcome o = s ? outcome_of(*s, {config, field}) : FieldOutcome{};
  switch (o.kind) {
    case FieldOutcome::Kind::kUnchanged:
      return {Verdict::kProved, {}, {}};
    case FieldOutcome::Kind::kUnknown:
      if (always_holds_argument(p, at, {config, field})) return {Verdict::kProved, {}, {}};
      return {Verdict::kUnknown, {}, config + "." + field + " may get another value"};
    case FieldOutcome::Kind::kKnown:
    case FieldOutcome::Kind::kPerhaps:
      break;
  }
  const ConfigField* f = o.config->find(field);
  EXO_CHECK(f != nullptr);
  const ExprPtr read = make_expr(ReadConfig{o.config, field}, f->type);
  return prove_on_arrival(p, at, bin_op(BinOpKind::kEq, read, o.value));
}

// The variables are universally quantified by being bound to nothing but their ranges. An empty
// range makes everything true, as it should.
Answer prove_for_all(const Proc& p, const Path& at, const std::vector<RangedVar>& extra,
                     const std::vector<ExprPtr>& assumptions, const ExprPtr& cond) {
  Place place(p, at);
  Problem& problem = place.problem();
  for (const RangedVar& v : extra) {
    // The range may mention the variables before it, not itself.
    Lin lo = problem.lin(v.lo), hi = problem.lin(v.hi);
    const int var = problem.bind(v.var);
    problem.assume_at_least_zero(Lin::variable(var) - lo);
    Lin above = hi - Lin::variable(var);
    problem.assume_at_least_zero(std::move(above.add_constant(-1)));
  }
  for (const ExprPtr& a : assumptions) problem.assume(a);
  Answer out = problem.entails(cond);
  if (!out) out.why = LazyText([cond] { return "cannot prove " + str(cond); });
  return out;
}

Bounds bounds_of(const Proc& p, const Path& at, const ExprPtr& e) {
  Place place(p, at);
  const Interval range = place.problem().bounds(place.problem().lin(e));
  Bounds out;
  if (range.empty) return out;
  if (range.has_lo) out.lo = range.lo;
  if (range.has_hi) out.hi = range.hi;
  return out;
}

}  // namespace exotune
