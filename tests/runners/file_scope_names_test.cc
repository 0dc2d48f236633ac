#include "runners/file_scope_names.h"

#include <gtest/gtest.h>

namespace exotune {
namespace {

using Names = std::vector<std::string>;

TEST(FileScopeNames, finds_functions_with_a_body_only) {
  EXPECT_EQ(file_scope_names("float expf(float);\nstatic inline int f(int x) { return g(x); }\n"
                             "__attribute__((noinline)) void k(int64_t n, float* y) { f(1); }"),
            (Names{"f", "k"}));
}

TEST(FileScopeNames, finds_variables_but_not_extern_ones) {
  EXPECT_EQ(
      file_scope_names("static const float table[3] = {1, 2, 3};\nint a, b = 2;\nextern int c;\n"
                       "static _Thread_local struct { char* at; } arena;"),
      (Names{"table", "a", "b", "arena"}));
}

TEST(FileScopeNames, finds_typedefs_and_tags) {
  EXPECT_EQ(file_scope_names("typedef struct { int x; } Context;\nstruct pair { int a, b; };\n"
                             "struct pair make(void) { struct pair p = {1, 2}; return p; }"),
            (Names{"Context", "pair", "make"}));
}

TEST(FileScopeNames, leaves_guarded_definitions_shared) {
  EXPECT_EQ(
      file_scope_names("#ifndef K_H\n#define K_H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                       "#ifndef EXO_WIN\n#define EXO_WIN\nstruct win { int* data; };\n#endif\n"
                       "typedef int mine;\nvoid k(void);\n"
                       "#ifdef __cplusplus\n}\n#endif\n#endif\n"),
      (Names{"mine"}));
}

TEST(FileScopeNames, comments_strings_and_macros_are_no_code) {
  EXPECT_EQ(file_scope_names("// int a;\n/* int b; */\n#define C(x) \\\n  int x() {}\n"
                             "const char* d = \"int e() {\";\nvoid f(void) { int g = '{'; }"),
            (Names{"d", "f"}));
}

TEST(FileScopeNames, unfinished_text_ends) {
  for (const char* text :
       {"int f(", "void f() { {", "/* ", "\"abc", "#define", "struct", "#endif\n}})"})
    file_scope_names(text);
  EXPECT_EQ(file_scope_names("}}) int a;"), (Names{"a"}));
}

TEST(HeaderGuard, is_the_first_ifndef_when_defined_at_once) {
  EXPECT_EQ(header_guard("// text\n#ifndef A_H\n#define A_H\n#endif"), "A_H");
  EXPECT_EQ(header_guard("#include <x.h>\n#ifndef A_H\n#define A_H\n#endif"), "");
  EXPECT_EQ(header_guard(""), "");
}

}  // namespace
}  // namespace exotune
