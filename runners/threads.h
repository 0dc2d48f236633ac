#pragma once
// Kernels of several threads: par loops become OpenMP's (core/codegen), and the library that gives
// them threads is told how many. Start at with_threads.
#include "runners/toolchain.h"

namespace exotune {

/// The toolchain with OpenMP, for code that runs on `threads` threads; unchanged for one. Error
/// (kUnavailable) when its compiler has no OpenMP library. Compiles a few lines the first time.
TargetToolchain with_threads(TargetToolchain toolchain, int threads);

/// Only ever in a child. Before a library is loaded: what OpenMP reads when it starts.
void announce_threads(int threads);
/// Only ever in a child. The OpenMP that a loaded library brought, if any, uses so many threads.
void limit_threads(void* library, int threads);

/// Waits until all other threads of this process sleep, 0.03 s at most: those of one contender go
/// on spinning for a while after its last call, on the cores that the next one needs.
void await_idle_threads();

}  // namespace exotune
