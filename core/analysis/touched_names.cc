#include "core/analysis/touched_names.h"

#include <algorithm>
#include <unordered_set>

#include "core/analysis/effects.h"

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
  bool writes_none_of(const TouchedNames& other) const {
    return std::none_of(written_.begin(), written_.end(), [&](Sym s) {
      return other.read_.count(s) != 0 || other.written_.count(s) != 0;
    });
  }

 private:
  void stmt(const Stmt& s) {
    plain_ &= !s.writes_config && !s.as<WindowStmt>() && !s.as<WriteConfig>();
    if (const Assign* a = s.as<Assign>()) {
      element(a->idx, a->rhs);
      written_.insert(scope_.root_of(a->name));
    } else if (const Reduce* r = s.as<Reduce>()) {
      element(r->idx, r->rhs);
      written_.insert(scope_.root_of(r->name));
    } else if (const For* f = s.as<For>()) {
      reads(f->lo);
      reads(f->hi);
      add(f->body, 0, f->body.size());
    } else if (const If* i = s.as<If>()) {
      reads(i->cond);
      add(i->body, 0, i->body.size());
      add(i->orelse, 0, i->orelse.size());
    } else if (const Call* c = s.as<Call>()) {
      call(*c);
    }
  }

  void element(const std::vector<ExprPtr>& idx, const ExprPtr& rhs) {
    for (const ExprPtr& e : idx) reads(e);
    reads(rhs);
  }

  // What a callee writes of its formals, it writes of what is passed for them.
  void call(const Call& c) {
    const std::shared_ptr<const Effects> inside = effects_of_callee(c.callee);
    plain_ &= inside->config.empty();
    for (const ExprPtr& a : c.args) reads(a);
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

  static std::optional<Sym> name_of(const ExprPtr& e) {
    if (const Read* r = e->as<Read>()) return r->name;
    if (const WindowExpr* w = e->as<WindowExpr>()) return w->name;
    return std::nullopt;
  }

  void reads(const ExprPtr& e) {
    plain_ &= !e->as<ReadConfig>();
    if (const std::optional<Sym> name = name_of(e); name && !is_control(e->type))
      read_.insert(scope_.root_of(*name));
    for (const ExprPtr& c : expr_children(*e)) reads(c);
  }

  const Scope& scope_;
  bool plain_ = true;
  std::unordered_set<Sym> read_, written_;
};

}  // namespace

bool touch_apart(const Scope& scope, const Block& block, size_t first, size_t na, size_t nb) {
  TouchedNames a(scope), b(scope);
  a.add(block, first, na);
  if (!a.plain()) return false;
  b.add(block, first + na, nb);
  return b.plain() && a.writes_none_of(b) && b.writes_none_of(a);
}

}  // namespace exotune
