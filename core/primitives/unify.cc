#include "core/primitives/unify.h"

#include <bit>
#include <functional>
#include <unordered_map>

#include "core/base/hashing.h"
#include "core/ir/normal_form.h"
#include "core/primitives/calls.h"
#include "core/primitives/uses.h"

namespace exotune::internal {

// --- shapes -----------------------------------------------------------------------------------

namespace {

uint64_t expr_shape(const ExprPtr& e) {
  if (is_control(e->type) && !e->as<ReadConfig>()) return 1;
  struct Visitor {
    uint64_t operator()(const Read&) { return 2; }
    uint64_t operator()(const Const& c) {
      double v = std::visit([](auto x) { return static_cast<double>(x); }, c.value);
      return hash_combine(3, std::bit_cast<uint64_t>(v + 0.0));
    }
    uint64_t operator()(const USub& n) { return hash_combine(4, expr_shape(n.arg)); }
    uint64_t operator()(const Not&) { return 1; }
    uint64_t operator()(const BinOp& n) {
      uint64_t a = expr_shape(n.lhs), b = expr_shape(n.rhs);
      bool commutes = n.op == BinOpKind::kAdd || n.op == BinOpKind::kMul;
      uint64_t children = commutes ? hash_mix(a) + hash_mix(b) : hash_combine(a, b);
      return hash_combine(5 + 16 * static_cast<uint64_t>(n.op), children);
    }
    uint64_t operator()(const Extern& n) {
      uint64_t h = hash_bytes(n.fn);
      for (const ExprPtr& a : n.args) h = hash_combine(h, expr_shape(a));
      return h;
    }
    uint64_t operator()(const WindowExpr&) { return 6; }
    uint64_t operator()(const StrideExpr&) { return 1; }
    uint64_t operator()(const ReadConfig& n) { return hash_combine(7, hash_bytes(n.field)); }
  };
  return std::visit(Visitor{}, e->node);
}

uint64_t block_shape(uint64_t seed, const Block& b) {
  uint64_t h = hash_combine(seed, b.size());
  for (const StmtPtr& s : b) h = hash_combine(h, shape_hash(s));
  return h;
}

uint64_t compute_shape(const Stmt& s) {
  struct Visitor {
    uint64_t operator()(const Assign& n) { return hash_combine(101, expr_shape(n.rhs)); }
    uint64_t operator()(const Reduce& n) {
      return hash_combine(102 + 16 * static_cast<uint64_t>(n.op), expr_shape(n.rhs));
    }
    uint64_t operator()(const WriteConfig& n) { return hash_combine(103, hash_bytes(n.field)); }
    uint64_t operator()(const Pass&) { return 104; }
    uint64_t operator()(const If& n) { return block_shape(block_shape(105, n.body), n.orelse); }
    uint64_t operator()(const For& n) { return block_shape(106, n.body); }
    uint64_t operator()(const Alloc& n) { return hash_combine(107, n.type.shape.size()); }
    uint64_t operator()(const Call& n) { return hash_combine(108, reinterpret_cast<uintptr_t>(n.callee.get())); }
    uint64_t operator()(const WindowStmt&) { return 109; }
  };
  return std::visit(Visitor{}, s.node);
}

}  // namespace

uint64_t shape_hash(const StmtPtr& s) {
  constexpr size_t kMaxEntries = 1 << 16;
  thread_local std::unordered_map<uint64_t, uint64_t> cache;
  auto it = cache.find(s->hash);
  if (it != cache.end()) return it->second;
  uint64_t h = compute_shape(*s);
  if (cache.size() >= kMaxEntries) cache.clear();
  cache.emplace(s->hash, h);
  return h;
}

// --- matching ---------------------------------------------------------------------------------

namespace {

// One dimension of a use: a point, or an interval with its length.
struct Extent {
  ExprPtr lo;
  ExprPtr length;  // null: a point
};
using Use = std::vector<Extent>;

Use points(const std::vector<ExprPtr>& idx) {
  Use out;
  for (const ExprPtr& i : idx) out.push_back({i, nullptr});
  return out;
}

class Matcher {
 public:
  Matcher(const Proc& p, const Path& first, const Proc& callee) : p_(p), first_(first), callee_(callee) {
    const Block& b = block_at(p, first);
    size_t k = static_cast<size_t>(first.back().index);
    block_ = Block(b.begin() + k, b.begin() + k + callee.body.size());
    after_ = Block(b.begin() + k + callee.body.size(), b.end());
  }

