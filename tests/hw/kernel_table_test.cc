#include "hw/kernel_table.h"

#include <gtest/gtest.h>

#include <fstream>

namespace exotune {
namespace {
namespace fs = std::filesystem;

const fs::path kKernels = fs::path(EXOTUNE_SOURCE_DIR) / "kernels";

std::string refusal(const std::string& toml) {
  char name[] = "/tmp/exotune_kernels_XXXXXX";
  const fs::path folder = mkdtemp(name);
  std::ofstream(folder / "kernels.toml") << toml;
  std::string said = "accepted";
  try {
    load_kernel_table(folder);
  } catch (const InputError& e) {
    said = e.diagnostic().str();
  }
  fs::remove_all(folder);
  return said;
}

constexpr const char* kEntry =
    "[[kernel]]\nname = 'f'\nfile = 'f.exo'\nfamily = 'x'\nprecision = 'f32'\nflops = 'n'\nbytes = "
    "'8*n'\n";

TEST(KernelTable, every_kernel_is_in_its_file) {
  const KernelTable table = load_kernel_table(kKernels);
  for (const KernelEntry& k : table.kernels()) {
    const ProcPtr p = k.load();
    EXPECT_EQ(p->name, k.proc);
    EXPECT_FALSE(k.summary.empty()) << k.name;
  }
}

TEST(KernelTable, sizes_bind_exactly_the_control_arguments) {
  const KernelTable table = load_kernel_table(kKernels);
  for (const KernelEntry& k : table.kernels()) {
    const ProcPtr p = k.load();
    std::vector<std::string> control;
    for (const Arg& a : p->args)
      if (is_control(a.type.scalar)) control.push_back(a.name.name());
    std::sort(control.begin(), control.end());
    for (const SizeBinding& sizes : k.sizes) {
      std::vector<std::string> bound;
      for (const auto& [name, value] : sizes) bound.push_back(name);
      EXPECT_EQ(bound, control) << k.name;
      EXPECT_GE(k.flops.evaluate(sizes), 0) << k.name;
      EXPECT_GT(k.bytes.evaluate(sizes), 0) << k.name;
    }
  }
}

TEST(KernelTable, every_proc_of_the_folder_is_in_the_table) {
  const KernelTable table = load_kernel_table(kKernels);
  for (const auto& entry : fs::directory_iterator(kKernels)) {
    if (entry.path().extension() != ".exo") continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const ProcPtr& p : parse_module(text, entry.path().string()).user_procs())
      EXPECT_NE(table.find(p->name), nullptr) << p->name;
  }
}

TEST(KernelTable, a_peer_names_arguments_that_the_proc_has) {
  const KernelTable table = load_kernel_table(kKernels);
  for (const KernelEntry& k : table.kernels()) {
    const ProcPtr p = k.load();
    const auto has = [&](const std::string& name) {
      return std::any_of(p->args.begin(), p->args.end(),
                         [&](const Arg& a) { return a.name.name() == name; });
    };
    for (const auto& [role, name] : k.peer.arguments)
      EXPECT_TRUE(has(name)) << k.name << " " << name;
    for (const auto* values : {&k.peer.sizes, &k.peer.factors})
      for (const auto& [role, value] : *values)
        EXPECT_TRUE(has(value) || std::isdigit(static_cast<unsigned char>(value[0])))
            << k.name << " " << value;
  }
}

TEST(KernelTable, families_hold_their_kernels_in_order) {
  const KernelTable table = load_kernel_table(kKernels);
  size_t total = 0;
  for (const std::string& family : table.families()) total += table.of_family(family).size();
  EXPECT_EQ(total, table.kernels().size());
  EXPECT_TRUE(table.of_family("none").empty());
}

TEST(KernelTable, an_unknown_kernel_names_the_nearest) {
  try {
    load_kernel_table(kKernels).at("sgem");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(e.diagnostic().str().find("did you mean 'sgemm'?"), std::string::npos);
  }
}

TEST(KernelTable, a_list_of_sizes_is_written_in_place_or_named) {
  EXPECT_EQ(refusal(std::string("[sizes]\nv = [{ n = 4 }]\n") + kEntry + "sizes = 'v'\n"),
            "accepted");
  EXPECT_EQ(refusal(std::string(kEntry) + "sizes = [{ n = 4 }]\n"), "accepted");
  EXPECT_NE(refusal(std::string("[sizes]\nvec = [{ n = 4 }]\n") + kEntry + "sizes = 'ved'\n")
                .find("did you mean 'vec'?"),
            std::string::npos);
}

TEST(KernelTable, refuses_a_size_that_a_formula_lacks) {
  EXPECT_NE(
      refusal(std::string(kEntry) + "sizes = [{ m = 4 }]\n").find("the size 'n' of 'n' is missing"),
      std::string::npos);
}

TEST(KernelTable, refuses_sizes_below_one) {
  EXPECT_NE(refusal(std::string(kEntry) + "sizes = [{ n = 0 }]\n")
                .find(":8:16: error: a size must be positive"),
            std::string::npos);
}

TEST(KernelTable, refuses_a_kernel_without_sizes) {
  EXPECT_NE(refusal(kEntry).find("kernel 'f' has no sizes"), std::string::npos);
}

TEST(KernelTable, refuses_a_name_twice) {
  const std::string one = std::string(kEntry) + "sizes = [{ n = 4 }]\n";
  EXPECT_NE(refusal(one + one).find("kernel 'f' is already at"), std::string::npos);
}

}  // namespace
}  // namespace exotune
