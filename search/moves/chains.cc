#include "search/moves/chains.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int kMostStatements = 12;  // of a body: each changes places with others

enum class Group : uint8_t { kBeforeChain, kInChain, kAfterChain };

/// A statement that computes: what it writes, from what.
struct Computation {
  Sym name;
  const std::vector<ExprPtr>* idx = nullptr;
  ExprPtr rhs;
  bool reduces = false;
};
std::optional<Computation> computation_of(const Stmt& s) {
  if (const Assign* a = s.as<Assign>()) return Computation{a->name, &a->idx, a->rhs, false};
  if (const Reduce* r = s.as<Reduce>()) return Computation{r->name, &r->idx, r->rhs, true};
  return std::nullopt;
}

bool same_element(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return equal(x, y); });
}

/// In one iteration of all loops around a loop over `iter`, whatever of its own they belong to.
bool never_one_element(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b, Sym iter) {
  for (size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    const std::optional<Affine> x = affine(a[d]), y = affine(b[d]);
    if (!x || !y || mentions(a[d], iter) || mentions(b[d], iter)) continue;
    if (const Affine apart = *x - *y; apart.is_constant() && apart.constant != 0) return true;
  }
  return false;
}

bool reads_any(const ExprPtr& e, const std::set<Sym>& names) {
  const std::vector<const Read*> reads = data_reads(e);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Read* r) { return names.count(r->name) > 0; });
}

constexpr int kOfAFunction = 2;  // so many plain ones: enough for an array of its own

/// Of data; functions and quotients are several.
int operations_in(const ExprPtr& e) {
  int out = 0;
  if (const BinOp* b = e->as<BinOp>())
    out = is_data(e->type) ? (b->op == BinOpKind::kDiv ? kOfAFunction : 1) : 0;
  else if (e->as<Extern>())
    out = kOfAFunction;
  for (const ExprPtr& c : expr_children(*e)) out += operations_in(c);
  return out;
}

/// What a loop's body says of its values.
struct Chain {
  std::set<Sym> local;        // allocated in the body
  std::set<Sym> carried;      // written in the body from what the iteration before left in them
  std::set<Sym> after;        // carried, or made of what is
  std::vector<Group> groups;  // of each statement; an allocation's is that of its users
  std::set<Sym> shared;       // local, used in several groups
};

class ChainApart {
 public:
  ChainApart(Schedule s, Path loop, int least_operations)
      : s_(std::move(s)), loop_(std::move(loop)), least_operations_(least_operations) {}

  std::optional<Schedule> run() {
    while (bind_ahead()) {
    }
    while (bind_early()) {
    }
    if (!read() || !share() || !in_order() || !bind_behind()) return std::nullopt;
    // The last gap first: places before it stay.
    for (const Group last : {Group::kInChain, Group::kBeforeChain})
      if (!cut_behind(last)) return std::nullopt;
    if (cuts_ == 0) return std::nullopt;
    cut_within();
    return std::move(s_);
  }

 private:
  const For& loop() const { return *stmt_at(*s_.proc, loop_)->as<For>(); }
  const Block& body() const { return loop().body; }
  Path inside(size_t k) const {
    Path out = loop_;
    out.push_back({Child::kBody, static_cast<int>(k)});
    return out;
  }
  Cursor stmt(size_t k) const { return Cursor::stmt(s_.proc, inside(k)); }

  // False: the body is not for this.
  bool read() {
    chain_ = {};
    if (body().size() > kMostStatements) return false;
    for (const StmtPtr& s : body()) {
      if (const Alloc* a = s->as<Alloc>(); a && a->type.shape.empty())
        chain_.local.insert(a->name);
      else if (!computation_of(*s))
        return false;
    }
    find_carried();
    if (chain_.carried.empty()) return false;
    group();
    return true;
  }

