#pragma once
// From argv to an exit code: parses, names the nearest match of what it does not know, runs the
// verb, and turns every Error into its message and code. Never prints a stack trace.
#include <string>
#include <vector>

#include "cli/session.h"

namespace exotune::cli {

struct Program;

/// Runs one command line (argv[0] left out) and returns the process exit code. NeedsWholeCommand
/// comes through: see program.h.
int run(const Program& program, std::vector<std::string> arguments);

/// `arguments` with the verb "kernel" put in front where the user left it out: the first word is a
/// flag, a .exo file or the name of a built-in kernel.
std::vector<std::string> with_verb(const std::vector<Verb>& verbs,
                                   std::vector<std::string> arguments,
                                   const std::vector<std::string>& kernel_names);

}  // namespace exotune::cli
