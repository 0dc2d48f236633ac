#include "search/eqsat/view.h"

#include <algorithm>
#include <array>

namespace exotune::eqsat {
// A view's map from its axes to the elements of its tensor, each axis as pieces (a loop's range
// times a stride): what a program needs to read the tensor directly, or to copy it in that order.
namespace {

using Axis = std::vector<ViewPiece>;

// Cuts an axis so that its inner part runs over `inner` elements; nothing where that would cut a
// piece unevenly.
std::optional<std::pair<Axis, Axis>> cut(const Axis& axis, Size inner, SizeTable& sizes) {
  Axis outer = axis, tail;
  Size rest = inner;
  while (rest != 1) {
    if (outer.empty()) return std::nullopt;
    ViewPiece last = outer.back();
    if (const auto more = sizes.divide(rest, last.extent)) {  // the whole piece
      tail.insert(tail.begin(), last);
      outer.pop_back();
      rest = *more;
      continue;
    }
    const auto blocks = sizes.divide(last.extent, rest);
    if (!blocks) return std::nullopt;
    tail.insert(tail.begin(), {last.variable, last.divisor, rest});
    outer.back() = {last.variable, sizes.mul(last.divisor, rest), *blocks};
    rest = 1;
  }
  return std::pair{outer, tail};
}

// Two pieces of one variable that continue each other are one.
Axis joined_axis(const Axis& a, const Axis& b, SizeTable& sizes) {
  Axis out = a;
  for (const ViewPiece& piece : b) {
    if (!out.empty() && out.back().variable == piece.variable &&
        out.back().divisor == sizes.mul(piece.divisor, piece.extent)) {
      out.back() = {piece.variable, piece.divisor, sizes.mul(out.back().extent, piece.extent)};
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

// Goes from the tensor outwards, applying each operator to the map; an operator that computes, or
// whose map is no such list of pieces, ends it without a result.
class Mapper {
 public:
  explicit Mapper(const AccessLanguage& language) : language_(language) {}

  std::optional<ViewMap> map(const Term& term, int index) {
    const Term::Node& node = term.nodes[static_cast<size_t>(index)];
    const auto kind = language_.kind(node.op);
    if (!kind) return std::nullopt;
    if (*kind == AccessOp::kTensor) return tensor(node.op);
    if (node.children.size() != 1) return std::nullopt;
    std::optional<ViewMap> below = map(term, node.children[0]);
    if (!below || !apply(*kind, language_.ops().params(node.op), *below)) return std::nullopt;
    return below;
  }

 private:
  ViewMap tensor(Op op) const {
    ViewMap m;
    m.tensor = op;
    for (const Size n : language_.declaration(op).dims) {
      const int v = static_cast<int>(m.variables.size());
      m.variables.push_back(n);
      m.subscripts.push_back({{v, 1}});
      m.axes.push_back({{v, 1, n}});
    }
    return m;
  }

  bool apply(AccessOp op, const std::vector<int64_t>& p, ViewMap& m) const {
    SizeTable& sizes = language_.sizes();
    const size_t x = p.empty() ? 0 : static_cast<size_t>(p[0]);
    const auto at = [&](size_t i) { return m.axes.begin() + static_cast<std::ptrdiff_t>(i); };
    switch (op) {
      case AccessOp::kAccess:
        m.access = x;
        return true;
      case AccessOp::kTranspose: {
        std::vector<Axis> axes;
        for (const int64_t from : p) axes.push_back(m.axes[static_cast<size_t>(from)]);
        m.axes = std::move(axes);
        return true;
      }
      case AccessOp::kWindow:
        return window(m, x, p);
      case AccessOp::kSplit: {
        const auto parts = cut(m.axes[x], p[1], sizes);
        if (!parts) return false;
        m.axes[x] = parts->second;
        m.axes.insert(at(x), parts->first);
        if (x < m.access) ++m.access;
        return true;
      }
      case AccessOp::kMerge:
        m.axes[x] = joined_axis(m.axes[x], m.axes[x + 1], sizes);
        m.axes.erase(at(x + 1));
        if (x < m.access) --m.access;
        return true;
      case AccessOp::kInsert:
        m.axes.insert(at(x), Axis());
        if (x < m.access) ++m.access;
        return true;
      case AccessOp::kSqueeze:
        m.axes.erase(at(x));
        if (x < m.access) --m.access;
        return true;
      case AccessOp::kSlice: {
        const auto v = whole_variable(m, x);
        if (v) m.axes[x][0].extent = m.variables[*v] = sizes.sub(p[2], p[1]);
        return v.has_value();
      }
      case AccessOp::kReverse:
        return reverse(m, x);
      case AccessOp::kDiagonal:
        return diagonal(m, x);
      default:
        return false;
    }
  }

  // The variable that the axis is; nothing where it is a part of one, or of several.
  static std::optional<size_t> whole_variable(const ViewMap& m, size_t x) {
    const Axis& axis = m.axes[x];
    if (axis.size() != 1 || axis[0].divisor != 1) return std::nullopt;
    const auto v = static_cast<size_t>(axis[0].variable);
    return axis[0].extent == m.variables[v] ? std::optional<size_t>(v) : std::nullopt;
  }

  // Of a part of a variable it would not be the same stride everywhere.
  static bool reverse(ViewMap& m, size_t x) {
    const Axis& axis = m.axes[x];
    if (axis.empty()) return true;
    if (axis.size() != 1) return false;
    for (std::map<int, int64_t>& terms : m.subscripts)
      if (const auto it = terms.find(axis[0].variable); it != terms.end()) it->second *= -1;
    return true;
  }

  static bool diagonal(ViewMap& m, size_t x) {
    const auto v = whole_variable(m, x), w = whole_variable(m, x + 1);
    if (!v || !w) return false;
    for (std::map<int, int64_t>& terms : m.subscripts)
      if (const auto it = terms.find(static_cast<int>(*w)); it != terms.end()) {
        const int64_t c = it->second;
        terms.erase(it);
        terms[static_cast<int>(*v)] += c;
      }
    m.axes.erase(m.axes.begin() + static_cast<std::ptrdiff_t>(x) + 1);
    if (x + 1 < m.access) --m.access;
    return true;
  }

  // The axis must be one whole variable, which becomes start and tap wherever it stands.
  bool window(ViewMap& m, size_t x, const std::vector<int64_t>& p) const {
    const Axis axis = m.axes[x];
    if (!whole_variable(m, x)) return false;
    SizeTable& sizes = language_.sizes();
    const Size rest = sizes.sub(axis[0].extent, p[3] * (p[1] - 1) + 1);
    const auto number = SizeTable::number(rest);
    const auto steps = number ? std::optional<Size>(*number / p[2]) : sizes.divide(rest, p[2]);
    if (!steps) return false;
    const int old = axis[0].variable, start = static_cast<int>(m.variables.size()), tap = start + 1;
    m.variables.push_back(sizes.add(*steps, 1));
    m.variables.push_back(p[1]);
    for (std::map<int, int64_t>& terms : m.subscripts)
      if (const auto it = terms.find(old); it != terms.end()) {
        const int64_t c = it->second;
        terms.erase(it);
        terms[start] = c * p[2];
        terms[tap] = c * p[3];
      }
    m.axes[x] = {{tap, 1, p[1]}};
    m.axes.insert(m.axes.begin() + static_cast<std::ptrdiff_t>(m.access),
                  {{start, 1, m.variables[static_cast<size_t>(start)]}});
    ++m.access;
    return true;
  }

  const AccessLanguage& language_;
};

}  // namespace

std::optional<AccessType> type_of(const Term& term, int index, const AccessLanguage& language) {
  const Term::Node& node = term.nodes[static_cast<size_t>(index)];
  std::vector<AccessType> types;
  for (const int child : node.children) {
    auto type = type_of(term, child, language);
    if (!type) return std::nullopt;
    types.push_back(*std::move(type));
  }
  std::vector<const AccessType*> pointers;
  for (const AccessType& type : types) pointers.push_back(&type);
  return language.type_of(node.op, pointers);
}

std::vector<ViewPiece> ViewMap::order() const {
  std::vector<ViewPiece> all;
  for (const Axis& axis : axes) all.insert(all.end(), axis.begin(), axis.end());
  return all;
}

bool ViewMap::is_tensor(SizeTable& sizes) const {
  const std::vector<ViewPiece> pieces = joined_axis({}, order(), sizes);
  if (pieces.size() != subscripts.size()) return false;
  for (size_t d = 0; d < pieces.size(); ++d) {
    const int v = pieces[d].variable;
    if (subscripts[d] != std::map<int, int64_t>{{v, 1}} || pieces[d].divisor != 1 ||
        pieces[d].extent != variables[static_cast<size_t>(v)])
      return false;
  }
  return true;
}

std::optional<ViewMap> view_map(const Term& term, int index, const AccessLanguage& language) {
  return Mapper(language).map(term, index);
}

}  // namespace exotune::eqsat
