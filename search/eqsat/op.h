#pragma once
// Operators of e-nodes: a family ("transpose", "+", "num") and its parameters ([1, 0], none, [7]).
// Start at OpTable.
//
// An operator is a 32-bit number whose upper bits are the family, so that e-nodes sorted by
// operator keep a family together and a pattern finds either one operator or all of a family by
// binary search.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace exotune::eqsat {

using Op = uint32_t;
using Family = uint32_t;

constexpr int kFamilyShift = 20;  // 4,096 families of 1,048,576 operators each
constexpr Op kNoOp = ~Op{0};

inline Family family_of(Op op) { return op >> kFamilyShift; }

/// The operators of one problem. An e-graph, its patterns and its rules share one table, which
/// outlives them. Interning costs a map look-up; names and parameters are for printing, for the
/// analyses and for computed right sides.
class OpTable {
 public:
  /// The family of that name, made when it is new. InternalError beyond 4,095 families.
  Family family(const std::string& name);
  /// The operator, made when it is new. A family's operators may differ in their parameters only;
  /// how many children one takes is the e-node's business.
  Op op(const std::string& family_name, const std::vector<int64_t>& params = {});
  Op op(Family family, const std::vector<int64_t>& params);

  const std::string& name(Family family) const { return families_[family].name; }
  const std::vector<int64_t>& params(Op op) const;
  /// "transpose[1,0]"; the bare name where there are no parameters.
  std::string str(Op op) const;

 private:
  struct Members {
    std::string name;
    std::vector<std::vector<int64_t>> params;  // by the operator's lower bits
    std::map<std::vector<int64_t>, uint32_t> indices;
  };
  std::vector<Members> families_;
  std::map<std::string, Family> by_name_;
};

}  // namespace exotune::eqsat
