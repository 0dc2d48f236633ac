// Neighbours of a schedule: what each kind of change does to its steps.
#include "search/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/steps/builders.h"

namespace exotune {
namespace {

Value vector_memory() {
  auto memory = std::make_shared<Memory>();
  memory->name = "V";
  return Value(MemoryPtr(memory));
}

// op(p, before..., lanes, V, instrs)
ScheduleStep on_vectors(const std::string& op, ValueList before, int lanes) {
  for (const Value& v : {Value(lanes), vector_memory(), Value(ValueList{})}) before.push_back(v);
  return {op, std::move(before)};
}
ScheduleStep pack(const char* buffer, const char* loop, int strip, int lanes = 16) {
  return on_vectors("pack_operand", {buffer, loop, strip}, lanes);
}
ScheduleStep kernel(const char* rows, const char* columns, const char* sum, int lanes = 16) {
  return on_vectors("register_block", {rows, columns, sum}, lanes);
}
ScheduleStep block(const std::string& loop, int size, const char* outer, const char* outside) {
  ScheduleStep step = block_step(loop, size, outer);
  if (*outside) step.args.emplace_back(outside);
  return step;
}

Steps chain() {
  return {
      {"divide_loop", {"r", 256, Value::strings({"rb", "r"})}, {}, {{"tail", "perfect"}}},
      pack("B", "rb", 64),
      block("j", 64, "jo", "ii"),
      block("ii", 6, "iio", ""),
      pack("C", "rb", 64),
      block("l", 64, "lo", "r"),
      block("r", 4, "ro", ""),
      kernel("ii", "j", "k"),
      kernel("r", "l", "n"),
  };
}

class Around {
 public:
  explicit Around(const Steps& steps) : all_(neighbours_of(steps, {16, 32, "", "", {}, {}})) {}

  // Whether some neighbour of that kind has each of these lines.
  bool has(Change change, const std::vector<std::string>& lines) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Neighbour& n) {
      const std::vector<std::string> all = lines_of(n.steps);
      return n.change == change &&
             std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
               return std::find(all.begin(), all.end(), line) != all.end();
             });
    });
  }
  const std::vector<Neighbour>& all() const { return all_; }

 private:
  std::vector<Neighbour> all_;
};

TEST(Neighbours, each_micro_kernel_of_a_chain_has_its_own_tile) {
  const Around around(chain());
  EXPECT_TRUE(around.has(Change::kSize, {"p = block_loop(p, 'ii', 7, ['iio', 'ii'])",
                                         "p = block_loop(p, 'r', 4, ['ro', 'r'])"}));
  EXPECT_TRUE(around.has(Change::kSize, {"p = block_loop(p, 'r', 5, ['ro', 'r'])"}));
  EXPECT_TRUE(
      around.has(Change::kSize, {"p = divide_loop(p, 'r', 512, ['rb', 'r'], tail='perfect')"}));
}

// Parts of a program have neighbours of their own, one part changed at a time.
TEST(Neighbours, a_part_is_changed_inside_the_whole) {
  ScheduleStep part{"extract_subproc", {"for ii in _: _", "part"}};
  part.inside = {block("j", 64, "jo", "ii"), block("ii", 6, "iio", ""), kernel("ii", "j", "k")};
  ScheduleStep other = part;
  other.args = {"for i in _: _", "other"};
  const Steps whole = {part, {"simplify", {}}, other};
  int first = 0, second = 0;
  for (const Neighbour& n : neighbours_of(whole, {16, 32, "", "", {}, {}})) {
    ASSERT_EQ(n.steps.size(), 3u);
    const bool in_first = key_of({n.steps[0]}) != key_of({part});
    const bool in_second = key_of({n.steps[2]}) != key_of({other});
    EXPECT_NE(in_first, in_second);
    first += in_first, second += in_second;
  }
  EXPECT_EQ(first, second);
  const auto alone = neighbours_of(part.inside, {16, 32, "", "", {}, {}});
  EXPECT_EQ(first, static_cast<int>(alone.size()));
  EXPECT_GT(first, 10);
}

