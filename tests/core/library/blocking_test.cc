// Operators on loops, as scripts call them: the text that they make, and what it computes.
#include <gtest/gtest.h>

#include "core/library/script.h"
#include "tests/core/primitives/differential.h"
#include "tests/said.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSizes{{{"N", 1}}, {{"N", 4}}, {{"N", 9}}};

const Module& object_code() {
  static const Module m = parse_module(R"(
@memory
class VEC:
    kind = "vector"
    bytes = 16
    count = 16
    c_types = {"f32": "v4f"}

@instr("load")
def load4(dst: [f32][4] @ VEC, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("store")
def store4(dst: [f32][4] @ DRAM, src: [f32][4] @ VEC):
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("add")
def add4(dst: [f32][4] @ VEC, a: [f32][4] @ VEC, b: [f32][4] @ VEC):
    for i in seq(0, 4):
        dst[i] = a[i] + b[i]

@instr("turn")
def turn(dst: [f32][2, 2] @ DRAM, src: [f32][2, 2] @ DRAM):
    for i in seq(0, 2):
        for j in seq(0, 2):
            dst[i, j] = src[j, i]

@instr("load prefix")
def load_prefix(n: size, dst: [f32][4] @ VEC, src: [f32][n] @ DRAM):
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("store prefix")
def store_prefix(n: size, dst: [f32][n] @ DRAM, src: [f32][4] @ VEC):
    for i in seq(0, 4):
        if i < n:
            dst[i] = src[i]

@instr("add prefix")
def add_prefix(n: size, dst: [f32][4] @ VEC, a: [f32][4] @ VEC, b: [f32][4] @ VEC):
    for i in seq(0, 4):
        if i < n:
            dst[i] = a[i] + b[i]
)",
                                       "vec.exo");
  return m;
}

struct Result {
  ProcPtr before, after;
  std::string text() const { return str(*after); }
};

// One operator on the only proc of `text`; what it makes computes the same.
Result scheduled(const std::string& text, const std::string& line,
                 const std::vector<Sizes>& sizes = kSizes) {
  const Module m = parse_module(text, "test.exo");
  Result r;
  r.before = m.procs.back();
  r.after =
      run_script("p = " + line + "\n", "test.sched", script_environment(m, {&object_code()})).proc;
  expect_same_meaning(r.before, r.after, sizes);
  return r;
}

std::string said(const std::string& text, const std::string& line) {
  const Module m = parse_module(text, "test.exo");
  return said_by([&] {
    run_script("p = " + line + "\n", "test.sched", script_environment(m, {&object_code()}));
  });
}

// How often `word` stands in `text`.
int times(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++n;
  return n;
}

const char* const kAdd = R"(
@proc
def f(N: size, x: f32[N], y: f32[N]):
    for i in seq(0, N):
        y[i] = y[i] + x[i]
)";
const char* const kAddSixteen = R"(
@proc
def f(x: f32[16], y: f32[16]):
    for i in seq(0, 16):
        y[i] = y[i] + x[i]
)";
const char* const kMatrix = R"(
@proc
def f(N: size, A: f32[N, 8], x: f32[8], y: f32[N]):
    for i in seq(0, N):
        for j in seq(0, 8):
            y[i] += A[i, j] * x[j]
)";
const char* const kSteps = R"(
@proc
def f(N: size, x: f32[N], y: f32[N], z: f32[N]):
    for i in seq(0, N):
        x[i] = 1.0
        y[i] = x[i] + 1.0
        z[i] = y[i] + x[i]
)";

TEST(Blocking, round_loop_guards_what_is_added) {
  const Result r = scheduled(kAdd, "round_loop(p, 'i', 4, ['io', 'ii'])");
  EXPECT_TRUE(contains(r.text(), "for io in seq(0, (N + 3) / 4)")) << r.text();
  EXPECT_TRUE(contains(r.text(), "if 4 * io + ii < N")) << r.text();
}

