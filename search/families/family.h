#pragma once
// A family of routines as data: `kernels/families/NAME.toml` and the C text beside it. Start at
// load_family.
//
// A kernel is a template of object code with a schedule; the engine proves every member of it. A
// routine is what a caller sees: its arguments, from which the CBLAS and the Fortran entry points
// and their checks are made. Between them stands a body, C text written by hand: NAME.c for each
// precision, NAME_mixed.c for what has none.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "search/families/template_text.h"

namespace exotune::families {

/// One parameter of templates, "p" or "uplo", and what places stand for under each of its values.
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, Substitution>> values;
};

/// Sizes that are tuned together.
struct Bucket {
  std::string when;  // "n <= 64", as in versions.h; "" for the last
  std::string at;    // where it is measured: "n=40", at several "M=40 N=40, M=33 N=50"
  /// Do bodies call the kernel with its argument `in_lines` at the begin of a cache line there?
  bool in_lines = false;
  /// Is what a call reads in no near cache? Then `far_tries` are tried, too.
  bool far = false;
};

/// A `[[kernel]]`: one member for each combination of its axes' values.
struct KernelTemplate {
  std::string name;               // with places: "${p}axpy${_any}"
  std::vector<std::string> axes;  // names
  std::string code, schedule;  // with places; the schedule may have several versions (versions.h)
  std::string like;            // the member whose schedules it takes, with places; "": its own
  std::vector<std::string> tries;  // other schedules, with places; tuning chooses for each bucket
  std::vector<std::string> far_tries;  // more of them, for buckets that are far (Bucket::far)
  std::vector<std::pair<std::string, std::vector<std::string>>> values;  // of places in tries
  std::vector<Bucket> buckets;
  std::string in_lines;  // an argument, with places; "" for none (Bucket::in_lines)
  SourceLocation where;  // of its table in the file
};

/// A `[[routine]]`: the entry points of one name, for each combination of its axes' values.
struct RoutineTemplate {
  std::string name;  // as CBLAS has it, without "cblas_": "${p}axpy"
  std::vector<std::string> axes;
  std::string returns;             // "void", "${real}", "index"
  std::string real;                // the type of its arrays and scalars
  std::string arguments;           // "n alpha *x incx *y! incy": * an array, ! one that is written
  std::vector<std::string> wrong;  // conditions under which an argument, named first, is refused
  /// Positions that the reference exchanges for a row-major matrix before it reports one.
  std::vector<std::pair<int, int>> exchanged;
  /// A function of the bodies, with places; "" for none. NAME_if is told layout, choices and sizes
  /// and says whether NAME is to be asked before arguments are checked. That is told whether layout
  /// and choices are right, then what the body is, and says whether it has done all of it: not
  /// where an argument is wrong.
  std::string at_once;
  SourceLocation where;
};

/// C text written by hand.
struct BodyText {
  std::string text;  // "" when there is no such file
  SourceLocation where;
  int lines() const;  // that are neither empty nor comment
};

/// As it was read: places are still open, and nothing is proved.
struct Family {
  std::string name, title;
  std::vector<std::string> uses;  // families whose kernels the bodies call
  /// By target's name: what places stand for there, before anything else.
  std::map<std::string, Substitution> targets;
  /// Figures of the bodies that machines differ in: the wisdom of one replaces them (wisdom.h).
  Substitution sizes;
  Substitution places;  // what places stand for whatever the target and the axes
  /// What places stand for where another target has vectors of half the width; elsewhere nothing.
  Substitution half;
  std::map<std::string, std::vector<Bucket>> buckets;  // lists that several kernels share
  std::vector<Axis> axes;                              // that templates name
  std::vector<KernelTemplate> kernels;
  std::vector<RoutineTemplate> routines;
  BodyText bodies, mixed;  // NAME.c, NAME_mixed.c

  const Axis* find_axis(const std::string& axis) const;
};

/// Reads `folder`/NAME.toml and its C text. InputError for an unknown family (the nearest is
/// named), unknown keys, axes that are not there.
Family load_family(const std::filesystem::path& folder, const std::string& name);

/// Names of the families in `folder`, sorted.
std::vector<std::string> list_families(const std::filesystem::path& folder);

/// All combinations of the values of `axes`, the first axis slowest; each value's own name stands
/// under the axis's name. One empty combination for no axes.
std::vector<Substitution> combinations(const Family& family, const std::vector<std::string>& axes);

}  // namespace exotune::families
