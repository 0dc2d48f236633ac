// Views from a tensor up to a product, and back, one case for each.
//
// A term of views names the axes of an operand in another order, in pieces or padded. Upwards
// (values_of), each axis of the kernel's tensor is told in loops of the product as it was written;
// downwards (below), the loops of the rewritten product are told in those of the former one, which
// is what reindex_loops has to be given. Both are texts: they become arguments of a step, and the
// core proves that step, so a wrong one is refused and never a wrong program.
#include "search/eqsat/operand_index.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace exotune::eqsat {
namespace {

std::string grouped(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}
std::string scaled(int64_t factor, const std::string& text) {
  return factor == 1 ? text : std::to_string(factor) + " * " + grouped(text);
}

struct Digits {
  std::string whole, rest;
};

bool is_word(const std::string& text) { return text.find_first_of(" ()") == std::string::npos; }

// `(a + b)` without its parentheses; nothing for `(a) + (b)` and the like.
std::optional<std::string> inside(const std::string& text) {
  if (is_word(text)) return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return std::nullopt;
  }
  return text.substr(1, text.size() - 2);
}

// Of `k * a + b` a and b, where b is a word, or again such a text with a divisor of k: as axes
// taken together are. Whether b is less than k is not asked; the core does.
std::optional<Digits> whole_and_rest(const std::string& text, int64_t k) {
  const std::string front = std::to_string(k) + " * ";
  const size_t plus = text.find(" + ");
  if (!text.starts_with(front) || plus == std::string::npos) return std::nullopt;
  Digits cut{text.substr(front.size(), plus - front.size()), text.substr(plus + 3)};
  if (!is_word(cut.whole)) return std::nullopt;
  if (is_word(cut.rest)) return cut;
  const int64_t next = std::strtoll(cut.rest.c_str(), nullptr, 10);
  if (next < 2 || next >= k || k % next != 0 || !whole_and_rest(cut.rest, next))
    return std::nullopt;
  return cut;
}

// `text` by k and modulo k.
Digits digits(const std::string& text, int64_t k) {
  if (std::optional<Digits> cut = whole_and_rest(text, k)) return *std::move(cut);
  return {grouped(text) + " / " + std::to_string(k), grouped(text) + " % " + std::to_string(k)};
}

// `k * a + b`; what was cut in two is itself again.
std::string together(const std::string& whole, const std::string& rest, int64_t k) {
  const std::string by = " / " + std::to_string(k), modulo = " % " + std::to_string(k);
  if (whole.ends_with(by) && rest.ends_with(modulo)) {
    const std::string former = whole.substr(0, whole.size() - by.size());
    if (former == rest.substr(0, rest.size() - modulo.size()))
      if (std::optional<std::string> text = inside(former)) return *std::move(text);
  }
  return scaled(k, whole) + " + " + rest;
}

std::vector<AxisValue> permuted(const std::vector<AxisValue>& v, const std::vector<int64_t>& from) {
  std::vector<AxisValue> out;
  for (const int64_t k : from) out.push_back(v[static_cast<size_t>(k)]);
  return out;
}
std::vector<std::string> permuted_back(const std::vector<std::string>& v,
                                       const std::vector<int64_t>& from) {
  std::vector<std::string> out(v.size());
  for (size_t k = 0; k < from.size(); ++k) out[static_cast<size_t>(from[k])] = v[k];
  return out;
}

// Quotients and remainders are by literals only: the core has no others.
int64_t number_of(Size size) {
  const auto value = SizeTable::number(size);
  if (!value) throw NoLoops{"an axis of open size is taken together with another"};
  return *value;
}

}  // namespace

std::vector<AxisValue> OperandIndex::values(int index) const {
  const Term::Node& node = term_.nodes[static_cast<size_t>(index)];
  const AccessOp op = kind_of(node);
  if (op == AccessOp::kTensor) return values_of_tensor(node.op);
  const int child = node.children[0];
  return values_of(op, language_.ops().params(node.op), values(child), type(child));
}

void OperandIndex::solve(int index, const std::vector<std::string>& axes) {
  const Term::Node& node = term_.nodes[static_cast<size_t>(index)];
  const AccessOp op = kind_of(node);
  if (op == AccessOp::kTensor) return solve_tensor(node.op, axes);
  const int child = node.children[0];
  solve(child, below(op, language_.ops().params(node.op), axes, child));
}

