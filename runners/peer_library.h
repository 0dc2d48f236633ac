#pragma once
// A peer brought into this process and bound to arguments; only ever done in a child.
#include <string>
#include <vector>

#include "runners/judge.h"
#include "runners/peers.h"

namespace exotune {

/// Environment variables that change what a peer does: "OPENBLAS_", "OMP_", ...
const std::vector<std::string>& peer_environment_prefixes();
/// Removes them all from this process.
void clear_peer_environment();

/// Loads the peer's library (once per process and core type) with the peer's threads and binds
/// `problem`. An empty function and `*error` when it cannot.
Binder load_peer(const PeerCall& call, const std::vector<ArgSpec>& args, std::string* error);

/// What the loaded library says of itself, with the core it chose. Loads it.
std::string peer_version(const Peer& peer, std::string* error);

}  // namespace exotune
