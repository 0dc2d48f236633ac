// exo-tune verify: proofs of a script and a differential test against the unscheduled proc; or a
// differential test of two procs. The interpreter compares the two; then the C that is emitted runs
// against the interpreter, its parallel loops on four threads. No timing.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/compiled_test.h"
#include "cli/differential.h"
#include "cli/options.h"
#include "cli/replay.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"

namespace exotune::cli {
namespace {

struct VerifyOptions {
  std::string first, second, target, proofs;
  SizeOption size;
  int rounds = 12;
  uint64_t seed = 1;
  bool verbose = false;
};

std::vector<Sizes> sizes_to_test(const VerifyOptions& options, const Proc& proc,
                                 const Sizes& fixed) {
  if (options.size.given()) return options.size.values(control_names(proc));
  std::vector<Sizes> sizes = small_sizes(proc, fixed, options.rounds, options.seed);
  if (sizes.empty())
    throw InputError(proc.where, "no small sizes satisfy the asserts of '" + proc.name + "'",
                     "give some with --size");
  return sizes;
}

[[noreturn]] void differ(const Proc& before, const Proc& after, const std::string& how) {
  throw Error(Diagnostic{{},
                         "'" + after.name + "' does not compute what '" + before.name + "' does",
                         {how},
                         "exo-tune schedule prints both"},
              ExitCode::kMismatch);
}

/// "tested" is said only of C that ran.
void print_tested(const CompiledResult& c, const Proc& before, size_t sizes) {
  const std::string equal =
      std::to_string(sizes) + " sizes, equal to '" + before.name + "' in exact arithmetic";
  if (c.not_run.empty()) {
    std::printf("tested   %s; its C too%s\n", equal.c_str(),
                c.parallel ? ", parallel loops on several threads" : "");
    return;
  }
  std::printf("computed %s, by the interpreter\n", equal.c_str());
  std::printf("not run  %s%s\n",
              c.parallel ? "parallel loops and all other C: " : "the C: ", c.not_run.c_str());
}

ExitCode compare(Workspace& workspace, const VerifyOptions& options, const Proc& before,
                 const ProcPtr& after, const std::vector<TargetPtr>& targets, const Sizes& fixed) {
  const std::vector<Sizes> sizes = sizes_to_test(options, before, fixed);
  const DifferentialResult result = differential_test(before, *after, sizes, options.seed);
  if (!result.difference.empty()) differ(before, *after, result.difference);
  const CompiledResult c = compiled_test(workspace, after, targets, sizes, options.seed);
  if (!c.difference.empty()) differ(before, *after, c.difference);
  if (options.verbose && !c.compiler.empty()) std::printf("compiler %s\n", c.compiler.c_str());
  print_tested(c, before, result.sizes.size());
  return ExitCode::kOk;
}

ExitCode verify(const Session& session, const VerifyOptions& options) {
  set_proofs_directory(options.proofs);
  Workspace workspace(session);
  const bool against_proc = options.second.find(".exo") != std::string::npos;
  const std::string script = against_proc ? "" : read_text_file(options.second);
  const KernelInput input = against_proc ? workspace.kernel(options.first)
                                         : workspace.kernel(options.first, script, options.second);
  options.size.values(control_names(*input.proc));  // refused before anything is printed
  if (against_proc) {
    const KernelInput other = workspace.kernel(options.second);
    return compare(workspace, options, *input.proc, other.proc,
                   script_names(workspace, other, options.target).targets, {});
  }

  const Replayed replayed = replay(workspace, input, script, options.second, options.target);
  std::printf("proved   %zu steps%s\n", replayed.steps,
              replayed.reassociates ? ", modulo the order of floating-point sums" : "");
  if (options.verbose) std::printf("solver   %s\n", solver_report().c_str());
  return compare(workspace, options, *input.proc, replayed.proc, replayed.targets, replayed.fixed);
}

}  // namespace

void add_verify_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("first", options->first, "a built-in kernel, FILE.exo or FILE.exo:proc")
      ->required();
  app.add_option("second", options->second, "FILE.sched, or another FILE.exo[:proc]")->required();
  app.add_option("--target", options->target, "whose instructions the script may name");
  options->size.add(app);
  app.add_option("--rounds", options->rounds, "how many small sizes to test (default 12)");
  app.add_option("--seed", options->seed, "of the sizes and values");
  app.add_option("--proofs", options->proofs, "write each solver query here as SMT-LIB 2");
  app.add_flag("-v", options->verbose, "how many questions the proofs took, by tier, and the time");
  app.callback([&session, options] {
    session.action = [&session, options] { return verify(session, *options); };
  });
}

}  // namespace exotune::cli
