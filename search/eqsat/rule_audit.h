#pragma once
// Rule sets put to the test: saturated on problems of every kind that is lifted, and every node of
// every e-graph compared with its class. Start at audit_rules.
#include <map>
#include <string>
#include <vector>

#include "search/eqsat/saturation.h"

namespace exotune::eqsat {

struct RuleText {
  std::string file, text;
};

struct AuditRow {
  std::string problem;  // "convolution, stride 2"
  StopReason stop = StopReason::kSaturated;
  size_t nodes = 0, classes = 0;
  size_t checked = 0;              // e-nodes
  std::vector<std::string> wrong;  // of them, with the reason
};

/// The sets together, on each problem: products (plain, of a batch, transposed), convolutions
/// (plain, strided, dilated, of each channel, channels last), pooling, chains of products, sums of
/// products, and one or more with each other operator. `constants` (K, R, C) are the sets'. Sizes
/// are small, because every node is evaluated. Throws InputError for a text that is no rule set.
/// Cost: about a second.
std::vector<AuditRow> audit_rules(const std::vector<RuleText>& rules,
                                  const std::map<std::string, int64_t>& constants,
                                  const Limits& limits = {
                                      .iterations = 6, .nodes = 3'000, .seconds = 60});

}  // namespace exotune::eqsat
