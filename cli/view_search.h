#pragma once
// The part of `kernel` that searches through views of the operands. Start at tune_from_views.
#include "cli/program.h"

namespace exotune::cli {

/// What the search finds with the rules that ship, those that say which views a product's operands
/// have, and without them; InputError for a text of rules that is wrong.
TuneResult tune_from_views(const ViewSearch& search, Store& store, const TuneHooks& hooks);

}  // namespace exotune::cli
