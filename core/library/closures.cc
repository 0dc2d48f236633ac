// Rows and columns of a block of steps are cut out of both loops, which leaves nine parts of the
// matrix. The four that share neither a row nor a column with the block leave the steps: what they
// read of the block's rows and columns is copied at the moment when they would have read it.
#include "core/library/closures.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

[[noreturn]] void refuse_form() {
  throw SchedulingError(
      "block_closure: the loop is not around two loops around one update of a matrix by its own "
      "row "
      "and column",
      {}, "it is for updates like `x[i, j] min= x[i, k] + x[k, j]` under `for k: for i: for j:`");
}

const For& only_loop_in(const For& f) {
  const For* inner = f.body.size() == 1 ? f.body.front()->as<For>() : nullptr;
  if (!inner) refuse_form();
  return *inner;
}

struct Update {
  Sym array;
  const ExprPtr* rhs;
  size_t rank;
};
Update update_of(const StmtPtr& s) {
  if (const Reduce* r = s->as<Reduce>()) return {r->name, &r->rhs, r->idx.size()};
  if (const Assign* a = s->as<Assign>()) return {a->name, &a->rhs, a->idx.size()};
  refuse_form();
}

// One block of steps: the loop `steps`, whose k-th iteration is step begin + k.
class StepBlock {
 public:
  StepBlock(ProcPtr p, Path steps, ExprPtr begin, int64_t block)
      : p_(std::move(p)), steps_(std::move(steps)), begin_(std::move(begin)), block_(block) {
    const For &i = only_loop_in(loop(steps_)), &j = only_loop_in(i);
    array_ = update_of(j.body.front()).array;
    whole_ = {Bounds{i.lo, i.hi}, Bounds{j.lo, j.hi}};
    ends_ = as_int(normalize(i.hi - end())) == 0 && as_int(normalize(j.hi - end())) == 0;
  }

  ProcPtr run() {
    const int parts = ends_ ? 2 : 3;  // in front of the block, the block, behind it
    cut(child(steps_));
    for (int row = parts - 1; row >= 0; --row) {
      const Path rows = child(steps_, row);
      cut(child(rows));
      for (int gap = parts - 1; gap >= 1; --gap)
        p_ = fission(p_, Cursor::gap(p_, child(rows, gap)), 1);
    }
    // The last first: places in front of them stay.
    const std::vector<int> outside = ends_ ? std::vector<int>{0} : std::vector<int>{2, 0};
    for (const int row : outside)
      for (const int column : outside) try_to_take_out(row * parts + column);
    if (taken_ == 0)
      throw SchedulingError("block_closure: no part of the matrix could wait for a block of steps");
    turn_columns();
    return p_;
  }

 private:
  struct Bounds {
    ExprPtr lo, hi;
  };
  const For& loop(const Path& path) const { return *stmt_at(*p_, path)->as<For>(); }
  int size(const Path& path) const { return static_cast<int>(body_of(*stmt_at(*p_, path)).size()); }
  ExprPtr end() const { return normalize(begin_ + int_const(block_)); }

  void cut(const Path& path) {
    if (!ends_) p_ = cut_loop(p_, at(p_, path), end());
    p_ = cut_loop(p_, at(p_, path), begin_);
  }

  // A part that never runs, whatever the block, is refused and stays.
  void try_to_take_out(int k) {
    const ProcPtr before = p_;
    const Path steps = steps_;
    try {
      take_out(k);
    } catch (const SchedulingError&) {
      p_ = before, steps_ = steps;
      --taken_;
    }
  }

  // The nest at place `k` among the statements of a step goes behind the loop of steps.
  void take_out(int k) {
    ++taken_;
    for (size_t kept = 0; kept < 2; ++kept) keep_next_read(k);
    for (const int last = size(steps_) - 1; k < last; ++k)
      p_ = reorder_stmts(p_, Cursor::block(p_, child(steps_, k), 2));
    p_ = fission(p_, Cursor::gap(p_, child(steps_, k)), 1);
  }

