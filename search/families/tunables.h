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
  /// What ships for it, in versions; "" for nothing. It takes part, and where it is as good as the
  /// fastest it stays.
  std::string kept;
  std::vector<Bucket> buckets;
  std::string in_lines;  // the argument that is so in some buckets; "" for none
  /// Of everything above: the same key, the same question.
  std::string key() const;
};

/// Those members of `family` whose kernels have tries and buckets and which take no other's
/// schedules; `shipped` has what they keep. InputError for what is shipped and no text of versions.
std::vector<Tunable> tunables_of(const Family& family, const Target& target,
                                 const Wisdom& shipped = {});

/// The first line of a schedule's file: with what, and for which text it was measured.
std::string key_line(const std::string& tuned_by, const Tunable& tunable);

/// A schedule's file without that line.
std::string without_key(const std::string& text);

/// The sizes of a bucket's `at`, "M=64 N=64, M=50 N=90". InputError for text that is none.
std::vector<SizeBinding> all_sizes_at(const std::string& text);

}  // namespace exotune::families
