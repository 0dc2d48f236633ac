// The command `exo-tune`. See command_line.h.
#include "cli/command_line.h"

int main(int argc, char** argv) {
  return exotune::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
