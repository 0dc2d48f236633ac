#pragma once
// RunnerRecord: how programs run on a simulator or a board that is reached by commands, as a TOML
// file says it. Start at read_runner_record; docs/targets.md has the keys.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runners/runner.h"

namespace exotune {

struct RunnerRecord {
  struct File {
    std::string path, text;
    std::string from;  // a copy of this file; "": the text
  };
  std::string name;
  SampleUnit unit = SampleUnit::kInstret;       // cycle_kind
  double timeout_seconds = 0;                   // of all commands for one program; 0: the caller's
  std::string directory;                        // the commands' working directory; "": a fresh one
  std::vector<std::vector<std::string>> check;  // commands that succeed where it can work at all
  std::vector<std::vector<std::string>> run;    // commands, one after the other
  std::vector<File> files;                      // written before
  std::vector<std::string> outputs;  // files with the result; * is any name. None: what is printed
  bool linux = false;                // program: "linux"; the default is "bare"
  std::string hint;                  // where to get what is missing
  std::string without;               // what is lost without it, for `exo-tune doctor`
};

/// Placeholders of every text in a record: {elf} {id} and those of `words`. InputError for others.
std::string filled_in(const std::string& text, const std::map<std::string, std::string>& words);

/// Refuses (InputError) unknown keys, an unknown cycle_kind, a record without commands.
RunnerRecord read_runner_record(const std::filesystem::path& file);
RunnerRecord parse_runner_record(const std::string& text, const std::string& file_name);

}  // namespace exotune
