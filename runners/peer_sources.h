#pragma once
// The text of the peers that are compiled here: plain C loops and Eigen, and reading alone. The
// first two define the
// cblas_* names, so that one binder serves them and the libraries. What no BLAS library has is
// called peer_*.

namespace exotune {

/// C11; loops a careful programmer would write, for the compiler to vectorise.
const char* plain_c_peer_source();
/// C11: peer_read, which reads memory once and computes nothing.
const char* reading_peer_source();
/// C++17 over Eigen 3.
const char* eigen_peer_source();
/// C++17 over oneDNN 2 or 3: peer_sconv2d, weights brought into the library's order in each call.
const char* onednn_convolution_source();

}  // namespace exotune
