#pragma once
// Terms whose views cut the loops' ranges, or pad them, as other loops: blocks, blocks that end in
// a guard. Start at index_plan_of; reindexed makes it a program.
//
// An axis of the product's operands says which index of each tensor it stands for (down from the
// product to the tensor) and which value it has at a point of the program's loops (up from the
// tensor). Both together are a bijection between the program's points and the term's, which the
// core proves as it stands (reindex_loops, by linear arithmetic and Z3): a term that loses a point,
// or counts one twice, is refused whatever rule made it.
#include <string>
#include <variant>

#include "core/primitives/reindex.h"
#include "search/eqsat/product.h"

namespace exotune::eqsat {

struct IndexPlan {
  std::vector<CountedLoop> loops;
  FormerLoops former;
  std::string where;  // "": every point of the new loops is one of the program's
  size_t around = 0;  // loops of the product that stay as they are, around the nest
  Size points = 1;    // of the new loops, those around included; guarded ones count
  /// What the loops are follows from what the former ones become.
  bool operator==(const IndexPlan& o) const {
    return former == o.former && where == o.where && around == o.around && points == o.points;
  }
};

/// The plan of a term with one product; a reason where it has none, or where its loops are those of
/// the program in another order, which is no view.
std::variant<IndexPlan, std::string> index_plan_of(const ProcPtr& p, const Product& product,
                                                   const Term& term,
                                                   const AccessLanguage& language);

/// "i = 16 * i0 + i1, where 16 * i0 + i1 < 40"
std::string text_of(const IndexPlan& plan);

/// The program with the product's nest on the new loops. Throws SchedulingError where the points
/// are not proved to be the same.
ProcPtr reindexed(const ProcPtr& p, const Product& product, const IndexPlan& plan);

}  // namespace exotune::eqsat
