#include "runners/other_compilers.h"

#include <cstdlib>

#include "core/base/subprocess.h"

namespace exotune {

const std::vector<OtherCompiler>& other_compilers() {
  static const std::vector<OtherCompiler> found = [] {
    // Nobody reads errno: where a root may set it, its loop stays scalar.
    const std::string no_errno = "-fno-math-errno";
    // Real numbers have one zero: what gcc's leave has for its part, and clang's sums of several
    // terms need to be regrouped.
    const std::vector<std::string> reciprocals = {"-freciprocal-math", "-fno-signed-zeros",
                                                  no_errno};
    std::vector<OtherCompiler> all = {
        {"gcc", "gcc", {}, {no_errno}},
        {"clang", "clang", {}, reciprocals},
        // Of three loops whose sizes are open it may think for a minute, of a small window's
        // unrolled loops for longer.
        {"clang with Polly", "clang", {"-mllvm", "-polly"}, reciprocals, 8, 0.1},
        {"gcc with half vectors", "gcc", {}, {no_errno}, 120, 1, true},
        {"clang with half vectors", "clang", {}, reciprocals, 120, 1, true},
        {"gcc with further instructions", "gcc", {}, {no_errno}, 120, 1, false, true},
        {"clang with further instructions", "clang", {}, reciprocals, 120, 1, false, true}};
    std::erase_if(all, [](const OtherCompiler& c) { return find_program(c.cc).empty(); });
    return all;
  }();
  return found;
}

std::string half_width(const std::vector<std::string>& flags) {
  const std::string width = "-mprefer-vector-width=";
  for (const std::string& f : flags)
    if (f.rfind(width, 0) == 0)
      return width + std::to_string(std::atoi(f.c_str() + width.size()) / 2);
  return "";
}

std::optional<TargetToolchain> with_compiler(const TargetToolchain& toolchain,
                                             const std::string& name) {
  if (name.empty()) return toolchain;
  for (const OtherCompiler& c : other_compilers())
    if (c.name == name) {
      TargetToolchain own = toolchain;
      own.cc = find_program(c.cc);
      if (c.half_vectors) {
        const std::string half = half_width(toolchain.flags);
        if (half.empty()) return std::nullopt;
        own.flags.push_back(half);
      }
      if (c.further && toolchain.further.empty()) return std::nullopt;
      if (c.further)
        own.flags.insert(own.flags.end(), toolchain.further.begin(), toolchain.further.end());
      for (const auto* more : {&c.flags, &c.leave})
        own.flags.insert(own.flags.end(), more->begin(), more->end());
      return own;
    }
  return std::nullopt;
}

}  // namespace exotune
