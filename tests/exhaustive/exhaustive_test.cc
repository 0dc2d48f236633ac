// Every primitive on every small proc: the result computes the same, is a valid program, keeps the
// cursors to what it did not touch and replays from its trace; or the primitive refuses.
//
//   EXOTUNE_LONG=1              the long form (./dev test --long): prints a table by primitive
//   EXOTUNE_EXHAUSTIVE_ONLY=op  one operator
//   EXOTUNE_EXHAUSTIVE_SEED=n   where the samples begin; a long run in pieces counts it up
//
// A proc on which a primitive goes wrong is shrunk and written to regressions/ under the build
// folder: move it to tests/exhaustive/regressions, where every primitive is tried on it for ever.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "core/cursor/cursor.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/operators.h"
#include "core/primitives/operator_rows.h"
#include "tests/exhaustive/callees.h"
#include "tests/exhaustive/environment.h"
#include "tests/exhaustive/trial.h"

namespace exotune::exhaustive {
namespace {

uint64_t first_seed() { return static_cast<uint64_t>(number("EXOTUNE_EXHAUSTIVE_SEED", 1)); }

// Over all grammars of this run.
Tally& total() {
  static Tally t;
  return t;
}

class Trial {
 public:
  explicit Trial(const Grammar& g) : grammar_(g), only_(variable("EXOTUNE_EXHAUSTIVE_ONLY")) {}

  /// Every move on the proc that the choices make, if it is a valid one.
  void proc(Choices& c) { proc(generate(grammar_, c)); }
  void proc(const ProcPtr& p) {
    const std::optional<Start> start = start_at(p);
    if (!start) return;
    ++procs_;
    const auto& [proc, oracle, known] = *start;
    for (const Move& m : moves_of(p, known, grammar_.shadowing)) {
      const ProcPtr q = step(p, p, oracle, m, known);
      // What was inlined, and then anything else, is a call again where it still computes the same.
      if (!q || !grammar_.procs || m.op != std::string("inline")) continue;
      for (const Move& back : moves_of(q, known))
        if (back.op == std::string("replace")) step(p, q, oracle, back, known);
    }
  }

  /// A walk of `length` accepted moves from one proc; every step is compared with the start, and
  /// the cursors of the start come along.
  void walk(Choices& c, int length) {
    const std::optional<Start> begin = start_at(generate(grammar_, c));
    if (!begin) return;
    const auto& [start, oracle, known] = *begin;
    ++procs_;
    std::vector<Cursor> carried;
    for (const Path& at : all_stmt_paths(*start)) {
      carried.push_back(Cursor::stmt(start, at));
      carried.push_back(carried.back().before());
      carried.push_back(carried.back().anchor().expand(0, 1));
    }
    for (size_t k = 0; k < start->args.size(); ++k)
      carried.push_back(Cursor::arg(start, static_cast<int>(k)));
    const std::vector<Cursor> original = carried;
    ProcPtr p = start;
    for (int n = 0; n < length; ++n) {
      const std::vector<Move> moves = moves_of(p, known, grammar_.shadowing);
      ProcPtr next;
      for (int attempt = 0; attempt < 12 && !next; ++attempt)
        next = step(start, p, oracle,
                    moves[static_cast<size_t>(c.pick(static_cast<int>(moves.size())))], known);
      if (!next) break;
      for (Cursor& cursor : carried)
        if (cursor.valid()) cursor = forward(next, cursor);
      p = next;
    }
    for (size_t k = 0; k < carried.size(); ++k) {
      const Cursor direct = forward(p, original[k]);
      EXPECT_EQ(direct.kind(), carried[k].kind()) << "the cursor to " << original[k].describe();
      EXPECT_EQ(direct.path(), carried[k].path()) << "the cursor to " << original[k].describe();
      EXPECT_EQ(direct.length(), carried[k].valid() ? carried[k].length() : direct.length());
    }
    const std::string why = script_difference(start, p);
    if (!why.empty() && ++failures_["the script"] <= 2)
      ADD_FAILURE() << why << "\n--- start\n" << str(*start) << "--- wanted\n" << str(*p);
  }

  void report() const {
    const Tally::Count all = tally_.total();
    std::cout << grammar_.name << ": " << procs_ << " procs, " << all.tried << " tried, "
              << all.accepted << " accepted, " << all.refused() << " refused, " << all.wrong
              << " wrong\n";
    total().add(tally_);
  }

 private:
  // The result when a walk may go on from it.
  ProcPtr step(const ProcPtr& start, const ProcPtr& p, const Oracle& oracle, const Move& m,
               const std::vector<ProcPtr>& known) {
    if (!only_.empty() && only_ != m.op) return nullptr;
    Tally::Count& n = tally_.by_operator[m.op];
    ++n.tried;
    Outcome out = try_move(p, oracle, m, grammar_.shadowing || n.tried % 8 == 0);
    switch (out.kind) {
      case Outcome::Kind::kRefused:
        return nullptr;
      case Outcome::Kind::kAccepted:
        ++n.accepted;
        return out.goes_on ? out.result : nullptr;
      case Outcome::Kind::kWrong:
        ++n.wrong;
        break;
    }
    if (++failures_[m.op] > 2) {
      ADD_FAILURE() << m.op << " again";
      return nullptr;
    }
    const ProcPtr small = shrink(p, m.op);
    ADD_FAILURE() << text_of(m, p, known, grammar_.shadowing) << ": " << out.why << "\n--- start\n"
                  << (start == p ? "(as before)\n" : str(*start)) << "--- before\n"
                  << str(*p) << "--- after\n"
                  << str(*out.result) << "--- shrunk\n"
                  << str(*small) << store(*small, m.op);
    return nullptr;
  }

