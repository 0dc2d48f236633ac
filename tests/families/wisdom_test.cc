// Wisdom is found by target, by machine, by the nearest machine; its sizes replace the family's.
#include "search/families/wisdom.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/diagnostic.h"

namespace exotune::families {
namespace {
namespace fs = std::filesystem;

// A folder of files that is gone with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("wisdom-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Wisdom, the_nearest_machine_shares_the_most_words) {
  const std::vector<NamedMachine> known = {
      {"amd-25-17"}, {"amd-26-2"}, {"intel-6-143"}, {"intel-6-207"}};
  EXPECT_EQ(nearest_machine({"amd-25-17"}, known), "amd-25-17");
  EXPECT_EQ(nearest_machine({"amd-25-97"}, known), "amd-25-17");
  EXPECT_EQ(nearest_machine({"amd-27-1"}, known), "amd-26-2");
  EXPECT_EQ(nearest_machine({"intel-6-190"}, known), "intel-6-207");
  EXPECT_EQ(nearest_machine({"amd_zen9"}, {{"intel-6-143"}, {"amd_zen3"}}), "amd_zen3");
  EXPECT_EQ(nearest_machine({"x"}, {}), "");
}

TEST(Wisdom, names_that_say_nothing_leave_it_to_the_caches) {
  const std::vector<NamedMachine> known = {{"amd-25-17", {32 << 10, 1 << 20}},
                                           {"amd-26-2", {48 << 10, 1 << 20}},
                                           {"amd_zen3", {32 << 10, 512 << 10}}};
  EXPECT_EQ(nearest_machine({"intel-6-143", {48 << 10, 2 << 20}}, known), "amd-26-2");
  EXPECT_EQ(nearest_machine({"intel-6-63", {32 << 10, 256 << 10}}, known), "amd_zen3");
  EXPECT_EQ(nearest_machine({"intel-6-85", {32 << 10, 1 << 20}}, known), "amd-25-17");
  EXPECT_EQ(nearest_machine({"amd-25-17", {48 << 10, 1 << 20}}, known), "amd-25-17")
      << "a name goes before caches";
}

TEST(Wisdom, caches_of_machines_are_read_from_their_sizes) {
  const Folder folder;
  folder.write("amd-25-17/avx2/sizes.toml", "[machine]\nl1 = 32768\nl2 = 1048576\n");
  folder.write("amd-26-2/avx2/sizes.toml", "[machine]\nl1 = 49152\nl2 = 1048576\n");
  const NamedMachine other{"intel-6-143", {48 << 10, 2 << 20}};
  EXPECT_EQ(find_wisdom(folder.path(), "avx2", other).machine, "amd-26-2");
  for (const char* wrong : {"l1 = 0\nl2 = 1\n", "l1 = 32768\n", "l1 = 1\nl2 = 1\nl9 = 1\n"}) {
    folder.write("amd-26-2/avx2/sizes.toml", std::string("[machine]\n") + wrong);
    EXPECT_THROW(find_wisdom(folder.path(), "avx2", other), InputError) << wrong;
  }
}

TEST(Wisdom, a_folder_for_the_target_goes_before_machines) {
  const Folder folder;
  folder.write("amd-25-17/avx2/dscal.sched", "p = p\n");
  folder.write("intel-6-207/avx512/dscal.sched", "p = p\n");
  const FoundWisdom nearest = find_wisdom(folder.path(), "avx2", {"intel-6-207"});
  EXPECT_EQ(nearest.machine, "amd-25-17") << "the only one that has this target";
  EXPECT_EQ(nearest.schedules.count("dscal"), 1u);
  EXPECT_TRUE(find_wisdom(folder.path(), "neon", {"amd-25-17"}).schedules.empty());
  folder.write("avx2/sscal.sched", "p = p\n");
  const FoundWisdom found = find_wisdom(folder.path(), "avx2", {"amd-25-17"});
  EXPECT_EQ(found.machine, "");
  EXPECT_EQ(found.schedules.count("sscal"), 1u);
}

TEST(Wisdom, sizes_replace_those_of_the_family) {
  const Folder folder;
  folder.write("avx2/sizes.toml", "[blas3]\ndepth = 256\n[other]\nx = 1\n");
  Family family;
  family.name = "blas3";
  family.sizes = {{"depth", "384"}, {"width", "2048"}};
  const FoundWisdom found = find_wisdom(folder.path(), "avx2", {});
  const Substitution sizes = with_sizes(family, found).sizes;
  EXPECT_EQ(sizes.at("depth"), "256");
  EXPECT_EQ(sizes.at("width"), "2048");
  family.sizes = {{"height", "240"}};
  EXPECT_THROW(with_sizes(family, found), Error);
}

}  // namespace
}  // namespace exotune::families
