// Tuning chooses by what an arena says: which version serves which sizes, what is tried, and what
// is done with schedules that are refused or wrong.
#include "search/families/tuning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/deadline.h"
#include "runners/guarded_arguments.h"
#include "tests/cli/command_harness.h"
#include "tests/families/twice_family.h"

namespace exotune::families {
namespace {

// Times each contender by a function of its place; nothing runs.
class FakeArena : public Arena {
 public:
  using Time = std::function<double(int64_t n, size_t place)>;
  explicit FakeArena(Time time) : time_(std::move(time)) {}
  ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>& args,
                         const TestCase&, const ShootoutOptions&) override {
    ShootoutResult result;
    for (size_t k = 0; k < contenders.size(); ++k) {
      const double seconds = time_(args.front().value, k);
      ContenderResult each;
      each.name = contenders[k].name;
      each.status = seconds > 0 ? TrialStatus::kOk : TrialStatus::kMismatch;
      each.samples = {seconds, seconds, seconds};
      each.median = seconds;
      if (seconds > 0 && (result.winner < 0 ||
                          seconds < result.contenders[static_cast<size_t>(result.winner)].median))
        result.winner = static_cast<int>(k);
      result.contenders.push_back(each);
    }
    return result;
  }
  double peak(ElementType) override { return 0; }
  std::optional<Contender> roof(ElementType) override { return std::nullopt; }
  std::optional<Contender> memory_roof(const Traffic&) override { return std::nullopt; }
  PeerReport peers(const PeerProblem&) override { return {}; }
  std::vector<Contender> plain_code(const Candidate&) override { return {}; }

 private:
  Time time_;
};

constexpr const char* kTries =
    R"(tries = ["p = divide_loop(p, 'i', ${by}, ['io', 'ii'], tail='cut')\n", "p = unroll_loop(p, 'i')\n"]
values = { by = ["2", "4"] }
buckets = [{ when = "n <= 8", at = "n=5" }, { when = "n <= 64", at = "n=40" }, { at = "n=100" }]
)";

Tunable tunable(const Target& target, const std::string& tries = kTries) {
  const cli::CommandHarness harness("tuning");
  harness.write("one.toml", kTwice + tries);
  return tunables_of(load_family(harness.folder(), "one"), target).at(0);
}

TEST(Tuning, takes_the_fastest_for_each_bucket_and_joins_neighbours) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  FakeArena arena([](int64_t n, size_t place) {
    return place == (n == 100 ? 0u : 2u) ? 1.0
                                         : 2.0;  // small ones by fours, large ones as they are
  });
  const TunedMember tuned = tune_member(tunable(*target), target, arena);
  ASSERT_EQ(tuned.versions.size(), 2u);
  EXPECT_EQ(tuned.versions[0].when, "n <= 64");
  EXPECT_NE(tuned.versions[0].script.find("'i', 4,"), std::string::npos);
  EXPECT_EQ(tuned.versions[1].script, "p = p\n");
  EXPECT_EQ(tuned.buckets[0].tried, 4u);
  EXPECT_EQ(tuned.buckets[0].refused, 1u) << "a loop of unknown length is not unrolled";
  EXPECT_DOUBLE_EQ(tuned.buckets[0].gain, 2.0);
}

// What is tried where matrices come from afar is tried nowhere else.
TEST(Tuning, far_buckets_try_more) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  std::string tries = std::string(kTries) +
                      "far_tries = [\"p = divide_loop(p, 'i', 5, ['io', 'i'], tail='cut')\\n\"]\n";
  const std::string last = "{ at = \"n=100\" }";
  tries.replace(tries.find(last), last.size(), "{ at = \"n=100\", far = true }");
  FakeArena arena([](int64_t, size_t place) { return place == 3 ? 1.0 : 2.0; });
  const TunedMember tuned = tune_member(tunable(*target, tries), target, arena);
  EXPECT_EQ(tuned.buckets[0].tried, 4u);
  EXPECT_EQ(tuned.buckets.back().tried, 5u);
  EXPECT_NE(tuned.versions.back().script.find("'i', 5,"), std::string::npos);
  EXPECT_EQ(tuned.versions.front().script.find("'i', 5,"), std::string::npos);
}

// A bucket whose comparison was cut short has no result; those before it are kept.
TEST(Tuning, an_interrupt_leaves_the_bucket_at_hand) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  bool interrupted = false;
  FakeArena arena([&](int64_t n, size_t) {
    interrupted = n == 40;  // in the middle of the second
    return 1.0;
  });
  std::vector<std::string> kept;
  const BucketMemory memory{{}, [&](const BucketResult& bucket) { kept.push_back(bucket.at); }};
  EXPECT_FALSE(done_within(Deadline().or_when([&] { return interrupted; }),
                           [&] { tune_member(tunable(*target), target, arena, memory); }));
  EXPECT_EQ(kept, std::vector<std::string>{"n=5"});
}

