#include "search/moves/invariants.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int kMostLoops = 8;  // that something leaves
constexpr int kMostBound = 4;  // parts of expressions that get a name

Path in_body(Path path, int k) {
  path.push_back({Child::kBody, k});
  return path;
}

// A statement that writes a buffer, and the loops around it inside of the one that is looked at.
struct Writer {
  Sym buffer;
  bool depends = false;  // on the loop's iteration by itself
  bool costly = false;   // a function or a quotient
  std::set<Sym> reads;
  std::vector<Sym> loops;
};
struct Made {
  Path alloc;
  bool array = false;
};

// Does it take a function, or a quotient?
bool takes_long(const ExprPtr& e) {
  const BinOp* op = e->as<BinOp>();
  if (e->as<Extern>() || (op && op->op == BinOpKind::kDiv && is_data(e->type))) return true;
  const std::vector<ExprPtr> parts = expr_children(*e);
  return std::any_of(parts.begin(), parts.end(), takes_long);
}

// What the iterations of one loop write, as far as it is written alike in all of them.
class Unchanging {
 public:
  Unchanging(const Proc& p, Path loop)
      : loop_(std::move(loop)), iter_(stmt_at(p, loop_)->as<For>()->iter) {
    note_allocations(p);
    look(body_of(*stmt_at(p, loop_)), false, {});
    settle();
  }

  bool has(Sym buffer) const { return members_.count(buffer) != 0; }
  bool worth_it() const {
    return clear_ && std::any_of(members_.begin(), members_.end(),
                                 [&](Sym b) { return made_.at(b).array || is_costly(b); });
  }
  // Does the expression compute the same in all iterations, as far as it is clear?
  bool is_same(const ExprPtr& e) const {
    if (!clear_ || mentions(e, iter_)) return false;
    const std::vector<const Read*> reads = data_reads(e);
    return std::all_of(reads.begin(), reads.end(), [&](const Read* r) {
      return has(r->name) || std::none_of(writers_.begin(), writers_.end(),
                                          [&](const Writer& w) { return w.buffer == r->name; });
    });
  }

  // A scalar that the loop's other statements read inside of an inner loop, and that loop.
  struct Table {
    Path alloc;
    Sym loop;
    int levels = 0;  // from its allocation out to the loop
  };
  std::optional<Table> table() const {
    for (const Sym b : members_)
      if (inside(b) && escapes(b)) {
        const std::vector<Sym> loops = loops_of(b);
        if (loops.size() == 1 && !made_.at(b).array)
          return Table{made_.at(b).alloc, loops.front(),
                       static_cast<int>(made_.at(b).alloc.size() - loop_.size() - 1)};
      }
    return std::nullopt;
  }
  // Allocations that stand in the loop's body itself.
  std::vector<Path> allocations() const {
    std::vector<Path> out;
    for (const Sym b : members_)
      if (made_.at(b).alloc.size() == loop_.size() + 1 && is_prefix(loop_, made_.at(b).alloc))
        out.push_back(made_.at(b).alloc);
    return out;
  }

 private:
  void note_allocations(const Proc& p) {
    const std::function<void(const Block&, const Path&)> walk = [&](const Block& block,
                                                                    const Path& parent) {
      for (size_t k = 0; k < block.size(); ++k) {
        Path here = parent;
        here.push_back({Child::kBody, static_cast<int>(k)});
        if (const Alloc* a = block[k]->as<Alloc>()) made_[a->name] = {here, !a->type.shape.empty()};
        if (block[k]->as<For>()) walk(body_of(*block[k]), here);
      }
    };
    walk(p.body, {});
  }

  // `depends`: whether these statements run depends on the iteration.
  void look(const Block& block, bool depends, const std::vector<Sym>& loops) {
    for (const StmtPtr& each : block) {
      const Stmt& s = *each;
      if (const For* f = s.as<For>()) {
        std::vector<Sym> deeper = loops;
        deeper.push_back(f->iter);
        look(f->body, depends || mentions(f->lo, iter_) || mentions(f->hi, iter_), deeper);
      } else if (const If* branch = s.as<If>()) {
        // Its branches stay where they are: what they write is not taken out of them.
        look(branch->body, true, loops);
        look(branch->orelse, true, loops);
      } else if (const Assign* a = s.as<Assign>()) {
        note(a->name, a->idx, a->rhs, depends, loops);
      } else if (const Reduce* r = s.as<Reduce>()) {
        note(r->name, r->idx, r->rhs, depends, loops);
      } else if (!s.as<Alloc>() && !s.as<Pass>()) {
        clear_ = false;  // calls and windows: not by these means
      }
    }
  }

  void note(Sym buffer, const std::vector<ExprPtr>& idx, const ExprPtr& rhs, bool depends,
            const std::vector<Sym>& loops) {
    Writer w{buffer, depends || mentions(rhs, iter_), false, {}, {}};
    for (const ExprPtr& e : idx) w.depends |= mentions(e, iter_);
    for (const Read* read : data_reads(rhs)) w.reads.insert(read->name);
    w.costly = takes_long(rhs);
    for (const Sym loop : loops)
      if (mentions(rhs, loop) ||
          std::any_of(idx.begin(), idx.end(), [&](const ExprPtr& e) { return mentions(e, loop); }))
        w.loops.push_back(loop);
    writers_.push_back(std::move(w));
  }

