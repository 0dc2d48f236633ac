#pragma once
// The text files around a library's C: header, dispatch by CPU, symbol versions, Makefile,
// pkg-config, CMake package. Each function returns the text of one file.
#include <string>
#include <vector>

#include "hw/target.h"
#include "search/families/entries.h"

namespace exotune::families {

struct PackageFacts {
  std::string name = "exo-blas";
  std::string version;                          // "0.1.0"; the soname has its first number
  std::vector<Entry> entries;                   // of all families
  std::vector<TargetPtr> targets;               // in order of preference
  std::vector<std::string> compilers;           // of each target: program
  std::vector<std::vector<std::string>> stems;  // of each target: units, by stem
};

/// `text` is kernels/families/cblas.h.
std::string cblas_header(const PackageFacts& facts, const std::string& text);
/// Says at load time that no target fits this CPU; of several targets picks the first that does, by
/// an ifunc for each entry point.
std::string dispatch_source(const PackageFacts& facts);
std::string version_map(const PackageFacts& facts);
std::string makefile(const PackageFacts& facts);
std::string pkg_config(const PackageFacts& facts);
std::string cmake_package(const PackageFacts& facts);
std::string cmake_package_version(const PackageFacts& facts);

}  // namespace exotune::families
