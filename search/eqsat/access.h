#pragma once
// Access patterns: tensors seen as (access | tuple | item), the operators between them and their
// types. Start at AccessType and AccessLanguage. After Glenside (MAPS 2021), section 3; the tuple
// is an axis of its own kind here, because rules that treat it as one of the item's are unsound.
//
// A value of type (S | t | C) gives a number for each s in S, each of t members and each c in C.
// Axes are counted over S and then C; the tuple has no number. `0` for t means that there is no
// tuple.
//
//   tensor[k]            the k-th declared tensor: ( | | dims)
//   access[d] a          the first d axes are S, the others C
//   transpose[p..] a     axis i of the result is axis p[i]; the border stays where it is
//   zip[n] a b           (Z S1 | | C), (Z S2 | | C) -> (Z S1 S2 | 2 | C), n = |Z|; zip[0] is the
//                        product of all with all, zip[|S|] pairs equals
//   window[x,w,s,d] a    item axis x becomes a window of w, d apart; where it starts, every s, is a
//                        new last axis of S
//   split[x,k] a         axis x of n becomes two, n/k and k
//   merge[x] a           axes x and x + 1, both of S or both of C, become one
//   slice[x,lo,hi] a     pad[x,before,after] a (with zeros)     concat[x] a b
//   insert[x] a          a new axis of size 1 before x (at the border: of C)
//   squeeze[x] a         takes such an axis away
//   broadcast[x,n] a     axis x of size 1 becomes n equal ones
//   reverse[x] a         axis x backwards
//   diagonal[x] a        axes x and x + 1, of one size and both of S or both of C, become one: the
//                        places where they are equal
//   product a, sum a, maximum a       over the tuple: (S | t | C) -> (S | | C)
//   dot a, rsum a, rmax a, rmin a     over the item: (S | | C) -> (S | | ); dot takes a tuple, and
//                                     sums the products of its members
//   relu a, negate a                  each element
//   systolic[n,r,c] a b  (Z S1 | | r), (Z S2 | | r c) -> (Z S1 S2 c | | ), n = |Z|: products of
//   rows
//                        with blocks of r x c on a hardware array of that shape
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/eqsat/egraph.h"
#include "search/eqsat/size.h"

namespace exotune::eqsat {

/// Two types are equal if their axes are, one by one; sizes are interned, so this compares
/// integers.
struct AccessType {
  std::vector<Size> access, item;
  int tuple = 0;

  size_t rank() const { return access.size() + item.size(); }
  Size axis(size_t x) const { return x < access.size() ? access[x] : item[x - access.size()]; }
  bool operator==(const AccessType&) const = default;
};

/// The order is that of the table of names and arities in access.cc.
enum class AccessOp : uint8_t {
  kTensor,
  kAccess,
  kTranspose,
  kZip,
  kWindow,
  kSplit,
  kMerge,
  kSlice,
  kPad,
  kConcat,
  kInsert,
  kSqueeze,
  kBroadcast,
  kReverse,
  kDiagonal,
  kProduct,
  kSum,
  kMaximum,
  kDot,
  kReduceSum,
  kReduceMax,
  kReduceMin,
  kRelu,
  kNegate,
  kSystolic,
};

/// What a program's buffer is to the e-graph: a name and its extents.
struct TensorDeclaration {
  std::string name;
  std::vector<Size> dims;
};

/// The operators of access patterns in a table of operators, the declared tensors, and the rule of
/// types. One for each problem; outlives its e-graphs.
class AccessLanguage {
 public:
  AccessLanguage(OpTable& ops, SizeTable& sizes);

  /// Two tensors of one name are two: names are for messages.
  Op tensor(const std::string& name, std::vector<Size> dims);  // declares it
  const TensorDeclaration& declaration(Op tensor) const;
  size_t tensor_count() const { return tensors_.size(); }

  /// The operator with these parameters; the same one for equal parameters.
  Op op(AccessOp op, const std::vector<int64_t>& params = {}) const;
  /// Nothing for a family that is none of these operators.
  std::optional<AccessOp> kind(Op op) const { return kind_of(family_of(op)); }
  std::optional<AccessOp> kind_of(Family family) const;
  static int arity(AccessOp op);
  static std::string names();  // "tensor, access, transpose, ..": of all operators
  /// The type of the operator over arguments of these types; nothing where it does not apply. Never
  /// throws for wrong parameters: rules ask it before they add a node.
  std::optional<AccessType> type_of(Op op, std::span<const AccessType* const> arguments) const;

  OpTable& ops() const { return ops_; }
  SizeTable& sizes() const { return sizes_; }
  std::string str(const AccessType& type) const;  // "(M, N | 2 | K)"

 private:
  std::optional<AccessType> view_type(AccessOp op, const std::vector<int64_t>& p,
                                      const AccessType& a) const;
  std::optional<AccessType> compute_type(AccessOp op, const AccessType& a) const;
  std::optional<AccessType> pair_type(AccessOp op, const std::vector<int64_t>& p,
                                      const AccessType& a, const AccessType& b) const;

  OpTable& ops_;
  SizeTable& sizes_;
  std::vector<Family> families_;  // by AccessOp
  std::vector<TensorDeclaration> tensors_;
};

/// The type of each class. Terms are added through typed_add only, so each class has one.
class AccessTypes : public Analysis {
 public:
  /// What only names its own class again is dropped, or, `keep_all`, is there for an audit: a wrong
  /// rule may have made it so.
  explicit AccessTypes(const AccessLanguage& language, bool keep_all = false)
      : language_(language), keep_all_(keep_all) {}
  /// Types are computed when a class is made and never change.
  void make(const EGraph& graph, const ENode& node, Id id) override;
  std::pair<bool, bool> merge(Id into, Id from) override;
  bool remake(const EGraph&, const ENode&, Id) override { return false; }
  /// Whether the node is more than its own class's name: a transposition that changes nothing is
  /// not.
  bool keeps(const EGraph& graph, Id id, const ENode& node) const override;

  const AccessType& of(const EGraph& graph, Id id) const { return types_[graph.find(id)]; }
  /// Adds the node when it has a type; kNoId otherwise.
  Id typed_add(EGraph& graph, Op op, std::span<const Id> children) const;
  const AccessLanguage& language() const { return language_; }

 private:
  const AccessLanguage& language_;
  const bool keep_all_;
  std::vector<AccessType> types_;
};

}  // namespace exotune::eqsat