  Unification run() {
    constexpr int kMaxAttempts = 256;
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      reset();
      if (blocks(callee_.body, block_) && no_escapes() && solve_controls() && bind_buffers() && same_when_called()) {
        Unification out;
        out.args.emplace();
        for (const Arg& a : callee_.args) out.args->push_back(bound_.at(a.name));
        if (strides_agree(*out.args)) return out;
      }
      if (!next_choice()) break;
    }
    return {std::nullopt, why_};
  }

 private:
  struct Buffer {
    Sym actual;
    std::vector<std::pair<Use, Use>> uses;  // the formal's, the block's
  };
  struct Equation {
    ExprPtr pattern, actual;
    bool done = false;
  };

  bool no(const char* why) {
    why_ = why;
    return false;
  }

  void reset() {
    cursor_ = 0;
    iters_.clear();
    locals_.clear();
    buffers_.clear();
    equations_.clear();
    stride_equations_.clear();
    bound_.clear();
    bound_iters_.clear();
  }

  // --- choices: which of two orders to try, enumerated depth first ---
  bool choose() {
    if (cursor_ == choices_.size()) choices_.push_back(false);
    return choices_[cursor_++];
  }
  bool next_choice() {
    choices_.resize(cursor_);
    while (!choices_.empty() && choices_.back()) choices_.pop_back();
    if (choices_.empty()) return false;
    choices_.back() = true;
    return true;
  }

  const Arg* formal(Sym s) const { return callee_.find_arg(s); }
  // A pattern expression with its iterators replaced by the block's.
  ExprPtr translated(ExprPtr e) const {
    for (const auto& [from, to] : iters_) e = substitute(e, from, to);
    return e;
  }
  void equate(const ExprPtr& pattern, const ExprPtr& actual) {
    auto& list = reads_formal_stride(pattern) ? stride_equations_ : equations_;
    list.push_back({translated(pattern), actual});
  }
  bool reads_formal_stride(const ExprPtr& e) const {
    if (const StrideExpr* s = e->as<StrideExpr>()) return formal(s->name) != nullptr;
    for (const ExprPtr& c : expr_children(*e))
      if (reads_formal_stride(c)) return true;
    return false;
  }
  // Strides of formals are known once the formals are bound.
  bool strides_agree(const std::vector<ExprPtr>& args) {
    for (const Equation& eq : stride_equations_) {
      ExprPtr pattern = at_call(p_, first_, callee_, args, eq.pattern);
      ExprPtr actual = rewrite(eq.actual, [&](const ExprPtr& x) -> ExprPtr {
        const StrideExpr* s = x->as<StrideExpr>();
        return s ? stride_of(p_, first_, s->name, s->dim) : nullptr;
      });
      if (!free_of_iters(actual) || !free_of_iters(pattern)) return no("a stride stands beside a loop's iterator");
      if (!affine_equal(pattern, actual) && !prove_equal(p_, first_, pattern, actual)) return no("the strides differ");
    }
    return true;
  }

  // --- structure ---
  bool blocks(const Block& a, const Block& b) {
    if (a.size() != b.size()) return no("the numbers of statements differ");
    for (size_t k = 0; k < a.size(); ++k)
      if (!stmts(*a[k], *b[k])) return false;
    return true;
  }

