#pragma once
// The writer of one generated proc: its scopes and the statements in them. A part of generator.h;
// what stands in forms that particular operators look for is in idioms.cc.
#include <string>
#include <vector>

#include "tests/exhaustive/callees.h"
#include "tests/exhaustive/generator.h"

namespace exotune::exhaustive {

struct BufferInfo {
  Sym name;
  std::vector<ExprPtr> shape;
};

class Writer {
 public:
  Writer(const Grammar& g, Choices& c) : g_(g), c_(c), leaves_(g.max_leaves) {}

  ProcPtr proc();

  // def name(n, a: [f32][n + 2], b: [f32][n + 2]), which may call `others`.
  ProcPtr helper(const char* name, std::vector<ProcPtr> others);

 private:
  static constexpr Grammar kHelper{
      .name = "helper", .max_leaves = 2, .max_depth = 1, .guards = true, .casts = true};

  ExprPtr size() const { return read_var(n_, ScalarType::kSize); }
  bool maybe(int one_in) { return c_.pick(one_in) == 0; }
  Sym local(const char* letter);

  Block block(int depth);

  Block statements(int depth);

  // A run of statements in the form that one operator or another wants, with details that may spoil
  // it: the operator must see which.
  Block idiom();

  // y = s * s + 1 or the like, in integers; extend_loop may run on where nothing traps.
  Block integers_to_extend(const ExprPtr& n, const ExprPtr& room, Sym y);

  // Bytes that are widened, shifted and multiplied: set_precision may narrow some of them,
  // shift_factor may shift a factor, lift_reduce_constant may lift one, bind_converted name one.
  Block bytes_to_narrow(Sym k, Sym x, Sym y);

  // t = x[i]; a few statements; x[i] = e(t), nearly or quite as staging one element leaves it.
  Block staged_element(Sym k, Sym m);

  // t = 0; for k: t += e; y += c * t, nearly or quite as distribute_factor wants it.
  Block sum_and_factor(Sym k, const ExprPtr& element_at_k);

  // The same of bytes or words: { b = x[k] ; a = b ; t += a * a } and u = t in front of y += c * u.
  // Sums of words may wrap around, and loops have literal extents or not.
  Block integers_and_factor(Sym k, const ExprPtr& element_at_k);

  // A run of statements in the form that an operator wants which seldom finds one.
  Block rare();

  ReduceOp reduction() { return static_cast<ReduceOp>(c_.pick(3)); }
  ExprPtr cast_of(const ExprPtr& e) { return cast_to(kElement, e); }

  StmtPtr statement(int depth);

  StmtPtr loop(int depth);

  // Ranges that are empty, begin below zero, lie elsewhere, or are set by configuration.
  void unusual_range(ExprPtr& lo, ExprPtr& hi);

  StmtPtr guard(int depth);

  StmtPtr window();
  StmtPtr windowed(Sym w, Sym source, const ExprPtr& lo, const ExprPtr& hi);
  // A row or a column of the matrix.
  StmtPtr column(Sym w);

  ExprPtr field() const { return make_expr(ReadConfig{config(), "a"}, ScalarType::kIndex); }
  StmtPtr write_config();
  ExprPtr data_field() const { return make_expr(ReadConfig{config(), "f"}, kElement); }

  static ExprPtr iterator(Sym s) { return read_var(s, ScalarType::kIndex); }

  ExprPtr index();

  struct Element {
    Sym name;
    std::vector<ExprPtr> idx;
  };
  Element element();
  ExprPtr read_of(const Element& e) const { return read_elem(e.name, e.idx, kElement); }

  StmtPtr leaf();

  ExprPtr value();

  ExprPtr window_argument(Sym buffer);
  // Its two windows show different buffers, mostly: where they show one, they must be disjoint.
  StmtPtr call();

  // Two windows of n + 2 elements, of different buffers mostly.
  StmtPtr helper_call();

  StmtPtr device_call();

  const Grammar& g_;
  Choices& c_;
  int leaves_;
  int counter_ = 0;
  Sym n_, fresh_local_;
  std::vector<Sym> iterators_, windows_;
  std::vector<BufferInfo> buffers_;
  std::vector<ProcPtr> helpers_;
};

}  // namespace exotune::exhaustive