// Of two schedules within 3 % the one that ships stays; by more, the faster one is taken.
TEST(Tuning, what_ships_stays_where_nothing_is_clearly_faster) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  Tunable shipped = tunable(*target);
  const std::string own = "p = divide_loop(p, 'i', 5, ['io', 'i'], tail='cut')\n";
  const std::string by_two = shipped.scripts[0];
  shipped.kept = "# when n <= 8\n" + own + "# otherwise\n" + by_two;
  // Places: as it is, by two, by four, and in the first bucket what ships there.
  for (const double faster : {1.02, 1.05}) {
    FakeArena arena([&](int64_t, size_t place) {
      return place == 2 ? 1.0 : place == 0 ? 1.0 : faster;
    });
    const TunedMember tuned = tune_member(shipped, target, arena);
    EXPECT_EQ(tuned.buckets[0].tried, 5u);
    EXPECT_EQ(tuned.buckets[1].tried, 4u) << "it is among the tries";
    const bool stays = faster < 1.03;
    EXPECT_EQ(tuned.buckets[0].winner == own, stays);
    EXPECT_EQ(tuned.buckets[1].winner == by_two, stays);
    EXPECT_EQ(tuned.buckets[2].winner == by_two, stays);
  }
  EXPECT_NE(shipped.key(), tunable(*target).key());
}

TEST(Tuning, what_ships_is_read_before_anything_is_measured) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const cli::CommandHarness harness("kept");
  harness.write("one.toml", kTwice + std::string(kTries));
  const Family family = load_family(harness.folder(), "one");
  const std::string text = "# when n <= 8\np = p\n# otherwise\np = simplify(p)\n";
  const auto kept = [&](const std::string& file) {
    return tunables_of(family, *target, {{"dtwice", file}}).at(0).kept;
  };
  EXPECT_EQ(kept("# tuned amd-25-1 0123\n" + text), text);
  EXPECT_EQ(kept(text), text);
  EXPECT_EQ(kept("# tuned amd-25-1 0123"), "");
  EXPECT_THROW(kept("# when n <=\n" + text), InputError);
}

TEST(Tuning, one_bucket_over_several_shipped_versions_prefers_none_of_them) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  std::string tries = kTries;
  const std::string last = "{ at = \"n=100\" }";
  tries.replace(tries.find(last), last.size(), "{ at = \"n=100, n=200\" }");
  Tunable shipped = tunable(*target, tries);
  shipped.kept =
      "# when n <= 150\np = divide_loop(p, 'i', 5, ['io', 'i'], tail='cut')\n"
      "# otherwise\np = divide_loop(p, 'i', 6, ['io', 'i'], tail='cut')\n";
  FakeArena arena([](int64_t, size_t) { return 1.0; });
  const TunedMember tuned = tune_member(shipped, target, arena);
  EXPECT_EQ(tuned.buckets.back().tried, 6u) << "both take part";
  EXPECT_EQ(tuned.buckets.front().winner, "p = divide_loop(p, 'i', 5, ['io', 'i'], tail='cut')\n");
}

// Blocks of four are three times as fast where they divide the size, and half as fast elsewhere.
TEST(Tuning, a_bucket_of_several_sizes_is_won_by_the_best_mean) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const auto versions = [&](const std::string& at) {
    std::string tries = kTries;
    const std::string last = "{ at = \"n=100\" }";
    tries.replace(tries.find(last), last.size(), "{ at = \"" + at + "\" }");
    FakeArena arena([](int64_t n, size_t place) {
      return place != 2 || n < 70 ? 3.0 : n % 4 == 0 ? 1.0 : 6.0;
    });
    return tune_member(tunable(*target, tries), target, arena);
  };
  EXPECT_NE(versions("n=100").versions.back().script.find("'i', 4,"), std::string::npos);
  EXPECT_EQ(versions("n=100, n=101, n=102").versions.back().script, "p = p\n");
  const TunedMember two = versions("n=100, n=101");
  EXPECT_NE(two.versions.back().script.find("'i', 4,"), std::string::npos);
  ASSERT_EQ(two.buckets.back().points.size(), 2u);
  EXPECT_EQ(two.buckets.back().points[1].sizes.at("n"), 101);
  EXPECT_NEAR(two.buckets.back().gain, std::sqrt(3.0 * 0.5), 1e-9);
  for (const char* wrong : {"", "n=5,,n=6", "n=5, n=0", "n=5; n=6"})
    EXPECT_THROW(versions(wrong), InputError) << wrong;
}

