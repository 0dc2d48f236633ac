#include "core/analysis/facts.h"

#include <algorithm>

namespace exotune {

bool changes_facts(const Stmt& s) { return s.as<Alloc>() || s.as<WindowStmt>() || s.writes_config; }

void assume_header(Problem& problem, const Proc& p) {
  for (const Arg& a : p.args)
    if (is_control(a.type.scalar) && !a.type.is_tensor())
      problem.variable_of(a.name, a.type.scalar);
  for (const ExprPtr& e : p.asserts) problem.assume(e);
}

void enter(Problem& problem, const Stmt& s, Child child) {
  if (const For* loop = s.as<For>()) {
    const int i = problem.variable_of(loop->iter, ScalarType::kIndex);
    const std::set<ConfigFieldName> written = config_writes(s);
    if (!intersects(config_reads(loop->lo), written))
      problem.assume_at_least_zero(Lin::variable(i) - problem.lin(loop->lo));
    if (!intersects(config_reads(loop->hi), written)) {
      Lin above = problem.lin(loop->hi) - Lin::variable(i);
      problem.assume_at_least_zero(std::move(above.add_constant(-1)));
    }
  } else if (const If* branch = s.as<If>()) {
    Formula f = problem.formula(branch->cond);
    problem.assume(child == Child::kOrelse ? negated(f) : std::move(f));
  }
}

Place::Place(const Proc& p, const Path& at, ConfigFacts config) : scope_(p, at), problem_(&scope_) {
  assume_header(problem_, p);
  const Block* block = &p.body;
  for (size_t d = 0; d < at.size() && at[d].child != Child::kExpr; ++d) {
    const size_t index = std::min(static_cast<size_t>(at[d].index), block->size());
    for (size_t k = 0; k < index; ++k) pass_config(problem_, *(*block)[k]);
    if (d + 1 == at.size() || at[d + 1].child == Child::kExpr) {
      if (config == ConfigFacts::kOnArrival) break;
      for (size_t k = index; k < block->size(); ++k)
        for (const auto& [name, field] : config_writes(*(*block)[k]))
          problem_.forget_config(name, field);
      break;
    }
    const Stmt& s = *(*block)[index];
    enter(problem_, s, at[d + 1].child);
    enter_iteration(problem_, s);
    block = at[d + 1].child == Child::kOrelse ? &orelse_of(s) : &body_of(s);
  }
}

}  // namespace exotune
