// Products as terms of access patterns: each operand a view whose axes are the product's loops.
#include <algorithm>
#include <set>

#include "search/eqsat/product.h"
#include "search/eqsat/view.h"

namespace exotune::eqsat {
namespace {

// A tensor, of each dimension what is read, windows where loops of two kinds share a subscript,
// parts where several loops count an axis; then a transposition to a given order.
class OperandView {
 public:
  OperandView(const Product& product, const ProductOperand& operand, AccessLanguage& language,
              Term& term)
      : product_(product), operand_(operand), language_(language), term_(term) {}

  // Nothing where it cannot be said.
  std::optional<int> build(const std::vector<int>& wanted, size_t border) {
    view_ = term_.share(language_.tensor(operand_.buffer.name(), operand_.dims), {});
    // -1: not said yet.
    axes_.assign(operand_.dims.size(), -1);
    for (size_t d = 0; d < operand_.dims.size(); ++d)
      if (!subscript(d)) return std::nullopt;
    // Windows leave their starts in the access part; all axes are items while they move.
    unary(AccessOp::kAccess, {0});
    join_diagonals();
    std::vector<int64_t> order;
    for (const int loop : wanted) {
      const auto it = std::find(axes_.begin(), axes_.end(), loop);
      if (it == axes_.end()) return std::nullopt;
      order.push_back(it - axes_.begin());
    }
    // An axis that no loop of the term runs along.
    if (order.size() != axes_.size()) return std::nullopt;
    unary(AccessOp::kTranspose, order);
    unary(AccessOp::kAccess, {static_cast<int64_t>(border)});
    // Windows may reach less far than the loops run, or further: then it is not this view.
    const std::optional<AccessType> type = type_of(term_, view_, language_);
    if (!type) return std::nullopt;
    for (size_t x = 0; x < wanted.size(); ++x)
      if (type->axis(x) != loop(wanted[x]).extent) return std::nullopt;
    return view_;
  }

 private:
  const ProductLoop& loop(int k) const { return product_.loops[static_cast<size_t>(k)]; }
  SizeTable& sizes() { return language_.sizes(); }
  void unary(AccessOp op, const std::vector<int64_t>& params) {
    view_ = term_.share(language_.op(op, params), {view_});
  }

  // Where dimension d stands: behind the starts of the windows and the parts of dimensions so far.
  size_t place(size_t d) const {
    return static_cast<size_t>(static_cast<int>(starts_ + d) + splits_);
  }

  bool subscript(size_t d) {
    const WindowLoops w = window_loops(product_, operand_.subscripts[d], sizes());
    if (w.starts.empty()) return one_index(d);
    const int64_t step = w.starts.front().first;
    const auto points = points_of(product_, w.starts, step, sizes());
    if (!points) return false;
    if (w.taps.empty() && step == 1) {
      take(d, *points);
      name_axes(place(d), w.starts, d, splits_);
      return true;
    }
    // Of a plain step, windows of one element, whose starts are what is read.
    const int64_t apart = w.taps.empty() ? 1 : w.taps.front().first;
    const auto taps = points_of(product_, w.taps, apart, sizes());
    if (!taps || !SizeTable::number(*taps)) return false;
    if (!windows_fit(d, *points, step, *taps, apart))
      take(d, sizes().add(sizes().mul(step, sizes().sub(*points, 1)), apart * (*taps - 1) + 1));
    unary(AccessOp::kWindow, {static_cast<int64_t>(place(d)), *taps, step, apart});
    axes_.insert(axes_.begin() + static_cast<long>(starts_), -1);
    int parts = 0;
    name_axes(starts_, w.starts, d, parts);
    starts_ += 1 + static_cast<size_t>(parts);
    if (!w.taps.empty()) {
      name_axes(place(d), w.taps, d, splits_);
      return true;
    }
    unary(AccessOp::kSqueeze, {static_cast<int64_t>(place(d))});
    axes_.erase(axes_.begin() + static_cast<long>(place(d)));
    --splits_;
    return true;
  }

  // The same element of the dimension everywhere.
  bool one_index(size_t d) {
    take(d, 1);
    unary(AccessOp::kSqueeze, {static_cast<int64_t>(place(d))});
    axes_.erase(axes_.begin() + static_cast<long>(place(d)));
    --splits_;
    return true;
  }

  // That many of the dimension, from the first that is read.
  void take(size_t d, Size count) {
    const Size first = operand_.first[d];
    if (first == 0 && count == operand_.dims[d]) return;
    unary(AccessOp::kSlice, {static_cast<int64_t>(place(d)), first, sizes().add(first, count)});
  }

