#include "tests/layers/layer_rules.h"

#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace exotune {
namespace {

struct Layer {
  std::string_view folder;
  int rank;  // includes go to a lower rank, or to the same one when `free_within`
  bool free_within;
};

constexpr std::array<Layer, 17> kLayers = {{
    {"core/base", 0, false},
    {"core/ir", 1, false},
    {"core/frontend", 2, true},
    {"core/analysis", 2, true},
    {"core/cursor", 2, true},
    {"core/interp", 2, true},
    {"core/codegen", 2, true},
    {"core/primitives", 3, false},
    {"core/library", 4, false},
    {"hw", 5, false},
    {"cost", 6, false},
    {"runners", 6, false},
    {"db", 6, false},
    {"executors", 6, false},
    {"search", 7, false},
    {"include", 8, true},
    {"cli", 9, false},
}};

const Layer* find_layer(std::string_view folder) {
  for (const Layer& layer : kLayers)
    if (layer.folder == folder) return &layer;
  return nullptr;
}

// "exotune::frontend" names the folder whose last component is "frontend".
std::string folder_of_target(std::string_view target) {
  for (const Layer& layer : kLayers) {
    const size_t slash = layer.folder.rfind('/');
    const std::string_view last =
        slash == std::string_view::npos ? layer.folder : layer.folder.substr(slash + 1);
    if (last == target) return std::string(layer.folder);
  }
  return "";
}

bool reaches(const std::map<std::string, std::set<std::string>>& edges, const std::string& from,
             const std::string& goal, std::set<std::string>& seen) {
  const auto it = edges.find(from);
  if (it == edges.end()) return false;
  for (const std::string& next : it->second) {
    if (next == goal) return true;
    if (seen.insert(next).second && reaches(edges, next, goal, seen)) return true;
  }
  return false;
}

}  // namespace

std::string layer_folder(std::string_view path) {
  for (const Layer& layer : kLayers)
    if (path.size() > layer.folder.size() && path.substr(0, layer.folder.size()) == layer.folder &&
        path[layer.folder.size()] == '/')
      return std::string(layer.folder);
  return "";
}

std::vector<std::pair<std::string, int>> layer_dependencies(const SourceText& source) {
  const std::string own = layer_folder(source.path);
  const bool cmake = source.path.ends_with("CMakeLists.txt");
  std::vector<std::pair<std::string, int>> found;
  std::istringstream lines(source.text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string folder;
    if (cmake) {
      if (const size_t hash = line.find('#'); hash != std::string::npos) line.resize(hash);
      for (const std::string_view prefix : {"exotune::", "exotune_"}) {
        for (size_t at = line.find(prefix); at != std::string::npos;
             at = line.find(prefix, at + 1)) {
          const size_t begin = at + prefix.size();
          size_t end = begin;
          while (end < line.size() &&
                 (isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
            ++end;
          if (end < line.size() && line[end] == '(') continue;  // the function, not a target
          folder = folder_of_target(std::string_view(line).substr(begin, end - begin));
          if (!folder.empty() && folder != own) found.emplace_back(folder, number);
        }
      }
      continue;
    }
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] != '#') continue;
    const size_t word = line.find("include", begin);
    const size_t open = line.find('"', begin);
    const size_t close = open == std::string::npos ? open : line.find('"', open + 1);
    if (word == std::string::npos || close == std::string::npos || word > open) continue;
    folder = layer_folder(std::string_view(line).substr(open + 1, close - open - 1));
    if (!folder.empty() && folder != own) found.emplace_back(folder, number);
  }
  return found;
}

std::vector<std::string> layer_violations(const std::vector<SourceText>& sources) {
  std::vector<std::string> violations;
  std::map<std::string, std::set<std::string>> edges;
  for (const SourceText& source : sources) {
    const std::string own = layer_folder(source.path);
    const Layer* from = find_layer(own);
    if (from == nullptr) continue;
    for (const auto& [folder, line] : layer_dependencies(source)) {
      const Layer* to = find_layer(folder);
      edges[own].insert(folder);
      const std::string where =
          source.path + ":" + std::to_string(line) + ": " + own + " -> " + folder;
      if (to->rank > from->rank)
        violations.push_back(where + ": points upwards");
      else if (to->rank == from->rank && !(to->free_within && from->free_within))
        violations.push_back(where + ": points to a sibling");
    }
  }
  for (const auto& [folder, unused] : edges) {
    std::set<std::string> seen;
    if (reaches(edges, folder, folder, seen)) violations.push_back("cycle: through " + folder);
  }
  return violations;
}

std::vector<std::string> doubly_defined_types(const std::vector<SourceText>& sources) {
  static const std::regex kNamespace(R"(^namespace ([A-Za-z_:]+) \{)");
  static const std::regex kType(R"(^(?:struct|class) ([A-Za-z_]+)\b[^;]*\{)");
  std::map<std::string, std::string> first;
  std::vector<std::string> doubles;
  for (const SourceText& source : sources) {
    if (!source.path.ends_with(".h")) continue;
    std::istringstream lines(source.text);
    std::string line, space;
    for (std::smatch match; std::getline(lines, line);) {
      if (std::regex_search(line, match, kNamespace)) space = match[1];
      if (!std::regex_search(line, match, kType)) continue;
      const std::string name = space + "::" + match[1].str();
      const auto [it, fresh] = first.emplace(name, source.path);
      if (!fresh && it->second != source.path)
        doubles.push_back(name + ": " + it->second + " and " + source.path);
    }
  }
  return doubles;
}

}  // namespace exotune
