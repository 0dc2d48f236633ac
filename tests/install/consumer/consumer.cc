// Uses the installed library through its umbrella header: reads a kernel, schedules it, loads an
// installed target, and prints the C.
#include <exotune/exotune.h>

#include <cstdio>

int main() {
  using namespace exotune;
  const Module module = parse_module(
      "@proc\n"
      "def scal(n: size, x: f32[8 * n]):\n"
      "    for i in seq(0, 8 * n):\n"
      "        x[i] = 2.0 * x[i]\n",
      "scal.exo");
  const ProcPtr p = divide_loop(module.find_proc("scal"), "i", 8, {"io", "ii"}, Tail::kPerfect);
  std::puts(generate_c({p}).c.c_str());
  const TargetPtr target = load_target("avx2", {EXOTUNE_DATA_DIR "/hw"});
  std::printf("%s has %zu instructions\n", target->name.c_str(), target->instructions().size());
  return 0;
}
