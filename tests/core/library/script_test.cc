#include "core/library/script.h"

#include <gtest/gtest.h>

#include <set>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/cursor_methods.h"
#include "core/library/operators.h"
#include "tests/core/frontend/samples.h"
#include "tests/core/frontend/shipped.h"
#include "tests/said.h"

namespace exotune {
namespace {

const Module& sgemm() {
  static const Module m = parse_module(samples::kSgemm, "sgemm.exo");
  return m;
}
const Module& library() {
  static const Module m = parse_module(R"exo(
@memory
class VEC:
    kind = "vector"
    bytes = 32
    count = 16
    c_types = {"f32": "__m256"}

@instr("load")
def load8(dst: [f32][8] @ VEC, src: [f32][8] @ DRAM):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 8):
        dst[i] = src[i]

@instr("store")
def store8(dst: [f32][8] @ DRAM, src: [f32][8] @ VEC):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 8):
        dst[i] = src[i]
)exo",
                                       "vec.exo");
  return m;
}

ScriptResult run(const std::string& text) {
  return run_script(text, "test.sched", script_environment(sgemm(), {&library()}));
}

std::string said(const std::string& text) {
  return said_by([&] { run(text); });
}

TEST(Script, schedules_a_matrix_product) {
  ScriptResult r =
      run("p = sgemm\n"
          "p = rename(p, 'tiled')\n"
          "p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\n"
          "j = p.find_loop('j')\n"
          "p = divide_loop(p, j, 8, ('jo', 'ji'), tail='guard')\n"
          "p = simplify(p)\n");
  EXPECT_EQ(r.proc->name, "tiled");
  EXPECT_EQ(find_loop(r.proc, "io").proc(), r.proc);
  EXPECT_TRUE(find(r.proc, "if _: _").valid());
  ASSERT_EQ(r.lines.size(), 6u);
  EXPECT_EQ(r.lines[2].op, "divide_loop");
  EXPECT_NE(r.lines[2].before, r.lines[2].after);
  EXPECT_EQ(r.lines[3].before, r.lines[3].after);
  EXPECT_EQ(r.lines[4].text, "p = divide_loop(p, j, 8, ('jo', 'ji'), tail='guard')");
  EXPECT_TRUE(r.bindings.at("j").as<Cursor>());
}

TEST(Script, the_only_proc_is_p_from_the_start) {
  EXPECT_EQ(run("").proc, sgemm().procs[0]);
  EXPECT_EQ(run("p = simplify(p)").proc->name, "sgemm");
}

TEST(Script, cursors_survive_rewrites) {
  ScriptResult r =
      run("k = p.find_loop('k')\n"
          "s = p.find('C[_] += _')\n"
          "p = divide_loop(p, 'i', 4, ['io', 'ii'], perfect=False, tail='guard')\n"
          "p = reorder_loops(p, k)\n"
          "q = p.forward(s)\n");
  EXPECT_TRUE(r.bindings.at("q").as<Cursor>()->is<Reduce>());
}

TEST(Script, navigates) {
  ScriptResult r =
      run("i = p.find('for i in _: _')\n"
          "k = i.parent()\n"
          "j = i.body()[0]\n"
          "hi = j.hi()\n"
          "c = p.find('C[_] += _')\n"
          "x = c.idx()[1]\n"
          "n = c.rhs().lhs().name() + '_' + j.name()\n"
          "many = p.find('for _ in _: _', many=True)\n"
          "g = c.before()\n"
          "b = c.expand(0, 0)\n"
          "w = b[0:1]\n"
          "two = 7 // 2 - 1\n");
  EXPECT_EQ(r.bindings.at("k").as<Cursor>()->path(), find_loop(r.proc, "k").path());
  EXPECT_EQ(str(r.bindings.at("hi").as<Cursor>()->expr()), "N");
  EXPECT_EQ(str(r.bindings.at("x").as<Cursor>()->expr()), "j");
  EXPECT_EQ(*r.bindings.at("n").as<std::string>(), "A_j");
  EXPECT_EQ(r.bindings.at("many").as<ValueList>()->size(), 3u);
  EXPECT_EQ(r.bindings.at("g").as<Cursor>()->kind(), CursorKind::kGap);
  EXPECT_EQ(r.bindings.at("w").as<Cursor>()->kind(), CursorKind::kBlock);
  EXPECT_EQ(*r.bindings.at("two").as<int64_t>(), 2);
  ScriptResult q =
      run("a = p.args()\n"
          "t = p.find_alloc_or_arg('C').type()\n"
          "m = p.find_alloc_or_arg('C').mem()\n"
          "n = p.find_alloc_or_arg('C').shape()\n"
          "e = p.find('C[_] += _').rhs().type()\n");
  EXPECT_EQ(q.bindings.at("t").str(), q.bindings.at("e").str());
  EXPECT_EQ(q.bindings.at("m").str(), "DRAM");
  EXPECT_EQ(q.bindings.at("n").as<ValueList>()->size(), 2u);
}

