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
  const std::vector<std::string> names = {"amd-25-17", "amd-26-2", "intel-6-143", "intel-6-207"};
  EXPECT_EQ(nearest_machine("amd-25-17", names), "amd-25-17");
  EXPECT_EQ(nearest_machine("amd-25-97", names), "amd-25-17");
  EXPECT_EQ(nearest_machine("amd-27-1", names), "amd-26-2");
  EXPECT_EQ(nearest_machine("intel-6-190", names), "intel-6-207");
  EXPECT_EQ(nearest_machine("amd_zen9", {"intel-6-143", "amd_zen3"}), "amd_zen3");
  EXPECT_EQ(nearest_machine("x", {}), "");
}

TEST(Wisdom, a_folder_for_the_target_goes_before_machines) {
  const Folder folder;
  folder.write("amd-25-17/avx2/dscal.sched", "p = p\n");
  folder.write("intel-6-207/avx512/dscal.sched", "p = p\n");
  const FoundWisdom nearest = find_wisdom(folder.path(), "avx2", "intel-6-207");
  EXPECT_EQ(nearest.machine, "amd-25-17") << "the only one that has this target";
  EXPECT_EQ(nearest.schedules.count("dscal"), 1u);
  EXPECT_TRUE(find_wisdom(folder.path(), "neon", "amd-25-17").schedules.empty());
  folder.write("avx2/sscal.sched", "p = p\n");
  const FoundWisdom found = find_wisdom(folder.path(), "avx2", "amd-25-17");
  EXPECT_EQ(found.machine, "");
  EXPECT_EQ(found.schedules.count("sscal"), 1u);
}

TEST(Wisdom, sizes_replace_those_of_the_family) {
  const Folder folder;
  folder.write("avx2/sizes.toml", "[blas3]\ndepth = 256\n[other]\nx = 1\n");
  Family family;
  family.name = "blas3";
  family.sizes = {{"depth", "384"}, {"width", "2048"}};
  const FoundWisdom found = find_wisdom(folder.path(), "avx2", "");
  const Substitution sizes = with_sizes(family, found).sizes;
  EXPECT_EQ(sizes.at("depth"), "256");
  EXPECT_EQ(sizes.at("width"), "2048");
  family.sizes = {{"height", "240"}};
  EXPECT_THROW(with_sizes(family, found), Error);
}

}  // namespace
}  // namespace exotune::families
