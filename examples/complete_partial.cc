// A partial schedule finished by the search: the user's line stays, the rest is found and proved.
#include <cstdio>

#include "same_result.h"

using namespace exotune;

int main() {
  const Module module = parse_module(R"(
@proc
def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    for i in seq(0, 64):
        for j in seq(0, 64):
            for k in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j]
)",
                                     "product.exo");
  const TargetPtr target = load_target("avx512", {EXOTUNE_DATA_DIR "/hw"});
  CompletionRequest request;
  request.script = "p = product\np = block_loop(p, 'i', 8, ['io', 'i'])\np = search(p)\n";
  request.environment = script_environment(module, {&target->library});
  request.tune.target = target;
  request.tune.effort = Effort::kEstimate;  // the cost model decides; kMeasure measures
  request.baseline = false;
  const auto store = make_memory_store();
  const Completion done = complete(request, *store);
  if (!done.proc) return 1;
  const std::string yours = "p = product\np = block_loop(p, 'i', 8, ['io', 'i'])\n";
  std::printf("your lines are first: %s\n", done.script.starts_with(yours) ? "yes" : "no");
  std::printf("a micro-kernel was found: %s\n",
              done.script.find("register_block(") != std::string::npos ? "yes" : "no");
  require_same_result(module.procs.front(), done.proc, {});
  std::printf("same result\n");
  return 0;
}
