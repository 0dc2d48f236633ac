#include "cli/source_folder.h"

namespace exotune::cli {
// The one file that knows where the clone lies (see CMakeLists.txt).

const char* source_folder() { return EXOTUNE_SOURCE_DIR; }

}  // namespace exotune::cli
