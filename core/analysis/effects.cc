#include "core/analysis/effects.h"

#include <algorithm>
#include <unordered_map>

#include "core/analysis/proc_cache.h"
#include "core/base/hashing.h"

namespace exotune {
// How effects are collected: one walk over the block keeps the scope, the path, the loops around
// and the conditions that hold, and each access takes a copy of them. Callees are summarised once
// in terms of their formals and substituted at each call, so a program of calls is walked once a
// procedure, not once a call.

std::vector<ConfigFieldName> Effects::written() const {
  std::vector<ConfigFieldName> out;
  for (const ConfigEffect& c : config)
    if (c.value && std::find(out.begin(), out.end(), c.field) == out.end()) out.push_back(c.field);
  return out;
}

namespace {

// Beyond this the summary would take longer than what it is for; the callee is then taken to touch
// everything (see effects_of_callee).
// Of one callee. Procs that call the one before twice have twice as many each.
constexpr size_t kMostEffects = 1 << 16;

Access::Kind kind_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kAdd:
      return Access::Kind::kReduceAdd;
    case ReduceOp::kMax:
      return Access::Kind::kReduceMax;
    case ReduceOp::kMin:
      break;
  }
  return Access::Kind::kReduceMin;
}

// `vars_`, `loops_` and `conditions_` are stacks that mirror the nest at the statement being looked
// at. `loops_` numbers loop statements: two loops over one range are two instances, and accesses
// under both must not be taken for accesses of one iteration.
class Collector {
 public:
  // `only`: see effects_of.
  Collector(Scope scope, Path path, std::optional<Sym> only = {})
      : scope_(std::move(scope)), path_(std::move(path)), only_(only) {}

  // Names and locals bound inside end with the block.
  void block(const Block& b, size_t first, size_t n) {
    const size_t visible = scope_.size(), locals = locals_.size();
    for (size_t k = first; k < first + n && k < b.size(); ++k) {
      path_.back().index = static_cast<int>(k);
      stmt(*b[k]);
    }
    scope_.truncate(visible);
    locals_.resize(locals);
  }

  // A call must find configuration as the callee asserts it: that is a read.
  void requires_of_config(const ExprPtr& e) {
    if (const ReadConfig* r = e->as<ReadConfig>()) config(r->config, r->field, nullptr);
    for (const ExprPtr& c : expr_children(*e)) requires_of_config(c);
  }

  Effects take() { return std::move(out_); }

 private:
  void inner(const Block& b, Child child) {
    path_.push_back({child, 0});
    block(b, 0, b.size());
    path_.pop_back();
  }

  void stmt(const Stmt& s) {
    struct Visitor {
      Collector& c;
      const Stmt& s;
      void operator()(const Assign& n) { c.store(n.name, n.idx, n.rhs, Access::Kind::kWrite); }
      void operator()(const Reduce& n) { c.store(n.name, n.idx, n.rhs, kind_of(n.op)); }
      void operator()(const WriteConfig& n) {
        c.reads(n.rhs);
        c.config(n.config, n.field, n.rhs);
      }
      void operator()(const Pass&) {}
      // The else branch runs under the negated condition; data never decides, so conditions are
      // control expressions that the solver understands.
      void operator()(const If& n) {
        c.reads(n.cond);
        c.conditions_.push_back(n.cond);
        c.inner(n.body, Child::kBody);
        if (!n.orelse.empty()) {
          c.conditions_.back() = logical_not(n.cond);
          c.inner(n.orelse, Child::kOrelse);
        }
        c.conditions_.pop_back();
      }
      // Bounds are evaluated outside of the loop: their reads count before the iterator is in
      // scope.
      void operator()(const For& n) {
        c.reads(n.lo);
        c.reads(n.hi);
        c.vars_.push_back({n.iter, n.lo, n.hi});
        c.loops_.push_back(c.out_.loops++);
        const size_t visible = c.scope_.size();
        c.scope_.push_iter(n.iter);
        c.inner(n.body, Child::kBody);
        c.scope_.truncate(visible);
        c.vars_.pop_back();
        c.loops_.pop_back();
      }
      void operator()(const Alloc& n) {
        for (const ExprPtr& e : n.type.shape) c.reads(e);
        c.scope_.push(s);
        c.locals_.push_back({n.name, c.vars_.size(), c.conditions_.size()});
      }
      void operator()(const Call& n) { c.call(n); }
      void operator()(const WindowStmt& n) {
        for (const ExprPtr& e : expr_children(*n.rhs)) c.reads(e);
        c.scope_.push(s);
      }
    };
    std::visit(Visitor{*this, s}, s.node);
  }