  // Members are what only independent statements write, from members and from what the loop does
  // not write at all; scalars that others read in inner loops only where a table pays.
  void settle() {
    std::set<Sym> written;
    for (const Writer& w : writers_) written.insert(w.buffer);
    for (const Sym b : written)
      if (made_.count(b)) members_.insert(b);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Writer& w : writers_) {
        if (!has(w.buffer)) continue;
        const bool stays = w.depends || std::any_of(w.reads.begin(), w.reads.end(), [&](Sym r) {
                             return written.count(r) && !has(r);
                           });
        if (stays) changed |= members_.erase(w.buffer) > 0;
      }
      for (const Sym b : std::set<Sym>(members_))
        if (inside(b) && escapes(b) && (made_.at(b).array || !is_costly(b)))
          changed |= members_.erase(b) > 0;
    }
  }

  // Allocated in an inner loop?
  bool inside(Sym b) const {
    const Path& alloc = made_.at(b).alloc;
    return is_prefix(loop_, alloc) && alloc.size() > loop_.size() + 1;
  }
  // Read by a statement that stays?
  bool escapes(Sym b) const {
    return std::any_of(writers_.begin(), writers_.end(),
                       [&](const Writer& w) { return !has(w.buffer) && w.reads.count(b) != 0; });
  }
  bool is_costly(Sym b) const {
    return std::any_of(writers_.begin(), writers_.end(),
                       [&](const Writer& w) { return w.buffer == b && w.costly; });
  }
  // The loops that its value changes with, by way of what it is made from, too.
  std::vector<Sym> loops_of(Sym b) const {
    std::vector<Sym> out;
    std::set<Sym> seen;
    const std::function<void(Sym)> add = [&](Sym of) {
      if (!seen.insert(of).second) return;
      for (const Writer& w : writers_) {
        if (w.buffer != of) continue;
        for (const Sym loop : w.loops)
          if (std::find(out.begin(), out.end(), loop) == out.end()) out.push_back(loop);
        for (const Sym r : w.reads)
          if (made_.count(r) && inside(r)) add(r);
      }
    };
    add(b);
    return out;
  }

  Path loop_;
  Sym iter_;
  bool clear_ = true;
  std::vector<Writer> writers_;
  std::map<Sym, Made> made_;
  std::set<Sym> members_;
};

class InFront {
 public:
  explicit InFront(Schedule s) : s_(std::move(s)) {}

  std::optional<Schedule> run() {
    for (int n = 0; n < kMostBound && name_some_part(); ++n) {
    }
    const size_t named = s_.steps.size();
    for (int n = 0; n < kMostLoops && take_from_some_loop(); ++n) {
    }
    if (s_.steps.size() == named) return std::nullopt;  // a name alone is nothing gained
    return std::move(s_);
  }

 private:
  StmtPtr at(const Path& path) const { return stmt_at(*s_.proc, path); }
  int size(const Path& path) const { return static_cast<int>(body_of(*at(path)).size()); }

  // v += x[i] * exp(a[j])  inside of loops over i and j  ->  t = exp(a[j]) ; v += x[i] * t
  // A part of an expression that takes long, changes with an inner loop and not with the one that
  // is looked at: a scalar then, which becomes a table.
  bool name_some_part() {
    for (const Path& loop : loops()) {
      const Unchanging found(*s_.proc, loop);
      for (const Path& at : all_stmt_paths(*s_.proc)) {
        if (!is_prefix(loop, at) || at.size() < loop.size() + 2) continue;
        const Assign* a = this->at(at)->as<Assign>();
        const Reduce* r = this->at(at)->as<Reduce>();
        if ((!a && !r) || found.has(a ? a->name : r->name)) continue;
        Path rhs = at;
        rhs.push_back({Child::kExpr, static_cast<int>((a ? a->idx : r->idx).size())});
        const std::optional<Path> part =
            same_part(found, a ? a->rhs : r->rhs, rhs, inner_loops(loop, at));
        if (part && !apply(s_, "bind_expr",
                           {Value(Cursor::expr(s_.proc, *part)),
                            Value((a ? a->name : r->name).name() + "_part")}))
          return true;
      }
    }
    return false;
  }

  // The iterators of the loops between the loop and a statement in it.
  std::vector<Sym> inner_loops(const Path& loop, const Path& stmt) const {
    std::vector<Sym> out;
    for (size_t n = loop.size() + 1; n < stmt.size(); ++n) {
      const StmtPtr s = at(Path(stmt.begin(), stmt.begin() + static_cast<std::ptrdiff_t>(n)));
      if (const For* f = s->as<For>()) out.push_back(f->iter);
    }
    return out;
  }

