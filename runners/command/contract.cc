#include "runners/command/contract.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace exotune {

namespace {

using Fields = std::map<std::string, std::string>;

Fields fields_of(const std::string& line) {
  Fields out;
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (const size_t equal = word.find('='); equal != std::string::npos)
      out[word.substr(0, equal)] = word.substr(equal + 1);
  return out;
}

bool number(const Fields& fields, const char* key, uint64_t& out) {
  const auto it = fields.find(key);
  if (it == fields.end() || it->second.empty()) return false;
  const char* const end = it->second.data() + it->second.size();
  const auto [stop, error] = std::from_chars(it->second.data(), end, out);
  return error == std::errc() && stop == end;
}

std::string text(const Fields& fields, const char* key) {
  const auto it = fields.find(key);
  return it == fields.end() ? "" : it->second;
}

void read_run(const Fields& fields, ContractOutput& out) {
  ContractRun run;
  uint64_t index = 0;
  run.kernel = text(fields, "kernel");
  run.hash = text(fields, "hash");
  const std::string check = text(fields, "check");
  const bool whole = !run.kernel.empty() && !run.hash.empty() &&
                     (check == "ok" || check == "bad") && number(fields, "run", index) &&
                     number(fields, "cycles", run.cycles) &&
                     number(fields, "instret", run.instructions);
  if (!whole) return;  // cut off, or mixed with noise: the count at the end will not fit
  run.run = static_cast<int64_t>(index);
  run.ok = check == "ok";
  out.runs.push_back(run);
}

void read_line(const std::string& rest, ContractOutput& out) {
  const Fields fields = fields_of(rest);
  const std::string first = rest.substr(0, rest.find_first_of(" \r"));
  uint64_t count = 0;
  if (first.rfind("kernel=", 0) == 0) {
    read_run(fields, out);
  } else if (first == "end") {
    out.complete = number(fields, "n", count) && count == out.runs.size();
  } else if (first == "found" && out.what.empty()) {
    out.what = text(fields, "what");
    number(fields, "arg", out.argument);
    number(fields, "at", out.at);
    out.got = text(fields, "got");
    out.want = text(fields, "want");
  } else if (first.rfind("counted", 0) == 0) {
    if (number(fields, "instret", count)) out.counted.push_back(count);
  } else if (first == "trap" && !out.trapped) {
    out.trapped = number(fields, "cause", out.trap_cause);
    out.trap_pc = text(fields, "pc");
    out.trap_value = text(fields, "value");
  }
}

}  // namespace

bool ContractOutput::all_ok() const {
  return complete && !runs.empty() && !trapped &&
         std::all_of(runs.begin(), runs.end(), [](const ContractRun& r) { return r.ok; });
}

ContractOutput read_contract(const std::string& text) {
  static const std::string kMark = "EXO_TUNE v1 ";
  ContractOutput out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(kMark);
    if (at != std::string::npos) read_line(line.substr(at + kMark.size()), out);
  }
  for (size_t k = 0; k < std::min(out.runs.size(), out.counted.size()); ++k)
    if (out.runs[k].cycles == 0) out.runs[k].cycles = out.runs[k].instructions = out.counted[k];
  return out;
}

}  // namespace exotune