TEST(Blocking, interleave_loop_repeats_the_body_and_keeps_the_rest) {
  const Result r = scheduled(kAdd, "interleave_loop(p, 'i', 4)");
  EXPECT_EQ(times(r.text(), "x[4 * io"), 4) << r.text();
  EXPECT_EQ(times(r.text(), "for "), 2) << r.text();
}

TEST(Prefetching, asks_for_what_a_later_iteration_uses) {
  const Result r = scheduled(kMatrix, "prefetch_ahead(p, 'i', 'A', 2)");
  EXPECT_TRUE(contains(r.text(), "if i + 2 < N:")) << r.text();
  EXPECT_TRUE(contains(r.text(), "prefetch_3_f32(A[i + 2, 0])")) << r.text();
  // Every argument: y moves by single elements, x not at all.
  EXPECT_EQ(scheduled(kMatrix, "prefetch_ahead(p, 'i')").text(),
            scheduled(kMatrix, "prefetch_ahead(p, 'i', 'A', 1)").text());
}

TEST(Prefetching, what_does_not_move_is_refused) {
  EXPECT_TRUE(contains(said(kMatrix, "prefetch_ahead(p, 'i', 'x')"), "goes through rectangles"));
  EXPECT_TRUE(contains(said(kMatrix, "prefetch_ahead(p, 'i', 'A', 0)"), "at least 1"));
  EXPECT_TRUE(contains(said(kMatrix, "prefetch_ahead(p, 'k')"), "k"));
}

constexpr const char* kProduct = R"(
@proc
def f(N: size, A: f32[N], B: f32[N, 32], y: f32[16]):
    for k in seq(0, N):
        for j in seq(0, 16):
            y[j] += A[k] * B[k, j]
)";

TEST(Prefetching, asks_for_what_is_further_on_in_the_rows) {
  // The second half of B, of which nothing is read: its line, and of longer rows each of theirs.
  const Result r = scheduled(kProduct, "prefetch_beside(p, 'k', 'B', 16)");
  EXPECT_TRUE(contains(r.text(), "prefetch_3_f32(B[k, 16])")) << r.text();
  EXPECT_FALSE(contains(r.text(), "if ")) << r.text();
  // By its last element, and not beyond the buffer.
  const Result ends = scheduled(kProduct, "prefetch_beside(p, 'k', 'B', 31)");
  EXPECT_TRUE(contains(ends.text(), "prefetch_3_f32(B[k, 31])")) << ends.text();
  EXPECT_TRUE(contains(scheduled(kProduct, "prefetch_beside(p, 'k', 'B', 32)").text(), "if "));
}

TEST(Prefetching, what_has_no_rows_is_not_asked_for_further_on) {
  EXPECT_TRUE(contains(said(kProduct, "prefetch_beside(p, 'k', 'A', 16)"), "reads rows of `A`"));
  EXPECT_TRUE(contains(said(kProduct, "prefetch_beside(p, 'k', 'y', 16)"), "reads rows of `y`"));
  EXPECT_TRUE(contains(said(kProduct, "prefetch_beside(p, 'k', 'B', 0)"), "at least 1"));
  EXPECT_TRUE(contains(said(kProduct, "prefetch_beside(p, 'm', 'B', 1)"), "m"));
}

TEST(Blocking, interleave_loop_unrolls_a_loop_that_is_short) {
  const Result r = scheduled(kMatrix, "interleave_loop(p, 'j', 8)");
  EXPECT_EQ(times(r.text(), "for "), 1) << r.text();
  EXPECT_EQ(times(r.text(), "+="), 8) << r.text();
}

TEST(Blocking, unroll_and_jam_puts_the_copies_into_the_inner_loop) {
  const Result r = scheduled(kMatrix, "unroll_and_jam(p, 'i', 2)");
  EXPECT_TRUE(contains(r.text(),
                       "            y[2 * io + 0] += A[2 * io + 0, j] * x[j]\n"
                       "            y[2 * io + 1] += A[2 * io + 1, j] * x[j]\n"))
      << r.text();
}

