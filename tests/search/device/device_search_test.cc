// Schedules for devices found from plain nests: what is read off the targets' text, and that what
// is built computes the same.
#include "search/device/device_search.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "search/device/kernel_sum.h"
#include "search/device/processor_loops.h"
#include "search/problem.h"
#include "search/tuning_context.h"

namespace exotune {
namespace {

TargetPtr target_of(const std::string& name) {
  return load_target(name,
                     {std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw",
                      std::filesystem::path(EXOTUNE_SOURCE_DIR) / "tests/runners/sim/madeup"});
}
ProcPtr kernel(const std::string& file, const std::string& name) {
  std::ifstream in(std::string(EXOTUNE_SOURCE_DIR) + "/kernels/" + file);
  return parse_module(std::string(std::istreambuf_iterator<char>(in), {}), file).find_proc(name);
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DeviceInstructions, products_and_transfers_are_read_off_their_bodies) {
  const DeviceInstructions tiles = read_instructions(*target_of("rvm"));
  ASSERT_FALSE(tiles.products.empty());
  EXPECT_EQ(tiles.products[0].loops.size(), 3u);
  EXPECT_EQ(tiles.products[0].loops[0].most, 4);
  EXPECT_FALSE(tiles.products[0].converts);
  const DeviceInstructions array = read_instructions(*target_of("gemmini"));
  ASSERT_FALSE(array.products.empty());
  EXPECT_TRUE(array.products[0].converts);
  int64_t together = 0;
  for (const TransferFamily& f : array.families) together = std::max(together, f.tiles);
  EXPECT_EQ(together, 4);
  EXPECT_FALSE(array.values.empty());
  EXPECT_TRUE(read_instructions(*target_of("avx2")).products.empty());
}

TEST(DeviceInstructions, loops_are_matched_by_the_operands_they_move) {
  const TargetPtr target = target_of("array8");
  const DeviceInstructions instructions = read_instructions(*target);
  const ProcPtr p = parse_module(R"(
@proc
def f(A: i8[16, 8], B: i8[8, 24], C: i32[16, 24]):
    for j in seq(0, 24):
        for k in seq(0, 8):
            for i in seq(0, 16):
                a: i32
                b: i32
                a = A[i, k]
                b = B[k, j]
                C[i, j] += b * a
)",
                                 "t.exo")
                        .procs.back();
  const std::vector<KernelSum> sums = sums_of(p);
  ASSERT_EQ(sums.size(), 1u);
  ASSERT_EQ(instructions.products.size(), 1u);
  const std::vector<SumMapping> all = mappings_of(sums[0], instructions.products[0]);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].swapped);
  EXPECT_EQ(all[0].loops, (std::vector<size_t>{2, 0, 1}));
}

// A tile is a box of memory: of a step of 2 it would hold every second element.
TEST(DeviceInstructions, a_step_of_two_is_no_tile) {
  const DeviceInstructions instructions = read_instructions(*target_of("gemmini"));
  const auto mappings = [&](const std::string& subscript) {
    const ProcPtr p = parse_module(
                          "@proc\n"
                          "def f(A: i8[32, 16], B: i8[16, 16], C: i32[16, 16]):\n"
                          "    for i in seq(0, 16):\n"
                          "        for j in seq(0, 16):\n"
                          "            for k in seq(0, 16):\n"
                          "                a: i32\n"
                          "                b: i32\n"
                          "                a = A[" +
                              subscript +
                              ", k]\n"
                              "                b = B[k, j]\n"
                              "                C[i, j] += a * b\n",
                          "t.exo")
                          .procs.back();
    size_t count = 0;
    for (const ProductInstruction& product : instructions.products)
      count += mappings_of(sums_of(p).at(0), product).size();
    return count;
  };
  EXPECT_GT(mappings("i"), 0u);
  EXPECT_GT(mappings("i + 16"), 0u);
  EXPECT_EQ(mappings("2 * i"), 0u);
}

