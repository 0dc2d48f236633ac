#include "search/solved_parts.h"

#include <cctype>
#include <optional>

#include "core/ir/canonical_names.h"
#include "core/ir/printer.h"

namespace exotune {

namespace {

using Names = std::map<std::string, std::string>;

// From each name of one part to that of the other; nothing where one would have to be two.
std::optional<Names> names_from(const std::vector<std::string>& from,
                                const std::vector<std::string>& to) {
  Names out, back;
  for (size_t k = 0; k < from.size(); ++k)
    if (out.emplace(from[k], to[k]).first->second != to[k] ||
        back.emplace(to[k], from[k]).first->second != from[k])
      return std::nullopt;
  return out;
}

std::string renamed_word(const std::string& word, const Names& names) {
  if (const auto exact = names.find(word); exact != names.end()) return exact->second;
  // Called after a buffer: the longest name in front of an underscore.
  for (size_t at = word.rfind('_'); at != std::string::npos && at > 0; at = word.rfind('_', at - 1))
    if (const auto stem = names.find(word.substr(0, at)); stem != names.end())
      return stem->second + word.substr(at);
  return word;
}

std::string renamed_text(const std::string& text, const Names& names) {
  const auto of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string out;
  for (size_t k = 0; k < text.size();) {
    size_t end = k;
    while (end < text.size() && of_word(text[end])) ++end;
    if (end == k)
      out += text[k++];
    else
      out += renamed_word(text.substr(k, end - k), names), k = end;
  }
  return out;
}

Value renamed_value(const Value& v, const Names& names) {
  if (const std::string* text = v.as<std::string>()) return Value(renamed_text(*text, names));
  const ValueList* list = v.as<ValueList>();
  if (!list) return v;
  ValueList out;
  for (const Value& element : *list) out.push_back(renamed_value(element, names));
  return Value(std::move(out));
}

}  // namespace

std::string part_text(const Proc& p) {
  Proc unnamed = p;
  unnamed.name = "part";
  unnamed.provenance = nullptr;
  return str(unnamed);
}

Steps renamed(const Steps& steps, const Names& names) {
  Steps out = steps;
  for (ScheduleStep& step : out) {
    for (Value& v : step.args) v = renamed_value(v, names);
    for (auto& [parameter, v] : step.named) v = renamed_value(v, names);
    step.inside = renamed(step.inside, names);
  }
  return out;
}

const std::vector<PartPlan>* SolvedParts::find(const ProcPtr& part, const std::string& kind,
                                               int depth) {
  const std::string text = part_text(*part) + kind;
  if (const auto known = by_text_.find(text); known != by_text_.end())
    return known->second.depth <= depth ? &known->second.plans : nullptr;
  const auto alike = alike_.find(canonical_text(*part) + kind);
  if (alike == alike_.end()) return nullptr;
  const Solved& other = by_text_.at(alike->second);
  const auto names = names_from(other.names, canonical_names(*part));
  if (other.depth > depth || !names) return nullptr;
  Solved mine{other.depth, {}, canonical_names(*part)};
  for (const PartPlan& plan : other.plans) {
    Schedule s{part, {}, plan.reassociated};
    if (replay(s, renamed(plan.steps, *names))) continue;
    PartPlan here = pricing_.plan_of(s, plan.move);
    here.order = plan.order;
    here.for_caches = plan.for_caches;
    here.proc = nullptr;
    mine.plans.push_back(std::move(here));
  }
  if (mine.plans.empty()) return nullptr;
  return &(by_text_[text] = std::move(mine)).plans;
}

void SolvedParts::add(const ProcPtr& part, const std::string& kind, int depth,
                      std::vector<PartPlan> plans) {
  const std::string text = part_text(*part) + kind;
  by_text_[text] = {depth, std::move(plans), canonical_names(*part)};
  alike_.emplace(canonical_text(*part) + kind, text);
}

}  // namespace exotune
