// A schedule that is written beside the code makes that code.
#include "cli/replay.h"

#include <gtest/gtest.h>

#include "cli/session.h"
#include "core/base/diagnostic.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/ahead.h"

namespace exotune::cli {
namespace {

class Replay : public ::testing::Test {
 protected:
  // What is written of `script`, after which `measured` is what another one makes.
  std::string written(const std::string& script, const std::string& measured) {
    const KernelInput input = workspace.kernel("saxpy");
    const Replayed made = replay(workspace, input, measured, "measured.sched", "avx512");
    try {
      return str(*replayed(workspace, input, script, "avx512", made.proc));
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
  EXPECT_NE(written(kVectors, kVectors).find("AVX512"), std::string::npos);
  EXPECT_NE(written(kHalf, kHalf).find("AVX2"), std::string::npos);
}

TEST_F(Replay, of_other_lines_is_what_is_written) {
  ::testing::internal::CaptureStderr();
  const std::string text = written(kHalf, kVectors);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("other code than was measured"),
            std::string::npos);
  EXPECT_NE(text.find("AVX2"), std::string::npos) << text;
}

// As a trial of the store has, which another search made of other steps.
TEST_F(Replay, of_lines_that_make_the_same_code_is_no_other_code) {
  ::testing::internal::CaptureStderr();
  const std::string twice =
      "p = saxpy\np = divide_loop(p, 'i', 1, ['i', 'once'], 'perfect')\n"
      "p = unroll_loop(p, 'once')\n";
  const std::string text = written("p = saxpy\n", twice);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << text;
}

// What was measured came from a store or a search and no longer knows what it was made from.
TEST_F(Replay, of_joined_dimensions_shows_the_shape_that_was_asked_for) {
  const std::string lines =
      "p = sgemm\np = partial_eval(p, M=4, N=6, K=3)\np = join_dims(p, 'C', 0)\n";
  const KernelInput input = workspace.kernel("sgemm");
  const Replayed made = replay(workspace, input, lines, "measured.sched", "avx512");
  ::testing::internal::CaptureStderr();
  const ProcPtr again = replayed(workspace, input, lines, "avx512", without_provenance(made.proc));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(str(*again).find("C: f32[24]"), std::string::npos) << str(*again);
  const CFile file = generate_kernel(again, {});
  EXPECT_NE(file.h.find("C: f32[4, 6]"), std::string::npos) << file.h;
  EXPECT_NE(file.c.find("C[6 * i + j]"), std::string::npos) << file.c;
  // Turned over since, it is no longer that memory.
  const std::string turned =
      "p = sgemm\np = partial_eval(p, M=4, N=6, K=3)\np = transpose(p, 'A')\n"
      "p = join_dims(p, 'A', 0)\n";
  const Replayed other = replay(workspace, input, turned, "turned.sched", "avx512");
  EXPECT_NE(generate_kernel(other.proc, {}).h.find("A: f32[3, 4]"), std::string::npos);
}

TEST_F(Replay, of_lines_that_are_refused_says_why) {
  const std::string said = written("p = saxpy\np = vectorize(p, 'i', 8, AVX2, instrs)\n", kHalf);
  EXPECT_NE(said.find("does not replay"), std::string::npos) << said;
  EXPECT_NE(said.find("no instruction of the target"), std::string::npos) << said;
}

}  // namespace
}  // namespace exotune::cli
