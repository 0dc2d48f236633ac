#include "search/operand_memory.h"

#include <cmath>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

// The interpreter computes in double: its inputs, its working copy, what must come out.
constexpr double kInterpretedBytes = 3 * sizeof(double);
constexpr double kCopies = 2;  // between guard pages, and the sets that timing goes through

double value_of(const ExprPtr& e, const SizeBinding& sizes) {
  if (const auto* c = e->as<Const>()) {
    const auto* n = std::get_if<int64_t>(&c->value);
    return n ? static_cast<double>(*n) : 1;
  }
  if (const auto* r = e->as<Read>()) {
    const auto at = sizes.find(r->name.name());
    return at == sizes.end() ? 1 : static_cast<double>(at->second);
  }
  if (const auto* minus = e->as<USub>()) return -value_of(minus->arg, sizes);
  const auto* op = e->as<BinOp>();
  if (!op) return 1;
  const double a = value_of(op->lhs, sizes), b = value_of(op->rhs, sizes);
  switch (op->op) {
    case BinOpKind::kAdd:
      return a + b;
    case BinOpKind::kSub:
      return a - b;
    case BinOpKind::kMul:
      return a * b;
    case BinOpKind::kDiv:
      return std::floor(a / b);
    case BinOpKind::kMod:
      return a - b * std::floor(a / b);
    default:
      return 1;
  }
}

struct Need {
  double elements = 0, bytes = 0;
};

Need need_of(const Proc& proc, const SizeBinding& sizes) {
  Need out;
  for (const Arg& arg : proc.args) {
    if (!is_data(arg.type.scalar)) continue;
    double elements = 1;
    for (const ExprPtr& extent : arg.type.shape) elements *= std::max(0.0, value_of(extent, sizes));
    out.elements += elements;
    out.bytes += elements * bytes_of(arg.type.scalar);
  }
  return out;
}

std::string gigabytes(double bytes) {
  if (bytes >= 0x1p62) return "more bytes than can be addressed";
  char text[32];
  std::snprintf(text, sizeof text, bytes < 1e10 ? "%.2g GB" : "%.0f GB", bytes * 1e-9);
  return text;
}

}  // namespace

double operand_bytes(const Proc& proc, const SizeBinding& sizes) {
  return need_of(proc, sizes).bytes;
}

void require_memory(const Proc& proc, const SizeBinding& sizes, const Machine& machine,
                    bool measured) {
  const auto memory = static_cast<double>(machine.memory_bytes);
  if (memory <= 0) return;
  const Need need = need_of(proc, sizes);
  if (need.bytes > memory)
    throw InputError({},
                     "the arguments of " + proc.name + " need " + gigabytes(need.bytes) +
                         " at these sizes, this machine has " + gigabytes(memory),
                     "choose smaller sizes");
  const double all = need.elements * kInterpretedBytes + need.bytes * kCopies;
  if (measured && all > memory)
    throw InputError({},
                     "checking and measuring " + proc.name + " needs " + gigabytes(all) +
                         " at these sizes, this machine has " + gigabytes(memory),
                     "choose smaller sizes, or --effort estimate, which measures nothing");
}

}  // namespace exotune
