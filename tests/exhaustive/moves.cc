#include "tests/exhaustive/moves.h"

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/reduction.h"
#include "core/primitives/factor.h"
#include "core/primitives/primitives.h"
#include "tests/exhaustive/callees.h"

namespace exotune::exhaustive {

namespace {

class Collector {
 public:
  Collector(const ProcPtr& p, const std::vector<ProcPtr>& known, bool shadowing, bool named)
      : p_(p), known_(known), shadowing_(shadowing), named_(named) {
    has_config_ = mentions_config(p->body);
    n_ = read_var(p->args[0].name, p->args[0].type.scalar);
    has_n_ = p->args[0].type.scalar == ScalarType::kSize;
    if (!has_n_) n_ = int_const(3);
  }

  std::vector<Move> collect() {
    whole_proc();
    for (const Path& at : all_stmt_paths(*p_)) {
      const StmtPtr s = stmt_at(*p_, at);
      const Cursor c = Cursor::stmt(p_, at);
      const bool has_next = stmt_at(*p_, sibling(at, 1)) != nullptr;
      statement(c);
      gaps(at, has_next);
      if (has_next) pair(c, Cursor::stmt(p_, sibling(at, 1)));
      if (s->as<For>()) loop(c, *s->as<For>());
      if (s->as<For>() || s->as<If>()) scope(c);
      if (s->as<Alloc>()) alloc(c, *s->as<Alloc>());
      if (s->as<Call>()) call(c);
      block(c.as_block());
      if (has_next) block(Cursor::block(p_, at, 2));
      std::vector<ExprPtr> exprs = stmt_exprs(*s);
      for (size_t k = 0; k < exprs.size(); ++k) {
        Path e = at;
        e.push_back({Child::kExpr, static_cast<int>(k)});
        expressions(e);
      }
    }
    return std::move(out_);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  template <class F>
  void add(const char* op, const std::string& arguments, F apply) {
    out_.push_back({op, out_.size(), std::move(apply)});
    if (named_) texts_.push_back(std::string(op) + "(p, " + arguments + ")");
  }
  // Parts of a move's text, which most runs never show.
  std::string said(const Path& path) const { return named_ ? str(path) : ""; }
  std::string said(const ExprPtr& e) const { return named_ ? str(e) : ""; }
  std::string at(const Cursor& c) const { return said(c.path()); }
  std::string loop_name(const char* usual) const { return shadowing_ ? "i" : usual; }
  std::string buffer_name(const char* usual) const { return shadowing_ ? "t" : usual; }

  static bool mentions_config(const Block& b) {
    bool found = false;
    for_each_stmt(b, [&](const StmtPtr& s) { found = found || s->as<WriteConfig>(); });
    for_each_expr(
        b, [&](const ExprPtr& e) { found = found || str(e).find("Cfg.a") != std::string::npos; });
    return found;
  }
  // Values to cut at, shift to, index with: literals, sizes, iterators, configuration.
  std::vector<ExprPtr> values_at(const Path& path, std::vector<ExprPtr> values) const {
    std::vector<ExprPtr> iterators = iterators_at(path);
    if (!iterators.empty()) values.push_back(iterators.back());
    if (has_config_) values.push_back(make_expr(ReadConfig{config(), "a"}, ScalarType::kIndex));
    return values;
  }
  std::string text(const ExprPtr& e, const Path& path) const { return str(e, scope_at(*p_, path)); }

  void whole_proc() {
    add("simplify", "", [p = p_] { return simplify(p); });
    add("delete_pass", "", [p = p_] { return delete_pass(p); });
    add("rename", "q", [p = p_] { return rename_proc(p, "q"); });
    for (const Arg& a : p_->args)
      if (a.type.rank() == 2) {
        add("transpose", a.name.name(), [p = p_, name = a.name.name()] {
          return transpose(p, name, {1, 0});
        });
        out_.back().matrices = Matrices::kTransposed;
      }
    if (!has_n_) return;
    add("partial_eval", "N=3", [p = p_] { return partial_eval(p, {{"N", 3}}); });
    out_.back().fixes_n = true;
    for (const Arg& a : p_->args)
      if (a.type.rank() == 2) {
        // Only a literal row can be joined.
        add("join_dims", a.name.name(), [p = p_, name = a.name.name()] {
          return join_dims(partial_eval(p, {{"N", 3}}), name, 0);
        });
        out_.back().fixes_n = out_.back().composite = true;
        out_.back().matrices = Matrices::kJoined;
      }
    add("add_assertion", "N >= 1",
        [p = p_, n = n_] { return add_assertion(p, bin_op(BinOpKind::kGe, n, int_const(1))); });
    for (const char* name : {"x", "y"})
      for (bool window : {true, false})
        add("set_window", name, [p = p_, name, window] { return set_window(p, name, window); });
    add("make_instr", "", [p = p_] { return make_instr(p, "op({x});", "", 2); });
  }

  void statement(const Cursor& c) {
    add("split_write", at(c), [=, p = p_] { return split_write(p, c); });
    add("fold_into_reduce", at(c), [=, p = p_] { return fold_into_reduce(p, c); });
    if (c.is<Reduce>())
      add("bind_converted", at(c),
          [=, p = p_, b = buffer_name("b")] { return bind_converted(p, c, b); });
    if (c.is<Assign>()) add("inline_assign", at(c), [=, p = p_] { return inline_assign(p, c); });
    if (c.is<WriteConfig>())
      add("delete_config", at(c), [=, p = p_] { return delete_config(p, c); });
    if (c.is<WindowStmt>())
      add("inline_window", at(c), [=, p = p_] { return inline_window(p, c); });
  }

  void gaps(const Path& path, bool has_next) {
    const Cursor before = Cursor::gap(p_, path);
    add("insert_pass", said(path), [=, p = p_] { return insert_pass(p, before); });
    if (has_n_) {
      add("add_prefetch", said(path),
          [=, p = p_] { return add_prefetch(p, before, "x[N:N + 20]", 2); });
      add("write_config", said(path),
          [=, p = p_, n = n_] { return write_config(p, before, config(), "a", n); });
    }
    if (has_config_)
      add("write_config", said(path) + ", f", [=, p = p_] {
        return write_config(p, before, config(), "f", data_const(2, ScalarType::kF32));
      });
    for (int64_t value : {0, 1})
      add("write_config", said(path) + ", " + std::to_string(value),
          [=, p = p_] { return write_config(p, before, config(), "a", int_const(value)); });
    add("add_prefetch", said(path), [=, p = p_] { return add_prefetch(p, before, "x[0:2]"); });
    add("insert_noop_call", said(path),
        [=, p = p_] { return insert_noop_call(p, before, nothing(), {"2"}); });
    if (path.size() > 1 && path.back().index > 0)
      for (int lifts : {1, 2})
        if (static_cast<int>(path.size()) > lifts)
          add("fission", said(path) + ", " + std::to_string(lifts),
              [=, p = p_] { return fission(p, before, lifts); });
    if (!has_next) {
      const Cursor after = Cursor::gap(p_, sibling(path, 1));
      add("insert_pass", said(sibling(path, 1)), [=, p = p_] { return insert_pass(p, after); });
    }
  }

  void pair(const Cursor& a, const Cursor& b) {
    const Cursor both = Cursor::block(p_, a.path(), 2);
    add("reorder_stmts", at(a), [=, p = p_] { return reorder_stmts(p, both); });
    if (stmt_at(*p_, sibling(b.path(), 1)))
      for (int first : {1, 2})
        add("reorder_blocks", at(a) + ", " + std::to_string(first),
            [=, p = p_] { return reorder_blocks(p, Cursor::block(p, a.path(), 3), first); });
    add("merge_writes", at(a), [=, p = p_] { return merge_writes(p, both); });
    if (a.is<Assign>() && b.is<For>())
      add("lift_reduce_constant", at(a), [=, p = p_] { return lift_reduce_constant(p, both); });
    if ((a.is<For>() || a.is<Assign>()) && b.is<Reduce>())
      add("distribute_factor", at(b), [=, p = p_] { return distribute_factor(p, b); });
    if (a.is<For>() && b.is<For>())
      add("join_loops", at(a), [=, p = p_] { return join_loops(p, a, b); });
    if ((a.is<For>() && b.is<For>()) || (a.is<If>() && b.is<If>()))
      add("fuse", at(a), [=, p = p_] { return fuse(p, a, b); });
  }

  void loop(const Cursor& c, const For& f) {
    static const std::pair<Tail, const char*> tails[] = {{Tail::kPerfect, "perfect"},
                                                         {Tail::kGuard, "guard"},
                                                         {Tail::kCut, "cut"},
                                                         {Tail::kCutAndGuard, "cut_and_guard"},
                                                         {Tail::kShort, "short"}};
    for (int64_t q : {2, 3})
      for (const auto& [tail, name] : tails)
        add("divide_loop", at(c) + ", " + std::to_string(q) + ", " + name,
            [=, p = p_, tail = tail, io = loop_name("io"), ii = loop_name("ii")] {
              return divide_loop(p, c, q, {io, ii}, tail);
            });
    for (const char* factor : {"x", "y", "z"})
      add("factor_sum", at(c) + ", " + factor,
          [=, p = p_] { return factor_sum(p, c, "ahead", {factor}); });
    reindexed(c, f);
    for (size_t n = 1; n <= c.path().size(); ++n) {
      const Path around(c.path().begin(), c.path().begin() + static_cast<long>(n));
      if (!stmt_at(*p_, around)->as<For>()) continue;
      const Cursor nest = Cursor::stmt(p_, around);
      add("reduce_ahead", at(nest) + ", " + at(c),
          [=, p = p_, t = buffer_name("ahead")] { return reduce_ahead(p, nest, c, t); });
    }
    if (f.body.size() == 1 && f.body[0]->as<For>()) {
      add("reorder_loops", at(c), [=, p = p_] { return reorder_loops(p, c); });
      add("mult_loops", at(c), [=, p = p_, m = loop_name("m")] { return mult_loops(p, c, m); });
    }
    for (const ExprPtr& e :
         values_at(c.path(), {int_const(1), int_const(2), n_ - int_const(1), n_}))
      add("cut_loop", at(c) + ", " + said(e), [=, p = p_] { return cut_loop(p, c, e); });
    for (const ExprPtr& e : values_at(c.path(), {int_const(0), int_const(2), n_}))
      add("shift_loop", at(c) + ", " + said(e), [=, p = p_] { return shift_loop(p, c, e); });
    for (const ExprPtr& e : values_at(c.path(), {int_const(2), n_, n_ + int_const(1)}))
      add("extend_loop", at(c) + ", " + said(e), [=, p = p_] { return extend_loop(p, c, e); });
    const ExprPtr half = bin_op(BinOpKind::kDiv, n_, int_const(2));
    for (const ExprPtr& e :
         values_at(c.path(), {int_const(1), half, half - int_const(1), n_ - int_const(1)}))
      add("divide_with_recompute", at(c) + ", " + said(e),
          [=, p = p_, io = loop_name("io"), ii = loop_name("ii")] {
            return divide_with_recompute(p, c, e, 2, {io, ii});
          });
    for (const ScopeEntry& e : scope_at(*p_, c.path()))
      if (is_data(e.type.scalar) && e.type.shape.empty())
        add("expand_scalar", at(c) + ", " + e.name.name(),
            [=, p = p_, x = e.name.name(), t = buffer_name("values")] {
              return expand_scalar(p, c, x, t);
            });
    add("rename_loop", at(c),
        [=, p = p_, name = loop_name("renamed")] { return rename_loop(p, c, name); });
    add("remove_loop", at(c), [=, p = p_] { return remove_loop(p, c); });
    add("unroll_loop", at(c), [=, p = p_] { return unroll_loop(p, c); });
    add("parallelize_loop", at(c), [=, p = p_] { return parallelize_loop(p, c); });
    add("parallelize_reduction", at(c),
        [=, p = p_, acc = buffer_name("acc")] { return parallelize_reduction(p, c, acc, dram()); });
    out_.back().composite = true;
  }

  // The text of a bound may name what the place does not see by that name: refused as well.
  static ProcPtr recounted(const ProcPtr& p, const Cursor& c, const std::vector<CountedLoop>& loops,
                           const FormerLoops& former, const std::string& where) {
    try {
      return reindex_loops(p, c, loops, former, where);
    } catch (const InputError& e) {
      throw SchedulingError(e.what());
    }
  }

  // Blocks of two, right and wrong ones: one too few, without their guard, one element short.
  void reindexed(const Cursor& c, const For& f) {
    const std::string old = f.iter.name(), hi = str(f.hi, scope_at(*p_, c.path()));
    const std::string o = loop_name("ro"), value = "2 * " + o + " + ri";
    for (const std::string& extent : {"(" + hi + " + 1) / 2", "(" + hi + ") / 2"})
      for (const std::string& where :
           {value + " < " + hi, std::string(), value + " < " + hi + " - 1"})
        add("reindex_loops",
            at(c) + ", [('" + o + "', '" + extent + "', '" + old + " / 2'), ('ri', '2', '" + old +
                " % 2')], [('" + old + "', '" + value + "')], where='" + where + "'",
            [=, p = p_] {
              return recounted(p, c, {{o, extent, old + " / 2"}, {"ri", "2", old + " % 2"}},
                               {{old, value}}, where);
            });
    const For* inner = f.body.size() == 1 ? f.body[0]->as<For>() : nullptr;
    if (!inner) return;
    const std::string other = inner->iter.name(), width = str(inner->hi, scope_at(*p_, c.path()));
    add("reindex_loops", at(c) + ", the inner one outside, the outer one backwards", [=, p = p_] {
      return recounted(p, c, {{"rb", width, other}, {"ra", hi, hi + " - 1 - " + old}},
                       {{other, "rb"}, {old, hi + " - 1 - ra"}}, "");
    });
  }

  void scope(const Cursor& c) {
    add("lift_scope", at(c), [=, p = p_] { return lift_scope(p, c); });
    add("eliminate_dead_code", at(c), [=, p = p_] { return eliminate_dead_code(p, c); });
    if (c.is<If>()) add("remove_guard", at(c), [=, p = p_] { return remove_guard(p, c); });
  }

  std::vector<ExprPtr> iterators_at(const Path& path) const {
    std::vector<ExprPtr> out;
    for (const ScopeEntry& s : scope_at(*p_, path))
      if (s.type.scalar == ScalarType::kIndex) out.push_back(read_var(s.name, ScalarType::kIndex));
    return out;
  }

  void alloc(const Cursor& c, const Alloc& a) {
    std::vector<ExprPtr> indices = iterators_at(c.path());
    indices.push_back(int_const(0));
    if (has_config_) indices.push_back(make_expr(ReadConfig{config(), "a"}, ScalarType::kIndex));
    for (const ExprPtr& size : {n_, int_const(3), n_ + int_const(2)})
      for (const ExprPtr& i : indices)
        add("expand_dim", at(c) + ", " + said(size) + ", " + said(i),
            [=, p = p_] { return expand_dim(p, c, size, i); });
    for (int lifts : {1, 2})
      if (static_cast<int>(c.path().size()) > lifts)
        add("lift_alloc", at(c) + ", " + std::to_string(lifts),
            [=, p = p_] { return lift_alloc(p, c, lifts); });
    add("sink_alloc", at(c), [=, p = p_] { return sink_alloc(p, c); });
    add("delete_buffer", at(c), [=, p = p_] { return delete_buffer(p, c); });
    for (const MemoryPtr& m : {dram_stack(), dram_static()})
      add("set_memory", at(c) + ", " + m->name, [=, p = p_] { return set_memory(p, c, m); });
    for (ScalarType t : {ScalarType::kF64, ScalarType::kI32, ScalarType::kUi8, ScalarType::kI8})
      add("set_precision", at(c) + ", " + name_of(t),
          [=, p = p_] { return set_precision(p, c, t); });
    std::vector<Where> all;
    for (const Path& path : all_stmt_paths(*p_))
      if (stmt_at(*p_, path)->as<Alloc>()) all.emplace_back(Cursor::stmt(p_, path));
    if (all.size() > 1)
      add("set_precision", "all " + std::to_string(all.size()),
          [=, p = p_] { return set_precision(p, all, ScalarType::kF64); });
    for (int d = 0; d < a.type.rank(); ++d) {
      for (int q : {2, 3})
        add("divide_dim", at(c) + ", " + std::to_string(d) + ", " + std::to_string(q),
            [=, p = p_] { return divide_dim(p, c, d, q); });
      add("unroll_buffer", at(c) + ", " + std::to_string(d),
          [=, p = p_] { return unroll_buffer(p, c, d); });
      for (const ExprPtr& size : {int_const(2), int_const(3), n_, n_ + int_const(1)})
        for (const ExprPtr& offset : {int_const(0), int_const(1)})
          for (bool fold : {false, true})
            add("resize_dim",
                at(c) + ", " + std::to_string(d) + ", " + said(size) + ", " + said(offset) +
                    (fold ? ", fold" : ""),
                [=, p = p_] { return resize_dim(p, c, d, size, offset, fold); });
    }
    if (a.type.rank() == 2) {
      add("rearrange_dim", at(c), [=, p = p_] { return rearrange_dim(p, c, {1, 0}); });
      add("mult_dim", at(c) + ", 0, 1", [=, p = p_] { return mult_dim(p, c, 0, 1); });
      add("mult_dim", at(c) + ", 1, 0", [=, p = p_] { return mult_dim(p, c, 1, 0); });
    }
    add("unstage", at(c), [=, p = p_] { return unstage(p, c); });
    for (const Path& other : all_stmt_paths(*p_))
      if (other != c.path() && stmt_at(*p_, other)->as<Alloc>()) {
        const Cursor kept = Cursor::stmt(p_, other);
        add("reuse_buffer", at(kept) + ", " + at(c),
            [=, p = p_] { return reuse_buffer(p, kept, c); });
      }
  }

  void call(const Cursor& c) {
    add("inline", at(c), [=, p = p_] { return inline_call(p, c); });
    const ProcPtr now = c.as<Call>().callee;
    if (now->name.rfind("prefetch", 0) == 0) return;  // made by the operator: no name in a script
    const ProcPtr eqv = simplify(now);
    add("call_eqv", at(c) + ", simplified", [=, p = p_] { return call_eqv(p, c, eqv); });
    if (c.stmt()->writes_config)
      add("delete_config", at(c), [=, p = p_] { return delete_config(p, c); });
    for (const ProcPtr& other : known_)
      add("call_eqv", at(c) + ", " + other->name, [=, p = p_] { return call_eqv(p, c, other); });
  }

  void block(const Cursor& c) {
    const std::string here = at(c) + "+" + std::to_string(c.length());
    const ExprPtr few = bin_op(BinOpKind::kLt, n_, int_const(3)),
                  one = bin_op(BinOpKind::kEq, n_, int_const(1));
    add("specialize", here, [=, p = p_] { return specialize(p, c, {few}); });
    add("specialize", here + ", two", [=, p = p_] { return specialize(p, c, {one, few}); });
    for (bool guard : {false, true})
      for (const ExprPtr& hi : values_at(c.path(), {int_const(2), n_, n_ - int_const(1)}))
        add("add_loop", here + ", " + said(hi) + (guard ? ", guard" : ""),
            [=, p = p_, a = loop_name("a")] { return add_loop(p, c, a, hi, guard); });
    add("simplify", here, [=, p = p_] { return simplify(p, c); });
    if (c.length() == 1)
      for (const ProcPtr& other : known_)
        add("replace", here + ", " + other->name, [=, p = p_] { return replace(p, c, other); });
    const std::string sub = "sub" + std::to_string(trace_of(p_).size());  // one name per step
    add("extract_subproc", here, [=, p = p_] { return extract_subproc(p, c, sub).proc; });
    views(c, here);
    std::vector<std::string> windows;
    const Block stmts = c.stmts();
    auto touched = [&](Sym s) { return mentions(stmts, s); };
    for (const ScopeEntry& s : scope_at(*p_, c.path())) {
      if (!is_data(s.type.scalar) || s.window) continue;
      const std::string b = text(read_var(s.name, s.type.scalar), c.path());
      const bool argument = is_argument(s.name);
      if (!s.type.is_tensor() && touched(s.name)) windows.push_back(b);
      if (!argument && s.type.rank() == 1 && touched(s.name))
        windows.push_back(b + "[0:" + text(s.type.shape[0], c.path()) + "]");
      if (s.type.rank() == 2 && touched(s.name)) {
        windows.push_back(b + "[0:" + text(s.type.shape[0], c.path()) + ", 0:2]");
        for (const ExprPtr& i : iterators_at(c.path()))
          windows.push_back(b + "[" + text(i, c.path()) + ", 0:" + text(s.type.shape[1], c.path()) +
                            "]");
      }
      if (!argument || s.type.rank() != 1 || !(touched(s.name) || has_window(c.path(), stmts)))
        continue;
      windows.insert(windows.end(), {b + "[0:2*N + 2]", b + "[0:N]", b + "[1:N + 1]"});
      for (const ExprPtr& i : iterators_at(c.path())) {
        const std::string at = text(i, c.path());
        windows.insert(windows.end(), {b + "[" + at + "]", b + "[" + at + ":" + at + " + 2]"});
      }
      if (has_config_) windows.push_back(b + "[Cfg.a:Cfg.a + 2]");
    }
    for (const std::string& w : windows) {
      if (!has_n_ && w.find('N') != std::string::npos) continue;
      for_each_stmt(stmts, [&](const StmtPtr& s) {
        if (const For* f = s->as<For>())
          add("stage_mem", here + ", " + w + ", per " + f->iter.name(),
              [=, p = p_, loop = f->iter.name(), staged = buffer_name("staged")] {
                return stage_mem(p, c, w, staged, true, {loop});
              });
      });
      for (bool accum : {false, true})
        add("stage_mem", here + ", " + w + (accum ? ", accum" : ""),
            [=, p = p_, staged = buffer_name("staged")] {
              return stage_mem(p, c, w, staged, accum);
            });
    }
  }

  // Does it access something through a window made outside of it?
  bool has_window(const Path& at, const Block& b) const {
    for (Sym s : free_symbols(b))
      if (auto entry = lookup(*p_, at, s); entry && entry->window) return true;
    return false;
  }
  bool is_argument(Sym s) const {
    for (const Arg& a : p_->args)
      if (a.name == s) return true;
    return false;
  }

  void views(const Cursor& c, const std::string& here) {
    struct Form {
      std::vector<ViewAxis> axes;
      std::string element, where;
    };
    std::vector<Form> forms{{{{"a", "N + 1"}}, "x[2*a]", ""},
                            {{{"a", "N"}, {"b", "3"}}, "x[a + b]", ""},
                            {{{"b", "3"}, {"a", "N + 3"}}, "x[a + b]", "a < N + 1"}};
    for (const ExprPtr& i : iterators_at(c.path()))
      forms.push_back({{{"a", "2"}}, "x[" + text(i, c.path()) + " + a]", ""});
    for (const Form& f : forms) {
      if (!has_n_) continue;
      add("stage_view", here + ", " + f.element + (f.where.empty() ? "" : ", where " + f.where),
          [=, p = p_, view = buffer_name("view")] {
            return stage_view(p, c, view, f.axes, f.element, f.where, 7);
          });
    }
  }

  void expressions(const Path& path) {
    const ExprPtr e = expr_at(*p_, path);
    const Cursor c = Cursor::expr(p_, path);
    if (is_data(e->type)) {
      for (bool cse : {false, true})
        add("bind_expr", said(path) + (cse ? ", cse" : ""),
            [=, p = p_, b = buffer_name("b")] { return bind_expr(p, c, b, cse); });
      for (Path around = parent_stmt(stmt_part(path)); !around.empty();
           around = parent_stmt(around)) {
        const Cursor before = Cursor::stmt(p_, around);
        add("bind_expr", said(path) + " before " + said(around), [=, p = p_, b = buffer_name("b")] {
          return bind_expr(p, std::vector<Cursor>{c}, b, before);
        });
      }
      add("bind_config", said(path), [=, p = p_] { return bind_config(p, c, config(), "f"); });
      if (seen_.size() < 6) {
        for (const Cursor& other : seen_)
          if (equal(other.expr(), e))
            add("bind_expr", said(other.path()) + " and " + said(path),
                [=, p = p_, b = buffer_name("b")] {
                  return bind_expr(p, std::vector<Cursor>{other, c}, b);
                });
        seen_.push_back(c);
      }
    } else {
      const ExprPtr zero = e->type == ScalarType::kBool ? bool_const(true) : int_const(0);
      std::vector<ExprPtr> others{zero};
      if (e->type != ScalarType::kBool) {
        others.push_back(e + int_const(1) - int_const(1));
        others.push_back(bin_op(BinOpKind::kDiv, int_const(2) * e, int_const(2)));
        for (const ExprPtr& i : iterators_at(stmt_part(path))) others.push_back(i);
      }
      for (const ExprPtr& other : others)
        add("rewrite_expr", said(path) + ", " + said(other),
            [=, p = p_] { return rewrite_expr(p, c, other); });
      if (e->type != ScalarType::kBool)
        add("bind_config", said(path), [=, p = p_] { return bind_config(p, c, config(), "a"); });
    }
    if (e->as<USub>())
      add("negate_factor", said(path), [=, p = p_] { return negate_factor(p, c); });
    if (e->as<Extern>())
      add("expand_power", said(path), [=, p = p_] { return expand_power(p, c); });
    if (e->as<BinOp>()) {
      add("commute_expr", said(path), [=, p = p_] { return commute_expr(p, c); });
      add("shift_factor", said(path) + ", 100", [=, p = p_] { return shift_factor(p, c, 100); });
      add("left_reassociate_expr", said(path), [=, p = p_] { return left_reassociate_expr(p, c); });
      add("multiply_by_reciprocal", said(path),
          [=, p = p_] { return multiply_by_reciprocal(p, c); });
    }
    std::vector<ExprPtr> children = expr_children(*e);
    for (size_t k = 0; k < children.size(); ++k) {
      Path child = path;
      child.push_back({Child::kExpr, static_cast<int>(k)});
      expressions(child);
    }
  }

  ProcPtr p_;
  const std::vector<ProcPtr>& known_;
  bool shadowing_, named_, has_config_ = false;
  ExprPtr n_;
  bool has_n_ = true;
  std::vector<Cursor> seen_;
  std::vector<Move> out_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<Move> moves_of(const ProcPtr& p, const std::vector<ProcPtr>& known, bool shadowing) {
  return Collector(p, known, shadowing, false).collect();
}

std::string text_of(const Move& m, const ProcPtr& p, const std::vector<ProcPtr>& known,
                    bool shadowing) {
  Collector again(p, known, shadowing, true);
  again.collect();
  return again.texts().at(m.number);
}

}  // namespace exotune::exhaustive
