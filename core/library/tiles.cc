#include "core/library/tiles.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

const For& loop_at(const ProcPtr& p, const Path& path) { return at(p, path).as<For>(); }

ProcPtr stage_around(ProcPtr p, const Path& path, Sym buffer, const std::string& name, int length,
                     bool keep_last, bool accum, Touch how) {
  const Cursor block = Cursor::block(p, path, length);
  auto rectangle = touched(p, block, buffer, how);
  if (!rectangle)
    throw SchedulingError("`" + buffer.name() +
                          "` is not read or written through affine indices in `" +
                          at(p, path).describe() + "`");
  return stage_mem(p, block, rectangle->text(buffer.name(), scope_at(*p, path), keep_last), name,
                   accum);
}

namespace {

bool same_element(const Read& a, const Read& b) {
  return a.name == b.name &&
         std::equal(a.idx.begin(), a.idx.end(), b.idx.begin(), b.idx.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return equal(x, y); });
}

// The places of `read` in the values of the block's statements.
std::vector<Cursor> uses_in(const ProcPtr& p, const Path& block, const Read& read) {
  std::vector<Cursor> out, open;
  for (int k = size_of_block(p, block); k-- > 0;) open.push_back(at(p, sibling(block, k)).rhs());
  while (!open.empty()) {
    const Cursor at = open.back();
    open.pop_back();
    const Read* r = at.expr()->as<Read>();
    if (r && same_element(*r, read)) {
      out.push_back(at);
      continue;
    }
    for (int k = static_cast<int>(expr_children(*at.expr()).size()); k-- > 0;) {
      Path below = at.path();
      below.push_back({Child::kExpr, k});
      open.push_back(Cursor::expr(p, below));
    }
  }
  return out;
}

// What the values of the block's statements read.
std::vector<const Read*> values_read(const ProcPtr& p, const Path& block) {
  std::vector<const Read*> out;
  for (int k = 0; k < size_of_block(p, block); ++k)
    for (const Read* r : data_reads(at(p, sibling(block, k)).rhs().expr())) out.push_back(r);
  return out;
}

// What the values read along the inner one of the loops at `rows` and the outer one does not move,
// each once.
std::vector<Read> shared_of(const ProcPtr& p, const Path& rows,
                            const std::vector<const Read*>& values) {
  const Sym i = loop_at(p, rows).iter, j = loop_at(p, child(rows)).iter;
  std::vector<Read> out;
  for (const Read* r : values) {
    const bool moves = std::any_of(r->idx.begin(), r->idx.end(),
                                   [&](const ExprPtr& index) { return mentions(index, i); });
    if (r->idx.empty() || !mentions(r->idx.back(), j) || moves) continue;
    if (std::none_of(out.begin(), out.end(), [&](const Read& o) { return same_element(o, *r); }))
      out.push_back(*r);
  }
  return out;
}

// Likewise of all statements in the loops.
std::vector<Read> shared_reads(const ProcPtr& p, const Path& rows) {
  return shared_of(p, rows, values_read(p, child(child(rows))));
}

ProcPtr stage_read(ProcPtr p, const Path& rows, const Read& read, const std::string& name) {
  const Path columns = child(rows);
  const std::vector<const Read*> reads = values_read(p, child(columns));
  if (std::none_of(reads.begin(), reads.end(),
                   [&](const Read* r) { return r->name == read.name && !same_element(*r, read); }))
    return stage_around(p, rows, read.name, name, 1, true);
  const std::vector<Cursor> uses = uses_in(p, child(columns), read);
  int place = uses.front().path()[columns.size()].index;  // of the first statement that reads it
  p = bind_expr(p, uses, name);
  for (; place > 0; --place)  // in front of the others: first the scalar, then what it takes
    for (int k : {0, 1}) p = reorder_stmts(p, Cursor::block(p, child(columns, place + k - 1), 2));
  const For f = loop_at(p, columns);
  const ExprPtr j = read_var(f.iter, ScalarType::kIndex);
  const bool from_zero = as_int(f.lo) == 0;
  p = expand_dim(p, at(p, child(columns)), from_zero ? f.hi : f.hi - f.lo,
                 from_zero ? j : j - f.lo);
  p = lift_alloc(p, at(p, child(columns)), 1);
  p = fission(p, Cursor::gap(p, child(child(rows, 1), 1)), 1);
  p = lift_alloc(p, at(p, child(rows)), 1);
  const Path filled = sibling(rows, 1);
  p = fission(p, Cursor::gap(p, child(filled, 1)), 1);
  return remove_loop(p, at(p, filled));
}

}  // namespace