  // Reads stand before the write of the same statement, in the order in which the interpreter does
  // them: who asks for "the first access" gets it right.
  void store(Sym name, const std::vector<ExprPtr>& idx, const ExprPtr& rhs, Access::Kind kind) {
    for (const ExprPtr& e : idx) reads(e);
    reads(rhs);
    if (asked_for(name)) access(kind, name, idx);
  }

  // Of a buffer or a window of it.
  bool asked_for(Sym name) const { return !only_ || scope_.root_of(name) == *only_; }

  // Every element and config field that the value of `e` depends on.
  void reads(const ExprPtr& e) {
    if (const Read* r = e->as<Read>()) {
      for (const ExprPtr& i : r->idx) reads(i);
      if (is_data(e->type) && asked_for(r->name)) access(Access::Kind::kRead, r->name, r->idx);
      return;
    }
    if (const ReadConfig* r = e->as<ReadConfig>()) {
      config(r->config, r->field, nullptr);
      return;
    }
    if (e->as<Const>() || e->as<StrideExpr>()) return;
    if (const BinOp* o = e->as<BinOp>()) {
      reads(o->lhs);
      reads(o->rhs);
      return;
    }
    for (const ExprPtr& c : expr_children(*e)) reads(c);
    if (const WindowExpr* w = e->as<WindowExpr>()) whole(*w);
  }

  // Every element that a window shows.
  // One access that stands for all elements, with a loop of its own for each interval: exact for
  // the affine windows of the language, and as small as an access to one element.
  void whole(const WindowExpr& w) {
    if (!asked_for(w.name)) return;
    const size_t vars = vars_.size();
    std::vector<ExprPtr> idx;
    for (const WindowAccess& a : w.access) {
      if (a.is_point()) {
        idx.push_back(a.lo);
        continue;
      }
      const Sym at = Sym::fresh("at");
      vars_.push_back({at, a.lo, a.hi});
      loops_.push_back(out_.loops++);
      idx.push_back(read_var(at, ScalarType::kIndex));
    }
    access(Access::Kind::kRead, w.name, std::move(idx));
    out_.memory.back().access.whole_window = true;
    vars_.resize(vars);
    loops_.resize(vars);
  }

  ScalarType element_of(Sym root, ScalarType otherwise) const {
    const Binding* b = scope_.find(root);
    return b && b->type ? b->type->scalar : otherwise;
  }

  // Resolved to root buffers here, so that accesses through two windows of one buffer are seen to
  // meet. The name it went through is kept for messages.
  void access(Access::Kind kind, Sym name, std::vector<ExprPtr> idx) {
    Location at = scope_.resolve(name, std::move(idx));
    Effect e;
    e.access = {kind, at.root, name, std::move(at.idx), vars_, conditions_, path_, false};
    e.loops = loops_;
    e.element = element_of(at.root, ScalarType::kR);
    for (const Local& l : locals_)
      if (l.name == at.root) {
        e.local = true;
        e.outer_loops = l.loops;
        e.outer_conditions = l.conditions;
      }
    out_.memory.push_back(std::move(e));
  }

  // `definite`: the write happens whenever the block runs. Only then does a later read see this
  // value and no other.
  void config(const ConfigPtr& config, const std::string& field, ExprPtr value) {
    const bool opaque = value && !reads_scalars_only(value);
    out_.config.push_back({config,
                           {config->name, field},
                           std::move(value),
                           vars_.empty() && conditions_.empty(),
                           vars_,
                           opaque});
  }

  // Is every datum that `e` reads a scalar, by the name of the buffer itself?
  bool reads_scalars_only(const ExprPtr& e) const {
    const Read* r = e->as<Read>();
    if (r && is_data(e->type))
      return r->idx.empty() && scope_.find(r->name) && scope_.root_of(r->name) == r->name;
    for (const ExprPtr& c : expr_children(*e))
      if (!reads_scalars_only(c)) return false;
    return true;
  }

  // A callee's expression in terms of what the call passes, scalars of data too.
  static ExprPtr with_data_arguments(const CallSubstitution& substitution, const ExprPtr& e) {
    return rewrite(substitution.apply(e), [&](const ExprPtr& x) -> ExprPtr {
      const Read* r = x->as<Read>();
      if (!r || !is_data(x->type) || !r->idx.empty()) return x;
      const ExprPtr argument = substitution.value_of(r->name);
      return argument ? argument : x;
    });
  }

