#include "search/function_estimates.h"

#include <functional>
#include <map>
#include <set>

namespace exotune {

namespace {

// The functions that it calls, as in sqrt(x[i]), and "/" where data are divided.
std::set<std::string> functions_called(const Block& body) {
  std::set<std::string> out;
  const std::function<void(const ExprPtr&)> look = [&](const ExprPtr& e) {
    const BinOp* op = e->as<BinOp>();
    if (op && op->op == BinOpKind::kDiv && is_data(e->type)) out.insert("/");
    if (const Extern* call = e->as<Extern>()) out.insert(call->fn);
    for (const ExprPtr& part : expr_children(*e)) look(part);
  };
  for_each_expr(body, look);
  return out;
}

std::set<ScalarType> data_of(const Proc& p) {
  std::set<ScalarType> out;
  for (const Arg& a : p.args)
    if (is_data(a.type.scalar)) out.insert(a.type.scalar);
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const Alloc* a = s->as<Alloc>()) out.insert(a->type.scalar);
  });
  return out;
}

}  // namespace

std::vector<Steps> estimating_steps(const Proc& p, const Target& target) {
  const std::set<std::string> wanted = functions_called(p.body);
  const std::set<ScalarType> types = data_of(p);
  std::map<std::string, ValueList> by_function;
  ValueList all;
  for (const ProcPtr& estimate : target.estimates) {
    if (types.count(estimate->args[0].type.scalar) == 0) continue;
    bool any = false;
    for (const std::string& function : functions_called(estimate->body))
      if (wanted.count(function) > 0) {
        by_function[function].emplace_back(estimate);
        any = true;
      }
    if (any) all.emplace_back(estimate);
  }
  std::vector<Steps> out;
  const auto add = [&](const ValueList& twins) {
    out.push_back({{"call_twins", {Value(twins)}, {}}});
  };
  for (const auto& [function, twins] : by_function) add(twins);
  if (by_function.size() > 1) add(all);
  return out;
}

}  // namespace exotune
