#pragma once
// A family's wisdom: what was measured before, as text. Start at find_wisdom.
//
// A folder MACHINE/TARGET/ has a file MEMBER.sched for each kernel and sizes.toml for the figures
// of the bodies, by family. The folder of a library, schedules/TARGET/, has the same form.
#include <filesystem>
#include <string>
#include <vector>

#include "search/families/family.h"
#include "search/families/members.h"

namespace exotune::families {

struct FoundWisdom {
  std::string machine;  // whose it is; "" where the folder names none, or there is none
  Wisdom schedules;     // by member
  std::string sizes;    // the text of sizes.toml; "" without
  std::filesystem::path sizes_file;
};

/// What `folder` has for `target`: folder/TARGET where there is one, else folder/MACHINE/TARGET of
/// the machine nearest to `machine` by name. Nothing where there is neither.
FoundWisdom find_wisdom(const std::filesystem::path& folder, const std::string& target,
                        const std::string& machine);

/// Of `names` ("vendor-family-model", "vendor_name") the one that shares the most words with `name`
/// from the left on; of several the one whose next word is the nearest number. "" for none.
std::string nearest_machine(const std::string& name, const std::vector<std::string>& names);

/// The family with the wisdom's sizes instead of its text's. InputError for a size that the family
/// does not have, or that is no number.
Family with_sizes(Family family, const FoundWisdom& wisdom);

}  // namespace exotune::families
