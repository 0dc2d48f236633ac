#include "search/device/kernel_sum.h"

#include <algorithm>
#include <map>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

void collect(const Stmt& s, std::set<Sym>& into) {
  for (const ExprPtr& e : stmt_exprs(s)) collect_symbols(e, into);
  for (const StmtPtr& inner : body_of(s)) collect(*inner, into);
  for (const StmtPtr& inner : orelse_of(s)) collect(*inner, into);
}

// Does the statement, or one inside, assign the scalar?
bool assigns(const Stmt& s, Sym name) {
  if (const Assign* a = s.as<Assign>()) return a->name == name;
  const auto any = [&](const Block& b) {
    return std::any_of(b.begin(), b.end(),
                       [&](const StmtPtr& inner) { return assigns(*inner, name); });
  };
  return any(body_of(s)) || any(orelse_of(s));
}

// `C[..] += A[..] * B[..]` in loops of known extents from 0, as any kernel may write it, with
// scalars in between.
class SumReader {
 public:
  SumReader(const ProcPtr& p, const Path& path) : p_(p), path_(path), block_(block_at(*p, path)) {}

  std::optional<KernelSum> run() {
    // Sums of products only.
    const Reduce* r = stmt_at(*p_, path_)->as<Reduce>();
    const BinOp* product = r && r->op == ReduceOp::kAdd ? r->rhs->as<BinOp>() : nullptr;
    if (!product || product->op != BinOpKind::kMul) return std::nullopt;
    out_.sum = Cursor::stmt(p_, path_);
    if (!read_loops()) return std::nullopt;
    const auto first = factor(product->lhs), second = factor(product->rhs);
    if (!first || !second) return std::nullopt;
    out_.first = *first;
    out_.second = *second;
    out_.target = r->name;
    out_.target_idx = r->idx;
    read_target(*r);
    return std::move(out_);
  }

 private:
  bool read_loops() {
    // Outermost first.
    for (const Cursor& c : enclosing_loops(out_.sum)) {
      const For& f = c.as<For>();
      const std::optional<int64_t> extent = literal_extent(f);
      if (as_int(f.lo) != 0 || !extent || *extent <= 0) return false;
      out_.loops.push_back({f.iter, *extent, false});
    }
    return !out_.loops.empty();
  }

  // Those of the sum's loops that the symbols name.
  std::set<Sym> loops_in(const std::set<Sym>& symbols) const {
    std::set<Sym> out;
    for (const SumLoop& l : out_.loops)
      if (symbols.contains(l.iter)) out.insert(l.iter);
    return out;
  }

  std::optional<SumFactor> factor(const ExprPtr& e) const {
    const Read* r = e->as<Read>();
    if (!r) return std::nullopt;
    SumFactor out{r->name, r->idx, {}, false, false, e->type, e->type};
    std::set<Sym> symbols;
    for (const ExprPtr& i : r->idx) collect_symbols(i, symbols);
    if (r->idx.empty() && !scalar(r->name, out, symbols)) return std::nullopt;
    out.loops = loops_in(symbols);
    return out;
  }

  // A scalar of the innermost block, and what its value depends on.
  bool scalar(Sym name, SumFactor& out, std::set<Sym>& symbols) const {
    bool own = false;
    std::vector<StmtPtr> writers;
    for (const StmtPtr& s : block_) {
      const Alloc* a = s->as<Alloc>();
      own = own || (a && a->name == name);
      if (assigns(*s, name)) writers.push_back(s);
    }
    // A scalar from further out may hold the value of another iteration.
    if (!own || writers.empty()) return false;
    for (const StmtPtr& w : writers) collect(*w, symbols);
    const Assign* only = writers.size() == 1 ? writers.front()->as<Assign>() : nullptr;
    const Read* read = only ? only->rhs->as<Read>() : nullptr;
    out.through_scalar = true;
    // A plain copy of an element is the element, converted; anything else is computed by the
    // processor.
    out.computed = !read || read->idx.empty();
    if (!out.computed) {
      out.buffer = read->name;
      out.idx = read->idx;
      out.element = only->rhs->type;
    }
    return true;
  }

  void read_target(const Reduce& r) {
    std::set<Sym> symbols;
    for (const ExprPtr& e : r.idx) collect_symbols(e, symbols);
    // The loops around its allocation tell its values apart.
    for (Path at = path_; !at.empty(); at = parent_stmt(at)) {
      const Block& block = block_at(*p_, at);
      const bool here = std::any_of(block.begin(), block.end(), [&](const StmtPtr& s) {
        const Alloc* a = s->as<Alloc>();
        return a && a->name == r.name;
      });
      if (!here) continue;
      const std::vector<Cursor> outside = enclosing_loops(Cursor::stmt(p_, at));
      for (const Cursor& c : outside) symbols.insert(c.as<For>().iter);
      out_.outside = r.idx.empty() ? 0 : outside.size();
      break;
    }
    out_.target_loops = loops_in(symbols);
    for (SumLoop& l : out_.loops) l.reduction = !out_.target_loops.contains(l.iter);
  }

  const ProcPtr& p_;
  const Path path_;
  const Block& block_;
  KernelSum out_;
};

bool steps_by_one(const ExprPtr& subscript, Sym iter) {
  const std::optional<Affine> form = affine(subscript);
  return form && form->coeff_of(iter) == 1;
}

