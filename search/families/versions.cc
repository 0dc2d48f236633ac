#include "search/families/versions.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/words.h"

namespace exotune::families {
namespace {

constexpr std::string_view kWhen = "# when ", kOtherwise = "# otherwise";

[[noreturn]] void refuse(const std::string& member, int line, const std::string& why) {
  SourceLocation where;
  where.file = std::make_shared<const std::string>(member + ".sched");
  where.line = line;
  where.column = 1;
  throw InputError(where, why,
                   "versions begin with `# when CONDITION`, the last one with `# otherwise`");
}

bool is_name(const std::string& word) {
  const auto belongs = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !std::isdigit(static_cast<unsigned char>(word[0])) &&
         std::all_of(word.begin(), word.end(), belongs);
}

// Nine digits fit into an int of C.
bool is_number(const std::string& word) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c); };
  return word.size() <= 9 && std::all_of(word.begin(), word.end(), is_digit);
}

// `n < 64 * 3`, words one space apart. Conditions become C as they stand: only what means the same
// there is one. Quotients would not (the object language rounds them down), nor would what C reads
// on behind a parenthesis.
bool is_condition(const std::string& text) {
  static const std::vector<std::string> kComparisons = {"<", "<=", ">", ">=", "=="};
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() < 3 || words.size() % 2 == 0 || joined(words, " ") != text) return false;
  if (!is_name(words[0]) || !is_number(words[2]) ||
      std::find(kComparisons.begin(), kComparisons.end(), words[1]) == kComparisons.end())
    return false;
  for (size_t k = 3; k < words.size(); k += 2)
    if (words[k] != "*" || !is_number(words[k + 1])) return false;
  return true;
}

}  // namespace

std::vector<Version> parse_versions(const std::string& text, const std::string& member) {
  if (text.find(kWhen) == std::string::npos) return {{"", text}};
  std::vector<Version> versions;
  std::istringstream lines(text);
  int number = 0;
  bool last = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool when = line.rfind(kWhen, 0) == 0, otherwise = line.rfind(kOtherwise, 0) == 0;
    if (when || otherwise) {
      if (last) refuse(member, number, "a version behind the last one");
      versions.push_back({when ? line.substr(kWhen.size()) : "", ""});
      if (when && !is_condition(versions.back().when))
        refuse(member, number,
               "`" + versions.back().when + "` is no condition: one size and a number");
      last = otherwise;
    } else if (!versions.empty()) {
      versions.back().script += line + "\n";
    } else if (line.find_first_not_of(" \t") != std::string::npos && line[0] != '#') {
      refuse(member, number, "a step in front of the first version");
    }
  }
  if (!last) refuse(member, number, "no version is for all other sizes");
  return versions;
}

bool holds(const std::string& when, const SizeBinding& sizes) {
  if (when.empty()) return true;
  std::istringstream words(when);
  std::string name, comparison, times;
  double limit = 1, factor = 0;
  words >> name >> comparison >> limit;
  while (words >> times >> factor) limit *= factor;
  const auto size = sizes.find(name);
  if (size == sizes.end()) return false;
  const double value = static_cast<double>(size->second);
  if (comparison == "<") return value < limit;
  if (comparison == "<=") return value <= limit;
  if (comparison == ">") return value > limit;
  if (comparison == ">=") return value >= limit;
  return value == limit;
}

const Version* version_for(const std::vector<Version>& versions, const SizeBinding& sizes) {
  const auto found = std::find_if(versions.begin(), versions.end(), [&](const Version& version) {
    return holds(version.when, sizes);
  });
  return found == versions.end() ? nullptr : &*found;
}

std::string print_versions(const std::vector<Version>& versions) {
  if (versions.size() == 1) return versions.front().script;
  std::string text;
  for (const Version& version : versions)
    text += (version.when.empty() ? std::string(kOtherwise) : std::string(kWhen) + version.when) +
            "\n" + version.script;
  return text;
}

}  // namespace exotune::families