  bool stmts(const Stmt& a, const Stmt& b) {
    if (a.node.index() != b.node.index()) return no("the kinds of statements differ");
    if (const Assign* x = a.as<Assign>()) {
      const Assign* y = b.as<Assign>();
      return use(x->name, points(x->idx), y->name, points(y->idx)) && data(x->rhs, y->rhs);
    }
    if (const Reduce* x = a.as<Reduce>()) {
      const Reduce* y = b.as<Reduce>();
      if (x->op != y->op) return no("the kinds of reduction differ");
      return use(x->name, points(x->idx), y->name, points(y->idx)) && data(x->rhs, y->rhs);
    }
    if (const For* x = a.as<For>()) return loops(*x, *b.as<For>());
    if (const If* x = a.as<If>()) {
      const If* y = b.as<If>();
      return condition(x->cond, y->cond) && blocks(x->body, y->body) && blocks(x->orelse, y->orelse);
    }
    if (const Alloc* x = a.as<Alloc>()) {
      const Alloc* y = b.as<Alloc>();
      if (!same_precision(x->type.scalar, y->type.scalar) || x->mem->name != y->mem->name)
        return no("a local buffer has another precision or memory");
      if (x->type.rank() != y->type.rank()) return no("a local buffer has another rank");
      for (size_t d = 0; d < x->type.shape.size(); ++d) equate(x->type.shape[d], y->type.shape[d]);
      locals_.emplace_back(x->name, y->name);
      return true;
    }
    if (const WindowStmt* x = a.as<WindowStmt>()) {
      const WindowStmt* y = b.as<WindowStmt>();
      if (!argument(x->rhs, y->rhs)) return false;
      locals_.emplace_back(x->name, y->name);
      return true;
    }
    if (const WriteConfig* x = a.as<WriteConfig>()) {
      const WriteConfig* y = b.as<WriteConfig>();
      if (x->config != y->config || x->field != y->field) return no("another configuration field is written");
      return any(x->rhs, y->rhs);
    }
    if (const Call* x = a.as<Call>()) {
      const Call* y = b.as<Call>();
      if (x->callee != y->callee || x->args.size() != y->args.size()) return no("another proc is called");
      for (size_t k = 0; k < x->args.size(); ++k) {
        bool is_data_arg = is_data(x->callee->args[k].type.scalar);
        if (is_data_arg ? !argument(x->args[k], y->args[k]) : !any(x->args[k], y->args[k])) return false;
      }
      return true;
    }
    return true;  // pass
  }

  // Loops match when they run equally often; the block's iterator may start elsewhere.
  bool loops(const For& a, const For& b) {
    ExprPtr iter = read_var(b.iter, ScalarType::kIndex);
    auto lo = as_int(a.lo);
    if (lo && !affine_equal(a.lo, b.lo)) {
      iter = fold(iter - b.lo + a.lo);
      equate(a.hi - a.lo, b.hi - b.lo);
    } else {
      equate(a.lo, b.lo);
      equate(a.hi, b.hi);
    }
    iters_.emplace_back(a.iter, iter);
    bound_iters_.push_back(b.iter);
    return blocks(a.body, b.body);
  }

  bool any(const ExprPtr& a, const ExprPtr& b) {
    if (is_data(a->type) != is_data(b->type)) return no("data meets control");
    if (is_data(a->type)) return data(a, b);
    if (a->type == ScalarType::kBool || b->type == ScalarType::kBool) return condition(a, b);
    equate(a, b);
    return true;
  }

  bool data(const ExprPtr& a, const ExprPtr& b) {
    if (a->node.index() != b->node.index()) return no("the expressions differ");
    if (const Read* x = a->as<Read>()) {
      const Read* y = b->as<Read>();
      return use(x->name, points(x->idx), y->name, points(y->idx));
    }
    if (const Const* x = a->as<Const>()) {
      auto number = [](const Const& c) { return std::visit([](auto v) { return static_cast<double>(v); }, c.value); };
      return number(*x) == number(*b->as<Const>()) || no("a constant differs");
    }
    if (const USub* x = a->as<USub>()) return data(x->arg, b->as<USub>()->arg);
    if (const BinOp* x = a->as<BinOp>()) {
      const BinOp* y = b->as<BinOp>();
      if (x->op != y->op) return no("an operator differs");
      bool swap = false;
      if (x->op == BinOpKind::kAdd || x->op == BinOpKind::kMul) {
        uint64_t xl = expr_shape(x->lhs), xr = expr_shape(x->rhs), yl = expr_shape(y->lhs), yr = expr_shape(y->rhs);
        bool straight = xl == yl && xr == yr, crossed = xl == yr && xr == yl;
        swap = straight && crossed ? choose() : crossed;
      }
      return data(x->lhs, swap ? y->rhs : y->lhs) && data(x->rhs, swap ? y->lhs : y->rhs);
    }
    if (const Extern* x = a->as<Extern>()) {
      const Extern* y = b->as<Extern>();
      if (x->fn != y->fn || x->args.size() != y->args.size()) return no("another function is applied");
      for (size_t k = 0; k < x->args.size(); ++k)
        if (!data(x->args[k], y->args[k])) return false;
      return true;
    }
    if (const ReadConfig* x = a->as<ReadConfig>()) {
      const ReadConfig* y = b->as<ReadConfig>();
      return (x->config == y->config && x->field == y->field) || no("another configuration field is read");
    }
    return no("the expressions differ");
  }

