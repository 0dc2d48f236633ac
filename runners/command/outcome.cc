#include "runners/command/outcome.h"

#include <algorithm>

#include "runners/statistics.h"

namespace exotune {

namespace {

std::string trap_text(const ContractOutput& output) {
  static const char* const kNames[] = {
      "misaligned jump", "jump out of the code",     "illegal instruction", "breakpoint",
      "misaligned load", "load from outside memory", "misaligned store",    "store outside memory"};
  // Beyond the architecture's, of programs on an operating system.
  if (output.trap_cause == 24) return "access outside memory 0x" + output.trap_value;
  if (output.trap_cause == 25) return "stack overflow at 0x" + output.trap_value;
  const std::string what = output.trap_cause < std::size(kNames)
                               ? kNames[output.trap_cause]
                               : "trap " + std::to_string(output.trap_cause);
  return what + " 0x" + output.trap_value + " (pc 0x" + output.trap_pc + ")";
}

std::string found_text(const Candidate& candidate, const ContractOutput& output) {
  const std::string name = output.argument < candidate.args.size()
                               ? candidate.args[output.argument].name
                               : "argument " + std::to_string(output.argument);
  const std::string where = name + ", byte " + std::to_string(output.at);
  if (output.what == "guard") return "memory beside " + name + " was written";
  if (output.what == "input") return where + " was changed, though it is only read";
  if (output.what == "poison") return where + " was never written";
  return where + ": 0x" + output.got + " instead of 0x" + output.want;
}

TrialStatus found_status(const std::string& what) {
  if (what == "guard") return TrialStatus::kOutOfBounds;
  return what == "poison" ? TrialStatus::kPoisoned : TrialStatus::kMismatch;
}

TrialResult failed(TrialResult result, TrialStatus status, const std::string& cause) {
  result.status = status;
  result.cause = cause;
  return result;
}

}  // namespace

TrialResult judge_output(const Candidate& candidate, const ContractOutput& output,
                         const std::string& elsewhere) {
  TrialResult result;
  result.candidate_id = candidate.id;
  if (output.trapped) return failed(result, TrialStatus::kCrash, trap_text(output));
  if (!output.what.empty())
    return failed(result, found_status(output.what), found_text(candidate, output));
  if (!elsewhere.empty()) return failed(result, TrialStatus::kCrash, elsewhere);
  if (!output.complete || output.runs.empty())
    return failed(
        result, TrialStatus::kCrash,
        output.runs.empty() ? "the run printed no measurement" : "the run's output is cut off");
  if (!output.all_ok())
    return failed(result, TrialStatus::kMismatch, "the program found its outputs wrong");
  for (const ContractRun& run : output.runs) {
    if (run.cycles == 0)
      return failed(result, TrialStatus::kCrash,
                    "nothing counted the run's cycles or instructions");
    if (run.kernel != candidate.id)
      return failed(result, TrialStatus::kCrash, "the output is of another kernel, " + run.kernel);
    result.samples.push_back(static_cast<double>(run.cycles));
  }
  result.status = TrialStatus::kOk;
  result.median = median_of(result.samples);
  result.minimum = *std::min_element(result.samples.begin(), result.samples.end());
  result.calls_per_sample = 1;
  return result;
}

}  // namespace exotune
