#include "search/eqsat/product.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/view.h"

namespace exotune::eqsat {
namespace {

// A size expression as a polynomial of size arguments; nothing where it is anything else.
std::optional<Size> size_of(const ExprPtr& e, SizeTable& sizes) {
  if (const auto value = as_int(e)) return *value >= 0 ? std::optional<Size>(*value) : std::nullopt;
  if (const Read* r = e->as<Read>())
    return e->type == ScalarType::kSize ? std::optional<Size>(sizes.named(r->name.name()))
                                        : std::nullopt;
  const BinOp* op = e->as<BinOp>();
  if (!op) return std::nullopt;
  const auto left = size_of(op->lhs, sizes), right = size_of(op->rhs, sizes);
  if (!left || !right) return std::nullopt;
  switch (op->op) {
    case BinOpKind::kAdd:
      return sizes.add(*left, *right);
    case BinOpKind::kSub:
      return sizes.sub(*left, *right);
    case BinOpKind::kMul:
      return sizes.mul(*left, *right);
    // Where it comes out even; other quotients are no polynomials.
    case BinOpKind::kDiv:
      return sizes.divide(*left, *right);
    default:
      return std::nullopt;
  }
}

class Lifter {
 public:
  Lifter(const Proc& p, SizeTable& sizes) : proc_(p), sizes_(sizes) {}

  LiftedProducts run() {
    for (const Path& path : all_stmt_paths(proc_)) {
      const StmtPtr s = stmt_at(proc_, path);
      const Reduce* r = s->as<Reduce>();
      if (!r || r->op != ReduceOp::kAdd) continue;
      const BinOp* product = r->rhs->as<BinOp>();
      if (!product || product->op != BinOpKind::kMul) continue;
      // Three factors in a row: which two belong together is decided elsewhere.
      const auto is_product = [](const ExprPtr& e) {
        const BinOp* b = e->as<BinOp>();
        return b && b->op == BinOpKind::kMul;
      };
      if (is_product(product->lhs) || is_product(product->rhs)) continue;  // see factoring.h
      if (auto reason = read(path, *r, *product))
        out_.others.push_back({s->where, *std::move(reason)});
    }
    return std::move(out_);
  }

 private:
  // Nothing, or why not.
  std::optional<std::string> read(const Path& path, const Reduce& r, const BinOp& product) {
    Product found;
    // Everything around the statement, outermost first: all have to be loops.
    for (size_t n = 1; n < path.size(); ++n) {
      const StmtPtr s = stmt_at(proc_, Path(path.begin(), path.begin() + static_cast<long>(n)));
      const For* loop = s->as<For>();
      if (!loop) return "it stands in a condition";
      const auto extent = size_of(loop->hi, sizes_);
      if (as_int(loop->lo) != 0 || !extent)
        return "the bounds of `" + loop->iter.name() + "` are not 0 and a size";
      found.loops.push_back({loop->iter, *extent, true});
    }
    if (found.loops.empty()) return "it stands in no loop";
    found.path = path;
    found.outermost = {path.front()};
    found.output_buffer = r.name;
    // Or two iterations would write one element for other reasons than the sum.
    if (!output(r.idx, found))
      return "the output is not subscripted by loops that count each element once";
    for (const int k : found.output) found.loops[static_cast<size_t>(k)].summed = false;
    // Each iteration of a loop around the output's allocation has an output of its own.
    for (size_t k = 0; k < loops_around(path, r.name); ++k) found.loops[k].summed = false;
    if (!operand(bound(product.lhs, path), found, found.left) ||
        !operand(bound(product.rhs, path), found, found.right))
      return "a factor is no element of a tensor, subscripted by sums of loops";
    // Views are told apart by the tensor's name.
    if (found.left.buffer == found.right.buffer) return "both factors are of one tensor";
    put_columns_right(found);
    if (found.left.buffer == r.name || found.right.buffer == r.name)
      return "a factor is of the output";
    out_.products.push_back(std::move(found));
    return std::nullopt;
  }

  // The loops of a term are those of the left factor, then those of the right one: the right one is
  // the factor that the output's rows run along, whichever way the program writes the product.
  static void put_columns_right(Product& product) {
    if (product.output.empty()) return;
    const auto mentions = [&](const ProductOperand& operand) {
      return std::any_of(operand.subscripts.begin(), operand.subscripts.end(),
                         [&](const auto& terms) { return terms.contains(product.output.back()); });
    };
    if (mentions(product.left) && !mentions(product.right)) std::swap(product.left, product.right);
  }

  // `a = A[i, k]; .. += a * b`: the factor is what the name was given in the same block.
  ExprPtr bound(const ExprPtr& e, const Path& path) const {
    const Read* r = e->as<Read>();
    if (!r || !r->idx.empty()) return e;
    const Block& block = block_at(proc_, path);
    for (int k = path.back().index; k-- > 0;) {
      const Assign* a = block[static_cast<size_t>(k)]->as<Assign>();
      if (a && a->name == r->name && a->idx.empty()) return a->rhs;
    }
    // Given no value here: the scalar itself, which is refused as a factor.
    return e;
  }

