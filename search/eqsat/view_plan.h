#pragma once
// What a term says of the program: which operands are copied in which order, and which loops become
// one. Start at plan_of; replay makes it a schedule.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "search/eqsat/product.h"
#include "search/eqsat/view.h"

namespace exotune::eqsat {

/// One copy of an operand: what stage_view is told, and then mult_dim for axes that become one.
struct StagedView {
  std::string operand, name;
  bool right = false;                                     // which factor it is of
  std::vector<std::pair<std::string, std::string>> axes;  // name and extent, before they are fused
  std::string element;                                    // "image[c, y + r, x + s]"
  bool operator==(const StagedView&) const = default;
};

struct ViewPlan {
  std::vector<StagedView> views;
  /// Loops of the product, by index, that become one: neighbours, outermost first. Their axes of
  /// the views become one too, and the output is summed in a buffer of that form.
  std::vector<std::vector<int>> fused;
  bool operator==(const ViewPlan&) const = default;
};

/// What the plan costs, by figures that need no machine: what is moved besides the product, and how
/// many elements lie in a row for vectors (the axis that is last in an operand and in the output).
struct ViewCost {
  Size copied = 0;  // elements
  Size across = 0;  // of them those that do not lie in rows where they are read
  Size along = 1;
};

struct PlanRequest {
  /// Take loops of the sum together too: for machines whose instruction sums over one long axis.
  bool fuse_sums = false;
};

/// The plan of a term with one product; a reason where it has none.
std::variant<ViewPlan, std::string> plan_of(const Product& product, const Term& term,
                                            const AccessLanguage& language,
                                            const PlanRequest& request = {});
ViewCost cost_of(const Product& product, const ViewPlan& plan, SizeTable& sizes);

/// "image_view[c, r, s, y * x]" and which loops are one.
std::string text_of(const Product& product, const ViewPlan& plan);

/// The copies in front of the product's loops, proved step by step. Throws SchedulingError where a
/// step does not hold.
ProcPtr replay(const ProcPtr& p, const Product& product, const ViewPlan& plan,
               const SizeTable& sizes);

}  // namespace exotune::eqsat
