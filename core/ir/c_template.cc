#include "core/ir/c_template.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace exotune {
namespace {

/// The end of the hole that starts at text[at] == '{' (past its '}'), or 0 when it is a plain
/// brace.
size_t hole_end(const std::string& text, size_t at) {
  size_t k = at + 1;
  if (k >= text.size() || !(std::isalpha(static_cast<unsigned char>(text[k])) || text[k] == '_'))
    return 0;
  while (k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_' ||
                             text[k] == '.' || text[k] == '[' || text[k] == ']'))
    ++k;
  return k < text.size() && text[k] == '}' ? k + 1 : 0;
}

bool opens(const std::string& text, size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at > 0 && (text[at - 1] == '(' || text[at - 1] == ',' || text[at - 1] == '[');
}
bool closes(const std::string& text, size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at < text.size() && (text[at] == ')' || text[at] == ',' || text[at] == ']');
}
/// "(type){n}" is a cast of the hole, not an argument of its own.
bool after_cast(const std::string& text, size_t at) { return at > 0 && text[at - 1] == ')'; }

}  // namespace

std::string expand_template(const std::string& text, const HoleText& fill) {
  std::string out;
  for (size_t k = 0; k < text.size();) {
    const char c = text[k];
    if ((c == '{' || c == '}') && k + 1 < text.size() && text[k + 1] == c) {
      out += c;
      k += 2;
      continue;
    }
    const size_t end = c == '{' ? hole_end(text, k) : 0;
    if (end == 0) {
      out += c;
      ++k;
      continue;
    }
    out += fill(text.substr(k + 1, end - k - 2),
                opens(text, k) && closes(text, end) && !after_cast(text, k));
    k = end;
  }
  return out;
}

std::vector<std::string> holes_of(const std::string& text) {
  std::vector<std::string> holes;
  expand_template(text, [&](const std::string& hole, bool) {
    holes.push_back(hole);
    return std::string();
  });
  return holes;
}

std::string brace_fault(const std::string& text) {
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if ((c == '{' || c == '}') && k + 1 < text.size() && text[k + 1] == c) {
      ++k;
      continue;
    }
    if (c != '{' || k + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[k + 1])))
      continue;
    if (hole_end(text, k) == 0)
      return "`" + text.substr(k, std::min(text.find_first_of("} \n", k) - k + 1, size_t{24})) +
             "` is no hole";
  }
  return "";
}

std::optional<SubscriptedHole> subscripted_hole(const std::string& hole) {
  const size_t open = hole.find('[');
  if (open == std::string::npos)
    return hole.find(']') == std::string::npos ? std::optional(SubscriptedHole{hole, {}})
                                               : std::nullopt;
  const std::string digits = hole.substr(open + 1, hole.size() - open - 2);
  if (hole.back() != ']' || digits.empty() || digits.size() > 3 ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  return SubscriptedHole{hole.substr(0, open), std::stoi(digits)};
}

std::optional<FormalHole> formal_hole(const Proc& instruction, const std::string& hole) {
  const auto parts = subscripted_hole(hole);
  if (!parts) return std::nullopt;
  struct Suffix {
    const char* text;
    FormalHole::Part part;
  };
  static constexpr Suffix kSuffixes[] = {{"", FormalHole::Part::kWhole},
                                         {"_data", FormalHole::Part::kData},
                                         {"_reg", FormalHole::Part::kRegister},
                                         {".strides", FormalHole::Part::kStride}};
  std::optional<FormalHole> found;
  size_t longest = 0;
  for (size_t k = 0; k < instruction.args.size(); ++k) {
    const std::string& formal = instruction.args[k].name.name();
    for (const Suffix& s : kSuffixes) {
      const bool subscripted = s.part == FormalHole::Part::kStride;
      if (parts->name != formal + s.text || parts->subscript.has_value() != subscripted) continue;
      if (found && longest >= formal.size()) continue;
      longest = formal.size();
      found = FormalHole{k, s.part, parts->subscript.value_or(0)};
    }
  }
  return found;
}

std::string memory_template_fault(const std::string& text) {
  if (std::string fault = brace_fault(text); !fault.empty()) return fault;
  static constexpr std::array<const char*, 7> kPlain = {"name", "type",   "value", "reg",
                                                        "base", "offset", "index"};
  for (const std::string& hole : holes_of(text)) {
    const auto parts = subscripted_hole(hole);
    const bool known = parts && (parts->subscript ? parts->name == "idx" || parts->name == "shape"
                                                  : std::find(kPlain.begin(), kPlain.end(),
                                                              parts->name) != kPlain.end());
    if (!known) return "`{" + hole + "}` is no hole of a memory's template";
  }
  return "";
}

std::string instruction_template_fault(const Proc& instruction) {
  const std::string& text = instruction.instr->c_template;
  if (std::string fault = brace_fault(text); !fault.empty()) return fault;
  for (const std::string& hole : holes_of(text)) {
    const auto meant = formal_hole(instruction, hole);
    if (!meant) return "`{" + hole + "}` names no argument";
    const Arg& formal = instruction.args[meant->formal];
    if (is_control(formal.type.scalar) && meant->part != FormalHole::Part::kWhole)
      return "`{" + hole + "}`: `" + formal.name.name() + "` is a control argument";
    if (meant->part == FormalHole::Part::kStride && meant->dimension >= formal.type.rank())
      return "`{" + hole + "}`: `" + formal.name.name() + "` has " +
             std::to_string(formal.type.rank()) + " dimensions";
  }
  return "";
}

}  // namespace exotune
