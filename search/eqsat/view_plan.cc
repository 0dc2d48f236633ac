#include "search/eqsat/view_plan.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "core/primitives/primitives.h"

namespace exotune::eqsat {
namespace {

const ProductLoop& loop_at(const Product& product, int loop) {
  return product.loops[static_cast<size_t>(loop)];
}
std::string name_of(const Product& product, int loop) { return loop_at(product, loop).iter.name(); }

// The two operands of the only product of a term; nothing where there are more, or none.
std::optional<std::pair<int, int>> factors_of(const Term& term, const AccessLanguage& language) {
  std::optional<std::pair<int, int>> found;
  for (const Term::Node& node : term.nodes) {
    const auto kind = language.kind(node.op);
    if (kind != AccessOp::kZip && kind != AccessOp::kSystolic) continue;
    if (found) return std::nullopt;
    found = {node.children[0], node.children[1]};
  }
  return found;
}

// Those of the loops that count a piece of their points, outermost first: `16 * g + o` is g and
// then o. Empty where a loop counts some of it only.
std::vector<int> loops_of_piece(const Product& product, const SubscriptLoops& inner_first,
                                const ViewPiece& piece, SizeTable& sizes) {
  std::vector<int> loops;
  Size counted = 1;
  for (const auto& [c, loop] : inner_first) {
    if (counted == piece.extent) break;
    if (loops.empty() && Size{c / inner_first.front().first} != piece.divisor) continue;
    loops.insert(loops.begin(), loop);
    counted = sizes.mul(counted, loop_at(product, loop).extent);
  }
  return counted == piece.extent ? loops : std::vector<int>();
}

// The loops of one piece of a view's axis; empty where it is made of parts of loops.
std::vector<int> ordered_loops_of(const Product& product, const ProductOperand& operand,
                                  const ViewMap& map, const ViewPiece& piece, SizeTable& sizes) {
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    const std::map<int, int64_t>& view = map.subscripts[d];
    if (!view.contains(piece.variable)) continue;
    const WindowLoops w = window_loops(product, operand.subscripts[d], sizes);
    // A plain axis, perhaps split; of a window, the variable of its starts comes before its tap's.
    const bool taps = view.size() > 1 && view.begin()->first != piece.variable;
    const SubscriptLoops& loops = taps ? w.taps : w.starts;
    return loops.empty() ? std::vector<int>() : loops_of_piece(product, loops, piece, sizes);
  }
  return {};
}

using Axes = std::vector<std::vector<int>>;  // loops of each axis, outermost first

// Loops of one point stand in any axis as well as in another, so a map does not say which: each is
// an axis of its own, in front.
void put_single_points_first(const Product& product, const ProductOperand& operand, Axes& axes) {
  std::set<int> there;
  for (const std::vector<int>& axis : axes) there.insert(axis.begin(), axis.end());
  Axes front;
  for (const std::map<int, int64_t>& terms : operand.subscripts)
    for (const auto& [loop, c] : terms)
      if (loop_at(product, loop).extent == 1 && there.insert(loop).second) front.push_back({loop});
  axes.insert(axes.begin(), front.begin(), front.end());
}

// Nothing where an axis is made of parts of loops.
std::optional<Axes> axes_of(const Product& product, const ProductOperand& operand,
                            const ViewMap& map, SizeTable& sizes) {
  Axes axes;
  for (const std::vector<ViewPiece>& pieces : map.axes) {
    axes.emplace_back();
    for (const ViewPiece& piece : pieces) {
      if (piece.extent == 1) continue;
      const std::vector<int> loops = ordered_loops_of(product, operand, map, piece, sizes);
      if (loops.empty() || loops[0] < 0) return std::nullopt;
      axes.back().insert(axes.back().end(), loops.begin(), loops.end());
    }
  }
  put_single_points_first(product, operand, axes);
  return axes;
}

// Neighbours in the nest, in its order, whose extents but the first are numbers: one loop can count
// them.
bool can_be_one(const Product& product, const std::vector<int>& loops) {
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i] != loops[i - 1] + 1 || !SizeTable::number(loop_at(product, loops[i]).extent))
      return false;
  // All of them in the sum, or all of them in the output.
  const auto in_output = [&](int loop) {
    return std::find(product.output.begin(), product.output.end(), loop) != product.output.end();
  };
  return std::all_of(loops.begin(), loops.end(), [&](int loop) {
    return loop_at(product, loop).summed == loop_at(product, loops[0]).summed &&
           in_output(loop) == in_output(loops[0]) &&
           (in_output(loop) || loop_at(product, loop).summed);
  });
}

