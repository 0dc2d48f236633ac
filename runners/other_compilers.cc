#include "runners/other_compilers.h"

#include "core/base/subprocess.h"

namespace exotune {

const std::vector<OtherCompiler>& other_compilers() {
  static const std::vector<OtherCompiler> found = [] {
    std::vector<OtherCompiler> all = {{"gcc", "gcc", {}},
                                      {"clang", "clang", {}},
                                      {"clang with Polly", "clang", {"-mllvm", "-polly"}}};
    std::erase_if(all, [](const OtherCompiler& c) { return find_program(c.cc).empty(); });
    return all;
  }();
  return found;
}

std::optional<TargetToolchain> with_compiler(const TargetToolchain& toolchain,
                                             const std::string& name) {
  if (name.empty()) return toolchain;
  for (const OtherCompiler& c : other_compilers())
    if (c.name == name) {
      TargetToolchain own = toolchain;
      own.cc = find_program(c.cc);
      own.flags.insert(own.flags.end(), c.flags.begin(), c.flags.end());
      return own;
    }
  return std::nullopt;
}

}  // namespace exotune
