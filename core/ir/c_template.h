#pragma once
// Templates of instructions and memories: text with holes `{name}`, `{name.strides[2]}`,
// `{shape[0]}`.
// `{{` and `}}` are literal braces, and so is a brace before white space.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// `enclosed`: the hole stands alone between `(`, `,` or `[` and `)`, `,` or `]`, so that its text
/// needs no parentheses of its own.
using HoleText = std::function<std::string(const std::string& hole, bool enclosed)>;
std::string expand_template(const std::string& text, const HoleText& fill);

/// The holes in order of appearance, with repetitions.
std::vector<std::string> holes_of(const std::string& text);

/// What is wrong with the first brace that is neither a hole's nor a literal one, or "".
std::string brace_fault(const std::string& text);

/// "idx[2]" is the hole `idx` with 2, "a.strides[0]" `a.strides` with 0, "type" has no number.
/// Nothing when the brackets are no such thing.
struct SubscriptedHole {
  std::string name;
  std::optional<int> subscript;
};
std::optional<SubscriptedHole> subscripted_hole(const std::string& hole);

/// What a hole of an instruction's template stands for: one of its formals, or a part of one.
struct FormalHole {
  enum class Part : uint8_t { kWhole, kData, kRegister, kStride };
  size_t formal = 0;
  Part part = Part::kWhole;
  int dimension = 0;  // of a stride
};
/// Nothing when it names no formal. Of several the longest counts: `x_data` may itself be one.
std::optional<FormalHole> formal_hole(const Proc& instruction, const std::string& hole);

/// What is wrong with the template of a memory, or "".
std::string memory_template_fault(const std::string& text);
/// What is wrong with the template of an instruction, or "".
std::string instruction_template_fault(const Proc& instruction);

}  // namespace exotune
