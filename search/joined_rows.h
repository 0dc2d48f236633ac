#pragma once
// Joined rows: loops over the rows and columns of arrays whose rows lie one after the other, as one
// loop over all of their elements. Start at rows_joined.
#include <cstdint>
#include <map>
#include <string>

#include "hw/target.h"
#include "search/moves/step.h"

namespace exotune {

/// for i: for j: s(x[.., i, j, ..])  ->  for ij: s(x'[.., ij, ..])      x' is the memory of x
///
/// Where j runs over whole rows, and rows are no whole number of vectors, or few of them: pixels of
/// small images, colours of pixels, numbers of two parts that are treated alike. Of the buffers,
/// arguments are seen with the two dimensions as one (join_dims) and allocations become so
/// (mult_dim); then the loops do (mult_loops). Joined again as long as that holds. Returns `s`
/// itself where the target has no vectors, there are no such loops, or the core refused.
/// Of every statement that touches such a buffer the loops must be joined: otherwise what is read
/// across rows somewhere else loses its shape.
Schedule rows_joined(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                     const Target& target);

/// for v: s(u[v, 0, i, k, 1])  ->  for v: s(u'[v, 6 * i + 2 * k + 1])      u' is the memory of u
///
/// The numbers of a record (a site's four matrices of 3 x 3 complex numbers), which an argument has
/// in several dimensions, as one dimension (join_dims): what takes vectors of records apart turns
/// over windows of two dimensions. Of arguments all of whose accesses stand in loops that choose
/// the record and short ones alone.
Schedule records_joined(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                        const Target& target);

}  // namespace exotune
