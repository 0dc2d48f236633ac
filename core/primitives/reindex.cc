// reindex_loops: a bijection between two sets of iterations, proved in both directions.
#include "core/primitives/reindex.h"

#include <algorithm>

#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

const char* const kReindex = "reindex_loops";

// The nest as it is, the points that are to come, and the maps between them.
class Reindexing {
 public:
  Reindexing(const ProcPtr& p, const Path& at) : p_(p), at_(at) {
    read_nest();
    require_any_order();
  }

  void take(const std::vector<CountedLoop>& loops, const FormerLoops& former,
            const std::string& where) {
    take_loops(loops);
    take_former(former);
    std::vector<ScopeEntry> scope = outside_;
    for (auto it = new_.rbegin(); it != new_.rend(); ++it)
      scope.insert(scope.begin(), entry(it->var));
    where_ = where.empty() ? bool_const(true) : parse_control_expr(where, scope);
    if (where_->type != ScalarType::kBool) refuse(kReindex, "`" + where + "` is no condition");
    require_plain(where_, where);
    require_bijection();
  }

  ProcPtr run(std::vector<Value> args) const {
    Rewrite rw(p_);
    // Integers wrap, in whichever order they are added.
    rw.flags.reassociates =
        sum_->op == ReduceOp::kAdd && is_float(element_type(*p_, sum_path_, sum_->name));
    for (size_t k = 0; k < old_.size(); ++k) rw.unwrap(at_);
    rw.replace_keep(at_, substitute(Block{sum_stmt_}, former_).front());
    if (!where_->as<Const>())
      rw.wrap(at_, 1, [&](Block body) { return make_if(where_, std::move(body), {}); });
    for (size_t k = new_.size(); k-- > 0;)
      rw.wrap(at_, 1, [&](Block body) {
        return make_for(new_[k].var, int_const(0), new_[k].hi, std::move(body));
      });
    try {
      check_statement(rw.proc(), at_);
    } catch (const Error& e) {
      refuse(kReindex, "the result does not check: " + e.diagnostic().message.str());
    }
    return rw.finish(kReindex, std::move(args));
  }

 private:
  using Values = std::vector<std::pair<Sym, ExprPtr>>;

  static Block substitute(Block block, const Values& values) {
    // Former and new iterators are different symbols, so one after the other is all at once.
    for (const auto& [name, value] : values) block = exotune::substitute(block, name, value);
    return block;
  }
  static ExprPtr substitute(ExprPtr e, const Values& values) {
    for (const auto& [name, value] : values) e = exotune::substitute(e, name, value);
    return e;
  }
  static ScopeEntry entry(Sym name) {
    return {name, Type{ScalarType::kIndex, {}, false}, nullptr, nullptr};
  }
  static ExprPtr within(const ExprPtr& value, const ExprPtr& hi) {
    return both(less_equal(int_const(0), value), less(value, hi));
  }

  void read_nest() {
    Path inner = at_;
    StmtPtr s = stmt_at(*p_, inner);
    outside_ = scope_at(*p_, at_);
    while (const For* f = s->as<For>()) {
      const std::string name = f->iter.name();
      if (f->mode != LoopMode::kSeq) refuse(kReindex, "`" + name + "` is no sequential loop");
      if (f->body.size() != 1) refuse(kReindex, "the loops hold more than one statement");
      if (literal(f->lo) != 0) refuse(kReindex, "`" + name + "` does not begin at 0");
      if (reads_config(f->hi)) refuse(kReindex, "the bound of `" + name + "` reads configuration");
      for (const RangedVar& outer : old_) {
        if (mentions(f->hi, outer.var))
          refuse(kReindex, "the bound of `" + name + "` depends on a loop around it");
        if (outer.var.name() == name) refuse(kReindex, "two loops are called `" + name + "`");
      }
      old_.push_back({f->iter, int_const(0), f->hi});
      inner = body_path(inner);
      s = stmt_at(*p_, inner);
    }
    inside_ = scope_at(*p_, inner);
    sum_stmt_ = s;
    sum_ = s->as<Reduce>();
    if (!sum_) refuse(kReindex, "the loops hold no sum `x += ..`");
    sum_path_ = inner;
  }

  // Terms may come in any order: none sees what another one did.
  void require_any_order() const {
    if (reads_buffer(*p_, sum_path_, sum_->rhs, sum_->name))
      refuse(kReindex, "`" + str(sum_->rhs) + "` reads what is summed into");
    if (reads_config(sum_->rhs)) refuse(kReindex, "the sum reads configuration");
    for (const ExprPtr& i : sum_->idx)
      if (reads_config(i)) refuse(kReindex, "the sum reads configuration");
  }

  static void require_plain(const ExprPtr& e, const std::string& text) {
    if (reads_config(e)) refuse(kReindex, "`" + text + "` reads configuration state");
    require_moderate(e, kReindex);
  }

  void take_loops(const std::vector<CountedLoop>& loops) {
    if (loops.empty()) refuse(kReindex, "no loop is given");
    for (const CountedLoop& l : loops) {
      require_name(kReindex, l.name);
      for (const RangedVar& other : new_)
        if (other.var.name() == l.name)
          refuse(kReindex, "the loop `" + l.name + "` is given twice");
      const ExprPtr extent = parse_expr_at(p_, at_, l.extent);
      const ExprPtr value = parse_control_expr(l.value, inside_);
      require_plain(extent, l.extent);
      require_plain(value, l.value);
      new_.push_back({Sym::fresh(l.name), int_const(0), extent});
      counted_.push_back({new_.back().var, value});
    }
  }