// Each computes what the kernel does, calls something named `product` and can be emitted. Their
// texts and plans come back.
std::string expect_right(const ProcPtr& kernel, const SizeBinding& sizes,
                         const std::vector<DeviceSchedule>& found, const std::string& product) {
  const ProcPtr fixed = at_sizes(kernel, sizes);
  std::string all;
  for (const DeviceSchedule& d : found) {
    const ProcPtr p = d.schedule.proc;
    EXPECT_TRUE(has(str(*p), product)) << d.plan << "\n" << str(*p);
    check(*p, true);
    Arguments expected = make_arguments(*fixed, sizes, 3), got = make_arguments(*p, sizes, 3);
    for (size_t k = 0; k < got.buffers.size(); ++k) *got.buffers[k] = *expected.buffers[k];
    run(*fixed, expected.values);
    run(*p, got.values);
    for (size_t k = 0; k < got.buffers.size(); ++k)
      EXPECT_EQ(first_difference(*expected.buffers[k], *got.buffers[k]), "") << d.plan;
    all += d.plan + "\n" + str(*p);
  }
  return all;
}

// Some are found, all of them right, and the first is its own script.
std::string expect_found(const std::string& target, const ProcPtr& kernel, const SizeBinding& sizes,
                         const std::string& product, size_t most = 6) {
  const TargetPtr t = target_of(target);
  DeviceSearch search(kernel, sizes, *t);
  const std::vector<DeviceSchedule> found = search.next(most, {});
  EXPECT_FALSE(found.empty()) << (search.refusals().empty() ? ""
                                                            : search.refusals().front().text());
  std::string all = expect_right(kernel, sizes, found, product);
  if (found.empty()) return all;
  ScriptEnvironment names = script_environment({}, {&t->library});
  names.start = kernel;
  std::string text;
  for (const std::string& line : lines_of(found[0].schedule.steps)) text += line + "\n";
  EXPECT_EQ(str(*run_script(text, "found.sched", names).proc), str(*found[0].schedule.proc));
  return all;
}

TEST(DeviceSearch, a_convolution_becomes_tiles_in_registers) {
  expect_found("rvm", kernel("convolution.exo", "conv1d"),
               {{"OC", 8}, {"IC", 2}, {"N", 8}, {"W", 4}}, "rvm_mmasa(");
}

// Rows by rows, as these arrays want it, of whatever they multiply.
TEST(DeviceSearch, each_precision_has_its_product) {
  const auto product = [](const std::string& type, const std::string& sums) {
    const bool converts = type != sums;
    const std::string factors =
        converts ? "                a: " + sums + "\n                b: " + sums +
                       "\n                a = A[i, k]\n                b = B[j, k]\n"
                 : "";
    return parse_module(
               "@proc\ndef f(M: size, N: size, K: size, A: " + type + "[M, K], B: " + type +
                   "[N, K], C: " + sums + "[M, N]):\n    for i in seq(0, M):\n" +
                   "        for j in seq(0, N):\n            C[i, j] = 0.0\n" +
                   "            for k in seq(0, K):\n" + factors + "                C[i, j] += " +
                   (converts ? "a * b" : "A[i, k] * B[j, k]") + "\n",
               "f.exo")
        .procs.back();
  };
  const SizeBinding sizes = {{"M", 8}, {"N", 4}, {"K", 32}};
  EXPECT_TRUE(has(expect_found("rvm", product("i8", "i32"), sizes, "rvm_mma", 4), "rvm_mmaqa("));
  EXPECT_TRUE(has(expect_found("rvm", product("i16", "i32"), sizes, "rvm_mma", 4), "rvm_mmada("));
  expect_found("rvm", product("f32", "f32"), sizes, "rvm_fmmacc(", 2);
  expect_found("gemmini", product("i8", "i32"), {{"M", 32}, {"N", 16}, {"K", 32}},
               "do_matmul_acc_i8_bt(", 2);
}

// The first product of a sum overwrites what was there: no command sets it to zero.
TEST(DeviceSearch, sums_begin_in_their_first_product) {
  const std::string all =
      expect_found("gemmini", kernel("gemm.exo", "i8gemm_scaled"),
                   {{"M", 32}, {"N", 32}, {"K", 128}, {"act", 1}}, "do_matmul_i8(", 4);
  EXPECT_TRUE(has(all, "do_matmul_acc_i8(")) << all;
  EXPECT_FALSE(has(all, "zero_acc_i32(")) << all;
}

