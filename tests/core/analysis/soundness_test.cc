// What a query proves must be true: random programs, rewritten as the answer permits, run in the
// interpreter before and after. A floor on the number of proofs keeps the tests from passing idly.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "core/base/subprocess.h"
#include "core/ir/printer.h"
#include "random_program.h"

namespace exotune {
namespace {
using namespace testing;

Path body(std::initializer_list<int> indices) {
  Path out;
  for (int k : indices) out.push_back({Child::kBody, k});
  return out;
}

// Programs that `check` accepts, each with what `make` writes as its body.
template <class Make, class Use>
int for_each_program(int rounds, unsigned seed, const Make& make, const Use& use) {
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    ProgramWriter w(seed * 100003u + static_cast<unsigned>(round));
    const std::string text = ProgramWriter::program(make(w));
    ProcPtr p;
    try {
      p = parse(text);
      check(*p);
    } catch (const InputError&) {
      continue;
    }
    ++accepted;
    use(p, w);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << text;
      break;
    }
  }
  return accepted;
}

ProcPtr with(const ProcPtr& p, const Path& at, int n, Block by) {
  return with_body(*p, splice(*p, at, n, by));
}

std::string loop_around(ProgramWriter& w, int statements) {
  std::string i, out = w.loop_head("    ", &i);
  w.push_iter(i);
  out += w.block(1, statements, "        ");
  w.pop_iter();
  return out;
}

TEST(Soundness, checked_programs_run_without_faults) {
  const int accepted = for_each_program(
      700, 1, [](ProgramWriter& w) { return w.block(2, 3, "    "); },
      [](const ProcPtr& p, ProgramWriter&) {
        for (int64_t n = 1; n <= 4; ++n) EXPECT_NO_THROW(outcome(*p, n, 1));
      });
  EXPECT_GT(accepted, 150);
}

std::string verdict(const std::function<void()>& question) {
  try {
    question();
    return "accepted";
  } catch (const InputError& e) {
    return e.diagnostic().message.str();
  }
}

StmtPtr made(const For& f, const ExprPtr& hi, LoopMode mode) {
  return make_for(f.iter, f.lo, hi, f.body, mode);
}

// One loop of an accepted program runs further, or is parallel, inside a parallel loop or not: what
// check() says of the whole, check_statement() says from that loop alone.
TEST(Soundness, one_new_statement_is_checked_as_the_whole_program_is) {
  int loops = 0, refused = 0, races = 0, inside_parallel = 0;
  const auto compare = [&](const ProcPtr& q, const Path& at) {
    const std::string whole = verdict([&] { check(*q); });
    EXPECT_EQ(verdict([&] { check_statement(*q, at); }), whole) << str(*q);
    ++loops;
    refused += whole != "accepted";
    races += whole.find("race") != std::string::npos;
  };
  for_each_program(
      600, 5, [](ProgramWriter& w) { return w.block(3, 3, "    "); },
      [&](const ProcPtr& p, ProgramWriter&) {
        for (const Path& at : all_stmt_paths(*p)) {
          const For* f = stmt_at(*p, at)->as<For>();
          if (!f) continue;
          const StmtPtr longer = made(*f, f->hi + int_const(2), LoopMode::kSeq);
          compare(with(p, at, 1, {longer}), at);
          compare(with(p, at, 1, {made(*f, f->hi, LoopMode::kPar)}), at);
          const Path top(at.begin(), at.begin() + 1);
          const For* outer = stmt_at(*p, top)->as<For>();
          if (at.size() < 2 || !outer) continue;
          const ProcPtr around = with(p, top, 1, {made(*outer, outer->hi, LoopMode::kPar)});
          if (verdict([&] { check(*around); }) != "accepted") continue;
          compare(with(around, at, 1, {longer}), at);
          ++inside_parallel;
        }
      });
  EXPECT_GT(loops, 300);
  EXPECT_GT(refused, 60);
  EXPECT_GT(races, 30);
  EXPECT_GT(inside_parallel, 5);
}

