// The tuner on a machine that is made up: what is run, in which order, who wins, what the store
// keeps, and what happens when time or luck runs out. Nothing is compiled and no clock is real.
#include "search/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "search/moves/step.h"
#include "search/tuning_bench.h"

namespace exotune {
namespace {

const char* const kKernels = R"(
@proc
def scale(x: f32[64]):
    for i in seq(0, 64):
        x[i] = x[i] * 3.0

@proc
def scale_any(n: size, x: f32[n]):
    for i in seq(0, n):
        x[i] = x[i] * 3.0

@proc
def scale_often(T: size, x: f32[64]):
    for t in seq(0, T):
        for i in seq(0, 64):
            x[i] = x[i] * 3.0
)";

// Seconds by candidate: those in `seconds`, others by their place among all that ran.
class MadeUpRunner : public Runner {
 public:
  explicit MadeUpRunner(ManualTime& time) : time_(time) {}
  std::string name() const override { return "made up"; }
  SampleUnit unit() const override { return SampleUnit::kSeconds; }
  std::vector<TrialResult> run(std::span<const Candidate> candidates, const TestCase&,
                               const RunOptions& options) override {
    std::vector<TrialResult> out;
    for (const Candidate& c : candidates) {
      time_.advance(seconds_each);
      TrialResult r;
      if (options.measure) ran.push_back(c.id);
      const bool plain = c.c_source.find("_mm512_") == std::string::npos;
      written_otherwise += plain && c.c_source.find("sums may be taken") != std::string::npos;
      r.status = options.measure ? status : elsewhere;
      if (options.measure && ran.size() == 1 && first_is_ok) r.status = TrialStatus::kOk;
      if (options.measure && wrong_after && wrong_after()) r.status = TrialStatus::kMismatch;
      if (late_at_first && !(first_is_ok && ran.size() == 1) && seen.insert(c.id).second) {
        r.status = TrialStatus::kCompileError;
        r.late = true;
      }
      if (!r.ok()) r.cause = "made up";
      r.candidate_id = c.id;
      if (r.ok() && options.measure) {
        const auto known = seconds.find(c.id);
        r.median = known != seconds.end() ? known->second : 1e-3 / static_cast<double>(ran.size());
        if (all_near) r.median = 1e-3 + 0.1 * r.median;
        r.minimum = r.median;
        r.samples = {r.median};
      }
      if (options.finished) options.finished(out.size(), r);
      out.push_back(std::move(r));
    }
    return out;
  }

  Evaluation evaluate(const Candidate&, const std::vector<std::vector<double>>& inputs,
                      double) override {
    ++evaluated;
    return {inputs, ""};
  }

  std::vector<std::string> ran;
  int evaluated = 0;
  std::map<std::string, double> seconds;
  TrialStatus status = TrialStatus::kOk, elsewhere = TrialStatus::kOk;
  bool first_is_ok = false;
  int written_otherwise = 0;  // plain loops with leave to take sums in any order, as it ran
  std::set<std::string> seen;
  bool late_at_first = false;         // the compiler has too little time for what is new
  std::function<bool()> wrong_after;  // true: from now on nothing is right
  bool all_near = false;  // what runs first, the nest as written, is a little slower than the rest
  double seconds_each = 0;  // that go by for one candidate

