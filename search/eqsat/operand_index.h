#pragma once
// One operand of a term's product, as maps between the program's loops and the product's axes.
//
// Down from the product to the tensor: which index each axis stands for, given a name for every
// axis (solve). Up from the tensor: which value each axis has at a point of the program's loops
// (values). Both are text, for reindex_loops to read and prove.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/eqsat/product.h"
#include "search/eqsat/view.h"

namespace exotune::eqsat {

/// Why a term is no set of loops; index_plan_of catches it.
struct NoLoops {
  std::string reason;
};

/// What an axis is at a point of the program's loops; of a tensor's own dimension, which one.
struct AxisValue {
  std::string text;
  int dimension = -1;
};

class OperandIndex {
 public:
  OperandIndex(const Product& product, const ProductOperand& operand, const Term& term,
               const AccessLanguage& language)
      : product_(product), operand_(operand), term_(term), language_(language) {}

  /// Of the axes of this node of the term. Throws NoLoops.
  std::vector<AxisValue> values(int index) const;

  /// Given what each axis of the node is called, the loops of the program over these names. Throws
  /// NoLoops.
  void solve(int index, const std::vector<std::string>& axes);

  const std::map<int, std::string>& loops() const { return loops_; }
  /// What holds at the points that are no padding: "16 * k0 + k1 < 40".
  const std::set<std::string>& guards() const { return guards_; }

 private:
  const std::string& name(int loop) const;
  AccessType type(int index) const;
  AccessOp kind_of(const Term::Node& node) const;
  void require_operand(Op tensor) const;
  std::vector<AxisValue> values_of_tensor(Op tensor) const;
  WindowLoops windows(const AxisValue& axis, int64_t step, int64_t apart) const;
  std::string counted(const SubscriptLoops& loops, size_t dimension) const;
  void take_apart(const SubscriptLoops& loops, size_t dimension, const std::string& axis);
  std::string as_counted(const std::string& text, int loop, size_t dimension) const;
  std::vector<AxisValue> values_of(AccessOp op, const std::vector<int64_t>& p,
                                   std::vector<AxisValue> v, const AccessType& of) const;
  void unpad(std::string& axis, int64_t before, Size extent);
  std::string turned(const std::string& axis, Size extent) const;
  std::vector<std::string> below(AccessOp op, const std::vector<int64_t>& p,
                                 std::vector<std::string> e, int child);
  void solve_tensor(Op tensor, const std::vector<std::string>& axes);

  const Product& product_;
  const ProductOperand& operand_;
  const Term& term_;
  const AccessLanguage& language_;
  std::map<int, std::string> loops_;
  std::set<std::string> guards_;
};

}  // namespace exotune::eqsat
