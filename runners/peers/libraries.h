#pragma once
// The libraries that can be peers, one row each: where one is found or what it is made of, which of
// its cores are worth having, and what it serves. Start at peer_libraries.
//
// To add one: a row in libraries.cc and, where it has no CBLAS of its own, a file in sources/ that
// gives it one.
#include <optional>
#include <string>
#include <vector>

#include "runners/peers.h"

namespace exotune {

struct PeerLibrary {
  std::string name;
  std::string variable = "";  // of the environment, that picks the core
  /// Its value that holds the library to plain code, for targets whose [peers] do not name it; "":
  /// the library's own choice; none: it has no plain code.
  std::optional<std::string> plain_core = "";

  // Found: a shared object below one of the usual places, the best first.
  std::vector<std::string> files = {};
  std::vector<std::string> folders = {""}, folders_of_threads = {""};
  std::string adapter = "";  // a source that gives it what it offers in C++ only

  // Made here, when there are no files.
  std::string source = "";
  std::vector<std::string> compilers = {}, flags = {}, libraries = {};
  std::string one_thread = "", many_threads = "";  // flags
  /// Flags that leave out what `problem` does not need; null: all is made always.
  std::vector<std::string> (*part)(const PeerProblem& problem) = nullptr;
  std::string header = "";       // where this is not found it is not installed
  std::string description = "";  // "Eigen, ": goes before the compiler

  bool threads = true;     // it can be let loose on several
  bool multiplies = true;  // it is tried before it is believed
  /// Does it serve the problem? Asked after what holds for all libraries.
  bool (*serves)(const Peer&, const PeerProblem&) = nullptr;
  /// What the loaded library says of itself; null: what was said when it was made.
  std::string (*version)(void* library) = nullptr;
};

/// In the order in which tables show them.
const std::vector<PeerLibrary>& peer_libraries();
/// Null for a library that the user named.
const PeerLibrary* find_peer_library(const std::string& name);

/// The text of a file in sources/, which the build carries.
const char* peer_source(const std::string& file);

}  // namespace exotune
