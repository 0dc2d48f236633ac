#include <gtest/gtest.h>

#include "core/cursor/cursor.h"
#include "core/frontend/parser.h"
#include "core/frontend/pattern.h"
#include "core/ir/printer.h"
#include "tests/core/frontend/samples.h"

namespace exotune {
namespace {

ProcPtr everything() {
  static const Module m = parse_module(samples::kFiles[1], "sample.exo");
  return m.find_proc("everything");
}
ProcPtr sgemm() {
  static const Module m = parse_module(samples::kSgemm, "sgemm.exo");
  return m.procs[0];
}

TEST(Find, pattern_of_leads_back_to_exactly_the_statement) {
  for (const std::string& text : samples::kFiles) {
    for (const ProcPtr& p : parse_module(text, "sample.exo").procs) {
      for (const Path& path : all_stmt_paths(*p)) {
        Cursor c = Cursor::stmt(p, path);
        Cursor found = find(p, pattern_of(c));
        EXPECT_EQ(found.kind(), CursorKind::kStmt);
        EXPECT_EQ(found.path(), path) << pattern_of(c);
        // and to the block of it and what follows
        int rest = static_cast<int>(block_at(*p, path).size()) - path.back().index;
        for (int n = 2; n <= rest; ++n) {
          Cursor block = Cursor::block(p, path, n);
          Cursor again = find(p, pattern_of(block));
          EXPECT_EQ(again.kind(), CursorKind::kBlock) << pattern_of(block);
          EXPECT_EQ(again.path(), path) << pattern_of(block);
          EXPECT_EQ(again.length(), n) << pattern_of(block);
        }
        // and to each expression
        std::vector<Cursor> exprs;
        for (size_t k = 0; k < stmt_exprs(*c.stmt()).size(); ++k)
          exprs.push_back(c.child_expr(static_cast<int>(k)));
        while (!exprs.empty()) {
          Cursor e = exprs.back();
          exprs.pop_back();
          EXPECT_EQ(find(p, pattern_of(e)).path(), e.path()) << pattern_of(e);
          for (size_t k = 0; k < expr_children(*e.expr()).size(); ++k)
            exprs.push_back(e.child_expr(static_cast<int>(k)));
        }
      }
    }
  }
}

TEST(Find, statements) {
  ProcPtr p = everything();
  EXPECT_EQ(find(p, "for i in _: _").path(), find_loop(p, "i").path());
  EXPECT_EQ(find(p, "for i in _: _ #2").path(), find_loop(p, "i #2").path());
  EXPECT_EQ(find_loop(p, "j").parent().path(), find_loop(p, "i").path());
  EXPECT_TRUE(find(p, "for i in seq(1, _): _").is<For>());
  EXPECT_EQ(find(p, "for _ in par(_, _): _").path(), find_loop(p, "j").path());
  EXPECT_EQ(find_all(p, "for i in _: _").size(), 4u);
  EXPECT_TRUE(find(p, "y[_] += _").is<Reduce>());
  EXPECT_TRUE(find(p, "y max= _").is<Reduce>());
  EXPECT_TRUE(find(p, "acc : _").is<Alloc>());
  EXPECT_TRUE(find(p, "v : f32[8]").is<Alloc>());
  EXPECT_THROW(find(p, "v : f64"), InvalidCursorError);
  EXPECT_TRUE(find(p, "row = _").is<WindowStmt>());
  EXPECT_TRUE(find(p, "load8(_)").is<Call>());
  EXPECT_TRUE(find(p, "load8(_, y[_])").is<Call>());
  EXPECT_TRUE(find(p, "load8(v[0:8], _)").is<Call>());
  EXPECT_THROW(find(p, "load8(v[0:9], _)"), InvalidCursorError);
  EXPECT_TRUE(find(p, "Cfg.scale = _").is<WriteConfig>());
  EXPECT_TRUE(find(p, "if i < 4 and _: _").is<If>());
  EXPECT_TRUE(find(p, "pass").is<Pass>());
  EXPECT_EQ(find_all(p, "y[i, _] = _").size(), 2u);
  EXPECT_EQ(find_all(p, "y[i] = _").size(), 0u);
}

TEST(Find, sequences_and_bodies) {
  ProcPtr p = everything();
  Cursor two = find(p, "t = _; x = _");
  EXPECT_EQ(two.kind(), CursorKind::kBlock);
  EXPECT_EQ(two.length(), 2);
  Cursor gap = find(p, "t : _; _; v : _");
  EXPECT_EQ(gap.length(), 5);
  EXPECT_EQ(find(p, "for i in _: for j in _: _").path(), find_loop(p, "i").path());
  EXPECT_EQ(find(p, "for i in _:\n    load8(_)\n    row = _").path(), find_loop(p, "i #1").path());
  EXPECT_EQ(find(p, "\n    for i in _:\n        load8(_)\n").path(), find_loop(p, "i #1").path());
  EXPECT_THROW(find(p, "x = _; t = _"), InvalidCursorError);
  const ProcPtr q = parse_module("def f(x: f32):\n    t: f32 = x\n    x = t\n", "f").procs[0];
  EXPECT_EQ(find(q, "t: _ = _").length(), 2);
}

TEST(Find, expressions) {
  ProcPtr p = sgemm();
  EXPECT_EQ(str(find(p, "A[_]").expr()), "A[i, k]");
  EXPECT_EQ(str(find(p, "_ * _").expr()), "A[i, k] * B[k, j]");
  EXPECT_EQ(str(find(p, "A[i, k] * _").expr()), "A[i, k] * B[k, j]");
  EXPECT_EQ(find_all(p, "k").size(), 2u);
  EXPECT_EQ(find_all(p, "K").size(), 1u);
  EXPECT_EQ(str(find(everything(), "2.0 * t").expr()), "2.0 * t");
  EXPECT_EQ(str(find(everything(), "2 * t").expr()), "2.0 * t");
  EXPECT_EQ(str(find(everything(), "sin(_)").expr()), "sin(t)");
  EXPECT_EQ(str(find(everything(), "-_").expr()), "-t");
}

TEST(Find, within_a_subtree) {
  ProcPtr p = everything();
  Cursor second = find_loop(p, "i #1");
  EXPECT_EQ(second.find("for j in _: _").parent().path(), second.path());
  EXPECT_EQ(second.find("for i in _: _").path(), second.path());
  EXPECT_EQ(second.find_all("for i in _: _").size(), 1u);
  EXPECT_THROW(second.find("for i in _: _ #1"), InvalidCursorError);
  EXPECT_EQ(second.body().find("row[_] = _").parent().path(), second.find("for j in _: _").path());
}

TEST(Find, buffers) {
  ProcPtr p = everything();
  EXPECT_EQ(find_alloc_or_arg(p, "y").kind(), CursorKind::kArg);
  EXPECT_EQ(find_alloc_or_arg(p, "acc").kind(), CursorKind::kStmt);
  EXPECT_EQ(find_alloc_or_arg(p, "acc : _").path(), find_alloc_or_arg(p, "acc").path());
  EXPECT_THROW(find_alloc_or_arg(p, "row"), InvalidCursorError);
}

TEST(Find, names_the_nearest_when_nothing_matches) {
  try {
    find_loop(sgemm(), "jo");
    FAIL();
  } catch (const InvalidCursorError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean `j`"), std::string::npos) << e.what();
  }
  try {
    find(sgemm(), "for i in _: _ #3");
    FAIL();
  } catch (const InvalidCursorError& e) {
    EXPECT_NE(std::string(e.what()).find("only 1 matches"), std::string::npos) << e.what();
  }
}

TEST(Find, a_printed_name_finds_what_it_shows) {
  Module m = parse_module(samples::kFiles[5], "shadow.exo");
  EXPECT_EQ(find_loop(m.procs[0], "i_1").path(),
            find(m.procs[0], "for i in _: _").body()[0].path());
}

TEST(Pattern, refuses_what_is_no_pattern) {
  for (const char* text : {"", "  ", "for i in", "x = ", "#1", "x = _ #", "x = _ #a", "a = _; b",
                           "for i in 3: _", "x[0:3] = _", "x : size", "'", "x = _ #99999999",
                           "assert _", "Cfg.f += _", "def f(): _", "(((", "\x01"}) {
    EXPECT_THROW(parse_pattern(text), InputError) << text;
  }
}

}  // namespace
}  // namespace exotune
