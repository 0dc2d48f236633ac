// Which pieces of a program may run in another order. Thesis 5.6: two effects commute when neither
// writes what the other touches; reductions with one operator commute with each other.
#include <algorithm>
#include <unordered_map>

#include "core/analysis/overlap.h"
#include "core/analysis/queries.h"
#include "core/analysis/touched_names.h"
#include "core/base/deadline.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

struct Instances {
  Instance first, second;
};

LoopAnswer loop_refused(LazyText why) {
  LoopAnswer out;
  out.why = std::move(why);
  return out;
}

LoopAnswer loop_proved() {
  LoopAnswer out;
  out.verdict = Verdict::kProved;
  return out;
}

using EffectsByBuffer = std::unordered_map<Sym, std::vector<const Effect*>>;

EffectsByBuffer by_buffer(const std::vector<const Effect*>& effects) {
  EffectsByBuffer out;
  for (const Effect* e : effects) out[e->access.buffer].push_back(e);
  return out;
}

// Every effect of `a` in the first instance against every effect of `b` in the second.
// Any pair that may meet refuses, with the pair and a point at which they do. Reads never conflict,
// nor do reductions of one operator on one buffer.
LoopAnswer all_commute(Problem& problem, const std::vector<const Effect*>& a, const Instance& in_a,
                       const std::vector<const Effect*>& b, const Instance& in_b,
                       bool reductions_commute = true) {
  LoopAnswer out = loop_proved();
  const EffectsByBuffer others = by_buffer(b);
  for (const Effect* x : a) {
    const auto same = others.find(x->access.buffer);
    if (same == others.end()) continue;
    for (const Effect* y : same->second) {
      const Access::Kind kx = x->access.kind, ky = y->access.kind;
      if (kx == Access::Kind::kRead && ky == Access::Kind::kRead) continue;
      if (reductions_commute && kinds_commute(kx, ky)) {
        const bool rounds = kx == Access::Kind::kReduceAdd && is_float(x->element);
        if (rounds && !out.reassociates && !never_overlap(problem, *x, in_a, *y, in_b))
          out.reassociates = true;
        continue;
      }
      Answer disjoint = never_overlap(problem, *x, in_a, *y, in_b);
      if (disjoint) continue;
      LoopAnswer no;
      static_cast<Answer&>(no) = std::move(disjoint);
      return no;
    }
  }
  return out;
}

bool same_elements(const Effect& a, const Effect& b) {
  const Access &x = a.access, &y = b.access;
  if (x.kind != y.kind || x.buffer != y.buffer || a.loops != b.loops) return false;
  return std::equal(x.idx.begin(), x.idx.end(), y.idx.begin(), y.idx.end(),
                    [](auto& p, auto& q) { return equal(p, q); }) &&
         std::equal(x.conditions.begin(), x.conditions.end(), y.conditions.begin(),
                    y.conditions.end(), [](auto& p, auto& q) { return equal(p, q); });
}

// What others see, each set of elements once.
// Locals of a block are nobody else's: they are left out.
std::vector<const Effect*> shared(const Effects& e) {
  std::vector<const Effect*> out;
  EffectsByBuffer seen;
  for (const Effect& m : e.memory) {
    leave_if_over();
    if (m.local) continue;
    std::vector<const Effect*>& same = seen[m.access.buffer];
    if (std::any_of(same.begin(), same.end(),
                    [&](const Effect* o) { return same_elements(*o, m); }))
      continue;
    same.push_back(&m);
    out.push_back(&m);
  }
  return out;
}

bool mentions_any(const ExprPtr& e, const std::vector<RangedVar>& vars) {
  return std::any_of(vars.begin(), vars.end(),
                     [&](const RangedVar& v) { return mentions(e, v.var); });
}

bool depends_on_config(const ExprPtr& e) { return !config_reads(e).empty(); }

