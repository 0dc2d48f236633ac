#pragma once
// Stages: the loops that compute one buffer (the producer's stage), fused into the loops that use
// it (the consumer's). Halide's compute_at and store_at, made of primitives by bounds inference.
// Exo 2 section 6.3.2 and figure 10. Start at compute_at.
//
// A stage is named by the buffer it writes. Loops are named by their iterators within a stage.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// What an iteration of the consumer does about elements that an earlier iteration used as well.
enum class Overlap : uint8_t {
  kRecompute,  // computes them again: divide_with_recompute. The storage can move inside (store_at)
  kSlide,      // finds them in the storage, which stays outside; what the first iteration finds is
               // computed in front of the loop
};

/// for y: A[y] = e ; for y: s(A[y : y + w])
///   ->  recompute:                    for y: { for yi in seq(0, w): A[y + yi] = e; s(A[y : y + w])
///   }
///   ->  slide: for y in seq(0, w - 1): A[y] = e
///              for y: { A[y + w - 1] = e; s(A[y : y + w]) }
///
/// Computes `producer` inside the loop over `loop` of `consumer`, fusing with each loop from where
/// the two stages part down to that one. At each, the window that an iteration reads is inferred; a
/// loop it steps through by q > 1 becomes loops q apart, whose inner one is called
/// loop_of_a_step. What the
/// consumer never reads stays in front. Already there: nothing changes. SchedulingError when the
/// window does not step evenly, or a primitive refuses.
/// Proposed for nests that make arrays for one another: sliding, in the outermost loop of the last.
ProcPtr compute_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                   const std::string& loop, Overlap overlap = Overlap::kRecompute);

/// What compute_at calls the loop over what one iteration of the consumer needs, where the
/// producer's loop over it was called `loop`.
std::string loop_of_a_step(const std::string& loop);

/// A : T[..] ; for y: s(A[y : y + w])  ->  for y: { A : T[w] ; s(A[0 : w]) }
///
/// Allocates `producer` inside the loop over `loop` of `consumer`, as large as an iteration needs;
/// a single element becomes a scalar.
/// Proposed behind compute_at, where no iteration reads what an earlier one made.
ProcPtr store_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                 const std::string& loop);

/// compute_at (recomputing), then store_at.
/// Proposed for chains of rows: the producer at the loop of its consumer.
ProcPtr compute_and_store_at(ProcPtr p, const std::string& producer, const std::string& consumer,
                             const std::string& loop);

/// for y: { A : T[w]; A = e; s(A) }  ->  A : T[n, w]; for y: A[y] = e; for y: s(A[y])
///
/// Computes `producer` in loops of its own again, with storage for all of it: an allocation inside
/// a loop gets a dimension for it. SchedulingError when that changes nothing.
ProcPtr compute_root(ProcPtr p, const std::string& producer);

}  // namespace exotune