  // What the nest reads in the step's row or column is copied in front of it, for each step apart.
  void keep_next_read(int& k) {
    const Path nest = child(steps_, k);
    const Sym step = loop(steps_).iter;
    const StmtPtr statement = stmt_at(*p_, innermost_statement(nest));
    const Update update = update_of(statement);
    for (const Read* read : data_reads(*update.rhs)) {
      if (read->name != update.array) continue;
      Rectangle window;
      bool in_step = false;
      for (size_t d = 0; d < read->idx.size(); ++d) {
        const bool point = mentions(read->idx[d], step);
        in_step |= point;
        window.lo.push_back(point ? read->idx[d] : whole_[d].lo);
        window.hi.push_back(point ? normalize(read->idx[d] + int_const(1)) : whole_[d].hi);
      }
      if (!in_step) continue;
      k += keep(nest, window, mentions(read->idx[0], step));
      return;
    }
  }
  // The block's columns in a buffer, one behind the other: a step then runs along them. Rows that
  // a step changes depend on each other within one row, where column k changes too.
  void turn_columns() {
    const Rectangle window{{whole_[0].lo, begin_}, {whole_[0].hi, end()}};
    try {
      ProcPtr p = stage_mem(p_, at(p_, steps_), window.text(array_.name(), scope_at(*p_, steps_)),
                            array_.name() + "_columns");
      p_ = rearrange_dim(p, at(p, steps_), {1, 0});
    } catch (const SchedulingError&) {
      return;  // as they are
    }
    steps_.back().index += 2;
    for (int k = 0; k < size(steps_); ++k) turn_nest(child(steps_, k));
  }
  void turn_nest(const Path& nest) {
    const For* rows = stmt_at(*p_, nest)->as<For>();
    const For* columns = rows && rows->body.size() == 1 ? rows->body.front()->as<For>() : nullptr;
    if (!columns) return;
    const Access written = accesses_of(*p_, nest, 1).back();
    if (written.idx.size() != 2 || !mentions(written.idx.back(), rows->iter)) return;
    try {
      p_ = reorder_loops(p_, at(p_, nest));
    } catch (const SchedulingError&) {
      // Rows that depend on each other stay.
    }
  }

  Path innermost_statement(const Path& nest) const { return child(child(nest)); }

  // Returns how many statements stand in front of the nest now. The copy of a row is cut where the
  // block's columns begin and end, which will be elsewhere.
  int keep(const Path& nest, const Rectangle& window, bool row) {
    p_ = stage_mem(p_, at(p_, nest), window.text(array_.name(), scope_at(*p_, nest)),
                   array_.name() + (row ? "_row" : "_column") + std::to_string(taken_));
    p_ = expand_dim(p_, at(p_, nest), int_const(block_),
                    read_var(loop(steps_).iter, ScalarType::kIndex));
    p_ = lift_alloc(p_, at(p_, nest), 1);
    ++steps_.back().index;
    const Path copy = child(steps_, nest.back().index);
    if (!row) return 1;
    cut(copy);
    return ends_ ? 2 : 3;
  }

  ProcPtr p_;
  Path steps_;
  Sym array_;
  const ExprPtr begin_;
  const int64_t block_;
  std::array<Bounds, 2> whole_;
  int taken_ = 0;      // parts that left the steps: their copies have names of their own
  bool ends_ = false;  // the block's rows and columns are the last ones
};

}  // namespace

ProcPtr block_closure(ProcPtr p, const Where& where, int64_t block) {
  if (block < 1) throw SchedulingError("block_closure: a block has at least one step");
  Path path = where.loop(p).path();
  const For& steps = *stmt_at(*p, path)->as<For>();
  const For& rows = only_loop_in(steps);
  const For& columns = only_loop_in(rows);
  if (columns.body.size() != 1 || update_of(columns.body.front()).rank != 2) refuse_form();
  const std::string name = steps.iter.name();
  const std::optional<int64_t> extent = literal_extent(steps);
  if (as_int(steps.lo) != 0 || mentions(rows.lo, steps.iter) || mentions(rows.hi, steps.iter) ||
      mentions(columns.lo, steps.iter) || mentions(columns.hi, steps.iter) ||
      mentions(columns.lo, rows.iter) || mentions(columns.hi, rows.iter))
    refuse_form();
  p = divide_loop(p, at(p, path), block, {name + "b", name}, Tail::kCut);
  const Path rest = sibling(path, 1);
  if (extent && *extent % block != 0)  // the steps left over first: places in front of them stay
    p = StepBlock(p, rest, int_const(*extent / block * block), *extent % block).run();
  const For& blocks = *stmt_at(*p, path)->as<For>();
  const ExprPtr begin = int_const(block) * read_var(blocks.iter, ScalarType::kIndex);
  p = StepBlock(p, child(path), begin, block).run();
  return simplify(p);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> closures_operators() {
  using namespace params;
  return {
      {"block_closure",
       {proc(), place("loop"), integer("block")},
       "for k: for i: for j: x[i, j] min= x[i, k] + x[k, j]  ->  blocks of k: what the rest of the "
       "matrix reads is kept, the rest is a product",
       [](const OperatorArgs& a) -> Value {
         return block_closure(a.proc(), a.where(1), a.integer(2));
       }},
  };
}

}  // namespace exotune
