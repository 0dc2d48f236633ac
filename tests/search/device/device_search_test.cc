// Schedules for devices found from plain nests: what is read off the targets' text, and that what
// is built computes the same.
#include "search/device/device_search.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "search/device/kernel_sum.h"
#include "tests/search/same_result.h"

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

// Every schedule found computes what the kernel does, uses the product, and is its own script.
void expect_found(const std::string& target, const ProcPtr& kernel, const SizeBinding& sizes,
                  const std::string& product, size_t most = 6) {
  const TargetPtr t = target_of(target);
  const DeviceSearch found = device_schedules(kernel, sizes, *t, most, {});
  ASSERT_FALSE(found.schedules.empty())
      << (found.refusals.empty() ? "" : found.refusals.front().text());
  for (const DeviceSchedule& d : found.schedules) {
    const ProcPtr p = d.schedule.proc;
    EXPECT_TRUE(has(str(*p), product + "(")) << d.plan << "\n" << str(*p);
    check(*p);
    expect_same_result(kernel, p, d.plan);
  }
  ScriptEnvironment names = script_environment({}, {&t->library});
  names.start = kernel;
  std::string text;
  for (const std::string& line : lines_of(found.schedules[0].schedule.steps)) text += line + "\n";
  EXPECT_EQ(str(*run_script(text, "found.sched", names).proc),
            str(*found.schedules[0].schedule.proc));
}

TEST(DeviceSearch, a_convolution_becomes_tiles_in_registers) {
  expect_found(
      "rvm",
      partial_eval(kernel("convolution.exo", "conv1d"), {{"OC", 8}, {"IC", 2}, {"N", 8}, {"W", 4}}),
      {}, "rvm_mmasa");
}

TEST(DeviceSearch, a_layer_with_its_factor_becomes_tiles_in_scratchpads) {
  expect_found("gemmini",
               partial_eval(kernel("gemm.exo", "i8gemm_scaled"),
                            {{"M", 32}, {"N", 32}, {"K", 64}, {"act", 1}}),
               {}, "do_matmul_acc_i8");
}

TEST(DeviceSearch, an_accelerator_that_nobody_knows_is_served_by_its_text) {
  expect_found("array8",
               partial_eval(kernel("gemm.exo", "i8gemm"), {{"M", 16}, {"N", 8}, {"K", 24}}), {},
               "array8_product");
}

TEST(DeviceSearch, what_no_instruction_multiplies_has_no_schedules) {
  const TargetPtr t = target_of("rvm");
  EXPECT_TRUE(
      device_schedules(kernel("blas1.exo", "saxpy"), {{"n", 16}}, *t, 4, {}).schedules.empty());
}

}  // namespace
}  // namespace exotune
