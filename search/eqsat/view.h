#pragma once
// Views as index maps: which element of which tensor stands at each index of a view. Start at
// view_map.
//
// A view's axes are made of variables: a dimension of the tensor, or where a window starts and its
// tap. Splitting an axis cuts variables into pieces, merging joins them; two views whose axes are
// the same pieces in the same order, over the same subscripts, lie in memory alike.
#include <map>
#include <optional>
#include <vector>

#include "search/eqsat/access.h"
#include "search/eqsat/term.h"

namespace exotune::eqsat {

/// The type of node `index` of the term; nothing where it has none.
std::optional<AccessType> type_of(const Term& term, int index, const AccessLanguage& language);

/// Part of a variable: variable / divisor % extent.
struct ViewPiece {
  int variable = 0;
  Size divisor = 1;
  Size extent = 1;
  bool operator==(const ViewPiece&) const = default;
};

struct ViewMap {
  Op tensor = kNoOp;
  std::vector<std::map<int, int64_t>> subscripts;  // by dimension: coefficients of variables
  std::vector<Size> variables;                     // their extents
  std::vector<std::vector<ViewPiece>> axes;        // outermost piece first
  size_t access = 0;                               // how many axes are of the access part

  /// All pieces, as they follow each other in memory.
  std::vector<ViewPiece> order() const;
  /// Whether the view is the tensor itself, element by element: nothing to copy.
  bool is_tensor(SizeTable& sizes) const;
};

/// The map of node `index`; nothing where it is no view of one tensor (a product, a concatenation,
/// padding) or an axis is cut where no piece ends.
std::optional<ViewMap> view_map(const Term& term, int index, const AccessLanguage& language);

}  // namespace exotune::eqsat