  // How many loops of the path stand around the allocation of `name`; none for an argument.
  size_t loops_around(const Path& path, Sym name) const {
    for (size_t n = 1; n <= path.size(); ++n) {
      const Path to(path.begin(), path.begin() + static_cast<long>(n));
      for (const StmtPtr& s : block_at(proc_, to)) {
        const Alloc* a = s->as<Alloc>();
        if (a && a->name == name) return n - 1;
      }
    }
    return 0;
  }

  static int loop_of(const Product& product, Sym iter) {
    for (size_t k = 0; k < product.loops.size(); ++k)
      if (product.loops[k].iter == iter) return static_cast<int>(k);
    return -1;
  }

  // Loops by falling coefficient, each that of all loops further in together: `16*g + o` where o
  // runs to 16. Empty where they count some number twice, or leave one out.
  std::vector<int> counting(const std::map<int, int64_t>& terms, const Product& product) const {
    std::vector<std::pair<int64_t, int>> inner_first;
    for (const auto& [loop, c] : terms) inner_first.push_back({c, loop});
    std::sort(inner_first.begin(), inner_first.end());
    std::vector<int> loops;
    Size counted = 1;
    for (const auto& [c, loop] : inner_first) {
      // The next loop must count on exactly where those inside it end.
      if (Size{c} != counted) return {};
      loops.insert(loops.begin(), loop);
      counted = sizes_.mul(counted, product.loops[static_cast<size_t>(loop)].extent);
    }
    return loops;
  }

  bool output(const std::vector<ExprPtr>& idx, Product& product) const {
    for (const ExprPtr& e : idx) {
      std::map<int, int64_t> terms;
      bool moved = false;
      if (!add_terms(e, product, 1, terms, &moved)) return false;
      // Elements of a part of the output, wherever it begins: counted as those of all of it.
      if (moved || terms.empty()) product.output_is_plain = false;
      if (terms.empty()) continue;
      const std::vector<int> loops = counting(terms, product);
      if (loops.empty()) return false;
      // A loop in two subscripts (a diagonal) counts no element twice, but leaves most out.
      for (const int loop : loops)
        if (std::find(product.output.begin(), product.output.end(), loop) != product.output.end())
          return false;
      product.output.insert(product.output.end(), loops.begin(), loops.end());
      // Only then can its loops be made one without a copy.
      product.output_is_plain = product.output_is_plain && loops.size() == 1;
    }
    return true;
  }

  // `moved`: constants and sizes are allowed beside the loops, and whether there are any. Of an
  // operand they would be another view.
  static bool add_terms(const ExprPtr& e, const Product& product, int64_t factor,
                        std::map<int, int64_t>& terms, bool* moved = nullptr) {
    const Read* r = e->as<Read>();
    if (const int loop = r ? loop_of(product, r->name) : -1; loop >= 0) {
      terms[loop] += factor;
      return true;
    }
    if (as_int(e) == 0) return true;
    if (as_int(e) || e->type == ScalarType::kSize) {
      if (moved) *moved = true;
      return moved != nullptr;
    }
    const BinOp* op = e->as<BinOp>();
    if (!op) return false;
    const auto add = [&](const ExprPtr& part, int64_t times) {
      return add_terms(part, product, factor * times, terms, moved);
    };
    if (op->op == BinOpKind::kAdd) return add(op->lhs, 1) && add(op->rhs, 1);
    if (op->op == BinOpKind::kSub && moved) return add(op->lhs, 1) && add(op->rhs, -1);
    if (op->op != BinOpKind::kMul) return false;
    if (const auto c = as_int(op->lhs)) return add(op->rhs, *c);
    if (const auto c = as_int(op->rhs)) return add(op->lhs, *c);
    return false;
  }

  // The extents of an argument, or of a buffer that stands in front of all loops.
  const std::vector<ExprPtr>* extents_of(Sym name) const {
    if (const Arg* arg = proc_.find_arg(name)) return &arg->type.shape;
    for (const StmtPtr& s : proc_.body)
      if (const Alloc* a = s->as<Alloc>(); a && a->name == name) return &a->type.shape;
    return nullptr;
  }

  bool operand(const ExprPtr& e, const Product& product, ProductOperand& out) {
    const Read* r = e->as<Read>();
    const std::vector<ExprPtr>* extents = r ? extents_of(r->name) : nullptr;
    if (!extents || r->idx.empty()) return false;
    out.buffer = r->name;
    for (size_t d = 0; d < r->idx.size(); ++d) {
      const auto dim = size_of((*extents)[d], sizes_);
      std::map<int, int64_t> terms;
      if (!dim || !add_terms(r->idx[d], product, 1, terms)) return false;
      out.dims.push_back(*dim);
      out.subscripts.push_back(std::move(terms));
    }
    return true;
  }

  const Proc& proc_;
  SizeTable& sizes_;
  LiftedProducts out_;
};

// An operand as a view whose axes are loops: a tensor, windows where two loops share a subscript,
// then a transposition to a given order.
class OperandView {
 public:
  OperandView(const Product& product, const ProductOperand& operand, AccessLanguage& language,
              Term& term)
      : product_(product), operand_(operand), language_(language), term_(term) {}

