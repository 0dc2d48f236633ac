#include "search/families/wisdom.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>

#include "hw/toml_table.h"

namespace exotune::families {
namespace {
namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  std::string spaced = name;  // "amd_zen3" and "authenticamd-25-17" alike
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
  std::istringstream in(spaced);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Doublings and halvings between the caches' sizes.
double doublings(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  double all = 0;
  for (size_t level = 0; level < std::min(a.size(), b.size()); ++level)
    all += std::fabs(std::log2(static_cast<double>(a[level]) / static_cast<double>(b[level])));
  return all;
}

// The less, the nearer.
std::tuple<int, long, double, std::string> distance(const NamedMachine& machine,
                                                    const NamedMachine& other) {
  const std::vector<std::string> a = words_of(machine.name), b = words_of(other.name);
  size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  const auto number = [&](const std::vector<std::string>& words) {
    return same < words.size() ? std::strtol(words[same].c_str(), nullptr, 10) : 0L;
  };
  return {-static_cast<int>(same), std::labs(number(a) - number(b)),
          doublings(machine.caches, other.caches), other.name};
}

// The caches that a machine's sizes.toml names.
std::vector<int64_t> caches_in(const fs::path& sizes_file) {
  const std::string text = text_of(sizes_file);
  const TomlTable all = TomlTable::parse(text, sizes_file.string());
  if (!all.has("machine")) return {};
  const TomlTable machine = all.table("machine");
  machine.allow_only({"l1", "l2"});
  const std::vector<int64_t> caches = {machine.integer("l1"), machine.integer("l2")};
  for (const int64_t bytes : caches)
    if (bytes < 1) throw InputError(machine.where(), "a cache has at least one byte", "l1 = 32768");
  return caches;
}

}  // namespace

std::string nearest_machine(const NamedMachine& machine, const std::vector<NamedMachine>& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](const auto& a, const auto& b) { return distance(machine, a) < distance(machine, b); });
  return nearest == known.end() ? "" : nearest->name;
}

FoundWisdom find_wisdom(const fs::path& folder, const std::string& target,
                        const NamedMachine& machine) {
  FoundWisdom found;
  fs::path place = folder / target;
  if (!fs::is_directory(place)) {
    std::vector<NamedMachine> machines;
    if (fs::is_directory(folder))
      for (const auto& entry : fs::directory_iterator(folder))
        if (fs::is_directory(entry.path() / target))
          machines.push_back(
              {entry.path().filename().string(), caches_in(entry.path() / target / "sizes.toml")});
    found.machine = nearest_machine(machine, machines);
    if (found.machine.empty()) return found;
    place = folder / found.machine / target;
  }
  for (const auto& entry : fs::directory_iterator(place))
    if (entry.path().extension() == ".sched")
      found.schedules[entry.path().stem().string()] = text_of(entry.path());
  found.sizes_file = place / "sizes.toml";
  found.sizes = text_of(found.sizes_file);
  return found;
}

Family with_sizes(Family family, const FoundWisdom& wisdom) {
  if (wisdom.sizes.empty()) return family;
  const TomlTable all = TomlTable::parse(wisdom.sizes, wisdom.sizes_file.string());
  if (!all.has(family.name)) return family;
  const TomlTable table = all.table(family.name);
  std::vector<std::string> known;
  for (const auto& [name, value] : family.sizes) known.push_back(name);
  table.allow_only(known);
  for (const std::string& name : table.keys())
    family.sizes[name] = std::to_string(table.integer(name));
  return family;
}

}  // namespace exotune::families
