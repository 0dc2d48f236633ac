// exo-tune verify: proofs of a script and a differential test against the unscheduled proc; or a
// differential test of two procs. The interpreter compares the two; then the C that is emitted runs
// against the interpreter, its parallel loops on four threads. No timing.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/compiled_test.h"
#include "cli/differential.h"
#include "cli/options.h"
#include "cli/record.h"
#include "cli/replay.h"
#include "cli/session.h"
#include "cli/text_file.h"
#include "cli/trust.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "cost/work.h"
#include "search/test_data.h"

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
  // Two of one name are told apart by where they stand.
  const auto said = [&](const Proc& p) {
    const bool two = before.name == after.name && before.where.str() != after.where.str();
    return "'" + p.name + "'" + (two && p.where.known() ? " of " + p.where.str() : "");
  };
  throw Error(Diagnostic{{},
                         said(after) + " does not compute what " + said(before) + " does",
                         {how},
                         "exo-tune schedule prints both"},
              ExitCode::kMismatch);
}

std::string counted(size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// "tested" is said only of C that ran.
void print_tested(const CompiledResult& c, const Proc& before, size_t sizes) {
  const std::string equal =
      counted(sizes, "size") + ", equal to '" + before.name + "' in exact arithmetic";
  if (c.not_run.empty()) {
    std::printf("tested   %s; its C too%s\n", equal.c_str(),
                c.parallel ? ", parallel loops on several threads" : "");
    return;
  }
  std::printf("computed %s, by the interpreter\n", equal.c_str());
  std::printf("not run  %s%s\n",
              c.parallel ? "parallel loops and all other C: " : "the C: ", c.not_run.c_str());
}

/// Of its arguments and of what it keeps in between.
ScalarType coarsest_float(const Proc& p) {
  ScalarType coarsest = narrowest_inside(p);
  for (const Arg& arg : p.args)
    if (is_float(arg.type.scalar) && bytes_of(arg.type.scalar) < bytes_of(coarsest))
      coarsest = arg.type.scalar;
  return coarsest;
}

/// Equal over the reals is all that is promised; digits that were there and are not are worth a
/// word.
void say_if_coarser(const Proc& before, const Proc& after) {
  const ScalarType was = coarsest_float(before), is = coarsest_float(after);
  if (bytes_of(is) < bytes_of(was))
    std::printf("rounds   '%s' has results in %s, '%s' none narrower than %s\n", after.name.c_str(),
                name_of(is), before.name.c_str(), name_of(was));
}

/// The interpreter takes both procedures' operations one by one, exactly.
void say_if_long(const Proc& before, const std::vector<Sizes>& sizes) {
  constexpr double kLong = 1e9;  // operations: half a minute
  const SizeFormula operations = work_of(before).operations;
  if (operations.text().empty()) return;
  double all = 0;
  for (const Sizes& s : sizes) all += operations.evaluate(s);
  if (all > kLong)
    std::fprintf(
        stderr, "note: the interpreter takes %.2g operations, twice: this may take minutes\n", all);
}

ExitCode compare(Workspace& workspace, const VerifyOptions& options, const Proc& before,
                 const ProcPtr& after, const std::vector<TargetPtr>& targets, const Sizes& fixed,
                 const Compilation& how = {}) {
  const std::vector<Sizes> sizes = sizes_to_test(options, before, fixed);
  say_if_long(before, sizes);
  const DifferentialResult result = differential_test(before, *after, sizes, options.seed);
  if (!result.difference.empty()) differ(before, *after, result.difference);
  const CompiledResult c = compiled_test(workspace, after, targets, sizes, options.seed, how);
  if (!c.difference.empty()) differ(before, *after, c.difference);
  if (options.verbose && !c.compiler.empty()) std::printf("compiler %s\n", c.compiler.c_str());
  print_tested(c, before, result.sizes.size());
  say_if_coarser(before, *after);
  return ExitCode::kOk;
}

// Every step of the script is proved anew, then the whole compared.
ExitCode verify_script(Workspace& workspace, const VerifyOptions& options,
                       const std::string& kernel, const std::string& script,
                       const std::string& script_name, const std::string& target) {
  const KernelInput input = workspace.kernel(kernel, script, script_name);
  options.size.values(control_names(*input.proc));  // refused before anything is printed
  const Replayed replayed = replay(workspace, input, script, script_name, target);
  std::printf("proved   %s%s\n", counted(replayed.steps, "step").c_str(),
              replayed.reassociates ? ", modulo the order of floating-point sums" : "");
  if (options.verbose) std::printf("solver   %s\n", solver_report().c_str());
  return compare(workspace, options, *input.proc, replayed.proc, replayed.targets, replayed.fixed,
                 compilation_asked(script));
}

ExitCode verify(const Session& session, const VerifyOptions& options) {
  set_proofs_directory(options.proofs);
  Workspace workspace(session);
  if (options.second.empty()) {
    if (!options.first.ends_with(".json"))
      throw InputError({},
                       "exo-tune verify: what is '" + options.first + "' to be verified against?",
                       "add FILE.sched or another FILE.exo, or name a .json that kernel wrote");
    const Record record = find_record(workspace, options.first, "", options.target, {});
    const std::string target = options.target.empty() ? record.target : options.target;
    // Its C runs: it must bring none of its own.
    require_trusted(workspace, record,
                    workspace.kernel(record.kernel, record.script, record.script_name),
                    *workspace.target(target), !options.target.empty(), nullptr);
    return verify_script(workspace, options, record.kernel, record.script, record.script_name,
                         target);
  }
  if (options.second.find(".exo") == std::string::npos)
    return verify_script(workspace, options, options.first, read_text_file(options.second),
                         options.second, options.target);
  const KernelInput input = workspace.kernel(options.first);
  options.size.values(control_names(*input.proc));  // refused before anything is printed
  const KernelInput other = workspace.kernel(options.second);
  return compare(workspace, options, *input.proc, other.proc,
                 script_names(workspace, other, options.target).targets, {});
}

}  // namespace

void add_verify_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("first", options->first,
                 "a built-in kernel, FILE.exo, FILE.exo:proc, or a .json that kernel wrote")
      ->required();
  app.add_option("second", options->second,
                 "FILE.sched, or another FILE.exo[:proc]; none after a .json");
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
