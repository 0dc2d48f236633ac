#pragma once
// The layer rules as data and a checker over file texts. A folder may include itself and what lies
// below it; cost, runners and db are siblings and include none of each other; the five folders in
// the middle of core may use one another as long as no cycle arises.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace exotune {

struct SourceText {
  std::string path;  // relative to the source tree: "core/ir/proc.h" or "db/CMakeLists.txt"
  std::string text;
};

/// The layered folder that holds `path` ("core/ir", "db", ...), or "" when none does.
std::string layer_folder(std::string_view path);

/// The folders that `source` depends on: its #include lines, or for a CMakeLists.txt the exotune::
/// targets it names. Pairs of folder and line number; its own folder is left out.
std::vector<std::pair<std::string, int>> layer_dependencies(const SourceText& source);

/// One line "path:line: from -> to: reason" for each dependency that points upwards or to a
/// sibling, and one "cycle: through FOLDER" for each folder that can reach itself.
std::vector<std::string> layer_violations(const std::vector<SourceText>& sources);

/// One line for each type that two headers define under one name in one namespace: the linker would
/// silently mix them up.
std::vector<std::string> doubly_defined_types(const std::vector<SourceText>& sources);

}  // namespace exotune
