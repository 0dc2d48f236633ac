#pragma once
// A family's wisdom: what was measured before, as text. Start at find_wisdom.
//
// A folder MACHINE/TARGET/ has a file MEMBER.sched for each kernel and sizes.toml for the figures
// of the bodies, by family, and, under [machine], for the caches of whose it is. The folder of a
// library, schedules/TARGET/, has the same form.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "search/families/family.h"
#include "search/families/members.h"

namespace exotune::families {

struct NamedMachine {
  std::string name;                  // "vendor-family-model" or "vendor_name"
  std::vector<int64_t> caches = {};  // bytes of L1, of L2; empty where they are not known
};

struct FoundWisdom {
  std::string machine;  // whose it is; "" where the folder names none, or there is none
  Wisdom schedules;     // by member
  std::string sizes;    // the text of sizes.toml; "" without
  std::filesystem::path sizes_file;
};

/// What `folder` has for `target`: folder/TARGET where there is one, else folder/MACHINE/TARGET of
/// the machine nearest to `machine`. Nothing where there is neither.
FoundWisdom find_wisdom(const std::filesystem::path& folder, const std::string& target,
                        const NamedMachine& machine);

/// Of `known` the one whose name shares the most words with `machine`'s from the left on; of
/// several the one whose next word is the nearest number, then the one whose caches are of the most
/// similar sizes (what another vendor's machine goes by). "" for none.
std::string nearest_machine(const NamedMachine& machine, const std::vector<NamedMachine>& known);

/// The family with the wisdom's sizes instead of its text's. InputError for a size that the family
/// does not have, or that is no number.
Family with_sizes(Family family, const FoundWisdom& wisdom);

}  // namespace exotune::families
