// What the command says to wrong input: the exit code, the words that tell the user what to do, an
// empty stdout, and never a stack trace or a half-written file.
#include <gtest/gtest.h>

#include "tests/cli/command_harness.h"

namespace exotune::cli {
namespace {

using Words = std::vector<std::string>;

struct WrongInput {
  const char* name;
  std::vector<std::pair<std::string, std::string>> files;
  Words arguments;
  int exit_code;
  Words says;  // each in stderr
  std::map<std::string, std::string> environment = {};
};

std::ostream& operator<<(std::ostream& out, const WrongInput& wrong) { return out << wrong.name; }

const std::string kAxpy =
    "@proc\n"
    "def axpy(n: size, a: f32, x: f32[n], y: f32[n]):\n"
    "    for i in seq(0, n):\n"
    "        y[i] += a * x[i]\n";

const std::string kTwo = kAxpy +
                         "\n@proc\ndef scal(n: size, a: f32, x: f32[n]):\n    for i in seq(0, "
                         "n):\n        x[i] = a * x[i]\n";

const std::string kRefused =
    "\n@proc\ndef bad(n: size, x: f32[n]):\n    for i in seq(0, n):\n        z = x[i]\n";
const std::string kUnproved =
    "\n@proc\ndef far(n: size, x: f32[n]):\n    for i in seq(0, n):\n        x[i + 1] = 0.0\n";

const std::string kBadToml = "name = \"made_up\"\n[compiler\n";

// Native, and wants what no CPU has.
const std::string kNoCpusTarget =
    "title = \"Nobody's\"\nrequires = [\"warp\"]\nfiles = []\n[compiler]\nprograms = [\"gcc\"]\n"
    "flags = [\"-O2\"]\nheaders = []\n[peak]\nf32 = 8\n[[level]]\nname = \"cache\"\n"
    "bytes = 32768\nline = 64\n[runner]\nkind = \"native\"\n";

const std::vector<WrongInput>& wrong_inputs() {
  static const std::vector<WrongInput> kInputs = {
      // --- the command line ---
      {"unknown_verb", {}, {"lits", "kernels"}, 2, {"error: 'lits'", "did you mean 'list'?"}},
      {"unknown_flag",
       {},
       {"schedule", "sgemm", "--emti", "c"},
       2,
       {"unknown option '--emti'", "did you mean '--emit'?"}},
      {"unexpected_argument", {}, {"doctor", "more"}, 2, {"unexpected argument 'more'"}},
      {"unexpected_folder", {}, {"list", "kernels", "more"}, 2, {"takes no folder, found 'more'"}},
      {"missing_argument",
       {},
       {"schedule"},
       2,
       {"exo-tune schedule: <kernel> is missing: a built-in kernel", "hint: exo-tune schedule"}},
      {"missing_word", {}, {"db", "query"}, 2, {"exo-tune db query: <sql> is missing"}},
      {"blocks_of_an_array",
       {},
       {"eqsat", "sgemm", "--block", "16", "--array", "16x16"},
       2,
       {"--block and --array ask for two forms of one product", "hint: give one of them"}},
      {"blocks_in_no_blocks",
       {},
       {"eqsat", "--block", "64,24", "sgemm"},
       2,
       {"--block: 24 is no part of 64", "hint: the larger block first, for example 64,16"}},
      {"no_trials",
       {},
       {"kernel", "sgemm", "--trials", "0"},
       2,
       {"--trials: must be more than 0, not 0\n"}},
      {"proc_without_at",
       {{"bare.exo", "proc f(n: size):\n    pass\n"}},
       {"kernel", "bare.exo"},
       2,
       {"bare.exo:1:1: error: `proc` is a decorator", "`@proc`, and on the line below it `def"}},
      {"type_as_in_c",
       {{"t.exo", "@proc\ndef f(n: size, x: float[n]):\n    pass\n"}},
       {"kernel", "t.exo", "--size", "n=4"},
       2,
       {"t.exo:2:19: error: there is no type `float`", "did you mean `f32`?"}},
      {"number_as_in_c",
       {{"t.exo", "@proc\ndef f(n: size, x: f32[n]):\n    x[0] = 1.0f\n"}},
       {"kernel", "t.exo", "--size", "n=4"},
       2,
       {"t.exo:3:12: error: `1.0f` is neither", "hint: numbers take their type", "write `1.0`"}},
      {"size_in_the_other_case",
       {{"t.exo", "@proc\ndef f(C: size, T: size, x: f32[C, T]):\n    pass\n"}},
       {"kernel", "t.exo", "--size", "c=4,T=4"},
       2,
       {"the kernel has no size 'c'", "did you mean 'C'?"}},
      {"fit_that_is_not_there",
       {},
       {"calibrate", "--target", "avx2", "--show", "weights", "--db", "none.db"},
       2,
       {"nothing is fitted for avx2", "hint: exo-tune calibrate --target avx2"}},
      {"sizes_that_an_assert_forbids",
       {{"a.exo",
         "@proc\ndef f(n: size, x: f32[n]):\n    assert n % 8 == 0\n    for i in seq(0, n):\n"
         "        x[i] = 0.0\n"}},
       {"kernel", "a.exo", "--size", "n=9"},
       2,
       {"a.exo:3:", "the assert `n % 8 == 0` does not hold at n=9", "hint: --size"}},
      {"negative_seed", {}, {"kernel", "sgemm", "--seed", "-1"}, 2, {"--seed"}},
      {"stem_with_a_folder",
       {},
       {"kernel", "sgemm", "--stem", "a/b"},
       2,
       {"--stem: a file's name, not a path: 'a/b'", "hint: -o DIR"}},
      {"target_not_there",
       {},
       {"list", "targets", "./none"},
       2,
       {"no target in './none'", "target.toml"}},
      {"unknown_kernel", {}, {"schedule", "sgem"}, 2, {"sgem", "'sgemm'"}},
      {"unknown_list", {}, {"list", "kernel"}, 2, {"did you mean 'kernels'?"}},
      {"unknown_format",
       {},
       {"list", "kernels", "--format", "jsn"},
       2,
       {"--format", "did you mean 'json'?"}},
      {"unknown_emit",
       {},
       {"schedule", "sgemm", "--emit", "asm"},
       2,
       {"--emit", "exo, c, trace or script"}},
      {"unknown_strategy",
       {},
       {"kernel", "sgemm", "--strategy", "bem"},
       2,
       {"--strategy", "did you mean 'beam'?"}},
      {"dp_budget_is_a_number",
       {},
       {"kernel", "sgemm", "--dp-budget", "fast"},
       2,
       {"--dp-budget", "fast"}},
      {"complete_without_a_kernel",
       {{"a.sched", "q = 3\n"}},
       {"complete", "a.sched"},
       2,
       {"a.sched does not say which kernel it schedules", "hint: begin with `p = sgemm`"}},
      {"complete_an_unknown_kernel",
       {{"a.sched", "p = sgem\n"}},
       {"complete", "a.sched"},
       2,
       {"a.sched:1:1: error: no built-in kernel is called 'sgem'"}},
      {"complete_no_file", {}, {"complete", "none.sched"}, 2, {"none.sched"}},
      {"hole_at_no_place",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = search(p, 'for z in _: _')\n"}},
       {"complete", "a.sched", "a.exo", "--size", "n=64"},
       2,
       {"a.sched:2:5: error:", "hint:"}},
      {"hole_with_an_unknown_option",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = search(p, avod=3)\n"}},
       {"complete", "a.sched", "a.exo", "--size", "n=64", "--no-baseline"},
       2,
       {"a.sched:2:5: error: a search has no option `avod`", "did you mean `avoid`?"}},
      {"hole_inside_an_expression",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = simplify(search(p))\n"}},
       {"complete", "a.sched", "a.exo", "--size", "n=64"},
       2,
       {"a.sched:2:14: error: a search is a statement of its own here",
        "write `p = search(p)` on its own line"}},
      {"use_and_avoid_of_one_instruction",
       {{"a.exo", kAxpy},
        {"a.sched", "p = axpy\nuse(mm256_fmadd_ps)\navoid(mm256_fmadd_ps)\np = search(p)\n"}},
       {"complete", "a.sched", "a.exo", "--size", "n=64", "--target", "avx2"},
       2,
       {"a.sched:3:1: error: `mm256_fmadd_ps` is to be used and avoided at once"}},
      {"complete_over_the_users_file",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}},
       {"complete", "a.sched", "a.exo", "--size", "n=64", "-o", "."},
       2,
       {"would replace a.sched", "--stem"}},
      {"complete_without_a_size",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = search(p)\n"}},
       {"complete", "a.sched", "a.exo"},
       2,
       {"no value for 'n'", "--size n=64"}},
      {"complete_at_a_size_it_has_not",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = search(p)\n"}},
       {"complete", "a.sched", "a.exo", "--size", "m=64"},
       2,
       {"no size 'm'"}},
      {"unknown_target",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}},
       {"schedule", "a.exo", "a.sched", "--target", "avx51"},
       2,
       {"avx51", "avx512"}},
      {"bad_data_folder",
       {},
       {"list", "kernels"},
       2,
       {"EXOTUNE_DATA", "hint:"},
       {{"EXOTUNE_DATA", "/nowhere"}}},
      {"bad_size",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}},
       {"verify", "a.exo", "a.sched", "--size", "n=big"},
       2,
       {"--size: not a positive integer: 'big'", "M=512"}},
      {"unknown_size_name",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}},
       {"verify", "a.exo", "a.sched", "--size", "N=8"},
       2,
       {"no size 'N'", "did you mean 'n'?"}},
      {"missing_size",
       {{"g.sched", "p = sgemm\n"}},
       {"verify", "sgemm", "g.sched", "--size", "M=8,N=8"},
       2,
       {"no value for K", "M, N, K"}},
      {"size_zero",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}},
       {"verify", "a.exo", "a.sched", "--size", "n=0"},
       2,
       {"not a positive integer: '0'", "1 or more"}},
      {"size_of_another_name_when_one_is_given",
       {{"t.exo", "@proc\ndef f(B: size, R: size, x: f32[B, R]):\n    pass\n"}},
       {"kernel", "t.exo", "--size", "R=4,N=5"},
       2,
       {"the kernel has no size 'N'", "did you mean 'B'?"}},
      // --- files ---
      {"missing_file",
       {{"axpy.exo", kAxpy}},
       {"schedule", "axpi.exo"},
       2,
       {"no such file: axpi.exo", "axpy.exo"}},
      {"a_folder", {{"d.exo/x", ""}}, {"schedule", "d.exo"}, 2, {"d.exo is a folder"}},
      {"empty_file",
       {{"e.exo", ""}},
       {"schedule", "e.exo"},
       2,
       {"e.exo:1:1: error: this file defines no procedure", "def NAME"}},
      {"binary_file",
       {{"b.exo", std::string("\x7f"
                              "ELF\0\1\2\0",
                              8)}},
       {"schedule", "b.exo"},
       2,
       {"b.exo:1:", "error:"}},
      {"missing_script",
       {{"a.exo", kAxpy}},
       {"schedule", "a.exo", "b.sched"},
       2,
       {"no such file: b.sched", "hint: paths are taken from "}},
      {"missing_core",
       {},
       {"kernel", "sgemm", "--size", "M=8,N=8,K=8", "-n", "--core", "no.toml"},
       2,
       {"cannot read 'no.toml'", "hint: paths are taken from "}},
      {"several_procs",
       {{"two.exo", kTwo}, {"a.sched", ""}},
       {"schedule", "two.exo", "a.sched"},
       2,
       {"a.sched:1:1: error: two.exo has several procedures: axpy, scal", "`p = axpy`",
        "two.exo:axpy"}},
      {"several_procs_and_a_script_that_names_none",
       {{"two.exo", kTwo}, {"a.sched", "# a comment\np = simplify(p)\n"}},
       {"schedule", "two.exo", "a.sched"},
       2,
       {"a.sched:2:1: error: two.exo has several procedures"}},
      {"several_procs_and_a_script_that_chooses",
       {{"two.exo", kTwo},
        {"a.sched", "p = scal\np = divide_loop(p, 'i', 8, ['io', 'ii'], perfect=True)\n"}},
       {"schedule", "two.exo", "a.sched"},
       2,
       {"a.sched:2:", "def scal("}},
      {"unknown_proc",
       {{"two.exo", kTwo}},
       {"schedule", "two.exo:axpi"},
       2,
       {"no procedure 'axpi'", "did you mean 'axpy'?"}},
      {"unwritable_output",
       {{"a.exo", kAxpy}},
       {"schedule", "a.exo", "--emit", "c", "-o", "/proc/out"},
       2,
       {"cannot write", "-o DIR"}},
      // --- the object language ---
      {"syntax",
       {{"s.exo",
         "@proc\ndef f(n: size, x: f32[n]):\n    for i in seq(0, n)\n        x[i] = 0.0\n"}},
       {"schedule", "s.exo"},
       2,
       {"s.exo:3:", "expected `:`"}},
      {"unknown_name",
       {{"u.exo",
         "@proc\ndef f(n: size, total: f32[n]):\n    for i in seq(0, n):\n        totl[i] = "
         "0.0\n"}},
       {"schedule", "u.exo"},
       2,
       {"u.exo:4:9: error:", "totl", "total"}},
      {"unknown_precision",
       {{"p.exo", "@proc\ndef f(n: size, x: f31[n]):\n    x[0] = 0.0\n"}},
       {"schedule", "p.exo"},
       2,
       {"p.exo:2:", "f31", "f32"}},
      {"out_of_bounds",
       {{"o.exo",
         "@proc\ndef f(n: size, x: f32[n]):\n    for i in seq(0, n):\n        x[i + 1] = 0.0\n"}},
       {"schedule", "o.exo"},
       2,
       {"o.exo:4:", "x", "n = 1"}},
      {"data_in_control",
       {{"d.exo", "@proc\ndef f(n: size, x: f32[n]):\n    if x[0] < 1.0:\n        x[0] = 0.0\n"}},
       {"schedule", "d.exo"},
       2,
       {"d.exo:3:"}},
      {"wrong_arity_of_call",
       {{"c.exo",
         "@proc\ndef g(n: size, x: f32[n]):\n    x[0] = 0.0\n@proc\ndef f(n: size, x: f32[n]):\n   "
         " g(n)\n"}},
       {"schedule", "c.exo"},
       2,
       {"c.exo:6:", "g"}},
      {"wrong_rank",
       {{"r.exo", "@proc\ndef f(n: size, x: f32[n]):\n    x[0, 0] = 0.0\n"}},
       {"schedule", "r.exo"},
       2,
       {"r.exo:3:", "x"}},
      {"mixed_precision",
       {{"m.exo", "@proc\ndef f(n: size, x: f32[n], y: f64[n]):\n    y[0] = x[0] * y[0]\n"}},
       {"schedule", "m.exo", "--emit", "c"},
       2,
       {"m.exo:3:", "f32", "f64"}},
      // --- scripts ---
      {"unknown_operator",
       {{"a.exo", kAxpy},
        {"a.sched", "p = axpy\np = divide_lop(p, 'i', 8, ['io', 'ii'], tail='cut')\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:2:5: error:", "divide_lop", "divide_loop"}},
      {"refused_step",
       {{"a.exo", kAxpy},
        {"a.sched", "p = divide_loop(axpy, 'i', 8, ['io', 'ii'], perfect=True)\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:1:", "error:", "note:", "n = 1", "for i in seq(0, n)"}},
      {"wrong_arity_of_operator",
       {{"a.exo", kAxpy}, {"a.sched", "p = divide_loop(axpy, 'i')\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:1:", "divide_loop"}},
      {"bad_cursor_pattern",
       {{"a.exo", kAxpy}, {"a.sched", "p = unroll_loop(axpy, 'for j in _: _')\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:1:", "for j in _: _"}},
      {"script_syntax",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\np = (p\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:", "error:"}},
      {"script_control_flow",
       {{"a.exo", kAxpy}, {"a.sched", "for i in range(3): pass\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.sched:1:1: error:"}},
      {"different_procs",
       {{"a.exo", kAxpy},
        {"b.exo",
         "@proc\ndef axpy(n: size, a: f32, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n       "
         " y[i] += x[i]\n"}},
       {"verify", "a.exo", "b.exo"},
       5,
       {"does not compute", "note: at n="}},
      // --- files that are refused in part ---
      {"refused_proc_is_asked_for",
       {{"a.exo", kAxpy + kRefused}},
       {"schedule", "a.exo:bad"},
       2,
       {"a.exo:9:9: error: nothing here is named `z`"}},
      {"refused_proc_is_called",
       {{"a.exo", kRefused + "\n@proc\ndef caller(x: f32[4]):\n    bad(4, x)\n"}},
       {"schedule", "a.exo:caller"},
       2,
       {"nothing here is named `z`", "note: in bad, which is called at a.exo:9:5"}},
      {"unproved_proc_is_asked_for",
       {{"a.exo", kAxpy + kUnproved}},
       {"schedule", "a.exo:far"},
       2,
       {"may be out of bounds"}},
      {"no_proc_is_named_and_one_refused",
       {{"a.exo", kAxpy + kRefused + kUnproved}},
       {"schedule", "a.exo"},
       2,
       {"a.exo:9:9: error: nothing here is named `z`",
        "a.exo:14:9: error: x[i + 1] may be out of bounds"}},
      {"errors_are_in_the_order_of_lines",
       {{"a.exo", kAxpy + kUnproved + kRefused}},
       {"schedule", "a.exo"},
       2,
       {"a.exo:9:9: error: x[i + 1] may be out of bounds",
        "a.exo:14:9: error: nothing here is named `z`"}},
      {"all_errors_of_names",
       {{"a.exo",
         kAxpy + "    y[0] = zz\n    for i in seq(0, n):\n        y[i] = ww\n    y[0] = vv\n"}},
       {"schedule", "a.exo"},
       2,
       {"a.exo:5:12: error: nothing here is named `zz`",
        "a.exo:7:16: error: nothing here is named `ww`",
        "a.exo:8:12: error: nothing here is named `vv`"}},
      {"all_errors_of_proofs",
       {{"a.exo",
         kAxpy + "    for i in seq(0, n):\n        y[i + 1] = 0.0\n        y[i] += x[i - 1]\n"}},
       {"schedule", "a.exo"},
       2,
       {"a.exo:6:9: error: y[i + 1] may be out of bounds",
        "a.exo:7:17: error: x[i - 1] may be out of bounds"}},
      {"script_picks_a_refused_proc",
       {{"a.exo", kAxpy + kRefused}, {"a.sched", "p = bad\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"a.exo:9:9: error: nothing here is named `z`"}},
      {"script_picks_nothing_and_one_refused",
       {{"a.exo", kTwo + kRefused}, {"a.sched", "p = other\n"}},
       {"schedule", "a.exo", "a.sched"},
       2,
       {"nothing here is named `z`"}},
      // --- targets ---
      {"bad_toml",
       {{"a.exo", kAxpy}, {"a.sched", "p = axpy\n"}, {"made_up/target.toml", kBadToml}},
       {"schedule", "a.exo", "a.sched", "--target", "./made_up"},
       2,
       {"target.toml:2:"}},
      {"target_of_another_cpu",
       {{"made_up/target.toml", kNoCpusTarget}},
       {"kernel", "sgemm", "--size", "M=8,N=8,K=8", "--target", "./made_up"},
       6,
       {"cannot run made_up: its CPU lacks warp", "hint: ", "it runs "}},
      // --- the database ---
      {"no_database", {}, {"db", "ls"}, 2, {"tune.db", "hint:"}},
      {"damaged_database",
       {{"bad.db", std::string(4096, 'x')}},
       {"db", "ls", "--db", "bad.db"},
       2,
       {"bad.db", "hint:"}},
      {"unwritable_database",
       {{"empty.jsonl", ""}},
       {"db", "import", "empty.jsonl", "--db", "/proc/tune.db"},
       2,
       {"/proc/tune.db", "hint:"}},
      {"bad_import",
       {{"r.jsonl", "{\"type\":\n"}},
       {"db", "import", "r.jsonl", "--db", "new.db"},
       2,
       {"r.jsonl:1"}},
      {"unknown_db_verb",
       {},
       {"db", "lss"},
       2,
       {"unexpected argument 'lss' of db", "did you mean 'ls'?"}},
  };
  return kInputs;
}

class WrongInputs : public testing::TestWithParam<WrongInput> {};

TEST_P(WrongInputs, are_refused_with_a_code_and_a_next_step) {
  const WrongInput& wrong = GetParam();
  const CommandHarness harness(wrong.name);
  for (const auto& [file, text] : wrong.files) harness.write(file, text);
  const CommandResult result = harness.run(wrong.arguments, wrong.environment);
  ASSERT_TRUE(result.started && !result.timed_out);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.exit_status, wrong.exit_code) << result.err;
  for (const std::string& word : wrong.says)
    EXPECT_NE(result.err.find(word), std::string::npos) << "wanted: " << word << "\n" << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.find("internal"), std::string::npos) << result.err;
}

TEST(Warnings, of_a_program_are_said_once_and_end_nothing) {
  const CommandHarness harness("warned");
  harness.write("sum.exo",
                "def f(n: size, x: i8[n], y: i32):\n    for i in seq(0, n):\n"
                "        y += x[i] * x[i]\n");
  const CommandResult result = harness.run({"schedule", "sum.exo"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(result.out.find("y += x[i] * x[i]"), std::string::npos) << result.out;
  EXPECT_EQ(result.err.find("sum.exo:3:19: warning: `x[i] * x[i]` is computed in i8"), 0u)
      << result.err;
  EXPECT_EQ(result.err.find("warning"), result.err.rfind("warning")) << result.err;
}

TEST(Warnings, of_procs_that_are_neither_picked_nor_called_are_not_said) {
  const CommandHarness harness("warned_elsewhere");
  const auto square = [](const std::string& name, const std::string& more) {
    return "def " + name + "(x: i8, y: i32):\n    y += x * x\n" + more;
  };
  harness.write("a.exo", square("called", "") + square("alone", "") +
                             square("f", "    called(x, y)\n") + kRefused);
  harness.write("a.sched", "p = f\n");
  for (const Words& arguments :
       {Words{"schedule", "a.exo:f"}, Words{"schedule", "a.exo", "a.sched"}}) {
    const std::string said = harness.run(arguments).err;
    EXPECT_NE(said.find("a.exo:2:12: warning"), std::string::npos) << said;
    EXPECT_EQ(said.find("a.exo:4:12: warning"), std::string::npos) << said;
    EXPECT_NE(said.find("a.exo:6:12: warning"), std::string::npos) << said;
  }
}

TEST(Warnings, of_procs_that_nobody_asked_for_leave_the_others) {
  const CommandHarness harness("refused_in_part");
  harness.write("a.exo", kAxpy + kRefused + kUnproved);
  harness.write("a.sched", "p = axpy\n");
  for (const Words& arguments :
       {Words{"schedule", "a.exo:axpy"}, Words{"schedule", "a.exo", "a.sched"}}) {
    const CommandResult result = harness.run(arguments);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.out.find("def axpy("), std::string::npos) << result.out;
    EXPECT_EQ(result.err,
              "note: 2 other procedures of a.exo are refused and left out: bad (line 9), far (line "
              "14)\n");
  }
}

std::string name_of_case(const testing::TestParamInfo<WrongInput>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Command, WrongInputs, testing::ValuesIn(wrong_inputs()), name_of_case);

}  // namespace
}  // namespace exotune::cli
