#include "tests/exhaustive/generator.h"

#include <utility>

#include "tests/exhaustive/writer.h"

namespace exotune::exhaustive {

ProcPtr generate(const Grammar& g, Choices& c) { return Writer(g, c).proc(); }

ProcPtr Writer::proc() {
  auto p = std::make_shared<Proc>();
  p->name = "p";
  n_ = Sym::fresh("N");
  const ExprPtr n = size();
  const ExprPtr wide = int_const(2) * n + int_const(2), narrow = n + int_const(2);
  auto data = [&](const char* name, std::vector<ExprPtr> shape) {
    const Sym s = Sym::fresh(name);
    p->args.push_back({s, Type{kElement, std::move(shape), false}, dram()});
    buffers_.push_back({s, p->args.back().type.shape});
  };
  p->args.push_back({n_, Type{ScalarType::kSize, {}, false}, nullptr});
  if (g_.procs) {
    helpers_.push_back(Writer(kHelper, c_).helper("first", {}));
    if (maybe(2)) helpers_.push_back(Writer(kHelper, c_).helper("second", helpers_));
  }
  data("x", {wide});
  data("y", {wide});
  data("s", {});
  if (g_.matrix) data("z", {narrow, narrow});
  p->body = block(0);
  return p;
}

ProcPtr Writer::helper(const char* name, std::vector<ProcPtr> others) {
  helpers_ = std::move(others);
  auto p = std::make_shared<Proc>();
  p->name = name;
  n_ = Sym::fresh("n");
  p->args.push_back({n_, Type{ScalarType::kSize, {}, false}, nullptr});
  const ExprPtr extent = size() + int_const(2);
  for (const char* letter : {"a", "b"}) {
    const Sym s = Sym::fresh(letter);
    p->args.push_back({s, Type{kElement, {extent}, true}, dram()});
    buffers_.push_back({s, {extent}});
  }
  p->body = block(0);
  return p;
}

Sym Writer::local(const char* letter) {
  return Sym::fresh(g_.shadowing ? "t" : letter + std::to_string(++counter_));
}

Block Writer::block(int depth) {
  const size_t buffers = buffers_.size(), windows = windows_.size();
  Block out = statements(depth);
  buffers_.resize(buffers);
  windows_.resize(windows);
  return out;
}

Block Writer::statements(int depth) {
  if (g_.rare && leaves_ > 0) return rare();
  if (g_.idioms && leaves_ > 0 && maybe(2)) return idiom();
  Block out;
  if (g_.locals && maybe(3)) {
    const Sym t = local("t");
    std::vector<ExprPtr> shape;
    switch (c_.pick(g_.small ? 2 : 5)) {
      case 0:
        break;
      case 3:
        shape = {int_const(4)};
        break;
      case 4:
        shape = {int_const(2), size() + int_const(2)};
        break;
      default:
        shape = {size() + int_const(2)};
        break;
    }
    const bool is_static = g_.statics && maybe(2);
    out.push_back(make_alloc(t, Type{kElement, shape, false}, is_static ? dram_static() : dram()));
    buffers_.push_back({t, shape});
    fresh_local_ = t;
  }
  if (g_.windows && maybe(3)) out.push_back(window());
  if (g_.config && maybe(4)) out.push_back(write_config());
  int more = 1 + (leaves_ > 1 ? c_.pick(2) : 0) + (leaves_ > 2 && !g_.small ? c_.pick(2) : 0);
  while (more-- > 0) {
    out.push_back(statement(depth));
    if (leaves_ <= 0) break;
  }
  return out;
}

StmtPtr Writer::statement(int depth) {
  const bool can_nest = depth < g_.max_depth;
  const int kind = can_nest ? c_.pick(g_.guards ? 3 : 2) : 0;
  if (kind == 1) return loop(depth);
  if (kind == 2) return guard(depth);
  return leaf();
}

StmtPtr Writer::loop(int depth) {
  static const char* const names[] = {"i", "j", "k"};
  const Sym it = Sym::fresh(names[g_.shadowing ? 0 : depth % 3]);
  ExprPtr lo = int_const(0), hi = size();
  const bool odd = !g_.small && maybe(5);
  if (odd) {
    unusual_range(lo, hi);
  } else
    switch (c_.pick(iterators_.empty() ? (g_.small ? 3 : 5) : (g_.small ? 4 : 7))) {
      case 0:
        break;
      case 1:
        hi = int_const(3);
        break;
      case 2:
        lo = int_const(1);
        break;
      case 3:
        if (iterators_.empty()) {
          hi = int_const(4);  // lo may exceed it: empty for no N, but 4 > N + 1 for some
          lo = int_const(2);
        } else {
          hi = iterator(iterators_.back()) + int_const(1);
        }
        break;
      case 4:
        if (iterators_.empty())
          lo = size() - int_const(1), hi = size() + int_const(1);
        else
          lo = iterator(iterators_.back());
        break;
      case 5:
        hi = int_const(1);
        break;
      case 6:
        hi = int_const(2);
        break;
    }
  iterators_.push_back(it);
  Block body = block(depth + 1);
  iterators_.pop_back();
  const LoopMode mode = g_.parallel && maybe(2) ? LoopMode::kPar : LoopMode::kSeq;
  return make_for(it, lo, hi, std::move(body), mode);
}

void Writer::unusual_range(ExprPtr& lo, ExprPtr& hi) {
  switch (c_.pick(g_.config ? 8 : 5)) {
    case 0:
      lo = int_const(-1), hi = int_const(2);
      break;
    case 1:
      lo = int_const(-2), hi = int_const(0);
      break;
    case 2:
      lo = int_const(3), hi = int_const(c_.pick(2) ? 3 : 1);
      break;
    case 3:
      lo = size(), hi = int_const(2) * size();
      break;
    case 4:
      hi = size() - int_const(3);
      break;  // empty for small N, negative too
    case 5:
      hi = field() + int_const(1);
      break;
    case 6:
      lo = field(), hi = field() + int_const(2);
      break;
    default:
      lo = field();
      break;
  }
}

StmtPtr Writer::guard(int depth) {
  ExprPtr cond;
  const int kinds = 2 + (g_.config ? 1 : 0) + (iterators_.empty() ? 0 : 2);
  int k = c_.pick(kinds);
  if (!g_.config && k >= 2) ++k;
  switch (k) {
    case 0:
      cond = bin_op(BinOpKind::kLt, size(), int_const(3));
      break;
    case 1:
      cond = bin_op(BinOpKind::kLe, int_const(1), size());
      break;
    case 2:
      cond = bin_op(BinOpKind::kEq, field(), int_const(0));
      break;
    case 3:
      cond = bin_op(BinOpKind::kLt, iterator(iterators_.back()), int_const(1));
      break;
    default:
      cond = bin_op(BinOpKind::kEq, bin_op(BinOpKind::kMod, iterator(iterators_[0]), int_const(2)),
                    int_const(0));
  }
  Block body = block(depth + 1), orelse;
  if (leaves_ > 0 && maybe(2)) orelse = block(depth + 1);
  return make_if(cond, std::move(body), std::move(orelse));
}

StmtPtr Writer::window() {
  const Sym w = local("w");
  const int sources = 2 + static_cast<int>(windows_.size()) + (g_.matrix ? 1 : 0);
  const int k = c_.pick(g_.small ? 2 : sources);
  if (k >= 2 + static_cast<int>(windows_.size())) return column(w);
  ExprPtr lo = int_const(0), length = size();
  if (k >= 2) {  // a window of a window: [1, N), of one shorter than N + 1 for sure
    const Sym source = windows_[static_cast<size_t>(k - 2)];
    lo = int_const(c_.pick(2));
    windows_.push_back(w);
    return windowed(w, source, lo, size());
  }
  switch (c_.pick(iterators_.empty() ? 2 : 3)) {
    case 0:
      break;
    case 1:
      lo = int_const(1);
      break;
    case 2:
      lo = iterator(iterators_.back());
      break;
  }
  windows_.push_back(w);
  return windowed(w, buffers_[static_cast<size_t>(k)].name, lo,
                  as_int(lo) == int64_t{0} ? length : lo + length);
}

StmtPtr Writer::windowed(Sym w, Sym source, const ExprPtr& lo, const ExprPtr& hi) {
  const ExprPtr rhs = make_expr(WindowExpr{source, {{lo, hi}}}, kElement);
  const ExprPtr shape = as_int(lo) == int64_t{0} ? hi : hi - lo;
  return make_stmt(WindowStmt{w, rhs, Type{kElement, {shape}, true}});
}

StmtPtr Writer::column(Sym w) {
  const ExprPtr at = index();
  std::vector<WindowAccess> access = {{at, nullptr}, {int_const(0), size()}};
  if (c_.pick(2)) std::swap(access[0], access[1]);
  windows_.push_back(w);
  return make_stmt(WindowStmt{w, make_expr(WindowExpr{buffers_[3].name, access}, kElement),
                              Type{kElement, {size()}, true}});
}

StmtPtr Writer::write_config() {
  if (!g_.small && maybe(3))
    return make_stmt(
        WriteConfig{config(), "f", c_.pick(2) ? read_of(element()) : data_const(2, kElement)});
  return make_stmt(WriteConfig{config(), "a", int_const(c_.pick(2))});
}

ExprPtr Writer::index() {
  const int n = static_cast<int>(iterators_.size());
  if (g_.config && maybe(8)) return field();
  if (n == 0) return int_const(g_.small ? 0 : c_.pick(3));
  const ExprPtr last = iterator(iterators_.back());
  switch (c_.pick(n == 1 ? 3 : (g_.small ? 4 : 6))) {
    case 0:
      return last;
    case 1:
      return last + int_const(1);
    case 2:
      return int_const(0);
    case 3:
      return iterator(iterators_[0]);
    case 4:
      return last + iterator(iterators_[0]);
    default:
      return last - iterator(iterators_[0]) + int_const(2);
  }
}

Writer::Element Writer::element() {
  const int windows = static_cast<int>(windows_.size());
  const int k = c_.pick((g_.small ? 2 : static_cast<int>(buffers_.size())) + windows);
  if (k < windows) return {windows_[static_cast<size_t>(k)], {index()}};
  const BufferInfo& b = g_.small && k - windows == 1 && !g_.locals
                            ? buffers_[2]
                            : buffers_[static_cast<size_t>(k - windows)];
  Element e{b.name, {}};
  for (size_t d = 0; d < b.shape.size(); ++d) e.idx.push_back(index());
  return e;
}

StmtPtr Writer::leaf() {
  --leaves_;
  if (fresh_local_.valid()) {
    // A local begins with a value, mostly.
    const Sym t = fresh_local_;
    fresh_local_ = Sym();
    for (const BufferInfo& b : buffers_)
      if (b.name == t) {
        if (b.shape.empty()) return make_assign(t, {}, value());
        std::vector<Sym> its;
        std::vector<ExprPtr> at;
        for (size_t d = 0; d < b.shape.size(); ++d) {
          its.push_back(Sym::fresh(g_.shadowing ? "i" : "v"));
          at.push_back(iterator(its.back()));
        }
        StmtPtr fill = make_assign(t, at, data_const(1, kElement));
        for (size_t d = its.size(); d-- > 0;)
          fill = make_for(its[d], int_const(0), b.shape[d], {fill});
        return fill;
      }
  }
  if (g_.device && maybe(2)) return device_call();
  if (g_.calls && maybe(2)) return call();
  if (!helpers_.empty() && maybe(2)) return helper_call();
  const Element target = element();
  const int kind = c_.pick(g_.small ? 2 : 5);
  if (kind == 0 || kind == 4) return make_assign(target.name, target.idx, value());
  return make_reduce(target.name, target.idx, value(),
                     kind == 1   ? ReduceOp::kAdd
                     : kind == 2 ? ReduceOp::kMax
                                 : ReduceOp::kMin);
}

ExprPtr Writer::value() {
  if (g_.config && maybe(6)) return data_field();
  if (g_.casts && maybe(4))
    return cast_of(iterators_.empty() || maybe(3) ? size() : iterator(iterators_.back()) - size());
  if (!g_.small && maybe(8))
    return make_expr(Extern{c_.pick(2) ? "fmax" : "fmin", {read_of(element()), read_of(element())}},
                     kElement);
  switch (c_.pick(g_.small ? 2 : 5)) {
    case 0:
      return read_of(element());
    case 1:
      return data_const(2, kElement);
    case 2:
      return read_of(element()) + read_of(element());
    case 3:
      return data_const(3, kElement) * read_of(element());
    default: {
      const ExprPtr a = read_of(element()), b = read_of(element());
      return a * b;
    }
  }
}

ExprPtr Writer::window_argument(Sym buffer) {
  ExprPtr lo = int_const(c_.pick(2));
  if (!iterators_.empty() && maybe(2)) lo = iterator(iterators_.back());
  return make_expr(
      WindowExpr{buffer, {{lo, as_int(lo) == int64_t{0} ? int_const(2) : lo + int_const(2)}}},
      kElement);
}

StmtPtr Writer::call() {
  const size_t a = static_cast<size_t>(c_.pick(2)), b = maybe(3) ? a : 1 - a;
  const ExprPtr dst = window_argument(buffers_[a].name);
  if (maybe(4)) return make_call(callees()[4], {int_const(2), dst, read_of(element())});
  if (g_.casts && maybe(3)) return make_call(callees()[7], {int_const(2), dst, index()});
  if (a == b && maybe(2)) {  // neighbours
    const ExprPtr lo = dst->as<WindowExpr>()->access[0].hi;
    const ExprPtr src =
        make_expr(WindowExpr{buffers_[a].name, {{lo, lo + int_const(2)}}}, kElement);
    return make_call(callees()[c_.pick(2)], {int_const(2), dst, src});
  }
  static constexpr int kKinds[] = {0, 1, 5, 6, 0};
  return make_call(callees()[static_cast<size_t>(kKinds[c_.pick(5)])],
                   {int_const(2), dst, window_argument(buffers_[b].name)});
}

StmtPtr Writer::helper_call() {
  const ProcPtr& callee = helpers_[static_cast<size_t>(c_.pick(static_cast<int>(helpers_.size())))];
  const ExprPtr n = c_.pick(2) ? size() : int_const(2);
  const size_t first = static_cast<size_t>(c_.pick(2)), second = maybe(6) ? first : 1 - first;
  auto window_of = [&](size_t buffer) {
    const ExprPtr lo = int_const(c_.pick(4) ? 0 : 1);
    const ExprPtr hi = lo + (n + int_const(2));
    return make_expr(WindowExpr{buffers_[buffer].name, {{lo, hi}}}, kElement);
  };
  const ExprPtr a = window_of(first);
  return make_call(callee, {n, a, window_of(second)});
}

StmtPtr Writer::device_call() {
  const int kind = c_.pick(4);
  if (kind < 2) return make_call(device().set, {int_const(kind)});
  const size_t a = static_cast<size_t>(c_.pick(2));
  return make_call(
      kind == 2 ? device().set_and_add : device().add_if_one,
      {int_const(2), window_argument(buffers_[a].name), window_argument(buffers_[1 - a].name)});
}

}  // namespace exotune::exhaustive
