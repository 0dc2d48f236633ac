// distribute_factor: c * (a + b) is c * a + c * b.
#include "core/primitives/distribute.h"

#include <algorithm>

#include "core/ir/printer.h"
#include "core/primitives/internal.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"
#include "core/primitives/value_range.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kDistribute = "distribute_factor";

class FactorOfSum {
 public:
  FactorOfSum(const ProcPtr& p, Path last) : p_(p), last_(std::move(last)) {
    read_last();
    require_loops();
    read_beginning();
    require_local();
    require_exact();
  }

  ProcPtr run(std::vector<Value> args) const {
    Rewrite rw(p_);
    rw.flags.reassociates = true;
    const Path begun = sibling(loop_, -1);
    ExprPtr term = sum_->rhs;
    if (converted_) term = read_var(converted_->name, element_type(*p_, last_, into_->name));
    for (size_t k = others_.size(); k-- > 0;) term = others_[k] * term;
    rw.replace_keep(sum_path_, make_reduce(into_->name, into_->idx, term, ReduceOp::kAdd));
    rw.erase(sibling(loop_, 1), last_.back().index - loop_.back().index);
    if (converted_) {
      const Alloc& made = *stmt_at(*p_, sibling(last_, -2))->as<Alloc>();
      rw.insert(sum_path_, {make_alloc(made.name, made.type, made.mem),
                            make_assign(converted_->name, {}, sum_->rhs)});
    }
    rw.erase(begun, 1);
    require_parallel_loops(rw.proc(), begun, kDistribute);
    return rw.finish(kDistribute, std::move(args));
  }

 private:
  // y += c * t, and what of it is t.
  void read_last() {
    into_ = stmt_at(*p_, last_)->as<Reduce>();
    if (!into_ || into_->op != ReduceOp::kAdd || last_.back().index < 2)
      refuse(kDistribute, "this is no sum behind the loops of another");
    loop_ = sibling(last_, -1);
    read_conversion();
    const For* f = loop_.back().index > 0 ? stmt_at(*p_, loop_)->as<For>() : nullptr;
    if (!f) refuse(kDistribute, "no loop stands in front of it");
    sum_path_ = body_path(loop_);
    while (const For* inner = f->body.size() == 1 ? f->body.front()->as<For>() : nullptr) {
      f = inner;
      sum_path_ = body_path(sum_path_);
    }
    for (size_t k = 0; k + 1 < f->body.size(); ++k) require_name_of(*f, k);
    sum_path_.back().index = static_cast<int>(f->body.size()) - 1;
    sum_ = f->body.empty() ? nullptr : f->body.back()->as<Reduce>();
    if (!sum_ || sum_->op != ReduceOp::kAdd || !sum_->idx.empty())
      refuse(kDistribute, "the loops hold no sum into a scalar");
    collect(into_->rhs);
    if (reads_ != 1) refuse(kDistribute, "`" + factor().name() + "` is no factor of what is added");
    if (converted_ && converted_->rhs->as<Read>()->name != sum_->name)
      refuse(kDistribute, "`" + factor().name() + "` is not the sum of the loops");
  }
  // { u : f32 ; u = t } between the loop and y += c * u.
  void read_conversion() {
    const Assign* a = stmt_at(*p_, loop_)->as<Assign>();
    const Read* whole = a && a->idx.empty() ? a->rhs->as<Read>() : nullptr;
    if (!whole || !whole->idx.empty() || last_.back().index < 4) return;
    const Alloc* made = stmt_at(*p_, sibling(last_, -2))->as<Alloc>();
    if (!made || made->name != a->name || made->type.is_tensor()) return;
    converted_ = a;
    loop_ = sibling(last_, -3);
  }
  void collect(const ExprPtr& e) {
    const BinOp* b = e->as<BinOp>();
    const Read* r = e->as<Read>();
    if (b && b->op == BinOpKind::kMul) {
      collect(b->lhs);
      collect(b->rhs);
    } else if (r && r->name == factor()) {
      ++reads_;
    } else {
      if (mentions(e, factor()) || mentions(e, sum_->name)) reads_ = 2;
      others_.push_back(e);
    }
  }

  // What y is the sum of: t, or what it is converted to.
  Sym factor() const { return converted_ ? converted_->name : sum_->name; }

  // A value with a name of its own, in front of the sum.
  void require_name_of(const For& f, size_t k) {
    if (f.body[k]->as<Alloc>()) return;
    const Assign* a = f.body[k]->as<Assign>();
    const bool local = a && std::any_of(f.body.begin(), f.body.begin() + static_cast<long>(k),
                                        [&](const StmtPtr& s) {
                                          const Alloc* made = s->as<Alloc>();
                                          return made && made->name == a->name;
                                        });
    if (!local) refuse(kDistribute, "the loops hold more than one sum");
    values_.push_back(a->rhs);
  }

