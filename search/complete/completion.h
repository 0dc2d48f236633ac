#pragma once
// Completion: a schedule that a user began, finished by search. Start at complete().
//
// The user's lines are applied first and stay as they are, byte for byte. Each `search(p)` or
// `search(p, place)` line is a hole that found lines take the place of; a script without one is
// completed at its end. What the user lets the search do is in core/library/constraints.h; the
// constraints hold on the result, whoever found it. Paper section 8 (top-down partial scheduling).
//
//   ScriptEnvironment names = script_environment(module, {&target->library});
//   CompletionRequest request;
//   request.script = "p = sgemm\np = block_loop(p, 'i', 8, ['io', 'i'])\np = search(p)\n";
//   request.environment = names;
//   request.tune.target = target;
//   Completion done = complete(request, *store);
//   done.script   // the user's line, then the found ones, each with "# found"
//
// What is open: within a hole, every loop nest that has no instruction in it yet and is not pinned.
// One that is the whole procedure is searched in place; others become procedures of their own
// (extract_subproc), are searched, and return (call_eqv, inline).
#include <string>
#include <vector>

#include "core/library/script.h"
#include "search/tuner.h"

namespace exotune {

struct CompletionRequest {
  std::string script;
  std::string file = "script.sched";  // for messages
  ScriptEnvironment environment;      // what the script's lines can name
  /// Target, machine, budgets, and values for sizes that the script leaves symbolic
  /// (`representative`). The procedure and its fixed sizes are read off the script.
  TuneRequest tune;
  /// Also finds the schedule that exo-tune would have made without the user's lines, to measure
  /// both in one run.
  bool baseline = true;
  /// What is open is searched as one program, be it several nests; otherwise each by itself, and
  /// the time is shared out to them.
  bool together = false;
};

struct Completion {
  std::string script;         // whole; replays without a search
  ProcPtr proc;               // what it makes; null: no valid candidate
  TuneResult result;          // of the last part; its rivals hold the baseline
  TuneStatistics statistics;  // of all parts and the baseline together
  TuneRequest request;        // the last part's, for reports
  int parts = 0;              // nests that were searched
  bool interrupted = false;
};

/// Does the script have a hole?
bool has_hole(const std::string& script, const std::string& file);

/// Throws InputError for a script that is wrong or a hole that is no statement of its own, and what
/// its steps throw. Finding nothing is a result: `proc` is null, `result` says why.
Completion complete(const CompletionRequest& request, Store& store, const TuneHooks& hooks = {});

}  // namespace exotune