 private:
  ManualTime& time_;
};

class MadeUpArena : public Arena {
 public:
  ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>&,
                         const TestCase&, const ShootoutOptions& options) override {
    met.emplace_back();
    rounds.push_back(options.rounds);
    ShootoutResult out;
    for (const Contender& c : contenders) {
      met.back().push_back(c.name);
      ContenderResult r;
      r.name = c.name;
      r.is_peer = c.is_peer();
      r.is_roof = c.roof.has_value();
      r.status = r.is_peer || !c.competes() ? peer_status : status;
      r.median = r.is_roof ? 1e-7 : r.is_peer ? 4e-3 : seconds(met.back().size());
      if (r.status == TrialStatus::kOk) r.samples = std::vector<double>(9, r.median);
      if (c.competes() && status == TrialStatus::kOk &&
          (out.winner < 0 || r.median < out.contenders[static_cast<size_t>(out.winner)].median))
        out.winner = static_cast<int>(out.contenders.size());
      out.contenders.push_back(std::move(r));
    }
    return out;
  }
  double peak(ElementType) override { return 50; }
  std::optional<Contender> roof(ElementType) override { return std::nullopt; }
  std::optional<Contender> memory_roof(const Traffic& t) override {
    traffic = t;
    if (memory.work == 0) return std::nullopt;
    Contender out;
    out.name = "bandwidth";
    out.roof = memory;
    return out;
  }
  PeerReport peers(const PeerProblem&) override { return {}; }
  std::vector<Contender> plain_code(const Candidate& as_written) override {
    Contender c = contender_of("c (other)", as_written);
    c.toolchain = TargetToolchain{};
    return {c};
  }

  std::vector<std::vector<std::string>> met;  // names, by shoot-out
  std::vector<int> rounds;                    // asked for, likewise
  Roof memory;                                // no work: there is none
  Traffic traffic;                            // that it was asked for
  // The second contender of those numbered from 1 is the fastest.
  std::function<double(size_t)> seconds = [](size_t place) { return place == 2 ? 1e-3 : 2e-3; };
  TrialStatus status = TrialStatus::kOk, peer_status = TrialStatus::kOk;
};

class MadeUpMachine : public ::testing::Test {
 protected:
  MadeUpMachine() : runner(time) {
    const Module module = parse_module(kKernels, "k.exo");
    request.proc = module.find_proc("scale");
    any = module.find_proc("scale_any");
    often = module.find_proc("scale_often");
    request.target = target();
    request.kernel.name = "scale";
    request.kernel.bytes = SizeFormula("512");
    request.strategy = Strategy::kBeam;
    request.trials = 12;
    request.top_k = 3;
    request.time_budget_seconds = 100;
  }
  static TargetPtr target() {
    static const TargetPtr loaded = load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"});
    return loaded;
  }
  TuneResult tuned() {
    runner.ran.clear();
    return tune_with({&runner, &arena, {}}, request, *store, hooks, time);
  }
  std::optional<TrialRecord> stored(const TuneResult& r, const std::string& id) {
    return store->find_trial(r.key, id);
  }
  void any_size() {
    request.proc = any;
    request.representative = {{"n", 64}};
    request.kernel.bytes = SizeFormula("8*n");
  }

  ManualTime time;
  MadeUpRunner runner;
  MadeUpArena arena;
  std::unique_ptr<Store> store = make_memory_store();
  TuneRequest request;
  TuneHooks hooks;
  void many_rounds() {
    request.proc = often;
    request.sizes = {{"T", 20'000'000}};
    request.kernel.flops = SizeFormula("64*T");
  }
  ProcPtr any, often;
};

TEST_F(MadeUpMachine, runs_each_candidate_once_and_the_nest_as_written_first) {
  const TuneResult r = tuned();
  ASSERT_GE(runner.ran.size(), 3u);
  EXPECT_EQ(std::set<std::string>(runner.ran.begin(), runner.ran.end()).size(), runner.ran.size());
  EXPECT_EQ(stored(r, runner.ran.front())->script.find("optimize"), std::string::npos);
  EXPECT_EQ(r.statistics.measured, static_cast<int>(runner.ran.size()));
  EXPECT_EQ(r.stop, StopReason::kComplete);
}

TEST_F(MadeUpMachine, the_shoot_out_says_who_wins_and_the_store_knows_it) {
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_EQ(arena.met.back()[1], "#2");
  EXPECT_DOUBLE_EQ(r.seconds, 1e-3);
  EXPECT_DOUBLE_EQ(r.gbytes, 512 / 1e-3 * 1e-9);
  ASSERT_TRUE(store->best(r.key));
  EXPECT_EQ(store->best(r.key)->candidate_id, r.candidate_id);
  EXPECT_EQ(stored(r, r.candidate_id)->samples.size(), 9u);
}

