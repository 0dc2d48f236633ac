#pragma once
// The operations that a peer may be asked for, one row each. Start at peer_function.
//
// To add one: a name in BlasOp (peers.h), its function and its row in operations.cc, and what it
// computes in the table at PeerProblem.
#include <string>
#include <vector>

#include "runners/judge.h"
#include "runners/peers.h"

namespace exotune {

/// A loaded peer and what it is to compute.
struct PeerSite {
  void* library;
  const Peer& peer;
  const PeerProblem& problem;
  const std::vector<ArgSpec>& args;
  std::string* error;  // why there is no call
};

struct PeerFunction {
  BlasOp op;
  const char* name;  // of CBLAS, without the precision, where CBLAS has it
  int level;         // 1 for vectors, 2 for a matrix and vectors, 3 for matrices
  /// Binds the library's function to arguments; empty where it has none, and `error` says so.
  Binder (*f32)(const PeerSite&);
  Binder (*f64)(const PeerSite&);
};

const PeerFunction& peer_function(BlasOp op);

}  // namespace exotune