// Every place of the shipped texts is filled for every set of vectors that they are for.
TEST(Tuning, the_shipped_families_have_something_to_try_for_each_cpu) {
  const std::filesystem::path folder = EXOTUNE_SOURCE_DIR "/kernels/families";
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = load_target(name, {EXOTUNE_SOURCE_DIR "/hw"});
    for (const std::string& family : list_families(folder)) {
      const std::vector<Tunable> tunables = tunables_of(load_family(folder, family), *target);
      EXPECT_FALSE(tunables.empty()) << family;
      for (const Tunable& tunable : tunables) {
        EXPECT_FALSE(tunable.scripts.empty()) << tunable.name;
        EXPECT_EQ(tunable.buckets.back().when, "") << tunable.name;
        EXPECT_NE(tunable.code.find(tunable.in_lines), std::string::npos) << tunable.name;
      }
    }
  }
}

// Bodies hand large vectors to kernels from the begin of a line on; there they are measured, too.
TEST(Tuning, an_argument_that_bodies_align_is_measured_at_the_begin_of_a_line) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  class Seen : public FakeArena {
   public:
    Seen() : FakeArena([](int64_t, size_t) { return 1.0; }) {}
    ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>& args,
                           const TestCase& test, const ShootoutOptions& options) override {
      in_lines[args[0].value] = args[1].in_lines;
      const PreparedCase prepared = prepare(args, test);
      for (int variation = 0; variation < 6; ++variation) {
        GuardedArguments placed(prepared, GuardedArguments::Placement::kTiming, variation);
        const auto at = reinterpret_cast<uintptr_t>(placed.ranges().back().data);
        elsewhere[args[0].value] += at % 64 != 0;
      }
      return FakeArena::compete(contenders, args, test, options);
    }
    std::map<int64_t, bool> in_lines;
    std::map<int64_t, int> elsewhere;  // of six places
  } arena;
  std::string tries = std::string(kTries) + "in_lines = \"x\"\n";
  const std::string last = "{ at = \"n=100\" }";
  tries.replace(tries.find(last), last.size(), "{ at = \"n=100\", in_lines = true }");
  tune_member(tunable(*target, tries), target, arena);
  EXPECT_FALSE(arena.in_lines.at(40));
  EXPECT_TRUE(arena.in_lines.at(100));
  EXPECT_GT(arena.elsewhere.at(40), 0);
  EXPECT_EQ(arena.elsewhere.at(100), 0);
}

// Joined, the version for n <= 8 would be for n <= 64, and twice as slow there: it is not.
TEST(Tuning, joins_no_neighbours_whose_joint_version_is_slower) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  class Joint : public FakeArena {
   public:
    explicit Joint(double seconds)
        : FakeArena([](int64_t, size_t place) { return place == 2 ? 1.0 : 2.0; }),
          seconds_(seconds) {}
    ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>& args,
                           const TestCase& test, const ShootoutOptions& options) override {
      ShootoutResult result = FakeArena::compete(contenders, args, test, options);
      if (contenders.size() != 2) return result;
      for (size_t k = 0; k < 2; ++k) {
        result.contenders[k].median = k == 0 ? 1.0 : seconds_;
        result.contenders[k].samples.assign(3, result.contenders[k].median);
      }
      return result;
    }

   private:
    double seconds_;
  };
  Joint slower(2.0), equal(1.0);
  EXPECT_EQ(tune_member(tunable(*target), target, slower).versions.size(), 3u);
  EXPECT_EQ(tune_member(tunable(*target), target, equal).versions.size(), 1u);
  // The second condition does not hold where the first one was measured.
  std::string apart = kTries;
  const std::string second = R"({ when = "n <= 64", at = "n=40" })";
  apart.replace(apart.find(second), second.size(), R"({ when = "n >= 20", at = "n=40" })");
  const TunedMember kept = tune_member(tunable(*target, apart), target, equal);
  ASSERT_GE(kept.versions.size(), 2u);
  EXPECT_EQ(kept.versions[0].when, "n <= 8");
}

