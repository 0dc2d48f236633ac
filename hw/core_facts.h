#pragma once
// CoreFacts: what models need to know of a core beside its caches. Every number is text: the table
// [core] of a file of hw/uarch. What a file leaves out is as in hw/uarch/default.toml, which is
// built in, so that targets outside of hw have it too. Start at CoreFacts.
#include <string>
#include <vector>

#include "hw/toml_table.h"

namespace exotune {

/// Cycles and counts of one core; 0: nothing is said.
struct CoreFacts {
  // Bytes that one translation of addresses covers. Sets of the first cache repeat after as many:
  // they are looked up before the address is translated.
  double page = 0;
  double translations = 0;  // that the nearest buffer of them keeps
  double window = 0;        // instructions that the core looks ahead
  double scalar_width = 0;  // scalar operations at once
  // Cycles from one vector of a compiled loop to the next, each on ports of its own.
  double load = 0, store = 0, arithmetic = 0;
  double shuffle = 0;        // cycles for each vector that a compiler takes apart
  double operand_load = 0;   // cycles of the load inside an arithmetic instruction
  double thread_start = 0;   // cycles until a team of threads runs
  double thread_memory = 0;  // threads that memory serves as fast as one
  double ways = 0;           // of the caches behind the first one: sets repeat after bytes / ways
  double stream_ramp = 0;    // lines until prefetchers are ahead of a stream
  // Lines that stores past the caches may fill side by side: of more, some leave in parts.
  double combined_lines = 0;
  double cache_full = 0;  // share of a cache where it begins to lose lines
  // Lines of rows that lie apart: their cost in adjacent ones, and how many lines of a cache one of
  // them takes, as they compete for the same sets.
  double apart_cost = 0, apart_lines = 0;
  double port_crowding = 0;  // share of the other ports' work that delays the busiest one
  // Where nothing is said, the target's text of its instructions stands.
  double fma = 0;  // cycles from one vector multiply-add to the next, if more than the text says
  double fma_latency = 0, load_latency = 0;

  bool operator==(const CoreFacts&) const = default;
};

/// One fact, by its key in the text.
struct CoreFact {
  const char* key;
  const char* unit;
  double CoreFacts::*value;
};
/// All of them, in the order in which they are shown.
const std::vector<CoreFact>& core_facts();

/// The core of which nothing is known: hw/uarch/default.toml as it was built in. Parsed once.
const CoreFacts& default_core();

/// The facts of a [core] table on top of `otherwise`. InputError for a key that is none of them and
/// for a number below 0.
CoreFacts read_core(const TomlTable& core, CoreFacts otherwise);

}  // namespace exotune
