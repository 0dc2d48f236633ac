// Growing the library: a rule of one's own for the vectorizer.
//
// Left alone, the vectorizer keeps the first product of t = a*x + b*y in a register of its own, for
// an instruction with three sources. The rule below, made of primitives, knows better: a sum that
// ends in a product is an accumulation, and the register of t serves both.
#include <exotune/exotune.h>

#include <cstdio>

#include "same_result.h"

using namespace exotune;

namespace {

constexpr const char* kKernel = R"(
@proc
def axpby(n: size, a: f32, x: f32[16 * n], b: f32, y: f32[16 * n], z: f32[16 * n]):
    for i in seq(0, 16 * n):
        t: f32
        t = a * x[i] + b * y[i]
        z[i] = t
)";

// r = e + f*g   ->   r = e ; r += f*g
std::optional<ProcPtr> accumulate_products(const ProcPtr& p, const Cursor& stmt) {
  if (!stmt.is<Assign>()) return std::nullopt;
  const BinOp* sum = stmt.as<Assign>().rhs->as<BinOp>();
  if (!sum || sum->op != BinOpKind::kAdd) return std::nullopt;
  const BinOp* product = sum->rhs->as<BinOp>();
  if (!product || product->op != BinOpKind::kMul) return std::nullopt;
  return split_write(p, stmt);
}

}  // namespace

int main() {
  try {
    const ProcPtr p = parse_module(kKernel, "axpby.exo").find_proc("axpby");
    const TargetPtr target = load_target("avx512", {EXOTUNE_DATA_DIR "/hw"});
    VectorUnit unit{16, target->library.memories.at("AVX512"), target->instructions(), {}};
    const ProcPtr plain = vectorize(p, "i", unit, VectorTail::kPerfect);
    unit.rules = {accumulate_products};
    const ProcPtr fused = vectorize(p, "i", unit, VectorTail::kPerfect);
    require_same_result(p, plain, {{"n", 3}});
    require_same_result(p, fused, {{"n", 3}});
    std::printf("%s\n%s", str(*plain).c_str(), str(*fused).c_str());
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
}
