#pragma once
// Terms: what a run of a scheduled proc is counted in, and what one of each costs. The cost is
// affine: the sum over the terms of weight * count, save that of the two sides, what the core does
// and what memory brings, the greater hides a share of the lesser. Start at CostWeights.
//
// Each term is something a machine does, so that its weight can be read (cycles for a line out of
// L2) and fitted from measured runs (cost/fit.h), and each can be switched off by its name.
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "cost/instruction_figures.h"
#include "hw/core_facts.h"

namespace exotune {

enum class Term : uint8_t {
  kRun,         // one call of the kernel
  kPort,        // cycles of the busiest port, block by block: arithmetic, loads, stores, others
  kArithmetic,  // cycles of arithmetic instructions, whatever else goes on
  kLoad,        // cycles of loads
  kStore,       // cycles of stores
  kOther,       // cycles of moves, broadcasts of registers, reductions, ...
  kLatency,     // cycles that chains of dependent results take beyond the busiest port
  kSplit,       // vectors that lie across two lines
  kPartial,     // stores of part of a vector, which a load soon after has to wait for
  kSpill,       // registers beyond the file, for each iteration that uses them
  kIndexed,     // vectors in an array of registers that a variable picks from
  kScalar,      // data operations outside instructions
  kCompiled,    // cycles of the busiest port in loops that a C compiler makes vectors of
  kChain,       // cycles of chains of scalar results beyond their operations
  kLoop,        // iterations
  kEntry,       // loops entered
  kBranch,      // ifs decided
  kCall,        // procs called
  kLines1,      // lines brought into the first cache, ...
  kLines2,
  kLines3,
  kScattered1,  // of them, those in runs too short for prefetchers
  kScattered2,
  kScattered3,
  kPages,  // pages beyond those whose translations are at hand
};
/// A term is an enumerator, its row here, and where cost/features.cc counts it.
struct TermRow {
  Term term;
  const char* name;
  double weight;  // cycles where nothing was measured; lines take theirs from the caches instead
};
inline constexpr TermRow kTermRows[] = {
    {Term::kRun, "run", 20},
    {Term::kPort, "port", 1},
    {Term::kArithmetic, "arithmetic", 0},
    {Term::kLoad, "load", 0},
    {Term::kStore, "store", 0},
    {Term::kOther, "other", 0},
    {Term::kLatency, "latency", 1},
    {Term::kSplit, "split", 0.5},
    {Term::kPartial, "partial store", 2},
    {Term::kSpill, "spill", 2},
    {Term::kIndexed, "indexed", 1},
    {Term::kScalar, "scalar", 1},
    {Term::kCompiled, "compiled", 1},
    {Term::kChain, "chain", 1},
    {Term::kLoop, "loop", 1},
    {Term::kEntry, "entry", 0},
    {Term::kBranch, "branch", 1},
    {Term::kCall, "call", 10},
    {Term::kLines1, "lines into cache 1", 0},
    {Term::kLines2, "lines into cache 2", 0},
    {Term::kLines3, "lines into cache 3", 0},
    {Term::kScattered1, "scattered lines into cache 1", 0},
    {Term::kScattered2, "scattered lines into cache 2", 0},
    {Term::kScattered3, "scattered lines into cache 3", 0},
    {Term::kPages, "pages", 0},
};
inline constexpr size_t kTerms = std::size(kTermRows);  // one row each
static_assert(
    [] {
      for (size_t k = 0; k < kTerms; ++k)
        if (kTermRows[k].term != static_cast<Term>(k)) return false;
      return kTermRows[kTerms - 1].term == Term::kPages;
    }(),
    "one row a term, in the order of the enumeration");
inline constexpr size_t kCacheTerms = 3;  // caches that have terms of their own
/// Terms of memory; the others are the core's.
constexpr bool is_memory(Term t) { return t >= Term::kLines1; }

/// "run", "port", "lines into cache 1", ...
const char* name_of(Term t);
/// InputError, naming the nearest, for a name that no term has.
Term term_of(const std::string& name);
/// In the order of the enumeration.
std::vector<std::string> term_names();

/// How often each term occurs in one run.
struct Features {
  std::array<double, kTerms> count{};
  double& operator[](Term t) { return count[static_cast<size_t>(t)]; }
  double operator[](Term t) const { return count[static_cast<size_t>(t)]; }
  /// `times` runs of the other.
  void add(const Features& other, double times = 1);
};

struct CostCache {
  int64_t bytes = 0;
  int line_bytes = 64;         // unit of transfer from the next level out
  double cycles_per_line = 0;  // to bring one line in from the next level out
};

/// What counting needs to know of the machine.
struct CostMachine {
  std::vector<CostCache> caches;  // nearest first; those beyond kCacheTerms are not counted
  double latency = 4;             // cycles until an accumulating instruction's result can be used
  double load_latency = 7;
  int vector_bytes = 16;            // of what a C compiler makes of scalar loops
  InstructionFigures instructions;  // what is known of them beyond the text
  CoreFacts core = default_core();
};

/// Cycles for one of each term, and the machine they were found on.
struct CostWeights {
  CostMachine machine;
  std::array<double, kTerms> cycles{};
  /// Share of the lesser side, core or memory, that the other hides; 0: the plain sum.
  double hidden = 0.5;
  bool fitted = false;  // from measured runs, else from the target's text

  double operator[](Term t) const { return cycles[static_cast<size_t>(t)]; }
  double& operator[](Term t) { return cycles[static_cast<size_t>(t)]; }
  /// The same with one term switched off.
  CostWeights without(Term t) const;
  /// For a model of levels: cycles for a line into each cache, nearest first.
  std::vector<double> cycles_per_line() const;
};

/// What the text of a target says, where nothing was measured: latencies, what lines cost, the
/// target's `cost` of each instruction. Not `fitted`.
CostWeights default_weights(const CostMachine& machine);

}  // namespace exotune