TEST(Soundness, commuting_blocks_commute) {
  int proved = 0;
  for_each_program(
      1000, 2, [](ProgramWriter& w) { return w.block(1, 2, "    "); },
      [&](const ProcPtr& p, ProgramWriter&) {
        if (!blocks_commute(*p, body({0}), 1, 1)) return;
        ++proved;
        EXPECT_EQ(difference(*p, *with(p, body({0}), 2, {p->body[1], p->body[0]})), "");
      });
  EXPECT_GT(proved, 40);
}

// for i in seq(lo, hi): s  ->  for i in seq(lo, hi): s[i := lo + hi - 1 - i]
ProcPtr reversed(const ProcPtr& p, const Path& at) {
  const For loop = *stmt_at(*p, at)->as<For>();
  const Sym i = loop.iter.copy();
  const ExprPtr mirrored = loop.lo + loop.hi - int_const(1) - read_var(i, ScalarType::kIndex);
  return with(p, at, 1,
              {make_for(i, loop.lo, loop.hi, substitute(loop.body, loop.iter, mirrored))});
}

TEST(Soundness, commuting_iterations_run_backwards) {
  int proved = 0;
  for_each_program(
      1000, 3, [](ProgramWriter& w) { return loop_around(w, 1 + w.below(2)); },
      [&](const ProcPtr& p, ProgramWriter& w) {
        const bool parallel = static_cast<bool>(loop_parallel(*p, body({0}), w.chance(50)));
        const bool commute = static_cast<bool>(iterations_commute(*p, body({0})));
        EXPECT_TRUE(commute || !parallel);
        if (!commute) return;
        ++proved;
        EXPECT_EQ(difference(*p, *reversed(p, body({0}))), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, interchanged_loops_agree) {
  int proved = 0;
  for_each_program(
      1200, 4,
      [](ProgramWriter& w) {
        std::string i, j, out = w.loop_head("    ", &i);
        out += w.loop_head("        ", &j);
        w.push_iter(i);
        w.push_iter(j);
        out += w.block(0, 1 + w.below(2), "            ");
        w.pop_iter();
        w.pop_iter();
        return out;
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        const For outer = *p->body[0]->as<For>();
        const For inner = *outer.body[0]->as<For>();
        if (!loops_interchange(*p, body({0}))) return;
        ++proved;
        ProcPtr q = with(p, body({0}), 1,
                         {make_for(inner.iter, inner.lo, inner.hi,
                                   {make_for(outer.iter, outer.lo, outer.hi, inner.body)})});
        EXPECT_EQ(difference(*p, *q), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, split_loops_agree) {
  int proved = 0;
  for_each_program(
      1200, 5, [](ProgramWriter& w) { return loop_around(w, 2); },
      [&](const ProcPtr& p, ProgramWriter&) {
        const For loop = *p->body[0]->as<For>();
        if (!can_fission(*p, body({0, 1}))) return;
        ++proved;
        ProcPtr q =
            with(p, body({0}), 1,
                 {make_for(loop.iter, loop.lo, loop.hi, {loop.body[0]}),
                  make_for(loop.iter, loop.lo, loop.hi, {loop.body.begin() + 1, loop.body.end()})});
        EXPECT_EQ(difference(*p, *q), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, fused_loops_agree) {
  int proved = 0;
  for_each_program(
      1200, 6,
      [](ProgramWriter& w) {
        const std::string bounds = w.bounds();
        std::string out;
        for (const char* i : {"p", "q"}) {
          out += std::string("    for ") + i + " in seq(" + bounds + "):\n";
          w.push_iter(i);
          out += w.block(1, 1, "        ");
          w.pop_iter();
        }
        return out;
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        const For a = *p->body[0]->as<For>(), b = *p->body[1]->as<For>();
        if (!can_fuse(*p, body({0}))) return;
        ++proved;
        Block both = a.body;
        for (const StmtPtr& s : substitute(b.body, b.iter, read_var(a.iter, ScalarType::kIndex)))
          both.push_back(s);
        EXPECT_EQ(difference(*p, *with(p, body({0}), 2, {make_for(a.iter, a.lo, a.hi, both)})), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, idempotent_blocks_run_twice) {
  int proved = 0;
  for_each_program(
      1000, 7, [](ProgramWriter& w) { return w.block(2, 2, "    "); },
      [&](const ProcPtr& p, ProgramWriter&) {
        const int n = static_cast<int>(p->body.size());
        if (!block_idempotent(*p, body({0}), n)) return;
        ++proved;
        Block twice = p->body;
        for (const StmtPtr& s : refresh_binders(p->body)) twice.push_back(s);
        EXPECT_EQ(difference(*p, *with_body(*p, twice)), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, values_that_do_not_change_do_not_change) {
  int proved = 0;
  for_each_program(
      1000, 8,
      [](ProgramWriter& w) {
        return "    y = " + w.value() + "\n" + w.block(2, 1, "    ") + "    y = 0.0\n";
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        const ExprPtr value = p->body[0]->as<Assign>()->rhs;
        const int n = static_cast<int>(p->body.size()) - 2;
        if (!value_unchanged_by(*p, body({1}), n, value)) return;
        const Sym x = p->args[4].name;
        if (!value_unchanged_by(*p, body({1}), n, read_elem(x, {}, ScalarType::kF32))) return;
        ++proved;
        // x = value; block   against   block; x = value, the block not touching x.
        Block rest(p->body.begin() + 1, p->body.end() - 1);
        if (mentions(rest, x)) return;
        Block before{make_assign(x, {}, value)}, after = rest;
        before.insert(before.end(), rest.begin(), rest.end());
        after.push_back(make_assign(x, {}, value));
        EXPECT_EQ(difference(*with_body(*p, before), *with_body(*p, after)), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, recomputed_iterations_agree) {
  int proved = 0;
  for_each_program(
      1200, 9, [](ProgramWriter& w) { return loop_around(w, 1 + w.below(2)); },
      [&](const ProcPtr& p, ProgramWriter&) {
        if (!recompute_safe(*p, body({0}))) return;
        ++proved;
        // Every iteration, then all earlier ones again.
        const For loop = *p->body[0]->as<For>();
        const Sym again = loop.iter.copy();
        Block both = loop.body;
        both.push_back(make_for(again, loop.lo, read_var(loop.iter, ScalarType::kIndex),
                                substitute(refresh_binders(loop.body), loop.iter,
                                           read_var(again, ScalarType::kIndex))));
        EXPECT_EQ(
            difference(*p, *with(p, body({0}), 1, {make_for(loop.iter, loop.lo, loop.hi, both)})),
            "");
      });
  EXPECT_GT(proved, 25);
}

// for z in seq(0, 16): t[z] = 77.0
StmtPtr scribble(Sym t) {
  const Sym z = Sym::fresh("z");
  return make_for(
      z, int_const(0), int_const(16),
      {make_assign(t, {read_var(z, ScalarType::kIndex)}, data_const(77, ScalarType::kF32))});
}

TEST(Soundness, dead_buffers_may_be_scribbled_on) {
  int proved = 0;
  for_each_program(
      400, 10,
      [](ProgramWriter& w) {
        return w.statement(1, "    ") +
               "    t: f32[16]\n    for z in seq(0, 16):\n        t[z] = 2.0\n" +
               "    for u in seq(0, 3):\n        t[u] = B[u]\n        C[u] = t[u]\n" +
               w.block(1, 2, "    ") + "    for v in seq(0, 3):\n        t[v] = " + w.value() +
               "\n        B[v] += t[v]\n";
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        for (const Path& at : all_stmt_paths(*p)) {
          const auto scope = scope_at(*p, sibling(at, 1));
          for (const ScopeEntry& e : scope) {
            if (e.name.name() != "t" || e.type.rank() != 1) continue;
            if (!buffer_dead_after(*p, at, e.name)) continue;
            ++proved;
            EXPECT_EQ(difference(*p, *with(p, sibling(at, 1), 0, {scribble(e.name)})), "")
                << str(at);
          }
        }
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, buffers_that_carry_nothing_may_be_scribbled_on_between_iterations) {
  int proved = 0;
  for_each_program(
      1500, 11,
      [](ProgramWriter& w) {
        std::string i, head = "    t: f32[16]\n    for z in seq(0, 16):\n        t[z] = 2.0\n";
        head += w.loop_head("    ", &i);
        w.push_iter(i);
        head += "        for u in seq(" + w.bounds() + "):\n            t[u] = B[u]\n";
        head += "        C[" + w.index() + "] = t[" + w.index() + "]\n";
        head += w.block(1, 1, "        ");
        w.pop_iter();
        return head;
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        const Sym t = p->body[0]->as<Alloc>()->name;
        if (!alloc_carries_nothing(*p, body({0}), body({2}))) return;
        ++proved;
        EXPECT_EQ(difference(*p, *with(p, body({2, 0}), 0, {scribble(t)})), "");
      });
  EXPECT_GT(proved, 40);
}

TEST(Soundness, accepted_calls_pass_what_does_not_overlap) {
  int calls = 0;
  for_each_program(
      700, 14,
      [](ProgramWriter& w) {
        std::string i, out = w.loop_head("    ", &i);
        w.push_iter(i);
        out += w.call("        ");
        w.pop_iter();
        return out;
      },
      [&](const ProcPtr& p, ProgramWriter&) {
        ProcPtr staged;
        Block body = rewrite_stmts(p->body, [&](const StmtPtr& s) -> std::optional<Block> {
          const Call* c = s->as<Call>();
          if (!c || c->callee->name != "shift") return std::nullopt;
          if (!staged)
            staged = parse_module(ProgramWriter::program("    pass\n"), "t.exo")
                         .find_proc("shift_staged");
          ++calls;
          return Block{make_call(staged, c->args)};
        });
        EXPECT_EQ(difference(*p, *with_body(*p, body)), "");
      });
  EXPECT_GT(calls, 40);
}

TEST(Soundness, simplified_programs_agree) {
  const int accepted = for_each_program(
      1000, 12, [](ProgramWriter& w) { return w.block(2, 3, "    "); },
      [](const ProcPtr& p, ProgramWriter&) {
        ProcPtr q = p;
        for (const Path& at : all_stmt_paths(*p)) {
          const StmtPtr s = stmt_at(*q, at);
          std::vector<ExprPtr> exprs = stmt_exprs(*s);
          for (ExprPtr& e : exprs)
            if (!e->as<WindowExpr>()) e = simplify_expr(*p, at, e);
          q = with(q, at, 1, {with_exprs(s, exprs)});
        }
        EXPECT_EQ(difference(*p, *q), "");
      });
  EXPECT_GT(accepted, 150);
}

TEST(Soundness, another_solver_agrees_with_every_verdict) {
  if (find_program("cvc5").empty()) GTEST_SKIP() << "cvc5 is not installed";
  const std::string directory = ::testing::TempDir() + "second_opinion";
  std::filesystem::remove_all(directory);
  set_proofs_directory(directory);
  for_each_program(
      40, 13, [](ProgramWriter& w) { return w.block(2, 3, "    "); },
      [](const ProcPtr& p, ProgramWriter&) {
        block_idempotent(*p, body({0}), static_cast<int>(p->body.size()));
      });
  set_proofs_directory("");
  // One run over all questions: each file becomes a scope of its own.
  std::string all = "(set-logic QF_LIA)\n";
  std::vector<std::string> expected;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::ifstream file(entry.path());
    std::string line, status;
    std::getline(file, status);
    all += "(push 1)\n";
    while (std::getline(file, line))
      if (line[0] != ';' && line.rfind("(set-logic", 0) != 0) all += line + "\n";
    all += "(pop 1)\n";
    expected.push_back(status.substr(18, status.size() - 19));
  }
  const std::string path = ::testing::TempDir() + "second_opinion.smt2";
  std::ofstream(path) << all;
  const CommandResult r = run_command({"cvc5", "--incremental", path}, {});
  std::istringstream said(r.out);
  std::vector<std::string> verdicts;
  for (std::string line; std::getline(said, line);) verdicts.push_back(line);
  EXPECT_GT(expected.size(), 50u);
  EXPECT_EQ(verdicts, expected);
}

}  // namespace
}  // namespace exotune