bool writes(const Effects& e, Sym buffer) {
  return std::any_of(e.memory.begin(), e.memory.end(), [&](const Effect& m) {
    return m.access.buffer == buffer && m.access.kind != Access::Kind::kRead;
  });
}

// Does `e` read data that one of the two writes?
bool reads_written(const ExprPtr& e, const Effects& a, const Effects& b) {
  if (const Read* r = e->as<Read>(); r && is_data(e->type))
    return writes(a, r->name) || writes(b, r->name);
  for (const ExprPtr& c : expr_children(*e))
    if (reads_written(c, a, b)) return true;
  return false;
}

// Field `f` has one value throughout: it is surely written before anything else happens to it, and
// every write gives it the same value, whichever iteration (`iters`) makes it.
bool settles(const std::vector<const ConfigEffect*>& events, const std::vector<Sym>& iters,
             const Effects& a, const Effects& b) {
  ExprPtr value;
  bool first = true;
  for (const ConfigEffect* c : events) {
    if (first && (!c->value || !c->definite)) return false;
    first = false;
    if (!c->value) continue;
    if (c->opaque || depends_on_config(c->value) || reads_written(c->value, a, b) ||
        mentions_any(c->value, c->vars))
      return false;
    for (Sym s : iters)
      if (mentions(c->value, s)) return false;
    if (value && !equal(value, c->value)) return false;
    value = c->value;
  }
  return true;
}

// Config fields that one side writes and the other touches. Nothing: none, or each settles.
std::optional<ConfigFieldName> config_conflict(const Effects& a, const Effects& b,
                                               const std::vector<Sym>& iters, bool repeated) {
  std::vector<ConfigFieldName> fields = a.written();
  for (const ConfigFieldName& f : b.written()) fields.push_back(f);
  for (const ConfigFieldName& f : fields) {
    std::vector<const ConfigEffect*> in_a, in_b;
    bool write_a = false, write_b = false;
    for (const ConfigEffect& c : a.config)
      if (c.field == f) in_a.push_back(&c), write_a |= c.value != nullptr;
    for (const ConfigEffect& c : b.config)
      if (c.field == f) in_b.push_back(&c), write_b |= c.value != nullptr;
    const bool conflict = (write_a && !in_b.empty()) || (write_b && !in_a.empty());
    if (!conflict) continue;
    std::vector<const ConfigEffect*> all = in_a;
    if (&a != &b) all.insert(all.end(), in_b.begin(), in_b.end());
    if (!repeated || !settles(all, iters, a, b)) return f;
  }
  return std::nullopt;
}

LoopAnswer config_refusal(const ConfigFieldName& f) {
  return loop_refused(LazyText([f] {
    return "the order of writes and reads of " + f.first + "." + f.second + " would change";
  }));
}

// What a block reads when it starts must not be written by what it crosses.
bool bounds_change(const std::vector<ExprPtr>& control, const Effects& by) {
  std::set<ConfigFieldName> read;
  for (const ExprPtr& e : control) read.merge(config_reads(e));
  if (read.empty()) return false;
  for (const ConfigFieldName& f : by.written())
    if (read.count(f)) return true;
  return false;
}

// Moving statements away from the one that binds what they use would change what they mean.
Sym bound_then_used(const Block& b, size_t first, size_t n, size_t users) {
  for (size_t k = first; k < first + n; ++k) {
    const Sym s = bound_symbol(*b[k]);
    if (!s.valid()) continue;
    for (size_t u = first + n; u < first + n + users && u < b.size(); ++u)
      if (mentions(b[u], s)) return s;
  }
  return Sym();
}

Path child_of(const Path& parent, Child child, int index) {
  Path out = parent;
  out.push_back({child, index});
  return out;
}

std::string unsupported_loop() { return "this is not a loop"; }