TEST_F(MadeUpMachine, as_many_bytes_as_the_nest_has_to_move_are_moved_beside_the_winner) {
  arena.memory.of_memory = true;
  arena.memory.work = 1024;  // bytes, in 1e-7 s
  const TuneResult r = tuned();
  EXPECT_EQ(arena.met.back().back(), "bandwidth");
  EXPECT_EQ(arena.traffic.moved(), 512);
  EXPECT_DOUBLE_EQ(r.memory_seconds, 1e-7 * 512 / 1024);
  // Of several threads together nothing is known.
  store = make_memory_store();
  request.threads = 2;
  EXPECT_EQ(tuned().memory_seconds, 0);
}

// Trials have the caches to themselves: who is near in them meets the others.
TEST_F(MadeUpMachine, the_nest_as_written_is_a_finalist_unless_it_is_far_behind) {
  request.with_peers = false;
  runner.all_near = true;
  arena.seconds = [](size_t place) { return place == 4 ? 1e-3 : 2e-3; };
  const TuneResult r = tuned();
  EXPECT_EQ(arena.met.back().size(), 4u);
  EXPECT_TRUE(r.as_written);
  // However it is compiled.
  for (const std::string& id : runner.ran)
    if (stored(r, id)->script.find("optimize") == std::string::npos) runner.seconds[id] = 1;
  store = make_memory_store();
  runner.all_near = false;
  EXPECT_FALSE(tuned().as_written);
  EXPECT_EQ(arena.met.back().size(), 3u);
}

TEST_F(MadeUpMachine, the_steps_of_the_winner_are_its_script) {
  const TuneResult r = tuned();
  EXPECT_EQ(r.script.substr(r.script.size() - key_of(r.steps).size()), key_of(r.steps));
}

TEST_F(MadeUpMachine, what_is_stored_is_not_run_again) {
  const TuneResult first = tuned();
  const TuneResult again = tuned();
  EXPECT_TRUE(runner.ran.empty());
  EXPECT_EQ(again.statistics.measured, 0);
  EXPECT_GT(again.statistics.reused, 0);
  EXPECT_EQ(again.key.sizes, first.key.sizes);
  EXPECT_TRUE(again.winner);
  request.fresh = true;
  tuned();
  EXPECT_FALSE(runner.ran.empty());
}

TEST_F(MadeUpMachine, where_all_is_wrong_nothing_wins) {
  runner.status = TrialStatus::kMismatch;
  const TuneResult r = tuned();
  EXPECT_FALSE(r.winner);
  EXPECT_EQ(r.statistics.causes.at("mismatch"), static_cast<int>(runner.ran.size()));
  ASSERT_FALSE(r.failures.empty());
  EXPECT_EQ(r.failures.front(), "mismatch: made up");
  EXPECT_TRUE(arena.met.empty());
}

TEST_F(MadeUpMachine, where_all_is_too_slow_the_cheapest_by_the_model_stands) {
  runner.status = TrialStatus::kTimeout;
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_EQ(r.seconds, 0);
  EXPECT_TRUE(arena.met.empty());
}

TEST_F(MadeUpMachine, where_the_finals_take_too_long_the_fastest_trial_wins) {
  arena.status = TrialStatus::kTimeout;
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_GT(r.seconds, 0);
  EXPECT_FALSE(arena.met.empty());
}

TEST_F(MadeUpMachine, where_the_finals_find_all_wrong_nothing_wins) {
  arena.status = TrialStatus::kMismatch;
  const TuneResult r = tuned();
  EXPECT_FALSE(r.winner);
  EXPECT_FALSE(r.failures.empty());
}

TEST_F(MadeUpMachine, where_no_schedule_is_right_the_nest_as_written_wins) {
  runner.status = TrialStatus::kCrash;
  runner.first_is_ok = true;
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_TRUE(r.as_written);
  EXPECT_EQ(arena.met.back().front(), "#1");
}

