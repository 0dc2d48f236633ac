#pragma once
// The parts of a record (.json beside a kernel) that are written here and read where another
// machine made it: each written and read by two functions that stand side by side. Start at
// json_of.
#include <optional>
#include <string>
#include <vector>

#include "cli/roofline.h"
#include "core/base/json.h"
#include "core/base/json_fields.h"
#include "search/tuner.h"

namespace exotune::cli {

Json json_of(const std::vector<PeerRow>& rows);
std::vector<PeerRow> peer_rows(const JsonFields& record, const char* key);

/// Refusals by operator, causes and plans are for people: they are not read again.
Json json_of(const TuneStatistics& statistics);
TuneStatistics statistics_of(const JsonFields& search);

Json json_of(const Roofline& roofline);
std::optional<Roofline> roofline_in(const JsonFields& record);

/// What the cycles were spent on is for people.
Json json_of(const CycleCount& cycles);
std::optional<CycleCount> cycles_in(const JsonFields& record);

/// kComplete for a name that is none.
StopReason stop_named(const std::string& name);

}  // namespace exotune::cli
