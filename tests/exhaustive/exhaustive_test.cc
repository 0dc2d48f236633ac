// Every primitive on every small proc: the result computes the same, is a valid program, and keeps
// the cursors to what it did not touch, and the step replays from its trace; or the primitive refuses. EXO_EXHAUSTIVE_LONG=1 runs the
// long form; EXO_EXHAUSTIVE_ONLY=op restricts it to one operator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/operators.h"
#include "core/library/script.h"
#include "tests/exhaustive/generator.h"
#include "tests/exhaustive/moves.h"
#include "tests/exhaustive/oracle.h"

namespace exotune::exhaustive {
namespace {

bool long_form() {
  const char* v = std::getenv("EXO_EXHAUSTIVE_LONG");
  return v && *v && *v != '0';
}

struct Count {
  int64_t tried = 0, accepted = 0;
};

class Trial {
 public:
  explicit Trial(const Grammar& g) : grammar_(g) {
    if (const char* only = std::getenv("EXO_EXHAUSTIVE_ONLY")) only_ = only;
  }

  /// False when the choices made no valid program.
  bool proc(Choices& c) {
    const ProcPtr p = generate(grammar_, c);
    if (!valid(p, nullptr)) return false;
    const Oracle oracle(p);
    if (!oracle.usable()) return false;
    ++procs_;
    for (const Move& m : moves_of(p)) try_move(p, p, oracle, m);
    return true;
  }

  /// A walk of `length` accepted moves from one proc; every step is compared with the start.
  void walk(Choices& c, int length) {
    const ProcPtr start = generate(grammar_, c);
    if (!valid(start, nullptr)) return;
    const Oracle oracle(start);
    if (!oracle.usable()) return;
    ++procs_;
    ProcPtr p = start;
    for (int step = 0; step < length; ++step) {
      std::vector<Move> moves = moves_of(p);
      ProcPtr next;
      for (int attempt = 0; attempt < 12 && !next; ++attempt) {
        Move& m = moves[static_cast<size_t>(c.pick(static_cast<int>(moves.size())))];
        if (m.fixes_n || m.transposes) continue;
        next = try_move(start, p, oracle, m);
      }
      if (!next) break;
      p = next;
    }
    replay_script(start, p);
  }

  void report() {
    std::cout << grammar_.name << ": " << procs_ << " procs";
    Count all;
    for (const auto& [op, n] : counts_) all.tried += n.tried, all.accepted += n.accepted;
    std::cout << ", " << all.tried << " tried, " << all.accepted << " accepted, " << all.tried - all.accepted
              << " refused\n";
    if (long_form())
      for (const auto& [op, n] : counts_)
        std::cout << "    " << op << ": " << n.tried << " tried, " << n.accepted << " accepted\n";
  }

 private:
  static bool valid(const ProcPtr& p, std::string* why) {
    try {
      check(*p);
      return true;
    } catch (const InputError& e) {
      if (why) *why = e.what();
      return false;
    }
  }

  ProcPtr try_move(const ProcPtr& start, const ProcPtr& p, const Oracle& oracle, const Move& m) {
    if (!only_.empty() && only_ != m.op) return nullptr;
    Count& n = counts_[m.op];
    ++n.tried;
    ProcPtr q;
    try {
      q = m.apply();
    } catch (const SchedulingError&) {
      return nullptr;
    } catch (const InvalidCursorError&) {
      return nullptr;
    } catch (const std::exception& e) {
      fail(start, p, p, m, std::string("it raised ") + e.what());
      return nullptr;
    }
    ++n.accepted;
    // Precisions are changed one buffer at a time and agree only when the user is done.
    const bool on_the_way = m.op == std::string("set_precision");
    std::string why;
    const bool is_valid = on_the_way || valid(q, &why);
    // Code that never runs may come to read a buffer that no longer is written: no fault of the step.
    const bool undefined = why.find("contents are undefined") != std::string::npos;
    if (!is_valid && !undefined) {
      fail(start, p, q, m, "the result is no valid program: " + why);
      return nullptr;
    }
    why = oracle.difference(*q, m.fixes_n ? std::optional<int64_t>(3) : std::nullopt, m.transposes);
    if (!why.empty()) {
      fail(start, p, q, m, why);
      return nullptr;
    }
    why = lost_cursor(p, q);
    if (!why.empty()) {
      fail(start, p, q, m, why);
      return nullptr;
    }
    if (++accepted_ % 8 == 0) replay_step(start, p, q, m);
    return on_the_way || undefined ? nullptr : q;
  }

  // The trace's operator and arguments make the same proc again.
  void replay_step(const ProcPtr& start, const ProcPtr& p, const ProcPtr& q, const Move& m) {
    const Provenance& how = *provenance_of(*q);
    std::vector<Value> args = {Value(p)};
    std::vector<std::pair<std::string, Value>> keywords;
    for (const Value& v : how.args)
      if (const auto* map = v.as<std::map<std::string, Value>>())
        keywords.assign(map->begin(), map->end());
      else
        args.push_back(v);
    try {
      const Operator* op = find_operator(how.op);
      if (!op) throw InputError({}, "there is no operator " + how.op);
      const Value result = call_operator(*op, args, keywords);
      const ProcPtr* again = result.as<ProcPtr>();
      if (const ValueList* list = result.as<ValueList>()) again = (*list)[0].as<ProcPtr>();
      if (again && str(**again) == str(*q)) return;
      fail(start, p, q, m, "replaying the step gives another proc:\n" + (again ? str(**again) : result.str()));
    } catch (const Error& e) {
      fail(start, p, q, m, std::string("replaying the step fails: ") + e.what());
    }
  }