TEST_F(MadeUpMachine, what_the_compiler_had_no_time_for_is_compiled_again) {
  runner.late_at_first = true;
  for (const bool written_ran : {true, false}) {
    SCOPED_TRACE(written_ran);
    runner.first_is_ok = written_ran;
    runner.seen.clear();
    store = make_memory_store();
    const TuneResult r = tuned();
    ASSERT_TRUE(r.winner);
    EXPECT_FALSE(r.as_written);
    EXPECT_GT(r.seconds, 0);
    EXPECT_GT(std::count(runner.ran.begin(), runner.ran.end(), r.candidate_id), 1);
  }
}

TEST_F(MadeUpMachine, when_time_is_over_the_fastest_trial_wins) {
  runner.seconds_each = 30;
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_TRUE(arena.met.empty());
  EXPECT_EQ(r.failures.back(), "no shoot-out: the time was over; the winner is the fastest trial");
  EXPECT_LT(runner.ran.size(), 8u);
}

TEST_F(MadeUpMachine, candidates_that_had_no_turn_are_no_complete_search) {
  EXPECT_NE(tuned().stop, StopReason::kTimeBudget);
  store = make_memory_store();
  runner.seconds_each = 20;
  const TuneResult r = tuned();
  EXPECT_EQ(r.stop, StopReason::kTimeBudget);
  EXPECT_FALSE(arena.met.empty()) << "the finals have time of their own";
}

// All of them would take more than a small part of the time, and some schedule is far ahead.
TEST_F(MadeUpMachine, the_compilers_own_loops_wait_where_they_are_dear) {
  const auto place_of_first = [&] {  // among what ran
    store = make_memory_store();
    runner.ran.clear();
    const TuneResult r = tuned();
    for (size_t k = 0; k < runner.ran.size(); ++k)
      if (stored(r, runner.ran[k])->script.find("# compiled with sums in any order\np = ") == 0 &&
          stored(r, runner.ran[k])->script.find("optimize") == std::string::npos)
        return k;
    return runner.ran.size();
  };
  const size_t cheap = place_of_first();
  runner.seconds_each = 12;
  EXPECT_GT(place_of_first(), cheap);
}

// Their time is the finals', where the schedules took all of the search's.
TEST_F(MadeUpMachine, the_compilers_own_loops_have_a_turn_before_the_finals) {
  runner.seconds_each = 15;
  runner.all_near = true;
  const TuneResult r = tuned();
  EXPECT_EQ(r.stop, StopReason::kTimeBudget);
  EXPECT_GT(runner.written_otherwise, 0);
  EXPECT_FALSE(arena.met.empty());
}

// The search begins with a product in the place of the power: some compiler may do better.
TEST_F(MadeUpMachine, the_compilers_have_a_turn_at_what_the_user_wrote) {
  request.proc = parse_module(R"(
@proc
def squares(x: f32[64], y: f32[64]):
    for i in seq(0, 64):
        y[i] = pow(x[i], 2.0)
)",
                              "k.exo")
                     .procs.front();
  const TuneResult r = tuned();
  const auto ran = [&](const std::string& lines) {
    return std::any_of(runner.ran.begin(), runner.ran.end(),
                       [&](const std::string& id) { return stored(r, id)->script == lines; });
  };
  EXPECT_TRUE(ran("p = squares\np = powers_as_products(p)\n"));
  EXPECT_FALSE(ran("p = squares\n"));
  EXPECT_TRUE(ran("# compiled with sums in any order\np = squares\n"));
}

TEST_F(MadeUpMachine, whoever_interrupts_gets_what_there_is) {
  hooks.interrupted = [&] { return runner.ran.size() >= 2; };
  const TuneResult r = tuned();
  EXPECT_EQ(r.stop, StopReason::kInterrupted);
  EXPECT_TRUE(r.winner);
  EXPECT_TRUE(arena.met.empty());
}