TEST(Neighbours, strips_follow_the_tiles_that_they_serve_and_no_others) {
  const Around around(chain());
  EXPECT_TRUE(around.has(Change::kSize, {"p = pack_operand(p, 'B', 'rb', 32, 16, V, instrs)",
                                         "p = block_loop(p, 'j', 32, ['jo', 'j'], 'ii')",
                                         "p = pack_operand(p, 'C', 'rb', 64, 16, V, instrs)"}));
  EXPECT_FALSE(around.has(Change::kSize, {"p = pack_operand(p, 'B', 'rb', 32, 16, V, instrs)",
                                          "p = pack_operand(p, 'C', 'rb', 32, 16, V, instrs)"}));
}

TEST(Neighbours, sums_interleave_and_tiles_are_prefetched_together) {
  const Around around(chain());
  EXPECT_TRUE(around.has(Change::kInterleaving,
                         {"p = interleave_loop(p, 'k', 4)", "p = interleave_loop(p, 'n', 4)"}));
  EXPECT_TRUE(around.has(Change::kPrefetching, {"p = prefetch_ahead(p, 'iio', distance=1)",
                                                "p = prefetch_ahead(p, 'ro', distance=1)"}));
  for (const Neighbour& n : around.all())
    if (n.change == Change::kPrefetching) {
      // In front of the micro-kernels.
      const auto at = [&](const std::string& op) {
        return std::find_if(n.steps.begin(), n.steps.end(),
                            [&](const ScheduleStep& step) { return step.op == op; });
      };
      EXPECT_LT(at("prefetch_ahead"), at("register_block"));
    }
}

TEST(Neighbours, what_is_there_is_not_added_again) {
  Steps steps = chain();
  steps.insert(steps.begin() + 7, {"prefetch_ahead", {"ro"}, {}, {{"distance", 2}}});
  steps.push_back({"interleave_loop", {"k", 4}});
  const Around around(steps);
  for (const Neighbour& n : around.all()) {
    EXPECT_NE(n.change, Change::kPrefetching);
    EXPECT_NE(n.change, Change::kInterleaving);
    EXPECT_NE(key_of(n.steps), key_of(steps));
  }
}

TEST(Neighbours, what_one_product_needs_next_is_asked_for_while_it_computes) {
  const Around around({pack("B", "i", 24, 8),
                       block("i", 8, "io", ""),
                       kernel("i", "j", "k", 8),
                       {"unroll_registers", {vector_memory()}}});
  const std::string apart = "p = register_block(p, 'i', 'j', 'k', 8, V, instrs, apart=True)",
                    meanwhile = "p = prefetch_meanwhile(p, 'io', 'k')";
  EXPECT_TRUE(around.has(Change::kPrefetching, {apart}));
  EXPECT_TRUE(around.has(Change::kPrefetching,
                         {apart, meanwhile, "p = prefetch_ahead(p, 'i0', 'B', distance=8)"}));
}

TEST(Neighbours, a_tile_that_is_added_in_the_end_also_begins_with_the_result) {
  ScheduleStep apart = kernel("i", "j", "k", 8);
  apart.named = {{"apart", true}};
  const Around around({block("i", 8, "io", ""), apart, {"unroll_registers", {vector_memory()}}});
  EXPECT_TRUE(around.has(Change::kPrefetching,
                         {"p = register_block(p, 'i', 'j', 'k', 8, V, instrs, apart=False)"}));
  EXPECT_TRUE(around.has(Change::kPrefetching,
                         {"p = register_block(p, 'i', 'j', 'k', 8, V, instrs, apart=True)",
                          "p = prefetch_meanwhile(p, 'io', 'k')"}));
}

TEST(Neighbours, the_next_panel_is_asked_for_where_panels_go_by) {
  const Around around({block("j", 96, "jc", "i"),
                       pack("B", "i", 32, 8),
                       block("i", 6, "io", ""),
                       block("j", 32, "jo", "i"),
                       kernel("i", "j", "k", 8),
                       {"unroll_registers", {vector_memory()}}});
  EXPECT_TRUE(
      around.has(Change::kPrefetching, {"p = prefetch_meanwhile(p, 'io', 'k')",
                                        "p = prefetch_meanwhile(p, 'jc', 'k', 'B', locality=2)",
                                        "p = prefetch_ahead(p, 'i0', 'B', distance=8)"}));
}

