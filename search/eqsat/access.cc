#include "search/eqsat/access.h"

#include <algorithm>
#include <array>

#include "core/base/diagnostic.h"

namespace exotune::eqsat {
// Access patterns: tensors with their axes split into access and item parts, and the operators on
// them. Every operator has a type rule here; the e-graph's analysis computes types with them and
// unites two classes only if their types agree, so that a wrong rule cannot change a shape.
namespace {

struct OpRow {
  AccessOp op;
  const char* name;
  int children;
  int params;  // -1: as many as the argument has axes
};

constexpr std::array<OpRow, 25> kOps = {{
    {AccessOp::kTensor, "tensor", 0, 1},
    {AccessOp::kAccess, "access", 1, 1},
    {AccessOp::kTranspose, "transpose", 1, -1},
    {AccessOp::kZip, "zip", 2, 1},
    {AccessOp::kWindow, "window", 1, 4},
    {AccessOp::kSplit, "split", 1, 2},
    {AccessOp::kMerge, "merge", 1, 1},
    {AccessOp::kSlice, "slice", 1, 3},
    {AccessOp::kPad, "pad", 1, 3},
    {AccessOp::kConcat, "concat", 2, 1},
    {AccessOp::kInsert, "insert", 1, 1},
    {AccessOp::kSqueeze, "squeeze", 1, 1},
    {AccessOp::kBroadcast, "broadcast", 1, 2},
    {AccessOp::kReverse, "reverse", 1, 1},
    {AccessOp::kDiagonal, "diagonal", 1, 1},
    {AccessOp::kProduct, "product", 1, 0},
    {AccessOp::kSum, "sum", 1, 0},
    {AccessOp::kMaximum, "maximum", 1, 0},
    {AccessOp::kDot, "dot", 1, 0},
    {AccessOp::kReduceSum, "rsum", 1, 0},
    {AccessOp::kReduceMax, "rmax", 1, 0},
    {AccessOp::kReduceMin, "rmin", 1, 0},
    {AccessOp::kRelu, "relu", 1, 0},
    {AccessOp::kNegate, "negate", 1, 0},
    {AccessOp::kSystolic, "systolic", 2, 3},
}};

using Type = std::optional<AccessType>;

// Axis x of the type, for changing.
Size& axis_of(AccessType& t, size_t x) {
  return x < t.access.size() ? t.access[x] : t.item[x - t.access.size()];
}

bool is_axis(int64_t x, const AccessType& t) { return x >= 0 && static_cast<size_t>(x) < t.rank(); }

void erase_axis(AccessType& t, size_t x) {
  if (x < t.access.size())
    t.access.erase(t.access.begin() + static_cast<std::ptrdiff_t>(x));
  else
    t.item.erase(t.item.begin() + static_cast<std::ptrdiff_t>(x - t.access.size()));
}

void insert_axis(AccessType& t, size_t x, bool of_access, Size n) {
  if (of_access)
    t.access.insert(t.access.begin() + static_cast<std::ptrdiff_t>(x), n);
  else
    t.item.insert(t.item.begin() + static_cast<std::ptrdiff_t>(x - t.access.size()), n);
}

bool is_permutation_of_axes(const std::vector<int64_t>& p, size_t rank) {
  std::vector<int64_t> sorted = p;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  return p.size() == rank;
}

}  // namespace

AccessLanguage::AccessLanguage(OpTable& ops, SizeTable& sizes) : ops_(ops), sizes_(sizes) {
  for (const OpRow& row : kOps) families_.push_back(ops.family(row.name));
}

Op AccessLanguage::tensor(const std::string& name, std::vector<Size> dims) {
  tensors_.push_back({name, std::move(dims)});
  return op(AccessOp::kTensor, {static_cast<int64_t>(tensors_.size()) - 1});
}

const TensorDeclaration& AccessLanguage::declaration(Op tensor) const {
  return tensors_.at(static_cast<size_t>(ops_.params(tensor).at(0)));
}

Op AccessLanguage::op(AccessOp op, const std::vector<int64_t>& params) const {
  return ops_.op(families_[static_cast<size_t>(op)], params);
}

std::optional<AccessOp> AccessLanguage::kind_of(Family family) const {
  const auto it = std::find(families_.begin(), families_.end(), family);
  if (it == families_.end()) return std::nullopt;
  return static_cast<AccessOp>(it - families_.begin());
}

int AccessLanguage::arity(AccessOp op) { return kOps[static_cast<size_t>(op)].children; }

std::string AccessLanguage::names() {
  std::string text;
  for (const OpRow& row : kOps) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

// Nothing where the operator does not fit its arguments: such a term is no term, and the rule that
// made it is dropped.
Type AccessLanguage::type_of(Op op, std::span<const AccessType* const> arguments) const {
  const std::optional<AccessOp> what = kind(op);
  if (!what) return std::nullopt;
  const OpRow& row = kOps[static_cast<size_t>(*what)];
  const std::vector<int64_t>& p = ops_.params(op);
  if (arguments.size() != static_cast<size_t>(row.children)) return std::nullopt;
  const size_t wanted = row.params >= 0 ? static_cast<size_t>(row.params) : arguments[0]->rank();
  if (p.size() != wanted) return std::nullopt;
  if (*what == AccessOp::kTensor) {
    if (p[0] < 0 || static_cast<size_t>(p[0]) >= tensors_.size()) return std::nullopt;
    return AccessType{{}, tensors_[static_cast<size_t>(p[0])].dims, 0};
  }
  if (row.children == 2) return pair_type(*what, p, *arguments[0], *arguments[1]);
  if (row.params == 0) return compute_type(*what, *arguments[0]);
  return view_type(*what, p, *arguments[0]);
}

Type AccessLanguage::compute_type(AccessOp op, const AccessType& a) const {
  switch (op) {
    case AccessOp::kProduct:
    case AccessOp::kSum:
    case AccessOp::kMaximum:
      if (a.tuple == 0) return std::nullopt;
      return AccessType{a.access, a.item, 0};
    case AccessOp::kDot:
      if (a.tuple == 0 || a.item.empty()) return std::nullopt;
      return AccessType{a.access, {}, 0};
    case AccessOp::kReduceSum:
    case AccessOp::kReduceMax:
    case AccessOp::kReduceMin:
      if (a.tuple != 0 || a.item.empty()) return std::nullopt;
      return AccessType{a.access, {}, 0};
    case AccessOp::kRelu:
    case AccessOp::kNegate:
      return a;
    default:
      return std::nullopt;
  }
}

// Two arguments: pairs share the last access axes, products their items.
Type AccessLanguage::pair_type(AccessOp op, const std::vector<int64_t>& p, const AccessType& a,
                               const AccessType& b) const {
  if (a.tuple != 0 || b.tuple != 0) return std::nullopt;
  AccessType t = a;
  if (op != AccessOp::kConcat) {  // the first n access axes are shared
    const bool systolic = op == AccessOp::kSystolic;
    if (systolic && (a.item != std::vector<Size>{p[1]} || b.item != std::vector<Size>{p[1], p[2]}))
      return std::nullopt;
    if (!systolic && a.item != b.item) return std::nullopt;
    if (p[0] < 0 || p[0] > static_cast<int64_t>(std::min(a.access.size(), b.access.size())))
      return std::nullopt;
    if (!std::equal(a.access.begin(), a.access.begin() + p[0], b.access.begin()))
      return std::nullopt;
    t.access.insert(t.access.end(), b.access.begin() + p[0], b.access.end());
    if (!systolic) {
      t.tuple = 2;
      return t;
    }
    t.access.push_back(p[2]);
    t.item.clear();
    return t;
  }
  if (!is_axis(p[0], a) || a.access.size() != b.access.size() || a.rank() != b.rank())
    return std::nullopt;
  const size_t x = static_cast<size_t>(p[0]);
  axis_of(t, x) = b.axis(x);
  if (t != b) return std::nullopt;
  axis_of(t, x) = sizes_.add(a.axis(x), b.axis(x));
  return t;
}

// Rearrangements: no number is computed, axes are named, split, merged or moved. Parameters are
// checked against the rank first, so that a rule with a parameter out of range is refused and not
// an access out of bounds.
Type AccessLanguage::view_type(AccessOp op, const std::vector<int64_t>& p,
                               const AccessType& a) const {
  AccessType t = a;
  if (op == AccessOp::kAccess) {
    if (p[0] < 0 || static_cast<size_t>(p[0]) > a.rank()) return std::nullopt;
    std::vector<Size> all = a.access;
    all.insert(all.end(), a.item.begin(), a.item.end());
    return AccessType{{all.begin(), all.begin() + p[0]}, {all.begin() + p[0], all.end()}, a.tuple};
  }
  if (op == AccessOp::kTranspose) {
    if (!is_permutation_of_axes(p, a.rank())) return std::nullopt;
    for (size_t i = 0; i < p.size(); ++i) axis_of(t, i) = a.axis(static_cast<size_t>(p[i]));
    return t;
  }
  // A new axis may stand behind the last one; every other parameter names an axis that is there.
  const size_t x = static_cast<size_t>(p[0]);
  if (op == AccessOp::kInsert) {
    if (p[0] < 0 || x > a.rank()) return std::nullopt;
    insert_axis(t, x, x < a.access.size(), 1);
    return t;
  }
  if (!is_axis(p[0], a)) return std::nullopt;
  switch (op) {
    case AccessOp::kWindow: {
      if (x < a.access.size() || p[1] < 1 || p[2] < 1 || p[3] < 1) return std::nullopt;
      // Starts: (n - reach) / s + 1, rounded down, of windows that reach d * (w - 1) + 1.
      const Size rest = sizes_.sub(a.axis(x), p[3] * (p[1] - 1) + 1);
      const auto known = SizeTable::number(rest);
      const auto steps = known ? std::optional<Size>(*known / p[2]) : sizes_.divide(rest, p[2]);
      if (!steps || (!known && SizeTable::number(a.axis(x)))) return std::nullopt;
      axis_of(t, x) = p[1];
      t.access.push_back(sizes_.add(*steps, 1));
      return t;
    }
    case AccessOp::kSplit: {
      if (p[1] < 1) return std::nullopt;
      const auto blocks = sizes_.divide(a.axis(x), p[1]);
      if (!blocks) return std::nullopt;
      axis_of(t, x) = p[1];
      insert_axis(t, x, x < a.access.size(), *blocks);
      return t;
    }
    case AccessOp::kMerge: {
      const size_t border = a.access.size();
      if (x + 1 >= a.rank() || (x < border) != (x + 1 < border)) return std::nullopt;
      axis_of(t, x) = sizes_.mul(a.axis(x), a.axis(x + 1));
      erase_axis(t, x + 1);
      return t;
    }
    case AccessOp::kSlice: {
      // At least one element, all of them there, whatever the named sizes are.
      if (!sizes_.at_most(0, p[1]) || !sizes_.at_most(sizes_.add(p[1], 1), p[2]) ||
          !sizes_.at_most(p[2], a.axis(x)))
        return std::nullopt;
      axis_of(t, x) = sizes_.sub(p[2], p[1]);
      return t;
    }
    case AccessOp::kPad:
      if (p[1] < 0 || p[2] < 0) return std::nullopt;
      axis_of(t, x) = sizes_.add(a.axis(x), sizes_.add(p[1], p[2]));
      return t;
    case AccessOp::kSqueeze:
      if (a.axis(x) != 1) return std::nullopt;
      erase_axis(t, x);
      return t;
    case AccessOp::kBroadcast:
      if (a.axis(x) != 1) return std::nullopt;
      axis_of(t, x) = p[1];
      return t;
    case AccessOp::kReverse:
      return t;
    case AccessOp::kDiagonal: {
      const size_t border = a.access.size();
      if (x + 1 >= a.rank() || (x < border) != (x + 1 < border) || a.axis(x) != a.axis(x + 1))
        return std::nullopt;
      erase_axis(t, x + 1);
      return t;
    }
    default:
      return std::nullopt;
  }
}

std::string AccessLanguage::str(const AccessType& type) const {
  const auto list = [this](const std::vector<Size>& axes) {
    std::string text;
    for (const Size n : axes) text += (text.empty() ? "" : ", ") + sizes_.str(n);
    return text;
  };
  return "(" + list(type.access) + " | " +
         (type.tuple ? std::to_string(type.tuple) + " | " : "| ") + list(type.item) + ")";
}

void AccessTypes::make(const EGraph& graph, const ENode& node, Id id) {
  std::array<const AccessType*, kMaxChildren> arguments = {};
  const size_t arity = static_cast<size_t>(node.arity());
  for (size_t i = 0; i < arity; ++i) arguments[i] = &of(graph, node.children[i]);
  const auto type = language_.type_of(node.op, {arguments.data(), arity});
  EXO_CHECK(type);
  if (id >= types_.size()) types_.resize(id + 1);
  types_[id] = *type;
}

// Rules keep types (typed_add and the text's own check): classes of two types that meet here would
// be a fault of ours.
std::pair<bool, bool> AccessTypes::merge(Id into, Id from) {
  EXO_CHECK(types_[into] == types_[from]);
  return {false, false};
}

bool AccessTypes::keeps(const EGraph&, Id id, const ENode& node) const {
  return keep_all_ ||
         std::find(node.children.begin(), node.children.end(), id) == node.children.end();
}

Id AccessTypes::typed_add(EGraph& graph, Op op, std::span<const Id> children) const {
  std::array<const AccessType*, kMaxChildren> arguments = {};
  if (children.size() > arguments.size()) return kNoId;
  for (size_t i = 0; i < children.size(); ++i) arguments[i] = &of(graph, children[i]);
  if (!language_.type_of(op, {arguments.data(), children.size()})) return kNoId;
  return graph.add(op, children);
}

}  // namespace exotune::eqsat
