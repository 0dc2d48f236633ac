#include "search/compilation.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/base/hashing.h"
#include "runners/other_compilers.h"

namespace exotune {

namespace {

constexpr const char* kAnyOrderLine = "# compiled with sums in any order\n";
constexpr const char* kCompilerLine = "# compiled by ";

// Behind the last header that is always included: their functions are not ours, and what stands
// inside a condition holds for some builds only.
size_t end_of_includes(const std::string& c_text) {
  size_t end = 0;
  int depth = 0;
  for (size_t at = 0; at < c_text.size();) {
    const size_t next = std::min(c_text.find('\n', at), c_text.size() - 1) + 1;
    const std::string_view line(c_text.data() + at, next - at);
    if (line.starts_with("#if")) ++depth;
    if (line.starts_with("#endif")) --depth;
    if (depth == 0 && line.starts_with("#include")) end = next;
    at = next;
  }
  return end;
}

}  // namespace

std::string with_sums_in_any_order(std::string c_text) {
  constexpr const char* kLeave = R"(
/* Data are real numbers to whoever wrote this: sums may be taken in any order. */
#if defined(__clang__)
#pragma clang fp reassociate(on) contract(fast)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("unsafe-math-optimizations", "no-math-errno", "fp-contract=fast")
#endif
)";
  // What is included after this file has asked for nothing.
  constexpr const char* kEnd = R"(
#if defined(__clang__)
#pragma clang fp reassociate(off) contract(on)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
)";
  return c_text.insert(end_of_includes(c_text), kLeave) + kEnd;
}

Candidate compiled_as(Candidate candidate, const Compilation& how) {
  if (how.is_usual()) return candidate;
  if (how.any_order) {
    candidate.c_source = with_sums_in_any_order(std::move(candidate.c_source));
    candidate.complexity += 0.5;
  }
  if (!how.compiler.empty()) candidate.complexity += 0.25;
  candidate.compiler = how.compiler;
  candidate.id = content_hash(candidate.c_source + candidate.h_source + candidate.compiler);
  return candidate;
}

std::string lines_of(const Compilation& how) {
  return (how.any_order ? std::string(kAnyOrderLine) : "") +
         (how.compiler.empty() ? "" : kCompilerLine + how.compiler + "\n");
}

Compilation compilation_asked(const std::string& script) {
  Compilation out;
  out.any_order = script.find(kAnyOrderLine) != std::string::npos;
  for (const OtherCompiler& c : other_compilers())
    if (script.find(kCompilerLine + c.name + "\n") != std::string::npos) out.compiler = c.name;
  return out;
}

std::string build_command(const std::string& usual, const Compilation& how,
                          const std::vector<std::string>& further) {
  for (const OtherCompiler& c : other_compilers()) {
    if (c.name != how.compiler) continue;
    const size_t flags = std::min(usual.find(' '), usual.size());
    std::string out = c.cc + usual.substr(flags);
    if (c.half_vectors) {
      std::istringstream words(usual);
      out += " " + half_width({std::istream_iterator<std::string>(words), {}});
    }
    const std::vector<std::string> none;
    for (const auto* more : {c.further ? &further : &none, &c.flags, &c.leave})
      for (const std::string& f : *more) out += " " + f;
    return out;
  }
  return usual;
}

std::string text_of(const Compilation& how) {
  std::string out = how.any_order ? "with leave to take sums in any order" : "";
  if (!how.compiler.empty()) out += (out.empty() ? "by " : ", by ") + how.compiler;
  return out;
}

std::vector<Compilation> unusual_compilations(const TargetToolchain& toolchain, bool narrow) {
  std::vector<Compilation> out = {{.any_order = true, .compiler = ""}};
  const std::string own = std::filesystem::path(toolchain.cc).filename().string();
  for (const OtherCompiler& c : other_compilers())
    if ((c.cc != own || !c.flags.empty() || !c.leave.empty()) &&
        (!c.half_vectors || !half_width(toolchain.flags).empty()) &&
        (!c.further || (narrow && !toolchain.further.empty())))
      out.push_back({.any_order = true, .compiler = c.name});
  return out;
}

}  // namespace exotune
