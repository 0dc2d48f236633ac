#include "cli/view_search.h"

#include "cli/text_file.h"
#include "search/views/view_tuning.h"

namespace exotune::cli {
namespace {

std::vector<eqsat::RuleText> view_rules(const std::filesystem::path& folder) {
  std::vector<eqsat::RuleText> rules;
  for (const char* set : {"canonical", "layout", "columns"}) {
    const std::filesystem::path path = folder / (std::string(set) + ".rules");
    rules.push_back({path.string(), read_text_file(path)});
  }
  return rules;
}

}  // namespace

TuneResult tune_from_views(const ViewSearch& search, Store& store, const TuneHooks& hooks) {
  const std::vector<eqsat::RuleText> rules = view_rules(search.rules);
  if (search.runner == nullptr) return tune_with_views(search.request, rules, store, hooks);
  return tune_on_with_views(*search.runner, search.request, search.known, rules, store, hooks);
}

}  // namespace exotune::cli
