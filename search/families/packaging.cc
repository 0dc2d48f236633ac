#include "search/families/packaging.h"

#include "core/base/words.h"

namespace exotune::families {
namespace {

std::string soversion(const PackageFacts& facts) {
  return facts.version.substr(0, facts.version.find('.'));
}

// As compilers' __builtin_cpu_supports has it.
std::string feature_name(const std::string& feature) { return feature == "fma3" ? "fma" : feature; }

std::string runs_here(const Target& target) {
  std::string text;
  for (const std::string& feature : target.required_features) {
    if (feature == "f16c") continue;  // clang 14 cannot ask for it; CPUs that have AVX2 have it
    text += (text.empty() ? "" : " && ") + std::string("__builtin_cpu_supports(\"") +
            feature_name(feature) + "\")";
  }
  return text.empty() ? "1" : text;
}

std::vector<std::string> symbols(const PackageFacts& facts) {
  std::vector<std::string> all;
  for (const Entry& entry : facts.entries) {
    all.push_back(entry.cblas);
    all.push_back(entry.fortran);
  }
  return all;
}

std::string names_of(const PackageFacts& facts) {
  std::vector<std::string> names;
  for (const TargetPtr& target : facts.targets) names.push_back(target->name);
  return joined(names, ", ");
}

}  // namespace

std::string cblas_header(const PackageFacts& facts, const std::string& text) {
  std::vector<std::string> prototypes;
  for (const Entry& entry : facts.entries) prototypes.push_back(entry.prototype);
  return expand(text, {{"prototypes", joined(prototypes, "\n")}}, {});
}

std::string dispatch_source(const PackageFacts& facts) {
  std::string text =
      "/* Which target's code this CPU runs. */\n#include <stdio.h>\n#include <stdlib.h>\n\n"
      "static int exo_choice(void) {\n  __builtin_cpu_init();\n";
  for (size_t k = 0; k < facts.targets.size(); ++k)
    text += "  if (" + runs_here(*facts.targets[k]) + ") return " + std::to_string(k) + ";\n";
  text +=
      "  return -1;\n}\n\n__attribute__((constructor)) static void exo_check_cpu(void) {\n"
      "  if (exo_choice() >= 0) return;\n  fputs(\"lib" +
      facts.name + ": this CPU runs none of: " + names_of(facts) +
      "\\n\", stderr);\n  abort();\n}\n";
  if (facts.targets.size() == 1) return text;
  const std::string last = facts.targets.back()->name;
  std::string picks = "(", declarations;
  for (size_t k = 0; k + 1 < facts.targets.size(); ++k)
    picks += "choice == " + std::to_string(k) + " ? exo_" + facts.targets[k]->name + "_##symbol : ";
  for (const TargetPtr& target : facts.targets)
    declarations += "  extern void exo_" + target->name +
                    "_##symbol(void) __attribute__((visibility(\"hidden\"))); \\\n";
  text += "\ntypedef void exo_function(void);\n#define EXO_PICK(symbol) \\\n" + declarations +
          "  __attribute__((unused)) static exo_function* exo_pick_##symbol(void) { \\\n    const "
          "int choice = "
          "exo_choice(); \\\n"
          "    return " +
          picks + "exo_" + last + "_##symbol); \\\n  } \\\n" +
          "  __attribute__((visibility(\"default\"), ifunc(\"exo_pick_\" #symbol))) void "
          "symbol(void);\n\n";
  for (const std::string& symbol : symbols(facts)) text += "EXO_PICK(" + symbol + ")\n";
  return text;
}

std::string version_map(const PackageFacts& facts) {
  std::string text = "EXO_BLAS_" + soversion(facts) + " {\n  global:\n";
  for (const std::string& symbol : symbols(facts)) text += "    " + symbol + ";\n";
  return text + "    cblas_xerbla;\n    xerbla_;\n    RowMajorStrg;\n  local: *;\n};\n";
}

// The same loop is up to a fifth slower or faster where it begins elsewhere in its lines of code;
// so each begins alike, whatever stands before it: with a line, which holds most loops of a few
// vectors as a whole.
constexpr const char* kAligned = "-falign-functions=64 -falign-loops=64";

std::string makefile(const PackageFacts& facts) {
  const std::string lib = "lib" + facts.name, so = lib + ".so." + soversion(facts);
  std::string text =
      "# Builds ../lib again: make -j\nCC = " + facts.compilers.front() +
      "\nAR = ar\nCFLAGS = -O3\n" +
      "override COMMON = -std=gnu11 -fPIC -fvisibility=hidden -fno-math-errno -fno-signed-zeros "
      "-Wall -Wextra -Werror=implicit-function-declaration "
      "-ffp-contract=fast " +
      kAligned + " -I. -I../include/" + facts.name +
      "\n# Threads of the shared library; make OPENMP= does without.\n"
      "OPENMP := $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c - "
      "-o /dev/null 2>/dev/null && echo -fopenmp)\n";
  std::vector<std::string> objects = {"dispatch.o", "workspace.o", "xerbla.o"};
  std::string rules;
  for (size_t k = 0; k < facts.targets.size(); ++k) {
    const std::string& target = facts.targets[k]->name;
    text += "CC_" + target + " = " + facts.compilers[k] + "\nFLAGS_" + target + " = " +
            joined(facts.targets[k]->compiler.flags, " ") + "\n";
    for (const std::string& stem : facts.stems[k]) {
      objects.push_back(stem + ".o");
      rules += stem + ".o: " + stem + "_entries.c " + stem + ".c\n\t$(CC_" + target +
               ") $(COMMON) $(FLAGS_" + target + ") $(CFLAGS) -c " + stem + "_entries.c -o $@\n";
    }
  }
  text += "OBJECTS = " + joined(objects, " ") + "\n\nall: ../lib/" + so + " ../lib/" + lib +
          ".a\n../lib/" + so + ": $(OBJECTS) threads.o " + facts.name +
          ".map\n\t$(CC) -shared $(OPENMP) -Wl,-soname," + so +
          " -Wl,--version-script=" + facts.name +
          ".map -Wl,-z,relro -Wl,-z,defs -o $@ $(OBJECTS) threads.o -lm -pthread\n\tln -sf " + so +
          " ../lib/" + lib + ".so\n../lib/" + lib +
          ".a: $(OBJECTS) no_threads.o\n\trm -f $@\n\t$(AR) rcs $@ $(OBJECTS) no_threads.o\n" +
          "threads.o: threads.c\n\t$(CC) $(COMMON) -O2 $(OPENMP) -c $< -o $@\n" +
          "no_threads.o: threads.c\n\t$(CC) $(COMMON) -O2 -c $< -o $@\n" +
          "dispatch.o: dispatch.c\n\t$(CC) $(COMMON) -O2 -c $< -o $@\n" +
          "workspace.o: workspace.c\n\t$(CC) $(COMMON) -O2 -c $< -o $@\n" +
          "xerbla.o: xerbla.c\n\t$(CC) $(COMMON) -O2 -c $< -o $@\n" + rules +
          "clean:\n\trm -f $(OBJECTS) threads.o no_threads.o\n.PHONY: all clean\n";
  return text;
}

std::string pkg_config(const PackageFacts& facts) {
  return "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\nincludedir=${prefix}/include/" +
         facts.name + "\n\nName: " + facts.name +
         "\nDescription: BLAS routines whose kernels are proved (" + names_of(facts) +
         ")\nVersion: " + facts.version + "\nLibs: -L${libdir} -l" + facts.name +
         "\nLibs.private: -lm -pthread\nCflags: -I${includedir}\n";
}

std::string cmake_package(const PackageFacts& facts) {
  const std::string& name = facts.name;
  std::string text = "# find_package(" + name + ") gives " + name + "::" + name + " and " + name +
                     "::static.\nget_filename_component(_exo_prefix "
                     "\"${CMAKE_CURRENT_LIST_DIR}/../../..\" ABSOLUTE)\n";
  const auto library = [&](const std::string& target, const char* kind, const std::string& file) {
    return "if(NOT TARGET " + name + "::" + target + ")\n  add_library(" + name + "::" + target +
           " " + kind + " IMPORTED)\n  set_target_properties(" + name + "::" + target +
           " PROPERTIES\n    IMPORTED_LOCATION \"${_exo_prefix}/lib/" + file +
           "\"\n    INTERFACE_INCLUDE_DIRECTORIES \"${_exo_prefix}/include/" + name +
           "\"\n    INTERFACE_LINK_LIBRARIES m)\nendif()\n";
  };
  return text + library(name, "SHARED", "lib" + name + ".so." + soversion(facts)) +
         library("static", "STATIC", "lib" + name + ".a");
}

std::string cmake_package_version(const PackageFacts& facts) {
  return "set(PACKAGE_VERSION \"" + facts.version +
         "\")\nif(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n"
         "  set(PACKAGE_VERSION_COMPATIBLE FALSE)\nelse()\n"
         "  set(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
         "  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n"
         "    set(PACKAGE_VERSION_EXACT TRUE)\n  endif()\nendif()\n";
}

}  // namespace exotune::families
