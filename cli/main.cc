// The command `exo-tune`. See command_line.h.
#include <cstdlib>

#include "cli/command_line.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  // Where /sys is not mounted (a chroot), hwloc would complain on stderr; the probe copes.
  setenv("HWLOC_HIDE_ERRORS", "2", 0);
  return exotune::cli::run(exotune::cli::whole_command(),
                           std::vector<std::string>(argv + 1, argv + argc));
}