  // What a call does, in the caller's terms. An argument that is no place (a scalar expression) is
  // read instead, once for each time the callee reads it.
  void call(const Call& n) {
    std::shared_ptr<const Effects> callee = effects_of_callee(n.callee);
    const CallSubstitution substitution(*n.callee, n.args);
    // Indices and control values are evaluated by the caller whatever the callee does with them.
    for (size_t k = 0; k < n.args.size(); ++k) {
      const ExprPtr& a = n.args[k];
      if (is_control(n.callee->args[k].type.scalar)) {
        reads(a);
      } else {
        for (const ExprPtr& c : expr_children(*a))
          if (is_control(c->type)) reads(c);
      }
    }
    // Loops of the callee are numbered anew at each call: two calls are two instances.
    const int base = out_.loops;
    out_.loops += callee->loops;
    for (const Effect& e : callee->memory) {
      if (const std::optional<Sym> name = substitution.buffer_of(e.access.buffer);
          name && !asked_for(*name))
        continue;
      const size_t vars = vars_.size(), conditions = conditions_.size();
      for (size_t k = 0; k < e.access.vars.size(); ++k) {
        const RangedVar& v = e.access.vars[k];
        vars_.push_back({v.var, substitution.apply(v.lo), substitution.apply(v.hi)});
        loops_.push_back(base + e.loops[k]);
      }
      for (const ExprPtr& c : e.access.conditions) conditions_.push_back(substitution.apply(c));
      std::vector<ExprPtr> idx;
      idx.reserve(e.access.idx.size());
      for (const ExprPtr& i : e.access.idx) idx.push_back(substitution.apply(i));
      if (std::optional<Location> at = substitution.locate(e.access.buffer, idx)) {
        access(e.access.kind, at->root, std::move(at->idx));
      } else {
        reads(substitution.value_of(e.access.buffer));
      }
      vars_.resize(vars);
      loops_.resize(vars);
      conditions_.resize(conditions);
    }
    for (const ConfigEffect& c : callee->config) {
      const size_t vars = vars_.size();
      for (const RangedVar& v : c.vars)
        vars_.push_back({v.var, substitution.apply(v.lo), substitution.apply(v.hi)});
      const bool definite = c.definite && vars == 0 && conditions_.empty();
      const ExprPtr value = c.value ? with_data_arguments(substitution, c.value) : nullptr;
      const bool opaque = c.opaque || (value && !reads_scalars_only(value));
      out_.config.push_back({c.config, c.field, value, definite, vars_, opaque});
      vars_.resize(vars);
    }
  }

  Scope scope_;
  Path path_;
  std::vector<RangedVar> vars_;
  std::vector<int> loops_;
  std::vector<ExprPtr> conditions_;
  struct Local {
    Sym name;
    size_t loops, conditions;
  };
  std::vector<Local> locals_;
  const std::optional<Sym> only_;
  Effects out_;
};

// A callee's summary is used in many callers, also in itself when it calls another procedure twice:
// with shared variables, `i` of the one could capture `i` of the other.
// Fresh loop variables, so that expressions of any caller can stand under them.
Effects with_private_variables(Effects e) {
  std::unordered_map<uint32_t, Sym> fresh;
  auto renamed = [&](Sym s) {
    auto [it, inserted] = fresh.try_emplace(s.id());
    if (inserted) it->second = s.copy();
    return it->second;
  };
  // Bounds of a variable may mention the variables outside of it, and only those: `upto`.
  auto apply = [&](const ExprPtr& x, const std::vector<RangedVar>& old, size_t upto) {
    ExprPtr out = x;
    for (size_t k = 0; out && k < upto; ++k)
      if (out->bloom & old[k].var.bloom()) out = rename(out, old[k].var, renamed(old[k].var));
    return out;
  };
  auto apply_vars = [&](std::vector<RangedVar>& vars) {
    const std::vector<RangedVar> old = vars;
    for (size_t k = 0; k < vars.size(); ++k)
      vars[k] = {renamed(old[k].var), apply(old[k].lo, old, k), apply(old[k].hi, old, k)};
    return old;
  };
  for (Effect& m : e.memory) {
    const std::vector<RangedVar> old = apply_vars(m.access.vars);
    for (ExprPtr& i : m.access.idx) i = apply(i, old, old.size());
    for (ExprPtr& c : m.access.conditions) c = apply(c, old, old.size());
  }
  for (ConfigEffect& c : e.config) {
    const std::vector<RangedVar> old = apply_vars(c.vars);
    c.value = apply(c.value, old, old.size());
  }
  return e;
}

bool same_exprs(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return equal(x, y); });
}

