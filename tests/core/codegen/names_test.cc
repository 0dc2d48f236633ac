#include "core/codegen/c_names.h"

#include <gtest/gtest.h>

#include "core/codegen/c_template.h"

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

TEST(Names, siblings_share_and_nothing_shadows) {
  NameScopes names({"kernel"});
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
  EXPECT_EQ(filled("f({a}, {b.strides[1]} * 2, &{c_data});"), "f(<a>, (<b.strides[1]>) * 2, &(<c_data>));");
  EXPECT_EQ(filled("x[{i}] = (int){n};"), "x[<i>] = (int)(<n>);");
}

TEST(Templates, other_braces_are_text) {
  EXPECT_EQ(filled("{ x; } {{a}} {} {1}"), "{ x; } {a} {} {1}");
  EXPECT_EQ(holes_of("{a} { b } {a_data}"), (std::vector<std::string>{"a", "a_data"}));
}

}  // namespace
}  // namespace exotune::codegen