int terms_apart(ProcPtr& p, const Path& rows) {
  const Path body = child(child(rows));
  const int terms = size_of_block(p, body);
  std::vector<Read> all;
  for (int k = 0; k < terms; ++k) {
    const Reduce* sum = stmt_at(*p, sibling(body, k))->as<Reduce>();
    if (!sum || sum->name != stmt_at(*p, body)->as<Reduce>()->name) return 1;
    const std::vector<Read> shared = shared_of(p, rows, data_reads(sum->rhs));
    const auto known = [&](const Read& r) {
      return std::any_of(all.begin(), all.end(), [&](const Read& o) { return same_element(o, r); });
    };
    if (shared.empty() || std::any_of(shared.begin(), shared.end(), known)) return 1;
    all.insert(all.end(), shared.begin(), shared.end());
  }
  for (int k = terms - 1; k > 0; --k) p = fission(p, Cursor::gap(p, sibling(body, k)), 2);
  return terms;
}

SharedTiles stage_shared(ProcPtr p, const Path& rows, int64_t lanes, const MemoryPtr& memory) {
  SharedTiles out{std::move(p), {}, rows};
  std::vector<Sym> staged;
  for (;;) {
    // Looked for anew each time: the loops of what is left have other iterators after a fission.
    const std::vector<Read> reads = shared_reads(out.proc, out.rows);
    const auto next = std::find_if(reads.begin(), reads.end(), [&](const Read& r) {
      return std::find(staged.begin(), staged.end(), r.name) == staged.end();
    });
    if (next == reads.end()) return out;
    out.proc = stage_read(out.proc, out.rows, *next, next->name.name() + "_reg");
    staged.push_back(at(out.proc, out.rows).as<Alloc>().name);
    out.proc = split_last_dim(out.proc, out.rows, lanes);
    out.proc = set_memory(out.proc, at(out.proc, out.rows), memory);
    out.loads.push_back(sibling(out.rows, 1));
    out.rows = sibling(out.rows, 2);
  }
}

namespace {
int64_t round_up(int64_t n, int64_t q) { return (n + q - 1) / q * q; }
}  // namespace

ProcPtr split_last_dim(ProcPtr p, const Path& path, int64_t q) {
  const Type& type = at(p, path).as<Alloc>().type;
  if (type.shape.empty())
    throw SchedulingError("one element is no tile: `" + at(p, path).describe() + "`");
  int last = type.rank() - 1;
  ExprPtr size = type.shape.back();
  auto literal = as_int(size);
  if (!literal && prove(*p, path, bin_op(BinOpKind::kLe, size, int_const(q)))) {
    p = resize_dim(p, at(p, path), last, int_const(q), int_const(0));  // at most one vector
  } else if (literal ? *literal % q != 0
                     : !prove_equal(*p, path, bin_op(BinOpKind::kMod, size, int_const(q)),
                                    int_const(0))) {
    ExprPtr padded =
        literal ? int_const(round_up(*literal, q))
                : int_const(q) * bin_op(BinOpKind::kDiv, size + int_const(q - 1), int_const(q));
    p = resize_dim(p, at(p, path), last, padded, int_const(0));
  }
  return divide_dim(p, at(p, path), last, q);
}

ProcPtr products_apart(ProcPtr p, const Path& stmt) {
  const auto is_sum = [](const ExprPtr& e) {
    const BinOp* sum = e->as<BinOp>();
    return sum && (sum->op == BinOpKind::kAdd || (sum->op == BinOpKind::kSub && is_float(e->type)));
  };
  const auto is_term = [&](const ExprPtr& e) {
    const USub* minus = e->as<USub>();
    const BinOp* product = (minus ? minus->arg : e)->as<BinOp>();
    return product && (product->op == BinOpKind::kMul || (!minus && is_sum(e)));
  };
  const Reduce& reduce = at(p, stmt).as<Reduce>();
  if (reduce.op != ReduceOp::kAdd || !is_sum(reduce.rhs)) return p;
  for (const ExprPtr& term : expr_children(*reduce.rhs))
    if (!is_term(term)) return p;
  p = split_write(p, at(p, stmt));
  p = products_apart(p, sibling(stmt, 1));
  return products_apart(p, stmt);
}

ProcPtr run_to_whole_vectors(ProcPtr p, const Path& path, int64_t lanes) {
  const For& f = loop_at(p, path);
  const auto extent = literal_extent(f);
  const ExprPtr end = int_const(extent ? round_up(*extent, lanes) : lanes);
  try {
    return extend_loop(p, at(p, path), end);
  } catch (const SchedulingError&) {
    return p;  // integers, or more than a vector of unknown length
  }
}

}  // namespace exotune
