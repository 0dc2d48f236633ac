#include "cli/view_search.h"

#include "cli/text_file.h"
#include "search/views/view_tuning.h"

namespace exotune::cli {
namespace {

ViewRules view_rules(const std::filesystem::path& folder) {
  const auto read = [&](const std::vector<std::string>& sets) {
    std::vector<eqsat::RuleText> rules;
    for (const std::string& set : sets) {
      const std::filesystem::path path = folder / (set + ".rules");
      rules.push_back({path.string(), read_text_file(path)});
    }
    return rules;
  };
  return {.views = read({"canonical", "layout", "columns"}),
          .tiles = read({"canonical", "layout", "columns", "items"}),
          .blocks = read({"canonical", "padding", "blocking"}),
          .reductions = read({"canonical", "pooling"})};
}

}  // namespace

TuneResult tune_from_views(const ViewSearch& search, Store& store, const TuneHooks& hooks) {
  const ViewRules rules = view_rules(search.rules);
  if (search.runner == nullptr) return tune_with_views(search.request, rules, store, hooks);
  return tune_on_with_views(*search.runner, search.request, search.known, rules, store, hooks);
}

}  // namespace exotune::cli