  // A data argument of a call, or the right side of a window statement.
  bool argument(const ExprPtr& a, const ExprPtr& b) {
    auto parts = [](const ExprPtr& e, const std::function<std::vector<ExprPtr>(Sym)>& shape) -> std::optional<std::pair<Sym, Use>> {
      if (const WindowExpr* w = e->as<WindowExpr>()) {
        Use u;
        for (const WindowAccess& x : w->access) u.push_back({x.lo, x.is_point() ? nullptr : x.hi - x.lo});
        return std::pair(w->name, u);
      }
      if (const Read* r = e->as<Read>()) {
        if (!r->idx.empty()) return std::pair(r->name, points(r->idx));
        Use u;
        for (const ExprPtr& n : shape(r->name)) u.push_back({int_const(0), n});
        return std::pair(r->name, u);
      }
      return std::nullopt;
    };
    auto x = parts(a, [&](Sym s) { return declared_shape(callee_.body, s, formal(s)); });
    auto y = parts(b, [&](Sym s) {
      auto entry = lookup(p_, first_, s);
      return entry ? entry->type.shape : declared_shape(block_, s, nullptr);
    });
    if (!x || !y) return data(a, b);
    return use(x->first, x->second, y->first, y->second);
  }

  static std::vector<ExprPtr> declared_shape(const Block& b, Sym s, const Arg* arg) {
    if (arg) return arg->type.shape;
    std::vector<ExprPtr> shape;
    for_each_stmt(b, [&](const StmtPtr& st) {
      if (bound_symbol(*st) != s) return;
      if (const Alloc* a = st->as<Alloc>()) shape = a->type.shape;
      if (const WindowStmt* w = st->as<WindowStmt>()) shape = w->type.shape;
    });
    return shape;
  }

  // The pattern uses `name`, the block uses `actual` in its place.
  bool use(Sym name, const Use& pattern, Sym actual, const Use& mine) {
    for (const auto& [from, to] : locals_) {
      if (from != name && to != actual) continue;
      if (from != name || to != actual) return no("local buffers do not correspond");
      if (pattern.size() != mine.size()) return no("the ranks differ");
      for (size_t d = 0; d < mine.size(); ++d) {
        equate(pattern[d].lo, mine[d].lo);
        if ((pattern[d].length == nullptr) != (mine[d].length == nullptr)) return no("a window differs");
        if (mine[d].length) equate(pattern[d].length, mine[d].length);
      }
      return true;
    }
    const Arg* arg = formal(name);
    if (!arg || !is_data(arg->type.scalar)) return no("the expressions differ");
    Buffer* b = nullptr;
    for (auto& [sym, buffer] : buffers_)
      if (sym == name) b = &buffer;
    if (!b) {
      auto entry = lookup(p_, first_, actual);
      if (!entry) return no("a buffer made in the block stands for an argument");
      if (!same_precision(entry->type.scalar, arg->type.scalar)) return no("a precision differs");
      if (!memory_fits(arg->mem, entry->mem)) return no("a memory differs");
      if (arg->type.rank() > entry->type.rank()) return no("the ranks differ");
      buffers_.emplace_back(name, Buffer{actual, {}});
      b = &buffers_.back().second;
    } else if (b->actual != actual) {
      return no("one argument would stand for two buffers");
    }
    Use translated_use;
    for (const Extent& e : pattern) translated_use.push_back({translated(e.lo), e.length ? translated(e.length) : nullptr});
    b->uses.emplace_back(std::move(translated_use), mine);
    return true;
  }