// Two instances of one body, `early` < `late`, with the scope and facts at the loop and independent
// inner variables: what is proved of them holds for every pair of iterations.
struct TwoIterations {
  TwoIterations(const Proc& p, const Path& at, const For& loop)
      : place(p, at), scope(p, child_of(at, Child::kBody, 0)) {
    Problem& problem = place.problem();
    problem.set_scope(&scope);
    early = problem.bind(loop.iter);
    problem.unbind(1);
    late = problem.bind(loop.iter, "'");
    problem.unbind(1);
    problem.assume_range(early, loop.lo, loop.hi);
    problem.assume_range(late, loop.lo, loop.hi);
    Lin gap = Lin::variable(late) - Lin::variable(early);
    problem.assume_at_least_zero(std::move(gap.add_constant(-1)));
    in_early = {{{loop.iter, early}}, ""};
    in_late = {{{loop.iter, late}}, "'"};
  }
  Place place;
  Scope scope;
  int early, late;
  Instance in_early, in_late;
};

}  // namespace

// Both orders of two runs of statements that stand next to each other.
LoopAnswer blocks_commute(const Proc& p, const Path& at, int na, int nb) {
  const Path a = stmt_part(at);
  const Block& block = block_at(p, a);
  const size_t first = static_cast<size_t>(a.back().index);
  if (Sym s = bound_then_used(block, first, static_cast<size_t>(na), static_cast<size_t>(nb));
      s.valid())
    return loop_refused(
        LazyText([s] { return "the second uses " + s.name() + ", which the first defines"; }));
  Place place(p, a);
  if (touch_apart(place.scope(), block, first, static_cast<size_t>(na), static_cast<size_t>(nb)))
    return loop_proved();
  const Path b = sibling(a, na);
  const Effects ea = effects_of(place.scope(), block, a, na);
  const Effects eb = effects_of(place.scope(), block, b, nb);
  if (std::optional<ConfigFieldName> f = config_conflict(ea, eb, {}, false))
    return config_refusal(*f);
  std::vector<ConfigFieldName> havoc = ea.written();
  for (const ConfigFieldName& f : eb.written()) havoc.push_back(f);
  place.problem().set_havoc(std::move(havoc));
  return all_commute(place.problem(), shared(ea), {}, shared(eb), {{}, "'"});
}

// Every pair of different iterations commutes: then any order of them gives the same result.
LoopAnswer iterations_commute(const Proc& p, const Path& at) {
  const Path loop_path = stmt_part(at);
  const StmtPtr s = stmt_at(p, loop_path);
  const For* loop = s ? s->as<For>() : nullptr;
  if (!loop) return loop_refused(unsupported_loop());
  TwoIterations two(p, loop_path, *loop);
  const Path body = child_of(loop_path, Child::kBody, 0);
  const Effects e = effects_of(two.scope, loop->body, body, static_cast<int>(loop->body.size()));
  if (std::optional<ConfigFieldName> f = config_conflict(e, e, {loop->iter}, true))
    return config_refusal(*f);
  if (bounds_change({loop->lo, loop->hi}, e))
    return loop_refused("the body changes the loop's bounds");
  two.place.problem().set_havoc(e.written());
  const std::vector<const Effect*> effects = shared(e);
  return all_commute(two.place.problem(), effects, two.in_early, effects, two.in_late);
}

// Reductions into one element are allowed only where the caller has them combined afterwards.
LoopAnswer loop_parallel(const Proc& p, const Path& at, bool allow_reductions) {
  const Path loop_path = stmt_part(at);
  const StmtPtr s = stmt_at(p, loop_path);
  const For* loop = s ? s->as<For>() : nullptr;
  if (!loop) return loop_refused(unsupported_loop());
  TwoIterations two(p, loop_path, *loop);
  const Path body = child_of(loop_path, Child::kBody, 0);
  const Effects e = effects_of(two.scope, loop->body, body, static_cast<int>(loop->body.size()));
  if (const std::vector<ConfigFieldName> written = e.written(); !written.empty()) {
    const ConfigFieldName f = written.front();
    return loop_refused(
        LazyText([f] { return f.first + "." + f.second + " is written in every iteration"; }));
  }
  const std::vector<const Effect*> effects = shared(e);
  return all_commute(two.place.problem(), effects, two.in_early, effects, two.in_late,
                     allow_reductions);
}

