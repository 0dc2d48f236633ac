#pragma once
// Whether views of the operands (search/views) may make a kernel faster, told without an e-graph.
// Start at views_may_help.
#include "search/tuner.h"

namespace exotune {

/// False where nothing is to be found: the request asks for no views, or its program is one product
/// of two factors that already fills its vectors. Such a product needs as few vector operations as
/// there can be, and every view costs copies beside them. Costs a look at the program's syntax.
bool views_may_help(const TuneRequest& request);

}  // namespace exotune
