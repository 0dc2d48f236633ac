#include "core/primitives/uses.h"

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"

namespace exotune::internal {

// --- small things -----------------------------------------------------------------------------

bool is_literal(const ExprPtr& e, int64_t v) {
  auto k = as_int(e);
  return k && *k == v;
}

ExprPtr fold(const ExprPtr& e) { return normalize(e); }

ExprPtr conjunction(const std::vector<ExprPtr>& conditions) {
  ExprPtr out;
  for (const ExprPtr& c : conditions) out = out ? bin_op(BinOpKind::kAnd, out, c) : c;
  return out ? out : bool_const(true);
}

// Data is out of it: a bound or an index that read data would change its meaning when moved.
bool in_scope(const Proc& p, const Path& at, const ExprPtr& e) {
  std::set<Sym> used;
  collect_symbols(e, used);
  for (Sym s : used) {
    auto entry = lookup(p, at, s);
    if (!entry || !is_control(entry->type.scalar)) return false;
  }
  return true;
}

std::vector<Path> enclosing_loops(const Proc& p, const Path& at) {
  std::vector<Path> out;
  Path prefix;
  for (const Step& step : stmt_part(at)) {
    if (!prefix.empty())
      if (StmtPtr s = stmt_at(p, prefix); s && s->as<For>()) out.push_back(prefix);
    prefix.push_back(step);
  }
  return out;
}

// Asked again after the change, of all loops around: a rewrite inside can give iterations a
// location in common that had none before.
void require_parallel_loops(const Proc& p, const Path& at, const char* op) {
  for (const Path& loop : enclosing_loops(p, at)) {
    StmtPtr s = stmt_at(p, loop);
    if (s->as<For>()->mode == LoopMode::kPar)
      require(loop_parallel(p, loop), op,
              "iterations of the parallel loop `" + s->as<For>()->iter.name() +
                  "` would touch the same location");
  }
}

Block rest_of_block(const Proc& p, const Path& path) {
  const Block& b = block_at(p, path);
  return Block(b.begin() + path.back().index + 1, b.end());
}

// --- mapping uses -----------------------------------------------------------------------------

std::vector<WindowAccess> whole_window(const std::vector<ExprPtr>& shape) {
  std::vector<WindowAccess> out;
  for (const ExprPtr& n : shape) out.push_back({int_const(0), n});
  return out;
}

ExprPtr extent(const WindowAccess& a) { return fold(a.hi - a.lo); }

std::vector<ExprPtr> window_shape(const std::vector<WindowAccess>& access) {
  std::vector<ExprPtr> out;
  for (const WindowAccess& a : access)
    if (!a.is_point()) out.push_back(extent(a));
  return out;
}

namespace {

// Rebuilds only what mentions the buffer, so that everything else stays the same object: proofs and
// summaries are remembered by it, and a whole proc costs no more than its uses.
class UseMapper {
 public:
  explicit UseMapper(const UseMap& map) : map_(map) {}

  Block block(const Block& b, Path first) {
    Block out;
    bool changed = false;
    out.reserve(b.size());
    for (const StmtPtr& s : b) {
      StmtPtr n = stmt(s, first);
      changed |= n != s;
      out.push_back(std::move(n));
      ++first.back().index;
    }
    return changed ? out : b;
  }

 private:
  // One bit test instead of a walk; it errs on one side only.
  bool may_mention(uint64_t bloom) const { return bloom & map_.buffer.bloom(); }