// Pairs whose order changes are those where the outer iterator grows and the inner one shrinks;
// only these must commute.
LoopAnswer loops_interchange(const Proc& p, const Path& at) {
  const Path outer_path = stmt_part(at);
  const StmtPtr s = stmt_at(p, outer_path);
  const For* outer = s ? s->as<For>() : nullptr;
  if (!outer) return loop_refused(unsupported_loop());
  const For* inner = outer->body.size() == 1 ? outer->body[0]->as<For>() : nullptr;
  if (!inner) return loop_refused("the loop's body is not exactly one loop");
  TwoIterations two(p, outer_path, *outer);
  Problem& problem = two.place.problem();
  const Path inner_path = child_of(outer_path, Child::kBody, 0);
  const Path body = child_of(inner_path, Child::kBody, 0);
  const Scope scope(p, body);
  problem.set_scope(&scope);
  // The inner iterator: larger in the earlier outer iteration, so the pair's order flips.
  auto inner_variable = [&](const Instance& instance, const char* suffix) {
    const int var = problem.bind(inner->iter, suffix);
    problem.unbind(1);
    for (const Instance::Meaning& m : instance.meanings) problem.bind_to(m.iter, m.var);
    problem.assume_range(var, inner->lo, inner->hi);
    problem.unbind(static_cast<int>(instance.meanings.size()));
    return var;
  };
  const int j_early = inner_variable(two.in_early, ""), j_late = inner_variable(two.in_late, "'");
  Lin gap = Lin::variable(j_early) - Lin::variable(j_late);
  problem.assume_at_least_zero(std::move(gap.add_constant(-1)));
  two.in_early.meanings.push_back({inner->iter, j_early});
  two.in_late.meanings.push_back({inner->iter, j_late});
  const Effects e = effects_of(scope, inner->body, body, static_cast<int>(inner->body.size()));
  if (bounds_change({outer->lo, outer->hi, inner->lo, inner->hi}, e))
    return loop_refused("the body changes the loops' bounds");
  if (std::optional<ConfigFieldName> f = config_conflict(e, e, {outer->iter, inner->iter}, true))
    return config_refusal(*f);
  problem.set_havoc(e.written());
  const std::vector<const Effect*> effects = shared(e);
  return all_commute(problem, effects, two.in_early, effects, two.in_late);
}

