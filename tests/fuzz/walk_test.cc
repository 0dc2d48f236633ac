// Random walks of accepted primitives over generated procs: each result prints to text that reads
// back to it, and its trace replays to it. EXOTUNE_LONG=1 takes fifty times as many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "tests/exhaustive/callees.h"
#include "tests/exhaustive/generator.h"
#include "tests/exhaustive/moves.h"

namespace exotune::fuzz {
namespace {

using exhaustive::Choices;
using exhaustive::Grammar;
using exhaustive::Move;

Module names() {
  Module m;
  for (const MemoryPtr& memory : {dram(), dram_stack(), dram_static()})
    m.memories[memory->name] = memory;
  m.imported_procs = exhaustive::callees();
  m.configs[exhaustive::config()->name] = exhaustive::config();
  return m;
}

bool accepted(const std::function<ProcPtr()>& f, ProcPtr& into) {
  try {
    into = f();
    return true;
  } catch (const SchedulingError&) {
  } catch (const InvalidCursorError&) {
  } catch (const InputError&) {
  }
  return false;
}

// The first proc made by extract_subproc on the way cannot be named by a text of its own.
bool calls_unknown(const Proc& p, const Module& m) {
  bool unknown = false;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    unknown |= c && m.find_proc(c->callee->name) != c->callee;
  });
  return unknown;
}

// Makes the procs that the steps of a trace were given callable by name; false when two share one.
bool add_given_procs(const ProcPtr& p, Module& m) {
  for (const TraceStep& step : trace_of(p)) {
    for (const Value& v : step.how->args) {
      const ProcPtr* given = v.as<ProcPtr>();
      if (!given) continue;
      ProcPtr known = m.find_proc((*given)->name);
      if (known && known != *given) return false;
      if (!known) m.imported_procs.push_back(*given);
    }
  }
  return true;
}

void expect_text_and_trace(const ProcPtr& start, const ProcPtr& p) {
  Module m = names();
  m.procs = {start};
  const bool all_named = add_given_procs(p, m);
  const std::string printed = str(*p);
  if (!calls_unknown(*p, m)) {
    try {
      EXPECT_EQ(str(*parse_module(printed, "printed.exo", {}, &m).procs.at(0)), printed);
    } catch (const Error& e) {
      ADD_FAILURE() << "what was printed is refused: " << e.what() << printed;
    }
  }
  if (!all_named) return;
  const std::string trace = trace_script(p);
  try {
    EXPECT_EQ(str(*run_script(trace, "trace", script_environment(m)).proc), printed)
        << "--- start\n"
        << str(*start) << "--- trace\n"
        << trace;
  } catch (const Error& e) {
    ADD_FAILURE() << "the trace is refused: " << e.what() << "--- start\n"
                  << str(*start) << "--- trace\n"
                  << trace;
  }
}

// Returns the number of steps that the walk took.
int walk(const Grammar& g, Choices& c, int length) {
  ProcPtr start;
  bool valid = accepted(
      [&] {
        ProcPtr made = exhaustive::generate(g, c);
        check(*made);
        return made;
      },
      start);
  if (!valid) return 0;
  ProcPtr p = start;
  int steps = 0;
  for (int attempt = 0; attempt < 8 * length && steps < length; ++attempt) {
    std::vector<Move> moves = exhaustive::moves_of(p, exhaustive::callees_of(p));
    const Move& m = moves[static_cast<size_t>(c.pick(static_cast<int>(moves.size())))];
    steps += accepted(m.apply, p);
  }
  expect_text_and_trace(start, p);
  return steps;
}

TEST(Walk, of_accepted_primitives_prints_and_replays) {
  const Grammar grammars[] = {
      {.name = "plain", .max_leaves = 3, .guards = true, .matrix = true},
      {.name = "locals", .max_leaves = 3, .locals = true, .windows = true, .idioms = true},
      {.name = "calls", .max_leaves = 3, .windows = true, .calls = true, .config = true},
  };
  for (const Grammar& g : grammars) {
    int steps = 0;
    const uint64_t seeds = std::getenv("EXOTUNE_LONG") ? 5000 : 100;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      exhaustive::Sampled c(seed);
      steps += walk(g, c, 6);
      if (HasFailure()) FAIL() << "grammar " << g.name << ", seed " << seed;
    }
    EXPECT_GT(steps, 100) << g.name;
  }
}

}  // namespace
}  // namespace exotune::fuzz
