// Random programs, random chains of operators, and the C of every result: under AddressSanitizer
// and UndefinedBehaviorSanitizer, on four threads, against the interpreter on the same arguments;
// the interpreter against itself on the program that the chain began with. Operators are applied to
// the result of the one before, cursors and provenance and all.
//
//   EXOTUNE_LONG=1             2000 applications instead of some 100
//   EXOTUNE_FUZZ_APPLICATIONS  that many, with a line for each program of them
//   EXOTUNE_FUZZ_SEED          where the samples begin
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"
#include "tests/emitted/c_program.h"
#include "tests/exhaustive/environment.h"
#include "tests/exhaustive/trial.h"

namespace exotune::emitted {
namespace {

using exhaustive::Grammar;
using exhaustive::Move;
using exhaustive::Outcome;

const Grammar kGrammars[] = {
    {.name = "nests", .max_leaves = 3, .max_depth = 3, .guards = true, .matrix = true},
    exhaustive::kBuffers,
    {.name = "calls",
     .max_leaves = 3,
     .max_depth = 2,
     .locals = true,
     .windows = true,
     .calls = true,
     .guards = true,
     .parallel = true},
    {.name = "idioms", .max_leaves = 3, .max_depth = 1, .windows = true, .idioms = true},
    {.name = "state",
     .max_leaves = 3,
     .max_depth = 2,
     .locals = true,
     .guards = true,
     .config = true,
     .device = true,
     .parallel = true},
    {.name = "shadowed",
     .max_leaves = 3,
     .max_depth = 3,
     .locals = true,
     .windows = true,
     .guards = true,
     .parallel = true,
     .shadowing = true},
    {.name = "casts",
     .max_leaves = 3,
     .max_depth = 2,
     .locals = true,
     .calls = true,
     .parallel = true,
     .idioms = true,
     .statics = true,
     .casts = true},
    {.name = "procs",
     .max_leaves = 3,
     .max_depth = 2,
     .windows = true,
     .parallel = true,
     .procs = true},
    {.name = "rare", .max_leaves = 1, .max_depth = 1, .rare = true},
    exhaustive::kEverything,
};

Build sanitizers_on_threads(bool clang) {
  Build b = address_sanitizer();
  if (clang) b.compiler = "clang";
  b.flags.insert(b.flags.end(), {"-O0", "-fopenmp"});
  const Build threads = four_threads();
  b.environment.insert(b.environment.end(), threads.environment.begin(), threads.environment.end());
  return b;
}

class Fuzz {
 public:
  explicit Fuzz(uint64_t seed) : seed_(seed) {}

  /// One program's worth of applications.
  void round(int applications) {
    CProgram program;
    procs_.clear();
    const int64_t until = applications_ + applications;
    while (applications_ < until) chain(program, seed_++);
    const bool clang = rounds_++ % 2 == 1;
    for (const CProgram::Failure& f : program.run(sanitizers_on_threads(clang)))
      ADD_FAILURE() << f.what << "\n"
                    << (clang ? "clang" : "gcc") << ", after\n"
                    << trace_script(procs_.at(f.proc));
    calls_ += static_cast<int64_t>(program.calls());
  }

  int64_t applications() const { return applications_; }
  std::string report() const {
    return std::to_string(applications_) + " accepted of " + std::to_string(tried_) + ", " +
           std::to_string(compiled_) + " different results through C in " + std::to_string(calls_) +
           " calls, " + std::to_string(loops_) + " parallel loops, " + std::to_string(without_c_) +
           " have no C; next seed " + std::to_string(seed_);
  }

 private:
  void chain(CProgram& program, uint64_t seed) {
    const Grammar& g = kGrammars[seed % std::size(kGrammars)];
    exhaustive::Sampled choices(seed);
    ProcPtr p = exhaustive::generate(g, choices);
    const std::optional<exhaustive::Start> start = exhaustive::start_at(p);
    if (!start) return;
    const auto& [proc, oracle, known] = *start;
    for (int length = 0; length < 8; ++length) {
      std::vector<Move> moves = exhaustive::moves_of(p, known, g.shadowing);
      prefer_memories(moves);
      ProcPtr next;
      for (int attempt = 0; attempt < 16; ++attempt) {
        const Move& m = moves[static_cast<size_t>(choices.pick(static_cast<int>(moves.size())))];
        ++tried_;
        const Outcome out = exhaustive::try_move(p, oracle, m, false);
        if (out.kind == Outcome::Kind::kWrong)
          ADD_FAILURE() << exhaustive::text_of(m, p, known, g.shadowing) << ": " << out.why
                        << "\n--- before\n"
                        << str(*p) << "--- after\n"
                        << str(*out.result);
        if (out.kind != Outcome::Kind::kAccepted) continue;
        ++applications_;
        emit(program, out.result);
        if (out.goes_on) next = out.result;
      }
      if (!next) return;
      p = next;
    }
  }

  // Memories are moved to as often as the many moves beside that.
  static void prefer_memories(std::vector<Move>& moves) {
    const size_t size = moves.size();
    for (size_t k = 0; k < size; ++k)
      if (moves[k].op == std::string("set_memory")) moves.insert(moves.end(), 3, Move(moves[k]));
  }

  void emit(CProgram& program, const ProcPtr& p) {
    if (!seen_.insert(std::hash<std::string>()(str(*p))).second) return;
    size_t proc = 0;
    try {
      proc = program.add(p);
    } catch (const InputError&) {
      ++without_c_;  // sizes that are not constant in static memory, a device's configuration
      return;
    }
    procs_.push_back(p);
    ++compiled_;
    loops_ += parallel_loops(*p);
    FillOptions fill;
    fill.strided_windows = true;
    for (const int64_t n : {1, 2, 5})
      program.call(proc, make_arguments(*p, {{"N", n}}, static_cast<uint64_t>(n), fill));
  }

  uint64_t seed_;
  int64_t applications_ = 0, tried_ = 0, compiled_ = 0, calls_ = 0, loops_ = 0, without_c_ = 0;
  int rounds_ = 0;
  std::set<size_t> seen_;
  std::vector<ProcPtr> procs_;  // of the program of this round
};

TEST(EmittedC, of_random_chains_computes_what_the_interpreter_says) {
  const int64_t asked = exhaustive::number("EXOTUNE_FUZZ_APPLICATIONS", 0);
  const int64_t wanted = asked ? asked : exhaustive::long_form() ? 2000 : 120;
  Fuzz fuzz(static_cast<uint64_t>(exhaustive::number("EXOTUNE_FUZZ_SEED", 1)));
  while (fuzz.applications() < wanted && !HasFailure()) {
    fuzz.round(static_cast<int>(std::min<int64_t>(wanted, 400)));
    if (asked) std::cout << fuzz.report() << std::endl;
  }
  std::cout << fuzz.report() << "\n";
  EXPECT_GT(fuzz.applications(), wanted / 2);
}

}  // namespace
}  // namespace exotune::emitted