  // The whole trace as a script, from its text.
  void replay_script(const ProcPtr& start, const ProcPtr& p) {
    ScriptEnvironment environment;
    environment.start = start;
    environment.names["p"] = Value(start);
    environment.names["DRAM_STACK"] = Value(dram_stack());
    environment.names["nothing"] = Value(nothing());
    environment.names["Cfg"] = Value(config());
    for (const ProcPtr& c : callees()) environment.names[c->name] = Value(c);
    const std::string script = trace_script(p);
    std::string why;
    try {
      const ProcPtr again = run_script(script, "trace.sched", environment).proc;
      if (str(*again) == str(*p)) return;
      why = "another proc comes out:\n" + str(*again);
    } catch (const Error& e) {
      why = e.what();
    }
    if (++failures_["script"] > 2) {
      ADD_FAILURE() << "script again";
      return;
    }
    ADD_FAILURE() << "replaying\n" << script << "fails: " << why << "\n--- start\n" << str(*start)
                  << "--- wanted\n" << str(*p);
  }

  void fail(const ProcPtr& start, const ProcPtr& p, const ProcPtr& q, const Move& m, const std::string& why) {
    if (++failures_[m.op] > 2) {
      ADD_FAILURE() << m.op << " again";
      return;
    }
    ADD_FAILURE() << m.text << ": " << why << "\n--- start\n" << (start == p ? "(as before)\n" : str(*start))
                  << "--- before\n" << str(*p) << "--- after\n" << str(*q);
  }

  const Grammar& grammar_;
  std::string only_;
  int64_t procs_ = 0, accepted_ = 0;
  std::map<std::string, Count> counts_;
  std::map<std::string, int> failures_;
};

/// Every proc of the grammar, or every `stride`-th.
void every_proc(const Grammar& g, int stride) {
  Trial t(g);
  Exhaustive c;
  int64_t k = 0;
  do {
    if (k++ % stride == 0) {
      t.proc(c);
    } else {
      generate(g, c);
    }
  } while (c.advance());
  t.report();
}

void sampled_procs(const Grammar& g, int samples, int walks) {
  Trial t(g);
  for (int seed = 1; seed <= samples; ++seed) {
    Sampled c(static_cast<uint64_t>(seed));
    t.proc(c);
  }
  for (int seed = 1; seed <= walks; ++seed) {
    Sampled c(static_cast<uint64_t>(seed) + 1000000);
    t.walk(c, 5);
  }
  t.report();
}

int scaled(int slice, int full) { return long_form() ? full : slice; }

TEST(Exhaustive, nests_of_two_small_statements) {
  const Grammar g{.name = "small", .max_leaves = 2, .max_depth = 2, .small = true};
  if (long_form()) {
    every_proc(g, 97);
  } else {
    sampled_procs(g, 200, 0);
  }
}
TEST(Exhaustive, loop_nests) {
  sampled_procs({.name = "loops", .max_leaves = 3, .max_depth = 3, .matrix = true}, scaled(80, 6000), scaled(80, 6000));
}
TEST(Exhaustive, guards) {
  sampled_procs({.name = "guards", .max_leaves = 3, .max_depth = 3, .guards = true}, scaled(80, 6000), scaled(80, 6000));
}
TEST(Exhaustive, local_buffers) {
  sampled_procs({.name = "locals", .max_leaves = 3, .max_depth = 2, .locals = true}, scaled(80, 6000), scaled(80, 6000));
}
TEST(Exhaustive, windows) {
  sampled_procs({.name = "windows", .max_leaves = 3, .max_depth = 2, .windows = true}, scaled(80, 6000), scaled(80, 6000));
}
TEST(Exhaustive, calls) {
  sampled_procs({.name = "calls", .max_leaves = 2, .max_depth = 2, .windows = true, .calls = true}, scaled(80, 6000),
                scaled(80, 6000));
}
TEST(Exhaustive, configuration) {
  sampled_procs({.name = "config", .max_leaves = 3, .max_depth = 2, .guards = true, .config = true}, scaled(80, 6000),
                scaled(80, 6000));
}
TEST(Exhaustive, parallel_loops) {
  sampled_procs({.name = "parallel", .max_leaves = 3, .max_depth = 2, .locals = true, .parallel = true}, scaled(80, 6000),
                scaled(80, 6000));
}
TEST(Exhaustive, idioms) {
  sampled_procs({.name = "idioms", .max_leaves = 2, .max_depth = 1, .windows = true, .idioms = true},
                scaled(150, 8000), scaled(80, 8000));
}
TEST(Exhaustive, everything_together) {
  sampled_procs({.name = "all",
                 .max_leaves = 4,
                 .max_depth = 3,
                 .locals = true,
                 .windows = true,
                 .calls = true,
                 .guards = true,
                 .config = true,
                 .matrix = true,
                 .idioms = true},
                scaled(80, 6000), scaled(150, 10000));
}

}  // namespace
}  // namespace exotune::exhaustive
