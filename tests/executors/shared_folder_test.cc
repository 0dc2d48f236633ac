// The shared folder: whole files, first answers, and what is said of those that are damaged.
#include "executors/shared_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/base/diagnostic.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

class SharedFolders : public ::testing::Test {
 protected:
  SharedFolders() {
    std::string name = (fs::temp_directory_path() / "exo-tune-shared-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~SharedFolders() override { fs::remove_all(root_); }

  static ShardResult answer(const std::string& output, char machine = 'a') {
    return {shard_hash(kShard), std::string(32, machine), "n1", output, 1.5};
  }
  void damage(const fs::path& file, const std::function<std::string(std::string)>& how) const {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ofstream(file) << how(text);
  }

  static inline const Shard kShard = {"a name", "member", "line one\nline \"two\"\x01"};
  fs::path root_;
};

TEST_F(SharedFolders, hand_on_requests_and_answers_as_they_were) {
  const SharedFolder folder(root_);
  folder.put_request(kShard);
  const Shard read = SharedFolder(root_, false).request(shard_hash(kShard));
  EXPECT_EQ(read.input, kShard.input);
  EXPECT_EQ(read.kind, "member");
  EXPECT_TRUE(folder.publish(answer("42\n")));
  const std::optional<ShardResult> result = folder.result("", shard_hash(kShard));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "42\n");
  EXPECT_EQ(result->seconds, 1.5);
}

TEST_F(SharedFolders, keep_the_first_answer) {
  const SharedFolder folder(root_);
  EXPECT_TRUE(folder.publish(answer("first")));
  EXPECT_FALSE(folder.publish(answer("second")));
  EXPECT_EQ(folder.result("", shard_hash(kShard))->output, "first");
}

TEST_F(SharedFolders, keep_one_answer_of_many_at_once) {
  const SharedFolder folder(root_);
  std::vector<std::thread> writers;
  std::atomic<int> first{0};
  for (int k = 0; k < 8; ++k)
    writers.emplace_back([&, k] { first += folder.publish(answer(std::to_string(k))) ? 1 : 0; });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(folder.answered("").size(), 1u);
}

TEST_F(SharedFolders, file_answers_under_their_machine) {
  const SharedFolder folder(root_);
  folder.publish(answer("here", 'a'));
  folder.publish(answer("there", 'b'));
  EXPECT_EQ(folder.result(std::string(32, 'b'), shard_hash(kShard))->output, "there");
  EXPECT_TRUE(folder.answered(std::string(32, 'c')).empty());
}

TEST_F(SharedFolders, refuse_answers_that_are_damaged) {
  const SharedFolder folder(root_);
  const std::string hash = shard_hash(kShard), machine(32, 'a');
  const fs::path file = root_ / "results" / machine / (hash + ".json");
  const std::vector<std::function<std::string(std::string)>> ways = {
      [](std::string) { return ""; },
      [](std::string t) { return t.substr(0, t.size() / 2); },
      [](std::string t) { return t.replace(t.find("42"), 2, "43"); },
      [](std::string t) { return t.replace(t.find("result 1"), 8, "result 9"); },
      [](std::string t) { return t.replace(t.find(std::string(32, 'a')), 32, "../../../etc"); },
      [](std::string t) { return t.replace(t.find("1.5"), 3, "\"?\""); },
      [](std::string) { return std::string(100000, '['); },
  };
  for (size_t k = 0; k < ways.size(); ++k) {
    folder.publish(answer("42"));
    damage(file, ways[k]);
    EXPECT_THROW(folder.result(machine, hash), InputError) << k;
    folder.put_aside(machine, hash);
    EXPECT_TRUE(folder.answered(machine).empty()) << k;
  }
}

TEST_F(SharedFolders, refuse_a_request_that_is_not_what_its_name_says) {
  const SharedFolder folder(root_);
  folder.put_request(kShard);
  const fs::path file = root_ / "requests" / (shard_hash(kShard) + ".json");
  damage(file, [](std::string t) { return t.replace(t.find("one"), 3, "two"); });
  EXPECT_THROW(folder.request(shard_hash(kShard)), InputError);
}

TEST_F(SharedFolders, say_when_they_are_gone) {
  const SharedFolder folder(root_);
  for (const auto& entry : fs::directory_iterator(root_)) fs::remove_all(entry.path());
  try {
    folder.require();
    FAIL() << "an unmounted folder is empty";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUnavailable);
    EXPECT_NE(std::string(error.what()).find("hint: --cluster-dir"), std::string::npos);
  }
  EXPECT_THROW(folder.publish(answer("x")), Error);
  EXPECT_THROW(SharedFolder(root_, false), Error);
  EXPECT_THROW(SharedFolder("/proc/nowhere"), Error);
}

TEST_F(SharedFolders, remember_jobs) {
  const SharedFolder folder(root_);
  const std::string one(32, '1'), two(32, '2');
  folder.put_job({"j", "17", "", {{one, two}, {one}}});
  ASSERT_EQ(folder.jobs().size(), 1u);
  EXPECT_EQ(folder.job("j").id, "17");
  EXPECT_EQ(folder.job("j").tasks, (std::vector<std::vector<std::string>>{{one, two}, {one}}));
  damage(root_ / "jobs/j.json", [](std::string t) { return t.replace(t.find("111"), 3, "../"); });
  EXPECT_THROW(folder.job("j"), InputError);
  EXPECT_TRUE(folder.jobs().empty()) << "one that cannot be used is left out";
}

}  // namespace
}  // namespace exotune