// The same elements in the same way, whichever of several equal loops does it.
bool repeats(const Access& a, const Access& b) {
  return a.kind == b.kind && a.buffer == b.buffer && a.through == b.through &&
         a.whole_window == b.whole_window && same_exprs(a.idx, b.idx) &&
         same_exprs(a.conditions, b.conditions) &&
         std::equal(a.vars.begin(), a.vars.end(), b.vars.begin(), b.vars.end(),
                    [](const RangedVar& x, const RangedVar& y) {
                      return x.var == y.var && equal(x.lo, y.lo) && equal(x.hi, y.hi);
                    });
}

uint64_t hash_of(const Access& a) {
  uint64_t h = hash_combine(static_cast<uint64_t>(a.kind), a.buffer.id());
  for (const ExprPtr& i : a.idx) h = hash_combine(h, i->hash);
  for (const ExprPtr& c : a.conditions) h = hash_combine(h, c->hash);
  for (const RangedVar& v : a.vars) h = hash_combine(h, v.var.id());
  return h;
}

// What a proc does again, its first time stands for: a proc that calls another twice has effects
// once. Only where configuration stays what it is: conditions and indices may read it.
void drop_repeats(Effects& e) {
  if (!e.written().empty()) return;
  std::unordered_multimap<uint64_t, size_t> seen;
  std::vector<Effect> kept;
  for (Effect& m : e.memory) {
    const uint64_t h = hash_of(m.access);
    const auto [from, to] = seen.equal_range(h);
    if (std::any_of(from, to,
                    [&](const auto& s) { return repeats(kept[s.second].access, m.access); }))
      continue;
    seen.emplace(h, kept.size());
    kept.push_back(std::move(m));
  }
  e.memory = std::move(kept);
  std::vector<ConfigEffect> reads;  // none is written
  for (ConfigEffect& c : e.config)
    if (std::none_of(reads.begin(), reads.end(), [&](const ConfigEffect& r) {
          return r.field == c.field && r.definite == c.definite;
        }))
      reads.push_back(std::move(c));
  e.config = std::move(reads);
}

}  // namespace

std::shared_ptr<const Effects> effects_of_callee(const ProcPtr& callee) {
  static ProcCache<std::shared_ptr<const Effects>> cache;
  if (std::optional<std::shared_ptr<const Effects>> known = cache.find(callee)) return *known;
  Collector collector(Scope(*callee), {{Child::kBody, 0}});
  for (const ExprPtr& e : callee->asserts) collector.requires_of_config(e);
  collector.block(callee->body, 0, callee->body.size());
  Effects all = collector.take();
  std::erase_if(all.memory, [](const Effect& e) { return e.local; });
  drop_repeats(all);
  if (all.memory.size() + all.config.size() > kMostEffects)
    throw InputError(callee->where, callee->name + " calls so much that it cannot be followed",
                     "write loops instead of procedures that call each other several times");
  auto made = std::make_shared<const Effects>(with_private_variables(std::move(all)));
  cache.insert(callee, made);
  return made;
}

Effects effects_of(const Scope& scope, const Block& block, const Path& first, int n,
                   std::optional<Sym> only) {
  Collector collector(scope, stmt_part(first), only);
  collector.block(block, static_cast<size_t>(stmt_part(first).back().index),
                  static_cast<size_t>(n));
  return collector.take();
}

std::vector<Access> accesses_of(const Proc& p, const Path& first, int n, std::optional<Sym> only) {
  Effects all = effects_of(Scope(p, first), block_at(p, first), first, n, only);
  std::vector<Access> out;
  for (Effect& e : all.memory)
    if (!e.local) out.push_back(std::move(e.access));
  // A field that the block writes has no one value in it: each read becomes an unknown of its own.
  const std::vector<ConfigFieldName> written = all.written();
  if (written.empty()) return out;
  auto unknown = [&](ExprPtr& e) {
    e = rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      const ReadConfig* r = x->as<ReadConfig>();
      if (!r || std::find(written.begin(), written.end(),
                          ConfigFieldName{r->config->name, r->field}) == written.end())
        return nullptr;
      const bool is_bool = x->type == ScalarType::kBool;
      return read_var(Sym::fresh(r->field), is_bool ? ScalarType::kBool : ScalarType::kIndex);
    });
  };
  for (Access& a : out) {
    for (ExprPtr& e : a.idx) unknown(e);
    for (ExprPtr& e : a.conditions) unknown(e);
    for (RangedVar& v : a.vars) unknown(v.lo), unknown(v.hi);
  }
  return out;
}

}  // namespace exotune
