// An instruction set of one's own: examples/vec8/ is a folder of text, and nothing else knows of
// it. Its vectors have eight lanes, its instructions are plain C, and the library vectorizes for it
// as it does for AVX-512.
#include <exotune/exotune.h>

#include <cstdio>

#include "same_result.h"

using namespace exotune;

namespace {

constexpr const char* kKernel = R"(
@proc
def distance(n: size, x: f32[n], y: f32[n], z: f32[n]):
    for i in seq(0, n):
        z[i] = fabs(x[i] - y[i])
)";

}  // namespace

int main() {
  try {
    const TargetPtr target = load_target(EXOTUNE_EXAMPLES_DIR "/vec8", {});
    const ProcPtr p = parse_module(kKernel, "distance.exo").find_proc("distance");
    const VectorUnit unit{8, target->library.memories.at("VEC8"), target->instructions(), {}};
    const ProcPtr fast = simplify(vectorize(p, "i", unit, VectorTail::kCut));
    require_same_result(p, fast, {{"n", 5}});
    require_same_result(p, fast, {{"n", 27}});
    std::printf("%s\n", str(*fast).c_str());
    CodegenOptions options;
    options.stem = "distance";
    options.headers = target->compiler.headers;
    std::printf("%s", generate_c({fast}, options).c.c_str());
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.diagnostic().str().c_str());
    return static_cast<int>(e.exit_code());
  }
}
