#include "cli/compiled_test.h"

#include "core/base/diagnostic.h"
#include "core/ir/callees.h"
#include "runners/arena.h"
#include "runners/threads.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

constexpr int kThreads = 4;

bool has_parallel_loop(const Proc& p) {
  bool found = false;
  const auto look = [&](const StmtPtr& s) {
    const For* f = s->as<For>();
    found = found || (f && f->mode == LoopMode::kPar);
  };
  for_each_stmt(p.body, look);
  for (const ProcPtr& callee : procs_called(p))
    if (!callee->instr) for_each_stmt(callee->body, look);
  return found;
}

// The first target with the headers of all.
Target with_all_headers(const std::vector<TargetPtr>& targets) {
  Target target = *targets.front();
  for (size_t k = 1; k < targets.size(); ++k)
    for (const std::string& header : targets[k]->compiler.headers)
      target.compiler.headers.push_back(header);
  return target;
}

Sizes sizes_of(const Proc& p, const Sizes& given) {
  Sizes own;
  for (const Arg& arg : p.args)
    if (const auto it = given.find(arg.name.name()); it != given.end()) own.insert(*it);
  return own;
}

// Runs `p` at `sizes`; false when later sizes need not be tried.
bool run_at(const ProcPtr& p, const Target& target, Runner& runner, const Sizes& sizes,
            uint64_t seed, const Compilation& how, CompiledResult& result) {
  ProblemOptions options;
  options.seed = seed;
  const TuningProblem problem = make_problem(p, sizes_of(*p, sizes), options);
  const Candidate candidate = compiled_as(make_candidate(p, target, problem), how);
  RunOptions run;
  run.measure = false;
  run.timeout_seconds = 20;
  const TrialResult trial = runner.run({&candidate, 1}, problem.test, run).front();
  if (trial.ok()) {
    ++result.run;
    return true;
  }
  const std::string at = sizes.empty() ? "" : " at " + str(sizes);
  if (trial.status == TrialStatus::kTimeout || trial.status == TrialStatus::kSkipped)
    result.not_run = "its C was stopped" + at + ": " + trial.cause;
  else
    result.difference =
        std::string("its C: ") + status_name(trial.status) + at + ": " + trial.cause;
  return false;
}

}  // namespace

CompiledResult compiled_test(Workspace& workspace, const ProcPtr& p,
                             const std::vector<TargetPtr>& targets, const std::vector<Sizes>& sizes,
                             uint64_t seed, const Compilation& how) {
  CompiledResult result;
  result.parallel = has_parallel_loop(*p);
  try {
    const Target target = with_all_headers(targets);
    if (!target.runner.is_this_machine())
      throw Error(
          Diagnostic{{}, "code of " + target.name + " does not run on this machine", {}, {}},
          ExitCode::kUnavailable);
    workspace.require_runnable(target);
    const TargetToolchain toolchain =
        with_threads(toolchain_of(target), result.parallel ? kThreads : 1);
    const std::unique_ptr<Runner> runner = native_runner(toolchain);
    result.compiler = how.is_usual() ? toolchain.describe() : text_of(how);
    for (const Sizes& size : sizes)
      if (!run_at(p, target, *runner, size, seed, how, result)) break;
  } catch (const Error& e) {  // no compiler, another machine's code, no C for this proc
    result.not_run = e.diagnostic().message.str();
  }
  return result;
}

}  // namespace exotune::cli
