#pragma once
// The options of the verbs that search (kernel, complete): effort, budgets, strategy, where results
// go. Start at TuneOptions.
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/workspace.h"
#include "runners/runner.h"
#include "search/tuner.h"

namespace exotune::cli {

/// Registered once a verb; CLI11 fills the members while it parses, so an instance lives as long as
/// its command. Everything that can be refused is refused by check() and fill(), before a database
/// is opened or anything compiled.
class TuneOptions {
 public:
  TuneOptions();
  /// Adds the options to a verb's command.
  void add(CLI::App& app);

  /// Other machines do the work: this one need not be able to.
  void run_elsewhere() { elsewhere_ = true; }
  /// Refuses values that make no sense, before anything is done.
  void check() const;
  /// Fills in target, machine, budgets and strategy.
  void fill(TuneRequest& request, Workspace& workspace, const Session& session) const;
  /// Error(kUnavailable) when the candidates would not run on this machine itself.
  void require_native(const TuneRequest& request) const;
  /// Runs `work`, which gets hooks for progress and interrupts, with a progress line.
  template <class Work>
  auto with_progress(const TuneRequest& request, const Session& session, Work work) const {
    ProgressLine line = progress_line(request, session);
    TuneHooks hooks;
    hooks.progress = [&](const Progress& progress) { line.show(progress); };
    hooks.interrupted = interrupted;
    return work(hooks);
  }
  /// NeedsWholeCommand where this program lacks what the request needs (cli/program.h).
  void require_parts(const TuneRequest& request, const Session& session) const;
  TuneResult tune(const TuneRequest& request, Store& store, const Session& session) const;
  /// Throws "no valid candidate" (exit 3) with the causes; `again` is the command to repeat.
  [[noreturn]] void refuse(const TuneRequest& request, const TuneResult& result,
                           const std::string& again) const;

  /// As parsed; valid after the command line was.
  bool fresh() const { return defaults_.fresh; }
  const std::string& target() const { return target_; }
  const std::string& folder() const { return folder_; }
  const std::string& stem() const { return stem_; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  bool dry() const { return dry_; }
  std::string database(const Session& session) const { return database_.path(session); }

 private:
  void add_limits(CLI::App& app);
  void fill_limits(TuneRequest& request) const;
  /// The target's own, or what --runner says.
  TargetRunner runner_of(const TuneRequest& request) const;
  /// Null: this machine. Else where the candidates of `request` go.
  std::unique_ptr<Runner> runner_for(const TuneRequest& request, const Session& session) const;
  ProgressLine progress_line(const TuneRequest& request, const Session& session) const;

  std::string core_, target_, runner_, effort_ = "measure", folder_ = "out", stem_;
  std::string time_budget_, timeout_ = "2s", strategy_ = "all", costs_ = "all";
  DatabaseOption database_;
  TuneRequest defaults_;
  bool elsewhere_ = false;
  bool dry_ = false, quiet_ = false, verbose_ = false, no_progress_ = false, no_peers_ = false;
};

}  // namespace exotune::cli
