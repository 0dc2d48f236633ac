#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "core/base/subprocess.h"
#include "core/codegen/c_names.h"
#include "core/ir/c_template.h"
#include "tests/core/codegen/c_library.h"

namespace exotune::codegen {
namespace {

TEST(Names, keep_the_users_spelling_where_c_allows_it) {
  EXPECT_EQ(c_identifier("C_reg"), "C_reg");
  EXPECT_EQ(c_identifier("_"), "_");
  EXPECT_EQ(c_identifier("int"), "int_");
  EXPECT_EQ(c_identifier("class"), "class_");  // the header is C++ too
  EXPECT_EQ(c_identifier("expf"), "expf_");
  EXPECT_EQ(c_identifier("__x"), "v__x");
  EXPECT_EQ(c_identifier("_X"), "v_X");
  EXPECT_EQ(c_identifier("exo_floor_div"), "v_exo_floor_div");
}

// The names that the headers take here: macros of both compilers, functions as gcc declares them.
class LibraryNames : public testing::TestWithParam<const char*> {
 protected:
  LibraryNames() : folder_(make_temporary_directory()) {
    std::ofstream(folder_ + "/headers.c")
        << "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <math.h>\n"
           "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n";
  }
  ~LibraryNames() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> found(const std::string& text, const std::string& pattern) {
    std::vector<std::string> names;
    const std::regex name(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
      names.push_back((*at)[1]);
    return names;
  }

  std::string folder_;
};

TEST_P(LibraryNames, of_macros_are_no_names_of_ours) {
  for (const char* compiler : {"gcc", "clang"}) {
    const CommandResult r = run_command(
        {compiler, std::string("-std=") + GetParam(), "-dM", "-E", folder_ + "/headers.c"});
    ASSERT_TRUE(r.ok()) << r.err;
    const std::vector<std::string> macros = found(r.out, "#define (\\w+)");
    EXPECT_GT(macros.size(), 400u);
    for (const std::string& m : macros) EXPECT_NE(c_identifier(m), m) << compiler;
  }
}

TEST_P(LibraryNames, of_functions_are_no_functions_of_ours) {
  const CommandResult r =
      run_command({"gcc", std::string("-std=") + GetParam(), "-aux-info", folder_ + "/functions",
                   "-fsyntax-only", folder_ + "/headers.c"});
  ASSERT_TRUE(r.ok()) << r.err;
  std::ifstream in(folder_ + "/functions");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::vector<std::string> functions = found(text, "extern [^(]*?\\b(\\w+) \\(");
  EXPECT_GT(functions.size(), 200u);
  for (const std::string& f : functions) EXPECT_NE(c_function_name(f), f);
}

INSTANTIATE_TEST_SUITE_P(Standard, LibraryNames, testing::Values("c11", "gnu11", "gnu17"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Names, of_library_functions_may_be_local_ones) {
  EXPECT_EQ(c_identifier("gamma"), "gamma");
  EXPECT_EQ(c_function_name("gamma"), "gamma_");
  EXPECT_EQ(c_function_name("isalpha"), "isalpha_");
  EXPECT_EQ(c_function_name("size_t"), "size_t_");
  EXPECT_EQ(c_identifier("_mm512_add_ps"), "v_mm512_add_ps");
  EXPECT_EQ(c_identifier("B_MAX"), "B_MAX_");  // limits.h has as many as there are types
  EXPECT_EQ(c_identifier("M_r"), "M_r");
}

TEST(Names, siblings_share_and_nothing_shadows) {
  const std::set<std::string> functions = {"kernel"};
  NameScopes names(functions);
  const Sym a = Sym::fresh("i"), b = Sym::fresh("i"), c = Sym::fresh("i"), k = Sym::fresh("kernel");
  names.push();
  EXPECT_EQ(names.bind(a), "i");
  names.push();
  EXPECT_EQ(names.bind(b), "i_1");
  names.pop();
  names.pop();
  names.push();
  EXPECT_EQ(names.bind(c), "i");
  EXPECT_EQ(names.bind(k), "kernel_1");
  names.pop();
}

std::string filled(const std::string& text) {
  return expand_template(text, [](const std::string& hole, bool enclosed) {
    return enclosed ? "<" + hole + ">" : "(<" + hole + ">)";
  });
}

TEST(Templates, holes_between_delimiters_need_no_parentheses) {
  EXPECT_EQ(filled("f({a}, {b.strides[1]} * 2, &{c_data});"),
            "f(<a>, (<b.strides[1]>) * 2, &(<c_data>));");
  EXPECT_EQ(filled("x[{i}] = (int){n};"), "x[<i>] = (int)(<n>);");
}

TEST(Templates, other_braces_are_text) {
  EXPECT_EQ(filled("{ x; } {{a}} {{}} {{1}}"), "{ x; } {a} {} {1}");
  EXPECT_EQ(brace_fault("do { f({a}); } while (0); struct s v = {{0}};"), "");
  EXPECT_EQ(holes_of("{a} { b } {a_data}"), (std::vector<std::string>{"a", "a_data"}));
}

TEST(Templates, braces_that_are_no_holes_are_faults) {
  EXPECT_EQ(brace_fault("f({0});"), "`{0}` is no hole");
  EXPECT_EQ(brace_fault("f({dst!r});"), "`{dst!r}` is no hole");
  EXPECT_EQ(brace_fault("f({});"), "`{}` is no hole");
  EXPECT_EQ(brace_fault("{{x}} f({dst_data"), "`{dst_data` is no hole");
  EXPECT_EQ(subscripted_hole("a.strides[12]")->subscript, 12);
  for (const char* hole : {"a.strides[", "a.strides[]", "a.strides[x]", "a.strides[0", "a]",
                           "a.strides[99999999999999999999]", "a.strides[0]x"})
    EXPECT_FALSE(subscripted_hole(hole)) << hole;
}

}  // namespace
}  // namespace exotune::codegen
