#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/subprocess.h"
#include "runners/arena.h"
#include "tests/runners/sample_candidates.h"
#include "tests/runners/shared_peers.h"

namespace exotune {
namespace {

using samples::double_args;
using samples::double_case;
using samples::good;
using samples::toolchain;
using samples::with_body;

ShootoutOptions quick() {
  ShootoutOptions o;
  o.rounds = 9;
  o.batch_seconds = 2e-5;
  o.check_timeout_seconds = 20;
  return o;
}

Contender contender(const std::string& name, const Candidate& c, double complexity = 1) {
  Contender out;
  out.name = name;
  out.candidate = c;
  out.candidate->complexity = complexity;
  return out;
}

Candidate slow() {
  return with_body(
      "for (int64_t i = 0; i < n; ++i) for (volatile int k = 0; k < 200; ++k) y[i] = 2 * x[i];");
}

TEST(Shootout, the_faster_candidate_wins_and_the_bad_are_named) {
  const std::vector<Contender> field = {
      contender("slow", slow()), contender("fast", good()),
      contender("wrong", with_body("for (int64_t i = 0; i < n; ++i) y[i] = 1;")),
      contender("broken", with_body("not C"))};
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), quick());
  EXPECT_EQ(r.stop_reason, "complete");
  EXPECT_EQ(r.winner, 1);
  EXPECT_EQ(r.fastest, 1);
  EXPECT_EQ(r.reference, "slow");
  EXPECT_EQ(r.contenders[2].status, TrialStatus::kMismatch);
  EXPECT_EQ(r.contenders[3].status, TrialStatus::kCompileError);
  EXPECT_TRUE(r.contenders[2].samples.empty());
  for (int k : {0, 1}) {
    EXPECT_GE(r.contenders[k].samples.size(), 9u);
    EXPECT_LE(r.contenders[k].low, r.contenders[k].median);
    EXPECT_LE(r.contenders[k].median, r.contenders[k].high);
    EXPECT_GE(r.contenders[k].against_reference.rounds, 1);
  }
  EXPECT_GT(r.ratio(1, 0).median, 1);
}

TEST(Shootout, peers_and_candidates_run_in_one_process) {
  const std::vector<ArgSpec> args = {ArgSpec::control("n", 37),
                                     ArgSpec::tensor("y", ElementType::kF32, {37}, true, true),
                                     ArgSpec::tensor("x", ElementType::kF32, {37}, true, false)};
  TestCase test = make_inputs(args, 4);
  for (size_t i = 0; i < 37; ++i)
    test.expected[1].push_back(test.inputs[1][i] + 2 * test.inputs[2][i]);
  PeerProblem axpy;
  axpy.op = BlasOp::kAxpy;
  axpy.n = 37;
  axpy.x = 2, axpy.y = 1;
  axpy.alpha.value = 2;
  std::vector<Contender> field = {
      contender("mine", with_body("for (int64_t i = 0; i < n; ++i) y[i] += 2 * x[i];", args))};
  for (const Peer& p : samples::shared_peers().peers) {
    if (!p.supports(axpy)) continue;
    Contender c;
    c.name = p.name;
    c.peer = PeerCall{p, axpy};
    field.push_back(c);
  }
  ASSERT_GE(field.size(), 2u);
  for (bool cold : {false, true}) {
    ShootoutOptions options = quick();
    options.cold = cold;
    const ShootoutResult r = shootout(toolchain(), field, args, test, options);
    EXPECT_EQ(r.cold, cold);
    EXPECT_EQ(r.winner, 0);
    EXPECT_EQ(r.reference, field[1].name);
    for (const ContenderResult& c : r.contenders) {
      EXPECT_EQ(c.status, TrialStatus::kOk) << c.name << c.cause;
      EXPECT_GT(c.median, 0) << c.name;
      EXPECT_GT(c.against_reference.median, 0) << c.name;
    }
  }
}

TEST(Shootout, a_tie_goes_to_the_simpler_code) {
  const std::vector<Contender> field = {contender("long", good(), 9),
                                        contender("short", good(), 3)};
  ShootoutOptions options = quick();
  options.tie_margin = 1e9;
  EXPECT_EQ(shootout(toolchain(), field, double_args(), double_case(), options).winner, 1);
}

