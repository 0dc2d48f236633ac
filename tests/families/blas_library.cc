#include "tests/families/blas_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/base/subprocess.h"
#include "tests/cli/command_harness.h"
#include "tests/hw/substitute.h"
#include "tests/runners/shipped_targets.h"

namespace exotune::families {

BlasLibrary::BlasLibrary(std::string target, std::filesystem::path folder)
    : target_(std::move(target)), folder_(std::move(folder)) {
  handle_ = dlopen((folder_ / "lib/libexo-blas.so.0").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    std::cerr << dlerror() << "\n";
    std::abort();
  }
}

void* BlasLibrary::address(const std::string& name) const {
  void* found = dlsym(handle_, name.c_str());
  if (found == nullptr) {
    std::cerr << "the library for " << target_ << " has no " << name << "\n";
    std::abort();
  }
  return found;
}

namespace {

// What `make` is told so that the library for a target that this machine is not runs here.
std::vector<std::string> in_other_words(std::vector<std::string> settings, const Substitute& s) {
  std::string flags = "FLAGS_" + s.target + "=";
  for (const std::string& flag : s.flags) flags += flag + " ";
  settings.push_back(flags);
  settings.push_back("CC=cc '-D__builtin_cpu_supports(feature)=1'");
  return settings;
}

}  // namespace

const std::vector<BlasLibrary>& blas_libraries() {
  static const cli::CommandHarness harness("families");
  static const std::vector<BlasLibrary> libraries = [] {
    std::vector<BlasLibrary> built;
    const auto build = [&](const std::string& target, const std::vector<std::string>& settings) {
      const CommandResult written =
          harness.run({"family", "all", "--target", target, "-o", target, "-q", "--sources"});
      EXPECT_EQ(written.exit_status, 0) << written.err;
      // What is tested is the text, and that bodies hold to what kernels assert: compilers need a
      // fifth of the time for it at -O0.
      CommandOptions options;
      options.timeout_seconds = 600;
      const std::filesystem::path folder = harness.folder() / target;
      std::vector<std::string> command = {"make", "-j2", "-C", (folder / "src").string()};
      command.insert(command.end(), settings.begin(), settings.end());
      const CommandResult compiled = run_command(command, options);
      EXPECT_TRUE(compiled.ok()) << compiled.out << compiled.err;
      if (compiled.ok()) built.emplace_back(target, folder);
    };
    // One runs on three threads whatever is worth two rows, goes by pieces so small that the tests'
    // matrices have several, a tile by two strips before the next one does, and takes streams of
    // what is no longer than their vectors; the other is built without threads.
    setenv("OMP_NUM_THREADS", "3", 1);
    if (samples::runs_here("avx2"))
      build("avx2", {"CFLAGS=-O0 -DEXO_CHECKED -DEXO_LEAST_PRODUCT=100 -DEXO_LEAST_MATRIX=80 "
                     "-DEXO_PARTED=15 -DEXO_IN_LINES_FROM=300 -DEXO_IN_LINES_TO=5000 "
                     "-DEXO_STREAMS=10000 -DEXO_DEPTH=72 -DEXO_WIDTH=96 -DEXO_HEIGHT=36 "
                     "-DEXO_NEAR=2 -DEXO_NEAR_LEAST=20"});
    const std::vector<std::string> unthreaded = {
        "OPENMP=", "CFLAGS=-O0 -DEXO_CHECKED -DEXO_IN_LINES_FROM=300 -DEXO_IN_LINES_TO=5000"};
    if (samples::runs_here("avx512")) {
      build("avx512", unthreaded);
    } else if (samples::runs_here("avx2")) {
      for (const Substitute& s : substitutes())
        if (s.target == "avx512") build(s.target, in_other_words(unthreaded, s));
    }
    return built;
  }();
  return libraries;
}

}  // namespace exotune::families
