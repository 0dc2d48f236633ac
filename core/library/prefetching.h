#pragma once
// Asking for data before it is needed: what a later iteration of a loop uses of a buffer. Made of
// the primitive add_prefetch; means nothing to the result. Start at prefetch_ahead.
#include <string>

#include "core/primitives/primitives.h"

namespace exotune {

/// for r: s(x[r])  ->  for r: prefetch(x[r + distance]); s(x[r])
///
/// At every loop over `loop` whose body uses another rectangle of `buffer` in each iteration: asks
/// for the rectangle of `distance` iterations later. What is beyond the buffer is not asked for.
/// "" stands for every argument. SchedulingError when no loop goes through rectangles so.
/// Proposed by neighbours: 1 or 2 iterations ahead.
ProcPtr prefetch_ahead(ProcPtr p, const std::string& loop, const std::string& buffer,
                       int64_t distance);

/// for k: s(x[k, a:b])  ->  for k: prefetch(x[k, a + distance:b + distance]); s(x[k, a:b])
///
/// At every loop over `loop` that reads a rectangle of `buffer` in each iteration: asks for what is
/// `distance` elements further in its rows, which nobody reads before the loop comes again. Where
/// rows lie far apart, each is a stream of its own, more than prefetchers follow. What is beyond
/// the buffer is not asked for. SchedulingError when no loop reads such a rectangle.
/// Proposed for products of few rows and a second factor that the caches do not hold: the strip of
/// columns beside this one, by the last element of its lines.
ProcPtr prefetch_beside(ProcPtr p, const std::string& loop, const std::string& buffer,
                        int64_t distance);

/// for r: f(y[a:b, r])  ->  for r: prefetch(y[a:b, r + distance]); f(y[a:b, r])
///
/// In every loop without loops in it that writes a rectangle of several rows of an argument,
/// another one in each iteration: asks for the one of `distance` iterations later. Stores that go
/// to many rows at once are more streams than prefetchers follow, and each waits for its line.
/// SchedulingError when there is no such loop.
///
/// Proposed by neighbours, where an instruction transposes tiles: 1 or 2 iterations ahead.
ProcPtr prefetch_results(ProcPtr p, int64_t distance = 1);

/// for r: for ..: for k: s(x[r])  ->  for r: for ..: for kl: prefetch(a line of x[r + 1]);
/// for k: s(x[r])
///
/// At every loop over `within` under one over `loop`: the rectangle of `buffer` that the next
/// iteration of `loop` uses is asked for line by line, evenly over the iterations in between, so
/// that the requests never queue. A loop k becomes rounds of iterations, NAMEl outside; rounds that
/// are there already serve again, with up to two lines each. `locality` as in add_prefetch: 2 for
/// what would push other data out of the nearest cache. Extents must be literal. SchedulingError
/// when there is no such loop, or there are more lines than rounds can take.
/// Proposed by neighbours, for panels and for tiles of narrow products: the next tile, a line an
/// iteration.
ProcPtr prefetch_meanwhile(ProcPtr p, const std::string& loop, const std::string& within,
                           const std::string& buffer = "", int locality = 3);

/// for r: { for k: s(x[r, k]) ; for k: t(x[r, k]) ; .. }
///   ->  for r: { for k: s ; for k: { prefetch(a line of x[r + 1]) ; t } ; .. }
///
/// At every loop with several passes over what an iteration uses of `buffer`: the first one brings
/// it near, and while the others run the memory would have nothing to do; they ask for what the
/// next iteration uses, each for its share of the lines, a few an iteration. "" stands for every
/// argument of several dimensions. SchedulingError when no loop has such passes, of literal
/// extents, or they are too short for so many lines.
/// Proposed by neighbours: rows of what the nearest caches do not hold, normalized.
ProcPtr prefetch_next_rows(ProcPtr p, const std::string& buffer = "");

/// for k: s; t(x)  ->  for kl: prefetch(a line of x); for k: s; t(x)
///
/// At the loop at `loop`, named k: the lines of `buffer` that the statement at `use` touches are
/// asked for one by one, evenly over the loop's iterations. In front of the loop, and at once,
/// where the extents are not literal or there are more lines than iterations; not at all where
/// `use` touches no rectangle of the buffer.
ProcPtr prefetch_during(ProcPtr p, const Cursor& loop, const Cursor& use, Sym buffer);

/// for k: s; t(x)  ->  prefetch(x); for k: s; t(x)
///
/// prefetch_during at every loop over `loop`, for what the first loop behind it in the same block
/// touches of `buffer`: results that sums are added to when these are known. SchedulingError when
/// there is no such pair of loops. `ends` asks for the last element of each row, too: a row that
/// begins within a line reaches into one line more than its length says.
ProcPtr prefetch_behind(ProcPtr p, const std::string& loop, const std::string& buffer,
                        bool ends = false);

}  // namespace exotune
