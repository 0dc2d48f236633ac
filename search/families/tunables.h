#pragma once
// What a family's text tries: each kernel with its parameters fixed, its schedules and the sizes at
// which they are compared. Start at tunables_of; tuning.h measures them.
#include <string>
#include <vector>

#include "hw/kernel_table.h"
#include "search/families/members.h"
#include "search/families/versions.h"

namespace exotune::families {

/// A member as tuning sees it: one kernel with its parameters fixed.
struct Tunable {
  std::string name;                      // "saxpy_any"
  std::string c_name, code;              // as Member has them
  std::string usual;                     // the schedule that is replayed untuned
  std::vector<std::string> scripts;      // what is tried beside it
  std::vector<std::string> far_scripts;  // and in buckets that are far
  std::vector<Bucket> buckets;
  std::string in_lines;  // the argument that is so in some buckets; "" for none
  /// Of everything above: the same key, the same question.
  std::string key() const;
};

/// Those members of `family` whose kernels have tries and buckets and which take no other's
/// schedules.
std::vector<Tunable> tunables_of(const Family& family, const Target& target);

/// The sizes of a bucket's `at`, "M=64 N=64, M=50 N=90". InputError for text that is none.
std::vector<SizeBinding> all_sizes_at(const std::string& text);

}  // namespace exotune::families
