#pragma once
// SimRunner: candidates cross-compiled into bare-metal programs and run on the embedded simulator.
// Samples are cycles of the model: deterministic, and never compared with those of other runners.
#include <map>
#include <memory>
#include <string>

#include "runners/runner.h"
#include "runners/sim/devices.h"
#include "runners/sim/timing.h"
#include "runners/toolchain.h"

namespace exotune {

/// What a target's text says about the machine that is simulated.
struct SimulatedMachine {
  std::string isa;        // [runner] isa: "rv32imc"
  std::string extension;  // [runner] extension: a device, or ""
  std::map<std::string, double> latency, parameters;
};

struct SimRunnerOptions {
  std::string work_directory;  // "" = a fresh folder under TMPDIR, removed at the end
  int jobs = 1;                // candidates at once
  double compile_timeout_seconds = 60;
  std::map<std::string, sim::DeviceMaker> devices = sim::shipped_devices();
};

/// Used by one thread at a time.
class SimRunner : public Runner {
 public:
  /// Throws Error(kUnavailable) without a cross compiler, InputError for a machine that the
  /// simulator does not know or a figure that nothing reads.
  SimRunner(TargetToolchain toolchain, SimulatedMachine machine, SimRunnerOptions options = {});
  ~SimRunner() override;
  std::string name() const override { return "sim"; }
  SampleUnit unit() const override { return SampleUnit::kModelCycles; }
  /// `timeout_seconds` is taken as simulated instructions, 10^9 each second, so that what is too
  /// slow does not depend on the host.
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase& test,
                               const RunOptions& options) override;
  /// Instructions, waiting for loads and for the device, and the device's own events.
  std::vector<std::pair<std::string, double>> spent_on(
      const std::string& candidate_id) const override;
  /// What the cycles of the last good run of a candidate went into; nothing when there was none.
  const sim::Account* account(const std::string& candidate_id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace exotune