  static std::string store(const Proc& p, const std::string& op) {
    const std::filesystem::path folder = std::filesystem::path(EXOTUNE_BINARY_DIR) / "regressions";
    std::filesystem::create_directories(folder);
    const std::string text = str(p);
    const auto file =
        folder / (op + "_" + std::to_string(std::hash<std::string>()(text) % 10000) + ".exo");
    std::ofstream(file) << text;
    return "stored as " + file.string();
  }

  const Grammar& grammar_;
  std::string only_;
  int64_t procs_ = 0;
  Tally tally_;
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
  for (uint64_t seed = first_seed(); samples-- > 0; ++seed) {
    Sampled c(seed);
    t.proc(c);
  }
  for (uint64_t seed = first_seed() + 1000000; walks-- > 0; ++seed) {
    Sampled c(seed);
    t.walk(c, 5);
  }
  t.report();
}

int scaled(int slice, int full) { return long_form() ? full : slice; }
void sampled_procs(const Grammar& g) { sampled_procs(g, scaled(40, 6000), scaled(40, 6000)); }

TEST(Exhaustive, nests_of_two_small_statements) {
  const Grammar g{.name = "small", .max_leaves = 2, .max_depth = 2, .small = true};
  if (long_form() && first_seed() == 1) {
    every_proc(g, 97);
  } else {
    sampled_procs(g, 100, 0);
  }
}
TEST(Exhaustive, loop_nests) {
  sampled_procs({.name = "loops", .max_leaves = 3, .max_depth = 3, .matrix = true});
}
TEST(Exhaustive, guards) {
  sampled_procs({.name = "guards", .max_leaves = 3, .max_depth = 3, .guards = true});
}
TEST(Exhaustive, local_buffers) {
  sampled_procs({.name = "locals", .max_leaves = 3, .max_depth = 2, .locals = true});
}
TEST(Exhaustive, windows) {
  sampled_procs(
      {.name = "windows", .max_leaves = 3, .max_depth = 2, .windows = true, .matrix = true});
}
TEST(Exhaustive, calls) {
  sampled_procs({.name = "calls", .max_leaves = 2, .max_depth = 2, .windows = true, .calls = true});
}
TEST(Exhaustive, configuration) {
  sampled_procs(
      {.name = "config", .max_leaves = 3, .max_depth = 2, .guards = true, .config = true});
}
TEST(Exhaustive, device_configuration) {
  sampled_procs(
      {.name = "device", .max_leaves = 4, .max_depth = 2, .config = true, .device = true});
}
TEST(Exhaustive, parallel_loops) {
  sampled_procs({.name = "parallel",
                 .max_leaves = 3,
                 .max_depth = 2,
                 .locals = true,
                 .windows = true,
                 .calls = true,
                 .parallel = true,
                 .statics = true,
                 .casts = true});
}
TEST(Exhaustive, casts) {
  sampled_procs({.name = "casts",
                 .max_leaves = 3,
                 .max_depth = 2,
                 .locals = true,
                 .calls = true,
                 .idioms = true,
                 .casts = true});
}
TEST(Exhaustive, several_procs) {
  sampled_procs({.name = "procs",
                 .max_leaves = 3,
                 .max_depth = 2,
                 .windows = true,
                 .parallel = true,
                 .procs = true});
}
TEST(Exhaustive, forms_that_are_rare) {
  sampled_procs({.name = "rare", .max_leaves = 1, .max_depth = 1, .rare = true}, scaled(100, 12000),
                scaled(40, 8000));
}
TEST(Exhaustive, shadowed_names) {
  sampled_procs({.name = "shadowed",
                 .max_leaves = 3,
                 .max_depth = 3,
                 .locals = true,
                 .windows = true,
                 .guards = true,
                 .matrix = true,
                 .shadowing = true});
}
TEST(Exhaustive, idioms) {
  sampled_procs(
      {.name = "idioms", .max_leaves = 2, .max_depth = 1, .windows = true, .idioms = true},
      scaled(80, 8000), scaled(40, 8000));
}
TEST(Exhaustive, everything_together) {
  sampled_procs(kEverything, scaled(40, 6000), scaled(75, 10000));
}

// What went wrong once, on its smallest proc: every primitive is tried on it.
TEST(Exhaustive, regressions) {
  static const Grammar g{.name = "regressions"};
  Trial t(g);
  Module names;
  names.imported_procs = callees();
  names.imported_procs.push_back(nothing());
  names.configs[config()->name] = config();
  for (const auto& file :
       std::filesystem::directory_iterator(EXOTUNE_SOURCE_DIR "/tests/exhaustive/regressions")) {
    if (file.path().extension() != ".exo") continue;
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    t.proc(parse_module(text.str(), file.path().string(), {}, &names).procs.at(0));
  }
  t.report();
}

// Runs last: no primitive is left out, and each was accepted somewhere.
TEST(Exhaustive, tries_every_primitive) {
  if (total().by_operator.size() < 2) GTEST_SKIP() << "only part of the grammars ran";
  for (const Operator& op : primitive_operators()) {
    const auto found = total().by_operator.find(op.name);
    EXPECT_TRUE(found != total().by_operator.end()) << op.name << " was never tried";
    if (found == total().by_operator.end()) continue;
    EXPECT_GT(found->second.accepted, 0) << op.name << " was always refused";
  }
  const std::string table = total().table();
  if (long_form()) std::cout << table;
  std::ofstream(EXOTUNE_BINARY_DIR "/exhaustive.txt") << table;
}

}  // namespace
}  // namespace exotune::exhaustive
