#include "runners/shootout_entry.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "core/base/deadline.h"
#include "runners/compile_cache.h"
#include "runners/loaded_candidate.h"
#include "runners/peer_library.h"

namespace exotune {

namespace {

constexpr double kShareOfCompiling = 0.5;  // of the time that is left, for the peers' C
constexpr double kShareOfRound = 2;        // times what its calls take: their data are made anew

Binder load_roof(const Roof& roof, std::string* error) {
  void* library = dlopen(roof.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto run =
      library ? reinterpret_cast<double (*)(int64_t, double)>(dlsym(library, "roof")) : nullptr;
  if (!run) {
    *error = "no roof";
    return {};
  }
  return [run, steps = roof.steps](const std::vector<void**>&) -> BoundCall {
    return [run, steps](int64_t calls) {
      volatile double sink = 0;
      for (int64_t i = 0; i < calls; ++i) sink = run(steps, 1.5);
      (void)sink;
    };
  };
}

// In its own child: does it load and compute the right thing?
Finding check_entry(Entry& entry, const PreparedCase& prepared, double timeout) {
  // Reading, or a roof, computes nothing that could be wrong.
  if (entry.contender->roof) return {};
  if (entry.contender->peer && entry.contender->peer->problem.op == BlasOp::kRead) return {};
  Judged judged = judge_in_child(prepared, timeout, [&](std::string* error) {
    return load_entry(entry, prepared.specs, error);
  });
  entry.call_seconds = judged.call_seconds;
  return std::move(judged.finding);
}

/// The compiled form of each contender's candidate; those of others are left empty. Candidates go
/// through one compiler run together, or come from those that are compiled already; what has a
/// toolchain of its own is a file of its own, made meanwhile, as many at once as `native.jobs`
/// allows, and stopped when half of the time that is left is over: a comparison that ends without a
/// round helps nobody.
std::vector<CompiledCandidate> compile_all(const TargetToolchain& toolchain,
                                           std::span<const Contender> contenders,
                                           const NativeOptions& native,
                                           const std::string& directory) {
  std::vector<CompiledCandidate> out(contenders.size());
  std::vector<Candidate> together;
  std::vector<size_t> alone;
  for (size_t k = 0; k < contenders.size(); ++k)
    if (contenders[k].competes())
      together.push_back(*contenders[k].candidate);
    else if (contenders[k].candidate)
      alone.push_back(k);
  const Deadline whole = DeadlineScope::current(),
                 half = whole.within(kShareOfCompiling * whole.left());
  std::atomic<size_t> next = 0;
  const auto compile_own = [&] {
    const DeadlineScope scope(half);  // others' threads have none
    for (size_t n; (n = next++) < alone.size();) {
      const Contender& c = contenders[alone[n]];
      const std::string own = directory + "/peer" + std::to_string(alone[n]);
      std::filesystem::create_directories(own);
      out[alone[n]] = compile_batch(*c.toolchain, std::span(&*c.candidate, 1), own,
                                    native.compile_timeout_seconds)
                          .front();
    }
  };
  std::vector<std::jthread> others;
  for (size_t t = 1; t < std::min<size_t>(static_cast<size_t>(native.jobs), alone.size() + 1); ++t)
    others.emplace_back(compile_own);
  const std::vector<CompiledCandidate> units =
      native.compiler
          ? native.compiler->compile(together)
          : compile_batch(toolchain, together, directory, native.compile_timeout_seconds);
  compile_own();
  others.clear();
  size_t unit = 0;
  for (size_t k = 0; k < contenders.size(); ++k)
    if (contenders[k].competes()) out[k] = units[unit++];
  return out;
}

}  // namespace

Binder load_entry(const Entry& entry, const std::vector<ArgSpec>& args, std::string* error) {
  if (entry.contender->roof) return load_roof(*entry.contender->roof, error);
  return entry.contender->peer ? load_peer(*entry.contender->peer, args, error)
                               : load_candidate(entry.unit, error);
}

std::vector<Entry> admit(const TargetToolchain& toolchain, std::span<const Contender> contenders,
                         const PreparedCase& prepared, const ShootoutOptions& options,
                         const NativeOptions& native, const std::string& directory,
                         std::vector<ContenderResult>& results) {
  const std::vector<CompiledCandidate> units =
      compile_all(toolchain, contenders, native, directory);
  std::vector<Entry> entries;
  double round = 0;  // seconds that one call of each takes
  for (size_t k = 0; k < contenders.size(); ++k) {
    const Contender& c = contenders[k];
    Entry entry{&c, units[k], 0};
    // A round must fit in what is left: those who come first are worth more than all in none.
    const double for_check = DeadlineScope::current().left() - kShareOfRound * round;
    if (!entries.empty() && for_check <= 0) {
      results[k].cause = "the time was over";
      continue;
    }
    if (c.candidate && !entry.unit.ok()) {
      results[k].status = entry.unit.stopped ? TrialStatus::kSkipped : TrialStatus::kCompileError;
      results[k].cause = entry.unit.error;
      continue;
    }
    const Finding found =
        check_entry(entry, prepared,
                    entries.empty() ? options.check_timeout_seconds
                                    : std::min(options.check_timeout_seconds, for_check));
    results[k].status = found.status;
    results[k].cause = found.cause;
    // What is short is called several times to find out how short, and once before each sample.
    round += (entry.call_seconds > kLongestCall ? 1 : 4) * entry.call_seconds;
    if (found.ok()) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace exotune
