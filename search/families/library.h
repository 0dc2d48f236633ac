#pragma once
// A library of families: all members proved for all targets, their C, the bodies and entry points,
// and what a program needs to link to them. Start at write_library.
//
// What is written into the folder is a prefix as `make install` would leave it: include/, lib/ with
// pkg-config and CMake files, src/ with a Makefile that builds lib/ again, schedules/TARGET/ with
// the script of each member.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "db/store.h"
#include "executors/executor.h"
#include "search/families/family.h"
#include "search/families/members.h"
#include "search/families/wisdom.h"

namespace exotune::families {

struct LibraryRequest {
  std::filesystem::path texts;        // kernels/families
  std::vector<std::string> families;  // whose routines the library has
  std::vector<TargetPtr> targets;     // the first that the CPU has is taken at load time
  std::filesystem::path folder;       // is made
  std::string version;                // "0.1.0"
  std::filesystem::path wisdom;       // find_wisdom's folder; empty: what ships with the texts
  NamedMachine machine;               // whose wisdom is wanted
  /// Measures what the families' texts try and takes the fastest. What an earlier call tuned into
  /// the same folder, of the same texts and by the same `tuned_by`, is taken as it is.
  bool tune = false;
  std::string tuned_by;          // the machine, as one word
  Executor* executor = nullptr;  // answers member shards (member_shard.h); borrowed, needed to tune
  Store* store = nullptr;        // keeps what was measured; borrowed, may be null
  std::function<void(const std::string&)> say;  // one line per stage; may be empty
  std::function<bool()> interrupted;            // asked while members are tuned; may be empty
};

struct LibraryReport {
  size_t routines = 0;          // CBLAS functions
  size_t kernels = 0;           // members, over all targets
  size_t steps = 0;             // primitives applied, each proved
  size_t reassociated = 0;      // members that sum in another order
  size_t tuned = 0, taken = 0;  // members measured now, and by an earlier call
  int lines_by_hand = 0;        // of C in bodies
  bool stopped = false;         // interrupted while tuning: only its schedules were written
};

/// Writes everything but the compiled files. InputError and SchedulingError as load_family and
/// prove_members; Error(kUnavailable) when a target has no compiler here, and when the executor
/// gave members up: what was measured is kept.
LibraryReport write_library(const LibraryRequest& request);

/// Compiles and links what write_library wrote, `jobs` compilers at a time. Error(kUnavailable)
/// without `make`; Error(kInternal) with the compiler's words when C does not compile.
void build_library(const std::filesystem::path& folder, int jobs);

}  // namespace exotune::families
