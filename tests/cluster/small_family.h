#pragma once
// A data folder whose one family is tuned in a second or two, for tests that do it again and again.
#include <string>

#include "tests/cli/command_harness.h"

namespace exotune::cli {

/// Makes it in the harness's folder, the family `small` with so many kernels; the value for
/// EXOTUNE_DATA.
std::string make_small_family(const CommandHarness& harness, int kernels);

/// What a query of the database answers, as csv without its first line.
std::string ask_database(const CommandHarness& harness, const std::string& sql);

}  // namespace exotune::cli
