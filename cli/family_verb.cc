// exo-tune family NAME...|all -o DIR: a library of BLAS routines, for one or several targets.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

#include "cli/executor_option.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/shard_work.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "search/families/library.h"

namespace exotune::cli {
namespace {

struct FamilyOptions {
  std::vector<std::string> names;
  std::string targets, folder, wisdom;
  int jobs = 0;
  DatabaseOption database;
  ExecutorOption executor;
  bool sources_only = false, quiet = false, tune = false;
};

std::vector<TargetPtr> targets_of(Workspace& workspace, const std::string& list) {
  std::vector<TargetPtr> targets;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');) {
    const TargetPtr target = workspace.target(name);
    if (!target->runner.is_this_machine())
      throw InputError({}, "--target: a library is for CPUs, and " + target->name + " is none",
                       "`list targets` shows which run on this machine");
    for (const TargetPtr& other : targets)
      if (other->name == target->name) throw InputError({}, "--target: " + name + " twice");
    targets.push_back(target);
  }
  if (targets.empty()) targets.push_back(workspace.target(""));
  return targets;
}

// What tuning needs, for as long as it is alive.
struct Tuning {
  std::unique_ptr<Store> store;
  std::unique_ptr<Executor> executor;
};

Tuning prepare_tuning(const Session& session, FamilyOptions& options, Workspace& workspace,
                      families::LibraryRequest& request) {
  Tuning tuning;
  options.executor.read(session);
  if (options.executor.local())
    for (const TargetPtr& target : request.targets) workspace.require_runnable(*target);
  const Machine& here = workspace.machine();
  const std::string database = options.database.path(session);
  tuning.store = open_store(database);
  tuning.executor =
      options.executor.executor(fingerprint(here, *request.targets.front()).hash, database,
                                shard_work(workspace, nullptr, tuning.store.get()));
  request.tune = true;
  request.tuned_by = options.executor.machine_word(here.microarch);
  request.executor = tuning.executor.get();
  request.store = tuning.store.get();
  watch_interrupts();
  request.interrupted = interrupted;
  return tuning;
}

families::LibraryRequest library_request(const Session& session, const FamilyOptions& options,
                                         Workspace& workspace) {
  families::LibraryRequest request;
  request.texts = session.data.kernels / "families";
  request.families = options.names;
  if (options.names == std::vector<std::string>{"all"})
    request.families = families::list_families(request.texts);
  request.targets = targets_of(workspace, options.targets);
  request.folder = options.folder;
  request.version = EXOTUNE_VERSION;
  request.wisdom = options.wisdom;
  const Machine& here = workspace.machine();
  request.machine.name = here.microarch;
  for (size_t level = 0; level < std::min<size_t>(2, here.caches.size()); ++level)
    request.machine.caches.push_back(here.caches[level].bytes);
  if (!options.wisdom.empty() && !std::filesystem::is_directory(options.wisdom))
    throw InputError({}, "--wisdom: there is no folder " + options.wisdom,
                     "the schedules/ of a library that was tuned");
  return request;
}

ExitCode write_family(const Session& session, FamilyOptions& options) {
  Workspace workspace(session);
  families::LibraryRequest request = library_request(session, options, workspace);
  Tuning tuning;
  if (options.tune) tuning = prepare_tuning(session, options, workspace, request);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return passed.count();
  };
  if (!options.quiet)
    request.say = [&](const std::string& line) {
      std::fprintf(stderr, "[%5.1f s] %s\n", seconds(), line.c_str());
    };
  const families::LibraryReport report = families::write_library(request);
  if (report.stopped) {
    std::fprintf(stderr, "stopped; the same command goes on from here\n");
    return ExitCode::kInterrupted;
  }
  const double proved = seconds();
  if (!options.sources_only) {
    if (request.say) request.say("compiling");
    const int jobs = options.jobs > 0 ? options.jobs : workspace.machine().threads;
    families::build_library(request.folder, jobs);
  }
  std::printf("%zu routines, %zu kernels, %zu steps proved (%zu kernels sum in another order)\n",
              report.routines, report.kernels, report.steps, report.reassociated);
  std::printf("%d lines of C by hand\n", report.lines_by_hand);
  if (options.tune)
    std::printf("%zu kernels measured, %zu taken as measured before\n", report.tuned, report.taken);
  if (!options.quiet)
    std::fprintf(stderr, "proved in %.1f s, compiled in %.1f s\n", proved, seconds() - proved);
  std::printf("%s\n", (request.folder / "include/exo-blas/cblas.h").c_str());
  if (options.sources_only) return ExitCode::kOk;
  for (const char* file : {"lib/libexo-blas.so", "lib/libexo-blas.a"})
    std::printf("%s\n", (request.folder / file).c_str());
  return ExitCode::kOk;
}

}  // namespace

void add_family_verb(CLI::App& app, Session& session) {
  const auto options = std::make_shared<FamilyOptions>();
  app.add_option("name", options->names, "families (blas1, ...), or all")->required();
  app.add_option("--target", options->targets,
                 "a target, or a list A,B: at load time the first that the CPU has is taken");
  app.add_option("-o", options->folder, "the folder to write, a prefix with include/ and lib/")
      ->required();
  app.add_option("--jobs", options->jobs, "compilers at a time (default: one for each thread)")
      ->check(CLI::Range(1, 1024));
  app.add_flag(
      "--tune", options->tune,
      "measure the schedules that the families' texts try, bucket by bucket; run again, it "
      "goes on where it was stopped");
  app.add_option(
      "--wisdom", options->wisdom,
      "schedules measured before, TARGET/MEMBER.sched: the schedules/ of such a library");
  options->executor.add(app);
  options->database.add(app);
  app.add_flag("--sources", options->sources_only, "write the C and its Makefile, compile nothing");
  app.add_flag("-q", options->quiet, "say nothing on the way");
  app.callback([&session, options] {
    session.action = [&session, options] { return write_family(session, *options); };
  });
}

}  // namespace exotune::cli
