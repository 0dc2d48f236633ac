#pragma once
// Components: elements of a few numbers each, that lie side by side (pairs, points, colours), taken
// apart into vectors of each. Start at in_components.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "search/moves/step.h"
#include "search/steps/builders.h"

namespace exotune {

constexpr int64_t kMostOfRecord = 128;  // numbers: a vector of each of them still lies close by
constexpr int64_t kShortLoop = 8;       // iterations: from here on vectors go along it

/// for p: s(x[p, 0], x[p, 1], x[p, 2])
///   ->  for pb: { t[0:3, 0:L] = x[L * pb : L * pb + L, 0:3] turned over by an instruction
///                 for p in seq(0, L): s(t[0, p], t[1, p], t[2, p]) } ; for p in seq(0, ..): s(..)
///
/// Loops that step over elements of two to four numbers, which are the last dimension of an array
/// or lie in it one after the other (x[2 * p], x[2 * p + 1]); records of up to 128 numbers in
/// several dimensions (m[p, 0:3, 0:4]) too, where no loop inside fills vectors (eight iterations, a
/// multiple of it, or more than 32, of elements side by side): they are copied by nests of their
/// own, those of many rows that a sum goes over together, where they lie close by. What is written
/// goes back in the same way (divide_loop, stage_mem, divide_dim, rearrange_dim, replace,
/// tile_to_instr). What is read back to front (x[N - p, 0], the mirror frequencies of a spectrum)
/// has buffers of its own (stage_view); so has each of a few rows that lie anywhere (a node's of a
/// tree, its children's).
///
/// Blocks of one vector where the iterations are independent; where they are summed, of one, two
/// and four, so that there are two to sixteen chains (parallelize_reduction). Where several nests
/// stand in a block of one vector of `unit`, they become vectors along it (optimize_level_1).
/// `instructions` as a script's `instrs`: those that take apart and put together, and say how many
/// elements make a vector. None: there is no such loop, no such instruction, or the core refused.
std::vector<Schedule> in_components(const Schedule& s, const std::map<std::string, int64_t>& sizes,
                                    const ValueList& instructions, const VectorValues& unit);

}  // namespace exotune
