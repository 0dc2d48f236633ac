#pragma once
// A tuning result in words: the block printed for one kernel, the row of a table of many, the plan
// that -n shows.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/roofline.h"
#include "cli/table.h"
#include "search/tuner.h"

namespace exotune::cli {

/// Speed, share of peak, ratio to each peer, how it was proved, search statistics, files.
std::string result_text(const TuneRequest& request, const TuneResult& result,
                        const std::vector<std::filesystem::path>& files, bool verbose,
                        const std::optional<Roofline>& roofline = std::nullopt);

/// "sgemm K=512,M=512,N=512: 265 GFLOP/s, 93 % of peak".
std::string result_line(const TuneRequest& request, const TuneResult& result);

Table result_table();
std::vector<std::string> result_row(const TuneRequest& request, const TuneResult& result,
                                    const std::string& file);

/// What a run would do.
std::string plan_text(const TuneRequest& request);

}  // namespace exotune::cli