StagedView staged_view(const Product& product, const ProductOperand& operand, const Axes& axes,
                       SizeTable& sizes) {
  StagedView v;
  v.operand = operand.buffer.name();
  v.right = &operand == &product.right;
  const bool of_one = product.left.buffer == product.right.buffer;
  v.name = v.operand + "_view" + (v.right && of_one ? "_right" : "");
  for (const std::vector<int>& axis : axes)
    for (const int loop : axis)
      v.axes.push_back({name_of(product, loop), sizes.str(loop_at(product, loop).extent)});
  // The formula as a user would write it for stage_view.
  for (const std::string& index : operand.index)
    v.element += (v.element.empty() ? "" : ", ") + index;
  v.element = v.operand + "[" + v.element + "]";
  return v;
}

bool mentions(const ProductOperand& operand, int loop) {
  return std::any_of(operand.subscripts.begin(), operand.subscripts.end(),
                     [&](const std::map<int, int64_t>& terms) { return terms.contains(loop); });
}

bool mentions(const StagedView& view, const std::string& axis) {
  return std::any_of(view.axes.begin(), view.axes.end(),
                     [&](const auto& a) { return a.first == axis; });
}

}  // namespace

std::variant<ViewPlan, std::string> plan_of(const Product& product, const Term& term,
                                            const AccessLanguage& language,
                                            const PlanRequest& request) {
  const auto factors = factors_of(term, language);
  if (!factors) return "it has several products";
  ViewPlan plan;
  std::vector<std::pair<const ProductOperand*, Axes>> kept;  // read as they lie so far
  std::set<int> fused;
  for (const auto& [operand, index] :
       {std::pair{&product.left, factors->first}, {&product.right, factors->second}}) {
    const auto map = view_map(term, index, language);
    if (!map) return "an operand is no view of one tensor";
    const auto axes = axes_of(product, *operand, *map, language.sizes());
    if (!axes) return "an operand's axes are cut";
    for (const std::vector<int>& axis : *axes) {
      // Both operands may ask for the same loops: once is enough.
      if (axis.size() < 2 || fused.contains(axis[0]) || !can_be_one(product, axis)) continue;
      const bool summed = loop_at(product, axis[0]).summed;
      // Sums are made one where it was asked for; loops of the output where its buffer allows it.
      if (summed ? !request.fuse_sums : !product.output_is_plain) continue;
      fused.insert(axis.begin(), axis.end());
      plan.fused.push_back(axis);
    }
    if (map->is_tensor(language.sizes()))
      kept.push_back({operand, *axes});
    else
      plan.views.push_back(staged_view(product, *operand, *axes, language.sizes()));
  }
  // A buffer of the program's cannot change its dimensions: its copy does.
  for (const auto& [operand, axes] : kept) {
    const ProductOperand& read = *operand;  // clang 14 does not capture parts of a binding
    if (std::any_of(fused.begin(), fused.end(), [&](int l) { return mentions(read, l); }))
      plan.views.push_back(staged_view(product, read, axes, language.sizes()));
  }
  // From the outermost loop in, whichever operand came first.
  std::sort(plan.fused.begin(), plan.fused.end());
  return plan;
}

namespace {

// Whether neighbours in the view's rows are neighbours where they are read.
bool keeps_rows(const Product& product, const StagedView& view) {
  const ProductOperand& operand = view.right ? product.right : product.left;
  for (const auto& [loop, c] : operand.subscripts.back())
    if (name_of(product, loop) == view.axes.back().first)
      return c == 1 && !operand.backwards.back().contains(loop);
  return false;
}

}  // namespace

ViewCost cost_of(const Product& product, const ViewPlan& plan, SizeTable& sizes) {
  ViewCost cost;
  const auto extent = [&](int loop) { return loop_at(product, loop).extent; };
  for (const StagedView& view : plan.views) {
    Size elements = 1;
    for (size_t k = 0; k < product.loops.size(); ++k)
      if (mentions(view, product.loops[k].iter.name()))
        elements = sizes.mul(elements, product.loops[k].extent);
    // Each element of a view is written once; those whose rows lie otherwise also cost a line
    // each.
    cost.copied = sizes.add(cost.copied, elements);
    if (!keeps_rows(product, view)) cost.across = sizes.add(cost.across, elements);
  }
  const bool output = std::any_of(plan.fused.begin(), plan.fused.end(), [&](const auto& loops) {
    return !loop_at(product, loops[0]).summed;
  });
  if (output) {
    Size elements = 2;  // written once more, and read
    for (const int loop : product.output) elements = sizes.mul(elements, extent(loop));
    cost.copied = sizes.add(cost.copied, elements);
  }
  if (product.output.empty()) return cost;
  const int last = product.output.back();
  const auto ends_in = [&](const ProductOperand& operand) {
    for (const StagedView& view : plan.views)
      if (view.right == (&operand == &product.right))
        return view.axes.back().first == name_of(product, last);
    const std::map<int, int64_t>& terms = operand.subscripts.back();
    // As it lies: neighbours along the output's rows are neighbours in memory.
    return terms.contains(last) && terms.at(last) == 1 && !operand.backwards.back().contains(last);
  };
  if (!ends_in(product.left) && !ends_in(product.right)) return cost;
  cost.along = extent(last);
  for (const std::vector<int>& loops : plan.fused)
    if (loops.back() == last)
      for (size_t i = 0; i + 1 < loops.size(); ++i)
        cost.along = sizes.mul(cost.along, extent(loops[i]));
  return cost;
}

