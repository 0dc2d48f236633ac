// The C of tests/golden/*.exo, word for word. EXO_UPDATE_GOLDEN=1 writes the files anew; read the
// difference in review.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/subprocess.h"
#include "core/frontend/parser.h"
#include "tests/core/codegen/c_library.h"

namespace exotune {
namespace {

const std::string kFolder = std::string(EXOTUNE_SOURCE_DIR) + "/tests/golden/";

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

CFile generated(const std::string& name) {
  const Module m = parse_module(read_text(kFolder + name + ".exo"), name + ".exo");
  CodegenOptions options;
  options.stem = name;
  options.comment = "Golden file of the tests.";
  options.build = "cc -O2";
  return generate_c(m.user_procs(), options);
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, text_is_as_reviewed) {
  const CFile file = generated(GetParam());
  for (const auto& [ending, text] :
       {std::pair<std::string, std::string>{".c", file.c}, {".h", file.h}}) {
    const std::string path = kFolder + GetParam() + ending;
    if (const char* update = std::getenv("EXO_UPDATE_GOLDEN"); update && *update == '1')
      std::ofstream(path) << text;
    EXPECT_EQ(read_text(path), text) << "run with EXO_UPDATE_GOLDEN=1 to accept";
  }
}

TEST_P(Golden, compiles_without_a_warning) {
  const CFile file = generated(GetParam());
  const std::string folder = make_temporary_directory();
  std::ofstream(folder + "/" + file.stem + ".c") << file.c;
  std::ofstream(folder + "/" + file.stem + ".h") << file.h;
  std::ofstream(folder + "/use.cc") << "#include \"" + file.stem + ".h\"\nint main() {}\n";
  const std::string source = folder + "/" + file.stem + ".c", object = folder + "/object.o";
  const std::vector<std::string> warnings = {"-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
                                             "-Werror"};
  auto compile = [&](std::vector<std::string> argv) {
    argv.insert(argv.end(), warnings.begin(), warnings.end());
    const CommandResult r = run_command(argv);
    EXPECT_TRUE(r.ok()) << argv[0] << "\n" << r.err;
  };
  compile({"gcc", "-std=c11", "-O2", "-c", source, "-o", object});
  compile({"gcc", "-std=c11", "-O2", "-fopenmp", "-DEXO_CHECKED", "-c", source, "-o", object});
  compile({"clang", "-std=c11", "-O1", "-c", source, "-o", object});
  compile({"g++", "-std=c++17", "-c", folder + "/use.cc", "-o", object});
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(C, Golden,
                         testing::Values("matmul", "control", "precisions", "windows", "scratch",
                                         "config", "vectors", "tiles"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Comments, name_the_reduction_of_a_nest) {
  auto generated_c = [](const std::string& line) {
    const Module m = parse_module(
        "def f(x: f32[4, 8], y: f32):\n    top: f32[4]\n"
        "    for i in seq(0, 4):\n        top[i] = 0.0\n"
        "    for i in seq(0, 4):\n        for j in seq(0, 8):\n"
        "            top[i] " +
            line + "\n    y = top[3]\n",
        "f.exo");
    return generate_c(m.user_procs(), {}).c;
  };
  for (const auto& [line, comment] :
       {std::pair("+= x[i, j]", "/* sums of x in top (4) */"),
        std::pair("max= x[i, j]", "/* the greatest of x in top (4) */"),
        std::pair("min= x[i, j]", "/* the least of x in top (4) */")}) {
    const std::string c = generated_c(line);
    EXPECT_NE(c.find(comment), std::string::npos) << c;
  }
}

}  // namespace
}  // namespace exotune
