#pragma once
// Expressions in rules: parameters of operators and conditions, computed from a match. Start at
// Expression::parse.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/source_location.h"
#include "search/eqsat/access.h"
#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

/// What an expression may look at. All borrowed for the length of one evaluation.
struct Match {
  const EGraph& graph;
  const AccessTypes& types;
  Bindings bindings;
};

/// A list of numbers or sizes; truth is 1 or 0. Nothing where it is undefined (no such axis).
using Value = std::optional<std::vector<int64_t>>;

/// Immutable, shared by copies; reading it again and again costs a walk of its tree.
class Expression {
 public:
  /// Reads an expression from `text` at `at` and leaves `at` behind it. Throws InputError at
  /// `where`, in the column of `text`.
  static Expression parse(std::string_view text, size_t& at, const Variables& variables,
                          const std::map<std::string, int64_t>& constants,
                          const SourceLocation& where);
  /// Nothing where a part of it is undefined or a comparison of sizes cannot be decided.
  Value value(const Match& match) const;
  /// Whether it is there and not 0.
  bool holds(const Match& match) const;

  struct Node;

 private:
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
  friend class ExpressionParser;
};

}  // namespace exotune::eqsat
