// The checker accepts every kernel and every instruction that ships as text.
#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "hw/kernel_table.h"
#include "hw/target.h"

namespace exotune {
namespace {

TEST(CheckedText, kernels_are_accepted) {
  const KernelTable table =
      load_kernel_table(std::filesystem::path(EXOTUNE_SOURCE_DIR) / "kernels");
  for (const KernelEntry& kernel : table.kernels())
    EXPECT_NO_THROW(check(*kernel.load(), true)) << kernel.name;
}

TEST(CheckedText, instruction_bodies_are_accepted) {
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw",
                         std::filesystem::path(EXOTUNE_SOURCE_DIR) / "tests/hw/madeup"});
  for (const std::string& name : library.names())
    for (const ProcPtr& p : library.load(name)->instructions())
      EXPECT_NO_THROW(check(*p)) << p->name;
}

}  // namespace
}  // namespace exotune
