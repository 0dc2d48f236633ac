// Statements, and the entry point.
#include <algorithm>
#include <map>
#include <sstream>

#include "core/analysis/c_limits.h"
#include "core/analysis/checker.h"
#include "core/analysis/proc_cache.h"
#include "core/analysis/storage.h"
#include "core/ir/printer.h"

namespace exotune {

Checker::Checker(const Proc& p, bool for_codegen)
    // An instruction's body is its meaning, never emitted.
    : p_(p), codegen_(for_codegen && !p.instr), scope_(p), problem_(&scope_) {}

void Checker::fail(const SourceLocation& where, LazyText message, LazyText hint) const {
  throw InputError(where.known() ? where : p_.where, std::move(message), std::move(hint));
}

void Checker::fail(const SourceLocation& where, const std::string& what,
                   const std::string& condition, const Answer& answer, LazyText hint) const {
  std::ostringstream out;
  out << what << ": ";
  if (answer.verdict == Verdict::kRefuted) {
    out << condition << (answer.counter_example.empty() ? " never holds" : " fails");
    const char* separator = " for ";
    for (const auto& [name, value] : answer.counter_example) {
      out << separator << name << " = " << value;
      separator = ", ";
    }
  } else {
    out << "cannot prove " << condition << " (the solver answered unknown)";
  }
  fail(where, out.str(), std::move(hint));
}

// Header and asserts before the body, which may rely on them.
void Checker::run() {
  hints_ = true;
  header();
  block(p_.body, Child::kBody);
  if (refusals_ && !refusals_->empty()) return;
  initialised(p_.body, {{Child::kBody, 0}}, static_cast<int>(p_.body.size()));
}

void Checker::run_to_the_end() {
  Refusals found;
  refusals_ = &found;
  try {
    run();
  } catch (const InputError& refused) {
    found.add(refused.diagnostic());
  }
  refusals_ = nullptr;
  if (!found.empty()) throw found.all();
}

namespace {

// Where the first of the allocations around `at` stands that the statement there uses; else `at`.
Path first_used(const Proc& p, const Path& at) {
  const Scope scope(p, at);
  const StmtPtr s = stmt_at(p, at);
  std::set<Sym> used;
  for (const Binding& b : scope.bindings())
    if ((b.alloc || b.window) && mentions(s, b.name)) used.insert(scope.root_of(b.name));
  const Block* block = &p.body;
  for (size_t d = 0; d < at.size(); ++d) {
    for (int k = 0; k < at[d].index; ++k) {
      const Alloc* a = (*block)[static_cast<size_t>(k)]->as<Alloc>();
      if (!a || !used.count(a->name)) continue;
      Path first(at.begin(), at.begin() + static_cast<int64_t>(d) + 1);
      first.back().index = k;
      return first;
    }
    if (d + 1 == at.size()) break;
    const Stmt& around = *(*block)[static_cast<size_t>(at[d].index)];
    block = at[d + 1].child == Child::kOrelse ? &orelse_of(around) : &body_of(around);
  }
  return at;
}

}  // namespace

void Checker::run_at(const Path& at) {
  assume_header(problem_, p_);
  descend(p_.body, at, 0);
  const Path first = first_used(p_, at);
  const Block& block = block_at(p_, first);
  initialised(block, first, static_cast<int>(block.size()) - first.back().index);
}

// Knows at `at` what block() would know there, and asks nothing on the way but whether parallel
// loops around it race.
void Checker::descend(const Block& b, const Path& at, size_t depth) {
  const size_t index = static_cast<size_t>(at[depth].index);
  for (size_t k = 0; k < index; ++k) {
    pass_config(problem_, *b[k]);
    scope_.push(*b[k]);
  }
  const Stmt& s = *b[index];
  path_.push_back(at[depth]);
  if (depth + 1 == at.size()) {
    stmt(s);
  } else {
    const Child child = at[depth + 1].child;
    enter(problem_, s, child);
    enter_iteration(problem_, s);
    const For* loop = s.as<For>();
    if (loop) scope_.push_iter(loop->iter);
    if (loop) iters_.push_back(loop->iter);
    descend(child == Child::kOrelse ? orelse_of(s) : body_of(s), at, depth + 1);
    if (loop) iters_.pop_back();
    if (loop) race_free(s, *loop);
  }
  path_.pop_back();
}

void Checker::header() {
  for (const Arg& a : p_.args) {
    if (is_control(a.type.scalar) && a.type.is_tensor())
      fail(p_.where, "argument " + a.name.name() + ": a control value has no dimensions");
    for (const ExprPtr& e : a.type.shape) {
      integer(e, p_.where);
      fixed(e, "the shape of " + a.name.name(), p_.where);
      if (const Lin size = problem_.lin(e); size.is_constant() && size.constant <= 0)
        fail(e->where.known() ? e->where : p_.where,
             "the size " + str(e) + " of " + a.name.name() + " is not positive");
    }
  }
  assume_header(problem_, p_);
  for (const ExprPtr& e : p_.asserts) boolean(e, e->where);
  satisfiable();
}

// Under asserts that no sizes meet everything would be proved.
void Checker::satisfiable() {
  const ExprPtr never = bool_const(false);
  if (p_.asserts.empty() || !problem_.entails(never)) return;
  Problem so_far(&scope_);
  for (const Arg& a : p_.args)
    if (is_control(a.type.scalar)) so_far.variable_of(a.name, a.type.scalar);
  std::string before = "sizes are at least 1";
  for (const ExprPtr& e : p_.asserts) {
    so_far.assume(e);
    if (so_far.entails(never))
      fail(e->where, "nothing satisfies this assert: " + str(e) + " never holds, as " + before);
    before = "sizes are at least 1 and the asserts before it hold";
  }
  fail(p_.where, "nothing satisfies the asserts of " + p_.name);
}

// Shapes and windows keep the value of their definition: a later write would change what they say.
void Checker::fixed(const ExprPtr& e, const std::string& what, const SourceLocation& where) {
  const std::set<ConfigFieldName> read = config_reads(e);
  if (!read.empty() && intersects(read, config_writes(p_.body)))
    fail(where, what + " depends on configuration that is written");
}

// Statements in order; what one binds or establishes (a window, a value of configuration) holds for
// the later ones until the block ends.
void Checker::block(const Block& b, Child child) {
  const size_t visible = scope_.size();
  path_.push_back({child, 0});
  for (size_t k = 0; k < b.size(); ++k) {
    path_.back().index = static_cast<int>(k);
    stmt_or_refusal(*b[k]);
  }
  path_.pop_back();
  scope_.truncate(visible);
}

// What binds a name or sets configuration ends its block with it: what follows would be guesses.
void Checker::stmt_or_refusal(const Stmt& s) {
  if (!refusals_ || s.writes_config || s.as<Alloc>() || s.as<WindowStmt>()) return stmt(s);
  const size_t visible = scope_.size(), depth = path_.size(), loops = iters_.size();
  const Problem::Mark mark = problem_.mark();
  try {
    stmt(s);
  } catch (const InputError& refused) {
    refusals_->add(refused.diagnostic());
    problem_.rollback(mark);
    scope_.truncate(visible);
    path_.resize(depth);
    iters_.resize(loops);
  }
}

void Checker::stmt(const Stmt& s) {
  struct Visitor {
    Checker& c;
    const Stmt& s;
    void operator()(const Assign& n) { c.store(s, n.name, n.idx, n.rhs); }
    void operator()(const Reduce& n) { c.store(s, n.name, n.idx, n.rhs); }
    void operator()(const WriteConfig& n) { c.config_write(s, n); }
    void operator()(const Pass&) {}
    void operator()(const If& n) { c.branch(s, n); }
    void operator()(const For& n) { c.loop(s, n); }
    void operator()(const Alloc& n) { c.allocation(s, n); }
    void operator()(const Call& n) { c.call(s, n); }
    void operator()(const WindowStmt& n) {
      const WindowExpr* w = n.rhs->as<WindowExpr>();
      if (!w) c.fail(s.where, "a window statement needs a window: " + str(n.rhs));
      c.window(*w, s.where);
      c.fixed(n.rhs, "the window " + n.name.name(), s.where);
      c.scope_.push(s);
    }
  };
  // What a statement's own expressions and inside added goes again; what it does to configuration
  // stays.
  if (!s.writes_config) {
    const Problem::Mark mark = problem_.mark();
    std::visit(Visitor{*this, s}, s.node);
    problem_.rollback(mark);
  } else {
    Problem before = problem_;
    std::visit(Visitor{*this, s}, s.node);
    problem_ = std::move(before);
    pass_config(problem_, s);
  }
}

// Bounds are integers; inside, the iterator is bound with lo <= i < hi, which most proofs of bounds
// rest on. A loop that never runs makes its body vacuous, which is right.
void Checker::loop(const Stmt& s, const For& n) {
  integer(n.lo, s.where);
  integer(n.hi, s.where);
  const size_t visible = scope_.size();
  enter(problem_, s, Child::kBody);
  enter_iteration(problem_, s);
  scope_.push_iter(n.iter);
  iters_.push_back(n.iter);
  block(n.body, Child::kBody);
  iters_.pop_back();
  scope_.truncate(visible);
  race_free(s, n);
}

// Only parallel loops: sequential ones may do anything.
void Checker::race_free(const Stmt& s, const For& n) {
  if (n.mode != LoopMode::kPar) return;
  const LoopAnswer race = loop_parallel(p_, path_);
  if (race) return;
  Diagnostic d{s.where.known() ? s.where : p_.where,
               "the iterations of the parallel loop " + n.iter.name() + " may race", race.notes(),
               "make the loop seq, or give each iteration its own part of the buffer"};
  throw InputError(std::move(d));
}

// Each side is checked under its condition; the facts go again afterwards.
void Checker::branch(const Stmt& s, const If& n) {
  boolean(n.cond, s.where);
  std::optional<Problem> before;
  if (s.writes_config) before = problem_;
  const Problem::Mark mark = problem_.mark();
  enter(problem_, s, Child::kBody);
  block(n.body, Child::kBody);
  if (n.orelse.empty()) return;
  if (before)
    problem_ = std::move(*before);
  else
    problem_.rollback(mark);
  enter(problem_, s, Child::kOrelse);
  block(n.orelse, Child::kOrelse);
}

void Checker::store(const Stmt& s, Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs) {
  stored(rhs, buffer(name, s.where).type->scalar, s.where);
  element(name, idx, s.where);
}

void Checker::allocation(const Stmt& s, const Alloc& n) {
  if (!is_data(n.type.scalar)) fail(s.where, n.name.name() + ": only data is allocated");
  for (const ExprPtr& e : n.type.shape) {
    integer(e, s.where);
    fixed(e, "the shape of " + n.name.name(), s.where);
    const ExprPtr positive = bin_op(BinOpKind::kGt, e, int_const(0));
    const Answer answer = problem_.entails(positive);
    if (!answer)
      fail(s.where, "the size " + str(e) + " of " + n.name.name() + " may not be positive",
           str(positive), answer, positive_hint(e));
  }
  if (codegen_) allocation_memory(n, s.where);
  scope_.push(s);
}

// Values that depend on a loop are refused: configuration is set once for a loop, so that
// instructions inside see one value.
void Checker::config_write(const Stmt& s, const WriteConfig& n) {
  const ConfigField* field = n.config->find(n.field);
  const std::string name = n.config->name + "." + n.field;
  if (!field) fail(s.where, "there is no field " + name);
  if (is_data(field->type)) {
    stored(n.rhs, field->type, s.where);
  } else if (field->type == ScalarType::kBool) {
    boolean(n.rhs, s.where);
  } else {
    integer(n.rhs, s.where);
  }
  for (Sym i : iters_)
    if (mentions(n.rhs, i))
      fail(s.where, "the value of " + name + " depends on the loop iterator " + i.name(),
           "configuration is set once for a whole loop");
  if (field->type == ScalarType::kSize) {
    const Answer positive = problem_.entails(bin_op(BinOpKind::kGt, n.rhs, int_const(0)));
    if (!positive) fail(s.where, name + " is a size", str(n.rhs) + " > 0", positive);
  }
  if (codegen_ && !n.config->readable)
    fail(s.where, name + " lives in hardware only: it is written by instructions",
         "replace the statement by the instruction that sets it");
}

namespace {

// Does the access happen whenever its buffer is allocated?
bool unconditional(const Effect& e) {
  if (e.access.conditions.size() > e.outer_conditions) return false;
  for (size_t k = e.outer_loops; k < e.access.vars.size(); ++k) {
    const std::optional<int64_t> lo = as_int(e.access.vars[k].lo), hi = as_int(e.access.vars[k].hi);
    if (!lo || !hi || *lo >= *hi) return false;
  }
  return true;
}

}  // namespace

// A buffer whose first access surely reads it, or that is never written, holds nothing to read.
// Looks at what surely happens: a buffer that is read on some path before it is written is a matter
// for the interpreter's poison, one that is read on every path is an error.
void Checker::initialised(const Block& block, const Path& first, int n) {
  struct Use {
    bool written = false, reads_first = false;
    const Effect* read = nullptr;
  };
  const Effects all = effects_of(Scope(p_, first), block, first, n);
  std::map<uint32_t, Use> uses;
  for (const Effect& e : all.memory) {
    if (!e.local) continue;
    Use& use = uses[e.access.buffer.id()];
    if (e.access.kind == Access::Kind::kWrite) {
      use.written = true;
    } else if (!use.read) {
      use.reads_first = !use.written && unconditional(e);
      use.read = &e;
    }
  }
  for (const Effect& e : all.memory) {
    if (!e.local) continue;
    const Use& use = uses[e.access.buffer.id()];
    if (use.read != &e || (use.written && !use.reads_first)) continue;
    const StmtPtr s = stmt_at(p_, e.access.stmt);
    fail(s ? s->where : p_.where,
         e.access.buffer.name() +
             (e.access.kind == Access::Kind::kRead ? " is read" : " is reduced into") +
             (use.written ? " before it is written" : " but never written") +
             ": its contents are undefined",
         "assign it first");
  }
}

namespace {

// Callees are checked once while they live; their errors name them.
void check_callees(const Proc& p, bool for_codegen) {
  // The value: passed for code generation too.
  static ProcCache<bool> passed;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    if (!c) return;
    const std::optional<bool> known = passed.find(c->callee);
    if (known && (*known || !for_codegen)) return;
    try {
      check(*c->callee, for_codegen);
    } catch (InputError& e) {
      e.diagnostic().notes.push_back("in " + c->callee->name + ", which " + p.name + " calls");
      throw;
    }
    passed.insert(c->callee, for_codegen);
  });
}

}  // namespace

// What every procedure passes before C is made of it; primitives call it, or the cheaper
// check_statement, where their own proof is not enough.
void check(const Proc& p, bool for_codegen) {
  check_callees(p, for_codegen);
  check_c_limits(p);
  Checker(p, for_codegen).run();
  if (for_codegen && !p.instr) plan_storage(p);
}

void check_to_the_end(const Proc& p) {
  check_callees(p, /*for_codegen=*/false);
  check_c_limits(p);
  Checker(p, /*for_codegen=*/false).run_to_the_end();
}

void check_statement(const Proc& p, const Path& at) {
  if (stmt_at(p, at)->writes_config) return check(p);
  check_c_limits(p, at);
  Checker(p, false).run_at(at);
}

}  // namespace exotune
