#include "search/eqsat/evaluation.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <random>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
// The meaning of access patterns: every operator evaluated on small tensors whose numbers are
// residues of a prime. Two terms that differ as functions differ on random residues with
// overwhelming probability, which is how the audit finds unsound rules; rounding cannot hide a
// difference, since there is none.
namespace {

using Index = std::vector<int64_t>;

uint64_t add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t mul(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime);
}

// Signed meaning of a residue: the upper half is negative.
bool is_negative(uint64_t a) { return a > kPrime / 2; }

// Maxima and minima go by it: zeros that padding adds are not below every number.
bool is_less(uint64_t a, uint64_t b) {
  const auto key = [](uint64_t v) { return is_negative(v) ? v - kPrime / 2 - 1 : v + kPrime / 2; };
  return key(a) < key(b);
}

int64_t product(const Index& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Index joined(Index a, const Index& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Calls f with each index of these extents, last fastest.
void for_each_index(const Index& dims, const std::function<void(const Index&)>& f) {
  Index index(dims.size(), 0);
  if (product(dims) == 0) return;
  for (;;) {
    f(index);
    size_t x = dims.size();
    while (x > 0 && ++index[x - 1] == dims[x - 1]) index[--x] = 0;
    if (x == 0) return;
  }
}

// The place of (s, t, c) in a value's numbers.
size_t place(const Numbers& n, const Index& axes, int64_t member) {
  int64_t at = 0;
  for (size_t i = 0; i < n.access.size(); ++i) at = at * n.access[i] + axes[i];
  if (n.tuple > 0) at = at * n.tuple + member;
  for (size_t i = 0; i < n.item.size(); ++i) at = at * n.item[i] + axes[n.access.size() + i];
  return static_cast<size_t>(at);
}

// Fills the result by asking for each of its elements.
void fill(Numbers& out, const std::function<uint64_t(const Index& axes, int64_t member)>& element) {
  out.values.resize(static_cast<size_t>(out.count()));
  for_each_index(joined(out.access, out.item), [&](const Index& axes) {
    for (int64_t t = 0; t < std::max<int64_t>(out.tuple, 1); ++t)
      out.values[place(out, axes, t)] = element(axes, t);
  });
}

// The axes of the argument that an element of a view is read from; nothing: it is 0.
// Views read their argument at another place, or nothing (padding is zero): only that place is
// computed here.
std::optional<Index> source(AccessOp op, const std::vector<int64_t>& p, const Numbers& a,
                            const Numbers& out, const Index& axes) {
  Index from = axes;
  const auto at = [&](size_t x) { return from.begin() + static_cast<std::ptrdiff_t>(x); };
  const size_t x = p.empty() ? 0 : static_cast<size_t>(p[0]);
  switch (op) {
    case AccessOp::kTranspose:
      for (size_t i = 0; i < axes.size(); ++i) from[static_cast<size_t>(p[i])] = axes[i];
      return from;
    case AccessOp::kWindow: {
      // The new axis is the last of S; the item axis x stands one place further on.
      const int64_t start = axes[out.access.size() - 1] * p[2];
      from.erase(at(out.access.size() - 1));
      from[x] = start + from[x] * p[3];
      return from;
    }
    case AccessOp::kSplit:
      from[x] = axes[x] * p[1] + axes[x + 1];
      from.erase(at(x + 1));
      return from;
    case AccessOp::kMerge: {
      const int64_t inner = joined(a.access, a.item)[x + 1];
      from[x] = axes[x] / inner;
      from.insert(at(x + 1), axes[x] % inner);
      return from;
    }
    case AccessOp::kSlice:
      from[x] += p[1];
      return from;
    case AccessOp::kPad:
      from[x] -= p[1];
      if (from[x] < 0 || from[x] >= joined(a.access, a.item)[x]) return std::nullopt;
      return from;
    case AccessOp::kInsert:
      from.erase(at(x));
      return from;
    case AccessOp::kSqueeze:
      from.insert(at(x), 0);
      return from;
    case AccessOp::kBroadcast:
      from[x] = 0;
      return from;
    case AccessOp::kReverse:
      from[x] = joined(a.access, a.item)[x] - 1 - from[x];
      return from;
    case AccessOp::kDiagonal:
      from.insert(at(x + 1), axes[x]);
      return from;
    default:
      return from;  // access, relu, negate: the same axes
  }
}

uint64_t of_item(AccessOp op, const Numbers& a, const Index& s) {
  const bool largest = op == AccessOp::kReduceMax, least = op == AccessOp::kReduceMin;
  uint64_t result = largest || least ? kPrime : 0;  // no element yet
  for_each_index(a.item, [&](const Index& c) {
    const Index axes = joined(s, c);
    uint64_t v = op == AccessOp::kDot ? 1 : a.values[place(a, axes, 0)];
    if (op == AccessOp::kDot)
      for (int64_t t = 0; t < a.tuple; ++t) v = mul(v, a.values[place(a, axes, t)]);
    if (largest || least)
      result = result == kPrime || is_less(result, v) == largest ? v : result;
    else
      result = add(result, v);
  });
  return result;
}

uint64_t of_tuple(AccessOp op, const Numbers& a, const Index& axes) {
  uint64_t result = op == AccessOp::kProduct ? 1 : 0;
  for (int64_t t = 0; t < a.tuple; ++t) {
    const uint64_t v = a.values[place(a, axes, t)];
    if (op == AccessOp::kProduct)
      result = mul(result, v);
    else if (op == AccessOp::kSum)
      result = add(result, v);
    else
      result = t == 0 || is_less(result, v) ? v : result;
  }
  return result;
}

// zip: member 0 is the left one over Z and S1, member 1 the right one over Z and S2.
uint64_t of_zip(const Numbers& a, const Numbers& b, int64_t shared, const Index& axes, int64_t t) {
  const auto begin = axes.begin();
  const auto left = static_cast<std::ptrdiff_t>(a.access.size());
  const auto item = axes.end() - static_cast<std::ptrdiff_t>(a.item.size());
  Index from(begin, t == 0 ? begin + left : begin + shared);
  if (t != 0) from.insert(from.end(), begin + left, item);
  from.insert(from.end(), item, axes.end());
  const Numbers& n = t == 0 ? a : b;
  return n.values[place(n, from, 0)];
}

uint64_t of_concat(const Numbers& a, const Numbers& b, size_t x, Index axes) {
  const int64_t first = joined(a.access, a.item)[x];
  if (axes[x] < first) return a.values[place(a, axes, 0)];
  axes[x] -= first;
  return b.values[place(b, axes, 0)];
}

// systolic: Z, S1, S2 and a column; sums over r.
uint64_t of_systolic(const Numbers& a, const Numbers& b, int64_t shared, const Index& axes) {
  const auto left = static_cast<std::ptrdiff_t>(a.access.size());
  Index row(axes.begin(), axes.begin() + left);
  Index block(axes.begin(), axes.begin() + shared);
  block.insert(block.end(), axes.begin() + left, axes.end() - 1);
  row.push_back(0);
  block.push_back(0);
  block.push_back(axes.back());
  uint64_t sum = 0;
  for (int64_t k = 0; k < a.item[0]; ++k) {
    row.back() = k;
    block[block.size() - 2] = k;
    sum = add(sum, mul(a.values[place(a, row, 0)], b.values[place(b, block, 0)]));
  }
  return sum;
}

Numbers shape_of(const AccessType& type, const SizeTable& sizes,
                 const std::map<std::string, int64_t>& names) {
  Numbers n;
  for (const Size s : type.access) n.access.push_back(sizes.value(s, names));
  for (const Size s : type.item) n.item.push_back(sizes.value(s, names));
  n.tuple = type.tuple;
  return n;
}

AccessType type_of(const Numbers& n) {
  return {{n.access.begin(), n.access.end()},
          {n.item.begin(), n.item.end()},
          static_cast<int>(n.tuple)};
}

// The operator with its symbolic parameters replaced by numbers.
// Symbolic sizes are given numbers, the same ones in all terms that are compared.
Op concrete(const AccessLanguage& language, Op op, const std::map<std::string, int64_t>& names) {
  std::vector<int64_t> params = language.ops().params(op);
  bool changed = false;
  for (int64_t& p : params)
    if (p < 0) {
      p = language.sizes().value(p, names);
      changed = true;
    }
  return changed ? language.op(*language.kind(op), params) : op;
}

}  // namespace

int64_t Numbers::count() const {
  return product(access) * product(item) * std::max<int64_t>(tuple, 1);
}

Numbers evaluate(const AccessLanguage& language, Op op,
                 const std::vector<const Numbers*>& arguments, const std::vector<Numbers>& tensors,
                 const std::map<std::string, int64_t>& sizes) {
  const AccessOp kind = *language.kind(op);
  if (kind == AccessOp::kTensor)
    return tensors.at(static_cast<size_t>(language.ops().params(op)[0]));
  const Op number = concrete(language, op, sizes);
  const std::vector<int64_t> p = language.ops().params(number);
  std::vector<AccessType> types;
  for (const Numbers* n : arguments) types.push_back(type_of(*n));
  std::vector<const AccessType*> pointers;
  for (const AccessType& t : types) pointers.push_back(&t);
  const auto type = language.type_of(number, pointers);
  EXO_CHECK(type);
  Numbers out = shape_of(*type, language.sizes(), sizes);
  const Numbers& a = *arguments[0];
  const auto s_of = [&](const Index& axes) {
    return Index(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(out.access.size()));
  };
  fill(out, [&](const Index& axes, int64_t t) -> uint64_t {
    switch (kind) {
      case AccessOp::kZip:
        return of_zip(a, *arguments[1], p[0], axes, t);
      case AccessOp::kConcat:
        return of_concat(a, *arguments[1], static_cast<size_t>(p[0]), axes);
      case AccessOp::kSystolic:
        return of_systolic(a, *arguments[1], p[0], axes);
      case AccessOp::kDot:
      case AccessOp::kReduceSum:
      case AccessOp::kReduceMax:
      case AccessOp::kReduceMin:
        return of_item(kind, a, s_of(axes));
      case AccessOp::kProduct:
      case AccessOp::kSum:
      case AccessOp::kMaximum:
        return of_tuple(kind, a, axes);
      default:
        break;
    }
    const std::optional<Index> from = source(kind, p, a, out, axes);
    const uint64_t v = from ? a.values[place(a, *from, t)] : 0;
    if (kind == AccessOp::kRelu) return is_negative(v) ? 0 : v;
    if (kind == AccessOp::kNegate) return v == 0 ? 0 : kPrime - v;
    return v;
  });
  return out;
}

std::vector<Numbers> random_tensors(const AccessLanguage& language,
                                    const std::map<std::string, int64_t>& sizes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Numbers> tensors;
  for (size_t k = 0; k < language.tensor_count(); ++k) {
    const TensorDeclaration& d =
        language.declaration(language.op(AccessOp::kTensor, {static_cast<int64_t>(k)}));
    Numbers n = shape_of({{}, d.dims, 0}, language.sizes(), sizes);
    n.values.resize(static_cast<size_t>(n.count()));
    for (uint64_t& v : n.values) v = random() % kPrime;
    tensors.push_back(std::move(n));
  }
  return tensors;
}

// Evaluates every class by each of its nodes: nodes of one class must give one value. Names the two
// terms and their numbers when they do not.
AuditReport audit(const EGraph& graph, const AccessTypes& types,
                  const std::map<std::string, int64_t>& sizes, uint64_t seed) {
  const AccessLanguage& language = types.language();
  const std::vector<Numbers> tensors = random_tensors(language, sizes, seed);
  std::map<Id, Numbers> value;  // by class
  const auto of_node = [&](const ENode& node) -> std::optional<Numbers> {
    std::vector<const Numbers*> arguments;
    for (int i = 0; i < node.arity(); ++i) {
      const auto it = value.find(graph.find(node.children[i]));
      if (it == value.end()) return std::nullopt;
      arguments.push_back(&it->second);
    }
    return evaluate(language, node.op, arguments, tensors, sizes);
  };
  for (bool more = true; more;) {
    more = false;
    for (const Id id : graph.classes()) {
      if (value.contains(id)) continue;
      for (const ENode& node : graph.nodes(id))
        if (auto v = of_node(node)) {
          value[id] = std::move(*v);
          more = true;
          break;
        }
    }
  }
  AuditReport report;
  for (const Id id : graph.classes())
    for (const ENode& node : graph.nodes(id)) {
      ++report.checked;
      if (const auto v = of_node(node); !v || *v != value[id])
        report.wrong.push_back("class " + std::to_string(id) + ": " + language.ops().str(node.op) +
                               " differs from its class");
    }
  return report;
}

}  // namespace exotune::eqsat
