#pragma once
// One run of the command: where it prints, what it read from the environment, where the built-in
// targets and kernels are, and what the parsed command line asks to be done. Start at Session.
//
// stdout holds the result only; everything else (progress, notes, errors) goes to stderr.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace CLI {
class App;
}

namespace exotune::cli {

/// The folders that ship with the command: $EXOTUNE_DATA, else PREFIX/share/exotune beside an
/// installed command, else the source tree it was built from.
struct DataFolders {
  std::filesystem::path targets;  // hw/
  std::filesystem::path kernels;  // kernels/
  std::filesystem::path rules;    // of equality saturation
};

/// Finds them. Refuses (InputError) when $EXOTUNE_DATA is set and holds no hw/ folder, or when none
/// of the three places exists.
DataFolders find_data_folders();

struct Parts;

struct Session {
  DataFolders data;
  std::filesystem::path default_database;  // $XDG_DATA_HOME/exo-tune/tune.db
  std::filesystem::path config_file;       // $XDG_CONFIG_HOME/exo-tune/config.toml; need not exist
  bool terminal = false;                   // stderr is one
  std::string command;               // as typed, for hints that repeat it: "exo-tune kernel f.exo"
  const Parts* parts = nullptr;      // of the program (cli/program.h), borrowed; set by run()
  std::function<ExitCode()> action;  // what the parsed verb does; set by its callback
};

/// Fills everything but `action` from the process environment.
Session make_session();

/// One verb: its name, one line of help, and how it puts its options on a CLI11 sub-command.
struct Verb {
  const char* name;
  const char* summary;
  void (*add)(CLI::App& app, Session& session);
};

/// All verbs, in the order of the help text.
const std::vector<Verb>& verbs();

}  // namespace exotune::cli
