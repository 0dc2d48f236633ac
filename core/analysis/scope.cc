#include "core/analysis/scope.h"

#include <algorithm>

#include "core/base/diagnostic.h"

namespace exotune {

Scope::Scope(const Proc& p) {
  for (const Arg& a : p.args) {
    Binding b{a.name, &a.type, a.mem.get()};
    b.argument = true;
    push(b);
  }
}

// Down the path: at each level the statements before the step bind their names, then the loop that
// is entered binds its own. An index one past the last statement is the gap at the block's end.
Scope::Scope(const Proc& p, const Path& at) : Scope(p) {
  const Block* block = &p.body;
  for (size_t d = 0; d < at.size() && at[d].child != Child::kExpr; ++d) {
    if (d > 0) {
      const Stmt& parent = *(*block)[at[d - 1].index];
      if (const For* loop = parent.as<For>()) push_iter(loop->iter);
      block = at[d].child == Child::kOrelse ? &orelse_of(parent) : &body_of(parent);
    }
    const size_t upto = std::min<size_t>(at[d].index, block->size());
    for (size_t k = 0; k < upto; ++k) push(*(*block)[k]);
    if (upto == block->size()) return;
  }
}

void Scope::push(const Binding& b) {
  uint32_t& newest = newest_[chain_of(b.name)];
  older_.push_back(newest);
  bindings_.push_back(b);
  newest = static_cast<uint32_t>(bindings_.size());
}

void Scope::truncate(size_t n) {
  for (; bindings_.size() > n; bindings_.pop_back(), older_.pop_back())
    newest_[chain_of(bindings_.back().name)] = older_.back();
}

void Scope::push(const Stmt& s) {
  if (const Alloc* a = s.as<Alloc>()) {
    Binding b{a->name, &a->type, a->mem.get()};
    b.alloc = a;
    push(b);
  } else if (const WindowStmt* w = s.as<WindowStmt>()) {
    Binding b{w->name, &w->type};
    b.window = w->rhs->as<WindowExpr>();
    push(b);
  }
}

const Binding* Scope::find(Sym s) const {
  for (uint32_t k = newest_[chain_of(s)]; k > 0; k = older_[k - 1])
    if (bindings_[k - 1].name == s) return &bindings_[k - 1];
  return nullptr;
}

Sym Scope::root_of(Sym name) const {
  const Binding* b = find(name);
  while (b && b->window) {
    name = b->window->name;
    b = find(name);
  }
  return name;
}

// A window may look at a window: one of its accesses after the other is put in front, points as
// they are, intervals with the index counted from their start, until a buffer is reached. Zeros are
// not added, so that equal places stay equal texts.
Location Scope::resolve(Sym name, std::vector<ExprPtr> idx) const {
  const Binding* b = find(name);
  while (b && b->window) {
    std::vector<ExprPtr> outer;
    size_t k = 0;
    for (const WindowAccess& a : b->window->access) {
      if (a.is_point()) {
        outer.push_back(a.lo);
      } else {
        EXO_CHECK(k < idx.size());
        const bool at_zero = as_int(a.lo) == 0;
        outer.push_back(at_zero ? idx[k] : as_int(idx[k]) == 0 ? a.lo : a.lo + idx[k]);
        ++k;
      }
    }
    idx = std::move(outer);
    name = b->window->name;
    b = find(name);
  }
  return {name, std::move(idx)};
}

// Only intervals of a window are dimensions of it; the points between them are skipped in counting.
Scope::Axis Scope::axis_of(Sym name, int dim) const {
  const Binding* b = find(name);
  while (b && b->window) {
    int intervals = 0;
    for (size_t k = 0; k < b->window->access.size(); ++k) {
      if (b->window->access[k].is_point()) continue;
      if (intervals++ == dim) {
        dim = static_cast<int>(k);
        break;
      }
    }
    name = b->window->name;
    b = find(name);
  }
  return {name, dim};
}

// A window has the extents of its intervals, not those of what it looks at.
std::vector<ExprPtr> Scope::shape_of(Sym name) const {
  const Binding* b = find(name);
  if (!b || !b->type) return {};
  if (!b->window) return b->type->shape;
  std::vector<ExprPtr> out;
  for (const WindowAccess& a : b->window->access)
    if (!a.is_point()) out.push_back(as_int(a.lo) == 0 ? a.hi : a.hi - a.lo);
  return out;
}

}  // namespace exotune