TEST(DeviceSearch, loads_run_ahead_of_their_sums_on_request) {
  const TargetPtr t = target_of("gemmini");
  const ProcPtr p = kernel("gemm.exo", "i8gemm");
  const SizeBinding sizes = {{"M", 64}, {"N", 32}, {"K", 128}};
  DeviceSearch search(p, sizes, *t);
  const std::vector<DeviceSchedule> found = search.next(1, {});
  ASSERT_EQ(found.size(), 1u);
  const std::vector<DeviceSchedule> earlier = search.earlier_loads(found[0].number);
  ASSERT_EQ(earlier.size(), 2u) << search.refusals().front().text();
  const std::string all = expect_right(p, sizes, earlier, "do_matmul_acc_i8(");
  EXPECT_TRUE(has(earlier[0].plan, "loads ahead"));
  EXPECT_TRUE(has(earlier[1].plan, "loads in front"));
  // The sums of the next rows come while the array works on these.
  EXPECT_LT(all.find("do_ld_acc_i32("), all.find("do_matmul_acc_i8(")) << all;
  EXPECT_LT(all.find("+ 1", all.find("do_ld_acc_i32(")), all.find("do_matmul_acc_i8(")) << all;
  EXPECT_TRUE(search.earlier_loads(found[0].number).empty());
  // These sums begin with what is there, so that nothing is set to zero.
  EXPECT_FALSE(has(all, "do_matmul_i8("));
}

TEST(DeviceSearch, zeros_and_stores_stand_apart_on_request) {
  const TargetPtr t = target_of("gemmini");
  const ProcPtr p = kernel("gemm.exo", "i8gemm_scaled");
  const SizeBinding sizes = {{"M", 32}, {"N", 32}, {"K", 64}, {"act", 1}};
  DeviceSearch search(p, sizes, *t);
  const std::vector<DeviceSchedule> found = search.next(1, {});
  ASSERT_EQ(found.size(), 1u);
  const std::vector<DeviceSchedule> apart = search.taken_apart(found[0].number);
  ASSERT_EQ(apart.size(), 2u);
  const std::string zeros = expect_right(p, sizes, {apart[0]}, "zero_acc_i32(");
  EXPECT_TRUE(has(zeros, "zeros apart")) << zeros;
  EXPECT_FALSE(has(zeros, "do_matmul_i8(")) << zeros;
  const std::string stores = expect_right(p, sizes, {apart[1]}, "do_st_acc_scaled_i8(");
  EXPECT_TRUE(has(stores, "stores one by one")) << stores;
  EXPECT_FALSE(has(stores, "do_st_acc_scaled_i8_tiles(")) << stores;
}

// Tiles that are finished together and lie side by side leave in one instruction; of seven with a
// shorter one at the end, four, two and the short one.
TEST(DeviceSearch, tiles_side_by_side_leave_together) {
  const TargetPtr t = target_of("gemmini");
  const ProcPtr p = kernel("gemm.exo", "i8gemm_scaled");
  const SizeBinding sizes = {{"M", 20}, {"N", 101}, {"K", 32}, {"act", 0}};
  DeviceSearch search(p, sizes, *t);
  const std::string all = expect_right(p, sizes, search.next(12, {}), "do_st_acc_scaled_i8");
  EXPECT_TRUE(has(all, "do_st_acc_scaled_i8_tiles(-12 * io + 16, 4, ")) << all;
  EXPECT_TRUE(has(all, "do_st_acc_scaled_i8_tiles(-12 * io + 16, 2, ")) << all;
  EXPECT_TRUE(has(all, "do_st_acc_scaled_i8(-12 * io + 16, 5, ")) << all;
  // They come so, too: of 101 columns four tiles, two and the short one.
  EXPECT_TRUE(has(all, "do_ld_i8_block_id1(16, 4, B[")) << all;
  EXPECT_TRUE(has(all, "do_ld_i8_block_id1(16, 2, B[")) << all;
  EXPECT_TRUE(has(all, "do_ld_i8_id1(16, 5, B[")) << all;
}

