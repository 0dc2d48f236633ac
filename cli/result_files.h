#pragma once
// What a tuning run leaves behind: STEM.c, STEM.h, STEM.sched and STEM.json, each published by
// rename, the record last.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/roofline.h"
#include "search/tuner.h"

namespace exotune::cli {

struct ResultFiles {
  std::string kernel;  // as the command line named it, so that the record can be replayed
  std::string target;  // likewise; "" when it was left to the machine
  std::string stem;
  std::filesystem::path folder;
  std::optional<Roofline> roofline;
};

/// One line: what the code is, from which schedule, and how it was proved. Stands in both C files.
std::string code_comment(const TuneRequest& request, const TuneResult& result);

/// The record as JSON: kernel, sizes, target, machine, schedule, speed, peers, search statistics.
std::string result_json(const TuneRequest& request, const TuneResult& result,
                        const ResultFiles& where);

/// Writes all four. Returns their paths in the order above. `result` has a winner.
std::vector<std::filesystem::path> write_result(const TuneRequest& request,
                                                const TuneResult& result, const ResultFiles& where);

}  // namespace exotune::cli