  // The largest such part of `e`, which stands at `here`.
  static std::optional<Path> same_part(const Unchanging& found, const ExprPtr& e, const Path& here,
                                       const std::vector<Sym>& inner) {
    if (!is_data(e->type) || !takes_long(e)) return std::nullopt;
    if (found.is_same(e) &&
        std::any_of(inner.begin(), inner.end(), [&](Sym iter) { return mentions(e, iter); }))
      return here;
    const std::vector<ExprPtr> parts = expr_children(*e);
    for (size_t k = 0; k < parts.size(); ++k) {
      Path part = here;
      part.push_back({Child::kExpr, static_cast<int>(k)});
      if (auto at = same_part(found, parts[k], part, inner)) return at;
    }
    return std::nullopt;
  }

  std::vector<Path> loops() const {
    std::vector<Path> out;
    for (const Path& at : all_stmt_paths(*s_.proc))
      if (this->at(at)->as<For>()) out.push_back(at);
    return out;
  }

  bool take_from_some_loop() {
    const std::vector<Path> loops = this->loops();
    return std::any_of(loops.begin(), loops.end(), [&](const Path& loop) {
      Schedule before = s_;
      if (take_from(loop)) return true;
      s_ = std::move(before);
      return false;
    });
  }

  bool take_from(Path loop) {
    std::optional<Unchanging> found(std::in_place, *s_.proc, loop);
    while (found->worth_it()) {
      const std::optional<Unchanging::Table> table = found->table();
      if (!table) break;
      if (!make_array(*table)) return false;
      found.emplace(*s_.proc, loop);
    }
    if (!found->worth_it()) return false;
    std::vector<Cursor> allocations;
    for (const Path& alloc : found->allocations())
      allocations.push_back(Cursor::stmt(s_.proc, alloc));
    for (const Cursor& alloc : allocations) {
      if (apply(s_, "lift_alloc", {Value(alloc)})) return false;
      ++loop.back().index;  // it stands in front of it now
    }
    const int front = gather(loop, *found);
    if (front <= 0) return false;
    if (front < size(loop) &&
        apply(s_, "fission", {Value(Cursor::stmt(s_.proc, in_body(loop, front - 1)))}))
      return false;
    return !apply(s_, "remove_loop", {Value(Cursor::stmt(s_.proc, loop))});
  }

  // t: f32 ; t = f(i)  inside of the loop over i  ->  t: f32[N] outside of it ; t[i] = f(i)
  bool make_array(const Unchanging::Table& table) {
    Path around = table.alloc;
    const For* f = nullptr;
    for (around.pop_back(); !around.empty(); around.pop_back()) {
      f = at(around)->as<For>();
      if (f && f->iter == table.loop) break;
      f = nullptr;
    }
    if (!f) return false;
    const std::vector<ScopeEntry> scope = scope_at(*s_.proc, table.alloc);
    const std::string extent = str(f->hi, scope),
                      index = str(read_var(f->iter, ScalarType::kIndex), scope);
    const Cursor alloc = Cursor::stmt(s_.proc, table.alloc);
    return !apply(s_, "expand_dim", {Value(alloc), Value(extent), Value(index)}) &&
           !apply(s_, "lift_alloc", {Value(alloc), Value(table.levels)});
  }

  enum class Kind : uint8_t { kStays, kLeaves, kMixed };
  Kind kind_of(const Stmt& s, const Unchanging& found) const {
    bool leaves = false, stays = false;
    const std::function<void(const Stmt&)> look = [&](const Stmt& of) {
      if (const Assign* a = of.as<Assign>()) (found.has(a->name) ? leaves : stays) = true;
      if (const Reduce* r = of.as<Reduce>()) (found.has(r->name) ? leaves : stays) = true;
      if (const Alloc* a = of.as<Alloc>()) (found.has(a->name) ? leaves : stays) = true;
      for (const StmtPtr& inner : body_of(of)) look(*inner);
      for (const StmtPtr& inner : orelse_of(of)) look(*inner);
    };
    look(s);
    return leaves && stays ? Kind::kMixed : leaves ? Kind::kLeaves : Kind::kStays;
  }

  // What leaves goes to the front of the loop's body, in the order in which it stands; loops that
  // hold both are cut in two. How many statements that are; -1: the core refused.
  int gather(const Path& loop, const Unchanging& found) {
    int front = 0;
    for (int k = 0; k < size(loop); ++k) {
      const Path here = in_body(loop, k);
      const Kind kind = kind_of(*at(here), found);
      if (kind == Kind::kStays) continue;
      if (kind == Kind::kMixed) {
        if (!at(here)->as<For>()) return -1;
        const int inner = gather(here, found);
        if (inner <= 0 ||
            apply(s_, "fission", {Value(Cursor::stmt(s_.proc, in_body(here, inner - 1)))}))
          return -1;
      }
      for (int to = k; to > front; --to)
        if (apply(s_, "reorder_stmts", {Value(Cursor::block(s_.proc, in_body(loop, to - 1), 2))}))
          return -1;
      ++front;
    }
    return front;
  }

  Schedule s_;
};

}  // namespace

std::optional<Schedule> invariants_in_front(const Schedule& s) { return InFront(s).run(); }

}  // namespace exotune