// Blocks of as many tiles as one instruction takes, though they do not divide the row: the last one
// has fewer, or a shorter one, and gets a program of its own.
TEST(DeviceSearch, the_last_block_of_a_row_may_be_shorter) {
  const ProcPtr p = kernel("gemm.exo", "i8gemm_scaled");
  // Seven tiles in blocks of four; eight, the last one shorter, in two blocks of four.
  for (const auto& [columns, whole, last] : {std::tuple{101, 2, 5}, std::tuple{125, 3, 13}}) {
    const SizeBinding sizes = {{"M", 20}, {"N", columns}, {"K", 40}, {"act", 0}};
    DeviceSearch search(p, sizes, *target_of("gemmini"));
    std::vector<DeviceSchedule> found = search.next(24, {});
    std::erase_if(found, [](const DeviceSchedule& s) { return !has(s.plan, " jb4"); });
    ASSERT_FALSE(found.empty()) << columns;
    found.resize(1);
    const std::string all = expect_right(p, sizes, found, "do_matmul_acc_i8(");
    const std::string store = "do_st_acc_scaled_i8", tail = std::to_string(last) + ", ";
    const std::string several = store + "_tiles(-12 * io + 16, ";
    EXPECT_TRUE(has(all, several + "4, ")) << all;
    EXPECT_TRUE(has(all, several + std::to_string(whole) + ", ")) << all;
    EXPECT_TRUE(has(all, store + "(-12 * io + 16, " + tail)) << all;
    EXPECT_TRUE(has(all, "do_ld_i8_block_id1(16, 4, B[")) << all;
    EXPECT_TRUE(has(all, "do_ld_i8_block_id1(16, " + std::to_string(whole) + ", B[")) << all;
    EXPECT_TRUE(has(all, "do_ld_i8_id1(16, " + tail)) << all;
  }
}

// Whichever factor the program names first: the names change places before the body is replaced.
TEST(DeviceSearch, factors_are_named_in_either_order) {
  const std::string nest =
      "@proc\ndef f(A: i8[16, 32], B: i8[32, 16], C: i32[16, 16]):\n    for i in seq(0, 16):\n"
      "        for j in seq(0, 16):\n            for k in seq(0, 32):\n"
      "                a: i32\n                b: i32\n                a = B[k, j]\n"
      "                b = A[i, k]\n                C[i, j] += a * b\n";
  expect_found("gemmini", parse_module(nest, "f.exo").procs.back(), {}, "do_matmul_acc_i8(", 2);
}

// Bytes for an array of words, the second factor not as it wants it: the processor makes both
// tiles.
TEST(DeviceSearch, operands_that_no_transfer_brings_are_made) {
  const std::string all = expect_found("rvm", kernel("gemm.exo", "i8gemm"),
                                       {{"M", 8}, {"N", 8}, {"K", 8}}, "rvm_mmasa(", 3);
  EXPECT_TRUE(has(all, "b : i32[4, 4] @ DRAM_STACK")) << all;
}

// No instruction adds a bias or rectifies here: the processor does, on a copy.
TEST(DeviceSearch, what_no_instruction_does_to_sums_the_processor_does) {
  const ProcPtr layer = parse_module(R"(
@proc
def layer(M: size, N: size, K: size, A: i32[M, K], B: i32[N, K], bias: i32[N], C: i32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            sum: i32
            sum = bias[j]
            for k in seq(0, K):
                sum += A[i, k] * B[j, k]
            C[i, j] = relu(sum)
)",
                                     "layer.exo")
                            .procs.back();
  const std::string all =
      expect_found("rvm", layer, {{"M", 8}, {"N", 8}, {"K", 8}}, "rvm_mmasa(", 4);
  EXPECT_TRUE(has(all, "relu(sum_end[")) << all;
  EXPECT_TRUE(has(all, "sum_begin[")) << all;
  // What the tiles store is read after a fence only; what they load needs none, by the text.
  EXPECT_LT(all.find("rvm_fence()"), all.find("relu(sum_end[")) << all;
  EXPECT_GT(all.find("rvm_fence()"), all.find("rvm_mmasa(")) << all;
}

// No command begins sums with twice a bias: the processor does, in memory of its own that commands
// load. They have read the last tile before it makes the next, and see what it made: a fence stands
// on both sides.
TEST(DeviceSearch, the_processor_and_the_device_meet_in_memory_at_fences) {
  const ProcPtr p = parse_module(R"(
@proc
def f(A: i8[32, 16], B: i8[16, 16], bias: i32[16], C: i32[32, 16]):
    for i in seq(0, 32):
        for j in seq(0, 16):
            sum: i32
            sum = bias[j] + bias[j]
            for k in seq(0, 16):
                a: i32
                b: i32
                a = A[i, k]
                b = B[k, j]
                sum += a * b
            C[i, j] = sum
)",
                                 "f.exo")
                        .procs.back();
  const std::string all = expect_found("gemmini", p, {}, "do_matmul_acc_i8(", 1);
  const size_t made = all.find("= bias["), before = all.rfind("gemmini_fence()", made);
  ASSERT_NE(made, std::string::npos) << all;
  EXPECT_GT(all.find("gemmini_fence()"), all.find("for ")) << all;
  EXPECT_NE(before, std::string::npos) << all;
  EXPECT_LT(all.find("gemmini_fence()", made), all.find("do_ld_acc_i32(")) << all;
}