  // --- conditions: comparisons are taken as `e >= 0`, `e == 0` or `e != 0` ---
  static std::optional<std::pair<ExprPtr, BinOpKind>> comparison(const ExprPtr& e) {
    const BinOp* o = e->as<BinOp>();
    if (!o || !is_comparison(o->op) || !is_integer_control(o->lhs->type)) return std::nullopt;
    const ExprPtr one = int_const(1);
    switch (o->op) {
      case BinOpKind::kLt: return std::pair(o->rhs - o->lhs - one, BinOpKind::kGe);
      case BinOpKind::kGt: return std::pair(o->lhs - o->rhs - one, BinOpKind::kGe);
      case BinOpKind::kLe: return std::pair(o->rhs - o->lhs, BinOpKind::kGe);
      case BinOpKind::kGe: return std::pair(o->lhs - o->rhs, BinOpKind::kGe);
      default: return std::pair(o->lhs - o->rhs, o->op);
    }
  }

  bool condition(const ExprPtr& a, const ExprPtr& b) {
    if (const Read* r = a->as<Read>()) {
      const Arg* arg = formal(r->name);
      if (!arg || b->type != ScalarType::kBool || !free_of_iters(b)) return no("a condition differs");
      auto [it, fresh] = bound_.emplace(r->name, b);
      return fresh || equal(it->second, b) || no("a condition differs");
    }
    auto x = comparison(a), y = comparison(b);
    if (x && y) {
      if (x->second != y->second) return no("a comparison differs");
      bool flip = x->second != BinOpKind::kGe && choose();
      equate(flip ? int_const(0) - x->first : x->first, y->first);
      return true;
    }
    if (a->node.index() != b->node.index()) return no("a condition differs");
    if (const Not* n = a->as<Not>()) return condition(n->arg, b->as<Not>()->arg);
    if (const BinOp* o = a->as<BinOp>(); o && is_logical(o->op)) {
      const BinOp* q = b->as<BinOp>();
      if (q->op != o->op) return no("a condition differs");
      bool swap = choose();
      return condition(o->lhs, swap ? q->rhs : q->lhs) && condition(o->rhs, swap ? q->lhs : q->rhs);
    }
    if (a->as<Const>() || a->as<ReadConfig>()) return equal(a, b) || no("a condition differs");
    return no("a condition differs");
  }

  // --- scopes ---
  bool no_escapes() {
    if (after_.empty()) return true;
    for (const StmtPtr& s : block_)
      if (Sym k = bound_symbol(*s); k.valid() && mentions(after_, k)) return no("the block makes a buffer that is used after it");
    return true;
  }
  bool free_of_iters(const ExprPtr& e) const {
    for (Sym s : bound_iters_)
      if (mentions(e, s)) return false;
    return true;
  }
  bool free_of_iters(const Affine& a) const {
    for (const Affine::Term& t : a.terms)
      if (!free_of_iters(t.atom)) return false;
    return true;
  }

  // --- control formals ---
  ExprPtr with_solutions(ExprPtr e) const {
    for (const auto& [name, value] : bound_)
      if (e->bloom & name.bloom()) e = substitute(e, name, value);
    return e;
  }
  bool is_unknown(const ExprPtr& atom) const {
    const Read* r = atom->as<Read>();
    return r && r->idx.empty() && formal(r->name) && !bound_.count(r->name);
  }
  bool mentions_unknown(const ExprPtr& e) const {
    for (const Arg& a : callee_.args)
      if (is_control(a.type.scalar) && !bound_.count(a.name) && mentions(e, a.name)) return true;
    return false;
  }

  bool solve_controls() {
    // Whole dense tensors: their sizes are the buffer's.
    for (const auto& [name, buffer] : buffers_) {
      const Arg* arg = formal(name);
      if (arg->type.window || !arg->type.is_tensor()) continue;
      auto entry = lookup(p_, first_, buffer.actual);
      if (entry->type.window || entry->window || entry->type.rank() != arg->type.rank())
        return no("an argument must be a dense tensor");
      for (size_t d = 0; d < arg->type.shape.size(); ++d) equate(arg->type.shape[d], entry->type.shape[d]);
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (Equation& eq : equations_) {
        if (eq.done) continue;
        switch (step(eq)) {
          case Outcome::kFailed: return false;
          case Outcome::kSolved: progress = true; break;
          case Outcome::kWaiting: break;
        }
      }
    }
    for (const Equation& eq : equations_)
      if (!eq.done) return no("a control argument is not determined");
    for (const Arg& a : callee_.args) {
      if (!is_control(a.type.scalar)) continue;
      if (!bound_.count(a.name)) return no("a control argument is not determined");
    }
    return true;
  }

