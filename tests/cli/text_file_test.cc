#include "cli/text_file.h"

#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

class TextFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "exotune_text_file";
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(TextFile, is_published_whole_and_leaves_nothing_else) {
  write_text_file(folder_ / "a" / "b.txt", "one\n");
  write_text_file(folder_ / "a" / "b.txt", "two\n");
  EXPECT_EQ(read_text_file(folder_ / "a" / "b.txt"), "two\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "a"), fs::directory_iterator()), 1);
}

TEST_F(TextFile, a_missing_one_names_the_nearest_beside_it) {
  write_text_file(folder_ / "sgemm.exo", "");
  try {
    read_text_file(folder_ / "sgem.exo");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("sgemm.exo'?"), std::string::npos) << error.what();
  }
}

TEST_F(TextFile, a_folder_is_no_file) {
  fs::create_directories(folder_);
  EXPECT_THROW(read_text_file(folder_), InputError);
}

TEST_F(TextFile, a_place_that_cannot_be_written_is_an_input_error) {
  write_text_file(folder_ / "file", "");
  EXPECT_THROW(write_text_file(folder_ / "file" / "below", ""), InputError);
  EXPECT_THROW(write_text_file("/proc/exotune/x", ""), InputError);
  EXPECT_THROW(require_writable_folder("/proc/exotune"), InputError);
}

}  // namespace
}  // namespace exotune::cli
