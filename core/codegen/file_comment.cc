#include "core/codegen/file_comment.h"

#include <algorithm>

#include "core/codegen/function_emitter.h"

namespace exotune::codegen {
namespace {

bool any(const FileFacts& facts, AbiArg::Kind kind) {
  for (const Signature* s : facts.functions)
    for (const AbiArg& a : s->args)
      if (a.kind == kind) return true;
  return false;
}

bool any_workspace(const FileFacts& facts) {
  return std::any_of(facts.functions.begin(), facts.functions.end(),
                     [](const Signature* s) { return s->takes_workspace; });
}

std::string threads_line(const FileFacts& facts) {
  if (facts.one_arena) return "Threads: one call at a time.";
  std::string text = "Threads: any number may call at once";
  if (facts.context) text += ", each with a context of its own";
  if (any_workspace(facts))
    text += std::string(facts.context ? " and" : ", each with") + " a workspace";
  return text + ".";
}

}  // namespace

std::string build_lines(const FileFacts& facts) {
  const std::string compiler = facts.build.empty() ? "cc -std=c11 -O2" : facts.build;
  std::string text = "Build: " + compiler + " -c " + facts.stem + ".c";
  if (facts.parallel) text += " (-fopenmp for parallel loops; without it they are plain loops)";
  if (!facts.cpu.empty()) text += "\nCPU: " + facts.cpu + ".";
  return text;
}

std::string call_lines(const FileFacts& facts) {
  const bool tensors = any(facts, AbiArg::Kind::kTensor),
             windows = any(facts, AbiArg::Kind::kWindow);
  std::string text;
  if (tensors || windows)
    text += "Arrays: row-major" + std::string(tensors ? ", dense" : "") +
            (windows ? "; a window's strides count elements" : "") +
            "; aligned as their elements are, no more.\n";
  if (tensors || windows || any(facts, AbiArg::Kind::kScalar))
    text +=
        "Overlap: what a call writes overlaps nothing else it is given; what it only reads may.\n";
  text += "Sizes and conditions: above each function; -DEXO_CHECKED checks them at each call.\n";
  return text + threads_line(facts);
}

}  // namespace exotune::codegen