const std::string& OperandIndex::name(int loop) const {
  return product_.loops[static_cast<size_t>(loop)].iter.name();
}
AccessType OperandIndex::type(int index) const {
  const auto type = type_of(term_, index, language_);
  if (!type) throw NoLoops{"a view has no type"};
  return *type;
}

AccessOp OperandIndex::kind_of(const Term::Node& node) const {
  const auto kind = language_.kind(node.op);
  const bool view = kind && (*kind == AccessOp::kTensor || node.children.size() == 1);
  if (!view) throw NoLoops{"an operand is no view of one tensor"};
  return *kind;
}

void OperandIndex::require_operand(Op tensor) const {
  if (language_.declaration(tensor).name != operand_.buffer.name())
    throw NoLoops{"the operands changed places"};
}

// From the other end of the axis; what is told so already, from this one.
std::string OperandIndex::turned(const std::string& axis, Size extent) const {
  const Size last = language_.sizes().sub(extent, 1);
  const std::string front = grouped(language_.sizes().str(last)) + " - ";
  if (axis.starts_with(front))
    if (std::optional<std::string> text = inside(axis.substr(front.size())))
      return *std::move(text);
  return front + grouped(axis);
}

// A loop that counts down is told from its end, whichever way around.
std::string OperandIndex::as_counted(const std::string& text, int loop, size_t dimension) const {
  return operand_.backwards[dimension].contains(loop)
             ? turned(text, product_.loops[static_cast<size_t>(loop)].extent)
             : text;
}

// Which place of their points these loops are at.
std::string OperandIndex::counted(const SubscriptLoops& loops, size_t dimension) const {
  std::string text;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l)
    text += (text.empty() ? "" : " + ") + scaled(l->first / loops.front().first,
                                                 as_counted(name(l->second), l->second, dimension));
  return text.empty() ? "0" : text;
}

// The other way: what each of them is where all together are at this place. The outermost needs no
// remainder, as nothing lies beyond it.
void OperandIndex::take_apart(const SubscriptLoops& loops, size_t dimension,
                              const std::string& axis) {
  std::string rest = axis;
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
    const auto& [c, loop] = *l;
    std::string text = rest;
    if (c != loops.front().first) {
      Digits cut = digits(rest, c / loops.front().first);
      text = std::move(cut.whole);
      rest = std::move(cut.rest);
    }
    loops_[loop] = as_counted(text, loop, dimension);
  }
}

// Places are counted from the first element that is read: parts of a dimension begin there.
std::vector<AxisValue> OperandIndex::values_of_tensor(Op tensor) const {
  require_operand(tensor);
  std::vector<AxisValue> out;
  for (size_t d = 0; d < operand_.subscripts.size(); ++d) {
    const WindowLoops w = window_loops(product_, operand_.subscripts[d], language_.sizes());
    // Of windows no place is told before they are made.
    out.push_back({w.taps.empty() ? counted(w.starts, d) : operand_.index[d], static_cast<int>(d)});
  }
  return out;
}

// Of a view that makes windows of a dimension.
WindowLoops OperandIndex::windows(const AxisValue& axis, int64_t step, int64_t apart) const {
  if (axis.dimension < 0) throw NoLoops{"a window is of no dimension"};
  const std::map<int, int64_t>& subscript =
      operand_.subscripts[static_cast<size_t>(axis.dimension)];
  WindowLoops w = window_loops(product_, subscript, language_.sizes());
  if (w.starts.empty() || w.starts.front().first != step ||
      (!w.taps.empty() && w.taps.front().first != apart))
    throw NoLoops{"a window is of no two loops"};
  return w;
}

