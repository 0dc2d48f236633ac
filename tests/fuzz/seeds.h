#pragma once
// What the libFuzzer programs start from besides the files they are given.
#include <string>
#include <vector>

namespace exotune::fuzz {

/// Writes each text as a file into the first folder that the program's command line names, where
/// libFuzzer keeps what it finds. Nothing when it names none.
void write_seeds(const std::vector<std::string>& texts, int argc, char** argv);

}  // namespace exotune::fuzz
