# The two ways a folder declares what it builds. Everything else about targets lives here once.
#
#   exotune_library(NAME [SOURCES file.cc...] [PUBLIC dep...] [PRIVATE dep...])
#   exotune_test(NAME SOURCES file.cc... DEPS dep...)       one gtest program, one CTest entry

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
find_program(EXOTUNE_CCACHE ccache)
if(EXOTUNE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${EXOTUNE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${EXOTUNE_CCACHE})
endif()
find_program(EXOTUNE_MOLD mold)
if(EXOTUNE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# The standard headers that most files include, parsed once for all libraries of one optimization
# level: a piece of files takes two seconds less. For builds from nothing by gcc; daily work is served
# better by ccache, which sees through changes.
option(EXOTUNE_PCH "Precompile the standard headers that most files include" OFF)
set(exotune_pch_headers <algorithm> <array> <charconv> <cmath> <cstdint> <cstring> <functional> <map>
  <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <unordered_map> <variant>
  <vector>)

# The first library of a level makes it, the others take it over. gcc 12 breaks down where the level
# is another than the header's.
function(exotune_precompile target level)
  if(NOT EXOTUNE_PCH OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_property(maker GLOBAL PROPERTY exotune_pch${level})
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE ${exotune_pch_headers})
    set_property(GLOBAL PROPERTY exotune_pch${level} ${target})
  endif()
endfunction()

# The files of a library in a few pieces: headers are read and templates made once a piece, a third
# of the work from nothing. For builds from nothing only: a change compiles its whole piece again.
# Files of one library therefore give a name in a namespace without a name to one thing only.
option(EXOTUNE_UNITY "Compile the files of a library together" OFF)
set(exotune_files_of_a_piece 128)
function(exotune_in_pieces target)
  if(EXOTUNE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
      UNITY_BUILD_BATCH_SIZE ${exotune_files_of_a_piece})
    # A type of an unnamed namespace in a file that is a part of a piece is no type of a header.
    # gcc collects its garbage before the heap is large: a seventh of the time of such a piece, where
    # a third more memory (a gigabyte and a half for the largest) does without.
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=1000000>")
  endif()
endfunction()

# exotune_embed(FUNCTION out.cc file...): out.cc defines exotune::FUNCTION(name), the text of the file
# of that name, so that a file stays a file and the program carries it. Null for any other name.
# exotune::FUNCTION_files() are the names, in the order given.
function(exotune_embed function out)
  set(text "// Made by exotune_embed.\n#include <string>\n#include <vector>\nnamespace exotune {\n")
  set(names "")
  string(APPEND text "const char* ${function}(const std::string& file);\n"
         "const char* ${function}(const std::string& file) {\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    string(APPEND names "\"${name}\", ")
    file(READ ${file} content)
    string(APPEND text "  if (file == \"${name}\")\n    return R\"embedded(${content})embedded\";\n")
  endforeach()
  string(APPEND text "  return nullptr;\n}\nstd::vector<std::string> ${function}_files();\n"
         "std::vector<std::string> ${function}_files() { return {${names}}; }\n"
         "}  // namespace exotune\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
endfunction()

# exotune_included(VARIABLE header folder): the headers of `folder` that `header` includes, in its
# order and as full paths: a list that is kept in one place.
function(exotune_included variable header folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^#include \"${folder}/")
  set(found "")
  foreach(line ${lines})
    string(REGEX REPLACE "^#include \"(.*)\".*" "${PROJECT_SOURCE_DIR}/\\1" path "${line}")
    list(APPEND found ${path})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# What the release build makes of a library. A first build takes longer than most searches, so little
# is -O2: the interpreter, which recomputes whole problems, the simulator, and e-graphs, whose time is
# held against another library's. Where a search spends its own time: -O1, two thirds of -O2's time to
# compile for an eighth more time of a search. All the others: -Og, three quarters of -O1's time. Never
# -O0: a template that two libraries use is linked from the first that has it.
set(exotune_hot_libraries interp sim eqsat)
set(exotune_warm_libraries ir cursor analysis cost dp)
function(exotune_optimization target name)
  if(name IN_LIST exotune_hot_libraries)
    return()  # one of them is in the first build: it would wait longer for a header than without
  endif()
  set(level -Og)
  if(name IN_LIST exotune_warm_libraries)
    set(level -O1)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  exotune_precompile(${target} ${level})
endfunction()

# A warning is an error where everything is built and nobody reads what scrolls by.
option(EXOTUNE_WERROR "Fail on warnings" OFF)
function(exotune_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
    $<$<BOOL:${EXOTUNE_WERROR}>:-Werror>)
endfunction()

function(exotune_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(exotune_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(exotune_${name} PRIVATE ${ARG_PRIVATE})
    exotune_warnings(exotune_${name})
    exotune_in_pieces(exotune_${name})
    exotune_optimization(exotune_${name} ${name})
  else()  # headers only
    set(scope INTERFACE)
    add_library(exotune_${name} INTERFACE)
  endif()
  add_library(exotune::${name} ALIAS exotune_${name})
  set_target_properties(exotune_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(exotune_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/exotune>)
  target_compile_features(exotune_${name} ${scope} cxx_std_20)
  target_link_libraries(exotune_${name} ${scope} ${ARG_PUBLIC})
  set_property(GLOBAL APPEND PROPERTY EXOTUNE_LIBRARIES exotune_${name})
endfunction()

# GoogleTest and the standard headers take most of the time of a test's file: parsed once for all of
# them, which are -Og, they leave less than half of it.
function(exotune_precompile_tests target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -Og)
  get_property(maker GLOBAL PROPERTY exotune_pch_tests)
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE ${exotune_pch_headers} <filesystem> <fstream>
      <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY exotune_pch_tests ${target})
  endif()
endfunction()

function(exotune_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(test_${name} ${ARG_SOURCES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(test_${name} PRIVATE EXOTUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    EXOTUNE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  exotune_warnings(test_${name})
  target_compile_options(test_${name} PRIVATE -Wno-shadow)  # GoogleTest's macros name a parameter twice
  exotune_precompile_tests(test_${name})
  add_test(NAME ${name} COMMAND test_${name})
endfunction()