  StmtPtr stmt(const StmtPtr& s, const Path& at) {
    if (!may_mention(s->bloom) || !mentions(s, map_.buffer)) return s;
    StmtPtr out = s;
    // A name alone is the whole buffer in a call, and an element of a scalar elsewhere.
    if (const Call* call = s->as<Call>()) {
      std::vector<ExprPtr> args = call->args;
      for (size_t k = 0; k < args.size(); ++k) {
        bool dense_formal = k < call->callee->args.size() && !call->callee->args[k].type.window;
        args[k] = argument(args[k], dense_formal, at);
      }
      out = with_exprs(s, args);
    } else {
      std::vector<ExprPtr> exprs = stmt_exprs(*s);
      for (ExprPtr& e : exprs) e = expr(e, at);
      if (!exprs.empty()) out = with_exprs(out, exprs);
      out = target(out, at);
    }
    const Block &body = body_of(*s), &orelse = orelse_of(*s);
    if (!body.empty() || !orelse.empty()) {
      Path inner = at;
      inner.push_back({Child::kBody, 0});
      Block new_body = block(body, inner);
      inner.back().child = Child::kOrelse;
      Block new_orelse = block(orelse, inner);
      out = with_blocks(out, std::move(new_body), std::move(new_orelse));
    }
    return out;
  }

  // The element that an assignment or reduction writes; its indices were mapped already.
  StmtPtr target(const StmtPtr& s, const Path& at) {
    StmtNode node = s->node;
    auto map_target = [&](Sym& name, std::vector<ExprPtr>& idx) {
      if (name != map_.buffer) return false;
      auto use = map_.element(idx, at);
      if (!use) return false;
      name = use->name;
      idx = std::move(use->idx);
      return true;
    };
    bool changed = false;
    if (auto* a = std::get_if<Assign>(&node)) changed = map_target(a->name, a->idx);
    if (auto* r = std::get_if<Reduce>(&node)) changed = map_target(r->name, r->idx);
    return changed ? make_stmt(std::move(node), s->where) : s;
  }

  ExprPtr expr(const ExprPtr& e, const Path& at) {
    if (!may_mention(e->bloom)) return e;
    return rewrite(e, [&](const ExprPtr& x) -> ExprPtr {
      if (const Read* r = x->as<Read>(); r && r->name == map_.buffer) {
        if (r->idx.empty() && !map_.shape.empty()) return nullptr;  // whole: see argument()
        auto use = map_.element(r->idx, at);
        return use ? make_expr(Read{use->name, use->idx}, x->type, x->where) : nullptr;
      }
      if (const WindowExpr* w = x->as<WindowExpr>(); w && w->name == map_.buffer) {
        auto use = map_.window(w->access, at);
        return use ? make_expr(WindowExpr{use->name, use->access}, x->type, x->where) : nullptr;
      }
      if (const StrideExpr* s = x->as<StrideExpr>(); s && s->name == map_.buffer)
        refuse(map_.op, "`stride(" + map_.buffer.name() + ", " + std::to_string(s->dim) +
                            ")` is read, and the layout would change");
      return nullptr;
    });
  }

  ExprPtr argument(const ExprPtr& e, bool dense_formal, const Path& at) {
    const Read* r = e->as<Read>();
    bool whole = r && r->name == map_.buffer && r->idx.empty() && !map_.shape.empty();
    if (!whole) return expr(e, at);
    auto use = map_.window(whole_window(map_.shape), at);
    if (!use) return e;
    if (is_whole(*use)) return make_expr(Read{use->name, {}}, e->type, e->where);
    if (dense_formal)
      refuse(map_.op, "`" + map_.buffer.name() +
                          "` is passed as a whole to a call that wants a dense tensor");
    return make_expr(WindowExpr{use->name, use->access}, e->type, e->where);
  }

  // Then the name is passed rather than a window of it, which a dense formal would refuse.
  bool is_whole(const WindowUse& use) const {
    if (!map_.shape_of) return false;
    std::vector<ExprPtr> shape = map_.shape_of(use.name);
    if (shape.size() != use.access.size()) return false;
    for (size_t k = 0; k < shape.size(); ++k) {
      const WindowAccess& a = use.access[k];
      if (a.is_point() || !is_literal(fold(a.lo), 0) || !affine_equal(a.hi, shape[k])) return false;
    }
    return true;
  }