std::vector<AxisValue> OperandIndex::values_of(AccessOp op, const std::vector<int64_t>& p,
                                               std::vector<AxisValue> v,
                                               const AccessType& of) const {
  const size_t x = p.empty() ? 0 : static_cast<size_t>(p[0]);
  const auto at = [&](size_t k) { return v.begin() + static_cast<std::ptrdiff_t>(k); };
  switch (op) {
    case AccessOp::kAccess:
      return v;
    case AccessOp::kTranspose:
      return permuted(v, p);
    case AccessOp::kWindow: {
      const auto d = static_cast<size_t>(v[x].dimension);
      const WindowLoops w = windows(v[x], p[2], p[3]);
      v[x] = {counted(w.taps, d)};
      v.insert(at(of.access.size()), {counted(w.starts, d)});
      return v;
    }
    case AccessOp::kSlice:
      if (v[x].dimension < 0 || operand_.first[static_cast<size_t>(v[x].dimension)] != p[1])
        throw NoLoops{"an operand is a part of what is read"};
      return v;
    case AccessOp::kReverse:
      v[x] = {turned(v[x].text, of.axis(x))};
      return v;
    case AccessOp::kDiagonal:
      if (v[x].text != v[x + 1].text) throw NoLoops{"a diagonal is of no one loop"};
      v[x] = {v[x].text};
      v.erase(at(x + 1));
      return v;
    case AccessOp::kSplit: {
      Digits cut = digits(v[x].text, number_of(p[1]));
      v[x] = {std::move(cut.whole)};
      v.insert(at(x + 1), {std::move(cut.rest)});
      return v;
    }
    case AccessOp::kMerge:
      v[x] = {together(v[x].text, v[x + 1].text, number_of(of.axis(x + 1)))};
      v.erase(at(x + 1));
      return v;
    case AccessOp::kInsert:
      v.insert(at(x), {"0"});
      return v;
    case AccessOp::kSqueeze:
      v.erase(at(x));
      return v;
    // What is left when the items are reduced.
    case AccessOp::kReduceSum:
    case AccessOp::kReduceMax:
    case AccessOp::kReduceMin:
      v.resize(of.access.size());
      return v;
    case AccessOp::kPad:
      if (p[1] != 0) v[x] = {v[x].text + " + " + std::to_string(p[1])};
      return v;
    default:
      throw NoLoops{"an operand is no view of one tensor"};
  }
}

// The axis without `before` zeros in front of it, and those behind it.
void OperandIndex::unpad(std::string& axis, int64_t before, Size extent) {
  if (before != 0) {
    guards_.insert(std::to_string(before) + " <= " + axis);
    axis += " - " + std::to_string(before);
  }
  guards_.insert(axis + " < " + language_.sizes().str(extent));
}

// What the axes of the child are, given those of the node.
std::vector<std::string> OperandIndex::below(AccessOp op, const std::vector<int64_t>& p,
                                             std::vector<std::string> e, int child) {
  const AccessType of = type(child);
  const size_t x = p.empty() ? 0 : static_cast<size_t>(p[0]);
  const auto at = [&](size_t k) { return e.begin() + static_cast<std::ptrdiff_t>(k); };
  switch (op) {
    case AccessOp::kTranspose:
      return permuted_back(e, p);
    case AccessOp::kWindow: {
      const AxisValue axis = values(child)[x];
      const auto d = static_cast<size_t>(axis.dimension);
      const WindowLoops w = windows(axis, p[2], p[3]);
      const size_t border = of.access.size();
      take_apart(w.starts, d, e[border]);
      take_apart(w.taps, d, e[x + 1]);
      e.erase(at(border));
      return e;
    }
    case AccessOp::kReverse:
      e[x] = turned(e[x], of.axis(x));
      return e;
    case AccessOp::kDiagonal:
      e.insert(at(x + 1), e[x]);
      return e;
    case AccessOp::kSplit:
      e[x] = together(e[x], e[x + 1], number_of(p[1]));
      e.erase(at(x + 1));
      return e;
    case AccessOp::kMerge: {
      Digits cut = digits(e[x], number_of(of.axis(x + 1)));
      e[x] = std::move(cut.whole);
      e.insert(at(x + 1), std::move(cut.rest));
      return e;
    }
    case AccessOp::kInsert:
      e.erase(at(x));
      return e;
    case AccessOp::kSqueeze:
      e.insert(at(x), "0");
      return e;
    case AccessOp::kPad:
      unpad(e[x], p[1], of.axis(x));
      return e;
    default:
      return e;
  }
}

// Loops of a window are known already from where the window was made, those of a diagonal from its
// other axis.
void OperandIndex::solve_tensor(Op tensor, const std::vector<std::string>& axes) {
  require_operand(tensor);
  for (size_t d = 0; d < operand_.subscripts.size(); ++d) {
    const std::map<int, int64_t>& terms = operand_.subscripts[d];
    const auto known = [&](const auto& term) { return loops_.contains(term.first); };
    if (std::any_of(terms.begin(), terms.end(), known)) continue;
    const WindowLoops w = window_loops(product_, terms, language_.sizes());
    if (!w.taps.empty()) throw NoLoops{"a window is of no two loops"};
    take_apart(w.starts, d, axes[d]);
  }
}

}  // namespace exotune::eqsat
