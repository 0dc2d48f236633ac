#pragma once
// A schedule that was found before, by any of the names a user may give it: a folder or STEM.json
// that `kernel` wrote, a candidate's id in the database, or a kernel whose winner is wanted.
#include <string>

#include "cli/quantities.h"
#include "cli/workspace.h"
#include "db/store.h"

namespace exotune::cli {

struct Record {
  std::string kernel;       // as the command line names it: "sgemm", "FILE.exo:proc"
  std::string kernel_hash;  // of the kernel it was found for; "" in records of older versions
  std::string script;       // .sched text
  std::string script_name;  // for messages
  std::string target;       // "" when it is not known
  Sizes sizes;              // it was tuned at; may be empty
  Sizes measured_at;        // where a kernel for any size was measured; else as `sizes`
  int threads = 1;          // it was tuned for
  std::string origin;       // one line: where it came from
  std::string trial;        // candidate id; "" for a file's
  bool from_file = false;   // a .json: its kernel and target are whatever it says
};

/// Finds it. Records belong to what a kernel means, not to its name: those of another kernel of the
/// same name are never found. `target` (a name or a folder) and `sizes` narrow a kernel's winners
/// (empty: any; several left: the newest). `kernel` says whose candidate `text` is, for kernels
/// that are not built in. InputError with the next step when there is none.
Record find_record(Workspace& workspace, const std::string& text, const std::string& database,
                   const std::string& target, const Sizes& sizes, const std::string& kernel = "");

}  // namespace exotune::cli
