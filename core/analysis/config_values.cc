#include "core/analysis/config_values.h"

#include <algorithm>

#include "core/analysis/effects.h"
#include "core/analysis/proc_cache.h"
#include "core/ir/normal_form.h"

namespace exotune {
namespace {

void collect_config_reads(const ExprPtr& e, std::set<ConfigFieldName>& into) {
  if (const ReadConfig* r = e->as<ReadConfig>()) into.insert({r->config->name, r->field});
  for (const ExprPtr& c : expr_children(*e)) collect_config_reads(c, into);
}

// Callees are shared by thousands of calls and never change: what they write is found once.
std::set<ConfigFieldName> callee_writes(const ProcPtr& p) {
  static ProcCache<std::set<ConfigFieldName>> cache;
  if (std::optional<std::set<ConfigFieldName>> known = cache.find(p)) return *known;
  std::set<ConfigFieldName> writes = config_writes(p->body);
  cache.insert(p, writes);
  return writes;
}

void collect_config_writes(const Stmt& s, std::set<ConfigFieldName>& into) {
  if (!s.writes_config) return;
  if (const WriteConfig* w = s.as<WriteConfig>()) into.insert({w->config->name, w->field});
  if (const Call* c = s.as<Call>()) into.merge(callee_writes(c->callee));
  for (const StmtPtr& k : body_of(s)) collect_config_writes(*k, into);
  for (const StmtPtr& k : orelse_of(s)) collect_config_writes(*k, into);
}

bool same_value(const ExprPtr& a, const ExprPtr& b) {
  return equal(a, b) ||
         (is_integer_control(a->type) && is_integer_control(b->type) && affine_equal(a, b));
}

bool binds_symbol_of(const Block& b, const ExprPtr& e) {
  return std::any_of(b.begin(), b.end(), [&](const StmtPtr& s) {
    const Sym bound = bound_symbol(*s);
    return bound.valid() && mentions(e, bound);
  });
}

FieldOutcome unknown(ConfigPtr config) {
  return {FieldOutcome::Kind::kUnknown, nullptr, std::move(config)};
}

// A value that means the same whenever it is looked at.
FieldOutcome known(ExprPtr value, ConfigPtr config) {
  if (!is_control(value->type) || !config_reads(value).empty()) return unknown(std::move(config));
  return {FieldOutcome::Kind::kKnown, std::move(value), std::move(config)};
}

// The callee's value in the caller's words; arguments that are no control values leave it unknown.
FieldOutcome outcome_of_call(const Call& n, const ConfigFieldName& field) {
  FieldOutcome o = outcome_of(n.callee->body, field);
  if (!o.value) return o;
  FieldOutcome here = known(CallSubstitution(*n.callee, n.args).apply(o.value), o.config);
  if (here.value) here.kind = o.kind;
  return here;
}

// After what `before` says, something with the outcome `then` may run or not. A join of a lattice
// of four: unchanged, perhaps v, v, unknown; two values meet in one only where they are the same.
FieldOutcome perhaps(const FieldOutcome& before, const FieldOutcome& then) {
  using Kind = FieldOutcome::Kind;
  if (then.kind == Kind::kUnchanged) return before;
  if (then.value && before.kind == Kind::kUnchanged)
    return {Kind::kPerhaps, then.value, then.config};
  if (then.value && before.value && same_value(before.value, then.value)) return before;
  return unknown(then.config);
}

// A value that speaks of what the block declares says nothing behind it.
FieldOutcome hidden_by(const Block& scope, FieldOutcome o) {
  if (o.value && binds_symbol_of(scope, o.value)) return unknown(std::move(o.config));
  return o;
}

// Of one iteration, in terms of what is visible at the loop.
FieldOutcome outcome_of_iteration(const For& n, const ConfigFieldName& field) {
  FieldOutcome o = outcome_of(n.body, field);
  if (o.value && mentions(o.value, n.iter)) return unknown(std::move(o.config));
  return o;
}

// By the form of its bounds alone: sizes are at least 1.
bool surely_runs(const For& n) {
  const std::optional<Affine> trips = affine(n.hi - n.lo);
  if (!trips) return false;
  int64_t least = trips->constant;
  for (const Affine::Term& t : trips->terms) {
    const bool size = t.atom->as<Read>() && t.atom->type == ScalarType::kSize;
    if (!size || t.coeff < 0 || __builtin_add_overflow(least, t.coeff, &least)) return false;
  }
  return least > 0;
}

FieldOutcome outcome_after(const FieldOutcome& before, const Stmt& s,
                           const ConfigFieldName& field) {
  using Kind = FieldOutcome::Kind;
  if (!s.writes_config) return before;
  if (const If* n = s.as<If>()) {
    const FieldOutcome a = outcome_of(n->body, field), b = outcome_of(n->orelse, field);
    if (a.kind == Kind::kKnown && b.kind == Kind::kKnown && same_value(a.value, b.value)) return a;
    return perhaps(perhaps(before, a), b);
  }
  if (const For* n = s.as<For>()) {
    const FieldOutcome o = outcome_of_iteration(*n, field);
    return o.kind == Kind::kKnown && surely_runs(*n) ? o : perhaps(before, o);
  }
  FieldOutcome o;
  if (const WriteConfig* w = s.as<WriteConfig>())
    if (ConfigFieldName{w->config->name, w->field} == field) o = known(w->rhs, w->config);
  if (const Call* c = s.as<Call>()) o = outcome_of_call(*c, field);
  return o.kind == Kind::kKnown ? o : perhaps(before, o);
}

ScalarType type_of(const ConfigPtr& config, const std::string& field) {
  const ConfigField* f = config->find(field);
  return f ? f->type : ScalarType::kIndex;
}

Formula holds(Problem& problem, const ConfigPtr& config, const std::string& field,
              const ExprPtr& value) {
  const ExprPtr read = make_expr(ReadConfig{config, field}, type_of(config, field));
  return problem.formula(bin_op(BinOpKind::kEq, read, value));
}

// The field becomes `value`, which speaks of configuration as it was: the value is put into the
// terms of the problem first, then the field's variable is replaced by a new one that equals it.
void set_field(Problem& problem, const ConfigPtr& config, const std::string& field,
               const ExprPtr& value) {
  if (type_of(config, field) == ScalarType::kBool) {
    const Formula truth = problem.formula(value);
    problem.forget_config(config->name, field);
    problem.assume_flag(problem.config_value(config, field), truth);
  } else {
    const Lin lin = problem.lin(value);
    problem.forget_config(config->name, field);
    problem.assume_zero(problem.config_value(config, field) - lin);
  }
}

// v >= 0 or 1 - v >= 0: what holds of every flag.
bool bounds_a_flag(const Constraint& c) {
  if (c.equality || c.lin.terms.size() != 1) return false;
  const int64_t coeff = c.lin.terms.front().coeff;
  return (coeff == 1 && c.lin.constant == 0) || (coeff == -1 && c.lin.constant == 1);
}

// Do facts say of the field, as it is now, that it has the value? Where none speaks of it, or one
// says outright what it is, there is nothing to solve: at every loop of every program with settings
// this is asked of each field that the loop writes. Contradictory facts, from which anything would
// follow, may get a no.
bool has_value(Problem& problem, const ConfigPtr& config, const std::string& field,
               const ExprPtr& value) {
  const Formula goal = holds(problem, config, field, value);
  const Lin now = problem.config_value(config, field);
  if (now.terms.size() != 1) return false;
  const int var = now.terms.front().var;
  bool spoken_of = false;
  for (const Constraint& c : problem.constraints()) {
    if (c.lin.coeff_of(var) == 0 || bounds_a_flag(c)) continue;
    spoken_of = true;
    if (!c.equality || goal.kind != Formula::Kind::kAtom || !goal.atom.equality) continue;
    for (const int64_t sign : {1, -1}) {
      Lin difference = goal.atom.lin;
      difference.add(c.lin, sign);
      if (difference.is_constant()) return difference.constant == 0;
    }
  }
  for (const Formula& f : problem.disjunctions())
    for_each_atom(f, [&](const Constraint& c) { spoken_of |= c.lin.coeff_of(var) != 0; });
  return spoken_of && problem.entails(goal);
}

// The field has what it had, or what `o` says if that `surely` happened or is the same.
void merge_field(Problem& problem, const ConfigFieldName& field, const FieldOutcome& o,
                 bool surely) {
  using Kind = FieldOutcome::Kind;
  if (o.kind == Kind::kUnchanged) return;
  if (o.kind == Kind::kKnown && surely) return set_field(problem, o.config, field.second, o.value);
  const bool same = o.value && has_value(problem, o.config, field.second, o.value);
  if (!same) problem.forget_config(field.first, field.second);
}

}  // namespace

std::set<ConfigFieldName> config_writes(const Stmt& s) {
  std::set<ConfigFieldName> out;
  collect_config_writes(s, out);
  return out;
}

std::set<ConfigFieldName> config_writes(const Block& b) {
  std::set<ConfigFieldName> out;
  for (const StmtPtr& s : b) collect_config_writes(*s, out);
  return out;
}

std::set<ConfigFieldName> config_reads(const ExprPtr& e) {
  std::set<ConfigFieldName> out;
  collect_config_reads(e, out);
  return out;
}

bool intersects(const std::set<ConfigFieldName>& a, const std::set<ConfigFieldName>& b) {
  return std::any_of(a.begin(), a.end(), [&](const ConfigFieldName& f) { return b.count(f) != 0; });
}

FieldOutcome outcome_of(const Stmt& s, const ConfigFieldName& field) {
  return outcome_after({}, s, field);
}

FieldOutcome outcome_of(const Block& b, const ConfigFieldName& field) {
  FieldOutcome out;
  for (const StmtPtr& s : b) out = outcome_after(out, *s, field);
  return hidden_by(b, std::move(out));
}

// The strongest facts after a statement that are worth their price: a write is exact; of branches
// and loops each field is either known, the same on all ways, or forgotten.
void pass_config(Problem& problem, const Stmt& s) {
  if (!s.writes_config) return;
  if (const WriteConfig* w = s.as<WriteConfig>()) {
    // Unlike an outcome, the value may speak of other fields: they are what they are now.
    if (is_control(type_of(w->config, w->field)) && is_control(w->rhs->type))
      set_field(problem, w->config, w->field, w->rhs);
    else
      problem.forget_config(w->config->name, w->field);
    return;
  }
  if (const If* n = s.as<If>()) {
    for (const ConfigFieldName& f : config_writes(s)) {
      const FieldOutcome a = outcome_of(n->body, f), b = outcome_of(n->orelse, f);
      const bool both = a.kind == FieldOutcome::Kind::kKnown &&
                        b.kind == FieldOutcome::Kind::kKnown && same_value(a.value, b.value);
      merge_field(problem, f, a, both);
      if (!both) merge_field(problem, f, b, false);
    }
    return;
  }
  const For* n = s.as<For>();
  const bool surely = !n || problem.entails(bin_op(BinOpKind::kLt, n->lo, n->hi));
  for (const ConfigFieldName& f : config_writes(s))
    merge_field(problem, f, n ? outcome_of_iteration(*n, f) : outcome_of(s, f), surely);
}

// At the top of an iteration, any number of iterations ran before, none included: what a field is
// must hold without them and after one, and by induction after all.
void enter_iteration(Problem& problem, const Stmt& s) {
  const For* n = s.as<For>();
  if (!n || !s.writes_config) return;
  for (const ConfigFieldName& f : config_writes(s))
    merge_field(problem, f, outcome_of_iteration(*n, f), false);
}

}  // namespace exotune
