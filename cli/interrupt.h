#pragma once
// Ctrl-C: the first one asks the running verb to stop at the next safe point, one that
// comes seconds later ends the process at once.
namespace exotune::cli {

/// Installs the handler for SIGINT and SIGTERM.
void watch_interrupts();

/// True once the user asked to stop.
bool interrupted();

}  // namespace exotune::cli