  // The index of the view in the term, its axes these loops, `border` of them of the access part;
  // nothing where it cannot be said.
  std::optional<int> build(const std::vector<int>& wanted, size_t border) {
    view_ = term_.share(language_.tensor(operand_.buffer.name(), operand_.dims), {});
    // -1: not said yet.
    axes_.assign(operand_.dims.size(), -1);
    for (size_t d = 0; d < operand_.dims.size(); ++d)
      if (!subscript(d)) return std::nullopt;
    std::vector<int64_t> order;
    for (const int loop : wanted) {
      const auto it = std::find(axes_.begin(), axes_.end(), loop);
      if (it == axes_.end()) return std::nullopt;
      order.push_back(it - axes_.begin());
    }
    // An axis that no loop of the term runs along.
    if (order.size() != axes_.size()) return std::nullopt;
    // Windows leave their starts in the access part; all axes are items while they move.
    unary(AccessOp::kAccess, {0});
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
  void unary(AccessOp op, const std::vector<int64_t>& params) {
    view_ = term_.share(language_.op(op, params), {view_});
  }

  bool subscript(size_t d) {
    const std::map<int, int64_t>& terms = operand_.subscripts[d];
    // Starts of earlier windows are the last access axes; this dimension is an item behind them.
    if (terms.size() == 1 && terms.begin()->second == 1) {
      axes_[place(d)] = terms.begin()->first;
      return loop(terms.begin()->first).extent == operand_.dims[d];
    }
    if (counted(d)) return true;
    if (terms.size() == 1) return stepped(d);
    if (terms.size() != 2) return false;
    std::pair<int, int64_t> start = *terms.begin(), tap = *std::next(terms.begin());
    // Of `i + r` the loop of the output is where windows start, that of the sum what runs in them.
    if (loop(start.first).summed) std::swap(start, tap);
    const auto taps = SizeTable::number(loop(tap.first).extent);
    if (loop(start.first).summed || !loop(tap.first).summed || !taps) return false;
    unary(AccessOp::kWindow, {static_cast<int64_t>(place(d)), *taps, start.second, tap.second});
    axes_[place(d)] = tap.first;
    axes_.insert(axes_.begin() + static_cast<long>(starts_), start.first);
    ++starts_;
    return true;
  }

  // `2*x`: windows of one element, whose starts are what is read.
  bool stepped(size_t d) {
    const auto [k, step] = *operand_.subscripts[d].begin();
    if (step < 2) return false;
    unary(AccessOp::kWindow, {static_cast<int64_t>(place(d)), 1, step, 1});
    axes_.erase(axes_.begin() + static_cast<long>(place(d)));
    axes_.insert(axes_.begin() + static_cast<long>(starts_), k);
    ++starts_;
    unary(AccessOp::kSqueeze, {static_cast<int64_t>(place(d))});
    --splits_;
    return true;
  }

  // `16*g + o`, o to 16 and g over the whole dimension: the axis is split into those of the loops.
  bool counted(size_t d) {
    SizeTable& sizes = language_.sizes();
    std::vector<std::pair<int64_t, int>> inner_first;
    for (const auto& [k, c] : operand_.subscripts[d]) inner_first.push_back({c, k});
    std::sort(inner_first.begin(), inner_first.end());
    Size count = 1;
    // From the innermost: each split cuts its extent off the rest of the axis.
    for (const auto& [c, k] : inner_first) {
      if (Size{c} != count) return false;
      count = sizes.mul(count, loop(k).extent);
    }
    if (count != operand_.dims[d] || inner_first.size() < 2) return false;
    for (const auto& [c, k] : inner_first) {
      axes_[place(d)] = k;
      if (k == inner_first.back().second) break;
      unary(AccessOp::kSplit, {static_cast<int64_t>(place(d)), loop(k).extent});
      axes_.insert(axes_.begin() + static_cast<long>(place(d)), -1);
    }
    splits_ += static_cast<int>(inner_first.size()) - 1;
    return true;
  }

  // Where dimension d stands: behind the starts of the windows and the parts of dimensions so far.
  size_t place(size_t d) const {
    return static_cast<size_t>(static_cast<int>(starts_ + d) + splits_);
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

LiftedProducts lift_products(const Proc& p, SizeTable& sizes) { return Lifter(p, sizes).run(); }

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
  if (summed.empty()) return NotLifted{{}, "there is no sum"};
  // Axes of an operand: what both have, what it has alone, what is summed: so that a zip and a dot
  // product of items are the whole term.
  const auto order = [&](const std::vector<int>& own) {
    std::vector<int> all = shared;
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), summed.begin(), summed.end());
    return all;
  };
  Term term;
  const auto a = OperandView(product, product.left, language, term)
                     .build(order(of_left), shared.size() + of_left.size());
  const auto b = OperandView(product, product.right, language, term)
                     .build(order(of_right), shared.size() + of_right.size());
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
