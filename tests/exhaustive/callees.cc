#include "tests/exhaustive/callees.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace exotune::exhaustive {

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
