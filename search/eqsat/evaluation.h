#pragma once
// What access patterns compute, on numbers: the oracle for rules. Start at audit().
//
// Numbers are integers modulo a prime, so that sums and products are exact whatever the order; two
// terms that agree on random tensors modulo a prime of 61 bits agree as polynomials but for a
// chance of degree / prime. Maxima, minima and relu compare the residues as integers, the upper
// half as negative ones, which is a function like any other: a rule that moves them may not be
// sound for it and then fails here.
#include <map>
#include <string>
#include <vector>

#include "search/eqsat/access.h"

namespace exotune::eqsat {

// Of Mersenne: residues of it multiply without a division.
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

/// Numbers of a value of some type, row-major over access axes, tuple, item axes.
struct Numbers {
  std::vector<int64_t> access, item;
  int64_t tuple = 0;
  std::vector<uint64_t> values;

  int64_t count() const;
  bool operator==(const Numbers&) const = default;
};

/// The operator over arguments of fitting types. `tensors` holds the leaves' numbers by index.
/// Sizes with names have the values in `sizes`.
Numbers evaluate(const AccessLanguage& language, Op op,
                 const std::vector<const Numbers*>& arguments, const std::vector<Numbers>& tensors,
                 const std::map<std::string, int64_t>& sizes);

/// Random numbers for every declared tensor.
std::vector<Numbers> random_tensors(const AccessLanguage& language,
                                    const std::map<std::string, int64_t>& sizes, uint64_t seed);

struct AuditReport {
  size_t checked = 0;              // e-nodes
  std::vector<std::string> wrong;  // "class 12: (dot ..) differs", one for each wrong e-node
};

/// Gives each class the value of one of its terms and compares every e-node with its class. Finds
/// each unsound rule that the graph shows; cost: the tensors' sizes, once for each e-node.
AuditReport audit(const EGraph& graph, const AccessTypes& types,
                  const std::map<std::string, int64_t>& sizes = {}, uint64_t seed = 1);

}  // namespace exotune::eqsat