// What the rows' next tile needs may be packed already, so that there is nothing to ask for.
TEST(Neighbours, the_next_panel_is_asked_for_alone_too) {
  ScheduleStep turned = pack("B", "i", 32, 8);
  turned.named = {{"dim", 0}};
  const Around around(
      {block("j", 32, "jo", "i"), turned, block("i", 6, "io", ""), kernel("i", "j", "k", 8)});
  const std::string next = "p = prefetch_meanwhile(p, 'jo', 'k', 'B', locality=2)",
                    rows = "p = prefetch_meanwhile(p, 'io', 'k')";
  EXPECT_TRUE(around.has(Change::kPrefetching, {next, rows}));
  bool alone = false;
  for (const Neighbour& n : around.all()) {
    const std::vector<std::string> lines = lines_of(n.steps);
    const auto has = [&](const std::string& line) {
      return std::find(lines.begin(), lines.end(), line) != lines.end();
    };
    alone |= has(next) && !has(rows);
    // A copy that is turned has no rows to go through.
    EXPECT_FALSE(has("p = prefetch_ahead(p, 'i0', 'B', distance=8)"));
  }
  EXPECT_TRUE(alone);
}

TEST(Neighbours, results_go_past_the_caches_where_that_is_asked_for) {
  const Steps streaming = {{"stream_results", {Value(ValueList{}), Value(ValueList{})}}};
  const Steps steps = {block("i", 6, "io", "")};
  const auto streamed = [](const std::vector<Neighbour>& all) {
    return std::count_if(all.begin(), all.end(),
                         [](const Neighbour& n) { return n.change == Change::kStreaming; });
  };
  EXPECT_EQ(streamed(neighbours_of(steps, {16, 32, "", "", streaming, {}})), 1);
  EXPECT_EQ(streamed(neighbours_of(steps, {16, 32, "", "", {}, {}})), 0);
  Steps already = steps;
  already.insert(already.end(), streaming.begin(), streaming.end());
  EXPECT_EQ(streamed(neighbours_of(already, {16, 32, "", "", streaming, {}})), 0);
}

