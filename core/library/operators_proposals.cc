// Where a search may propose an operator and with which values; the others are for people only.
// tests/search/proposed_operators_test.cc compares it with what the searches are made of.
#include <map>

#include "core/library/operators.h"

namespace exotune {

const std::map<std::string, std::string>& proposals_of_operators() {
  static const std::map<std::string, std::string> proposals = {
      // --- tiles and blocks ---
      {"block_loop",
       "for loops of contractions and convolutions, in front of a farther cache: sizes that fill a "
       "share of each cache, and multiples of the register tile"},
      {"divide_loop",
       "by the dynamic program, for accelerators and sweeps: the plan's tile, a device's tile, "
       "block sizes; neighbours halve and double a size"},
      {"cut_loop", "where triangles and sweeps split: at the end of the part that is full"},
      {"shift_loop", "for sweeps that are fused: by the distance that keeps their order"},
      {"reorder_loops", "for every legal order of a band, and of an accelerator's loops"},
      {"interleave_loop", "for loops beside a sum: 2 or 4 copies"},
      {"unroll_loop", "for short loops around what becomes vectors, of known length"},
      {"unroll_all", "by the dynamic program, at the end, for what its plan unrolls"},
      // --- statements and loops together ---
      {"fission", "where a body holds several statements, if that lets one of them be vectors"},
      {"fuse", "for neighbouring loops of equal bounds, and sweeps after a shift"},
      {"reorder_stmts", "to bring what is fused side by side"},
      {"remove_loop", "around what an accelerator does once for all iterations"},
      {"add_guard", "for an accelerator: what only the first iteration needs"},
      // --- registers and vectors ---
      {"register_block",
       "for products: rows x vectors whose sums and operands fit the registers, largest first"},
      {"dot_block",
       "for products of narrower elements than their sum, where an instruction sums groups of "
       "them: "
       "rows x vectors that fill the registers, the depth cut for each cache"},
      {"sum_block", "for sums over several loops, and other sums than products: likewise"},
      {"square_corner",
       "for the corners that a cut triangle leaves, where register tiles then fit them"},
      {"unroll_registers", "after a register tile, always"},
      {"optimize_level_1", "for elementwise loops and single sums: 1, 2, 4 or 8 vectors at once"},
      {"optimize_level_2", "for sums along rows: 1 to 8 rows, 1 to 4 vectors at once"},
      {"optimize_columns", "for sums that move along a matrix: 1 to 8 columns or vectors"},
      {"interleave_reduction", "for one sum: as many chains as hide the latency"},
      {"accumulate_columns", "for sums by columns: registers hold the results meanwhile"},
      {"gather_vectors", "for few columns: whole vectors collected from several rows"},
      {"keep_scalars", "for elementwise loops: values that stay stay in registers"},
      {"vectorize", "by the dynamic program, for a loop that its plan says is vectors"},
      {"tile_to_instr", "where the target has an instruction of exactly this shape: transposes"},
      // --- memory ---
      {"pack_operand", "for an operand that is read in strides: strips of the register tile"},
      {"pack_ahead", "for an operand that a caller may prepare: the same strips, before the call"},
      {"prefetch_ahead", "by neighbours: 1 or 2 iterations ahead"},
      {"prefetch_meanwhile", "by neighbours and for panels: the next tile, a line an iteration"},
      {"stage_mem", "for a part of a sweep that must be kept"},
      {"stage_view", "for an operand that is read across: its transposed copy"},
      {"auto_stage_mem", "for accelerators: each operand in the memory that instructions take"},
      {"set_memory", "for accelerators: memories that instructions take"},
      {"expand_dim", "for a value that each iteration needs for itself; an accelerator's tiles"},
      {"resize_dim", "for accelerators: whole rows"},
      {"rearrange_dim", "for accelerators: the order that an instruction takes"},
      {"lift_alloc", "out of the loops that need not repeat it"},
      {"compute_and_store_at", "for chains of rows: the producer at the loop of its consumer"},
      // --- instructions and settings ---
      {"replace_configured", "for accelerators: wherever an instruction fits"},
      {"bind_config", "for accelerators: settings that come from arguments"},
      {"hoist_config", "for accelerators, always: settings before the loops"},
      {"simplify", "for accelerators, between steps"},
      {"insert_noop_call", "for accelerators: a fence before what the processor reads of stores"},
      // --- threads and procedures ---
      {"H_parallel", "with --threads: the outermost loop without a race"},
      {"partial_eval", "always: the sizes that a kernel is tuned for"},
      {"extract_subproc", "for programs of several parts: each becomes a procedure"},
      {"call_eqv", "for programs: the scheduled part takes the place of the one as written"},
      // --- what a search keeps to ---
      {"keep_order", "with what a partial schedule keeps"},
      {"pin", "with what a partial schedule keeps"},
  };
  return proposals;
}

}  // namespace exotune