  // Whether the windows of the whole dimension are those that are read.
  bool windows_fit(size_t d, Size points, int64_t step, Size taps, int64_t apart) {
    if (operand_.first[d] != 0) return false;
    const Size rest = sizes().sub(operand_.dims[d], apart * (taps - 1) + 1);
    const auto number = SizeTable::number(rest);
    const auto steps = number ? std::optional<Size>(*number / step) : sizes().divide(rest, step);
    return steps && sizes().add(*steps, 1) == points;
  }

  // Axis x is counted by these loops: split from the innermost, turned where they count down.
  void name_axes(size_t x, const SubscriptLoops& loops, size_t d, int& parts) {
    const int64_t at = static_cast<int64_t>(x);
    for (const auto& [c, k] : loops) {
      axes_[x] = k;
      const bool outermost = k == loops.back().second;
      if (!outermost) {
        unary(AccessOp::kSplit, {at, loop(k).extent});
        axes_.insert(axes_.begin() + static_cast<long>(x), -1);
        ++parts;
      }
      if (operand_.backwards[d].contains(k)) unary(AccessOp::kReverse, {outermost ? at : at + 1});
    }
  }

  // A loop in two subscripts: both axes next to each other, and of them the equal places.
  void join_diagonals() {
    for (size_t x = 0; x < axes_.size(); ++x)
      for (size_t y = axes_.size() - 1; y > x; --y) {
        if (axes_[y] != axes_[x]) continue;
        std::vector<int64_t> order;
        for (size_t k = 0; k < axes_.size(); ++k)
          if (k != y) order.push_back(static_cast<int64_t>(k));
        order.insert(order.begin() + static_cast<long>(x) + 1, static_cast<int64_t>(y));
        unary(AccessOp::kTranspose, order);
        unary(AccessOp::kDiagonal, {static_cast<int64_t>(x)});
        axes_.erase(axes_.begin() + static_cast<long>(y));
      }
  }

  const Product& product_;
  const ProductOperand& operand_;
  AccessLanguage& language_;
  Term& term_;
  int view_ = -1;
  std::vector<int> axes_;  // the loop of each axis
  size_t starts_ = 0;
  int splits_ = 0;  // axes that dimensions so far have beyond one, less those that have none
};

std::set<int> loops_of(const ProductOperand& operand) {
  std::set<int> loops;
  for (const auto& terms : operand.subscripts)
    for (const auto& [loop, c] : terms) loops.insert(loop);
  return loops;
}

}  // namespace

std::optional<int> view_of(const Product& product, const ProductOperand& operand,
                           const std::vector<int>& loops, size_t border, AccessLanguage& language,
                           Term& term) {
  return OperandView(product, operand, language, term).build(loops, border);
}

std::variant<Term, NotLifted> term_of(const Product& product, AccessLanguage& language) {
  const std::set<int> left = loops_of(product.left), right = loops_of(product.right);
  std::vector<int> shared, of_left, of_right, summed;
  for (size_t k = 0; k < product.loops.size(); ++k) {
    const int loop = static_cast<int>(k);
    const bool l = left.contains(loop), r = right.contains(loop);
    if (product.loops[k].summed) {
      if (!l || !r)
        return NotLifted{
            {}, "the sum over `" + product.loops[k].iter.name() + "` is of one factor only"};
      summed.push_back(loop);
    } else if (l && r) {
      shared.push_back(loop);
    } else if (l || r) {
      (l ? of_left : of_right).push_back(loop);
    } else {
      return NotLifted{{}, "no factor mentions `" + product.loops[k].iter.name() + "`"};
    }
  }
  // Axes of an operand: what both have, what it has alone, what is summed: so that a zip and a dot
  // product of items are the whole term.
  Term term;
  const auto view = [&](const ProductOperand& operand, const std::vector<int>& own) {
    std::vector<int> all = shared;
    all.insert(all.end(), own.begin(), own.end());
    const size_t border = all.size();
    all.insert(all.end(), summed.begin(), summed.end());
    std::optional<int> made = view_of(product, operand, all, border, language, term);
    // Without a sum items have one point.
    if (made && summed.empty())
      made = term.share(language.op(AccessOp::kInsert, {static_cast<int64_t>(border)}), {*made});
    return made;
  };
  const auto a = view(product.left, of_left), b = view(product.right, of_right);
  if (!a || !b)
    return NotLifted{{},
                     "`" + (a ? product.right : product.left).buffer.name() +
                         "` is read in a way that no view says"};
  const int zip =
      term.share(language.op(AccessOp::kZip, {static_cast<int64_t>(shared.size())}), {*a, *b});
  term.share(language.op(AccessOp::kDot), {zip});
  return term;
}

}  // namespace exotune::eqsat
