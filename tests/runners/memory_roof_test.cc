#include "runners/memory_roof.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "runners/work_directory.h"

namespace exotune {
namespace {

// One call of the roof; its sum is of what was read, or of nothing.
double call(const Roof& roof) {
  void* library = dlopen(roof.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* run =
      library ? reinterpret_cast<double (*)(int64_t, double)>(dlsym(library, "roof")) : nullptr;
  if (run == nullptr) return -1;
  const double sum = run(roof.steps, 1.5);
  dlclose(library);
  return sum;
}

TEST(MemoryRoof, moves_about_as_many_bytes_as_it_is_asked_to) {
  const WorkDirectory directory("");
  for (const Traffic& t : {Traffic{1e6, 0, 0}, Traffic{0, 4e5, 0}, Traffic{0, 0, 3e6},
                           Traffic{2e6, 1e6, 5e5}, Traffic{1e5, 1e6, 0}}) {
    const Roof roof = make_memory_roof(plain_toolchain(), t, directory.path());
    EXPECT_TRUE(roof.of_memory);
    EXPECT_NEAR(roof.work / t.moved(), 1, 0.07) << t.read << " " << t.written << " " << t.updated;
    EXPECT_GE(call(roof), 0);
  }
}

TEST(MemoryRoof, of_arrays_that_are_small_beside_others_is_that_of_the_others) {
  const WorkDirectory directory("");
  const Roof roof = make_memory_roof(plain_toolchain(), {1e6, 64, 0}, directory.path());
  EXPECT_NEAR(roof.work, 1e6, 1e3);
}

TEST(MemoryRoof, stands_for_arrays_larger_than_any_cache) {
  const WorkDirectory directory("");
  const Roof roof = make_memory_roof(plain_toolchain(), {4e9, 0, 0}, directory.path());
  EXPECT_LT(roof.work, 4e8);
  EXPECT_GT(roof.work, 1e8);
}

TEST(MemoryRoof, of_nothing_is_none) {
  const WorkDirectory directory("");
  EXPECT_EQ(make_memory_roof(plain_toolchain(), {}, directory.path()).work, 0);
}

TEST(MemoryRoof, what_the_cpu_lacks_is_unavailable) {
  const WorkDirectory directory("");
  TargetToolchain foreign = plain_toolchain();
  foreign.lacking = {"wide"};
  EXPECT_THROW(make_memory_roof(foreign, {1e6, 0, 0}, directory.path()), Error);
}

}  // namespace
}  // namespace exotune
