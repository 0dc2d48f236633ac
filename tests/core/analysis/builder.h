#pragma once
// Short spellings for procs built by hand.
#include "core/analysis/queries.h"
#include "core/ir/proc.h"

namespace exotune::testing {

inline ExprPtr num(int64_t v) { return int_const(v); }
inline ExprPtr idx(Sym s) { return read_var(s, ScalarType::kIndex); }
inline ExprPtr size(Sym s) { return read_var(s, ScalarType::kSize); }
inline ExprPtr lt(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kLt, a, b); }
inline ExprPtr le(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kLe, a, b); }
inline ExprPtr ge(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kGe, a, b); }
inline ExprPtr eq(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kEq, a, b); }
inline ExprPtr ne(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kNe, a, b); }
inline ExprPtr both(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kAnd, a, b); }
inline ExprPtr either(ExprPtr a, ExprPtr b) { return bin_op(BinOpKind::kOr, a, b); }
inline ExprPtr quo(ExprPtr a, int64_t c) { return bin_op(BinOpKind::kDiv, a, num(c)); }
inline ExprPtr rem(ExprPtr a, int64_t c) { return bin_op(BinOpKind::kMod, a, num(c)); }
inline ExprPtr elem(Sym b, std::vector<ExprPtr> at) {
  return read_elem(b, std::move(at), ScalarType::kF32);
}

inline Arg size_arg(Sym s) { return {s, {ScalarType::kSize, {}, false}, nullptr}; }
inline Arg control_arg(Sym s, ScalarType t) { return {s, {t, {}, false}, nullptr}; }
inline Arg tensor_arg(Sym s, std::vector<ExprPtr> shape, bool window = false) {
  return {s, {ScalarType::kF32, std::move(shape), window}, dram()};
}
inline ProcPtr proc(std::vector<Arg> args, Block body, std::vector<ExprPtr> asserts = {}) {
  auto p = std::make_shared<Proc>();
  p->name = "f";
  p->args = std::move(args);
  p->asserts = std::move(asserts);
  p->body = std::move(body);
  return p;
}
inline Path path(std::initializer_list<int> body_indices) {
  Path out;
  for (int k : body_indices) out.push_back({Child::kBody, k});
  return out;
}

}  // namespace exotune::testing