  void require_loops() const {
    Path path = loop_;
    for (; path.size() < sum_path_.size(); path = body_path(path)) {
      const For* f = stmt_at(*p_, path)->as<For>();
      if (f->mode != LoopMode::kSeq)
        refuse(kDistribute, "`" + f->iter.name() + "` is no sequential loop");
      if (reads_config(f->lo) || reads_config(f->hi))
        refuse(kDistribute, "the bounds of `" + f->iter.name() + "` read configuration");
    }
  }

  void read_beginning() const {
    const Assign* a = stmt_at(*p_, sibling(loop_, -1))->as<Assign>();
    if (!a || a->name != sum_->name || !is_zero(a->rhs))
      refuse(kDistribute, "`" + sum_->name.name() + "` does not begin at 0 in front of the loops");
  }
  static bool is_zero(const ExprPtr& e) {
    const Const* c = e->as<Const>();
    const double* value = c ? std::get_if<double>(&c->value) : nullptr;
    return value && *value == 0;
  }

  // Whoever else uses t or u would miss it.
  void require_local() const {
    const Path conversion = sibling(last_, -1);
    require_used_in(sum_->name, {converted_ ? conversion : last_, sum_path_, sibling(loop_, -1)});
    if (converted_) require_used_in(converted_->name, {last_, conversion});
  }
  void require_used_in(Sym t, const std::vector<Path>& own) const {
    const std::string name = "`" + t.name() + "`";
    for (const Arg& a : p_->args)
      if (a.name == t) refuse(kDistribute, name + " is an argument");
    for (const Path& path : all_stmt_paths(*p_)) {
      const StmtPtr s = stmt_at(*p_, path);
      if (s->as<For>() || s->as<If>() || s->as<Alloc>()) continue;
      if (mentions(s, t) && std::find(own.begin(), own.end(), path) == own.end())
        refuse(kDistribute, name + " is used in " + quoted(s) + ", too");
    }
  }

  void require_exact() const {
    const ScalarType type = element_type(*p_, last_, into_->name),
                     summed = element_type(*p_, sum_path_, sum_->name);
    if (!is_float(type)) refuse(kDistribute, "what is added to is no floating-point number");
    if (converted_)
      require_converted(type, summed);
    else if (summed != type)
      refuse(kDistribute, "both sums have to be floating-point numbers of one type");
    require_no_cast(sum_->rhs, summed, kDistribute);
    require_no_cast(into_->rhs, type, kDistribute);
    std::vector<ExprPtr> read = others_;
    read.insert(read.end(), values_.begin(), values_.end());
    read.push_back(sum_->rhs);
    read.insert(read.end(), into_->idx.begin(), into_->idx.end());
    for (const ExprPtr& e : read) {
      if (reads_buffer(*p_, sum_path_, e, into_->name))
        refuse(kDistribute, "`" + str(e) + "` reads what is summed into");
      if (reads_config(e)) refuse(kDistribute, "`" + str(e) + "` reads configuration");
    }
  }

  // A sum that wraps around is not the sum of what it is made of.
  void require_converted(ScalarType type, ScalarType summed) const {
    if (element_type(*p_, last_, converted_->name) != type)
      refuse(kDistribute, "`" + factor().name() + "` is not of the type of what is added to");
    if (is_float(summed)) return;
    int64_t times = 1;
    for (Path path = loop_; path.size() < sum_path_.size(); path = body_path(path)) {
      const auto trips = literal(trip_count(*stmt_at(*p_, path)->as<For>()));
      constexpr int64_t kMost = int64_t{1} << 31;
      if (!trips || *trips > kMost / times)
        refuse(kDistribute, "the integers are added up in loops of no literal extent");
      times *= std::max<int64_t>(*trips, 1);
    }
    const auto all = values_of(summed), term = ValueRanges(*p_).of(sum_->rhs);
    const auto sums = term ? sums_of(*term, times) : std::nullopt;
    if (!all || !sums || !all->holds(*sums))
      refuse(kDistribute, "`" + sum_->name.name() + "` may wrap around");
  }

  const ProcPtr& p_;
  const Path last_;
  Path loop_, sum_path_;
  const Reduce *into_ = nullptr, *sum_ = nullptr;
  const Assign* converted_ = nullptr;  // u = t
  int reads_ = 0;
  std::vector<ExprPtr> others_;  // factors of the sum
  std::vector<ExprPtr> values_;  // that have a name in front of it
};

}  // namespace

ProcPtr distribute_factor(ProcPtr p, const Where& sum) {
  const Cursor c = sum.stmt(p);
  const FactorOfSum factor(p, c.path());
  return factor.run({place(sum, c)});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> distribute_operators() {
  using namespace params;
  return {
      {"distribute_factor",
       {proc(), place("sum")},
       "t = 0.0; for k: t += e[k]; y[i] += c * t  ->  for k: y[i] += c * e[k]",
       [](const OperatorArgs& a) -> Value { return distribute_factor(a.proc(), a.where(1)); }},
  };
}

}  // namespace exotune
