#include "cli/quantities.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "core/base/diagnostic.h"

namespace exotune::cli {
// Numbers with units as people write them. What is no such number is refused with an example;
// nothing is rounded or clipped silently.
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& what,
                         const std::string& text, const std::string& hint,
                         SourceLocation where = {}) {
  throw InputError(std::move(where), option + ": " + what + " '" + text + "'", hint);
}

// The number `text` starts with; `rest` gets what follows. False when there is none.
bool leading_number(const std::string& text, double& value, std::string& rest) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !std::isfinite(value)) return false;
  rest.assign(stop, end);
  return true;
}

int64_t positive_integer(const std::string& option, const std::string& text, std::string hint,
                         const SourceLocation& where = {}) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value <= 0) hint = "sizes and steps are 1 or more";
  if (error != std::errc() || stop != end || value <= 0)
    refuse(option, "not a positive integer:", text, hint, where);
  return value;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + 1)
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

constexpr const char* kSizesHint = "write it as NAME=NUMBER,NAME=NUMBER: --size M=512,N=512,K=512";

Sizes sizes_at(const std::string& option, const std::string& text, const SourceLocation& where) {
  Sizes sizes;
  for (const std::string& raw : split(text, ',')) {
    const std::string part = trimmed(raw);
    const size_t equals = part.find('=');
    const std::string name = trimmed(part.substr(0, equals));
    if (equals == std::string::npos || name.empty())
      refuse(option, "expected NAME=NUMBER, found", part, kSizesHint, where);
    const int64_t value =
        positive_integer(option, trimmed(part.substr(equals + 1)), kSizesHint, where);
    if (!sizes.emplace(name, value).second) refuse(option, "given twice:", name, kSizesHint, where);
  }
  return sizes;
}

}  // namespace

double parse_duration(const std::string& option, const std::string& text) {
  const std::string hint = "a number with ms, s, m or h: 500ms, 90s, 10m, 1h";
  double value = 0;
  std::string unit;
  if (!leading_number(text, value, unit) || value <= 0)
    refuse(option, "not a duration:", text, hint);
  if (unit.empty() || unit == "s") return value;
  if (unit == "ms") return value * 1e-3;
  if (unit == "m" || unit == "min") return value * 60;
  if (unit == "h") return value * 3600;
  refuse(option, "unknown unit in", text, hint);
}

double parse_age(const std::string& option, const std::string& text) {
  const std::string hint = "a number with d, h, m or s: 30d, 12h, 0d";
  double value = 0;
  std::string unit;
  if (!leading_number(text, value, unit) || value < 0) refuse(option, "not an age:", text, hint);
  if (unit == "d") return value * 86400;
  if (unit == "h") return value * 3600;
  if (unit == "m" || unit == "min") return value * 60;
  if (unit.empty() || unit == "s") return value;
  refuse(option, "unknown unit in", text, hint);
}

double parse_fraction(const std::string& option, const std::string& text) {
  const std::string hint = "a percentage such as 80%";
  double value = 0;
  std::string unit;
  if (!leading_number(text, value, unit) || (!unit.empty() && unit != "%"))
    refuse(option, "not a percentage:", text, hint);
  if (unit == "%") value /= 100;
  if (value <= 0 || value > 1) refuse(option, "out of range:", text, hint);
  return value;
}

Sizes parse_sizes(const std::string& option, const std::string& text) {
  return sizes_at(option, text, {});
}

// FIRST:LAST:STEP gives all names the same value; a file may say each by itself.
std::vector<Sizes> parse_size_sweep(const std::string& text,
                                    const std::vector<std::string>& names) {
  const std::string option = "--sizes";
  const std::string hint = "FIRST:LAST:STEP, or a file with one M=..,N=.. per line";
  std::vector<Sizes> sweep;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) {
    std::ifstream in(text);
    const auto file = std::make_shared<const std::string>(text);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      line = trimmed(line.substr(0, line.find('#')));
      if (!line.empty()) sweep.push_back(sizes_at(option, line, {file, number, 1}));
    }
    if (sweep.empty()) refuse(option, "no sizes in", text, hint);
    return sweep;
  }
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3) refuse(option, "neither a sweep nor a file:", text, hint);
  const int64_t first = positive_integer(option, parts[0], hint);
  const int64_t last = positive_integer(option, parts[1], hint);
  const int64_t step = positive_integer(option, parts[2], hint);
  for (int64_t value = first; value <= last; value += step) {
    Sizes sizes;
    for (const std::string& name : names) sizes[name] = value;
    sweep.push_back(std::move(sizes));
  }
  if (sweep.empty()) refuse(option, "an empty sweep:", text, hint);
  return sweep;
}

std::string str(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

}  // namespace exotune::cli