// Estimates say little about where operands are kept: around the best, all ways are tried.
TEST(DeviceSearch, plans_of_one_order_are_made_on_request) {
  const TargetPtr t = target_of("rvm");
  DeviceSearch search(kernel("convolution.exo", "conv1d"),
                      {{"OC", 16}, {"IC", 2}, {"N", 8}, {"W", 4}}, *t);
  const std::vector<DeviceSchedule> found = search.next(1, {});
  ASSERT_EQ(found.size(), 1u);
  const std::vector<DeviceSchedule> like = search.like(found[0].number, 20, {});
  ASSERT_FALSE(like.empty());
  const auto order = [](const DeviceSchedule& d) { return d.plan.substr(0, d.plan.find(';')); };
  std::set<std::string> plans = {found[0].plan};
  for (const DeviceSchedule& d : like) {
    EXPECT_EQ(order(d), order(found[0]));
    EXPECT_TRUE(plans.insert(d.plan).second) << d.plan;
  }
  EXPECT_TRUE(search.like(found[0].number, 20, {}).empty());
}

// Both layers have a factor and a rectifier: the second's settings are the first's but for a
// stride.
TEST(DeviceSearch, a_second_layer_is_found_where_the_first_runs_already) {
  std::string text =
      "@proc\ndef net(scale: f32, act: bool, x: i8[16, 16], V: i8[16, 16], W: i8[16, 32], "
      "y: i8[16, 32]):\n    hidden: i8[16, 16]\n";
  for (const auto& [from, weights, to, columns] :
       {std::tuple("x", "V", "hidden", "16"), std::tuple("hidden", "W", "y", "32")})
    text += std::string("    for i in seq(0, 16):\n        for j in seq(0, ") + columns +
            "):\n            sum: i32\n            sum = 0.0\n            for k in seq(0, 16):\n"
            "                a: i32\n                b: i32\n                a = " +
            from + "[i, k]\n                b = " + weights +
            "[k, j]\n                sum += a * b\n            value: f32\n"
            "            value = sum\n            value = rint(scale * value)\n"
            "            value = select(127.0, value, 127.0, value)\n"
            "            value = select(value, -128.0, -128.0, value)\n"
            "            small: i8\n            small = value\n            if act:\n"
            "                small = relu(small)\n            " +
            to + "[i, j] = small\n";
  const TargetPtr t = target_of("gemmini");
  const ProcPtr net = parse_module(text, "net.exo").procs.back();
  DeviceSearch first(net, {}, *t);
  std::optional<DeviceSchedule> one;
  for (const DeviceSchedule& d : first.next(12, {}))
    if (!one && has(str(*d.schedule.proc), "hidden[0:16, 0:16])")) one = d;
  ASSERT_TRUE(one);
  EXPECT_TRUE(has(str(*one->schedule.proc), "gemmini_fence()")) << str(*one->schedule.proc);
  DeviceSearch second(one->schedule.proc, {}, *t);
  const std::vector<DeviceSchedule> found = second.next(1, {});
  ASSERT_FALSE(found.empty()) << second.refusals().front().text();
  check(*found[0].schedule.proc, true);
  EXPECT_FALSE(has(str(*found[0].schedule.proc), "rint(")) << str(*found[0].schedule.proc);
}

TEST(DeviceSearch, what_serves_is_told_apart) {
  const SizeBinding sizes = {{"M", 64}, {"N", 64}, {"K", 64}};
  EXPECT_TRUE(device_serves(kernel("gemm.exo", "i8gemm"), sizes, *target_of("gemmini")));
  EXPECT_FALSE(device_serves(kernel("gemm.exo", "sgemm"), sizes, *target_of("gemmini")));
  EXPECT_FALSE(device_serves(kernel("blas1.exo", "saxpy"), {{"n", 16}}, *target_of("rvm")));
}