TEST_F(MadeUpMachine, a_shoot_out_that_nobody_survives_has_no_winner_but_says_why) {
  arena.status = TrialStatus::kCrash;
  const TuneResult r = tuned();
  EXPECT_TRUE(std::any_of(r.failures.begin(), r.failures.end(),
                          [](const std::string& f) { return f.find("#1: crash") == 0; }));
}

TEST_F(MadeUpMachine, where_no_library_does_the_same_plain_code_is_the_peer) {
  const TuneResult r = tuned();
  ASSERT_EQ(r.peers.size(), 1u);
  EXPECT_EQ(r.peers[0].name, "c (other)");
  EXPECT_NEAR(r.peers[0].ratio.median, 4, 1e-9);
  request.with_peers = false;
  EXPECT_TRUE(tuned().peers.empty());
}

TEST_F(MadeUpMachine, peers_that_were_not_timed_are_named_with_the_reason) {
  arena.peer_status = TrialStatus::kSkipped;
  const TuneResult r = tuned();
  EXPECT_TRUE(r.winner);
  EXPECT_TRUE(r.peers.empty());
  EXPECT_EQ(r.missed, std::vector<std::string>{"c (other): the time was over"});
  arena.status = arena.peer_status = TrialStatus::kSkipped;  // nobody had a round
  EXPECT_EQ(tuned().missed, r.missed);
}

TEST_F(MadeUpMachine, rivals_meet_the_finalists) {
  request.rivals = {{"mine", request.proc}};
  const TuneResult r = tuned();
  ASSERT_EQ(r.rivals.size(), 1u);
  EXPECT_EQ(r.rivals[0].name, "mine");
}

// A form of the kernel, as a view of its operands makes one: its schedules begin with its lines.
class FormOfTheKernel : public MadeUpMachine {
 protected:
  FormOfTheKernel() { request.starts = {form("copy")}; }
  WholeSchedule form(const std::string& copy) const {
    Schedule s{request.proc, {}};
    EXPECT_FALSE(apply(s, "stage_mem", {"for i in _: _", "x[0:64]", copy}));
    EXPECT_FALSE(apply(s, "set_precision", {copy + ": _", copy == "copy" ? "f32" : "f64"}));
    return {s.proc, "p = scale\n" + key_of(s.steps)};
  }
  bool is_of_form(const std::string& script) const {
    return script.find(request.starts[0].script) != std::string::npos;
  }
  // Of all that ran, in order.
  std::vector<bool> of_form(const TuneResult& r) {
    std::vector<bool> out;
    for (const std::string& id : runner.ran) out.push_back(is_of_form(stored(r, id)->script));
    return out;
  }
};

TEST_F(FormOfTheKernel, its_schedules_are_measured_in_turn_with_the_others) {
  const TuneResult r = tuned();
  const std::vector<bool> turns = of_form(r);
  EXPECT_GT(std::count(turns.begin(), turns.end(), true), 0);
  EXPECT_GT(std::count(turns.begin(), turns.end(), false), 1);
  ASSERT_EQ(r.views.size(), 1u);
  EXPECT_NE(r.views[0].script.find(request.starts[0].script), std::string::npos);
  EXPECT_EQ(r.views[0].trouble, "");
  EXPECT_EQ(r.views[0].chosen, is_of_form(r.script));
}

// The lines of the form and what was found, as one script, make what was measured.
TEST_F(FormOfTheKernel, its_script_makes_its_schedule) {
  const TuneResult r = tuned();
  ScriptEnvironment names = script_environment({}, {&request.target->library});
  names.start = request.proc;
  names.names["scale"] = Value(request.proc);
  const ScriptResult again = run_script(r.views[0].script, "view.sched", names);
  EXPECT_EQ(canonical_text(*run_script(r.script, "winner.sched", names).proc),
            canonical_text(*r.winner));
  EXPECT_NE(canonical_text(*again.proc), canonical_text(*request.proc));
}

