#pragma once
// Entry points: from one row of a family's table of routines the CBLAS function, the Fortran
// function, their prototypes and the checks of their arguments. Start at entries_of.
#include <string>
#include <vector>

#include "search/families/family.h"

namespace exotune::families {

/// One routine with its parameters fixed.
struct Entry {
  std::string routine;    // "saxpy"
  std::string unit;       // the precision it belongs to, "mixed" for none
  std::string cblas;      // "cblas_saxpy", the symbol
  std::string fortran;    // "saxpy_"
  std::string prototype;  // of the CBLAS function, for cblas.h: "void cblas_saxpy(...);"
  /// Both functions. They call NAME_body, static in the same file. Symbols are written
  /// EXO_ENTRY(name), so that one library may hold them for several targets.
  std::string code;
};

/// InputError for an argument that is neither *array, scalar nor of a known name.
std::vector<Entry> entries_of(const Family& family);

}  // namespace exotune::families
