#include "tests/exhaustive/generator.h"

#include <algorithm>
#include <array>
#include <functional>

namespace exotune::exhaustive {

namespace {

constexpr ScalarType kElement = ScalarType::kF32;

struct BufferInfo {
  Sym name;
  std::vector<ExprPtr> shape;
};

class Generator {
 public:
  Generator(const Grammar& g, Choices& c) : g_(g), c_(c), leaves_(g.max_leaves) {}

  ProcPtr proc() {
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
      helpers_.push_back(Generator(kHelper, c_).helper("first", {}));
      if (maybe(2)) helpers_.push_back(Generator(kHelper, c_).helper("second", helpers_));
    }
    data("x", {wide});
    data("y", {wide});
    data("s", {});
    if (g_.matrix) data("z", {narrow, narrow});
    p->body = block(0);
    return p;
  }

  // def name(n, a: [f32][n + 2], b: [f32][n + 2]), which may call `others`.
  ProcPtr helper(const char* name, std::vector<ProcPtr> others) {
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

 private:
  static constexpr Grammar kHelper{
      .name = "helper", .max_leaves = 2, .max_depth = 1, .guards = true, .casts = true};

  ExprPtr size() const { return read_var(n_, ScalarType::kSize); }
  bool maybe(int one_in) { return c_.pick(one_in) == 0; }
  Sym local(const char* letter) {
    return Sym::fresh(g_.shadowing ? "t" : letter + std::to_string(++counter_));
  }

  Block block(int depth) {
    const size_t buffers = buffers_.size(), windows = windows_.size();
    Block out = statements(depth);
    buffers_.resize(buffers);
    windows_.resize(windows);
    return out;
  }

  Block statements(int depth) {
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
      out.push_back(
          make_alloc(t, Type{kElement, shape, false}, is_static ? dram_static() : dram()));
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

  // A run of statements in the form that one operator or another wants, with details that may spoil
  // it: the operator must see which.
  Block idiom() {
    leaves_ = leaves_ > 1 ? leaves_ - 1 : 0;
    const Sym k = Sym::fresh("k"), x = buffers_[0].name, y = buffers_[1].name;
    const ExprPtr at = iterator(k), zero = int_const(0);
    auto pick_buffer = [&] { return c_.pick(2) ? x : y; };
    switch (c_.pick(8)) {
      case 0: {  // lift_reduce_constant
        const Element target = element();
        const ExprPtr factor = c_.pick(2) ? read_of(element()) : data_const(2, kElement);
        iterators_.push_back(k);
        const ExprPtr term = c_.pick(2) ? factor * read_of(element()) : read_of(element()) * factor;
        iterators_.pop_back();
        return {make_assign(target.name, target.idx, data_const(0, kElement)),
                make_for(k, zero, size(), {make_reduce(target.name, target.idx, term)})};
      }
      case 1:
      case 2: {  // replace by one of the callees
        const Sym dst = pick_buffer(), a = pick_buffer(), b = pick_buffer();
        const ExprPtr i = at + index(), j = c_.pick(3) ? at + index() : index();
        const ExprPtr hi = c_.pick(2) ? int_const(2) : size();
        const ExprPtr value =
            c_.pick(2) ? read_elem(a, {j}, kElement)
                       : read_elem(a, {j}, kElement) * read_elem(b, {c_.pick(2) ? j : i}, kElement);
        StmtPtr s = c_.pick(2) ? make_reduce(dst, {i}, value, reduction())
                               : make_assign(dst, {i}, g_.casts && maybe(3) ? cast_of(j) : value);
        return {make_for(k, zero, hi, {s})};
      }
      case 3: {  // unroll_buffer, reuse_buffer, delete_buffer
        const Sym t = local("t"), u = local("t");
        auto element_of = [&](Sym s) { return read_elem(s, {int_const(c_.pick(2))}, kElement); };
        auto store = [&](Sym s, int d) { return make_assign(s, {int_const(d)}, value()); };
        Block out = {make_alloc(t, Type{kElement, {int_const(2)}, false}, dram()), store(t, 0),
                     store(t, 1)};
        const Element first = element();
        out.push_back(make_assign(first.name, first.idx, element_of(t)));
        out.push_back(
            make_alloc(u, Type{kElement, {int_const(c_.pick(3) ? 2 : 3)}, false}, dram()));
        out.push_back(store(u, 0));
        out.push_back(make_assign(u, {int_const(1)}, element_of(t)));
        const Element last = element();
        out.push_back(
            make_reduce(last.name, last.idx, element_of(u) + element_of(c_.pick(4) ? u : t)));
        return out;
      }
      case 4: {  // join_loops, fuse
        const Sym l = k.copy();
        const ExprPtr middle = c_.pick(2) ? int_const(1) : size() - int_const(c_.pick(2));
        iterators_.push_back(k);
        const StmtPtr body = leaf();
        iterators_.pop_back();
        const ExprPtr lo = c_.pick(3) ? zero : int_const(2);
        return {make_for(k, lo, middle, {body}),
                make_for(l, c_.pick(3) ? middle : zero, size(), rename({body}, k, l))};
      }
      case 5: {  // left_reassociate_expr, multiply_by_reciprocal, negate_factor, expand_power,
                 // fold_into_reduce, split_write
        const Element target = element();
        const ExprPtr a = c_.pick(2) ? read_of(target) : read_of(element()), b = read_of(element()),
                      c = c_.pick(2) ? read_of(target) : read_of(element());
        // Divisors are powers of two: quotients and reciprocals are compared exactly.
        const ExprPtr two = data_const(2, kElement), four = two * two;
        const double exponent = static_cast<double>(c_.pick(6)) / 2;
        const ExprPtr power =
            make_expr(Extern{"pow", {two * two, data_const(exponent, kElement)}}, kElement, {});
        const ExprPtr sum = c_.pick(2)        ? a + (b + c)
                            : c_.pick(3) == 0 ? (c_.pick(2) ? a + (b - c) : a * power)
                            : c_.pick(2)
                                ? (c_.pick(2) ? a * (b * c) : make_expr(USub{a * b}, kElement, {}))
                                : (c_.pick(2) ? (a + b) + c : bin_op(BinOpKind::kDiv, a * b, four));
        return {make_assign(target.name, target.idx, sum)};
      }
      case 6: {  // fuse of a loop that computes elements again
        const Sym t = local("t"), m = Sym::fresh("m"), l = k.copy();
        const ExprPtr again = at + iterator(m), from = c_.pick(3) ? again : at;
        const ExprPtr value = c_.pick(3) ? read_elem(x, {from}, kElement)
                                         : read_elem(x, {from}, kElement) * read_of(element());
        const StmtPtr computes =
            c_.pick(4) ? make_assign(t, {again}, value) : make_reduce(t, {again}, value);
        const ExprPtr use = read_elem(t, {iterator(l) + int_const(c_.pick(3))}, kElement);
        return {make_alloc(t, Type{kElement, {size() + int_const(1)}, false}, dram()),
                make_for(k, zero, size(), {make_for(m, zero, int_const(2), {computes})}),
                make_for(l, zero, size(), {make_assign(c_.pick(3) ? y : x, {iterator(l)}, use)})};
      }
      default: {  // merge_writes, reorder_stmts
        const Element target = element();
        Block out;
        for (int n = 0; n < 2; ++n)
          out.push_back(c_.pick(2) ? make_assign(target.name, target.idx, value())
                                   : make_reduce(target.name, target.idx, value(), reduction()));
        return out;
      }
    }
  }

  // y = s * s + 1 or the like, in integers; extend_loop may run on where nothing traps.
  Block integers_to_extend(const ExprPtr& n, const ExprPtr& room, Sym y) {
    const ScalarType type = ScalarType::kI32;
    const Sym s = local("t"), t = local("t");
    const auto loop = [&](const std::function<StmtPtr(const ExprPtr&)>& body) {
      const Sym l = Sym::fresh("l");
      return make_for(l, int_const(0), n, {body(iterator(l))});
    };
    const BinOpKind op = c_.pick(3) ? BinOpKind::kMul : BinOpKind::kDiv;
    const bool sums = c_.pick(2) != 0;
    Block out = {make_alloc(s, Type{type, {room}, false}, dram()),
                 make_alloc(t, Type{type, {room}, false}, dram())};
    out.push_back(loop([&](const ExprPtr& l) { return make_assign(s, {l}, data_const(3, type)); }));
    out.push_back(loop([&](const ExprPtr& l) {
      const ExprPtr read = read_elem(s, {l}, type);
      return make_assign(t, {l}, bin_op(op, read, read) + data_const(1, type));
    }));
    if (sums)
      out.push_back(loop([&](const ExprPtr& l) {
        return make_reduce(t, {l}, read_elem(s, {l}, type), ReduceOp::kAdd);
      }));
    out.push_back(
        loop([&](const ExprPtr& l) { return make_assign(y, {l}, read_elem(t, {l}, type)); }));
    return out;
  }

  // Bytes that are widened, shifted and multiplied: set_precision may narrow some of them,
  // shift_factor may shift a factor, lift_reduce_constant may lift one, bind_converted name one.
  Block bytes_to_narrow(Sym k, Sym x, Sym y) {
    const ScalarType wide = ScalarType::kI32;
    const Sym b = local("t"), a = local("t"), s = local("t"), u = local("t"), v = local("t");
    const auto scalar = [&](Sym name, ScalarType type) {
      return make_alloc(name, Type{type, {}, false}, dram());
    };
    const auto read = [&](Sym name) { return read_elem(name, {}, wide); };
    const ExprPtr i = iterator(k);
    const double shift = std::array{128.0, 127.0, 1.0}[static_cast<size_t>(c_.pick(3))];
    const ExprPtr shifted = c_.pick(3) ? read(a) + data_const(shift, wide) : read(a) * read(a);
    const ExprPtr use = c_.pick(3) ? read(s) : read(s) + data_const(1, wide);
    Block body = {scalar(b, ScalarType::kI8),
                  make_assign(b, {}, read_elem(x, {i}, kElement)),
                  scalar(a, wide),
                  make_assign(a, {}, read_elem(b, {}, ScalarType::kI8)),
                  scalar(s, wide),
                  make_assign(s, {}, shifted),
                  scalar(u, wide),
                  make_assign(u, {}, use)};
    // A sum of integers may add what is converted first: a byte, a number of x.
    if (!c_.pick(3)) {
      const std::array<ExprPtr, 3> terms = {read(a), read_elem(b, {}, ScalarType::kI8),
                                            read_elem(x, {i}, kElement)};
      body.push_back(make_reduce(s, {}, terms[static_cast<size_t>(c_.pick(3))], reduction()));
    }
    const ExprPtr product = c_.pick(2) ? read(u) * read(a) : data_const(2, wide) * read(u);
    if (c_.pick(2)) {
      body.push_back(make_reduce(v, {}, product));
      return {scalar(v, wide), make_assign(v, {}, data_const(0, wide)),
              make_for(k, int_const(0), size(), body), make_assign(y, {int_const(0)}, read(v))};
    }
    body.push_back(scalar(v, wide));
    body.push_back(make_assign(v, {}, product));
    body.push_back(make_assign(y, {i}, read(v)));
    return {make_for(k, int_const(0), size(), body)};
  }

  // t = x[i]; a few statements; x[i] = e(t), nearly or quite as staging one element leaves it.
  Block staged_element(Sym k, Sym m) {
    const Sym t = local("t");
    const Element e = element();
    const ExprPtr scalar = read_elem(t, {}, kElement);
    const auto inside = [&]() -> StmtPtr {
      const ExprPtr v = c_.pick(3) ? value() : value() + scalar;
      return c_.pick(4) ? make_reduce(t, {}, v, reduction())
                        : make_assign(element().name, e.idx, v);
    };
    Block out = {make_alloc(t, Type{kElement, {}, false}, dram()),
                 make_assign(t, {}, c_.pick(6) ? read_of(e) : value())};
    out.push_back(c_.pick(2) ? inside() : make_for(m, int_const(0), int_const(2), {inside()}));
    const Element store = c_.pick(6) ? e : element();
    out.push_back(make_assign(store.name, store.idx, c_.pick(2) ? scalar : scalar + scalar));
    return c_.pick(4) ? out : Block{make_for(k, int_const(0), int_const(2), out)};
  }

  // t = 0; for k: t += e; y += c * t, nearly or quite as distribute_factor wants it.
  Block sum_and_factor(Sym k, const ExprPtr& element_at_k) {
    const Sym t = local("t");
    const Element target = element();
    const ExprPtr scalar = read_elem(t, {}, kElement);
    const ExprPtr factor = c_.pick(2) ? data_const(2, kElement) : read_of(element());
    const ReduceOp op = c_.pick(8) ? ReduceOp::kAdd : reduction();
    const StmtPtr term = make_reduce(t, {}, c_.pick(3) ? element_at_k : value(), op);
    Block out = {make_alloc(t, Type{kElement, {}, false}, dram()),
                 make_assign(t, {}, data_const(c_.pick(8) ? 0 : 1, kElement)),
                 make_for(k, int_const(0), size(), {term}),
                 make_reduce(target.name, target.idx, c_.pick(3) ? factor * scalar : scalar,
                             c_.pick(8) ? ReduceOp::kAdd : reduction())};
    const Element other = element();
    if (!c_.pick(6)) out.push_back(make_assign(other.name, other.idx, scalar));
    return c_.pick(3) == 2 ? integers_and_factor(k, element_at_k) : out;
  }

  // The same of bytes or words: { b = x[k] ; a = b ; t += a * a } and u = t in front of y += c * u.
  // Sums of words may wrap around, and loops have literal extents or not.
  Block integers_and_factor(Sym k, const ExprPtr& element_at_k) {
    const Sym t = local("t"), u = local("t"), a = local("t"), b = local("t");
    const Element target = element();
    const ScalarType narrow = c_.pick(3) ? ScalarType::kI8 : ScalarType::kI16,
                     wide = c_.pick(3) ? ScalarType::kI32 : ScalarType::kI16;
    const auto scalar = [](Sym name, ScalarType type) {
      return make_alloc(name, Type{type, {}, false}, dram());
    };
    const ExprPtr of_a = read_elem(a, {}, wide), of_u = read_elem(u, {}, kElement);
    const ExprPtr term = c_.pick(2) ? of_a * of_a : of_a * data_const(200, wide);
    return {scalar(t, wide),
            make_assign(t, {}, data_const(c_.pick(8) ? 0 : 1, wide)),
            make_for(k, int_const(0), c_.pick(4) ? int_const(2 + c_.pick(2)) : size(),
                     {scalar(b, narrow), make_assign(b, {}, element_at_k), scalar(a, wide),
                      make_assign(a, {}, read_elem(b, {}, narrow)),
                      make_reduce(t, {}, term, c_.pick(8) ? ReduceOp::kAdd : reduction())}),
            scalar(u, kElement),
            make_assign(u, {}, read_elem(t, {}, wide)),
            make_reduce(target.name, target.idx, c_.pick(3) ? data_const(2, kElement) * of_u : of_u,
                        c_.pick(8) ? ReduceOp::kAdd : reduction())};
  }

  // A run of statements in the form that an operator wants which seldom finds one.
  Block rare() {
    --leaves_;
    const Sym k = Sym::fresh("k"), m = Sym::fresh("m"), x = buffers_[0].name, y = buffers_[1].name;
    const ExprPtr zero = int_const(0), i = iterator(k), j = iterator(m);
    auto at = [](Sym s, const ExprPtr& e) { return read_elem(s, {e}, kElement); };
    auto shifted = [&](const ExprPtr& e) { return c_.pick(3) ? e : e + int_const(1); };
    auto extent = [&] { return c_.pick(2) ? size() : int_const(2 + c_.pick(2)); };
    const Sym from = c_.pick(4) ? x : y;
    switch (c_.pick(11)) {
      case 7:
      case 8:
        return staged_element(k, m);
      case 10:
        return sum_and_factor(k, at(from, i));
      case 9:
        return bytes_to_narrow(k, x, y);
      case 0: {  // fuse
        const ExprPtr hi = extent(), first = shifted(i), second = shifted(j);
        const StmtPtr uses =
            c_.pick(2) ? make_assign(y, {j}, at(from, second))
                       : make_reduce(c_.pick(2) ? y : x, {j}, at(from, second), reduction());
        return {make_for(k, zero, hi, {make_assign(x, {first}, at(y, shifted(i)))}),
                make_for(m, zero, c_.pick(6) ? hi : size(), {uses})};
      }
      case 1: {  // reorder_loops, mult_loops, parallelize_reduction
        const ExprPtr target = c_.pick(2) ? (c_.pick(2) ? i : j) : zero;
        const ExprPtr value =
            c_.pick(2) ? at(from, c_.pick(2) ? i + j : i) : at(from, j) * at(x, i);
        const StmtPtr s = c_.pick(4) ? make_reduce(y, {target}, value, reduction())
                                     : make_assign(y, {i + j}, at(x, i + j));
        const ExprPtr lo = c_.pick(5) ? zero : int_const(1);
        return {make_for(k, lo, extent(), {make_for(m, zero, extent(), {s})})};
      }
      case 2: {  // reuse_buffer
        const Sym t = local("t"), u = local("t");
        const ExprPtr n = extent();
        auto fill = [&](Sym s, const ExprPtr& v) {
          const Sym l = Sym::fresh("l");
          return make_for(l, zero, n, {make_assign(s, {iterator(l)}, v)});
        };
        Block out = {make_alloc(t, Type{kElement, {n}, false}, dram()), fill(t, value()),
                     make_for(k, zero, n, {make_reduce(y, {i}, at(t, i), reduction())})};
        out.push_back(make_alloc(u, Type{kElement, {n}, false}, dram()));
        out.push_back(fill(u, c_.pick(4) ? value() : at(t, zero)));
        out.push_back(make_for(m, zero, n, {make_assign(x, {j}, at(c_.pick(6) ? u : t, j))}));
        return out;
      }
      case 3: {  // merge_writes
        const Element target = element();
        const ReduceOp op = reduction();
        Block out;
        for (int n = 0; n < 2; ++n)
          out.push_back(c_.pick(3) ? make_reduce(target.name, target.idx, value(),
                                                 c_.pick(6) ? op : reduction())
                                   : make_assign(target.name, target.idx, value()));
        return out;
      }
      case 4: {  // extend_loop
        const Sym t = local("t");
        const ExprPtr n = size(), room = n + int_const(c_.pick(3));
        if (!c_.pick(3)) return integers_to_extend(n, room, y);
        return {make_alloc(t, Type{kElement, {room}, false}, dram()),
                make_for(k, zero, n, {make_assign(t, {i}, at(from, i))}),
                make_for(m, zero, n, {make_reduce(y, {j}, at(t, j), reduction())})};
      }
      case 5: {  // lift_reduce_constant
        const Element target = element();
        const ExprPtr factor = c_.pick(3) ? data_const(2, kElement) : read_of(element());
        const ExprPtr read = at(from, c_.pick(2) ? i : i + j);
        const StmtPtr s =
            make_reduce(target.name, target.idx, c_.pick(2) ? factor * read : read * factor,
                        c_.pick(8) ? ReduceOp::kAdd : reduction());
        const StmtPtr inner = mentions(read, m) ? make_for(m, zero, int_const(2), {s}) : s;
        return {make_assign(target.name, target.idx, data_const(c_.pick(8) ? 0 : 1, kElement)),
                make_for(k, zero, size(), {inner})};
      }
      default: {  // fold_into_reduce, split_write
        const Element target = element();
        const ExprPtr old = read_of(target), other = value();
        const int fn = c_.pick(4);
        auto of = [&](const ExprPtr& a, const ExprPtr& b) {
          if (fn == 3) return a - b;
          return fn == 0 ? a + b : make_expr(Extern{fn == 1 ? "fmax" : "fmin", {a, b}}, kElement);
        };
        return {make_assign(target.name, target.idx, c_.pick(2) ? of(old, other) : of(other, old))};
      }
    }
  }

  ReduceOp reduction() { return static_cast<ReduceOp>(c_.pick(3)); }
  ExprPtr cast_of(const ExprPtr& e) { return cast_to(kElement, e); }

  StmtPtr statement(int depth) {
    const bool can_nest = depth < g_.max_depth;
    const int kind = can_nest ? c_.pick(g_.guards ? 3 : 2) : 0;
    if (kind == 1) return loop(depth);
    if (kind == 2) return guard(depth);
    return leaf();
  }

  StmtPtr loop(int depth) {
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

  // Ranges that are empty, begin below zero, lie elsewhere, or are set by configuration.
  void unusual_range(ExprPtr& lo, ExprPtr& hi) {
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

  StmtPtr guard(int depth) {
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
        cond = bin_op(BinOpKind::kEq,
                      bin_op(BinOpKind::kMod, iterator(iterators_[0]), int_const(2)), int_const(0));
    }
    Block body = block(depth + 1), orelse;
    if (leaves_ > 0 && maybe(2)) orelse = block(depth + 1);
    return make_if(cond, std::move(body), std::move(orelse));
  }

  StmtPtr window() {
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
  StmtPtr windowed(Sym w, Sym source, const ExprPtr& lo, const ExprPtr& hi) {
    const ExprPtr rhs = make_expr(WindowExpr{source, {{lo, hi}}}, kElement);
    const ExprPtr shape = as_int(lo) == int64_t{0} ? hi : hi - lo;
    return make_stmt(WindowStmt{w, rhs, Type{kElement, {shape}, true}});
  }
  // A row or a column of the matrix.
  StmtPtr column(Sym w) {
    const ExprPtr at = index();
    std::vector<WindowAccess> access = {{at, nullptr}, {int_const(0), size()}};
    if (c_.pick(2)) std::swap(access[0], access[1]);
    windows_.push_back(w);
    return make_stmt(WindowStmt{w, make_expr(WindowExpr{buffers_[3].name, access}, kElement),
                                Type{kElement, {size()}, true}});
  }

  ExprPtr field() const { return make_expr(ReadConfig{config(), "a"}, ScalarType::kIndex); }
  StmtPtr write_config() {
    if (!g_.small && maybe(3))
      return make_stmt(
          WriteConfig{config(), "f", c_.pick(2) ? read_of(element()) : data_const(2, kElement)});
    return make_stmt(WriteConfig{config(), "a", int_const(c_.pick(2))});
  }
  ExprPtr data_field() const { return make_expr(ReadConfig{config(), "f"}, kElement); }

  static ExprPtr iterator(Sym s) { return read_var(s, ScalarType::kIndex); }

  ExprPtr index() {
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

  struct Element {
    Sym name;
    std::vector<ExprPtr> idx;
  };
  Element element() {
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
  ExprPtr read_of(const Element& e) const { return read_elem(e.name, e.idx, kElement); }

  StmtPtr leaf() {
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

  ExprPtr value() {
    if (g_.config && maybe(6)) return data_field();
    if (g_.casts && maybe(4))
      return cast_of(iterators_.empty() || maybe(3) ? size()
                                                    : iterator(iterators_.back()) - size());
    if (!g_.small && maybe(8))
      return make_expr(
          Extern{c_.pick(2) ? "fmax" : "fmin", {read_of(element()), read_of(element())}}, kElement);
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

  ExprPtr window_argument(Sym buffer) {
    ExprPtr lo = int_const(c_.pick(2));
    if (!iterators_.empty() && maybe(2)) lo = iterator(iterators_.back());
    return make_expr(
        WindowExpr{buffer, {{lo, as_int(lo) == int64_t{0} ? int_const(2) : lo + int_const(2)}}},
        kElement);
  }
  // Its two windows show different buffers, mostly: where they show one, they must be disjoint.
  StmtPtr call() {
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

  // Two windows of n + 2 elements, of different buffers mostly.
  StmtPtr helper_call() {
    const ProcPtr& callee =
        helpers_[static_cast<size_t>(c_.pick(static_cast<int>(helpers_.size())))];
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

  StmtPtr device_call() {
    const int kind = c_.pick(4);
    if (kind < 2) return make_call(device().set, {int_const(kind)});
    const size_t a = static_cast<size_t>(c_.pick(2));
    return make_call(
        kind == 2 ? device().set_and_add : device().add_if_one,
        {int_const(2), window_argument(buffers_[a].name), window_argument(buffers_[1 - a].name)});
  }

  const Grammar& g_;
  Choices& c_;
  int leaves_;
  int counter_ = 0;
  Sym n_, fresh_local_;
  std::vector<Sym> iterators_, windows_;
  std::vector<BufferInfo> buffers_;
  std::vector<ProcPtr> helpers_;
};

}  // namespace

ProcPtr generate(const Grammar& g, Choices& c) { return Generator(g, c).proc(); }

namespace {
// def name(n, dst, src): for k in seq(0, n): dst[k] = or op= value(dst, src, k)
ProcPtr make_callee(const char* name, std::optional<ReduceOp> reduce,
                    ExprPtr (*value)(Sym dst, Sym src, const ExprPtr& k), int assert_at_least = 0) {
  auto p = std::make_shared<Proc>();
  p->name = name;
  const Sym n = Sym::fresh("n"), dst = Sym::fresh("dst"), src = Sym::fresh("src"),
            k = Sym::fresh("k");
  const ExprPtr size = read_var(n, ScalarType::kSize), at = read_var(k, ScalarType::kIndex);
  p->args = {{n, Type{ScalarType::kSize, {}, false}, nullptr},
             {dst, Type{kElement, {size}, true}, dram()},
             {src, Type{kElement, {size}, true}, dram()}};
  if (assert_at_least > 0) p->asserts = {bin_op(BinOpKind::kLe, int_const(assert_at_least), size)};
  const ExprPtr v = value(dst, src, at);
  p->body = {make_for(k, int_const(0), size,
                      {reduce ? make_reduce(dst, {at}, v, *reduce) : make_assign(dst, {at}, v)})};
  return p;
}
}  // namespace

const Device& device() {
  static const Device all = [] {
    const ExprPtr one = int_const(1);
    auto write = [](const ExprPtr& e) { return make_stmt(WriteConfig{config(), "a", e}); };
    auto adds = [](const char* name) {
      return std::make_shared<Proc>(*make_callee(
          name, ReduceOp::kAdd,
          [](Sym, Sym src, const ExprPtr& k) { return read_elem(src, {k}, kElement); }));
    };
    auto set = std::make_shared<Proc>();
    set->name = "set_a";
    const Sym value = Sym::fresh("value");
    set->args = {{value, Type{ScalarType::kIndex, {}, false}, nullptr}};
    set->body = {write(read_var(value, ScalarType::kIndex))};
    auto both = adds("set_and_add"), add = adds("add_if_one");
    both->body.insert(both->body.begin(), write(one));
    add->asserts = {
        bin_op(BinOpKind::kEq, make_expr(ReadConfig{config(), "a"}, ScalarType::kIndex), one)};
    return Device{set, both, add};
  }();
  return all;
}

const std::vector<ProcPtr>& callees() {
  static const std::vector<ProcPtr> all = {
      make_callee("add_into", ReduceOp::kAdd,
                  [](Sym, Sym src, const ExprPtr& k) { return read_elem(src, {k}, kElement); }),
      make_callee("copy_to", {},
                  [](Sym, Sym src, const ExprPtr& k) { return read_elem(src, {k}, kElement); }),
      make_callee("square", {},
                  [](Sym, Sym src, const ExprPtr& k) {
                    return read_elem(src, {k}, kElement) * read_elem(src, {k}, kElement);
                  }),
      make_callee(
          "scale_by_first", ReduceOp::kAdd,
          [](Sym, Sym src, const ExprPtr& k) {
            return read_elem(src, {int_const(0)}, kElement) * read_elem(src, {k}, kElement);
          },
          2),
      [] {  // def fill(n, dst, v: f32): for k in seq(0, n): dst[k] = v
        auto p = std::make_shared<Proc>();
        p->name = "fill";
        const Sym n = Sym::fresh("n"), dst = Sym::fresh("dst"), v = Sym::fresh("v"),
                  k = Sym::fresh("k");
        const ExprPtr size = read_var(n, ScalarType::kSize);
        p->args = {{n, Type{ScalarType::kSize, {}, false}, nullptr},
                   {dst, Type{kElement, {size}, true}, dram()},
                   {v, Type{kElement, {}, false}, dram()}};
        p->body = {make_for(
            k, int_const(0), size,
            {make_assign(dst, {read_var(k, ScalarType::kIndex)}, read_elem(v, {}, kElement))})};
        return ProcPtr(p);
      }(),
      make_callee("max_into", ReduceOp::kMax,
                  [](Sym, Sym src, const ExprPtr& k) { return read_elem(src, {k}, kElement); }),
      make_callee("min_into", ReduceOp::kMin,
                  [](Sym, Sym src, const ExprPtr& k) { return read_elem(src, {k}, kElement); }),
      [] {  // def ramp(n, dst, from: index): for k in seq(0, n): dst[k] = f32(from + k)
        auto p = std::make_shared<Proc>();
        p->name = "ramp";
        const Sym n = Sym::fresh("n"), dst = Sym::fresh("dst"), from = Sym::fresh("from"),
                  k = Sym::fresh("k");
        const ExprPtr size = read_var(n, ScalarType::kSize), at = read_var(k, ScalarType::kIndex);
        p->args = {{n, Type{ScalarType::kSize, {}, false}, nullptr},
                   {dst, Type{kElement, {size}, true}, dram()},
                   {from, Type{ScalarType::kIndex, {}, false}, nullptr}};
        const ExprPtr value = cast_to(kElement, read_var(from, ScalarType::kIndex) + at);
        p->body = {make_for(k, int_const(0), size, {make_assign(dst, {at}, value)})};
        return ProcPtr(p);
      }(),
      device().set,
      device().set_and_add,
      device().add_if_one,
  };
  return all;
}

namespace {
void add_callees(const Block& b, std::vector<ProcPtr>& into) {
  for_each_stmt(b, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    if (!c || std::find(into.begin(), into.end(), c->callee) != into.end()) return;
    into.push_back(c->callee);
    add_callees(c->callee->body, into);
  });
}
}  // namespace

std::vector<ProcPtr> callees_of(const ProcPtr& p) {
  std::vector<ProcPtr> out = callees();
  add_callees(p->body, out);
  return out;
}

ProcPtr nothing() {
  static const ProcPtr proc = [] {
    auto p = std::make_shared<Proc>();
    p->name = "nothing";
    p->args = {{Sym::fresh("n"), Type{ScalarType::kSize, {}, false}, nullptr}};
    p->body = {make_pass()};
    return p;
  }();
  return proc;
}

ConfigPtr config() {
  static const ConfigPtr c = [] {
    auto out = std::make_shared<Config>();
    out->name = "Cfg";
    out->fields = {{"a", ScalarType::kIndex}, {"f", kElement}};
    return out;
  }();
  return c;
}

}  // namespace exotune::exhaustive
