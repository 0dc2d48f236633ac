#include "search/dp/session.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/hashing.h"
#include "search/dp/replay.h"
#include "search/steps/builders.h"

namespace exotune {
namespace {

// Between two of these a run that is killed loses what it solved since.
constexpr double kSecondsBetweenSaves = 5;
// More threads wait for each other more than they help.
constexpr int kMostSolvers = 8;

DpMachine machine_for(const Target& target, const DpRequest& request) {
  DpMachine machine = machine_of(target, request.figures, request.threads);
  for (const std::string& name : request.avoided) {
    std::erase_if(machine.kernels, [&](const DpKernel& k) {
      return k.name == name || (k.instruction && k.instruction->name == name);
    });
    machine.hash = content_hash(machine.hash + " without " + name);
  }
  return machine;
}

int64_t memory_limit(const DpRequest& request) {
  if (request.memory_bytes > 0) return request.memory_bytes;
  return int64_t{sysconf(_SC_PHYS_PAGES)} / 4 * sysconf(_SC_PAGESIZE);
}

}  // namespace

ValueList instructions_of(const DpRequest& request, const Target& target) {
  return request.instructions.empty() ? instruction_values(target) : request.instructions;
}

std::string file_of(const DpRequest& request) {
  if (request.memo_file.empty()) return "";
  std::string names = request.figures.identity();
  if (request.threads > 1) names += " threads " + std::to_string(request.threads);
  if (request.avoided.empty() && names.empty()) return request.memo_file;
  for (const std::string& name : request.avoided) names += " " + name;
  return request.memo_file + "-" + content_hash(names).substr(0, 8);
}

DpSession::DpSession(const Target& target, const DpRequest& request)
    : machine_(machine_for(target, request)),
      target_(target),
      request_(request),
      instructions_(instructions_of(request, target)),
      budget_(request.specs, memory_limit(request)) {
  const DpRules rules = search_rules();
  if (!request.memo_file.empty()) {
    const std::string file = file_of(request);
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    stored_ = std::make_unique<StoredMemo>(file, memo_identity(machine_, rules, request.plans),
                                           kinds_, layouts_);
  }
  space_ = std::make_unique<ActionSpace>(machine_, rules, kinds_, layouts_);
  SolverOptions options;
  options.k = request.plans;
  options.threads = std::clamp(request.jobs, 1, kMostSolvers);
  // The best plan, and those that are found on the way to it, which need not be the next best:
  // eight of them take some 6 % more Specs than one. Deviations finds what differs from the best.
  options.near_plans = true;
  options.interrupted = [this] { return slice_.over(); };
  options.budget = &budget_;
  solver_ = std::make_unique<SpecSolver>(*space_, memo(), options);
}

DpOutcome DpSession::stopped_by() const {
  if (request_.deadline.interrupted()) return DpOutcome::kInterrupted;
  if (request_.deadline.expired()) return DpOutcome::kOutOfTime;
  if (budget_.out_of_memory()) return DpOutcome::kOutOfMemory;
  return budget_.gave_up() ? DpOutcome::kGaveUp : DpOutcome::kOutOfSpecs;
}

std::optional<MemoValue> DpSession::solve(const Spec& spec) {
  const auto spent = [&] { return budget_.out_of_specs() || budget_.out_of_memory(); };
  std::optional<MemoValue> value;
  while (!value && !request_.deadline.over() && !spent()) {
    slice_ = stored_ ? request_.deadline.within(kSecondsBetweenSaves) : request_.deadline;
    value = solver_->solve(spec);
    save();
  }
  // Plans are read out of what is known; they ask for little more.
  slice_ = Deadline();
  return value;
}

Steps DpSession::steps(const PlanNode& plan, const LiftedNest& nest) {
  return steps_of(plan, *space_, nest, target_, instructions_);
}

}  // namespace exotune