std::string text_of(const Product& product, const ViewPlan& plan) {
  std::string text;
  for (const StagedView& view : plan.views) {
    text += (text.empty() ? "" : ", ") + view.name + "[";
    for (size_t i = 0; i < view.axes.size(); ++i) text += (i ? ", " : "") + view.axes[i].first;
    text += "] = " + view.element;
  }
  for (const std::vector<int>& loops : plan.fused) {
    text += ", one loop:";
    for (const int loop : loops) text += " " + name_of(product, loop);
  }
  return text.empty() ? "as written" : text;
}

namespace {

class Replay {
 public:
  Replay(const ProcPtr& p, const Product& product, const ViewPlan& plan, const SizeTable& sizes)
      : p_(p), product_(product), plan_(plan), sizes_(sizes) {
    for (size_t n = 1; n < product.path.size(); ++n)
      loops_.push_back(
          Cursor::stmt(p, Path(product.path.begin(), product.path.begin() + static_cast<long>(n))));
    block_ = Cursor::stmt(p, product.outermost);
  }

  ProcPtr run() {
    // Copies first, while the loops still have the names that the formulas use.
    for (const StagedView& view : plan_.views) {
      std::vector<ViewAxis> axes;
      for (const auto& [name, extent] : view.axes) axes.push_back({name, extent});
      p_ = stage_view(p_, forward(p_, block_), view.name, axes, view.element);
    }
    for (const std::vector<int>& loops : plan_.fused) fuse(loops);
    return p_;
  }

 private:
  const ProductLoop& loop(int k) const { return loop_at(product_, k); }

  // Makes these loops one: their axes of the copies, of the output's buffer, then the loops.
  void fuse(const std::vector<int>& group) {
    if (!loop(group[0]).summed) stage_output();
    for (size_t v = 0; v < plan_.views.size(); ++v)
      if (mentions(plan_.views[v], name_of(product_, group[0])))
        fuse_axes(plan_.views[v].name, axes_of_view(v), group);
    if (!loop(group[0]).summed) fuse_axes(output_, output_axes_, group);
    std::string name = name_of(product_, group[0]);
    for (size_t i = 1; i < group.size(); ++i) {
      name += name_of(product_, group[i]);
      p_ = mult_loops(p_, forward(p_, loops_[static_cast<size_t>(group[0])]), name);
      p_ = simplify(p_);  // before the quotients of the next pair stand inside these
    }
  }

  std::vector<int>& axes_of_view(size_t v) {
    std::vector<int>& axes = view_axes_[v];
    if (axes.empty())
      for (const auto& [name, extent] : plan_.views[v].axes)
        for (size_t k = 0; k < product_.loops.size(); ++k)
          if (product_.loops[k].iter.name() == name) axes.push_back(static_cast<int>(k));
    return axes;
  }

  void fuse_axes(const std::string& buffer, std::vector<int>& axes, const std::vector<int>& group) {
    for (size_t i = 1; i < group.size(); ++i) {
      const auto high = std::find(axes.begin(), axes.end(), group[0]);
      const auto low = std::find(axes.begin(), axes.end(), group[i]);
      if (high == axes.end() || low == axes.end())
        throw SchedulingError("`" + buffer + "` has some of the loops only");
      p_ = mult_dim(p_, buffer, static_cast<int>(high - axes.begin()),
                    static_cast<int>(low - axes.begin()));
      axes.erase(low);
    }
  }

  // The output, all of it, in a buffer of its own.
  void stage_output() {
    if (!output_.empty()) return;
    const std::string name = product_.output_buffer.name();
    output_ = name + "_view";
    std::string window;
    for (const int k : product_.output)
      window += (window.empty() ? "" : ", ") + ("0:" + sizes_.str(loop(k).extent));
    window = name + "[" + window + "]";
    output_axes_ = product_.output;
    try {
      p_ = stage_mem(p_, forward(p_, block_), window, output_, true);
    } catch (const SchedulingError&) {
      // More than a sum happens to it: then it is loaded, and stored.
      p_ = stage_mem(p_, forward(p_, block_), window, output_, false);
    }
  }

  ProcPtr p_;
  const Product& product_;
  const ViewPlan& plan_;
  const SizeTable& sizes_;
  std::vector<Cursor> loops_;
  Cursor block_;
  std::string output_;
  std::vector<int> output_axes_;
  std::map<size_t, std::vector<int>> view_axes_;
};

}  // namespace

ProcPtr replay(const ProcPtr& p, const Product& product, const ViewPlan& plan,
               const SizeTable& sizes) {
  return Replay(p, product, plan, sizes).run();
}

}  // namespace exotune::eqsat