  void take_former(const FormerLoops& former) {
    std::vector<ScopeEntry> scope = outside_;
    for (auto it = new_.rbegin(); it != new_.rend(); ++it)
      scope.insert(scope.begin(), entry(it->var));
    for (const auto& [name, text] : former)
      if (std::none_of(old_.begin(), old_.end(),
                       [&, n = name](const RangedVar& o) { return o.var.name() == n; }))
        refuse(kReindex, "the nest has no loop `" + name + "`");
    for (const RangedVar& o : old_) {
      const auto it = std::find_if(former.begin(), former.end(),
                                   [&](const auto& f) { return f.first == o.var.name(); });
      if (it == former.end()) refuse(kReindex, "what `" + o.var.name() + "` becomes is not given");
      const ExprPtr value = parse_control_expr(it->second, scope);
      require_plain(value, it->second);
      former_.push_back({o.var, value});
    }
  }

  // Both ways round, so that no term is lost and none is added twice.
  void require_bijection() const {
    std::vector<ExprPtr> there, back;
    for (size_t k = 0; k < old_.size(); ++k) there.push_back(within(former_[k].second, old_[k].hi));
    for (size_t k = 0; k < new_.size(); ++k)
      there.push_back(equals(substitute(counted_[k].second, former_),
                             read_var(new_[k].var, ScalarType::kIndex)));
    require(prove_for_all(*p_, at_, new_, {where_}, conjunction(there)), kReindex,
            "a point of the new loops is none of the former ones, or not its own");
    for (size_t k = 0; k < new_.size(); ++k) back.push_back(within(counted_[k].second, new_[k].hi));
    if (!where_->as<Const>()) back.push_back(substitute(where_, counted_));
    for (size_t k = 0; k < old_.size(); ++k)
      back.push_back(equals(substitute(former_[k].second, counted_),
                            read_var(old_[k].var, ScalarType::kIndex)));
    require(prove_for_all(*p_, at_, old_, {}, conjunction(back)), kReindex,
            "a point of the former loops is left out, or counted elsewhere");
  }

  const ProcPtr& p_;
  const Path at_;
  Path sum_path_;
  std::vector<ScopeEntry> outside_, inside_;
  std::vector<RangedVar> old_, new_;
  Values former_;   // of each former loop over the new ones
  Values counted_;  // of each new loop over the former ones
  ExprPtr where_;
  StmtPtr sum_stmt_;
  const Reduce* sum_ = nullptr;
};

}  // namespace

ProcPtr reindex_loops(ProcPtr p, const Where& nest, const std::vector<CountedLoop>& loops,
                      const FormerLoops& former, const std::string& where) {
  Cursor c = nest.loop(p);
  Reindexing reindexing(p, c.path());
  reindexing.take(loops, former, where);
  ValueList loop_values, former_values;
  for (const CountedLoop& l : loops) loop_values.push_back(ValueList{l.name, l.extent, l.value});
  for (const auto& [name, value] : former) former_values.push_back(ValueList{name, value});
  std::vector<Value> args{place(nest, c), loop_values, former_values};
  if (!where.empty()) args.push_back(std::map<std::string, Value>{{"where", where}});
  return reindexing.run(std::move(args));
}

// --- rows of the operator table ----------------------------------------------------------------

namespace {

// Tuples of `width` texts: [('ko', 'K / 16', 'k / 16')]
std::vector<std::vector<std::string>> tuples_in(const Value& v, size_t width, const char* hint) {
  const ValueList* list = v.as<ValueList>();
  std::vector<std::vector<std::string>> out;
  for (const Value& item : list ? *list : ValueList{}) {
    const ValueList* tuple = item.as<ValueList>();
    if (!tuple || tuple->size() != width) break;
    std::vector<std::string>& texts = out.emplace_back();
    for (const Value& text : *tuple) texts.push_back(expression_text(text));
  }
  if (!list || out.size() != list->size())
    throw InputError({}, v.str() + " is no list of loops", hint);
  return out;
}

Value reindexed(const OperatorArgs& a) {
  std::vector<CountedLoop> loops;
  FormerLoops former;
  for (const auto& l : tuples_in(a[2], 3, "loops are [('ko', 'K / 16', 'k / 16'), ..]"))
    loops.push_back({l[0], l[1], l[2]});
  for (const auto& f : tuples_in(a[3], 2, "former loops are [('k', '16 * ko + ki'), ..]"))
    former.push_back({f[0], f[1]});
  return reindex_loops(a.proc(), a.where(1), loops, former, a.string(4));
}

}  // namespace

std::vector<Operator> reindex_operators() {
  using namespace params;
  return {
      {"reindex_loops",
       {proc(), place("loops"), any("counted"), any("former"), string("where", "")},
       "for k: x += a[k]  ->  for ko: for ki: if 4 * ko + ki < K: x += a[4 * ko + ki]",
       reindexed},
  };
}

}  // namespace exotune
