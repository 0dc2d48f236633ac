#include "tests/fuzz/rules_entry_points.h"

#include <stdexcept>

#include "core/base/diagnostic.h"
#include "search/eqsat/rule_text.h"
#include "search/eqsat/saturation.h"
#include "search/eqsat/term.h"

namespace exotune::fuzz {

using namespace eqsat;

namespace {

void apply(std::string_view text, bool convolution) {
  OpTable ops;
  SizeTable sizes;
  AccessLanguage language(ops, sizes);
  AccessTypes types(language);
  EGraph graph(ops, &types);
  const auto op = [&](AccessOp kind, std::vector<int64_t> params, std::vector<Id> children) {
    return types.typed_add(graph, language.op(kind, params), children);
  };
  const Size n = convolution ? 6 : sizes.named("N");
  Id a = op(AccessOp::kAccess, {0}, {graph.add(language.tensor("A", {n, n}))});
  const Id b = op(AccessOp::kAccess, {1},
                  {graph.add(language.tensor(
                      "B", convolution ? std::vector<Size>{2, 6, 3} : std::vector<Size>{n, n}))});
  if (convolution)
    a = op(AccessOp::kWindow, {1, 3, 1, 1}, {a});
  else
    a = op(AccessOp::kAccess, {1}, {a});
  op(AccessOp::kDot, {}, {op(AccessOp::kZip, {0}, {a, b})});
  const std::vector<Rule> rules =
      parse_rules(text, "fuzz.rules", types, {{"K", 2}, {"L", 0}, {"R", 3}, {"C", 2}});
  saturate(graph, rules, {.iterations = 5, .nodes = 500, .seconds = 0.2});
  for (const Id id : graph.classes()) language.str(types.of(graph, id));
  if (graph.term_count() > 2'000) throw std::logic_error("the limit of nodes was passed by far");
}

}  // namespace

bool use_rules(std::string_view text) {
  try {
    apply(text, false);
    apply(text, true);
    return true;
  } catch (const InternalError& e) {
    throw std::logic_error(e.what());
  } catch (const Error& e) {
    e.diagnostic().str();
    return false;
  }
}

bool read_term(std::string_view text) {
  OpTable ops;
  Term term;
  try {
    term = Term::parse(text, ops);
  } catch (const InternalError& e) {
    throw std::logic_error(e.what());
  } catch (const Error& e) {
    e.diagnostic().str();
    return false;
  }
  EGraph graph(ops);
  add(graph, term);
  graph.rebuild();
  const std::string printed = term.str(ops);
  if (Term::parse(printed, ops) != term)
    throw std::logic_error("prints differently when read back: " + printed);
  return true;
}

}  // namespace exotune::fuzz
