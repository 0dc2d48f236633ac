// Partial schedules finished by the search, without measuring: what stands in the script, what the
// constraints do, what is refused.
#include "search/complete/completion.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "search/complete/script_text.h"
#include "tests/said.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

const char* const kProduct = R"(
@proc
def product(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    for i in seq(0, 64):
        for j in seq(0, 64):
            for k in seq(0, 64):
                C[i, j] += A[i, k] * B[k, j]

@proc
def any_product(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], C: f32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]

@proc
def two(A: f32[32, 32], B: f32[32, 32], C: f32[32, 32], D: f32[32, 32]):
    for i in seq(0, 32):
        for j in seq(0, 32):
            D[i, j] = A[i, j]
    for i in seq(0, 32):
        for j in seq(0, 32):
            for k in seq(0, 32):
                C[i, j] += D[i, k] * B[k, j]
)";

const Module& module() {
  static const Module m = parse_module(kProduct, "product.exo");
  return m;
}

TargetPtr target() {
  static const TargetPtr t = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
  return t;
}

Completion finish(const std::string& script, Strategy strategy = Strategy::kBeam) {
  CompletionRequest request;
  request.script = script;
  request.file = "part.sched";
  request.environment = script_environment(module(), {&target()->library});
  request.tune.target = target();
  request.tune.representative = {{"M", 64}, {"N", 64}, {"K", 64}};
  request.tune.effort = Effort::kEstimate;
  request.tune.trials = 24;
  request.tune.beam = 2;
  request.tune.strategy = strategy;
  request.baseline = false;
  return complete(request, *make_memory_store());
}