TEST(Neighbours, results_of_transposes_are_asked_for) {
  const auto asked = [](const Steps& steps) {
    std::vector<int64_t> out;
    for (const Neighbour& n : neighbours_of(steps, {16, 32, "", "", {}, {}}))
      if (n.change == Change::kPrefetching && n.steps.back().op == "prefetch_results")
        out.push_back(*n.steps.back().args.front().as<int64_t>());
    return out;
  };
  Steps steps = {{"tile_to_instr", {"i", Value(ValueList{})}}};
  EXPECT_EQ(asked(steps), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(asked({block("i", 6, "io", "")}), std::vector<int64_t>{});
  steps.push_back({"prefetch_results", {Value(int64_t{1})}});
  EXPECT_EQ(asked(steps), std::vector<int64_t>{});
}

TEST(Neighbours, roots_are_taken_by_estimates_where_there_are_any) {
  const Steps call = {{"call_twins", {Value(ValueList{})}}};
  const std::vector<Steps> estimates = {call, call};
  const Steps steps = {block("i", 6, "io", "")};
  const auto estimated = [](const std::vector<Neighbour>& all) {
    return std::count_if(all.begin(), all.end(), [](const Neighbour& n) {
      return n.change == Change::kEstimates && n.steps.back().op == "call_twins";
    });
  };
  EXPECT_EQ(estimated(neighbours_of(steps, {16, 32, "", "", {}, estimates})), 2);
  EXPECT_EQ(estimated(neighbours_of(steps, {16, 32, "", "", {}, {}})), 0);
  Steps already = steps;
  already.insert(already.end(), call.begin(), call.end());
  EXPECT_EQ(estimated(neighbours_of(already, {16, 32, "", "", {}, estimates})), 0);
}

TEST(Neighbours, loops_of_vectors_go_by_half_ones_where_there_are_any) {
  const Value none{ValueList{}}, half{ValueList{Value("half")}};
  const Steps steps = {
      {"optimize_level_1", {"i", Value(int64_t{8}), none, none, Value(int64_t{2})}},
      {"simplify", {}},
      {"optimize_level_2",
       {"i", "j", Value(int64_t{16}), none, none, Value(int64_t{1}), Value(int64_t{2})}}};
  Neighbourhood where{16, 32, "", "", {}, {}};
  const auto halved = [&](const Steps& of) {
    std::vector<Steps> out;
    for (const Neighbour& n : neighbours_of(of, where))
      if (n.change == Change::kWidth) out.push_back(n.steps);
    return out;
  };
  EXPECT_TRUE(halved(steps).empty());
  where.half = HalfVectors{half, half};
  const std::vector<Steps> found = halved(steps);
  ASSERT_EQ(found.size(), 3u);
  std::set<int64_t> at_once;
  for (const Steps& one : found)
    for (const auto& [step, lanes] : {std::pair<size_t, int64_t>{0, 4}, {2, 8}}) {
      EXPECT_EQ(*value_of(one[step], "vw")->as<int64_t>(), lanes);
      EXPECT_EQ(value_of(one[step], "instructions")->as<ValueList>()->size(), 1u);
      at_once.insert(*value_of(one[step], "interleave")->as<int64_t>());
    }
  EXPECT_EQ(at_once, (std::set<int64_t>{2, 4, 8}));
  Steps tile = steps;
  tile.push_back({"register_block", {"i", "j", "k"}});
  EXPECT_TRUE(halved(tile).empty()) << "register tiles keep their width";
  EXPECT_TRUE(halved({{"optimize_level_1", {"i", Value(int64_t{2}), none, none}}}).empty());
}

TEST(Neighbours, rows_are_asked_for_where_they_come_from_afar) {
  const auto asked = [](const Steps& steps, bool far) {
    const std::vector<Neighbour> all = neighbours_of(steps, {16, 32, "", "", {}, {}, far});
    return std::count_if(all.begin(), all.end(), [](const Neighbour& n) {
      return n.change == Change::kPrefetching && n.steps.back().op == "prefetch_rows";
    });
  };
  const Steps steps = {block("i", 6, "io", "")};
  EXPECT_EQ(asked(steps, true), 2) << "rows, and vectors farther ahead";
  EXPECT_EQ(asked(steps, false), 0);
  Steps already = steps;
  already.push_back({"prefetch_rows", {""}});
  EXPECT_EQ(asked(already, true), 0);
  EXPECT_EQ(asked(chain(), true), 0) << "a micro-kernel asks for its own tiles";
}

TEST(Neighbours, next_rows_are_asked_for_while_results_go_past_the_caches) {
  const Steps streaming = {{"stream_results", {Value(ValueList{})}, {}}};
  const Steps steps = {block("i", 6, "io", "")};
  std::vector<std::string> found;
  for (const Neighbour& n : neighbours_of(steps, {16, 32, "", "", streaming, {}, true}))
    if (n.steps.back().op == "prefetch_next_rows") found.push_back(n.steps[n.steps.size() - 2].op);
  EXPECT_EQ(found, (std::vector<std::string>{"stream_results", "block_loop"}));
}

// Strips as high as a tile follow its height, those of the columns do not.
TEST(Neighbours, packed_rows_follow_the_height_of_the_tile) {
  ScheduleStep rows = pack("A", "jo", 6, 8);
  rows.named = {{"dim", 1}};
  const Around around({pack("B", "i", 32, 8), block("j", 32, "jo", "i"), rows,
                       block("i", 6, "io", ""), kernel("i", "j", "k", 8)});
  EXPECT_TRUE(around.has(Change::kSize, {"p = pack_operand(p, 'A', 'jo', 5, 8, V, instrs, dim=1)",
                                         "p = block_loop(p, 'i', 5, ['io', 'i'])",
                                         "p = pack_operand(p, 'B', 'i', 32, 8, V, instrs)"}));
}

TEST(Neighbours, rows_of_a_copy_go_by_the_name_that_its_step_gave) {
  ScheduleStep named = pack("B", "i", 24, 8);
  named.named = {{"rows", "r"}};
  const Around around({named, block("i", 8, "io", ""), kernel("i", "j", "k", 8)});
  EXPECT_TRUE(around.has(Change::kPrefetching, {"p = prefetch_ahead(p, 'r', 'B', distance=8)"}));
}

}  // namespace
}  // namespace exotune
