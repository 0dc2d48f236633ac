#pragma once
// Templates of instructions and memories: text with holes `{name}`, `{name.strides[2]}`,
// `{shape[0]}`.
// `{{` and `}}` are literal braces, and so is a brace that starts no hole.
#include <functional>
#include <string>
#include <vector>

namespace exotune::codegen {

/// `enclosed`: the hole stands alone between `(`, `,` or `[` and `)`, `,` or `]`, so that its text
/// needs no parentheses of its own.
using HoleText = std::function<std::string(const std::string& hole, bool enclosed)>;
std::string expand_template(const std::string& text, const HoleText& fill);

/// The holes in order of appearance, with repetitions.
std::vector<std::string> holes_of(const std::string& text);

}  // namespace exotune::codegen