  const UseMap& map_;
};

}  // namespace

Block map_uses(const Block& block, const Path& first, const UseMap& map) {
  return UseMapper(map).block(block, first);
}

Block map_scope(const Proc& p, const Path& alloc, const StmtPtr& new_alloc, const UseMap& map) {
  Block rest = map_uses(rest_of_block(p, alloc), sibling(alloc, 1), map);
  int n = static_cast<int>(rest.size()) + 1;
  rest.insert(rest.begin(), new_alloc);
  return splice(p, alloc, n, rest);
}

// --- aliases ----------------------------------------------------------------------------------

std::vector<ExprPtr> compose(const Alias& alias, const std::vector<ExprPtr>& idx) {
  if (alias.direct) return idx;
  std::vector<ExprPtr> out;
  size_t k = 0;
  for (const WindowAccess& a : alias.access) {
    if (a.is_point()) {
      out.push_back(a.lo);
    } else {
      EXO_CHECK(k < idx.size());
      out.push_back(fold(a.lo + idx[k++]));
    }
  }
  return out;
}

std::vector<WindowAccess> compose(const Alias& alias, const std::vector<WindowAccess>& access) {
  if (alias.direct) return access;
  std::vector<WindowAccess> out;
  size_t k = 0;
  for (const WindowAccess& a : alias.access) {
    if (a.is_point()) {
      out.push_back(a);
      continue;
    }
    EXO_CHECK(k < access.size());
    const WindowAccess& inner = access[k++];
    out.push_back({fold(a.lo + inner.lo), inner.is_point() ? nullptr : fold(a.lo + inner.hi)});
  }
  return out;
}

// Windows of windows compose to one window of the root, since proofs speak of roots only.
std::optional<Alias> resolve_alias(const Proc& p, const Path& at, Sym name) {
  auto entry = lookup(p, at, name);
  if (!entry || !is_data(entry->type.scalar)) return std::nullopt;
  if (!entry->window) return Alias{name, whole_window(entry->type.shape), true};
  const WindowExpr* w = entry->window->rhs->as<WindowExpr>();
  EXO_CHECK(w != nullptr);
  auto source = resolve_alias(p, at, w->name);
  if (!source) return std::nullopt;
  return Alias{source->root, compose(*source, w->access), false};
}

std::set<Sym> aliases_in(const Block& block, std::set<Sym> names) {
  // Windows are declared before they are used, so one pass in program order closes the set.
  for_each_stmt(block, [&](const StmtPtr& s) {
    if (const WindowStmt* w = s->as<WindowStmt>())
      if (names.count(w->rhs->as<WindowExpr>()->name)) names.insert(w->name);
  });
  return names;
}

bool mentions_any(const Block& block, const std::set<Sym>& names) {
  for (Sym s : names)
    if (mentions(block, s)) return true;
  return false;
}

bool mentions_any(const StmtPtr& s, const std::set<Sym>& names) {
  for (Sym n : names)
    if (mentions(s, n)) return true;
  return false;
}

// Row-major, as the emitted C has it. A product of two unknown sizes is left as stride(name, dim):
// it is no affine expression, and nothing could be proved of it.
ExprPtr stride_of(const Proc& p, const Path& at, Sym name, int dim) {
  auto entry = lookup(p, at, name);
  auto unresolved = [&](Sym s, int d) { return make_expr(StrideExpr{s, d}, ScalarType::kStride); };
  if (!entry) return unresolved(name, dim);
  if (entry->window) {
    const WindowExpr* w = entry->window->rhs->as<WindowExpr>();
    int kept = 0;
    for (size_t d = 0; d < w->access.size(); ++d)
      if (!w->access[d].is_point() && kept++ == dim)
        return stride_of(p, at, w->name, static_cast<int>(d));
    return unresolved(name, dim);
  }
  if (entry->type.window) return unresolved(name, dim);
  ExprPtr product = int_const(1);
  for (int d = entry->type.rank() - 1; d > dim; --d) {
    const ExprPtr& n = entry->type.shape[static_cast<size_t>(d)];
    auto known = as_int(product), next = as_int(fold(n));
    if (known && next)
      product = int_const(*known * *next);
    else if (known)
      product = *known == 1 ? n : product * n;
    else if (next)
      product = int_const(*next) * product;
    else
      return unresolved(name, dim);
  }
  return fold(product);
}

}  // namespace exotune::internal
