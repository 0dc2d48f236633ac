// Every instruction of every native target: what its C does is what its body says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/base/subprocess.h"
#include "tests/hw/instruction_harness.h"
#include "tests/hw/substitute.h"

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

// Those in `known` were compared before.
void compare_all(const Target& target, const InstructionHarness& harness,
                 const std::set<std::string>& known = {}) {
  EXPECT_EQ(harness.left_out(), std::vector<std::string>{});
  EXPECT_EQ(harness.wrappers().size(), target.instructions().size());
  for (const ProcPtr& wrapper : harness.wrappers()) {
    if (known.contains(wrapper->name)) continue;
    const bool sized = !wrapper->args.empty() && is_control(wrapper->args[0].type.scalar);
    for (int64_t n = 1; n <= (sized ? 20 : 3); ++n)
      ASSERT_EQ(harness.compare(*wrapper, n, static_cast<uint64_t>(n)), "")
          << wrapper->name << " n = " << n;
  }
}

// A text that nobody lists is instructions that nobody has.
TEST(TargetFolders, list_every_text_they_hold) {
  int texts = 0;
  for (const fs::directory_entry& target : fs::directory_iterator(kFolders.front())) {
    std::ifstream in(target.path() / "target.toml");
    if (!in) continue;
    const std::string toml{std::istreambuf_iterator<char>(in), {}};
    if (toml.find("\nfiles = [") == std::string::npos) continue;  // all of them
    for (const fs::directory_entry& file : fs::directory_iterator(target.path())) {
      if (file.path().extension() != ".exo") continue;
      ++texts;
      EXPECT_NE(toml.find("\"" + file.path().filename().string() + "\""), std::string::npos)
          << file.path();
    }
  }
  EXPECT_GT(texts, 50);
}

class Instructions : public testing::TestWithParam<std::string> {};

TEST_P(Instructions, their_c_does_what_their_body_says) {
  TargetLibrary library(kFolders);
  const TargetPtr target = library.load(GetParam());
  if (!supports(probe_machine(), *target)) GTEST_SKIP() << "this machine lacks " << target->isa;
  const InstructionHarness harness(target, library.importer());
  ASSERT_EQ(harness.build_log(), "");
  compare_all(*target, harness);
}

// Of an instruction set that this machine lacks, in the words of another.
TEST(Instructions, do_what_their_body_says_in_other_words) {
  TargetLibrary library(kFolders);
  if (substitutes().empty()) GTEST_SKIP() << "no substitutes are installed";
  if (!supports(probe_machine(), *library.load("avx2"))) GTEST_SKIP() << "this machine lacks AVX2";
  std::set<std::string> known;
  for (const Substitute& s : substitutes()) {
    const TargetPtr target = library.load(s.target);
    const InstructionHarness harness(target, library.importer(), s.flags);
    ASSERT_EQ(harness.build_log(), "");
    compare_all(*target, harness, known);
    for (const ProcPtr& wrapper : harness.wrappers()) known.insert(wrapper->name);
  }
}

TEST(InstructionHarness, catches_a_template_that_does_something_else) {
  const fs::path root = fs::path(testing::TempDir()) / "exotune_wrong_template";
  fs::remove_all(root);
  fs::create_directories(root);
  fs::copy(kFolders[1] / "vec4", root / "vec4");
  std::ifstream in(root / "vec4/instructions.exo");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string right = "{dst_data} += {a_data} * {b_data};";
  ASSERT_NE(text.find(right), std::string::npos);
  text.replace(text.find(right), right.size(), "{dst_data} += {a_data} + {b_data};");
  std::ofstream(root / "vec4/instructions.exo") << text;

  TargetLibrary library({root});
  const TargetPtr target = library.load("vec4");
  const InstructionHarness harness(target, library.importer());
  ASSERT_EQ(harness.build_log(), "");
  for (const ProcPtr& wrapper : harness.wrappers())
    EXPECT_EQ(harness.compare(*wrapper, 2, 1) != "", wrapper->name == "run_v4_fma")
        << wrapper->name;
  fs::remove_all(root);
}

// The same under qemu, for processors that this machine is not.
std::vector<std::string> emulated_targets() {
  TargetLibrary library(kFolders);
  std::vector<std::string> names;
  for (const std::string& name : library.names())
    if (library.load(name)->runner.options.contains("emulator")) names.push_back(name);
  return names;
}

class EmulatedInstructions : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedInstructions, their_c_does_what_their_body_says) {
  TargetLibrary library(kFolders);
  const TargetPtr target = library.load(GetParam());
  const auto& options = target->runner.options;
  for (const std::string& program : {target->compiler.programs.front(), options.at("emulator")})
    if (find_program(program).empty()) GTEST_SKIP() << program << " is not installed";
  const InstructionHarness harness(target, library.importer());
  ASSERT_EQ(harness.build_log(), "");
  EXPECT_EQ(harness.left_out(), std::vector<std::string>{});
  EXPECT_EQ(harness.wrappers().size(), target->instructions().size());
  std::vector<InstructionHarness::Call> calls;
  for (const ProcPtr& wrapper : harness.wrappers()) {
    const bool sized = !wrapper->args.empty() && is_control(wrapper->args[0].type.scalar);
    for (int64_t n = 1; n <= (sized ? 20 : 3); ++n)
      calls.push_back({wrapper, n, static_cast<uint64_t>(n)});
  }
  const std::vector<std::string> differences =
      harness.compare_under({options.at("emulator"), "-cpu", options.at("cpu")}, calls);
  for (size_t k = 0; k < calls.size(); ++k)
    ASSERT_EQ(differences[k], "") << calls[k].wrapper->name << " n = " << calls[k].n;
}

INSTANTIATE_TEST_SUITE_P(Emulated, EmulatedInstructions, testing::ValuesIn(emulated_targets()),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Native, Instructions, testing::ValuesIn(native_targets()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace exotune