TEST(Blocking, unroll_all_takes_every_loop_of_the_name) {
  const Result r = scheduled(R"(
@proc
def f(x: f32[4], y: f32[2]):
    for k in seq(0, 4):
        x[k] = 1.0
    for k in seq(0, 2):
        y[k] = 2.0
)",
                             "unroll_all(p, 'k')", {{}});
  EXPECT_EQ(times(r.text(), "for "), 0) << r.text();
  EXPECT_EQ(times(r.text(), "= 1.0"), 4) << r.text();
  EXPECT_EQ(times(r.text(), "= 2.0"), 2) << r.text();
}

TEST(Blocking, fission_as_much_as_possible_makes_a_loop_of_each_statement) {
  EXPECT_EQ(times(scheduled(kSteps, "fission_as_much_as_possible(p, 'i')").text(), "for i in"), 3);
  // What carries a value between iterations stays together.
  const Result r = scheduled(R"(
@proc
def f(N: size, x: f32[N], z: f32[N], t: f32):
    for i in seq(0, N):
        t = x[i]
        z[i] = t
        x[i] = 0.0
)",
                             "fission_as_much_as_possible(p, 'i')");
  EXPECT_EQ(times(r.text(), "for i in"), 2) << r.text();
}

TEST(Blocking, tile_loops_reads_pairs_and_a_tail) {
  EXPECT_EQ(times(scheduled(kMatrix, "tile_loops(p, [('i', 4), ('j', 4)])").text(), "for io in"),
            1);
  const Result r = scheduled(kMatrix, "tile_loops(p, [('i', 4), ('j', 4)], tail='guard')");
  EXPECT_TRUE(contains(r.text(), "if ")) << r.text();
  EXPECT_NE(said(kMatrix, "tile_loops(p, ['i', 4])").find("a list of loops and sizes"),
            std::string::npos);
  EXPECT_NE(
      said(kMatrix, "tile_loops(p, [('i', 4)], tail='round')").find("there is no tail 'round'"),
      std::string::npos);
}

TEST(Blocking, tile_to_instr_keeps_calls_of_a_block_together) {
  const char* const kTurned = R"(
@proc
def f(x: f32[7, 14], y: f32[14, 7]):
    for i in seq(0, 14):
        for j in seq(0, 7):
            y[i, j] = x[j, i]
)";
  EXPECT_EQ(times(scheduled(kTurned, "tile_to_instr(p, 'i', turn)", {{}}).text(), "turn("), 1);
  // Blocks of 4 x 4, beside them what is left of each loop: two columns, two rows, both.
  const std::string text = scheduled(kTurned, "tile_to_instr(p, 'i', turn, block=2)", {{}}).text();
  EXPECT_TRUE(contains(text, "for io in seq(0, 3)")) << text;
  EXPECT_EQ(times(text, "turn("), 4) << text;
  // What is left of the 7: loops, in each of the two parts of the 14 and beside their ends.
  EXPECT_FALSE(contains(text, "y[i, j]")) << text;
  for (const char* block : {"0", "4611686018427387904"})
    EXPECT_NE(said(kTurned, "tile_to_instr(p, 'i', turn, block=" + std::string(block) + ")")
                  .find("one call at least"),
              std::string::npos);
  EXPECT_NE(said(kMatrix, "tile_to_instr(p, 'i', turn, block=2)"), "accepted");
}

TEST(Blocking, block_loop_wants_the_loop_inside_the_one_named) {
  EXPECT_NE(
      said(kMatrix, "block_loop(p, 'i', [4], ['io', 'ii'], outside='j')").find("is not inside"),
      std::string::npos);
}

