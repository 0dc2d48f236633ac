#pragma once
// All of the scheduling library: what a user of it may include, a header a subject. The build reads
// this list too: the manual (manual.h) is made of these headers' comments, so a new one is named
// here and nowhere else.
#include "core/library/ahead.h"              // operands that a caller packs once for many calls
#include "core/library/arithmetic.h"         // powers, and what is computed alike
#include "core/library/attempted.h"          // steps that may be refused
#include "core/library/blocking.h"           // blocks, unrolling, interleaving of single loops
#include "core/library/cleanup.h"            // dead code and leftovers
#include "core/library/closures.h"           // shortest paths in blocks of steps
#include "core/library/columns.h"            // sums by columns in registers
#include "core/library/combinators.h"        // strategies as values
#include "core/library/configuration.h"      // instructions' settings
#include "core/library/constraints.h"        // what a partial schedule asks for
#include "core/library/contraction.h"        // packing and the micro-kernel
#include "core/library/dot_block.h"          // products of narrow elements
#include "core/library/factors.h"            // what fewer loops change
#include "core/library/gathering.h"          // scattered sums, element by element
#include "core/library/gemm.h"               // a whole matrix product
#include "core/library/guards.h"             // borders without conditions
#include "core/library/halide.h"             // Halide's words
#include "core/library/hoisting.h"           // loop-invariant code motion
#include "core/library/inspection.h"         // questions about a program
#include "core/library/lane_rows.h"          // recurrences of many rows at once
#include "core/library/lane_sums.h"          // sums whose lanes are added up late
#include "core/library/level1.h"             // elementwise loops and single sums
#include "core/library/level2.h"             // matrix-vector nests and triangles
#include "core/library/manual.h"             // what these headers say, as text
#include "core/library/operators.h"          // the table of all operators
#include "core/library/overlap.h"            // sums and loads that begin earlier
#include "core/library/prefetching.h"        // hints to the caches
#include "core/library/reads_first.h"        // loops that write several arrays
#include "core/library/rearranging.h"        // statements and loops on the move
#include "core/library/recurrences.h"        // factorizations and solves in blocks of rows
#include "core/library/reduction.h"          // sums in several chains
#include "core/library/replacement.h"        // instructions in the place of loops
#include "core/library/row_hints.h"          // rows asked for further on
#include "core/library/row_products.h"       // rows times rows, vectors along the sum
#include "core/library/script.h"             // schedules as text
#include "core/library/shifted_loads.h"      // overlapping loads as shifts of registers
#include "core/library/short_recurrences.h"  // corners and panels written out
#include "core/library/sinking.h"            // vectors of an outer loop
#include "core/library/skewing.h"            // sweeps in place, rows one behind the other
#include "core/library/skinny.h"             // few columns, all in registers
#include "core/library/stages.h"             // compute_at and store_at
#include "core/library/staging.h"            // copies of parts of a buffer
#include "core/library/statements.h"         // common parts, reciprocals
#include "core/library/step.h"               // schedules as data
#include "core/library/streaming.h"          // results past the caches
#include "core/library/sum_block.h"          // register tiles of other sums
#include "core/library/sums_beside.h"        // several sums in one pass
#include "core/library/tile_block.h"         // products of whole tiles
#include "core/library/tiles.h"              // parts of register tiles
#include "core/library/transposition.h"      // transposed copies
#include "core/library/traversal.h"          // places in an order
#include "core/library/triangles.h"          // corners as squares
#include "core/library/twins.h"              // instructions that do the same in another way
#include "core/library/vector_loops.h"       // parts of vectorized loops
#include "core/library/vectorize.h"          // lanes to instructions
#include "core/library/window_rows.h"        // rows that windows share
