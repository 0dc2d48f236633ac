#include "search/eqsat/product.h"

#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"

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

SubscriptLoops by_distance(const std::map<int, int64_t>& subscript) {
  SubscriptLoops loops;
  for (const auto& [loop, c] : subscript) loops.push_back({c, loop});
  std::sort(loops.begin(), loops.end());
  return loops;
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

  std::optional<Product> reduction(const Path& path, const Read& of) {
    Product found;
    const Reduce& r = *stmt_at(proc_, path)->as<Reduce>();
    if (read_loops(path, r, found) || of.name == r.name) return std::nullopt;
    return operand(of, found, found.left) ? std::optional<Product>(std::move(found)) : std::nullopt;
  }

 private:
  // The loops around it and where it adds to; nothing, or why not.
  std::optional<std::string> read_loops(const Path& path, const Reduce& r, Product& found) const {
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
    return std::nullopt;
  }

  // Nothing, or why not.
  std::optional<std::string> read(const Path& path, const Reduce& r, const BinOp& product) {
    Product found;
    if (auto reason = read_loops(path, r, found)) return reason;
    const ExprPtr left = bound(product.lhs, path), right = bound(product.rhs, path);
    if (!left->as<Read>() || !right->as<Read>() || !operand(*left->as<Read>(), found, found.left) ||
        !operand(*right->as<Read>(), found, found.right))
      return "a factor is no element of a tensor, subscripted by sums of loops";
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
    const SubscriptLoops loops = by_distance(terms);
    if (!points_of(product, loops, 1, sizes_)) return {};
    std::vector<int> outer_first;
    for (const auto& [c, loop] : loops) outer_first.insert(outer_first.begin(), loop);
    return outer_first;
  }

  bool output(const std::vector<ExprPtr>& idx, Product& product) const {
    for (const ExprPtr& e : idx) {
      std::map<int, int64_t> terms;
      Size begin = 0;
      if (!add_terms(e, product, 1, terms, begin)) return false;
      // Elements of a part of the output, wherever it begins: counted as those of all of it.
      if (begin != 0 || terms.empty()) product.output_is_plain = false;
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

  // Loops with their coefficients, and in `begin` what does not depend on them.
  bool add_terms(const ExprPtr& e, const Product& product, int64_t factor,
                 std::map<int, int64_t>& terms, Size& begin) const {
    const Read* r = e->as<Read>();
    if (const int loop = r ? loop_of(product, r->name) : -1; loop >= 0) {
      if ((terms[loop] += factor) == 0) terms.erase(loop);
      return true;
    }
    if (const auto size = size_of(e, sizes_)) {
      const Size part = sizes_.mul(*size, factor < 0 ? -factor : factor);
      begin = factor < 0 ? sizes_.sub(begin, part) : sizes_.add(begin, part);
      return true;
    }
    const BinOp* op = e->as<BinOp>();
    if (!op) return false;
    const auto add = [&](const ExprPtr& part, int64_t times) {
      return add_terms(part, product, factor * times, terms, begin);
    };
    if (op->op == BinOpKind::kAdd) return add(op->lhs, 1) && add(op->rhs, 1);
    if (op->op == BinOpKind::kSub) return add(op->lhs, 1) && add(op->rhs, -1);
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

  bool operand(const Read& r, const Product& product, ProductOperand& out) {
    const std::vector<ExprPtr>* extents = extents_of(r.name);
    if (!extents || r.idx.empty()) return false;
    out.buffer = r.name;
    for (size_t d = 0; d < r.idx.size(); ++d) {
      const auto dim = size_of((*extents)[d], sizes_);
      std::map<int, int64_t> terms;
      Size begin = 0;
      if (!dim || !add_terms(r.idx[d], product, 1, terms, begin)) return false;
      out.dims.push_back(*dim);
      out.index.push_back(text_of(terms, begin, product));
      add_subscript(std::move(terms), begin, product, out);
    }
    return true;
  }

  // A loop that counts down reads its smallest index at its end.
  void add_subscript(std::map<int, int64_t> terms, Size begin, const Product& product,
                     ProductOperand& out) {
    std::set<int>& backwards = out.backwards.emplace_back();
    for (auto& [loop, c] : terms) {
      if (c > 0) continue;
      c = -c;
      const Size last = sizes_.sub(product.loops[static_cast<size_t>(loop)].extent, 1);
      begin = sizes_.sub(begin, sizes_.mul(c, last));
      backwards.insert(loop);
    }
    out.first.push_back(begin);
    out.subscripts.push_back(std::move(terms));
  }

  // As a user would write it for stage_view: what is added first.
  std::string text_of(const std::map<int, int64_t>& terms, Size begin,
                      const Product& product) const {
    std::string plus, minus;
    for (const auto& [loop, c] : terms) {
      std::string& text = c > 0 ? plus : minus;
      text += (c > 0 ? (plus.empty() ? "" : " + ") : " - ") +
              (c == 1 || c == -1 ? "" : std::to_string(c > 0 ? c : -c) + " * ") +
              product.loops[static_cast<size_t>(loop)].iter.name();
    }
    if (begin != 0) {
      const std::string size = sizes_.str(begin);
      plus += (plus.empty() ? "" : " + ") + (SizeTable::number(begin) ? size : "(" + size + ")");
    }
    return (plus.empty() ? "0" : plus) + minus;
  }

  const Proc& proc_;
  SizeTable& sizes_;
  LiftedProducts out_;
};

}  // namespace

std::optional<Size> points_of(const Product& product, const SubscriptLoops& loops, int64_t distance,
                              SizeTable& sizes) {
  Size points = 1;
  for (const auto& [c, loop] : loops) {
    // The next loop must count on exactly where those inside it end.
    if (Size{c} != sizes.mul(points, distance)) return std::nullopt;
    points = sizes.mul(points, product.loops[static_cast<size_t>(loop)].extent);
  }
  return points;
}

WindowLoops window_loops(const Product& product, const std::map<int, int64_t>& subscript,
                         SizeTable& sizes) {
  const auto is_known = [&](const SubscriptLoops& loops) {
    return std::all_of(loops.begin(), loops.end(), [&](const auto& l) {
      return SizeTable::number(product.loops[static_cast<size_t>(l.second)].extent).has_value();
    });
  };
  WindowLoops w;
  for (const auto& [c, loop] : by_distance(subscript))
    (product.loops[static_cast<size_t>(loop)].summed ? w.taps : w.starts).push_back({c, loop});
  if (w.starts.empty() || !is_known(w.taps)) std::swap(w.starts, w.taps);
  // Two loops of one kind that do not count on: a window all the same.
  if (w.taps.empty() && w.starts.size() == 2 &&
      !points_of(product, w.starts, w.starts.front().first, sizes)) {
    const bool second = w.starts[0].second < w.starts[1].second;
    w.taps = {w.starts[second ? 1 : 0]};
    w.starts.erase(w.starts.begin() + (second ? 1 : 0));
  }
  return w;
}

LiftedProducts lift_products(const Proc& p, SizeTable& sizes) { return Lifter(p, sizes).run(); }

std::optional<Product> lift_reduction(const Proc& p, const Path& statement, const Read& operand,
                                      SizeTable& sizes) {
  return Lifter(p, sizes).reduction(statement, operand);
}

}  // namespace exotune::eqsat