TEST(DeviceSearch, a_layer_with_its_factor_becomes_tiles_in_scratchpads) {
  expect_found("gemmini", kernel("gemm.exo", "i8gemm_scaled"),
               {{"M", 32}, {"N", 32}, {"K", 64}, {"act", 1}}, "do_matmul_acc_i8(");
}

// No tile of at most 16 divides these: the last of each loop is shorter, and their loops are cut
// there.
TEST(DeviceSearch, odd_sizes_get_whole_tiles_and_shorter_last_ones) {
  const std::string all =
      expect_found("gemmini", kernel("gemm.exo", "i8gemm_scaled"),
                   {{"M", 37}, {"N", 50}, {"K", 23}, {"act", 1}}, "do_matmul_acc_i8(");
  EXPECT_TRUE(has(all, "do_ld_i8(16, -9 * ko + 16, A[")) << all;
  EXPECT_TRUE(has(all, "do_ld_i8(5, -9 * ko + 16, A[")) << all;
}

// Taps move the image by a pixel: a tile of it spans them, and its weights stay in the array for
// all rows.
TEST(DeviceSearch, a_convolution_becomes_tiles_that_span_its_taps) {
  const std::string all = expect_found(
      "gemmini", kernel("convolution.exo", "i8conv3x3_scaled"),
      {{"B", 1}, {"H", 4}, {"W", 4}, {"IC", 32}, {"OC", 16}, {"act", 1}}, "do_matmul_acc_i8", 8);
  EXPECT_TRUE(has(all, "do_matmul_acc_i8_tiles(4, 4, 16, 16, image_tile[dy:dy + 4,")) << all;
  EXPECT_TRUE(has(all, "dx:dx + 4, 0:16]")) << all;
}

TEST(DeviceSearch, an_accelerator_that_nobody_knows_is_served_by_its_text) {
  const ProcPtr layer = parse_module(R"(
@proc
def layer(M: size, N: size, K: size, A: i8[M, K], B: i8[K, N], bias: i32[N], C: i32[M, N]):
    for i in seq(0, M):
        for j in seq(0, N):
            C[i, j] = bias[j]
            for k in seq(0, K):
                a: i32
                b: i32
                a = A[i, k]
                b = B[k, j]
                C[i, j] += a * b
)",
                                     "layer.exo")
                            .procs.back();
  expect_found("array8", layer, {{"M", 16}, {"N", 8}, {"K", 24}}, "array8_product(");
}

// No sum of products: what the device stores, it pools.
TEST(DeviceSearch, a_maximum_over_pixels_is_taken_on_the_way_out) {
  std::ifstream in(std::string(EXOTUNE_SOURCE_DIR) + "/docs/examples/pool.exo");
  const ProcPtr pool =
      parse_module(std::string(std::istreambuf_iterator<char>(in), {}), "pool.exo").procs.back();
  const std::string all = expect_found("gemmini", pool, {{"B", 1}, {"H", 2}, {"W", 6}, {"C", 32}},
                                       "do_st_pool2_i8(", 8);
  EXPECT_TRUE(has(all, "do_st_pool2_i8(6, 16,")) << all;
  EXPECT_TRUE(has(all, "do_st_pool2_i8(3, 16,")) << all;
  EXPECT_TRUE(has(all, "image_tile : i8[2, 2, 12, 16] @ GEMM_SCRATCH")) << all;
}

// A convolution, its rectifier and pooling in one nest: sums stay in the device until it pools
// them.
TEST(DeviceSearch, pixels_that_a_window_gathers_stay_in_the_device) {
  std::ifstream in(std::string(EXOTUNE_SOURCE_DIR) + "/docs/examples/conv_pool.exo");
  const ProcPtr layer =
      parse_module(std::string(std::istreambuf_iterator<char>(in), {}), "layer.exo").procs.back();
  const SizeBinding sizes = {{"B", 2}, {"H", 2}, {"W", 6}, {"IC", 16}, {"OC", 32}, {"act", 1}};
  const std::string all = expect_found("gemmini", layer, sizes, "do_st_pool2_scaled_i8(", 4);
  EXPECT_TRUE(has(all, "do_st_pool2_scaled_i8(6, 16,")) << all;
  EXPECT_TRUE(has(all, "12, 16] @ GEMM_ACCUM")) << all;
  EXPECT_FALSE(has(all, "best")) << "no pixel is pooled by the processor\n" << all;
}