// malloc begins large arrays 16 bytes into a page, all of them: two blocks of five.
TEST(Shootout, who_is_slow_in_some_places_does_not_win_by_the_median) {
  const Candidate picky = with_body(
      "const bool both = ((uintptr_t)x & 4095) == 16 && ((uintptr_t)y & 4095) == 16;\n"
      "for (volatile int k = 0; k < (both ? 300000 : 20); ++k) {}\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
  const Candidate even = with_body(
      "for (volatile int k = 0; k < 300; ++k) {}\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
  const std::vector<Contender> field = {contender("picky", picky), contender("even", even)};
  ShootoutOptions options = quick();
  options.rounds = 15;
  options.one_set = true;
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), options);
  ASSERT_EQ(r.contenders[0].status, TrialStatus::kOk) << r.contenders[0].cause;
  EXPECT_LT(r.contenders[0].median, r.contenders[1].median);
  EXPECT_GT(r.contenders[0].typical, r.contenders[1].typical);
  EXPECT_EQ(r.winner, 1);
}

// 300 times slower: known after nine rounds, and not called again.
TEST(Shootout, who_is_beaten_sits_out_the_rest) {
  const std::vector<Contender> field = {contender("slow", slow()), contender("fast", good()),
                                        contender("like it", good())};
  ShootoutOptions options = quick();
  options.rounds = 20;
  options.blocks = 10;
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), options);
  const auto taken = [&](int k) {
    const std::vector<double>& all = r.contenders[k].samples;
    return std::count_if(all.begin(), all.end(), [](double s) { return s > 0; });
  };
  EXPECT_GE(r.contenders[0].samples.size(), 20u);
  EXPECT_LE(taken(0), 10);
  EXPECT_GT(taken(1), taken(0));  // a busy machine drops some of either
  EXPECT_GT(r.contenders[0].median, 2 * r.contenders[1].median);
  EXPECT_GT(r.ratio(1, 0).median, 2);
  EXPECT_LE(r.ratio(1, 0).rounds, static_cast<int>(taken(0)));
  EXPECT_NE(r.winner, 0);
}

TEST(Shootout, the_reference_can_be_chosen) {
  const std::vector<Contender> field = {contender("a", good()), contender("b", good())};
  ShootoutOptions options = quick();
  options.reference = "b";
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), options);
  EXPECT_EQ(r.reference, "b");
  EXPECT_EQ(r.contenders[1].against_reference.median, 1);
}

TEST(Shootout, one_that_breaks_the_joint_process_leaves) {
  // Right twice in its check, then it aborts.
  const Candidate later = with_body(
      "static int calls; if (++calls > 5) abort();\n"
      "for (int64_t i = 0; i < n; ++i) y[i] = helper(x[i]);");
  const std::vector<Contender> field = {contender("good", good()), contender("later", later)};
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), quick());
  EXPECT_EQ(r.winner, 0);
  EXPECT_EQ(r.contenders[1].status, TrialStatus::kCrash);
  EXPECT_NE(r.stop_reason.find("later"), std::string::npos) << r.stop_reason;
}

TEST(Shootout, rounds_are_dealt_to_blocks) {
  const std::vector<Contender> field = {contender("a", good()), contender("b", good())};
  ShootoutOptions options = quick();
  options.extend = false;
  options.rounds = 10;
  options.blocks = 5;
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), options);
  EXPECT_EQ(r.blocks, (std::vector<int>{2, 2, 2, 2, 2}));
  const Ratio ratio = r.ratio(0, 1);
  EXPECT_LE(ratio.next_low, ratio.low);
  EXPECT_GE(ratio.next_high, ratio.high);
}

TEST(Shootout, code_of_another_compiler_is_a_peer_and_never_wins) {
  std::vector<Contender> field = {contender("ours", slow()), contender("plain", good())};
  field[1].toolchain = toolchain();
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), quick());
  EXPECT_EQ(r.contenders[1].status, TrialStatus::kOk) << r.contenders[1].cause;
  EXPECT_TRUE(r.contenders[1].is_peer);
  EXPECT_EQ(r.winner, 0);
  EXPECT_EQ(r.fastest, 1);
}

