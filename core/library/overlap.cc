// Both are ways of moving statements against loops: nothing here decides whether they may move, the
// primitives prove each step.
#include "core/library/overlap.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

/// `init` on its way inwards, always right in front of the loop that holds the nest.
class Beginning {
 public:
  Beginning(ProcPtr p, const Cursor& init, const Cursor& nest)
      : p_(std::move(p)), nest_(nest), place_(init.path()) {
    Path inside = innermost(p_, place_);
    if (at(p_, inside).is<For>()) inside = child(inside);
    const Assign* a = stmt_at(*p_, inside)->as<Assign>();
    if (!a)
      throw SchedulingError("begin_sums: `" + init.describe() + "` is no nest around `x = e`");
    target_ = a->name;
    read_result_index();
  }

  ProcPtr run() {
    for (meet(); !met(); meet()) enter();
    if (!first_.empty()) specialize_both();
    while (at(p_, place_).is<For>()) {
      p_ = fuse(p_, at(p_, place_), at(p_, sibling(place_, 1)));
      place_ = child(place_);
    }
    return std::move(p_);
  }

 private:
  Path nest() const { return forward(p_, nest_).path(); }
  bool met() const { return nest() == sibling(place_, 1); }

  // What the sum's target is indexed with: loops that appear there are loops of results.
  void read_result_index() {
    bool found = false;
    for_each_stmt({stmt_at(*p_, nest_.path())}, [&](const StmtPtr& s) {
      const Reduce* r = s->as<Reduce>();
      if (!r || r->name != target_) return;
      index_ = r->idx;
      found = true;
    });
    if (!found)
      throw SchedulingError("begin_sums: the nest sums nothing up in `" + target_.name() + "`");
  }

  // Down to right in front of the statement that is, or holds, the nest.
  void meet() {
    const Path to = nest();
    const size_t last = place_.size() - 1;
    const bool common = to.size() >= place_.size() &&
                        std::equal(place_.begin(), place_.end() - 1, to.begin()) &&
                        to[last].child == place_[last].child && to[last].index > place_[last].index;
    if (!common) throw SchedulingError("begin_sums: the nest does not stand behind");
    for (int k = to[last].index - place_[last].index; k > 1; --k) {
      p_ = reorder_stmts(p_, Cursor::block(p_, place_, 2));
      place_ = sibling(place_, 1);
    }
  }

  // Into the loop behind: each iteration begins its own results, or the first begins all.
  void enter() {
    const Cursor loop = at(p_, sibling(place_, 1));
    if (!loop.is<For>() || as_int(loop.as<For>().lo) != 0)
      throw SchedulingError("begin_sums: `" + loop.describe() + "` is no loop from 0");
    const For& f = loop.as<For>();
    const bool results = std::any_of(index_.begin(), index_.end(),
                                     [&](const ExprPtr& e) { return mentions(e, f.iter); });
    if (results) {
      for (size_t k = first_.size(); k > 0; --k) {
        Path inner = place_;
        for (size_t n = 0; n < k; ++n) inner = child(inner);
        p_ = lift_scope(p_, at(p_, inner));
      }
    } else {
      p_ = add_loop(p_, at(p_, place_), f.iter.name(), f.hi, true);
      first_.push_back(f.iter.name());
    }
    p_ = fuse(p_, at(p_, place_), at(p_, sibling(place_, 1)));
    place_ = child(place_);
  }

  // `if l == 0: if k == 0: init` and the nest  ->  if k == 0 and l == 0: { init; nest } else: nest
  void specialize_both() {
    std::string condition;
    for (const std::string& name : first_)
      condition += (condition.empty() ? "" : " and ") + name + " == 0";
    p_ = specialize(p_, Cursor::block(p_, place_, 2), {parse_expr_at(p_, place_, condition)});
    Path otherwise = place_;
    otherwise.push_back({Child::kOrelse, 0});
    place_ = child(place_);
    for (size_t k = first_.size(); k > 0; --k) p_ = eliminate_dead_code(p_, at(p_, place_));
    Path inner = otherwise;
    for (size_t k = 1; k < first_.size(); ++k) inner = child(inner);
    p_ = delete_pass(eliminate_dead_code(p_, at(p_, inner)));
  }

  ProcPtr p_;
  const Cursor nest_;
  Path place_;
  Sym target_;
  std::vector<ExprPtr> index_;
  std::vector<std::string> first_;  // loops of the sum whose first iteration begins it
};

}  // namespace

ProcPtr begin_sums(ProcPtr p, const Where& init, const Where& nest) {
  const Cursor from = init.stmt(p), to = nest.stmt(p);
  return Beginning(std::move(p), from, to).run();
}

ProcPtr run_ahead(ProcPtr p, const Where& where) {
  const Cursor gap = where.gap(p), loop = gap.parent();
  if (!loop.valid() || !loop.is<For>() || as_int(loop.as<For>().lo) != 0)
    throw SchedulingError("run_ahead: the gap is not in a loop from 0");
  const std::optional<int64_t> trips = literal_extent(loop.as<For>());
  if (!trips || *trips < 2)
    throw SchedulingError(
        "run_ahead: the loop does not run a literal number of times, twice or more");
  const Path first = loop.path();
  const auto part = [&](int k) { return at(p, sibling(first, k)); };
  p = fission(p, gap, 1);
  p = cut_loop(p, part(0), 1);
  p = cut_loop(p, part(2), *trips - 1);
  p = shift_loop(p, part(1), int_const(0));
  p = fuse(p, part(1), part(2));
  p = unroll_loop(p, part(2));
  return unroll_loop(p, part(0));
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> overlap_operators() {
  using namespace params;
  return {
      {"begin_sums",
       {proc(), place("init"), place("nest")},
       "x = 0; for k: x += e  ->  for k: if k == 0: { x = 0; x += e } else: x += e   (x and e in "
       "nests: `nest` is what an instruction does)",
       [](const OperatorArgs& a) -> Value { return begin_sums(a.proc(), a.where(1), a.where(2)); }},
      {"run_ahead",
       {proc(), place("gap")},
       "for i: s(i); t(i)  ->  s(0); for i: s(i + 1); t(i); and the last t   (double buffering; "
       "the "
       "gap stands between s and t)",
       [](const OperatorArgs& a) -> Value { return run_ahead(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