// A window that no instruction does: its sums are found, and the processor gathers them.
TEST(DeviceSearch, a_window_that_no_instruction_does_is_left_as_it_is) {
  const ProcPtr p = parse_module(R"(
@proc
def f(A: i8[16, 16], B: i8[3, 16, 16], C: i32[16, 16]):
    for i in seq(0, 16):
        for j in seq(0, 16):
            best: i32
            best = 0.0
            for w in seq(0, 3):
                sum: i32
                sum = 0.0
                for k in seq(0, 16):
                    a: i32
                    b: i32
                    a = A[i, k]
                    b = B[w, k, j]
                    sum += a * b
                best max= sum
            C[i, j] = best
)",
                                 "t.exo")
                        .procs.back();
  DeviceSearch search(p, {}, *target_of("gemmini"));
  for (const DeviceSchedule& d : search.next(2, {})) check(*d.schedule.proc, true);
}

TEST(ProcessorLoops, copies_do_several_elements_in_one_and_instructions_stay) {
  const ProcPtr p = parse_module(R"(
@proc
def f(A: i8[64, 64], B: i8[64, 64], C: i8[6]):
    for i in seq(0, 64):
        for j in seq(0, 64):
            B[i, j] = A[j, i]
    for i in seq(0, 6):
        C[i] = A[i, i]
)",
                                 "t.exo")
                        .procs.back();
  const std::vector<Schedule> made = unrolled_loops(p);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_TRUE(has(str(*made[0].proc), "B[i, 4 * jo + 3] = A[4 * jo + 3, i]")) << str(*made[0].proc);
  for (const Schedule& s : made) {
    EXPECT_TRUE(has(str(*s.proc), "for i in seq(0, 6):")) << "too short to be worth it";
    check(*s.proc, true);
  }
}

TEST(ProcessorLoops, loops_end_where_their_tiles_get_shorter) {
  Schedule s{parse_module(R"(
@proc
def f(A: i32[10, 20]):
    for io in seq(0, 10):
        for jo in seq(0, 2):
            for j in seq(0, 16 - 12 * jo):
                A[io, 16 * jo + j] = 1.0
        for i in seq(0, 20 - 7 * (io / 9)):
            A[io, i] = 2.0
)",
                          "t.exo")
                 .procs.back(),
             {},
             false};
  const ProcPtr before = s.proc;
  cut_at_short_tiles(s);
  EXPECT_TRUE(has(str(*s.proc), "for io in seq(0, 9):")) << str(*s.proc);
  EXPECT_TRUE(has(str(*s.proc), "for i in seq(0, 13):")) << str(*s.proc);
  EXPECT_FALSE(has(str(*s.proc), "/")) << str(*s.proc);
  check(*s.proc, true);
  const size_t steps = s.steps.size();
  cut_at_short_tiles(s);
  EXPECT_EQ(s.steps.size(), steps) << "nothing is left to cut";
}

TEST(DeviceSearch, settings_that_no_instruction_makes_are_refused_before_their_c) {
  const ProcPtr layer = kernel("gemm.exo", "i8gemm_scaled");
  const SizeBinding sizes = {{"M", 16}, {"N", 16}, {"K", 16}, {"act", 1}};
  const TargetPtr t = target_of("gemmini");
  ScriptEnvironment names = script_environment({}, {&t->library});
  names.start = layer;
  const ProcPtr left =
      run_script("p = bind_config(p, 'scale', GemminiStore, 'scale')\n", "s.sched", names).proc;
  const TuningProblem problem = make_problem(layer, sizes, {.expected = false, .inputs = false});
  try {
    make_candidate(left, *t, problem);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kInput);
    EXPECT_TRUE(has(e.diagnostic().str(), "`GemminiStore.scale`")) << e.diagnostic().str();
  }
}

TEST(DeviceSearch, what_no_instruction_multiplies_has_no_schedules) {
  const TargetPtr t = target_of("rvm");
  EXPECT_TRUE(DeviceSearch(kernel("blas1.exo", "saxpy"), {{"n", 16}}, *t).next(4, {}).empty());
}

}  // namespace
}  // namespace exotune
