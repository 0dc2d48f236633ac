#include "runners/runner.h"

#include "core/base/diagnostic.h"

namespace exotune {

namespace {
constexpr const char* kStatusNames[] = {
    "ok", "compile_error", "crash", "timeout", "out_of_bounds", "mismatch", "poisoned", "skipped"};
constexpr const char* kUnitNames[] = {"seconds", "model cycles", "instret", "rtl cycles",
                                      "fpga cycles"};
}  // namespace

const char* status_name(TrialStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

TrialStatus status_from_name(const std::string& name) {
  for (size_t k = 0; k < std::size(kStatusNames); ++k)
    if (name == kStatusNames[k]) return static_cast<TrialStatus>(k);
  throw InputError({}, "no trial status is called '" + name + "'");
}

const char* unit_name(SampleUnit unit) { return kUnitNames[static_cast<size_t>(unit)]; }

Evaluation Runner::evaluate(const Candidate&, const std::vector<std::vector<double>>&, double) {
  return {{}, "the runner '" + name() + "' evaluates nothing"};
}

std::vector<TrialResult> FakeRunner::run(std::span<const Candidate> candidates, const TestCase&,
                                         const RunOptions& options) {
  std::vector<TrialResult> results;
  for (const Candidate& c : candidates) {
    TrialResult r;
    const bool runs = !options.interrupted || !options.interrupted();
    if (runs) r = answer_(c);
    r.candidate_id = c.id;
    results.push_back(std::move(r));
    if (runs && options.finished) options.finished(results.size() - 1, results.back());
  }
  return results;
}

}  // namespace exotune
