#pragma once
// Parts of programs that were solved, so that each is solved once: the same text again, and texts
// that differ in names alone (the second product of a rank-2 update, the gates of a cell). Start at
// SolvedParts.
#include <map>
#include <string>
#include <vector>

#include "search/part_plans.h"
#include "search/part_pricing.h"

namespace exotune {

/// The text of a part without the name it was taken out under.
std::string part_text(const Proc& p);

/// The steps with other names for buffers and loops, in patterns and expressions as well: "A" and
/// what is called after it, "A_pack". What they do to another procedure is for the core to say.
Steps renamed(const Steps& steps, const std::map<std::string, std::string>& names);

class SolvedParts {
 public:
  /// `pricing` must outlive this.
  explicit SolvedParts(const PartPricing& pricing) : pricing_(pricing) {}

  /// What is known of `part` solved at `depth` or farther out, where more is tried; null: nothing.
  /// Plans of a part that is alike are replayed on this one (each step proved); those that are
  /// refused are left out. `kind`: how it was solved, "of a triangle". Valid until the next add.
  const std::vector<PartPlan>* find(const ProcPtr& part, const std::string& kind, int depth);
  void add(const ProcPtr& part, const std::string& kind, int depth, std::vector<PartPlan> plans);

 private:
  struct Solved {
    int depth = 0;
    std::vector<PartPlan> plans;
    std::vector<std::string> names;  // canonical_names of the part
  };
  const PartPricing& pricing_;
  std::map<std::string, Solved> by_text_;
  std::map<std::string, std::string> alike_;  // the text of one of each canonical text
};

}  // namespace exotune
