#include "cli/runner_choice.h"

#include "runners/registry.h"
#include "search/problem.h"

namespace exotune::cli {

std::unique_ptr<Runner> choose_runner(const Target& target, const std::string& wanted,
                                      const std::filesystem::path& records, int jobs) {
  const RunnerKind kind = runner_kind(target, wanted, records);
  if (kind.is_this_machine) return nullptr;
  return kind.make({.target = target, .toolchain = toolchain_of(target), .jobs = jobs});
}

Table runner_table(const std::filesystem::path& records) {
  Table table({"runner", "counts", "what"});
  for (const RunnerKind& kind : runner_kinds(records))
    table.add({kind.name, unit_name(kind.unit), kind.what});
  return table;
}

}  // namespace exotune::cli
