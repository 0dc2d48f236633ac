// Every schedule that ships, kernels/KERNEL_TARGET.sched, replays on its kernel, means the same,
// and has C for its target.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "core/analysis/queries.h"
#include "core/base/subprocess.h"
#include "core/codegen/codegen.h"
#include "core/interp/interp.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "hw/kernel_table.h"
#include "hw/target.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

const fs::path kKernels = fs::path(EXOTUNE_SOURCE_DIR) / "kernels";

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> schedules() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kKernels))
    if (entry.path().extension() == ".sched") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The schedule applied, with what it was applied to.
struct Applied {
  explicit Applied(const std::string& name)
      : library({fs::path(EXOTUNE_SOURCE_DIR) / "hw"}),
        target(library.load(name.substr(name.rfind('_') + 1))),
        table(load_kernel_table(kKernels)),
        kernel(table.at(name.substr(0, name.rfind('_')))),
        before(kernel.load()) {
    const Module module = parse_module(read(kernel.file), kernel.file.string());
    const std::string file = (kKernels / (name + ".sched")).string();
    after = run_script(read(file), file, script_environment(module, {&target->library})).proc;
  }
  std::string c() const {
    CodegenOptions options;
    options.headers = target->compiler.headers;
    return generate_c({after}, options).c;
  }

  TargetLibrary library;
  TargetPtr target;
  KernelTable table;
  const KernelEntry& kernel;
  ProcPtr before, after;
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The least value of the size that no assert of the schedule's speaks against, `from` or more.
int64_t fitting_size(const ProcPtr& p, const std::string& name, int64_t from) {
  for (int64_t value = from;; ++value) {
    try {
      (void)partial_eval(p, {{name, value}});
      return value;
    } catch (const SchedulingError&) {
      EXPECT_LT(value, from + 4096) << name;
      if (value >= from + 4096) return from;
    }
  }
}

class ReferenceSchedules : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceSchedules, mean_the_same_and_have_c) {
  const Applied s(GetParam());
  EXPECT_FALSE(s.c().empty());
  // Sizes that the schedule fixed are the table's; the others are small, and divide nothing unless
  // the schedule asks for it.
  std::map<std::string, int64_t> sizes, kept;
  for (const Arg& a : s.before->args) {
    if (!is_control(a.type.scalar)) continue;
    const std::string name = a.name.name();
    const bool fixed = std::none_of(s.after->args.begin(), s.after->args.end(),
                                    [&](const Arg& b) { return b.name.name() == name; });
    const int64_t small =
        s.after->asserts.empty() ? 67 + 117 * static_cast<int64_t>(sizes.size()) : 2;
    if (a.type.scalar == ScalarType::kBool) {
      sizes[name] = kept[name] = 1;
      continue;
    }
    sizes[name] = fixed ? s.kernel.sizes[0].at(name) : fitting_size(s.after, name, small);
    if (!fixed) kept[name] = sizes[name];
  }
  Arguments expected = make_arguments(*s.before, sizes, 5);
  Arguments got = make_arguments(*s.after, kept, 5);
  for (size_t k = 0; k < got.buffers.size(); ++k) *got.buffers[k] = *expected.buffers[k];
  run(*s.before, expected.values);
  run(*s.after, got.values);
  for (size_t k = 0; k < got.buffers.size(); ++k)
    EXPECT_EQ(first_difference(*expected.buffers[k], *got.buffers[k]), "") << k;
}

INSTANTIATE_TEST_SUITE_P(Kernels, ReferenceSchedules, testing::ValuesIn(schedules()),
                         [](const auto& info) { return info.param; });

TEST(ReferenceSchedules, conv1d_uses_eight_registers_and_four_products_a_channel) {
  const std::string c = Applied("conv1d_rvm").c();
  EXPECT_EQ(count(c, "0x7c"), 4u);  // mzero
  EXPECT_EQ(count(c, "0x02"), 5u);  // mld: the image's tile, four of kernels
  EXPECT_EQ(count(c, "0x78"), 4u);  // mmasa
  EXPECT_EQ(count(c, "0x06"), 4u);  // mst
  for (int reg = 4; reg < 8; ++reg)
    EXPECT_EQ(count(c, "0x06, x%0, %1, %2\" :: \"i\"(16 + " + std::to_string(reg) + ")"), 1u)
        << reg;
}

TEST(ReferenceSchedules, i8gemm_configures_gemmini_once_before_its_loops) {
  const std::string c = Applied("i8gemm_relu_gemmini").c();
  const size_t loop = c.find("for (");
  for (const char* setting :
       {"EXO_GEMMINI(0, 1 << 2 | 2,", "EXO_GEMMINI(0, EXO_GEMMINI_ONE_F32 << 32 | 1ull",
        "1ull << 8 | 0 << 3 | 1, 512)", "1ull << 8 | 1 << 3 | 1, N)"}) {
    EXPECT_EQ(count(c, setting), 1u) << setting;
    EXPECT_LT(c.find(setting), loop) << setting;
  }
  EXPECT_EQ(count(c, "  EXO_GEMMINI(0,"), 5u);  // the array, three loads, the store
  for (const char* command : {"EXO_GEMMINI(1, &B", "EXO_GEMMINI(2, &A", "EXO_GEMMINI(14, 0,",
                              "EXO_GEMMINI(6, ", "EXO_GEMMINI(4, ", "EXO_GEMMINI(3, &C"})
    EXPECT_EQ(count(c, command), 1u) << command;
}

