// stage_mem: work on a copy of part of a buffer.
#include "core/frontend/parser.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/primitives/calls.h"
#include "core/primitives/operator_rows.h"
#include "core/primitives/staged_window.h"
#include "core/primitives/uses.h"

namespace exotune {

using namespace internal;

namespace {

// A loop of the block each of whose iterations gets a copy of its own: a dimension of the copy.
struct PrivateLoop {
  Path path;
  Sym iter;
  ExprPtr lo, extent;
  ExprPtr place_of(const ExprPtr& i) const { return is_literal(lo, 0) ? i : fold(i - lo); }
};

std::vector<PrivateLoop> private_loops(const ProcPtr& p, const Cursor& block,
                                       const std::vector<Where>& per) {
  std::vector<PrivateLoop> out;
  for (const Where& where : per) {
    const Cursor c = where.loop(p);
    const For& f = c.as<For>();
    const Path &at = c.path(), &first = block.path();
    // Which statement of the block the loop lies in, -1 where in none.
    const int k = at.size() < first.size() ? -1 : at[first.size() - 1].index - first.back().index;
    const bool inside = k >= 0 && k < block.length() && is_prefix(sibling(first, k), at);
    if (!inside) refuse(kStageMem, "the loop over '" + f.iter.name() + "' is not in the block");
    PrivateLoop loop{at, f.iter, f.lo, trip_count(f)};
    for (const ExprPtr& e : {loop.lo, loop.extent}) {
      // The copy's extent is evaluated before the block.
      if (!in_scope(*p, first, e) || reads_config(e))
        refuse(kStageMem, "the bounds of '" + f.iter.name() + "' are not known before the block");
    }
    require(prove(*p, first, bin_op(BinOpKind::kGt, loop.extent, int_const(0))), kStageMem,
            "the loop over '" + f.iter.name() + "' is not proved to run");
    out.push_back(std::move(loop));
  }
  return out;
}

// The rewrite: the block works on a copy, which is filled in front of it and given back behind it.
class StageMem {
 public:
  StageMem(const ProcPtr& p, const Cursor& block, const std::string& window,
           const std::string& name, bool accum, const std::vector<Where>& per)
      : p_(p),
        first_(block.path()),
        n_(block.length()),
        stage_(p, block, window),
        copies_(private_loops(p, block, per)),
        tmp_(Sym::fresh(name)),
        tmp_shape_(stage_.tmp_shape()) {
    if (!copies_.empty() && !accum)
      refuse(kStageMem, "only sums and maxima have copies per iteration");
    if (accum) reduction_ = stage_.only_reduction();
    if (accum && !reduction_)
      refuse(kStageMem, "the block does more than add into `" + stage_.root().name() + "`");
    for (const PrivateLoop& l : copies_) {
      tmp_shape_.push_back(l.extent);
      own_place_.push_back(l.place_of(read_var(l.iter, ScalarType::kIndex)));
    }
  }

  ProcPtr run(std::vector<Value> args) const {
    const Block staged = staged_block();
    const std::set<Sym> names = names_of_copy(staged);
    Rewrite rw(p_);
    rw.map_in_place(splice(*p_, first_, n_, staged));
    if (stage_.is_written()) rw.insert(sibling(first_, n_), {giving_back()});
    Block before{make_alloc(tmp_, Type{stage_.scalar(), tmp_shape_, false}, dram())};
    if (StmtPtr fill = filling()) before.push_back(std::move(fill));
    const int ahead = static_cast<int>(before.size());
    rw.insert(first_, std::move(before));

    require_calls(rw.proc(), sibling(first_, ahead), n_, names, kStageMem);
    require_parallel_loops(rw.proc(), first_, kStageMem);
    // Integers wrap, in whichever order they are added.
    rw.flags.reassociates = sums() && is_float(stage_.scalar());
    require_config_writes_fixed(rw.proc(), kStageMem);
    return rw.finish(kStageMem, std::move(args));
  }

  /// The trace's arguments behind the name: nothing, or how sums are staged.
  std::optional<Value> options() const {
    if (!reduction_) return std::nullopt;
    std::map<std::string, Value> named{{"accum", Value(true)}};
    ValueList loops;
    for (const PrivateLoop& l : copies_) loops.emplace_back(Cursor::stmt(p_, l.path));
    if (!loops.empty()) named.emplace("per", std::move(loops));
    return Value(std::move(named));
  }

 private:
  using Idx = std::vector<ExprPtr>;

  // Begun at zero and added to what is there; maxima and minima begin at what is there.
  bool sums() const { return reduction_ == ReduceOp::kAdd; }

  void require_inside(const Path& at) const {
    for (const PrivateLoop& l : copies_)
      if (!is_prefix(l.path, at))
        refuse(kStageMem, "`" + stage_.root().name() + "` is used outside of the loop over '" +
                              l.iter.name() + "'");
  }

  // The block with the copy in the place of the window, by whatever name it was reached from
  // outside the block: the root and windows made before.
  Block staged_block() const {
    const Block& all = block_at(*p_, first_);
    Block staged(all.begin() + first_.back().index, all.begin() + first_.back().index + n_);
    for (const ScopeEntry& e : scope_at(*p_, first_)) {
      if (!is_data(e.type.scalar)) continue;
      const auto alias = resolve_alias(*p_, first_, e.name);
      if (alias && alias->root == stage_.root())
        staged = map_uses(staged, first_, uses_of(e, *alias));
    }
    return staged;
  }

