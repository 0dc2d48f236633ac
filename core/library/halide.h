#pragma once
// Halide's scheduling directives by Halide's names, over stages.h and the rest of the library, so
// that a Halide schedule can be written down line by line. Exo 2 section 6.3.2 and figure 12.
//
// Every directive names a stage by the buffer it writes and loops by their iterators. It acts on
// all loops of that name around writes of the buffer: a stage may stand in several places
// (boundaries, rows computed ahead). InvalidCursorError when there is none.
#include "core/library/stages.h"
#include "core/library/vectorize.h"

namespace exotune::halide {

/// for y: for x: s  ->  for y: for x: for yi: for xi: s, tiles of `ys` by `xs` iterations.
ProcPtr tile(ProcPtr p, const std::string& stage, const std::string& y, const std::string& x,
             const std::string& yi, const std::string& xi, int64_t ys, int64_t xs, Tail tail);
/// for x: s  ->  for xo: for xi: s, `factor` iterations each.
ProcPtr split(ProcPtr p, const std::string& stage, const std::string& x, const std::string& xo,
              const std::string& xi, int64_t factor, Tail tail);
/// for y: for x: s  ->  for k: s, over both.
ProcPtr fuse(ProcPtr p, const std::string& stage, const std::string& y, const std::string& x,
             const std::string& fused);
/// Puts perfectly nested loops into this order, the innermost first (as Halide writes it).
ProcPtr reorder(ProcPtr p, const std::string& stage, const std::vector<std::string>& loops);
ProcPtr vectorize(ProcPtr p, const std::string& stage, const std::string& x, const VectorUnit& unit,
                  VectorTail tail);
/// Unrolls the loop: whole (factor 0), or `factor` iterations of it, with the rest as a loop.
ProcPtr unroll(ProcPtr p, const std::string& stage, const std::string& x, int64_t factor);
/// Every sequential loop over `loop` becomes parallel.
/// Proposed with --threads: the outermost loop without a race.
ProcPtr parallel(ProcPtr p, const std::string& loop);
/// Lifts the allocation out of all loops.
ProcPtr store_root(ProcPtr p, const std::string& stage);
/// The stage's values go where they are used: its assignment, inside the consumer's innermost loop,
/// is inlined. Needs compute_and_store_at down to there.
ProcPtr compute_inline(ProcPtr p, const std::string& stage, const std::string& consumer,
                       const std::string& loop);

}  // namespace exotune::halide
