#pragma once
// Blockers: what in a program's own text keeps vectors from running along its innermost loops, for
// whoever wrote it. Start at blockers_of.
#include <map>
#include <string>
#include <vector>

#include "core/base/source_location.h"
#include "search/outline/outline.h"

namespace exotune {

struct Blocker {
  SourceLocation where;  // of the loop
  std::string loop;      // "for j"
  std::string why;       // "reads A[i, j - 1], which an earlier iteration writes"
  std::string instead;   // what to write
  double share = 0;      // of all iterations of innermost loops
  bool chain = false;    // an iteration may need what another one made
};

/// At most one for each innermost loop, those with most iterations first; loops that vectors may
/// run along have none. A chain (iterations not proved to be independent), an access that steps
/// over more than one element, a condition of the loop's own. Asks the core one question for each
/// loop.
std::vector<Blocker> blockers_of(const Proc& p, const std::map<std::string, int64_t>& sizes);

}  // namespace exotune
