#include "core/analysis/facts.h"

#include <algorithm>

#include "core/analysis/proc_cache.h"

namespace exotune {
namespace {

void collect_config_reads(const ExprPtr& e, std::set<ConfigFieldName>& into) {
  if (const ReadConfig* r = e->as<ReadConfig>()) into.insert({r->config->name, r->field});
  for (const ExprPtr& c : expr_children(*e)) collect_config_reads(c, into);
}

std::set<ConfigFieldName> callee_writes(const ProcPtr& p) {
  static ProcCache<std::set<ConfigFieldName>> cache;
  if (std::optional<std::set<ConfigFieldName>> known = cache.find(p)) return *known;
  std::set<ConfigFieldName> writes = config_writes(p->body);
  cache.insert(p, writes);
  return writes;
}

void collect_config_writes(const Stmt& s, std::set<ConfigFieldName>& into) {
  if (const WriteConfig* w = s.as<WriteConfig>()) into.insert({w->config->name, w->field});
  if (const Call* c = s.as<Call>()) into.merge(callee_writes(c->callee));
  for (const StmtPtr& k : body_of(s)) collect_config_writes(*k, into);
  for (const StmtPtr& k : orelse_of(s)) collect_config_writes(*k, into);
}

// A conjunct-wise assumption: those that read a written field are left out.
void assume_unless_written(Problem& problem, const ExprPtr& condition,
                           const std::set<ConfigFieldName>& written) {
  if (!written.empty()) {
    const BinOp* o = condition->as<BinOp>();
    if (o && o->op == BinOpKind::kAnd) {
      assume_unless_written(problem, o->lhs, written);
      assume_unless_written(problem, o->rhs, written);
      return;
    }
    if (intersects(config_reads(condition), written)) return;
  }
  problem.assume(condition);
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

bool changes_facts(const Stmt& s) {
  return s.as<Alloc>() || s.as<WindowStmt>() || !config_writes(s).empty();
}

void assume_header(Problem& problem, const Proc& p) {
  for (const Arg& a : p.args)
    if (is_control(a.type.scalar) && !a.type.is_tensor())
      problem.variable_of(a.name, a.type.scalar);
  std::set<ConfigFieldName> written;
  bool known = false;
  for (const ExprPtr& e : p.asserts) {
    if (!known && !config_reads(e).empty()) {
      written = config_writes(p.body);
      known = true;
    }
    assume_unless_written(problem, e, written);
  }
}

void enter(Problem& problem, const Stmt& s, Child child) {
  if (const For* loop = s.as<For>()) {
    const int i = problem.variable_of(loop->iter, ScalarType::kIndex);
    const bool lo_reads = !config_reads(loop->lo).empty(),
               hi_reads = !config_reads(loop->hi).empty();
    std::set<ConfigFieldName> written;
    if (lo_reads || hi_reads) written = config_writes(s);
    if (!lo_reads || !intersects(config_reads(loop->lo), written))
      problem.assume_at_least_zero(Lin::variable(i) - problem.lin(loop->lo));
    if (!hi_reads || !intersects(config_reads(loop->hi), written)) {
      Lin above = problem.lin(loop->hi) - Lin::variable(i);
      problem.assume_at_least_zero(std::move(above.add_constant(-1)));
    }
  } else if (const If* branch = s.as<If>()) {
    if (!config_reads(branch->cond).empty() &&
        intersects(config_reads(branch->cond), config_writes(s)))
      return;
    Formula f = problem.formula(branch->cond);
    problem.assume(child == Child::kOrelse ? negated(f) : std::move(f));
  }
}

Place::Place(const Proc& p, const Path& at) : scope_(p, at), problem_(&scope_) {
  assume_header(problem_, p);
  const Block* block = &p.body;
  for (size_t d = 0; d + 1 < at.size() && at[d + 1].child != Child::kExpr; ++d) {
    const Stmt& s = *(*block)[at[d].index];
    enter(problem_, s, at[d + 1].child);
    block = at[d + 1].child == Child::kOrelse ? &orelse_of(s) : &body_of(s);
  }
}

}  // namespace exotune