  // Arguments are evaluated before the block begins: values, sizes, and where windows lie. None may
  // name what only the block or the callee has (as a stride of it can).
  bool same_when_called() {
    for (const auto& [name, value] : bound_) {
      for (const auto& [from, to] : locals_)
        if (mentions(value, from) || mentions(value, to)) return no("an argument is known in the block only");
      for (const Arg& a : callee_.args)
        if (mentions(value, a.name)) return no("an argument is known in the callee only");
    }
    if (!writes_config(callee_.body)) return true;
    for (const auto& [name, value] : bound_)
      if (reads_config(value)) return no("an argument reads configuration state that the block writes");
    return true;
  }

  enum class Outcome { kSolved, kWaiting, kFailed };
  Outcome step(Equation& eq) {
    constexpr int64_t kLimit = int64_t{1} << 40;  // far from overflow
    ExprPtr pattern = with_solutions(eq.pattern);
    auto x = affine(pattern), y = affine(eq.actual);
    if (!x || !y) return no("an index is not affine"), Outcome::kFailed;
    for (const Affine* side : {&*x, &*y}) {
      if (side->constant > kLimit || side->constant < -kLimit) return no("a constant is too large"), Outcome::kFailed;
      for (const Affine::Term& t : side->terms)
        if (t.coeff > kLimit || t.coeff < -kLimit) return no("a constant is too large"), Outcome::kFailed;
    }
    Affine residual = *x - *y;
    const Affine::Term* unknown = nullptr;
    int unknowns = 0;
    for (const Affine::Term& t : residual.terms) {
      if (is_unknown(t.atom)) unknown = &t, ++unknowns;
      else if (mentions_unknown(t.atom)) unknowns += 2;
    }
    if (unknowns > 1) return Outcome::kWaiting;
    if (unknowns == 0) {
      eq.done = true;
      return vanishes(residual) ? Outcome::kSolved : Outcome::kFailed;
    }
    if (unknown->coeff != 1 && unknown->coeff != -1) return no("an equation has no integer solution"), Outcome::kFailed;
    Sym name = unknown->atom->as<Read>()->name;
    Affine self{{{unknown->atom, unknown->coeff}}, 0};
    Affine value = (residual - self).scaled(-unknown->coeff);
    if (!free_of_iters(value)) return no("a control argument would depend on a loop of the block"), Outcome::kFailed;
    bound_.emplace(name, to_expr(value));
    eq.done = true;
    return Outcome::kSolved;
  }

  bool vanishes(const Affine& residual) {
    if (residual.terms.empty()) return residual.constant == 0 || no("the bounds or indices differ");
    if (!free_of_iters(residual)) return no("the indices differ");
    Bounds b = bounds_of(p_, first_, to_expr(residual));
    return (b.lo && b.hi && *b.lo == 0 && *b.hi == 0) || no("the bounds or indices differ");
  }

  // --- data formals ---
  bool bind_buffers() {
    for (const Arg& a : callee_.args) {
      if (!is_data(a.type.scalar)) continue;
      const Buffer* buffer = nullptr;
      for (const auto& [sym, b] : buffers_)
        if (sym == a.name) buffer = &b;
      if (!buffer) return no("an argument is not used by the callee");
      if (!bind_buffer(a, *buffer)) return false;
      if (reads_config(bound_.at(a.name)) && writes_config(callee_.body))
        return no("an argument reads configuration state that the block writes");
    }
    return true;
  }

