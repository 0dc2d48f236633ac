#include "core/analysis/touched_names.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "core/analysis/effects.h"
#include "core/ir/normal_form.h"

namespace exotune {

namespace {

class TouchedNames {
 public:
  explicit TouchedNames(const Scope& scope) : scope_(scope) {}

  void add(const Block& block, size_t first, size_t n) {
    for (size_t k = first; k < first + n && k < block.size(); ++k) stmt(*block[k]);
  }
  // False: something here is said by more than names.
  bool plain() const { return plain_; }
  const std::unordered_set<Sym>& written() const { return written_; }
  bool writes_none_of(const TouchedNames& other) const {
    return std::none_of(written_.begin(), written_.end(), [&](Sym s) { return other.touches(s); });
  }
  // Of what is written here and touched there, iterations of the loop over `iter` have each their
  // own.
  bool writes_apart_of(const TouchedNames& other, Sym iter) const {
    return std::all_of(written_.begin(), written_.end(), [&](Sym s) {
      return !other.touches(s) ||
             (!opaque_.count(s) && !other.opaque_.count(s) && told_apart(s, other, iter));
    });
  }

 private:
  void stmt(const Stmt& s) {
    plain_ &= !s.writes_config && !s.as<WindowStmt>() && !s.as<WriteConfig>();
    if (const Assign* a = s.as<Assign>()) {
      element(a->idx, a->rhs);
      written_.insert(scope_.root_of(a->name));
      touch(a->name, a->idx);
    } else if (const Reduce* r = s.as<Reduce>()) {
      element(r->idx, r->rhs);
      written_.insert(scope_.root_of(r->name));
      touch(r->name, r->idx);
    } else if (const For* f = s.as<For>()) {
      reads(f->lo);
      reads(f->hi);
      inner_.push_back(f->iter);
      add(f->body, 0, f->body.size());
    } else if (const If* i = s.as<If>()) {
      reads(i->cond);
      add(i->body, 0, i->body.size());
      add(i->orelse, 0, i->orelse.size());
    } else if (const Call* c = s.as<Call>()) {
      call(*c);
    }
  }

  bool touches(Sym s) const { return read_.count(s) != 0 || written_.count(s) != 0; }

