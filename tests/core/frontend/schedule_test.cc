#include "core/frontend/schedule.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {

using Kind = ScheduleExpr::Kind;

TEST(Schedule, reads_assignments_calls_and_methods) {
  ScheduleAst ast = parse_schedule(
      "# a comment\n"
      "p = sgemm   # which proc\n"
      "p, cs = auto_stage_mem(p, p.find_loop('k').body()[-1], 'C',\n"
      "                       'C_reg', rc=True,)\n"
      "p = reorder_loops(p, cs.load); x = body()[1:3]\n"
      "simplify(p)\n",
      "a.sched");
  ASSERT_EQ(ast.stmts.size(), 5u);
  EXPECT_EQ(ast.stmts[0].target.text, "p");
  EXPECT_EQ(ast.stmts[0].text, "p = sgemm");
  EXPECT_EQ(ast.stmts[0].where.line, 2);
  const ScheduleStmt& stage = ast.stmts[1];
  EXPECT_EQ(stage.target.kind, Kind::kTuple);
  EXPECT_EQ(stage.target.children[1].text, "cs");
  EXPECT_EQ(stage.value.kind, Kind::kCall);
  EXPECT_EQ(stage.value.children.size(), 5u);
  EXPECT_EQ(stage.value.children[2].kind, Kind::kSubscript);
  EXPECT_EQ(stage.value.children[2].children[1].integer, -1);
  ASSERT_EQ(stage.value.keywords.size(), 1u);
  EXPECT_EQ(stage.value.keywords[0].name, "rc");
  EXPECT_EQ(ast.stmts[2].value.children[2].kind, Kind::kAttribute);
  EXPECT_EQ(ast.stmts[3].value.kind, Kind::kSlice);
  EXPECT_EQ(ast.stmts[4].target.kind, Kind::kNone);
}

TEST(Schedule, joins_adjacent_strings_and_reads_numbers) {
  ScheduleAst ast =
      parse_schedule("x = ['a' \"b\", -3, 2.5, True, None, ('c',), 2 * (3 + 4)]", "s");
  const std::vector<ScheduleExpr>& l = ast.stmts[0].value.children;
  EXPECT_EQ(l[0].text, "ab");
  EXPECT_EQ(l[1].integer, -3);
  EXPECT_EQ(l[2].number, 2.5);
  EXPECT_TRUE(l[3].boolean);
  EXPECT_EQ(l[4].kind, Kind::kNone);
  EXPECT_EQ(l[5].kind, Kind::kTuple);
  EXPECT_EQ(l[6].kind, Kind::kBinary);
}

TEST(Schedule, refuses_what_is_no_script) {
  for (const char* text :
       {"for i in x: y", "p = ",      "p = f(a=1, 2)", "p = f(a=1, a=2)",
        "f(p) = 3",      "p = q = r", "p.x = 3",       "p = {}",
        "p = f(*a)",     "import x",  "  p = q",       "p = 'a",
        "p = a / b",     "p = (1",    "p = a if b",    "p = 99999999999999999999",
        "p = a < b",     "() = f(p)", "p, (a, 3) = q", "if p: q"}) {
    EXPECT_THROW(parse_schedule(text, "bad.sched"), InputError) << text;
  }
  EXPECT_THROW(parse_schedule("p = " + std::string(100000, '('), "bad"), InputError);
  EXPECT_THROW(parse_schedule("p = " + std::string(100000, '['), "bad"), InputError);
  EXPECT_THROW(parse_schedule("p = " + std::string(100000, '-') + "x", "bad"), InputError);
  std::string dots = "p = x";
  for (int k = 0; k < 100000; ++k) dots += ".a";
  EXPECT_THROW(parse_schedule(dots, "bad"), InputError);
}

}  // namespace
}  // namespace exotune
