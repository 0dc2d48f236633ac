// A schedule that is written beside the code makes that code.
#include "cli/replay.h"

#include <gtest/gtest.h>

#include "cli/session.h"
#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {

class Replay : public ::testing::Test {
 protected:
  // What is said against `script`, after which `measured` is what another one makes.
  std::string refused(const std::string& script, const std::string& measured) {
    const KernelInput input = workspace.kernel("saxpy");
    const Replayed made = replay(workspace, input, measured, "measured.sched", "avx512");
    try {
      require_replay(workspace, input, script, "avx512", *made.proc);
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.exit_code(), ExitCode::kInternal);
      std::string all = e.diagnostic().message.str();
      for (const auto& note : e.diagnostic().notes) all += "\n" + note.str();
      return all;
    }
  }

  Session session = make_session();
  Workspace workspace{session};
};

constexpr char kVectors[] = "p = saxpy\np = vectorize(p, 'i', 16, AVX512, instrs)\n";
constexpr char kHalf[] = "p = saxpy\np = vectorize(p, 'i', 8, AVX2, instrs_avx2)\n";

TEST_F(Replay, of_the_same_lines_is_the_same) {
  EXPECT_EQ(refused(kVectors, kVectors), "");
  EXPECT_EQ(refused(kHalf, kHalf), "");
}

TEST_F(Replay, of_other_lines_is_told) {
  const std::string said = refused(kHalf, kVectors);
  EXPECT_NE(said.find("does not replay"), std::string::npos) << said;
  EXPECT_NE(said.find("it makes another procedure"), std::string::npos) << said;
  EXPECT_NE(said.find(kHalf), std::string::npos) << said;
}

TEST_F(Replay, of_lines_that_are_refused_says_why) {
  const std::string said = refused("p = saxpy\np = vectorize(p, 'i', 8, AVX2, instrs)\n", kHalf);
  EXPECT_NE(said.find("no instruction of the target"), std::string::npos) << said;
}

}  // namespace
}  // namespace exotune::cli