LoopAnswer can_fission(const Proc& p, const Path& at) {
  const Path gap = stmt_part(at);
  if (gap.size() < 2) return loop_refused("the gap is not inside a loop or if");
  const Path parent = parent_stmt(gap);
  const StmtPtr s = stmt_at(p, parent);
  if (!s) return loop_refused("the gap is not inside a loop or if");
  const Block& block = block_at(p, gap);
  const int split = gap.back().index, total = static_cast<int>(block.size());
  if (Sym used =
          bound_then_used(block, 0, static_cast<size_t>(split), static_cast<size_t>(total - split));
      used.valid())
    return loop_refused(
        LazyText([used] { return used.name() + " is defined before the gap and used after it"; }));
  const Path first = child_of(parent, gap.back().child, 0);
  if (const If* branch = s->as<If>()) {
    if (gap.back().child != Child::kBody || !branch->orelse.empty())
      return loop_refused("an if with an else is not split");
    const Effects before = effects_of(Scope(p, first), block, first, split);
    if (bounds_change({branch->cond}, before))
      return loop_refused("the first half changes what the condition reads");
    return loop_proved();
  }
  const For* loop = s->as<For>();
  if (!loop) return loop_refused("the gap is not inside a loop or if");
  if (iterations_touch_apart(Scope(p, first), *loop, static_cast<size_t>(split)))
    return loop_proved();
  TwoIterations two(p, parent, *loop);
  const Effects before = effects_of(two.scope, block, first, split);
  // Names bound before the gap are not used after it, so the scope at the start serves both.
  const Effects after = effects_of(two.scope, block, gap, total - split);
  if (bounds_change({loop->lo, loop->hi}, before) || bounds_change({loop->lo, loop->hi}, after))
    return loop_refused("the body changes the loop's bounds");
  if (std::optional<ConfigFieldName> f = config_conflict(before, after, {loop->iter}, true))
    return config_refusal(*f);
  std::vector<ConfigFieldName> havoc = before.written();
  for (const ConfigFieldName& f : after.written()) havoc.push_back(f);
  two.place.problem().set_havoc(std::move(havoc));
  // The second half of an earlier iteration now runs after the first half of a later one.
  LoopAnswer answer =
      all_commute(two.place.problem(), shared(after), two.in_early, shared(before), two.in_late);
  if (answer) return answer;
  // Or the first half does the same in every iteration and nothing undoes it: then only its first
  // run counts, and (s1; s2)^n = s1^n; s2^n.
  const auto begin = block.begin();
  const bool varies =
      std::any_of(begin, begin + split, [&](const StmtPtr& k) { return mentions(k, loop->iter); });
  if (varies || !before.config.empty() || !block_idempotent(p, first, split)) return answer;
  for (const Effect* x : shared(after)) {
    if (x->access.kind == Access::Kind::kRead) continue;
    for (const Effect* y : shared(before))
      if (x->access.buffer == y->access.buffer &&
          !never_overlap(two.place.problem(), *x, two.in_early, *y, two.in_late))
        return answer;
  }
  return loop_proved();
}

LoopAnswer can_fuse(const Proc& p, const Path& at) {
  const Path first = stmt_part(at);
  const Path second = sibling(first, 1);
  const StmtPtr a = stmt_at(p, first), b = stmt_at(p, second);
  if (!a || !b) return loop_refused("there is no statement after the first to fuse with");
  if (const If* x = a->as<If>(), *y = b->as<If>(); x && y) {
    const Effects ea = effects_of(Scope(p, first), block_at(p, first), first, 1);
    if (bounds_change({y->cond}, ea))
      return loop_refused("the first changes what the second's condition reads");
    return loop_proved();
  }
  const For *x = a->as<For>(), *y = b->as<For>();
  if (!x || !y) return loop_refused("both must be loops, or both ifs");
  Place place(p, first);
  Problem& problem = place.problem();
  const Path body_a = child_of(first, Child::kBody, 0), body_b = child_of(second, Child::kBody, 0);
  const Scope scope_a(p, body_a), scope_b(p, body_b);
  const Effects ea = effects_of(scope_a, x->body, body_a, static_cast<int>(x->body.size()));
  const Effects eb = effects_of(scope_b, y->body, body_b, static_cast<int>(y->body.size()));
  if (bounds_change({y->lo, y->hi}, ea))
    return loop_refused("the first loop changes the second's bounds");
  if (std::optional<ConfigFieldName> f = config_conflict(ea, eb, {x->iter, y->iter}, true))
    return config_refusal(*f);
  std::vector<ConfigFieldName> havoc = ea.written();
  for (const ConfigFieldName& f : eb.written()) havoc.push_back(f);
  // The second loop's iteration i now runs before the first loop's iteration i' > i.
  const int late = problem.bind(x->iter, "'");
  problem.unbind(1);
  const int early = problem.bind(y->iter);
  problem.unbind(1);
  problem.assume_range(late, x->lo, x->hi);
  problem.assume_range(early, y->lo, y->hi);
  Lin gap = Lin::variable(late) - Lin::variable(early);
  problem.assume_at_least_zero(std::move(gap.add_constant(-1)));
  problem.set_havoc(std::move(havoc));
  return all_commute(problem, shared(ea), {{{x->iter, late}}, "'"}, shared(eb),
                     {{{y->iter, early}}, ""});
}

}  // namespace exotune