TEST(Blocking, autofission_and_hoist_stmt_are_operators) {
  const Result parts = scheduled(kSteps, "autofission(p, p.find('x[_] = _').after())");
  EXPECT_EQ(times(parts.text(), "for i in"), 2) << parts.text();
  const Result hoisted = scheduled(R"(
@proc
def f(N: size, a: f32, y: f32[N]):
    for i in seq(0, N):
        a = 2.0
        y[i] = a
)",
                                   "hoist_stmt(p, 'a = _')");
  EXPECT_LT(hoisted.text().find("a = 2.0"), hoisted.text().find("y[i] = a")) << hoisted.text();
}

TEST(Vectors, each_tail_of_vectorize) {
  struct Row {
    const char *text, *tail, *has;
  };
  const Row rows[] = {{kAddSixteen, "perfect", "for iv in seq(0, 4)"},
                      {kAdd, "cut", "in seq(0, N % 4)"},
                      {kAdd, "predicate", "store_prefix("},
                      {kAdd, "cut_and_predicate", "store_prefix("}};
  for (const Row& row : rows) {
    const Result r =
        scheduled(row.text, std::string("vectorize(p, 'i', 4, VEC, [load4, store4, add4, "
                                        "load_prefix, store_prefix, add_prefix], '") +
                                row.tail + "')");
    EXPECT_TRUE(contains(r.text(), row.has)) << row.tail << "\n" << r.text();
    EXPECT_TRUE(contains(r.text(), "add")) << row.tail << "\n" << r.text();
  }
  EXPECT_NE(
      said(kAdd, "vectorize(p, 'i', 4, VEC, [load4], 'round')").find("there is no tail 'round'"),
      std::string::npos);
  EXPECT_NE(said(kAdd, "vectorize(p, 'i', 4, VEC, [load4], 'perfect')"), "accepted");
}

TEST(Vectors, vectorize_lanes_wants_an_instruction_for_each_statement) {
  const char* const kFour = R"(
@proc
def f(x: f32[4], y: f32[4]):
    for i in seq(0, 4):
        y[i] = y[i] + x[i]
)";
  const Result r = scheduled(kFour, "vectorize_lanes(p, 'i', 4, VEC, [load4, store4, add4])", {{}});
  EXPECT_EQ(times(r.text(), "for "), 0) << r.text();
  EXPECT_NE(said(kFour, "vectorize_lanes(p, 'i', 4, VEC, [load4, store4])").find("no instruction"),
            std::string::npos);
}

TEST(Vectors, hoist_from_loop_takes_out_what_does_not_change) {
  const Result r = scheduled(R"(
@proc
def f(N: size, a: f32, y: f32[N]):
    for i in seq(0, N):
        t: f32
        t = a + 1.0
        y[i] = t
)",
                             "hoist_from_loop(p, 'i')");
  EXPECT_LT(r.text().find("t = a + 1.0"), r.text().find("for i in")) << r.text();
}

// What stays: one whose value depends on the loop, and one that the loop changes again.
TEST(Vectors, hoist_from_loop_leaves_what_may_not_go) {
  const char* const kMixed = R"(
@proc
def f(N: size, a: f32, b: f32[4], y: f32[N + 1]):
    for i in seq(0, N):
        s: f32
        t: f32
        u: f32
        y[i] = 1.0
        t = a + 1.0
        s = 0.0
        u = y[N] + a
        for j in seq(0, 4):
            s += b[j]
        y[i] = y[i] + s * t * u
)";
  const Result r = scheduled(kMixed, "hoist_from_loop(p, 'i')");
  const size_t loop = r.text().find("for i in");
  EXPECT_LT(r.text().find("t = a + 1.0"), loop) << r.text();
  EXPECT_LT(r.text().find("u = y[N] + a"), loop) << r.text();
  EXPECT_GT(r.text().find("s = 0.0"), loop) << r.text();
}