int64_t largest_divisor(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

// All ways in which the product's loops can be loops of the sum.
class Matcher {
 public:
  Matcher(const KernelSum& sum, const ProductInstruction& product, bool swapped)
      : sum_(sum),
        product_(product),
        swapped_(swapped),
        first_(swapped ? sum.second : sum.first),
        second_(swapped ? sum.first : sum.second) {}

  std::vector<SumMapping> run() {
    if (fits(first_) && fits(second_)) extend({});
    return std::move(out_);
  }

 private:
  bool fits(const SumFactor& f) const {
    return f.made(product_)
               ? f.value == product_.operand
               : f.element == product_.operand && f.through_scalar == product_.converts;
  }

  void extend(std::vector<size_t> chosen) {
    const size_t q = chosen.size();
    if (q == product_.loops.size()) {
      if (walks(product_.first, first_, chosen) && walks(product_.second, second_, chosen) &&
          walks_target(chosen))
        accept(chosen);
      return;
    }
    // A loop of the product must move the same operands and results as the loop that it stands
    // for.
    for (size_t k = 0; k < sum_.loops.size(); ++k) {
      if (std::find(chosen.begin(), chosen.end(), k) != chosen.end()) continue;
      const Sym iter = sum_.loops[k].iter;
      const int loop = static_cast<int>(q);
      if (product_.out.has(loop) != sum_.target_loops.contains(iter) ||
          product_.first.has(loop) != first_.loops.contains(iter) ||
          product_.second.has(loop) != second_.loops.contains(iter))
        continue;
      std::vector<size_t> more = chosen;
      more.push_back(k);
      extend(std::move(more));
    }
  }

  // Do the loops come in one order in the tile and in memory, and the tile's last in the last
  // index?
  bool walks(const TileArgument& tile, const std::vector<ExprPtr>& idx,
             const std::vector<size_t>& chosen) const {
    // Subscripts that no tile's loop is in may stand in front: they choose the tile. Two loops in
    // one subscript (x + s) read elements twice, and 2 * x leaves some out: no box of memory is the
    // tile.
    size_t from = 0;
    for (const int loop : tile.loops) {
      const Sym iter = sum_.loops[chosen[static_cast<size_t>(loop)]].iter;
      while (from < idx.size() && !mentions(idx[from], iter)) ++from;
      if (from == idx.size() || !steps_by_one(idx[from], iter)) return false;
      ++from;
    }
    return from == idx.size();
  }
  bool walks(const TileArgument& tile, const SumFactor& factor,
             const std::vector<size_t>& chosen) const {
    return factor.made(product_) || walks(tile, factor.idx, chosen);
  }
  bool walks_target(const std::vector<size_t>& chosen) const {
    return sum_.target_idx.empty() || walks(product_.out, sum_.target_idx, chosen);
  }

  void accept(const std::vector<size_t>& chosen) {
    SumMapping m{swapped_, chosen, {}};
    // Tiles divide the extent; where the largest divisor is small, whole tiles with a rest may be
    // better, and both are proposed.
    bool ragged = false;
    for (size_t q = 0; q < chosen.size(); ++q) {
      const ProductInstruction::Loop& loop = product_.loops[q];
      const int64_t extent = sum_.loops[chosen[q]].extent;
      const int64_t tile = loop.fixed ? loop.most : largest_divisor(extent, loop.most);
      if (extent % tile != 0) return;
      ragged = ragged || tile < std::min(extent, loop.most);
      m.tiles.push_back(tile);
    }
    if (ragged) out_.push_back(whole_tiles(chosen));
    // A loop that counts tiles may count fewer, which leaves room for others.
    const ProductInstruction::Loop& outermost = product_.loops.front();
    for (int times = 0; times < 3; ++times) {
      out_.push_back(m);
      if (product_.loops.size() <= 3 || outermost.fixed || m.tiles.front() <= 2) break;
      m.tiles.front() = largest_divisor(sum_.loops[chosen.front()].extent, m.tiles.front() - 1);
    }
  }

  // As large as the instruction takes them, the last one of a loop as long as is left.
  SumMapping whole_tiles(const std::vector<size_t>& chosen) const {
    SumMapping m{swapped_, chosen, {}};
    for (size_t q = 0; q < chosen.size(); ++q)
      m.tiles.push_back(std::min(sum_.loops[chosen[q]].extent, product_.loops[q].most));
    return m;
  }

  const KernelSum& sum_;
  const ProductInstruction& product_;
  const bool swapped_;
  const SumFactor &first_, &second_;
  std::vector<SumMapping> out_;
};

}  // namespace

std::vector<KernelSum> sums_of(const ProcPtr& p) {
  std::vector<KernelSum> out;
  for (const Path& path : all_stmt_paths(*p)) {
    if (!stmt_at(*p, path)->as<Reduce>()) continue;
    if (auto sum = SumReader(p, path).run()) out.push_back(std::move(*sum));
  }
  return out;
}

std::vector<SumMapping> mappings_of(const KernelSum& sum, const ProductInstruction& product) {
  std::vector<SumMapping> out;
  // a * b is b * a, but the operands' memories differ.
  for (const bool swapped : {false, true})
    for (SumMapping& m : Matcher(sum, product, swapped).run()) out.push_back(std::move(m));
  return out;
}

}  // namespace exotune