TEST(Shootout, a_peer_that_computes_something_else_is_named_and_left_out) {
  std::vector<Contender> field = {
      contender("ours", good()),
      contender("wrong", with_body("for (int64_t i = 0; i < n; ++i) y[i] = 3 * x[i];"))};
  field[1].toolchain = toolchain();
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), quick());
  EXPECT_EQ(r.contenders[1].status, TrialStatus::kMismatch);
  EXPECT_EQ(r.fastest, 0);
}

TEST(Arena, the_roof_runs_beside_what_it_is_the_roof_of) {
  const std::unique_ptr<Arena> arena = native_arena(toolchain());
  std::vector<Contender> field = {contender("ours", good())};
  const std::optional<Contender> roof = arena->roof(ElementType::kF32);
  ASSERT_TRUE(roof.has_value());
  field.push_back(*roof);
  const ShootoutResult r = arena->compete(field, double_args(), double_case(), quick());
  EXPECT_TRUE(r.contenders[1].is_roof);
  EXPECT_GT(r.contenders[1].median, 0);
  EXPECT_EQ(r.fastest, 0);
  EXPECT_EQ(r.reference, "ours");
}

TEST(Arena, compiles_nothing_that_its_runner_compiled) {
  NativeOptions native;
  native.compiler = shared_compiler(toolchain(), native);
  NativeRunner runner(toolchain(), native);
  const Candidate c = good(), other = slow();
  ASSERT_TRUE(runner.run({&c, 1}, double_case(), {.measure = false})[0].ok());
  const std::unique_ptr<Arena> arena = native_arena(toolchain(), native);
  const std::vector<Contender> field = {contender("known", c), contender("new", other)};
  EXPECT_EQ(arena->compete(field, double_args(), double_case(), quick()).winner, 0);
  EXPECT_EQ(runner.compiled(), 2);
  arena->compete(field, double_args(), double_case(), quick());
  EXPECT_EQ(runner.compiled(), 2);
}

TEST(Arena, no_roof_where_the_cpu_has_no_such_instruction) {
  EXPECT_FALSE(native_arena(toolchain())->roof(ElementType::kI8).has_value());
}

TEST(Arena, the_compilers_on_their_own_are_peers) {
  const std::vector<Contender> plain = native_arena(toolchain())->plain_code(good());
  for (const Contender& c : plain) EXPECT_TRUE(c.is_peer()) << c.name;
  EXPECT_EQ(plain.empty(), find_program("gcc").empty() && find_program("clang").empty());
}

TEST(Peers, a_library_that_is_held_back_is_shown_so) {
  Peer blas;
  blas.library = "openblas";
  blas.name = "openblas";
  TargetToolchain own = toolchain();
  EXPECT_EQ(shown_name(blas, own), "openblas (held to plain code)");
  own.peers.cores["openblas"] = {"Haswell"};
  EXPECT_EQ(shown_name(blas, own), "openblas");
  Peer eigen;
  eigen.library = "eigen";
  eigen.name = "eigen";
  own.peers = {};
  EXPECT_EQ(shown_name(eigen, own), "eigen") << "compiled here, by the same compilers as ours";
}

TEST(Shootout, an_interrupt_ends_it_between_blocks) {
  const std::vector<Contender> field = {contender("a", good())};
  ShootoutOptions options = quick();
  int asked = 0;
  options.interrupted = [&] { return ++asked > 1; };
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), options);
  EXPECT_EQ(r.stop_reason, "interrupted");
  EXPECT_EQ(r.blocks.size(), 1u);
  EXPECT_EQ(r.winner, 0);
}

TEST(Shootout, nobody_valid_means_no_winner) {
  const std::vector<Contender> field = {contender("broken", with_body("not C"))};
  const ShootoutResult r = shootout(toolchain(), field, double_args(), double_case(), quick());
  EXPECT_EQ(r.winner, -1);
  EXPECT_EQ(r.fastest, -1);
}

TEST(PairedRatio, leaves_out_rounds_that_either_lacks) {
  const double nan = std::nan("");
  const std::vector<double> mine = {1, nan, 2, 1}, base = {2, 2, 2, nan};
  const Ratio r = paired_ratio(mine, base);
  EXPECT_EQ(r.rounds, 2);
  EXPECT_EQ(r.median, 1.5);
  EXPECT_TRUE(r.tie());
}

}  // namespace
}  // namespace exotune