  // offset[d][k]: where dimension k of the formal begins in dimension d of the buffer; fixed[d]: the
  // point of dimension d. Absent where the uses do not allow it.
  bool bind_buffer(const Arg& a, const Buffer& b) {
    const size_t rank = static_cast<size_t>(a.type.rank());
    auto entry = lookup(p_, first_, b.actual);
    const size_t dims = entry->type.shape.size();
    std::vector<std::vector<std::optional<Affine>>> offset(dims, std::vector<std::optional<Affine>>(rank));
    std::vector<std::optional<Affine>> fixed(dims);
    for (size_t d = 0; d < dims; ++d) {
      for (size_t k = 0; k < rank; ++k) offset[d][k] = common_offset(b, d, k);
      fixed[d] = common_point(b, d);
    }
    std::vector<int> dim_of(rank, -1);
    if (!place(offset, fixed, rank, dims, dim_of)) return no("the indices are no window of the buffer");
    std::vector<WindowAccess> access(dims);
    std::vector<ExprPtr> idx;
    bool whole = rank == dims && rank > 0;
    for (size_t d = 0; d < dims; ++d) {
      auto k = std::find(dim_of.begin(), dim_of.end(), static_cast<int>(d)) - dim_of.begin();
      if (static_cast<size_t>(k) == rank) {
        access[d] = {to_expr(*fixed[d]), nullptr};
        idx.push_back(access[d].lo);
        continue;
      }
      const Affine& lo = *offset[d][static_cast<size_t>(k)];
      ExprPtr length = with_solutions(a.type.shape[static_cast<size_t>(k)]);
      access[d].lo = to_expr(lo);
      access[d].hi = fold(access[d].lo + length);
      whole = whole && lo == Affine{} && affine_equal(access[d].hi, entry->type.shape[d]);
    }
    ScalarType t = entry->type.scalar;
    if (rank == 0) bound_[a.name] = read_elem(b.actual, idx, t);
    else if (!a.type.window && !whole) return no("an argument must be a dense tensor");
    else if (!a.type.window) bound_[a.name] = read_elem(b.actual, {}, t);
    else bound_[a.name] = make_expr(WindowExpr{b.actual, access}, t);
    return true;
  }

  std::optional<Affine> common_offset(const Buffer& b, size_t d, size_t k) const {
    std::optional<Affine> common;
    for (const auto& [pattern, actual] : b.uses) {
      if (d >= actual.size() || k >= pattern.size()) return std::nullopt;
      const Extent &x = pattern[k], &y = actual[d];
      if ((x.length == nullptr) != (y.length == nullptr)) return std::nullopt;
      if (x.length && !affine_equal(with_solutions(x.length), y.length)) return std::nullopt;
      auto xa = affine(with_solutions(x.lo)), ya = affine(y.lo);
      if (!xa || !ya) return std::nullopt;
      Affine diff = *ya - *xa;
      if (common ? !(*common == diff) : !free_of_iters(diff)) return std::nullopt;
      common = diff;
    }
    return common;
  }

  std::optional<Affine> common_point(const Buffer& b, size_t d) const {
    std::optional<Affine> common;
    for (const auto& [pattern, actual] : b.uses) {
      if (d >= actual.size() || actual[d].length) return std::nullopt;
      auto at = affine(actual[d].lo);
      if (!at || (common ? !(*common == *at) : !free_of_iters(*at))) return std::nullopt;
      common = at;
    }
    return common;
  }

  // Gives the formal's last dimensions the last fitting dimensions of the buffer, in order.
  static bool place(const std::vector<std::vector<std::optional<Affine>>>& offset,
                    const std::vector<std::optional<Affine>>& fixed, size_t k, size_t d, std::vector<int>& dim_of) {
    if (d == 0) return k == 0;
    if (k > 0 && offset[d - 1][k - 1]) {
      dim_of[k - 1] = static_cast<int>(d - 1);
      if (place(offset, fixed, k - 1, d - 1, dim_of)) return true;
      dim_of[k - 1] = -1;
    }
    return fixed[d - 1] && place(offset, fixed, k, d - 1, dim_of);
  }

  const Proc& p_;
  const Path& first_;
  const Proc& callee_;
  Block block_, after_;
  const char* why_ = "";
  std::vector<bool> choices_;
  size_t cursor_ = 0;
  std::vector<std::pair<Sym, ExprPtr>> iters_;  // of the pattern, as seen in the block
  std::vector<Sym> bound_iters_;                // of the block
  std::vector<std::pair<Sym, Sym>> locals_;
  std::vector<std::pair<Sym, Buffer>> buffers_;
  std::vector<Equation> equations_, stride_equations_;
  std::map<Sym, ExprPtr> bound_;
};

}  // namespace

Unification unify(const Proc& p, const Path& first, const Proc& callee) {
  return Matcher(p, first, callee).run();
}

}  // namespace exotune::internal