TEST(Script, a_tuple_result_binds_its_first_proc) {
  ScriptResult r = run("p, f = extract_subproc(p, 'for j in _: _', 'row')\n");
  EXPECT_EQ(r.bindings.at("f").as<ProcPtr>()->get()->name, "row");
  EXPECT_TRUE(find(r.proc, "row(_)").valid());
  EXPECT_TRUE(find(run("p = extract_subproc(p, 'for j in _: _', 'row')\n").proc, "row(_)").valid());
}

TEST(Script, methods_of_a_proc_may_be_operators) {
  EXPECT_EQ(run("p = p.partial_eval(M=6, N=16)").proc->args.size(), 4u);
}

TEST(Script, a_refused_step_shows_line_operator_and_proc) {
  std::string message = said("p = sgemm\np = divide_loop(p, 'i', 4, ['io', 'ii'], perfect=True)\n");
  EXPECT_EQ(message.rfind("test.sched:2:5: error: ", 0), 0u) << message;
  EXPECT_NE(message.find("in `divide_loop`: p = divide_loop("), std::string::npos) << message;
  EXPECT_NE(message.find("the procedure as it stood:\n@proc\ndef sgemm("), std::string::npos)
      << message;
}

TEST(Script, says_what_is_wrong_with_a_line) {
  EXPECT_SAID("p = divide_lop(p, 'i', 4, ['a', 'b'])", "did you mean `divide_loop`");
  EXPECT_SAID("p = divide_loop(p, 'i', 4)", "needs `new_iters`");
  EXPECT_SAID("p = divide_loop(p, 'i', 4)", "its form is divide_loop(p, loop, q, new_iters");
  EXPECT_SAID("p = divide_loop(p, 'i', 'four', ['a', 'b'])",
              "`q` of `divide_loop` must be an integer");
  EXPECT_SAID("p = divide_loop(p, 'i', 4, ['a', 'for'])", "must be a list of new names");
  EXPECT_SAID("p = divide_loop(p, 'i', 4, ['a', 'b'], tial='cut')", "did you mean `tail`");
  EXPECT_SAID("p = divide_loop(p, 'i', 4, ['a', 'b'], tail='cutt')", "no tail 'cutt'");
  EXPECT_SAID("p = divide_loop(p, 'i', 4, ['a', 'b'], q=4)", "given twice");
  EXPECT_SAID("p = simplify(p, 1, 2, 3)", "takes 2 arguments by position, not 4");
  EXPECT_SAID("p = simplify(sgem)", "did you mean `sgemm`");
  EXPECT_SAID("p = set_memory(p, 'C', VEK)", "did you mean `VEC`");
  EXPECT_SAID("p = set_memory(p, 'C', 'VEC')", "must be a memory, not 'VEC'");
  EXPECT_SAID("p = set_precision(p, 'C', 'f33')", "must be a precision");
  EXPECT_SAID("p = optimize_level_1(p, 'k', 0, VEC, [load8])", "at least 1 lane, not 0");
  EXPECT_SAID("c = p.find_lop('i')", "did you mean `find_loop`");
  EXPECT_SAID("c = p.find('for i in _')", "of the pattern or expression");
  EXPECT_SAID("c = p.find_loop('x')", "nothing in `sgemm` matches");
  EXPECT_SAID("c = p.find_loop('i').body", "write `body()`");
  EXPECT_SAID("c = p.find_loop('i').body()[3]", "numbered from 0");
  EXPECT_SAID("c = p.find_loop('i').cond()", "another kind of statement");
  EXPECT_SAID("p = reorder_loops(p, 'k i #99999999999999999999')", "error: ");
  EXPECT_SAID("c = p.find_loop('k').parent().parent()", "test.sched:1:");
  EXPECT_SAID("a, b = simplify(p)", "no tuple");
  EXPECT_SAID("a, b, c = extract_subproc(p, 'for j in _: _', 'row')", "has 2 parts");
  EXPECT_SAID("simplify = p", "is an operator");
  EXPECT_SAID("sgemm(p)", "is no operator");
  EXPECT_SAID("x = 9223372036854775807 + 1", "does not fit");
  EXPECT_SAID("x = 1 // 0", "division by zero");
  EXPECT_SAID("p = lift_alloc(p, 'C', 99999999999)", "out of range");
  EXPECT_SAID("p = search(p, 'for j in _: _')", "exo-tune complete");
  EXPECT_SAID(
      "c = p.find_loop('j')\np = p.partial_eval(N=8)\np = unroll_loop(p, 'j')\np = unroll_loop(p, "
      "c)",
      "is gone");
  EXPECT_SAID("c = p.find_loop('k').parent()", "it has no parent");
}

