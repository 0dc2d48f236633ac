#include "db/store.h"

#include <sstream>

#include "core/base/diagnostic.h"

namespace exotune {

namespace {
constexpr const char* kProofNames[] = {"proved", "proved modulo reassociation", "tested"};
constexpr const char* kMatchNames[] = {"exact", "same microarchitecture", "same ISA"};
}  // namespace

const char* proof_level_name(ProofLevel level) { return kProofNames[static_cast<size_t>(level)]; }

ProofLevel proof_level_from_name(const std::string& name) {
  for (size_t k = 0; k < std::size(kProofNames); ++k)
    if (name == kProofNames[k]) return static_cast<ProofLevel>(k);
  throw InputError({}, "no level of proof is called '" + name + "'",
                   "one of proved, proved modulo reassociation, tested");
}

const char* wisdom_match_name(WisdomMatch match) { return kMatchNames[static_cast<size_t>(match)]; }

MergeCounts merge_store(Store& into, const std::string& from) {
  std::stringstream lines;
  open_store(from, OpenMode::kReadOnly)->export_json_lines(lines);
  return into.import_json_lines(lines, from);
}

std::string default_store_path(const std::string& xdg_data_home, const std::string& home) {
  if (!xdg_data_home.empty()) return xdg_data_home + "/exo-tune/tune.db";
  if (!home.empty()) return home + "/.local/share/exo-tune/tune.db";
  throw InputError({}, "no place for the database: neither XDG_DATA_HOME nor HOME is set",
                   "name a file with --db FILE");
}

}  // namespace exotune