// Once three of them were slow, the others have their turns first.
TEST_F(FormOfTheKernel, what_is_far_behind_waits) {
  request.starts.push_back(form("other"));
  request.trials = 80;
  request.time_budget_seconds = 2000;
  runner.seconds_each = 20;  // so that a few are measured at once
  const TuneResult first = tuned();
  const std::vector<bool> before = of_form(first);
  for (size_t k = 0; k < before.size(); ++k) runner.seconds[runner.ran[k]] = before[k] ? 1 : 1e-3;
  store = make_memory_store();
  const TuneResult r = tuned();
  EXPECT_FALSE(r.views[0].chosen);
  EXPECT_EQ(r.views[0].seconds, 1);
  const std::vector<bool> now = of_form(r);
  const auto early = [&](const std::vector<bool>& turns) {
    return std::count(turns.begin(), turns.begin() + static_cast<long>(now.size() / 2), true);
  };
  EXPECT_GT(early(now), 0);
  EXPECT_LT(early(now), early(before));
}

// Where a proved form of the kernel is so much shorter, neither the nest as written nor a schedule
// of it has a turn, and as a rival it is named with the reason.
TEST_F(MadeUpMachine, of_a_far_shorter_form_nothing_else_is_searched) {
  const Module module = parse_module(R"(
@proc
def scale(x: f32[64]):
    for j in seq(0, 64):
        x[j] = 3.0 * x[j]
)",
                                     "shorter.exo");
  request.shorter = module.procs.front();
  request.starts = {{module.procs.front(), "p = scale\n# shorter\n"}};
  request.rivals = {{"your loops", request.proc}};
  const TuneResult r = tuned();
  EXPECT_NE(r.script.find("# shorter"), std::string::npos) << r.script;
  for (const std::string& id : runner.ran)
    EXPECT_NE(stored(r, id)->script.find("# shorter"), std::string::npos);
  ASSERT_EQ(r.missed.size(), 1u);
  EXPECT_EQ(r.missed[0].rfind("your loops: so many more operations", 0), 0u) << r.missed[0];

  request.shorter = nullptr;
  tuned();
  EXPECT_TRUE(std::any_of(runner.ran.begin(), runner.ran.end(), [&](const std::string& id) {
    return stored(r, id) && stored(r, id)->script.find("# shorter") == std::string::npos;
  }));
}

TEST_F(MadeUpMachine, the_number_of_trials_is_kept) {
  request.trials = 4;
  const TuneResult r = tuned();
  // The other ways to compile the nest as written and the two fastest come on top.
  const int ways = static_cast<int>(unusual_compilations({}, true).size());
  EXPECT_LE(r.statistics.measured, 4 + 3 * ways);
}

TEST_F(MadeUpMachine, times_side_by_side_decide_who_is_refined) {
  tuned();
  ASSERT_GE(arena.met.size(), 2u) << "a semi-final, then the shoot-out";
  EXPECT_LE(arena.met.front().size(), 2 * 3u) << "twice the finalists";
}

// The last comparisons before the shoot-out are of fewer and fewer, each in more rounds.
TEST_F(MadeUpMachine, the_field_of_the_shoot_out_narrows) {
  request.trials = 40;
  request.top_k = 2;
  runner.all_near = true;
  tuned();
  const size_t widest = static_cast<size_t>(
      std::max_element(arena.met.begin(), arena.met.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); }) -
      arena.met.begin());
  ASSERT_GT(arena.met[widest].size(), 8u);
  ASSERT_GE(arena.met.size(), widest + 4) << "three comparisons and the shoot-out";
  for (size_t k = widest + 1; k < widest + 3; ++k) {
    EXPECT_LT(arena.met[k].size(), arena.met[k - 1].size());
    EXPECT_GT(arena.rounds[k], arena.rounds[k - 1]);
  }
}