TEST(Script, a_cursor_to_what_is_gone_is_of_no_use) {
  const std::string unrolled =
      "c = p.find_loop('j')\ng = c.after()\ni = c.body()[0]\np = p.partial_eval(N=8)\n"
      "p = unroll_loop(p, 'j')\n";
  for (const char* use : {"c.after()", "c.before()", "c.parent()", "c.body()", "c.name()"})
    EXPECT_SAID(unrolled + "x = " + use, "is gone");
  EXPECT_TRUE(find(run(unrolled + "p = insert_pass(p, g)\n").proc, "pass").valid());
}

TEST(Script, without_a_proc_there_is_no_result) {
  Module two = parse_module("@proc\ndef f():\n    pass\n@proc\ndef g():\n    pass\n", "two.exo");
  ScriptEnvironment env = script_environment(two);
  EXPECT_THROW(run_script("", "s", env), InputError);
  EXPECT_EQ(run_script("p = g", "s", env).proc->name, "g");
}

TEST(Script, a_hole_is_filled_by_the_search) {
  ScriptEnvironment env = script_environment(sgemm());
  int holes = 0;
  env.search = [&](const ScriptHole& hole) {
    ++holes;
    EXPECT_EQ(hole.where->path(), find_loop(hole.proc, "j").path());
    EXPECT_EQ(*hole.options.at("trials").as<int64_t>(), 3);
    return call_operator("rename", {hole.proc, "found"}).as<ProcPtr>()[0];
  };
  EXPECT_EQ(run_script("p = search(p, 'for j in _: _', trials=3)", "s", env).proc->name, "found");
  EXPECT_EQ(holes, 1);
}

TEST(Script, an_error_in_object_code_keeps_its_place_and_names_the_line) {
  ScriptEnvironment env = script_environment(sgemm());
  env.search = [](const ScriptHole&) -> ProcPtr {
    throw InputError({std::make_shared<const std::string>("k.exo"), 3, 1}, "wrong there");
  };
  try {
    run_script("p = [search(p)][0]", "s.sched", env);
    FAIL();
  } catch (const InputError& e) {
    std::string message = e.what();
    EXPECT_EQ(message.rfind("k.exo:3:1: error: wrong there\nnote: in `search` at s.sched:1:6: ", 0),
              0u)
        << message;
    EXPECT_EQ(message.find("as it stood", message.find("as it stood") + 1), std::string::npos)
        << message;
  }
}

TEST(Script, steps_are_limited_and_observed) {
  ScriptEnvironment env = script_environment(sgemm());
  std::vector<int> lines;
  env.after_step = [&](const SourceLocation& where, const ProcPtr&) {
    lines.push_back(where.line);
  };
  run_script("x = 3\np = rename(p, 'a')\nc = p.find_loop('i')\np = rename(p, 'b')\n", "s", env);
  EXPECT_EQ(lines, (std::vector<int>{2, 4}));
  env.max_steps = 1;
  EXPECT_THROW(run_script("p = rename(p, 'a')\np = rename(p, 'b')\n", "s", env), InputError);
}