// Out of a loop that no size runs, what stays would read what nobody writes.
TEST(Vectors, hoist_from_loop_leaves_loops_that_never_run) {
  const char* const kNever = R"(
@proc
def f(N: size, a: f32, y: f32[N]):
    for i in seq(N, N):
        t: f32
        t = a + 1.0
        y[i] = t
)";
  const Result r = scheduled(kNever, "hoist_from_loop(p, 'i')");
  EXPECT_GT(r.text().find("t = a + 1.0"), r.text().find("for i in")) << r.text();
}

// One proof for all that go, however they lie between those that stay.
TEST(Vectors, hoist_from_loop_takes_out_many_at_once) {
  std::string text = "@proc\ndef f(N: size, a: f32[32], y: f32[N]):\n    for i in seq(2, N):\n";
  for (int k = 0; k < 32; ++k) {
    const std::string n = std::to_string(k);
    text += "        t" + n + ": f32\n        t" + n + " = a[" + n + "] * 2.0\n";
    text += "        y[i] = y[i] * t" + n + "\n";
  }
  const Result r = scheduled(text.c_str(), "hoist_from_loop(p, 'i')");
  EXPECT_LT(r.text().find("t31 = "), r.text().find("for i in")) << r.text();
  EXPECT_EQ(times(r.text(), "if "), 1) << r.text();
}

TEST(Cleanup, dce_and_cleanup_remove_what_does_nothing) {
  const char* const kDead = R"(
@proc
def f(N: size, y: f32[N]):
    for i in seq(0, N):
        if N < 1:
            y[i] = 2.0
        else:
            y[i] = 1.0
)";
  for (const char* line : {"dce(p)", "cleanup(p)"}) {
    const Result r = scheduled(kDead, line);
    EXPECT_FALSE(contains(r.text(), "2.0")) << line << "\n" << r.text();
  }
}

TEST(Cursors, methods_of_a_script_reach_every_part) {
  const char* const kParts = R"(
@proc
def g(n: size, x: [f32][n]):
    for k in seq(0, n):
        x[k] = 0.0

@proc
def f(N: size, x: f32[N], y: f32[N + 2]):
    for i in seq(2, N + 2):
        if i < 4:
            y[i] = 1.0
        else:
            y[i] += 2.0
            y[i] = y[i] * 3.0
    g(N, x[0:N])
)";
  const Module m = parse_module(kParts, "test.exo");
  const auto value = [&](const std::string& lines) {
    return run_script(lines, "test.sched", script_environment(m)).proc;
  };
  const auto changed = [&](const std::string& lines, const std::string& has) {
    const ProcPtr p = value("p = f\n" + lines);
    expect_same_meaning(m.procs.back(), p, kSizes);
    EXPECT_TRUE(contains(str(*p), has)) << lines << "\n" << str(*p);
  };
  // Each line finds its statement another way; the pass shows where it led.
  changed("p = insert_pass(p, p.find('if _: _').orelse()[0].before())\n",
          "else:\n            pass\n");
  changed("p = insert_pass(p, p.find('y[_] += _').next().before())\n",
          "+= 2.0\n            pass\n");
  changed("p = insert_pass(p, p.find('y[_] = _ #1').prev().before())\n",
          "else:\n            pass\n");
  changed("p = insert_pass(p, p.find('if _: _').as_block().before())\n", "2):\n        pass\n");
  changed("p = insert_pass(p, p.find('y[_] += _').before().anchor().after())\n",
          "+= 2.0\n            pass\n");
  changed("p = insert_pass(p, p.find_loop('i').next().before())\n", "    pass\n    g(");
  changed("x = p.find_all('y[_] = _')\np = insert_pass(p, x[1].after())\n",
          "* 3.0\n            pass\n");
  changed("p = bind_expr(p, p.find('y[_] = _ #1').rhs().lhs(), 'b')\n", "b = y[i]");
}

}  // namespace
}  // namespace exotune::test
