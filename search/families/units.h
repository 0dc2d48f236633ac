#pragma once
// Units: what one C compiler run sees of a library, the kernels of one family, precision and target
// with the bodies and entry points that use them. Start at units_of.
#include <string>
#include <vector>

#include "search/families/entries.h"
#include "search/families/members.h"

namespace exotune::families {

/// The text of two files that belong together.
struct Unit {
  std::string stem;       // "blas1_s_avx512"
  std::string kernels_c;  // STEM.c, generated
  std::string kernels_h;  // STEM.h
  std::string entries_c;  // STEM_entries.c, which includes STEM.c
};

/// One unit for each precision (and "mixed") that has anything. `members` are `family`'s for
/// `target`. With `public_names` the entry points have their own names, else the target's, for
/// dispatch; `entries` false: kernels only, for other families' bodies. `used`: stems of units
/// whose kernels the bodies call.
struct UnitRequest {
  const Family& family;
  const Target& target;
  const std::vector<Member>& members;
  bool public_names = true;
  bool entries = true;
};
std::vector<Unit> units_of(const UnitRequest& request);

}  // namespace exotune::families