TEST(Tuning, measures_nothing_of_a_bucket_that_was_measured_to_its_end) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  int competitions = 0, until = 3;  // the run is killed in the third bucket; two are joined
  FakeArena arena([&](int64_t n, size_t place) {
    if (place == 0 && ++competitions > until) throw std::runtime_error("killed");
    return n == 100 ? 1.0 + static_cast<double>(place) : 3.0 - static_cast<double>(place);
  });
  std::map<std::string, TrialRecord> kept;  // by sizes and candidate
  const auto key = [](const SizeBinding& sizes, const std::string& id) {
    return std::to_string(sizes.at("n")) + " " + id;
  };
  const BucketMemory memory{[&](const BucketResult&, const SizeBinding& sizes,
                                const std::string& id) -> std::optional<TrialRecord> {
                              const auto found = kept.find(key(sizes, id));
                              return found == kept.end() ? std::nullopt
                                                         : std::optional(found->second);
                            },
                            [&](const BucketResult& bucket) {
                              for (const BucketPoint& point : bucket.points)
                                for (const TrialRecord& trial : point.trials)
                                  kept[key(point.sizes, trial.candidate_id)] = trial;
                            }};
  EXPECT_THROW(tune_member(tunable(*target), target, arena, memory), std::runtime_error);
  until = 100;
  competitions = 0;
  const TunedMember again = tune_member(tunable(*target), target, arena, memory);
  EXPECT_EQ(competitions, 2) << "two buckets of three were known, but for their joint version";
  const TunedMember fresh = tune_member(tunable(*target), target, arena);
  ASSERT_EQ(again.versions.size(), fresh.versions.size());
  for (size_t k = 0; k < fresh.versions.size(); ++k)
    EXPECT_EQ(again.versions[k].script, fresh.versions[k].script);
}

TEST(Tuning, never_takes_what_computes_something_else) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  FakeArena arena([](int64_t, size_t place) { return place == 0 ? 5.0 : -1.0; });
  const TunedMember tuned = tune_member(tunable(*target), target, arena);
  for (const Version& version : tuned.versions) EXPECT_EQ(version.script, "p = p\n");
  EXPECT_EQ(tuned.buckets[0].failed, 2u);
  FakeArena none([](int64_t, size_t) { return -1.0; });
  EXPECT_THROW(tune_member(tunable(*target), target, none), Error);
}

// What a first factor that is transposed looks like to a kernel.
TEST(Tuning, measures_kernels_whose_columns_are_contiguous) {
  constexpr const char* kColumns = R"(
title = "columns"
[axis.p]
d = { T = "f64" }
[[kernel]]
name = "${p}columns"
for = ["p"]
code = '''
@proc
def ${name}(m: size, n: size, A: [${T}][m, n], y: [${T}][m]):
    assert stride(A, 0) == 1
    for i in seq(0, m):
        for j in seq(0, n):
            y[i] += A[i, j]
'''
schedule = "p = p\n"
tries = ["p = reorder_loops(p, 'i j')\n"]
buckets = [{ at = "m=5 n=3" }]
)";
  class Watching : public FakeArena {
   public:
    Watching() : FakeArena([](int64_t, size_t place) { return place == 1 ? 1.0 : 2.0; }) {}
    ShootoutResult compete(std::span<const Contender> contenders, const std::vector<ArgSpec>& args,
                           const TestCase& test, const ShootoutOptions& options) override {
      for (const ArgSpec& arg : args)
        if (arg.name == "A") strides = arg.element_strides();
      expected = test.expected;
      return FakeArena::compete(contenders, args, test, options);
    }
    std::vector<int64_t> strides;
    std::vector<std::vector<double>> expected;
  };
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  const cli::CommandHarness harness("columns");
  harness.write("columns.toml", kColumns);
  Watching arena;
  const TunedMember tuned = tune_member(
      tunables_of(load_family(harness.folder(), "columns"), *target).at(0), target, arena);
  EXPECT_EQ(arena.strides, (std::vector<int64_t>{1, 5}));
  EXPECT_FALSE(arena.expected.empty());
  ASSERT_EQ(tuned.versions.size(), 1u);
  EXPECT_NE(tuned.versions[0].script.find("reorder_loops"), std::string::npos);
}

TEST(Tuning, refuses_a_size_that_is_none) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  FakeArena arena([](int64_t, size_t) { return 1.0; });
  for (const char* at : {"n=x", "n", "n=", "n=0", "n=99999999999999999999", "n=9"}) {
    Tunable wrong = tunable(*target);
    wrong.buckets[0].at = at;
    EXPECT_THROW(tune_member(wrong, target, arena), Error) << at;
  }
}

TEST(Tuning, asks_the_same_question_under_the_same_key) {
  const TargetPtr target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  Tunable one = tunable(*target), other = one;
  EXPECT_EQ(one.key(), tunable(*target).key());
  other.buckets[0].at = "n=6";
  EXPECT_NE(one.key(), other.key());
  other = one;
  other.scripts.pop_back();
  EXPECT_NE(one.key(), other.key());
}

}  // namespace
}  // namespace exotune::families