// The trials are of few rounds; the schedule is of all of them, and so is its speed.
TEST_F(MadeUpMachine, many_rounds_are_searched_at_few_and_measured_once) {
  many_rounds();
  arena.seconds = [](size_t) { return 1e-7; };
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_EQ(r.searched_at, (SizeBinding{{"T", 48}}));
  EXPECT_FALSE(r.timed_there);
  EXPECT_NE(r.script.find("T=20000000"), std::string::npos) << r.script;
  EXPECT_EQ(r.key.sizes, "T=20000000");
  EXPECT_EQ(store->best(r.key)->candidate_id, r.candidate_id);
  EXPECT_EQ(runner.ran.back(), r.candidate_id);
  EXPECT_GT(runner.evaluated, 0) << "what must come out";
  EXPECT_NEAR(r.gflops, 64 * 2e7 / r.seconds * 1e-9, 1e-6);
}

TEST_F(MadeUpMachine, where_all_rounds_take_too_long_the_speed_is_of_few) {
  many_rounds();
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_TRUE(r.timed_there);
  EXPECT_EQ(sizes_of_speed(request, r), r.searched_at);
  EXPECT_DOUBLE_EQ(r.seconds, 1e-3);
  EXPECT_DOUBLE_EQ(r.gflops, 64 * 48 / 1e-3 * 1e-9);
  EXPECT_NE(r.script.find("T=20000000"), std::string::npos) << r.script;
  EXPECT_EQ(runner.evaluated, 0);
}

TEST_F(MadeUpMachine, who_stops_at_few_rounds_has_the_fastest_of_them_at_all) {
  many_rounds();
  hooks.interrupted = [&] { return runner.ran.size() >= 3; };
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  EXPECT_EQ(r.stop, StopReason::kInterrupted);
  EXPECT_TRUE(r.timed_there);
  EXPECT_NE(r.script.find("T=20000000"), std::string::npos) << r.script;
}

// What is wrong at all rounds wins nothing: the search is made there.
TEST_F(MadeUpMachine, what_is_wrong_at_all_rounds_is_no_result) {
  many_rounds();
  arena.seconds = [](size_t) { return 1e-7; };
  runner.wrong_after = [&] { return runner.evaluated > 0; };
  const TuneResult r = tuned();
  EXPECT_TRUE(r.searched_at.empty());
  EXPECT_FALSE(r.winner);
}

TEST_F(MadeUpMachine, progress_counts_what_was_right_and_wrong) {
  runner.status = TrialStatus::kMismatch;
  runner.first_is_ok = true;
  Progress last;
  std::set<std::string> phases;
  hooks.progress = [&](const Progress& p) {
    phases.insert(p.phase);
    if (p.phase == "measure") last = p;
  };
  tuned();
  EXPECT_EQ(last.ok, 1);
  EXPECT_EQ(last.ok + last.bad, static_cast<int>(runner.ran.size()));
  EXPECT_TRUE(phases.count("search") && phases.count("shoot-out"));
}

TEST_F(MadeUpMachine, what_fails_at_another_size_neither_wins_nor_stays_ok) {
  any_size();
  runner.elsewhere = TrialStatus::kOutOfBounds;
  const TuneResult r = tuned();
  EXPECT_FALSE(std::any_of(runner.ran.begin(), runner.ran.end(), [&](const std::string& id) {
    const auto record = stored(r, id);
    return record && record->status == "ok" && !record->samples.empty();
  }));
  EXPECT_GE(r.statistics.causes.at("out_of_bounds"), 1);
  EXPECT_TRUE(arena.met.empty() || arena.met.back().empty() || !store->best(r.key));
}

TEST_F(MadeUpMachine, a_kernel_of_any_size_meets_at_every_size_it_lists) {
  any_size();
  request.kernel.sizes = {{{"n", 64}}, {{"n", 100}}, {{"n", 200}}};
  arena.met.clear();
  const TuneResult r = tuned();
  ASSERT_TRUE(r.winner);
  ASSERT_GE(arena.met.size(), 3u);
  EXPECT_EQ(arena.met.back().size(), arena.met[arena.met.size() - 2].size());
}

}  // namespace
}  // namespace exotune
