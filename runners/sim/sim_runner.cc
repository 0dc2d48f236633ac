#include "runners/sim/sim_runner.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/diagnostic.h"
#include "runners/command/outcome.h"
#include "runners/command/program.h"
#include "runners/sim/simulation.h"
#include "runners/work_directory.h"

namespace exotune {

namespace {

// A time limit is one of instructions here, so that the answer does not depend on the host.
constexpr double kInstructionsPerSecond = 1e9;

}  // namespace

struct SimRunner::Impl {
  Impl(TargetToolchain toolchain, SimulatedMachine m, SimRunnerOptions o)
      : machine(std::move(m)), options(std::move(o)), directory(options.work_directory) {
    simulated.isa = sim::Isa::parse(machine.isa);
    sim::Figures figures(machine.latency, machine.parameters);
    simulated.timing = sim::Timing::read(figures);
    sim::make_device(machine.extension, figures, options.devices);
    figures.refuse_unread();
    builder.emplace(std::move(toolchain), directory.path(), options.compile_timeout_seconds);
  }

  sim::DevicePtr device() const {
    sim::Figures figures(machine.latency, machine.parameters);
    return sim::make_device(machine.extension, figures, options.devices);
  }

  TrialResult judge(const Candidate& candidate, const RunOptions& run) {
    const BuiltProgram program = builder->build(candidate);
    if (!program.ok()) return unbuilt(candidate, program, run);
    sim::SimulationLimits limits;
    limits.instructions =
        static_cast<uint64_t>(std::max(1e-3, run.timeout_seconds) * kInstructionsPerSecond);
    limits.seconds = 30 * std::max(1.0, run.timeout_seconds);  // in case the host hardly runs
    limits.interrupted = run.interrupted;
    const sim::DevicePtr unit = device();
    return judged(candidate,
                  sim::simulate(sim::ElfImage::read(program.elf), simulated, unit.get(), limits));
  }

  TrialResult judged(const Candidate& candidate, const sim::SimulationResult& s) {
    using End = sim::SimulationResult::End;
    TrialResult result;
    result.candidate_id = candidate.id;
    result.cause = s.cause;
    switch (s.end) {
      case End::kInstructionLimit:
      case End::kTimeLimit:
        result.status = TrialStatus::kTimeout;
        return result;
      case End::kInterrupted:
        result.status = TrialStatus::kSkipped;
        return result;
      case End::kTrap:
      case End::kDeviceFault:
        result.status = TrialStatus::kCrash;
        return result;
      case End::kExit:
        break;
    }
    ContractOutput output = read_contract(s.console);
    output.trapped = output.trapped && s.cause.empty();  // the simulator knows better
    result = judge_output(candidate, output, s.cause);
    if (result.ok() && s.readings.size() >= 2) {
      const std::lock_guard lock(mutex);
      accounts[candidate.id] = s.readings[1] - s.readings[0];
    }
    return result;
  }

  SimulatedMachine machine;
  SimRunnerOptions options;
  WorkDirectory directory;
  sim::SimulationOptions simulated;
  std::optional<ProgramBuilder> builder;
  std::mutex mutex;
  std::map<std::string, sim::Account> accounts;
};

SimRunner::SimRunner(TargetToolchain toolchain, SimulatedMachine machine, SimRunnerOptions options)
    : impl_(std::make_unique<Impl>(std::move(toolchain), std::move(machine), std::move(options))) {}

SimRunner::~SimRunner() = default;

std::vector<TrialResult> SimRunner::run(std::span<const Candidate> candidates, const TestCase& test,
                                        const RunOptions& options) {
  std::vector<TrialResult> results(candidates.size());
  for (size_t k = 0; k < candidates.size(); ++k) {
    results[k].candidate_id = candidates[k].id;
    results[k].cause = "interrupted";
  }
  if (candidates.empty()) return results;
  impl_->builder->prepare(candidates[0].args, test);
  std::atomic<size_t> next = 0;
  std::mutex telling;  // who is told need not expect several at once
  const auto work = [&] {
    for (size_t k; (k = next++) < candidates.size();) {
      if (options.interrupted && options.interrupted()) return;
      results[k] = impl_->judge(candidates[k], options);
      const std::scoped_lock one(telling);
      if (options.finished) options.finished(k, results[k]);
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < std::min<int>(impl_->options.jobs, static_cast<int>(candidates.size())); ++t)
    others.emplace_back(work);
  work();
  others.clear();
  return results;
}

std::vector<std::pair<std::string, double>> SimRunner::spent_on(
    const std::string& candidate_id) const {
  const sim::Account* spent = account(candidate_id);
  if (spent == nullptr) return {};
  const auto count = [](uint64_t n) { return static_cast<double>(n); };
  std::vector<std::pair<std::string, double>> out = {
      {"instructions", count(spent->instructions)},
      {"waiting for loads", count(spent->waited_for_loads)},
      {"waiting for the device", count(spent->waited_for_device)}};
  for (const sim::Event& event : spent->events)
    if (event.count > 0) out.emplace_back(event.name, count(event.count));
  return out;
}

const sim::Account* SimRunner::account(const std::string& candidate_id) const {
  const auto it = impl_->accounts.find(candidate_id);
  return it == impl_->accounts.end() ? nullptr : &it->second;
}

}  // namespace exotune
