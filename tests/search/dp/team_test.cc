// Several threads that solve one Spec find what one finds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "search/dp/dp.h"
#include "search/dp/stored_memo.h"
#include "tests/search/dp/matmul_spec.h"

namespace exotune {
namespace {

constexpr int kPlans = 8;

struct Answer {
  std::vector<PlanCost> costs;
  std::vector<std::string> plans;  // whole trees
  bool operator==(const Answer&) const = default;
};

struct World {
  World(const std::string& target, const DpRules& rules, int threads, std::string file = "")
      : machine(machine_of(*load_target(target, {EXOTUNE_SOURCE_DIR "/hw"}))) {
    if (!file.empty())
      stored =
          std::make_unique<StoredMemo>(file, memo_identity(machine, rules, kPlans), kinds, layouts);
    space = std::make_unique<ActionSpace>(machine, rules, kinds, layouts);
    SolverOptions options;
    options.k = kPlans;
    options.threads = threads;
    options.interrupted = [this] { return limit >= 0 && asked++ >= limit; };
    solver = std::make_unique<SpecSolver>(*space, stored ? static_cast<SpecMemo&>(*stored) : fresh,
                                          options);
  }

  Spec matmul(uint32_t m, uint32_t n, uint32_t k, ScalarType t) {
    return matmul_spec(kinds, layouts, machine, {m, n, k}, t);
  }

  Answer answer(const Spec& spec) {
    Answer out;
    const std::optional<MemoValue> value = solver->solve(spec);
    if (!value) return out;
    for (int rank = 0; rank < static_cast<int>(value->best.size()); ++rank) {
      out.costs.push_back(value->best[rank].cost);
      out.plans.push_back(str(solver->plan(spec, space->codes().all(), rank), *space));
    }
    return out;
  }

  SpecKinds kinds;
  LayoutPool layouts;
  DpMachine machine;
  BoxMemo fresh;
  std::unique_ptr<StoredMemo> stored;
  std::unique_ptr<ActionSpace> space;
  std::unique_ptr<SpecSolver> solver;
  std::atomic<int> asked = 0;
  int limit = -1;  // interrupted when asked so often; -1: never
};

const char* const kPaper = EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2";

TEST(DpTeam, any_number_of_threads_finds_the_same_costs_and_plans) {
  for (const auto& [m, n, k] :
       {std::array{16u, 16u, 16u}, {64u, 64u, 64u}, {100u, 48u, 37u}, {1u, 256u, 64u}}) {
    World alone("avx512", search_rules(), 1);
    const Answer expected = alone.answer(alone.matmul(m, n, k, ScalarType::kF32));
    ASSERT_EQ(expected.plans.size(), static_cast<size_t>(kPlans));
    for (const int threads : {2, 4}) {
      World team("avx512", search_rules(), threads);
      EXPECT_EQ(team.answer(team.matmul(m, n, k, ScalarType::kF32)), expected)
          << threads << " threads, " << m << "x" << n << "x" << k;
    }
  }
}

// All actions of the paper, ties in plenty; threads meet differently each time.
TEST(DpTeam, ties_are_broken_as_by_one_thread) {
  World alone(kPaper, paper_rules(), 1);
  const Answer expected = alone.answer(alone.matmul(4, 4, 4, ScalarType::kI32));
  ASSERT_EQ(expected.plans.size(), static_cast<size_t>(kPlans));
  for (int round = 0; round < 8; ++round) {
    World team(kPaper, paper_rules(), 2 + round % 3);
    EXPECT_EQ(team.answer(team.matmul(4, 4, 4, ScalarType::kI32)), expected);
  }
}

class File {
 public:
  explicit File(const std::string& name)
      : path_(testing::TempDir() + "/team_" + name + std::to_string(getpid()) + ".db") {}
  ~File() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(DpTeam, what_it_stores_is_read_by_one_thread_and_the_reverse) {
  for (const auto& [first, second] : {std::pair{2, 1}, {1, 3}, {2, 2}}) {
    const File file("stored" + std::to_string(first));
    Answer expected;
    {
      World writer("avx512", search_rules(), first, file.path());
      expected = writer.answer(writer.matmul(48, 64, 40, ScalarType::kF32));
      writer.stored->save();
    }
    World reader("avx512", search_rules(), second, file.path());
    EXPECT_EQ(reader.answer(reader.matmul(48, 64, 40, ScalarType::kF32)), expected);
    EXPECT_EQ(reader.solver->statistics().solved, 0);
    EXPECT_GT(reader.stored->loaded(), 0);
  }
}

TEST(DpTeam, an_interrupted_team_goes_on_where_it_stopped) {
  World alone("avx512", search_rules(), 1);
  const Answer expected = alone.answer(alone.matmul(64, 64, 64, ScalarType::kF32));
  World team("avx512", search_rules(), 2);
  const Spec spec = team.matmul(64, 64, 64, ScalarType::kF32);
  team.limit = 10;
  EXPECT_TRUE(team.answer(spec).plans.empty());
  EXPECT_GT(team.solver->statistics().relaxed, 0);
  team.limit = -1;
  EXPECT_EQ(team.answer(spec), expected);
}

// A memo that cannot be shared is used by one thread.
TEST(DpTeam, works_alone_on_a_plain_map) {
  World alone(kPaper, paper_rules(), 1);
  const int64_t expected =
      alone.solver->cost(alone.matmul(2, 2, 2, ScalarType::kI32), alone.space->codes().all())
          .value();
  PointMemo points;
  SolverOptions options;
  options.threads = 2;
  SpecSolver solver(*alone.space, points, options);
  EXPECT_EQ(solver.cost(alone.matmul(2, 2, 2, ScalarType::kI32), alone.space->codes().all()),
            expected);
}

}  // namespace
}  // namespace exotune
