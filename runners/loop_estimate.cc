#include "runners/loop_estimate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/base/deadline.h"
#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

// Debian has it under the version's name too.
std::string analyzer() {
  for (const char* name : {"llvm-mca", "llvm-mca-14"})
    if (!find_program(name).empty()) return name;
  return "";
}

// An llvm older than the CPU has no model of it, only a generic one of a core long past: then a
// model of a CPU of our days that knows the instructions, and the generic one last.
constexpr const char* kModels[] = {"native", "znver3", "icelake-server", "neoverse-n1", "generic"};

std::string text_at(const Json* object, const char* name) {
  const Json* value = object == nullptr ? nullptr : object->find(name);
  return value == nullptr || value->text() == nullptr ? "" : *value->text();
}

double number_at(const Json* object, const char* name) {
  const Json* value = object == nullptr ? nullptr : object->find(name);
  return value == nullptr ? 0 : value->number().value_or(0);
}

// Cycles of one iteration, by region; nothing when another model stood in for `model`.
std::map<std::string, double> regions_of(const std::string& text, const std::string& model) {
  std::map<std::string, double> out;
  const std::optional<Json> report = Json::parse(text);
  const Json* regions = report ? report->find("CodeRegions") : nullptr;
  if (regions == nullptr || regions->list() == nullptr) return out;
  const std::string used = text_at(report->find("TargetInfo"), "CPUName");
  if (used == "generic" && model != used) return out;
  for (const Json& region : *regions->list()) {
    const Json* summary = region.find("SummaryView");
    const double iterations = number_at(summary, "Iterations");
    if (iterations > 0)
      out[text_at(&region, "Name")] = number_at(summary, "TotalCycles") / iterations;
  }
  return out;
}

class Estimator {
 public:
  Estimator(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain)
      : units_(units), toolchain_(toolchain), program_(analyzer()), timings_(units.size()) {
    for (size_t u = 0; u < units.size(); ++u) timings_[u].resize(units[u].functions.size());
  }

  LoopTimings run() {
    std::vector<size_t> all(units_.size());
    for (size_t u = 0; u < all.size(); ++u) all[u] = u;
    if (!all.empty()) estimate(all);
    return std::move(timings_);
  }

 private:
  // What the compiler or every model refuses is found by halves.
  void estimate(const std::vector<size_t>& members) {
    std::vector<LoopUnit> units;
    for (const size_t u : members) units.push_back(units_[u]);
    std::string cause;
    const std::map<std::string, double> cycles = ask(units, cause);
    if (cycles.empty() && members.size() > 1 && !DeadlineScope::current().over()) {
      const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
      estimate({members.begin(), half});
      estimate({half, members.end()});
      return;
    }
    for (const size_t u : members)
      for (size_t f = 0; f < timings_[u].size(); ++f) {
        const TimedFunction& function = units_[u].functions[f];
        const auto at = cycles.find(function.name);
        if (at != cycles.end())
          timings_[u][f].cycles = at->second / function.per_step;
        else
          timings_[u][f].cause = cause.empty() ? "no model knows it" : cause;
      }
  }

  std::map<std::string, double> ask(const std::vector<LoopUnit>& units, std::string& cause) const {
    namespace fs = std::filesystem;
    if (program_.empty()) {
      cause = "llvm-mca is not installed";
      return {};
    }
    const std::string source = fs::path(directory_.path()) / "loops.c";
    const std::string assembly = fs::path(directory_.path()) / "loops.s";
    std::ofstream(source) << text_of(units, toolchain_);
    std::vector<std::string> compile = {toolchain_.cc};
    compile.insert(compile.end(), toolchain_.flags.begin(), toolchain_.flags.end());
    for (const char* flag : {"-w", "-S", "-fno-unroll-loops", "-o"}) compile.push_back(flag);
    compile.push_back(assembly);
    compile.push_back(source);
    if (!run_command(compile, {"", 300, {}, directory_.path()}).ok()) {
      cause = "does not compile";
      return {};
    }
    for (const char* model : kModels) {
      const CommandResult run =
          run_command({program_, std::string("-mcpu=") + model, "-json", assembly}, {"", 300, {}});
      if (!run.ok()) continue;
      if (auto cycles = regions_of(run.out, model); !cycles.empty()) return cycles;
    }
    return {};
  }

  const std::vector<LoopUnit>& units_;
  const TargetToolchain& toolchain_;
  const std::string program_;
  const WorkDirectory directory_;
  LoopTimings timings_;
};

}  // namespace

bool can_estimate() { return !analyzer().empty(); }

LoopTimings estimate_loops(const std::vector<LoopUnit>& units, const TargetToolchain& toolchain) {
  return Estimator(units, toolchain).run();
}

}  // namespace exotune
