#include "runners/arena.h"

#include <functional>

#include "core/base/diagnostic.h"
#include "runners/machine_peak.h"
#include "runners/native_runner.h"
#include "runners/other_compilers.h"
#include "runners/work_directory.h"

namespace exotune {
namespace {

// Nothing: the loop does not compile (no such instruction here), or would do nothing.
std::optional<Contender> contender_of(const std::string& name, const std::function<Roof()>& make) {
  try {
    Contender out;
    out.name = name;
    out.roof = make();
    return out.roof->work > 0 ? std::optional(std::move(out)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

class NativeArena : public Arena {
 public:
  NativeArena(TargetToolchain toolchain, NativeOptions options)
      : toolchain_(std::move(toolchain)),
        options_(std::move(options)),
        directory_(options_.work_directory) {}

  ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>& args,
                         const TestCase& test, const ShootoutOptions& options) override {
    return shootout(toolchain_, contenders, args, test, options, options_);
  }

  double peak(ElementType precision) override {
    return roof(precision) ? measure_peak(toolchain_, precision) : 0;
  }

  std::optional<Contender> roof(ElementType precision) override {
    return contender_of("peak",
                        [&] { return make_roof(toolchain_, precision, directory_.path()); });
  }

  std::optional<Contender> memory_roof(const Traffic& traffic) override {
    return contender_of("bandwidth",
                        [&] { return make_memory_roof(toolchain_, traffic, directory_.path()); });
  }

  PeerReport peers(const PeerProblem& problem) override {
    PeerOptions options;
    options.problem = problem;
    return discover_peers(toolchain_, options);
  }

  std::vector<Contender> plain_code(const Candidate& as_written) override {
    std::vector<Contender> out;
    // The same freedom for each: this very CPU, sums in any order.
    for (const OtherCompiler& c : other_compilers()) {
      if (!c.is_plain()) continue;  // its users leave the width to it, and have this CPU anyway
      TargetToolchain own = toolchain_;
      own.cc = c.cc;
      own.flags = {"-O3", "-march=native", "-ffast-math"};
      // No wider than ours; narrower is its own choice.
      if (toolchain_.vector_bytes > 0 && half_width(toolchain_.flags).empty())
        own.flags.push_back("-mprefer-vector-width=" + std::to_string(8 * toolchain_.vector_bytes));
      own.flags.insert(own.flags.end(), c.flags.begin(), c.flags.end());
      own.threads = 1;
      Contender contender;
      contender.name = "c (" + c.name + ")";
      contender.candidate = as_written;
      contender.toolchain = std::move(own);
      out.push_back(std::move(contender));
    }
    return out;
  }

 private:
  TargetToolchain toolchain_;
  NativeOptions options_;
  WorkDirectory directory_;
};

}  // namespace

std::unique_ptr<Runner> native_runner(TargetToolchain toolchain, NativeOptions options) {
  return std::make_unique<NativeRunner>(std::move(toolchain), std::move(options));
}

std::unique_ptr<Arena> native_arena(TargetToolchain toolchain, NativeOptions options) {
  return std::make_unique<NativeArena>(std::move(toolchain), std::move(options));
}

}  // namespace exotune
