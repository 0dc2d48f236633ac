#pragma once
// The text of the two peers that are compiled here: plain C loops and Eigen. Both define the
// cblas_* names, so that one binder serves them and the libraries.

namespace exotune {

/// C11; loops a careful programmer would write, for the compiler to vectorise.
const char* plain_c_peer_source();
/// C++17 over Eigen 3.
const char* eigen_peer_source();

}  // namespace exotune
