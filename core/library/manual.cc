#include "core/library/manual.h"

#include <array>
#include <map>
#include <sstream>

namespace exotune {

// Made by exotune_embed: the headers of the two folders.
const char* primitive_header(const std::string& file);
const char* library_header(const std::string& file);

namespace {

// Where an operator may be declared; the first that has a function of that name counts.
constexpr std::array kPrimitives = {"loops.h",  "statements.h", "conditions.h", "buffers.h",
                                    "factor.h", "procedures.h", "state.h"};
constexpr std::array kLibrary = {
    "blocking.h",      "rearranging.h", "vectorize.h",     "reduction.h",    "contraction.h",
    "dot_block.h",     "sum_block.h",   "tiles.h",         "triangles.h",    "skinny.h",
    "columns.h",       "gemm.h",        "level1.h",        "level2.h",       "ahead.h",
    "stages.h",        "prefetching.h", "replacement.h",   "staging.h",      "cleanup.h",
    "configuration.h", "statements.h",  "transposition.h", "vector_loops.h", "inspection.h",
    "constraints.h"};

// The name in front of a declaration's arguments: "[[nodiscard]] ProcPtr f(ProcPtr p, ..".
std::string declared_in(const std::string& line) {
  const size_t open = line.find('(');
  if (line.empty() || line[0] == ' ' || open == std::string::npos) return "";
  const size_t before = line.find_last_of(" *&", open);
  return before == std::string::npos ? "" : line.substr(before + 1, open - before - 1);
}

using Manual = std::map<std::string, ManualEntry>;

void add_header(Manual& manual, const std::string& name, const char* text,
                const std::string& scope = "") {
  if (text == nullptr) return;
  for (auto& [function, comment] : entries_of(text))
    manual.emplace(scope + function, ManualEntry{name, comment});
}

Manual read_headers() {
  Manual all;
  for (const std::string name : kPrimitives)
    add_header(all, "core/primitives/" + name, primitive_header(name));
  for (const std::string name : kLibrary)
    add_header(all, "core/library/" + name, library_header(name));
  add_header(all, "core/library/halide.h", library_header("halide.h"), "halide::");
  return all;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> entries_of(const std::string& header_text) {
  std::vector<std::pair<std::string, std::string>> entries;
  std::istringstream lines(header_text);
  std::string comment;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("///", 0) == 0) {
      comment += (line.size() > 4 ? line.substr(4) : "") + "\n";
      continue;
    }
    if (line.empty()) comment.clear();
    // Overloads under one comment are one entry.
    if (const std::string name = declared_in(line); !name.empty() && !comment.empty())
      entries.emplace_back(name, comment);
  }
  return entries;
}

ManualEntry manual_entry(const std::string& function) {
  static const Manual all = read_headers();
  const auto it = all.find(function);
  return it == all.end() ? ManualEntry{} : it->second;
}

std::string description_of(const Operator& op) {
  std::string text = op.signature() + "\n  " + op.doc + "\n";
  const std::string& function = op.function.empty() ? op.name : op.function;
  if (const ManualEntry entry = manual_entry(function); !entry.header.empty()) {
    text += "\n" + entry.header + ", " + function + ":\n";
    std::istringstream lines(entry.text);
    for (std::string line; std::getline(lines, line);) text += "  " + line + "\n";
  }
  text += "\n";
  text += op.proposed.empty() ? "No search proposes it.\n" : "Proposed " + op.proposed + ".\n";
  return text;
}

}  // namespace exotune
