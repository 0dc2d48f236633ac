// Every instruction of every native target: what its C does is what its body says.
#include <gtest/gtest.h>

#include "tests/hw/instruction_harness.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

const std::vector<fs::path> kFolders = {fs::path(EXOTUNE_SOURCE_DIR) / "hw",
                                        fs::path(EXOTUNE_SOURCE_DIR) / "tests/hw/madeup"};

std::vector<std::string> native_targets() {
  TargetLibrary library(kFolders);
  std::vector<std::string> names;
  for (const std::string& name : library.names())
    if (library.load(name)->runner.kind == "native") names.push_back(name);
  return names;
}

class Instructions : public testing::TestWithParam<std::string> {};

TEST_P(Instructions, their_c_does_what_their_body_says) {
  TargetLibrary library(kFolders);
  const TargetPtr target = library.load(GetParam());
  if (!supports(probe_machine(), *target)) GTEST_SKIP() << "this machine lacks " << target->isa;
  const InstructionHarness harness(target, library.importer());
  ASSERT_EQ(harness.build_log(), "");
  EXPECT_EQ(harness.left_out(), std::vector<std::string>{});
  EXPECT_EQ(harness.wrappers().size(), target->instructions().size());
  for (const ProcPtr& wrapper : harness.wrappers()) {
    const bool sized = is_control(wrapper->args[0].type.scalar);
    for (int64_t n = 1; n <= (sized ? 20 : 3); ++n)
      ASSERT_EQ(harness.compare(*wrapper, n, static_cast<uint64_t>(n)), "") << wrapper->name << " n = " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Native, Instructions, testing::ValuesIn(native_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace exotune
