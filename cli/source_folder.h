#pragma once
// The one thing that is compiled into the command of the place where its clone lies. Start at
// source_folder.

namespace exotune::cli {

/// The source tree that the command was built from; it need not be there any more.
const char* source_folder();

}  // namespace exotune::cli