  void find_carried() {
    for (const StmtPtr& w : body()) {
      const auto writes = computation_of(*w);
      if (!writes || chain_.local.count(writes->name)) continue;
      // `m max= x[i]` needs itself; x[i] = f(..) does where what reads another element leads to it.
      const bool running = writes->reduces && !moves(*writes->idx);
      for (const StmtPtr& r : body())
        if (const auto reads = computation_of(*r))
          for (const Read* read : data_reads(reads->rhs))
            if (read->name == writes->name &&
                (!moves(*writes->idx) || !same_element(read->idx, *writes->idx)) &&
                !never_one_element(read->idx, *writes->idx, loop().iter) &&
                (running || made_of({reads->name}).count(writes->name)))
              chain_.carried.insert(read->name);
    }
    chain_.after = made_of(chain_.carried);
  }

  // Those names, and all that the body writes from them.
  std::set<Sym> made_of(std::set<Sym> names) const {
    for (size_t before = 0; before != names.size();) {
      before = names.size();
      for (const StmtPtr& s : body())
        if (const auto c = computation_of(*s); c && reads_any(c->rhs, names)) names.insert(c->name);
    }
    return names;
  }
  // Those names, and those among `limit` (all without one) that the body writes them from.
  std::set<Sym> needed_for(std::set<Sym> names, const std::set<Sym>* limit) const {
    for (size_t before = 0; before != names.size();) {
      before = names.size();
      for (const StmtPtr& s : body())
        if (const auto c = computation_of(*s); c && names.count(c->name))
          for (const Read* r : data_reads(c->rhs))
            if (!limit || limit->count(r->name)) names.insert(r->name);
    }
    return names;
  }

  bool moves(const std::vector<ExprPtr>& idx) const {
    return std::any_of(idx.begin(), idx.end(),
                       [&](const ExprPtr& e) { return mentions(e, loop().iter); });
  }

  void group() {
    const std::set<Sym> needed = needed_for(chain_.carried, &chain_.after),
                        fed = needed_for(chain_.carried, nullptr);
    std::map<Sym, std::set<Group>> users;
    for (const StmtPtr& s : body()) {
      Group g = Group::kInChain;
      if (const auto c = computation_of(*s)) {
        if (!needed.count(c->name) && !is_copy(*c))
          g = reads_any(c->rhs, chain_.after) ||
                      !(chain_.local.count(c->name) || fed.count(c->name))
                  ? Group::kAfterChain
                  : Group::kBeforeChain;
        users[c->name].insert(g);
        for (const Read* r : data_reads(c->rhs)) users[r->name].insert(g);
      }
      chain_.groups.push_back(g);
    }
    for (size_t k = 0; k < body().size(); ++k)
      if (const Alloc* a = body()[k]->as<Alloc>())
        if (const std::set<Group>& of = users[a->name]; !of.empty()) {
          chain_.groups[k] = *of.begin();
          if (of.size() > 1) chain_.shared.insert(a->name);
        }
  }

  // A local name for a scalar of the chain, as it is there.
  bool is_copy(const Computation& c) const {
    const Read* r = c.rhs->as<Read>();
    return r && !c.reduces && c.idx->empty() && chain_.local.count(c.name) && r->idx.empty() &&
           chain_.carried.count(r->name);
  }

  // { y[i] = f(m) ; m max= x[i] }  ->  { m_before = m ; y[i] = f(m_before) ; m max= x[i] }
  // What reads a scalar ahead of the chain that changes it would not pass that.
  bool bind_early() {
    if (!read()) return false;
    for (size_t k = 0; k < body().size(); ++k) {
      if (chain_.groups[k] != Group::kAfterChain || !computation_of(*body()[k])) continue;
      for (const Sym name : chain_.carried) {
        const bool changes = std::any_of(body().begin() + static_cast<std::ptrdiff_t>(k),
                                         body().end(), [&](const StmtPtr& s) {
                                           const auto c = computation_of(*s);
                                           return c && c->name == name;
                                         });
        std::vector<Cursor> reads;
        if (changes) scalar_reads(stmt(k).rhs(), name, reads);
        if (reads.empty()) continue;
        ValueList list;
        for (const Cursor& r : reads) list.emplace_back(r);
        if (!apply(s_, "bind_expr",
                   {Value(std::move(list)), Value(name.name() + "_before"), Value(false),
                    Value(stmt(k))}))
          return true;
      }
    }
    return false;
  }

