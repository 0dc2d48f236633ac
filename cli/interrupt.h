#pragma once
// Ctrl-C: the first one asks the running verb to stop, which it does within a second, keeping the
// best so far; another one, that is not of the same key press, ends the process at once. Children
// die with it.
namespace exotune::cli {

/// Installs the handler for SIGINT and SIGTERM.
void watch_interrupts();

/// True once the user asked to stop.
bool interrupted();

}  // namespace exotune::cli
