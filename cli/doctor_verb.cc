// exo-tune doctor: what this machine can do, what is missing and how to get it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/machine_text.h"
#include "cli/options.h"
#include "cli/runner_choice.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/base/subprocess.h"
#include "db/store.h"
#include "runners/conditions.h"
#include "runners/peers.h"
#include "runners/registry.h"
#include "runners/spike/extension_library.h"
#include "search/figures.h"
#include "search/problem.h"

namespace exotune::cli {
namespace {

struct DoctorOptions {
  DatabaseOption database;
  FormatOption format;
  bool peers = true;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void report_machine(const Machine& machine, Table& table) {
  table.add({"machine", "ok",
             machine.model_name + " (" + machine.microarch + "), " + std::to_string(machine.cores) +
                 (machine.cores == 1 ? " core" : " cores")});
  table.add({"fingerprint", "ok", fingerprint(machine, Target{}).hash});
  for (const CacheLevel& cache : machine.caches)
    table.add({"L" + std::to_string(cache.level) + " cache", "ok",
               std::to_string(cache.bytes / 1024) + " KB, lines of " +
                   std::to_string(cache.line_bytes) + " bytes"});
}

// What this machine does to measurements.
void report_conditions(const Machine& machine, Table& table) {
  for (const Condition& c : measuring_conditions(machine.cores))
    table.add({c.what, c.good ? "ok" : "warning", c.detail});
  const NoiseFloor noise = measure_noise();
  const bool good = noise.spread < 0.03 && noise.preempted < 0.1;
  table.add({"noise", good ? "ok" : "warning",
             fmt::format("a loop that does the same each time differs by {:.1f} % (90th over 10th "
                         "percentile); another program ran in {:.0f} % of the samples",
                         100 * noise.spread, 100 * noise.preempted)});
}

// What the searches reckon with, each number with where it comes from.
void report_model(const Target& target, const Machine& machine, const Store* store, Table& table) {
  for (const std::string& line : model_lines(target, machine, store)) {
    const size_t colon = line.find(": ");
    table.add(
        {"model " + line.substr(0, colon), "ok", line.substr(colon + 2) + "; " + target.name});
  }
}

// The targets of this machine itself that can be tuned here; adds a row for every target.
std::vector<TargetPtr> report_targets(const Session& session, Workspace& workspace, Table& table) {
  std::vector<TargetPtr> usable;
  for (const std::string& name : workspace.targets().names()) {
    const std::string label = "target " + name;
    try {
      const TargetPtr target = workspace.targets().load(name);
      const std::string compiler = find_compiler(target->compiler).version;
      if (!target->runner.is_this_machine()) {
        choose_runner(*target, "", session.data.targets / "runners", 1);
        table.add({label, "ok", "runner " + target->runner.kind + "; " + compiler});
        continue;
      }
      workspace.require_runnable(*target);
      table.add({label, "ok", compiler});
      usable.push_back(target);
    } catch (const Error& error) {
      table.add({label, "missing", error.diagnostic().message.str()});
    }
  }
  return usable;
}

// Of a simulator that is here: does it load the library of the target's extension?
void report_library(const RunnerState& state, const Target& target, const std::string& extension,
                    const std::filesystem::path& records, Table& table) {
  const std::string label = "runner " + state.name + ", " + extension;
  const std::string library = extension_library(extension);
  try {
    choose_runner(target, state.name, records, 1);
    const bool sure = state.checked || library.find('/') != std::string::npos;
    table.add({label, sure ? "ok" : "note",
               sure ? library : library + " is not of this build: the loader has to find it"});
  } catch (const Error& error) {
    const Diagnostic& said = error.diagnostic();
    table.add(
        {label, "missing", said.message.str() + (said.hint.empty() ? "" : "; " + said.hint.str())});
  }
}

// Simulators and boards beyond the one that is built in, and their libraries for the targets.
void report_runners(const Session& session, Workspace& workspace, Table& table) {
  for (const RunnerState& state : runner_states(session.data.targets / "runners")) {
    const std::string label = "runner " + state.name;
    if (!state.missing.empty()) {
      table.add({label, "missing",
                 "no '" + state.missing + "' on PATH: " + state.without + "; " + state.hint});
      continue;
    }
    table.add({label, "ok", "--runner " + state.name});
    if (!state.takes_libraries) continue;
    for (const TargetPtr& target : workspace.all_targets()) {
      const auto extension = target->runner.options.find("extension");
      if (extension != target->runner.options.end())
        report_library(state, *target, extension->second, session.data.targets / "runners", table);
    }
  }
}

void report_peers(const Target& target, Table& table) {
  const PeerReport report = discover_peers(toolchain_of(target));
  for (const Peer& peer : report.peers)
    table.add({"peer " + peer.name, "ok", first_line(peer.version)});
  for (const std::string& absent : report.absent)
    table.add({"peer", "missing", first_line(absent)});
  for (const std::string& cleared : report.cleared_environment)
    table.add({"environment", "note", cleared + " is ignored when peers are measured"});
}

void report_cluster(Table& table) {
  if (find_program("sbatch").empty()) {
    table.add({"slurm", "missing", "no sbatch here; for --executor slurm: ./dev setup slurm"});
    return;
  }
  const CommandResult said = run_command({"sbatch", "--version"});
  table.add({"slurm", said.ok() ? "ok" : "missing", first_line(said.ok() ? said.out : said.err)});
}

// The database, or null where there is none that can be read.
std::unique_ptr<Store> report_database(const std::string& path, Table& table) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    table.add({"database", "ok", path + " (none yet; the first run makes it)"});
    return nullptr;
  }
  try {
    auto store = open_store(path, OpenMode::kReadOnly);
    table.add(
        {"database", "ok", path + ", " + std::to_string(store->winners({}).size()) + " winners"});
    return store;
  } catch (const Error& error) {
    table.add({"database", "damaged", error.diagnostic().message.str()});
    return nullptr;
  }
}

ExitCode doctor(const Session& session, const DoctorOptions& options) {
  const Format format = options.format.value();
  Workspace workspace(session);
  Table table({"what", "state", "detail"});
  report_machine(workspace.machine(), table);
  report_conditions(workspace.machine(), table);
  const std::vector<TargetPtr> usable = report_targets(session, workspace, table);
  report_runners(session, workspace, table);
  report_cluster(table);
  const std::unique_ptr<Store> store = report_database(options.database.path(session), table);
  if (!usable.empty()) {
    const TargetPtr best = best_target(workspace.machine(), usable);
    report_model(*best, workspace.machine(), store.get(), table);
    if (options.peers) report_peers(*best, table);
  }
  std::fputs(table.str(format).c_str(), stdout);
  if (usable.empty())
    throw Error(Diagnostic{{},
                           "no target can be tuned on this machine",
                           {},
                           "install a compiler: apt-get install g++"},
                ExitCode::kUnavailable);
  // Said in the table already; what reads the exit code alone must hear of it too.
  const bool damaged = !store && std::filesystem::exists(options.database.path(session));
  return damaged ? ExitCode::kInput : ExitCode::kOk;
}

}  // namespace

void add_doctor_verb(CLI::App& app, Session& session) {
  auto options = std::make_shared<DoctorOptions>();
  options->database.add(app);
  options->format.add(app);
  app.add_flag("!--no-peers", options->peers, "do not look for the libraries to compare with");
  app.callback([&session, options] {
    session.action = [&session, options] { return doctor(session, *options); };
  });
}

}  // namespace exotune::cli