  // One largest operation of the chain that does not need it, by a name in front of its statement.
  bool bind_ahead() {
    if (!read()) return false;
    for (size_t k = 0; k < body().size(); ++k) {
      const auto c = computation_of(*body()[k]);
      if (!c || chain_.groups[k] != Group::kInChain) continue;
      const std::optional<Cursor> e = independent(stmt(k).rhs());
      if (e && !apply(s_, "bind_expr", {Value(*e), Value(c->name.name() + "_in")})) return true;
    }
    return false;
  }

  std::optional<Cursor> independent(const Cursor& place) const {
    const ExprPtr e = place.expr();
    if (!is_data(e->type)) return std::nullopt;
    if (!reads_any(e, chain_.after))
      return operations_in(e) >= least_operations_ && mentions(e, loop().iter)
                 ? std::optional(place)
                 : std::nullopt;
    const size_t children = expr_children(*e).size();
    for (size_t k = 0; k < children; ++k) {
      Path path = place.path();
      path.push_back({Child::kExpr, static_cast<int>(k)});
      if (auto found = independent(Cursor::expr(s_.proc, path))) return found;
    }
    return std::nullopt;
  }

  // Local scalars that one group makes for another, as arrays in front of the loop.
  bool share() {
    for (size_t k = 0; k < body().size();) {
      const Alloc* a = body()[k]->as<Alloc>();
      if (!a || !chain_.shared.count(a->name)) {
        ++k;
        continue;
      }
      if (!in_front(k)) return false;
      chain_.groups.erase(chain_.groups.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return true;
  }

  bool in_front(size_t k) {
    const std::vector<ScopeEntry> scope = scope_at(*s_.proc, inside(0));
    const Value extent(str(loop().hi, scope)),
        index(str(read_var(loop().iter, ScalarType::kIndex), scope));
    if (apply(s_, "expand_dim", {Value(stmt(k)), extent, index}) ||
        apply(s_, "lift_alloc", {Value(stmt(k))}))
      return false;
    ++loop_.back().index;
    return true;
  }

  // Ahead, chain, behind: neighbours change places where the core lets them.
  bool in_order() {
    for (size_t end = body().size(); end > 1; --end)
      for (size_t k = 0; k + 1 < end; ++k) {
        if (chain_.groups[k] <= chain_.groups[k + 1]) continue;
        if (apply(s_, "reorder_stmts", {Value(Cursor::block(s_.proc, inside(k), 2))})) return false;
        std::swap(chain_.groups[k], chain_.groups[k + 1]);
      }
    return true;
  }

  size_t first_behind() const {
    return static_cast<size_t>(
        std::find(chain_.groups.begin(), chain_.groups.end(), Group::kAfterChain) -
        chain_.groups.begin());
  }

  // Scalars of the chain that are read behind it: their values of that iteration.
  bool bind_behind() {
    if (!worth_a_loop(Group::kAfterChain)) return true;
    for (const Sym name : chain_.carried) {
      if (chain_.local.count(name)) continue;
      std::vector<Cursor> reads;
      for (size_t k = first_behind(); k < body().size(); ++k)
        if (computation_of(*body()[k])) scalar_reads(stmt(k).rhs(), name, reads);
      if (reads.empty()) continue;
      ValueList list;
      for (const Cursor& r : reads) list.emplace_back(r);
      const size_t at = first_behind();
      if (apply(s_, "bind_expr",
                {Value(std::move(list)), Value(name.name() + "_then"), Value(false),
                 Value(stmt(at))}) ||
          !in_front(at))
        return false;
      chain_.groups.insert(chain_.groups.begin() + static_cast<std::ptrdiff_t>(at),
                           Group::kInChain);
    }
    return true;
  }

  void scalar_reads(const Cursor& place, Sym name, std::vector<Cursor>& out) const {
    const ExprPtr e = place.expr();
    if (const Read* r = e->as<Read>(); r && r->name == name && r->idx.empty()) out.push_back(place);
    const size_t children = expr_children(*e).size();
    for (size_t k = 0; k < children; ++k) {
      Path path = place.path();
      path.push_back({Child::kExpr, static_cast<int>(k)});
      scalar_reads(Cursor::expr(s_.proc, path), name, out);
    }
  }

  bool worth_a_loop(Group g) const {
    for (size_t k = 0; k < body().size(); ++k)
      if (const auto c = computation_of(*body()[k]); c && chain_.groups[k] == g)
        if (c->reduces || operations_in(c->rhs) > 0) return true;
    return false;
  }

  bool cut_behind(Group last) {
    const Group next = last == Group::kInChain ? Group::kAfterChain : Group::kInChain;
    if (!worth_a_loop(last == Group::kInChain ? Group::kAfterChain : Group::kBeforeChain))
      return true;
    const auto at = std::find_if(chain_.groups.begin(), chain_.groups.end(),
                                 [&](Group g) { return g >= next; });
    const auto k = at - chain_.groups.begin();
    if (k == 0 || at == chain_.groups.end()) return true;
    if (apply(s_, "fission", {Value(stmt(static_cast<size_t>(k) - 1))})) return false;
    chain_.groups.resize(static_cast<size_t>(k));
    ++cuts_;
    return true;
  }

  // What comes ahead may read of the iteration before what it writes itself: no compiler takes that
  // for vectors, in loops of their own both are. Refused, it stays.
  void cut_within() {
    for (size_t k = body().size(); k-- > 1;)
      if (reads_one_behind(k)) (void)apply(s_, "fission", {Value(stmt(k - 1))});
  }
  // Does the k-th statement read another element of what one in front of it writes?
  bool reads_one_behind(size_t k) const {
    const auto reads = computation_of(*body()[k]);
    for (size_t n = 0; reads && n < k; ++n)
      if (const auto writes = computation_of(*body()[n]))
        for (const Read* read : data_reads(reads->rhs))
          if (read->name == writes->name && !same_element(read->idx, *writes->idx) &&
              !never_one_element(read->idx, *writes->idx, loop().iter))
            return true;
    return false;
  }

  Schedule s_;
  Path loop_;
  Chain chain_;
  const int least_operations_;
  int cuts_ = 0;
};

// Statements alone, whose iterations must come in their order.
bool is_chain(const Proc& p, const Path& path) {
  const For* f = stmt_at(p, path)->as<For>();
  if (!f) return false;
  if (std::any_of(f->body.begin(), f->body.end(),
                  [](const StmtPtr& s) { return !s->as<Alloc>() && !computation_of(*s); }))
    return false;
  return !iterations_commute(p, path);
}

}  // namespace

std::optional<Schedule> chains_apart(const Schedule& s, const NearestCaches& caches,
                                     int least_operations) {
  Schedule out = s;
  const int64_t strip = strip_of(caches);
  const std::vector<Path> paths = all_stmt_paths(*s.proc);
  bool any = false;
  // The last first: places in front of it stay.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    if (!is_chain(*out.proc, *path)) continue;
    Schedule made = out;
    Path loop = *path;
    if (as_int(stmt_at(*made.proc, loop)->as<For>()->lo) != 0 &&
        apply(made, "shift_loop", {Value(Cursor::stmt(made.proc, loop)), Value("0")}))
      continue;
    const For& f = *stmt_at(*made.proc, loop)->as<For>();
    if (const auto extent = as_int(f.hi); extent && *extent >= 2 * strip) {
      const std::string name = f.iter.name();
      if (apply(made, "divide_loop",
                {Value(Cursor::stmt(made.proc, loop)), Value(strip),
                 Value::strings({name + "o", name}), Value("cut")}))
        continue;
      // What is left over, which stands behind.
      if (const Path rest = sibling(loop, 1);
          stmt_at(*made.proc, rest) && is_chain(*made.proc, rest))
        if (auto apart = ChainApart(made, rest, least_operations).run()) made = std::move(*apart);
      loop.push_back({Child::kBody, 0});
    }
    if (auto apart = ChainApart(std::move(made), loop, least_operations).run())
      out = std::move(*apart), any = true;
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace exotune