TEST(ReferenceSchedules, i8gemm_scaled_loads_each_tile_once_under_guards) {
  const std::string c = Applied("i8gemm_scaled_gemmini").c();
  const size_t loop = c.find("for (");
  EXPECT_EQ(count(c, "  EXO_GEMMINI(0,"), 5u);   // the array, three loads, the store
  EXPECT_LT(c.rfind("  EXO_GEMMINI(0,"), loop);  // all settings in front of the loops
  EXPECT_EQ(count(c, "exo_gemmini_bits(*scale) << 32"), 1u);
  EXPECT_EQ(count(c, "EXO_GEMMINI(2, &A"), 1u);
  EXPECT_EQ(count(c, "EXO_GEMMINI(1, &B"), 1u);
  EXPECT_EQ(count(c, "if ("), 3u);  // first columns, first rows
  // Four tiles side by side, unrolled: zeros, products, stores.
  for (const char* command :
       {"EXO_GEMMINI(14, 0,", "EXO_GEMMINI(6, ", "EXO_GEMMINI(4, ", "EXO_GEMMINI(3, &C"})
    EXPECT_EQ(count(c, command), 4u) << command;
}

TEST(ReferenceSchedules, conv3x3_keeps_a_tile_of_five_pixels_by_four_vectors) {
  const std::string c = Applied("sconv3x3_avx512").c();
  EXPECT_EQ(count(c, "_mm512_fmadd_ps"), 4 * 20u);  // four input channels a round
  EXPECT_EQ(count(c, "_mm512_set1_ps"), 4 * 5u);
  EXPECT_EQ(count(c, "exo512_stream_ps(&out"), 20u);
  EXPECT_EQ(count(c, "_mm512_loadu_ps(&weights"), 4 * 4u);
}

TEST(ReferenceSchedules, sgemm_keeps_a_tile_of_six_by_four_vectors) {
  const std::string c = Applied("sgemm_avx512").c();
  EXPECT_GE(count(c, "_mm512_fmadd_ps"), 24u);
  EXPECT_NE(c.find("exo512_prefix16"), std::string::npos);  // boundaries are masked
}

// Another solver's word on all that a schedule rests on: every question that was not decided by
// syntax, from the first step to the C.
TEST(Proofs, of_sgemm_are_confirmed_by_cvc5) {
  if (find_program("cvc5").empty())
    GTEST_SKIP() << "cvc5 is not installed (Debian package cvc5): the proofs are not checked again";
  const fs::path folder =
      fs::path(testing::TempDir()) / ("exotune_proofs_" + std::to_string(getpid()));
  fs::remove_all(folder);
  set_proofs_directory(folder.string());
  const std::string c = Applied("sgemm_avx512").c();
  set_proofs_directory("");
  ASSERT_FALSE(c.empty());

  std::vector<std::string> ours;
  const fs::path script = folder / "all.smt2";
  {
    std::ofstream all(script);
    all << "(set-logic QF_LIA)\n";
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path() == script) continue;
      all << "(push 1)\n";
      std::istringstream text(read(entry.path()));
      for (std::string line; std::getline(text, line);) {
        if (line.rfind("(set-info :status ", 0) == 0)
          ours.push_back(line.substr(18, line.size() - 19));
        else if (line.rfind("(set-logic", 0) != 0)
          all << line << '\n';
      }
      all << "(pop 1)\n";
    }
  }
  ASSERT_GT(ours.size(), 100u);
  CommandOptions options;
  options.timeout_seconds = 300;
  const CommandResult result =
      run_command({"cvc5", "--incremental", "--tlimit-per=1000", script.string()}, options);
  std::istringstream theirs(result.out);
  size_t agree = 0, undecided = 0, unknown_to_us = 0, answers = 0;
  for (std::string answer; answers < ours.size() && std::getline(theirs, answer); ++answers) {
    if (answer != "sat" && answer != "unsat") {
      ++undecided;
    } else if (ours[answers] == "unknown") {
      ++unknown_to_us;  // a refusal: nothing rests on it
    } else {
      EXPECT_EQ(answer, ours[answers]) << "question " << answers << " of " << script;
      agree += answer == ours[answers];
    }
  }
  std::cout << ours.size() << " questions: cvc5 agrees on " << agree << ", leaves " << undecided
            << " undecided; " << unknown_to_us << " were unknown to us\n";
  EXPECT_EQ(answers, ours.size()) << result.err;
  if (!HasFailure()) fs::remove_all(folder);
}

}  // namespace
}  // namespace exotune
