#pragma once
// Where an extension of Spike is: the shared object that `--extlib` names.
#include <string>

namespace exotune {

/// Of those that were built with this program, the path (lib/exo-tune beside the program's bin, as
/// built and as installed); of any other, "libNAME.so", which the loader looks for. "" for "".
std::string extension_library(const std::string& name);

}  // namespace exotune