  UseMap uses_of(const ScopeEntry& e, const Alias& alias) const {
    UseMap map;
    map.op = kStageMem;
    map.buffer = e.name;
    map.shape = e.type.shape;
    map.shape_of = [this, shape = e.type.shape](Sym s) { return s == tmp_ ? tmp_shape_ : shape; };
    map.element = [this, alias](const Idx& idx, const Path& at) {
      std::optional<ElementUse> use = stage_.element(alias, idx, at, tmp_);
      if (use) require_inside(at);
      if (use) use->idx.insert(use->idx.end(), own_place_.begin(), own_place_.end());
      return use;
    };
    map.window = [this, alias](const std::vector<WindowAccess>& access, const Path& at) {
      std::optional<WindowUse> use = stage_.window(alias, access, at, tmp_);
      if (use) require_inside(at);
      for (size_t k = 0; use && k < own_place_.size(); ++k)
        use->access.push_back({own_place_[k], nullptr});
      return use;
    };
    return map;
  }

  // The copy and windows of it; what follows the block may use none of these.
  std::set<Sym> names_of_copy(const Block& staged) const {
    const Block& all = block_at(*p_, first_);
    const Block after(all.begin() + first_.back().index + n_, all.end());
    std::set<Sym> names = aliases_in(staged, {tmp_});
    for (const StmtPtr& s : staged) {
      const Sym bound = bound_symbol(*s);
      if (bound.valid() && bound != tmp_ && names.contains(bound) && mentions(after, bound))
        refuse(kStageMem, "the window `" + bound.name() + "`, made in the block, is used after it");
    }
    return names;
  }

  // The copy loops, innermost those over iterations that have a copy of their own.
  StmtPtr copy(const std::function<StmtPtr(Idx tmp, Idx root)>& make,
               bool touches_root = true) const {
    std::vector<Sym> iters;
    for (const PrivateLoop& l : copies_) iters.push_back(l.iter.copy());
    return stage_.copy(
        [&](Idx t, Idx r) {
          for (const Sym i : iters) t.push_back(read_var(i, ScalarType::kIndex));
          StmtPtr s = make(std::move(t), std::move(r));
          for (size_t k = copies_.size(); k-- > 0;)
            s = make_for(iters[k], int_const(0), copies_[k].extent, {s});
          return s;
        },
        touches_root);
  }

  // Null where the block itself writes all of the copy first.
  StmtPtr filling() const {
    const ExprPtr zero = data_const(0, stage_.scalar());
    if (sums()) return copy([&](Idx t, Idx) { return make_assign(tmp_, t, zero); }, false);
    if (!reduction_ && stage_.written_first()) return nullptr;
    return copy([&](Idx t, Idx r) {
      return make_assign(tmp_, t, read_elem(stage_.root(), r, stage_.scalar()));
    });
  }

  StmtPtr giving_back() const {
    return copy([&](Idx t, Idx r) {
      const ExprPtr value = read_elem(tmp_, t, stage_.scalar());
      return reduction_ ? make_reduce(stage_.root(), r, value, *reduction_)
                        : make_assign(stage_.root(), r, value);
    });
  }

  const ProcPtr p_;
  const Path first_;
  const int n_;
  const StagedWindow stage_;
  const std::vector<PrivateLoop> copies_;
  const Sym tmp_;
  std::vector<ExprPtr> tmp_shape_, own_place_;  // of one iteration's copy
  std::optional<ReduceOp> reduction_;           // where sums or maxima are staged
};

}  // namespace

ProcPtr stage_mem(ProcPtr p, const Where& where, const std::string& window, const std::string& name,
                  bool accum, const std::vector<Where>& per) {
  const Cursor block = where.block(p);
  const StageMem rewrite(p, block, window, name, accum, per);
  std::vector<Value> args{internal::place(where, block), window, name};
  if (std::optional<Value> options = rewrite.options()) args.push_back(std::move(*options));
  return rewrite.run(std::move(args));
}

// Made of primitives: a loop that runs from 0 has no rows before it in its first iteration.
ProcPtr stage_mem_if_any(ProcPtr p, const Where& where, const std::string& window,
                         const std::string& name, bool accum, const std::vector<Where>& per) {
  const Cursor block = where.block(p);
  const ExprPtr parsed = parse_window_at(*p, block.path(), window);
  ExprPtr any;
  if (const WindowExpr* w = parsed->as<WindowExpr>())
    for (const WindowAccess& a : w->access) {
      if (a.is_point()) continue;
      const ExprPtr some = bin_op(BinOpKind::kLt, a.lo, a.hi);
      if (prove(*p, block.path(), some)) continue;
      any = any ? bin_op(BinOpKind::kAnd, any, some) : some;
    }
  if (!any) return stage_mem(p, where, window, name, accum, per);
  p = specialize(p, block, {any});
  Path first = block.path();
  first.push_back({Child::kBody, 0});
  return stage_mem(p, Cursor::block(p, first, block.length()), window, name, accum, per);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> stage_operators() {
  using namespace params;
  return {
      {"stage_mem",
       {proc(), place("block"), string("win_expr"), new_name("new_buf_name"),
        boolean("accum", false), places("per", ValueList{})},
       "s(x[lo + i])  ->  t : T[hi - lo]; t = x[lo:hi]; s(t[i]); x[lo:hi] = t   (accum: t = 0; "
       "s(t[i]); x += t; per: a copy for each iteration of these loops)",
       [](const OperatorArgs& a) -> Value {
         return stage_mem_if_any(a.proc(), a.where(1), a.string(2), a.string(3), a.boolean(4),
                                 a.places(5));
       }},
  };
}

}  // namespace exotune
