// Statements in the forms that operators look for which seldom find one.
#include <array>
#include <functional>

#include "tests/exhaustive/writer.h"

namespace exotune::exhaustive {

Block Writer::idiom() {
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
      out.push_back(make_alloc(u, Type{kElement, {int_const(c_.pick(3) ? 2 : 3)}, false}, dram()));
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

Block Writer::integers_to_extend(const ExprPtr& n, const ExprPtr& room, Sym y) {
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

Block Writer::bytes_to_narrow(Sym k, Sym x, Sym y) {
  const ScalarType wide = ScalarType::kI32;
  const Sym b = local("t"), a = local("t"), s = local("t"), u = local("t"), v = local("t");
  const auto scalar = [&](Sym name, ScalarType type) {
    return make_alloc(name, Type{type, {}, false}, dram());
  };
  const auto read = [&](Sym name) { return read_elem(name, {}, wide); };
  const ExprPtr i = iterator(k);
  const double shift = std::array{128.0, 127.0, 1.0}[static_cast<size_t>(c_.pick(3))];
  const ExprPtr shifted = c_.pick(3) ? read(a) + data_const(shift, wide) : read(a) * read(a);
  const ExprPtr chosen = make_expr(
      Extern{"select", {read(s), data_const(3, wide), read(a), data_const(1, wide)}}, wide);
  const ExprPtr use = c_.pick(4) ? read(s) : c_.pick(2) ? chosen : read(s) + data_const(1, wide);
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

Block Writer::staged_element(Sym k, Sym m) {
  const Sym t = local("t");
  const Element e = element();
  const ExprPtr scalar = read_elem(t, {}, kElement);
  const auto inside = [&]() -> StmtPtr {
    const ExprPtr v = c_.pick(3) ? value() : value() + scalar;
    return c_.pick(4) ? make_reduce(t, {}, v, reduction()) : make_assign(element().name, e.idx, v);
  };
  Block out = {make_alloc(t, Type{kElement, {}, false}, dram()),
               make_assign(t, {}, c_.pick(6) ? read_of(e) : value())};
  out.push_back(c_.pick(2) ? inside() : make_for(m, int_const(0), int_const(2), {inside()}));
  const Element store = c_.pick(6) ? e : element();
  out.push_back(make_assign(store.name, store.idx, c_.pick(2) ? scalar : scalar + scalar));
  return c_.pick(4) ? out : Block{make_for(k, int_const(0), int_const(2), out)};
}

Block Writer::sum_and_factor(Sym k, const ExprPtr& element_at_k) {
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

Block Writer::integers_and_factor(Sym k, const ExprPtr& element_at_k) {
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

Block Writer::rare() {
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
      const ExprPtr value = c_.pick(2) ? at(from, c_.pick(2) ? i + j : i) : at(from, j) * at(x, i);
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

}  // namespace exotune::exhaustive
