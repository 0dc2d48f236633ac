#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace exotune::cli {
namespace {

using Words = std::vector<std::string>;
const Words kKernels = {"dgemm", "saxpy", "sgemm"};

TEST(CommandLine, the_verb_kernel_may_be_left_out) {
  EXPECT_EQ(with_verb(verbs(), {"sgemm", "-n"}, kKernels), (Words{"kernel", "sgemm", "-n"}));
  EXPECT_EQ(with_verb(verbs(), {"my.exo:f"}, kKernels), (Words{"kernel", "my.exo:f"}));
  EXPECT_EQ(with_verb(verbs(), {"--target", "avx2"}, kKernels),
            (Words{"kernel", "--target", "avx2"}));
}

TEST(CommandLine, verbs_and_help_stay_as_they_are) {
  for (const char* word : {"schedule", "tune", "--help", "-h", "--version"})
    EXPECT_EQ(with_verb(verbs(), {word}, kKernels), Words{word});
  EXPECT_EQ(with_verb(verbs(), {}, kKernels), Words{});
}

TEST(CommandLine, anything_else_is_refused_with_the_nearest) {
  try {
    with_verb(verbs(), {"sgem"}, kKernels);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'sgemm'?"), std::string::npos);
  }
}

}  // namespace
}  // namespace exotune::cli
