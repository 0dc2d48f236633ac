// A member shard's answer can choose among the schedules that were asked about, and no more.
#include "search/families/member_shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "hw/machine.h"
#include "tests/cli/command_harness.h"
#include "tests/families/twice_family.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::families {
namespace {

constexpr const char* kTries = R"(tries = ["p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\n"]
buckets = [{ when = "n <= 8", at = "n=5" }, { at = "n=100" }]
)";

class MemberShards : public ::testing::Test {
 protected:
  MemberShards() : target_(load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"})) {
    const cli::CommandHarness harness("member-shards");
    harness.write("one.toml", std::string(kTwice) + kTries);
    tunable_ = tunables_of(load_family(harness.folder(), "one"), *target_).at(0);
  }
  MemberWork work() const {
    return MemberWork([this](const std::string&) { return target_; }, probe_machine());
  }
  // An answer as a worker would give it, without one.
  static std::string answer(const std::string& first, const std::string& second, int joins = 1) {
    const auto bucket = [joins](const std::string& at, const std::string& winner) {
      return R"({"at": ")" + at + R"(", "winner": ")" + winner + R"(", "joins": )" +
             std::to_string(joins) + R"(, "tried": 2, "refused": 0, "failed": 0, "gain": 1.5})";
    };
    return R"({"member": "dtwice", "buckets": [)" + bucket("n=5", first) + ", " +
           bucket("n=100", second) + R"(], "records": "{\"type\":\"exo-tune\",\"format\":1}\n"})";
  }

  TargetPtr target_;
  Tunable tunable_;
};

TEST_F(MemberShards, are_the_same_for_the_same_question) {
  const std::string hash = shard_hash(member_shard(tunable_, *target_));
  EXPECT_EQ(hash, shard_hash(member_shard(tunable_, *target_)));
  Tunable other = tunable_;
  other.scripts.push_back("p = simplify(p)\n");
  EXPECT_NE(hash, shard_hash(member_shard(other, *target_)));
  Tunable far = tunable_;
  far.buckets[1].far = true;
  EXPECT_NE(hash, shard_hash(member_shard(far, *target_)));
  far.far_scripts = {"p = simplify(p)\n"};
  const std::string answered = answer("p = p\\n", "p = simplify(p)\\n");
  EXPECT_EQ(read_member_answer(answered, far).tuned.versions.size(), 2u);
  EXPECT_THROW(read_member_answer(answered, tunable_), Error);
  Tunable shipped = tunable_;
  shipped.kept = "p = simplify(p)\n";
  EXPECT_NE(hash, shard_hash(member_shard(shipped, *target_)));
  EXPECT_EQ(read_member_answer(answered, shipped).tuned.versions.size(), 2u);
}

TEST_F(MemberShards, come_back_as_versions_and_records) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  MemberWork worker = work();
  const ShardAnswer given = worker(member_shard(tunable_, *target_), "");
  EXPECT_EQ(given.machine, fingerprint(probe_machine(), *target_).hash);
  const MemberAnswer answer = read_member_answer(given.output, tunable_);
  ASSERT_EQ(answer.tuned.buckets.size(), 2u);
  EXPECT_EQ(answer.tuned.buckets[0].tried, 2u);
  EXPECT_FALSE(answer.tuned.versions.empty());
  EXPECT_NE(answer.records.find("\"settled\":true"), std::string::npos) << answer.records;
}

// A bucket's sizes share their schedules, and what was compiled of them: the compiler here is a
// script that counts how often it is called.
TEST_F(MemberShards, compile_a_schedule_once_for_all_sizes) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  const cli::CommandHarness harness("counted-compiler");
  const std::string script = (harness.folder() / "cc").string();
  harness.write("cc", "#!/bin/sh\necho once >> '" + (harness.folder() / "calls").string() +
                          "'\nexec " + find_compiler(target_->compiler).path + " \"$@\"\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Target counted = *target_;
  counted.compiler.programs = {script};
  target_ = std::make_shared<const Target>(std::move(counted));
  const auto calls = [&](const std::string& sizes) {
    tunable_.buckets = {{"", sizes, false, false}};
    harness.write("calls", "");
    MemberWork worker = work();
    worker(member_shard(tunable_, *target_), "");
    const std::string text = harness.read("calls");
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto one = calls("n=50");
  EXPECT_GE(one, 1);
  EXPECT_LE(calls("n=50, n=60, n=70, n=80"), one);
}

// Who aligns an argument asks another question than who does not: what is known of one answers none
// of the other.
TEST_F(MemberShards, keep_apart_what_was_measured_at_the_begin_of_a_line) {
  if (!samples::runs_here("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  tunable_.in_lines = "x";
  tunable_.buckets[1].in_lines = true;
  MemberWork worker = work();
  const MemberAnswer answer =
      read_member_answer(worker(member_shard(tunable_, *target_), "").output, tunable_);
  EXPECT_NE(answer.records.find("n=100 (x in lines)"), std::string::npos) << answer.records;
  EXPECT_EQ(answer.records.find("n=5 (x in lines)"), std::string::npos) << answer.records;
}

TEST_F(MemberShards, join_neighbours_with_the_same_schedule) {
  EXPECT_EQ(read_member_answer(answer("p = p\\n", "p = p\\n"), tunable_).tuned.versions.size(), 1u);
  EXPECT_EQ(read_member_answer(answer("p = p\\n", "p = p\\n", 0), tunable_).tuned.versions.size(),
            2u)
      << "they were found slower together";
  const std::string fours = "p = divide_loop(p, 'i', 4, ['io', 'ii'], tail='cut')\\n";
  EXPECT_EQ(read_member_answer(answer(fours, "p = p\\n"), tunable_).tuned.versions.size(), 2u);
}

TEST_F(MemberShards, refuse_answers_that_nobody_asked_for) {
  const std::string good = answer("p = p\\n", "p = p\\n");
  const auto without = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& wrong :
       {answer("p = unsafe(p)\\n", "p = p\\n"), answer("p = p\\n", ""),
        without("dtwice", "dthrice"), without("n=5", "n=6"), without("\"tried\"", "\"cried\""),
        without("1.5", "-1"), without("\\\"format\\\":1", "\\\"format\\\":7"), good.substr(0, 60),
        std::string("[]"), std::string()})
    EXPECT_THROW(read_member_answer(wrong, tunable_), InputError) << wrong;
}

TEST_F(MemberShards, are_answered_only_where_they_belong) {
  MemberWork worker = work();
  const Shard shard = member_shard(tunable_, *target_);
  const auto code_of = [&](const Shard& asked, const std::string& wanted) {
    try {
      worker(asked, wanted);
    } catch (const Error& error) {
      return error.exit_code();
    }
    return ExitCode::kOk;
  };
  EXPECT_EQ(code_of(shard, std::string(32, '0')), ExitCode::kUnavailable);
  Shard other = shard;
  const size_t at = other.input.find(target_->hash);
  other.input.replace(at, 4, "ffff");
  EXPECT_EQ(code_of(other, ""), ExitCode::kUnavailable) << "another version of the target";
  EXPECT_EQ(code_of({"x", kMemberKind, "{"}, ""), ExitCode::kInput);
}

}  // namespace
}  // namespace exotune::families
