#include "core/primitives/matcher.h"

#include <algorithm>
#include <functional>

#include "core/primitives/calls.h"
#include "core/primitives/uses.h"

namespace exotune::internal {
// The walk over the callee's body and the block, side by side. It binds what it can on sight
// (buffers, locals, conditions), notes equations between control expressions for later
// (matcher_equations.cc), and decides commutative operations by trying both orders.

// Each attempt runs the whole walk with one vector of choices. 256 attempts are eight free choices,
// more than the instructions of any shipped target have; a block that needs more is refused, which
// costs a match and nothing else.
Unification Matcher::run() {
  constexpr int kMaxAttempts = 256;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    reset();
    if (blocks(callee_.body, block_) && no_escapes() && solve_controls() && bind_buffers() &&
        same_when_called()) {
      Unification out;
      out.args.emplace();
      for (const Arg& a : callee_.args) out.args->push_back(bound_.at(a.name));
      if (strides_agree(*out.args)) return out;
    }
    if (!next_choice()) break;
  }
  return {std::nullopt, why_};
}

bool Matcher::no(const char* why) {
  why_ = why;
  return false;
}

void Matcher::reset() {
  cursor_ = 0;
  iters_.clear();
  locals_.clear();
  buffers_.clear();
  equations_.clear();
  stride_equations_.clear();
  bound_.clear();
  bound_iters_.clear();
}

bool Matcher::choose() {
  if (cursor_ == choices_.size()) choices_.push_back(false);
  return choices_[cursor_++];
}

// Counting in binary, the last choice first; trailing ones are exhausted.
bool Matcher::next_choice() {
  choices_.resize(cursor_);
  while (!choices_.empty() && choices_.back()) choices_.pop_back();
  if (choices_.empty()) return false;
  choices_.back() = true;
  return true;
}

bool Matcher::blocks(const Block& a, const Block& b) {
  if (a.size() != b.size()) return no("the numbers of statements differ");
  for (size_t k = 0; k < a.size(); ++k)
    if (!stmts(*a[k], *b[k])) return false;
  return true;
}

// The kinds of statements decide first: most blocks that do not match are dropped here.
bool Matcher::stmts(const Stmt& a, const Stmt& b) {
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
    // Locals correspond one to one from here on; extents are equations like any others.
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
    if (x->config != y->config || x->field != y->field)
      return no("another configuration field is written");
    return any(x->rhs, y->rhs);
  }
  if (const Call* x = a.as<Call>()) {
    const Call* y = b.as<Call>();
    // Callees are compared by identity: a call of another procedure with the same body is another
    // call.
    if (x->callee != y->callee || x->args.size() != y->args.size())
      return no("another proc is called");
    for (size_t k = 0; k < x->args.size(); ++k) {
      bool is_data_arg = is_data(x->callee->args[k].type.scalar);
      if (is_data_arg ? !argument(x->args[k], y->args[k]) : !any(x->args[k], y->args[k]))
        return false;
    }
    return true;
  }
  return true;  // pass
}