std::string said(const std::string& script) {
  return said_by([&] { finish(script); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The lines that were not found are the user's, in their order, byte for byte.
std::string without_found(const std::string& script) {
  std::string out;
  size_t at = 0;
  while (at < script.size()) {
    size_t end = script.find('\n', at);
    end = end == std::string::npos ? script.size() : end + 1;
    const std::string line = script.substr(at, end - at);
    if (!has(line, "# found") && !line.starts_with("# filled: ")) out += line;
    at = end;
  }
  return out;
}

ProcPtr replayed(const std::string& script) {
  return run_script(script, "again.sched", script_environment(module(), {&target()->library})).proc;
}

void expect_same_meaning(const ProcPtr& a, const ProcPtr& b) { expect_same_result(a, b, str(*b)); }

int calls(const ProcPtr& p, const std::string& name = "") {
  int n = 0;
  for_each_stmt(p->body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    n += c && (name.empty() || c->callee->name == name);
  });
  return n;
}

void expect_completed(const std::string& script, const Completion& done, const std::string& kept) {
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_EQ(without_found(done.script), kept);
  EXPECT_GT(calls(done.proc), 0) << done.script;
  EXPECT_EQ(str(*replayed(done.script)), str(*done.proc));
  expect_same_meaning(replayed(script.substr(0, script.find('\n') + 1)), done.proc);
}

TEST(Completion, goes_on_at_the_end_of_a_script_without_a_hole) {
  const std::string script =
      "p = product\n# mine\np = block_loop(p, 'k', 32, ['ko', 'k'], outside='i')   # kept\n";
  expect_completed(script, finish(script), script);
}

TEST(Completion, a_script_without_a_last_newline_gets_one) {
  const std::string script = "p = product";
  expect_completed(script + "\n", finish(script), script + "\n");
}

TEST(Completion, fills_a_hole_in_its_place) {
  const Completion done =
      finish("p = two\np = search(p, 'for i in _: _ #1')\nc = p.find('D[_] = _')\n");
  expect_completed("p = two\n", done, "p = two\nc = p.find('D[_] = _')\n");
  EXPECT_TRUE(has(done.script, "# filled: p = search(p, 'for i in _: _ #1')\n"));
  // The other nest is as it was.
  EXPECT_EQ(skeleton({done.proc->body[0]}), skeleton({replayed("p = two\n")->body[0]}));
  EXPECT_EQ(done.parts, 1);
}

TEST(Completion, a_hole_without_a_place_is_everything_that_is_plain) {
  const Completion done = finish("p = two\nq = search(p)\np = q\n");
  expect_completed("p = two\n", done, "p = two\np = q\n");
  EXPECT_EQ(done.parts, 2);
}

TEST(Completion, packing_that_is_given_is_used) {
  const std::string script =
      "p = product\np = pack_operand(p, 'B', 'i', 32, 16, AVX512, instrs)\np = search(p)\n";
  const Completion done = finish(script);
  expect_completed(script, done,
                   "p = product\np = pack_operand(p, 'B', 'i', 32, 16, AVX512, instrs)\n");
  EXPECT_TRUE(has(done.script, "register_block(")) << done.script;
}

TEST(Completion, a_register_tile_that_is_given_is_used) {
  const std::string given =
      "p = product\np = block_loop(p, 'j', 32, ['jo', 'j'], outside='i')\n"
      "p = block_loop(p, 'i', 8, ['io', 'i'])\n";
  const Completion done = finish(given + "p = search(p)\n");
  expect_completed(given, done, given);
  EXPECT_TRUE(has(done.script, "register_block(")) << done.script;
  EXPECT_FALSE(has(done.script, "'i', 8, ['io', 'i'])  # found")) << done.script;
}

TEST(Completion, a_register_tile_that_divides_nothing_is_used_with_its_boundaries) {
  const std::string given =
      "p = product\np = block_loop(p, 'j', 48, ['jo', 'j'], outside='i')\n"
      "p = block_loop(p, 'i', 7, ['io', 'i'])\n";
  const Completion done = finish(given + "p = search(p)\n");
  expect_completed(given, done, given);
  EXPECT_EQ(done.parts, 4);
  // Nothing is left that is not done by instructions.
  for_each_stmt(done.proc->body,
                [&](const StmtPtr& s) { EXPECT_FALSE(s->as<Reduce>()) << str(*done.proc); });
}

TEST(Completion, every_boundary_of_three_loops_is_searched) {
  const std::string given =
      "p = product\np = block_loop(p, 'k', 40, ['ko', 'k'], outside='i')\n"
      "p = block_loop(p, 'j', 48, ['jo', 'j'], outside='i')\n"
      "p = block_loop(p, 'i', 9, ['io', 'i'])\n";
  const Completion done = finish(given + "p = search(p)\n");
  expect_completed(given, done, given);
  EXPECT_EQ(done.parts, 8);
  for_each_stmt(done.proc->body,
                [&](const StmtPtr& s) { EXPECT_FALSE(s->as<Reduce>()) << str(*done.proc); });
}

TEST(Completion, a_register_tile_of_any_size_is_used_with_its_guarded_boundaries) {
  const std::string given =
      "p = any_product\np = block_loop(p, 'j', 32, ['jo', 'j'], outside='i')\n"
      "p = block_loop(p, 'i', 6, ['io', 'i'])\n";
  const Completion done = finish(given + "p = search(p)\n");
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_EQ(without_found(done.script), given);
  EXPECT_EQ(done.parts, 4);
  for_each_stmt(done.proc->body,
                [&](const StmtPtr& s) { EXPECT_FALSE(s->as<Reduce>()) << str(*done.proc); });
  const ProcPtr before = replayed("p = any_product\n");
  for (const std::array<int64_t, 3>& n :
       {std::array<int64_t, 3>{13, 70, 9}, {5, 31, 1}, {12, 64, 4}}) {
    const auto at = [&](const ProcPtr& p) {
      return partial_eval(p, {{"M", n[0]}, {"N", n[1]}, {"K", n[2]}});
    };
    expect_same_result(at(before), at(done.proc), done.script);
  }
}

TEST(Completion, avoided_instructions_are_not_called_and_used_ones_are) {
  const Completion done = finish("p = product\navoid(mm512_fmadd_bcast_ps)\np = search(p)\n");
  ASSERT_TRUE(done.proc);
  EXPECT_EQ(calls(done.proc, "mm512_fmadd_bcast_ps"), 0);
  EXPECT_GT(calls(done.proc), 0);
  const Completion used = finish("p = product\np = search(p, use=mm512_fmadd_ps)\n");
  ASSERT_TRUE(used.proc) << used.statistics.first_refusal;
  EXPECT_GT(calls(used.proc, "mm512_fmadd_ps"), 0);
  EXPECT_TRUE(has(used.script, "p = use(p, mm512_fmadd_ps)  # found\n")) << used.script;
}

TEST(Completion, what_cannot_be_used_leaves_no_candidate) {
  const Completion none = finish("p = product\nuse(mm512_fmadd_pd)\np = search(p)\n");
  EXPECT_FALSE(none.proc);
  EXPECT_TRUE(has(none.statistics.first_refusal, "does not call `mm512_fmadd_pd`"))
      << none.statistics.first_refusal;
}

TEST(Completion, order_is_kept) {
  const Completion done = finish("p = product\nkeep_order()\np = search(p)\n");
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_TRUE(has(done.script, "register_block(")) << done.script;
  // Rows are outermost wherever there is arithmetic; a last block of them has no loop.
  bool rows = false;
  for (const StmtPtr& s : done.proc->body) {
    bool arithmetic = false;
    for_each_stmt({s}, [&](const StmtPtr& below) {
      const Call* c = below->as<Call>();
      arithmetic = arithmetic || (c && has(c->callee->name, "fmadd"));
    });
    const For* f = s->as<For>();
    if (!arithmetic || !f) continue;
    rows = rows || f->iter.name() == "io";
    if (f->iter.name()[0] != 'j') continue;
    EXPECT_TRUE(rows) << str(s);
    for_each_stmt(f->body, [&](const StmtPtr& below) {
      const For* inner = below->as<For>();
      EXPECT_TRUE(!inner || inner->iter.name()[0] != 'i') << str(s);
    });
  }
  EXPECT_TRUE(rows) << done.script;
}

TEST(Completion, tile_sets_and_unrolling_are_kept) {
  const Completion done =
      finish("p = product\ntiles('i', [5])\ntiles('j', [16])\nmax_unroll(5)\np = search(p)\n");
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_TRUE(has(done.script, "block_loop(p, 'i', 5, ")) << done.script;
  EXPECT_TRUE(has(done.script, "block_loop(p, 'j', 16, ")) << done.script;
}

TEST(Completion, a_pinned_subtree_is_not_touched) {
  const Completion done =
      finish("p = two\nc = p.find('for i in _: _ #1')\npin(c)\np = search(p)\n");
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_EQ(skeleton({done.proc->body.back()}), skeleton({replayed("p = two\n")->body.back()}));
  EXPECT_GT(calls(done.proc), 0);  // the copy is vectorized
  const Completion by_argument = finish("p = two\np = search(p, pin=p.find('for i in _: _ #0'))\n");
  ASSERT_TRUE(by_argument.proc) << by_argument.statistics.first_refusal;
  EXPECT_EQ(skeleton({by_argument.proc->body[0]}), skeleton({replayed("p = two\n")->body[0]}));
  EXPECT_TRUE(has(by_argument.script, "p = pin(p, ")) << by_argument.script;
}

TEST(Completion, holes_are_filled_one_after_the_other) {
  const Completion done = finish(
      "p = two\np = search(p, 'for i in _: _ #0')\nx = 3\np = search(p, p.find('C[_] += _'"
      ").parent().parent().parent())\n");
  ASSERT_TRUE(done.proc) << done.statistics.first_refusal;
  EXPECT_EQ(without_found(done.script), "p = two\nx = 3\n");
  EXPECT_EQ(done.parts, 2);
}

TEST(Completion, is_the_same_again) {
  const std::string script = "p = two\np = search(p, max_unroll=6)\n";
  EXPECT_EQ(finish(script, Strategy::kAll).script, finish(script, Strategy::kAll).script);
}

TEST(Completion, wrong_holes_are_refused_in_their_place) {
  EXPECT_SAID("p = product\np = search(p, 'for z in _: _')\n", "part.sched:2:5: error:");
  EXPECT_SAID("p = product\np = search(p, maxunroll=3)\n", "did you mean `max_unroll`?");
  EXPECT_SAID("p = product\np = search(p, max_unroll='x')\n", "part.sched:2:5");
  EXPECT_SAID("p = product\np = simplify(search(p))\n",
              "part.sched:2:14: error: a search is a statement of its own here");
  EXPECT_SAID("p = product\nsearch(p)\n", "a search is a statement of its own here");
  EXPECT_SAID("p = product; p = search(p)\n", "a search is a statement of its own here");
  EXPECT_SAID("p = product\nuse(mm512_fmadd_ps)\np = search(p, avoid=mm512_fmadd_ps)\n",
              "to be used and avoided at once");
  EXPECT_SAID("p = two\nc = p.find('for i in _: _')\npin(c)\np = search(p, c)\n",
              "nothing is open in the place of this search");
}

TEST(ScriptText, keeps_every_byte_around_its_holes) {
  const std::string script = "p = f\r\n\tx = 1  # p = search(p)\n";
  EXPECT_THROW(ScriptText(script, "s"), InputError);  // the tab
  const std::string several =
      "p = f  \n\n# search(p)\np = search(\n    p,\n    'x')  # mine\ny = 's'\nq = p.search()";
  const ScriptText text(several, "s");
  ASSERT_EQ(text.holes().size(), 2u);
  EXPECT_TRUE(text.has_hole());
  EXPECT_FALSE(text.is_last(0));
  EXPECT_TRUE(text.is_last(1));
  EXPECT_EQ(text.filled({}), several);
  EXPECT_EQ(text.filled({{"p = a(p)"}}),
            "p = f  \n\n# search(p)\n# filled: p = search(     p,     'x')\np = a(p)  # found\n"
            "y = 's'\nq = p.search()");
  EXPECT_EQ(with_variable("p = f(p, 'p', p.find('p'), up)", "q"), "q = f(q, 'p', q.find('p'), up)");
}

}  // namespace
}  // namespace exotune
