// Neighbours of a script: what each kind of change does to its lines.
#include "search/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace exotune {
namespace {

const std::vector<std::string> kChain{
    "p = divide_loop(p, 'r', 256, ['rb', 'r'], tail='perfect')",
    "p = pack_operand(p, 'B', 'rb', 64, 16, V, instrs)",
    "p = block_loop(p, 'j', 64, ['jo', 'j'], 'ii')",
    "p = block_loop(p, 'ii', 6, ['iio', 'ii'])",
    "p = pack_operand(p, 'C', 'rb', 64, 16, V, instrs)",
    "p = block_loop(p, 'l', 64, ['lo', 'l'], 'r')",
    "p = block_loop(p, 'r', 4, ['ro', 'r'])",
    "p = register_block(p, 'ii', 'j', 'k', 16, V, instrs)",
    "p = register_block(p, 'r', 'l', 'n', 16, V, instrs)",
};

class Around {
 public:
  explicit Around(const std::vector<std::string>& lines)
      : all_(neighbours_of(lines, {16, 32, "", ""})) {}

  // Whether some neighbour of that kind has each of these lines.
  bool has(Change change, const std::vector<std::string>& lines) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Neighbour& n) {
      return n.change == change &&
             std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
               return std::find(n.lines.begin(), n.lines.end(), line) != n.lines.end();
             });
    });
  }
  const std::vector<Neighbour>& all() const { return all_; }

 private:
  std::vector<Neighbour> all_;
};

TEST(Neighbours, each_micro_kernel_of_a_chain_has_its_own_tile) {
  const Around around(kChain);
  EXPECT_TRUE(around.has(Change::kSize, {"p = block_loop(p, 'ii', 7, ['iio', 'ii'])",
                                         "p = block_loop(p, 'r', 4, ['ro', 'r'])"}));
  EXPECT_TRUE(around.has(Change::kSize, {"p = block_loop(p, 'r', 5, ['ro', 'r'])"}));
  EXPECT_TRUE(
      around.has(Change::kSize, {"p = divide_loop(p, 'r', 512, ['rb', 'r'], tail='perfect')"}));
}

TEST(Neighbours, strips_follow_the_tiles_that_they_serve_and_no_others) {
  const Around around(kChain);
  EXPECT_TRUE(around.has(Change::kSize, {"p = pack_operand(p, 'B', 'rb', 32, 16, V, instrs)",
                                         "p = block_loop(p, 'j', 32, ['jo', 'j'], 'ii')",
                                         "p = pack_operand(p, 'C', 'rb', 64, 16, V, instrs)"}));
  EXPECT_FALSE(around.has(Change::kSize, {"p = pack_operand(p, 'B', 'rb', 32, 16, V, instrs)",
                                          "p = pack_operand(p, 'C', 'rb', 32, 16, V, instrs)"}));
}

TEST(Neighbours, sums_interleave_and_tiles_are_prefetched_together) {
  const Around around(kChain);
  EXPECT_TRUE(around.has(Change::kInterleaving,
                         {"p = interleave_loop(p, 'k', 4)", "p = interleave_loop(p, 'n', 4)"}));
  EXPECT_TRUE(around.has(Change::kPrefetching, {"p = prefetch_ahead(p, 'iio', distance=1)",
                                                "p = prefetch_ahead(p, 'ro', distance=1)"}));
  for (const Neighbour& n : around.all())
    if (n.change == Change::kPrefetching) {
      // In front of the micro-kernels.
      const auto at = [&](const std::string& text) {
        return std::find_if(n.lines.begin(), n.lines.end(), [&](const std::string& line) {
          return line.find(text) != std::string::npos;
        });
      };
      EXPECT_LT(at("prefetch_ahead"), at("register_block"));
    }
}

TEST(Neighbours, what_is_there_is_not_added_again) {
  std::vector<std::string> lines = kChain;
  lines.insert(lines.begin() + 7, "p = prefetch_ahead(p, 'ro', distance=2)");
  lines.push_back("p = interleave_loop(p, 'k', 4)");
  const Around around(lines);
  for (const Neighbour& n : around.all()) {
    EXPECT_NE(n.change, Change::kPrefetching);
    EXPECT_NE(n.change, Change::kInterleaving);
    EXPECT_NE(n.lines, lines);
  }
}

TEST(Neighbours, what_one_product_needs_next_is_asked_for_while_it_computes) {
  const Around around(
      {"p = pack_operand(p, 'B', 'i', 24, 8, V, instrs)", "p = block_loop(p, 'i', 8, ['io', 'i'])",
       "p = register_block(p, 'i', 'j', 'k', 8, V, instrs)", "p = unroll_registers(p, V)"});
  const std::string apart = "p = register_block(p, 'i', 'j', 'k', 8, V, instrs, apart=True)",
                    meanwhile = "p = prefetch_meanwhile(p, 'io', 'k')";
  EXPECT_TRUE(around.has(Change::kPrefetching, {apart}));
  EXPECT_TRUE(around.has(Change::kPrefetching,
                         {apart, meanwhile, "p = prefetch_ahead(p, 'i0', 'B', distance=8)"}));
}

TEST(Neighbours, the_next_panel_is_asked_for_where_panels_go_by) {
  const Around around(
      {"p = block_loop(p, 'j', 96, ['jc', 'j'], 'i')",
       "p = pack_operand(p, 'B', 'i', 32, 8, V, instrs)", "p = block_loop(p, 'i', 6, ['io', 'i'])",
       "p = block_loop(p, 'j', 32, ['jo', 'j'], 'i')",
       "p = register_block(p, 'i', 'j', 'k', 8, V, instrs)", "p = unroll_registers(p, V)"});
  EXPECT_TRUE(
      around.has(Change::kPrefetching, {"p = prefetch_meanwhile(p, 'io', 'k')",
                                        "p = prefetch_meanwhile(p, 'jc', 'k', 'B', locality=2)",
                                        "p = prefetch_ahead(p, 'i0', 'B', distance=8)"}));
}

}  // namespace
}  // namespace exotune