  // One dimension in which every access has the same index, which `iter` moves and no loop inside.
  bool told_apart(Sym s, const TouchedNames& other, Sym iter) const {
    std::vector<const std::vector<ExprPtr>*> all;
    for (const TouchedNames* side : {this, &other})
      if (const auto found = side->elements_.find(s); found != side->elements_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    if (all.empty()) return false;
    const std::vector<ExprPtr>& first = *all.front();
    for (size_t d = 0; d < first.size(); ++d)
      if (moves_alone(first[d], iter) && !other.moves_inside(first[d]) &&
          std::all_of(all.begin(), all.end(), [&](const std::vector<ExprPtr>* idx) {
            return idx->size() == first.size() && equal((*idx)[d], first[d]);
          }))
        return true;
    return false;
  }
  bool moves_inside(const ExprPtr& e) const {
    return std::any_of(inner_.begin(), inner_.end(), [&](Sym s) { return mentions(e, s); });
  }
  // Affine in the iteration, and nothing else in it changes from one iteration to another.
  bool moves_alone(const ExprPtr& e, Sym iter) const {
    const std::optional<Affine> form = affine(e);
    if (!form || form->coeff_of(iter) == 0 || moves_inside(e)) return false;
    return std::all_of(form->terms.begin(), form->terms.end(), [&](const Affine::Term& t) {
      const Read* r = t.atom->as<Read>();
      return (r && r->name == iter) || !mentions(t.atom, iter);
    });
  }

  void touch(Sym name, const std::vector<ExprPtr>& idx) {
    const Sym root = scope_.root_of(name);
    if (root != name) opaque_.insert(root);
    elements_[root].push_back(&idx);
  }

  void element(const std::vector<ExprPtr>& idx, const ExprPtr& rhs) {
    for (const ExprPtr& e : idx) reads(e);
    reads(rhs);
  }

  // What a callee writes of its formals, it writes of what is passed for them.
  void call(const Call& c) {
    const std::shared_ptr<const Effects> inside = effects_of_callee(c.callee);
    plain_ &= inside->config.empty();
    for (const ExprPtr& a : c.args) {
      reads(a);
      pass(a);
    }
    for (const Effect& e : inside->memory) {
      if (e.local || e.access.kind == Access::Kind::kRead) continue;
      for (size_t k = 0; k < c.args.size(); ++k)
        if (c.callee->args[k].name == e.access.buffer) {
          const std::optional<Sym> passed = name_of(c.args[k]);
          plain_ &= passed.has_value();
          if (passed) written_.insert(scope_.root_of(*passed));
        }
    }
  }

  // What a callee touches of what it is passed is not looked at.
  void pass(const ExprPtr& e) {
    if (const std::optional<Sym> name = name_of(e); name && !is_control(e->type))
      opaque_.insert(scope_.root_of(*name));
    for (const ExprPtr& c : expr_children(*e)) pass(c);
  }

  static std::optional<Sym> name_of(const ExprPtr& e) {
    if (const Read* r = e->as<Read>()) return r->name;
    if (const WindowExpr* w = e->as<WindowExpr>()) return w->name;
    return std::nullopt;
  }

  void reads(const ExprPtr& e) {
    plain_ &= !e->as<ReadConfig>();
    if (const std::optional<Sym> name = name_of(e); name && !is_control(e->type))
      read_.insert(scope_.root_of(*name));
    if (const Read* r = e->as<Read>(); r && is_data(e->type)) touch(r->name, r->idx);
    if (const WindowExpr* w = e->as<WindowExpr>()) opaque_.insert(scope_.root_of(w->name));
    for (const ExprPtr& c : expr_children(*e)) reads(c);
  }

  const Scope& scope_;
  bool plain_ = true;
  std::unordered_set<Sym> read_, written_;
  std::unordered_set<Sym> opaque_;  // touched otherwise than element by element, by its own name
  std::unordered_map<Sym, std::vector<const std::vector<ExprPtr>*>> elements_;
  std::vector<Sym> inner_;  // iterators of loops among the statements
};

}  // namespace

bool touch_apart(const Scope& scope, const Block& block, size_t first, size_t na, size_t nb) {
  TouchedNames a(scope), b(scope);
  a.add(block, first, na);
  if (!a.plain()) return false;
  b.add(block, first + na, nb);
  return b.plain() && a.writes_none_of(b) && b.writes_none_of(a);
}

bool iterations_touch_apart(const Scope& scope, const For& loop, size_t split) {
  TouchedNames before(scope), after(scope);
  before.add(loop.body, 0, split);
  if (!before.plain()) return false;
  after.add(loop.body, split, loop.body.size() - split);
  return after.plain() && before.writes_apart_of(after, loop.iter) &&
         after.writes_apart_of(before, loop.iter);
}

namespace {

bool covers(const WindowExpr& w, const Scope& scope) {
  const Binding* buffer = scope.find(w.name);
  if (!buffer || !buffer->type || buffer->window) return false;
  const std::vector<ExprPtr>& shape = buffer->type->shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (w.access[d].is_point() || as_int(w.access[d].lo) != 0 || !as_int(shape[d]) ||
        as_int(w.access[d].hi) != as_int(shape[d]))
      return false;
  return true;
}

// The buffers of which the statement reads or writes all elements: scalars, and what calls are
// passed whole.
std::vector<Sym> touched_whole(const StmtPtr& s, const Scope& scope) {
  std::vector<Sym> out;
  const auto read = [&](const ExprPtr& e) {
    const Read* r = e->as<Read>();
    if (r && r->idx.empty() && is_data(e->type)) out.push_back(r->name);
    const WindowExpr* w = e->as<WindowExpr>();
    if (w && covers(*w, scope)) out.push_back(w->name);
  };
  if (const Assign* a = s->as<Assign>(); a && a->idx.empty()) out.push_back(a->name);
  for_each_expr(Block{s}, read);
  for (Sym& name : out) name = scope.root_of(name);
  return out;
}

}  // namespace

std::vector<int> not_rewritten(const Proc& p, const Path& loop, const std::vector<int>& places) {
  const Block& body = body_of(*stmt_at(p, loop));
  Path first = loop;
  first.push_back({Child::kBody, 0});
  Scope scope(p, first);
  for (const StmtPtr& s : body) scope.push(*s);
  std::unordered_set<Sym> written;  // by what stays
  const auto stays = [&](size_t k) {
    TouchedNames names(scope);
    names.add(body, k, 1);
    written.insert(names.written().begin(), names.written().end());
  };
  std::vector<int> out = places;
  for (size_t k = 0, next = 0; k < body.size(); ++k)
    if (next < places.size() && places[next] == static_cast<int>(k))
      ++next;
    else
      stays(k);
  std::map<int, std::vector<Sym>> whole;
  for (const int k : places) whole[k] = touched_whole(body[static_cast<size_t>(k)], scope);
  const auto rewritten = [&](int k) {
    return std::any_of(whole[k].begin(), whole[k].end(),
                       [&](Sym s) { return written.count(s) != 0; });
  };
  for (auto it = out.begin(); it != out.end();)
    if (rewritten(*it)) {
      stays(static_cast<size_t>(*it));
      out.erase(it);
      it = out.begin();
    } else {
      ++it;
    }
  return out;
}

}  // namespace exotune