// Loops match when they run equally often; the block's iterator may start elsewhere.
bool Matcher::loops(const For& a, const For& b) {
  ExprPtr iter = read_var(b.iter, ScalarType::kIndex);
  auto lo = as_int(a.lo);
  // The shift: the callee counts from `lo`, the block from another place. Its iterator then is the
  // block's less the difference, which is affine and so stays solvable.
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

bool Matcher::any(const ExprPtr& a, const ExprPtr& b) {
  if (is_data(a->type) != is_data(b->type)) return no("data meets control");
  if (is_data(a->type)) return data(a, b);
  if (a->type == ScalarType::kBool || b->type == ScalarType::kBool) return condition(a, b);
  equate(a, b);
  return true;
}

// Constants are compared as numbers, whatever their spelling: 1 and 1.0 of a data type are one
// value.
bool Matcher::data(const ExprPtr& a, const ExprPtr& b) {
  if (a->node.index() != b->node.index()) return no("the expressions differ");
  if (const Read* x = a->as<Read>()) {
    const Read* y = b->as<Read>();
    return use(x->name, points(x->idx), y->name, points(y->idx));
  }
  if (const Const* x = a->as<Const>()) {
    auto number = [](const Const& c) {
      return std::visit([](auto v) { return static_cast<double>(v); }, c.value);
    };
    return number(*x) == number(*b->as<Const>()) || no("a constant differs");
  }
  if (const USub* x = a->as<USub>()) return data(x->arg, b->as<USub>()->arg);
  if (const BinOp* x = a->as<BinOp>()) {
    const BinOp* y = b->as<BinOp>();
    if (x->op != y->op) return no("an operator differs");
    // x / 16 against x / i32(d): the literal is the value of d.
    if (const Cast* divisor = x->rhs->as<Cast>())
      if (const auto number = whole_divisor(*y); number && x->rhs->type == y->rhs->type)
        return data(x->lhs, y->lhs) && any(divisor->arg, int_const(*number));
    bool swap = false;
    // Only where shapes cannot tell the two sides apart is there a choice; a * b against load *
    // broadcast has one order that fits. Without this, a sum of eight products would need 2^8
    // attempts.
    if (x->op == BinOpKind::kAdd || x->op == BinOpKind::kMul) {
      uint64_t xl = expr_shape(x->lhs), xr = expr_shape(x->rhs), yl = expr_shape(y->lhs),
               yr = expr_shape(y->rhs);
      bool straight = xl == yl && xr == yr, crossed = xl == yr && xr == yl;
      swap = straight && crossed ? choose() : crossed;
    }
    return data(x->lhs, swap ? y->rhs : y->lhs) && data(x->rhs, swap ? y->lhs : y->rhs);
  }
  if (const Extern* x = a->as<Extern>()) {
    const Extern* y = b->as<Extern>();
    if (x->fn != y->fn || x->args.size() != y->args.size())
      return no("another function is applied");
    for (size_t k = 0; k < x->args.size(); ++k)
      if (!data(x->args[k], y->args[k])) return false;
    return true;
  }
  if (const Cast* x = a->as<Cast>())
    return a->type == b->type ? any(x->arg, b->as<Cast>()->arg) : no("a cast is to another type");
  if (const ReadConfig* x = a->as<ReadConfig>()) {
    const ReadConfig* y = b->as<ReadConfig>();
    return (x->config == y->config && x->field == y->field) ||
           no("another configuration field is read");
  }
  return no("the expressions differ");
}

// A data argument of a call, or the right side of a window statement.
bool Matcher::argument(const ExprPtr& a, const ExprPtr& b) {
  auto parts = [](const ExprPtr& e, const std::function<std::vector<ExprPtr>(Sym)>& shape)
      -> std::optional<std::pair<Sym, Use>> {
    if (const WindowExpr* w = e->as<WindowExpr>()) {
      Use u;
      for (const WindowAccess& x : w->access)
        u.push_back({x.lo, x.is_point() ? nullptr : x.hi - x.lo});
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

std::vector<ExprPtr> Matcher::declared_shape(const Block& b, Sym s, const Arg* arg) {
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
// A use of a local pairs with the local's partner and nothing else; a use of a formal is noted for
// bind_buffers, which sees all uses of it together. Precision, memory and rank are checked at the
// first one: the cheapest reasons to refuse come first.
bool Matcher::use(Sym name, const Use& pattern, Sym actual, const Use& mine) {
  for (const auto& [from, to] : locals_) {
    if (from != name && to != actual) continue;
    if (from != name || to != actual) return no("local buffers do not correspond");
    if (pattern.size() != mine.size()) return no("the ranks differ");
    for (size_t d = 0; d < mine.size(); ++d) {
      equate(pattern[d].lo, mine[d].lo);
      if ((pattern[d].length == nullptr) != (mine[d].length == nullptr))
        return no("a window differs");
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
  // In terms of the block: the two sides of a pair speak of the same iterators.
  Use translated_use;
  for (const Extent& e : pattern)
    translated_use.push_back({translated(e.lo), e.length ? translated(e.length) : nullptr});
  b->uses.emplace_back(std::move(translated_use), mine);
  return true;
}

// All comparisons of integers become e >= 0, e == 0 or e != 0.
std::optional<std::pair<ExprPtr, BinOpKind>> Matcher::comparison(const ExprPtr& e) {
  const BinOp* o = e->as<BinOp>();
  if (!o || !is_comparison(o->op) || !is_integer_control(o->lhs->type)) return std::nullopt;
  const ExprPtr one = int_const(1);
  switch (o->op) {
    case BinOpKind::kLt:
      return std::pair(o->rhs - o->lhs - one, BinOpKind::kGe);
    case BinOpKind::kGt:
      return std::pair(o->lhs - o->rhs - one, BinOpKind::kGe);
    case BinOpKind::kLe:
      return std::pair(o->rhs - o->lhs, BinOpKind::kGe);
    case BinOpKind::kGe:
      return std::pair(o->lhs - o->rhs, BinOpKind::kGe);
    default:
      return std::pair(o->lhs - o->rhs, o->op);
  }
}

// A boolean formal stands for any condition that does not vary in the block. Comparisons become
// equations, so that `i < n` can determine n; e == 0 and e != 0 hold of -e too, hence the choice.
bool Matcher::condition(const ExprPtr& a, const ExprPtr& b) {
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

// A local of the callee ends with the call: the block's must not be needed after it.
bool Matcher::no_escapes() {
  if (after_.empty()) return true;
  for (const StmtPtr& s : block_)
    if (Sym k = bound_symbol(*s); k.valid() && mentions(after_, k))
      return no("the block makes a buffer that is used after it");
  return true;
}

Unification unify(const Proc& p, const Path& first, const Proc& callee) {
  return Matcher(p, first, callee).run();
}

}  // namespace exotune::internal
