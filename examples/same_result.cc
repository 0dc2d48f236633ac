#include "same_result.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>

using namespace exotune;

namespace {

int64_t value_of(const ExprPtr& e, const std::map<std::string, int64_t>& sizes) {
  if (const Const* c = e->as<Const>()) return std::get<int64_t>(c->value);
  if (const Read* r = e->as<Read>()) return sizes.at(r->name.name());
  const BinOp& o = std::get<BinOp>(e->node);
  const int64_t a = value_of(o.lhs, sizes), b = value_of(o.rhs, sizes);
  switch (o.op) {
    case BinOpKind::kAdd:
      return a + b;
    case BinOpKind::kSub:
      return a - b;
    case BinOpKind::kMul:
      return a * b;
    case BinOpKind::kDiv:
      return a / b;
    default:
      return a % b;
  }
}

// Every data argument filled with small integers, in which sums and products are exact.
std::list<Buffer> outcome(const ProcPtr& p, const std::map<std::string, int64_t>& sizes) {
  std::list<Buffer> data;
  std::vector<ArgValue> args;
  for (const Arg& a : p->args) {
    if (is_control(a.type.scalar)) {
      args.emplace_back(sizes.at(a.name.name()));
      continue;
    }
    std::vector<int64_t> shape;
    for (const ExprPtr& e : a.type.shape) shape.push_back(value_of(e, sizes));
    Buffer b(a.type.scalar, shape);
    for (size_t k = 0; k < b.data.size(); ++k)
      b.data[k] = static_cast<double>((7 * k + args.size()) % 11) - 5;
    data.push_back(std::move(b));
    args.emplace_back(&data.back());
  }
  run(*p, args);
  return data;
}

}  // namespace

void require_same_result(const ProcPtr& before, const ProcPtr& after,
                         const std::map<std::string, int64_t>& sizes) {
  const std::list<Buffer> a = outcome(before, sizes), b = outcome(after, sizes);
  auto y = b.begin();
  for (auto x = a.begin(); x != a.end(); ++x, ++y)
    if (x->data != y->data) {
      std::fprintf(stderr, "%s computes something else after scheduling\n", before->name.c_str());
      std::exit(1);
    }
}
