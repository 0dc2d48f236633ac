#pragma once
// exo-tune bench DIR for a folder that `exo-tune family` wrote: every routine against the BLAS
// libraries of this machine.
#include <string>
#include <vector>

#include "cli/session.h"
#include "cli/table.h"
#include "hw/target.h"

namespace exotune::cli {

struct LibraryComparison {
  std::string folder;
  TargetPtr target;                     // whose instructions the others may use
  int vector_bytes = 0;                 // of its vectors
  std::vector<std::string> only_peers;  // empty: all that are here
  std::vector<std::string> routines;    // empty: all
  int most = 0;                         // no size above it; 0: none is too large
  int threads = 1;                      // of every library; more than 1: those that have any
  std::string page;                     // the heat map, "" = FOLDER/heat-map.html
  Format format = Format::kTable;
};

/// Has the folder a library in it?
bool is_blas_library(const std::string& folder);

/// The targets that it was written for, the one that is taken first at the head; empty when its
/// Makefile is gone.
std::vector<std::string> targets_of_library(const std::string& folder);

/// Prints a row for each routine (geometric mean over the sizes and the worst one, with warm and
/// with cold caches), then the worst ten points and what bounds them, and writes the page; as CSV
/// or JSON every point. Several threads: by wall time, with warm caches. What was measured when the
/// user interrupts is shown.
ExitCode compare_library(const LibraryComparison& request);

}  // namespace exotune::cli