TEST(Operators, the_table_is_sound) {
  std::set<std::string> names;
  for (const Operator& op : operator_table()) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name << " stands twice";
    ASSERT_FALSE(op.params.empty()) << op.name;
    EXPECT_EQ(op.params[0].kind, ParamKind::kProc) << op.name;
    EXPECT_FALSE(op.doc.empty()) << op.name;
    EXPECT_EQ(op.doc.find('\n'), std::string::npos) << op.name;
    std::set<std::string> params;
    bool optional = false;
    for (const Param& p : op.params) {
      EXPECT_TRUE(params.insert(p.name).second) << op.name << " " << p.name;
      EXPECT_TRUE(!optional || p.fallback) << op.name << ": required after optional";
      optional |= p.fallback.has_value();
    }
    EXPECT_EQ(find_operator(op.name), &op);
  }
  EXPECT_EQ(find_operator("divide_loop")->signature(),
            "divide_loop(p, loop, q, new_iters, tail='guard', perfect=False)");
}

// What a trace says must run again, line by line, to an equal proc.
TEST(Script, traces_replay_to_equal_procs) {
  const char* const scripts[] = {
      "p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\np = divide_loop(p, 'j', 8, ['jo', "
      "'ji'])\n"
      "p = simplify(p)\n",
      "p = reorder_loops(p, 'k i')\np = reorder_loops(p, 'k j')\n"
      "p = stage_mem(p, 'for k in _: _', 'C[i, j]', 'acc')\np = set_precision(p, 'acc', 'f32')\n",
      "p = p.partial_eval(M=6, N=16)\np = unroll_loop(p, 'i')\n",
      "p = rename(p, 'other')\np = add_assertion(p, 'M >= 1 and N % 8 == 0')\n"
      "p = divide_loop(p, 'j', 8, ['jo', 'ji'], perfect=True)\n",
      "p = bind_expr(p, 'A[_]', 'a')\np = expand_dim(p, 'a', 8, '0')\np = lift_alloc(p, 'a', 2)\n",
      "p = cut_loop(p, 'i', 1)\n",
      "p = specialize(p, 'for j in _: _', ['N == 8', 'N == 16'])\n",
  };
  for (const char* script : scripts) {
    ScriptResult r;
    try {
      r = run(script);
    } catch (const Error& e) {
      ADD_FAILURE() << script << e.what();
      continue;
    }
    std::string trace = trace_script(r.proc);
    try {
      ProcPtr again = run(trace).proc;
      EXPECT_EQ(str(*again), str(*r.proc)) << trace;
    } catch (const Error& e) {
      ADD_FAILURE() << trace << e.what();
    }
  }
}

TEST(Script, traces_bring_the_steps_to_procedures_that_a_step_is_given) {
  const Module m = parse_module(R"(
@proc
def inner(N: size, x: f32[N]):
    for i in seq(0, N):
        for j in seq(3, 1):
            x[i] = 2.0
        x[i] = 1.0

@proc
def outer(N: size, x: f32[N]):
    inner(N, x)
    inner(N, x)
)",
                                "calls.exo");
  ProcPtr p = m.find_proc("outer");
  // Of the same name as what it came from, and there twice.
  const ProcPtr short_one = simplify(m.find_proc("inner"));
  p = call_eqv(p, "inner(_)", short_one);
  p = call_eqv(p, "inner(_) #1", short_one);
  p = inline_call(inline_call(p, "inner(_) #1"), "inner(_)");
  const std::string trace = trace_script(p);
  EXPECT_EQ(str(*run_script(trace, "trace", script_environment(m, {})).proc), str(*p)) << trace;
  EXPECT_EQ(str(*p).find("seq(3, 1)"), std::string::npos);
}

// The same at the size of real schedules: some eighty primitives each.
TEST(Script, traces_of_library_schedules_replay_to_equal_procs) {
  Module avx512 = shipped::target("avx512"), blas = shipped::kernels("blas1");
  ScriptEnvironment env = script_environment(blas, {&avx512});
  ValueList instrs;
  for (const ProcPtr& p : avx512.imported_procs)
    if (p->instr) instrs.push_back(p);
  for (const char* name : {"saxpy", "ddot", "sscal", "sasum"}) {
    ProcPtr p = blas.find_proc(name);
    int lanes = p->name[0] == 's' ? 16 : 8;
    Value made =
        call_operator("optimize_level_1", {p, "i", lanes, avx512.memories.at("AVX512"), instrs, 4});
    ProcPtr tuned = *made.as<ProcPtr>();
    EXPECT_GT(trace_of(tuned).size(), 20u);
    EXPECT_EQ(str(*run_script(trace_script(tuned), "trace", env).proc), str(*tuned));
  }
}

}  // namespace
}  // namespace exotune
