#include "search/device/plan_builder.h"

#include <algorithm>
#include <map>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

constexpr const char* kResultsInCode = "results";  // "operator" of that refusal

// Ends the building of a plan; never leaves this file.
struct Refused {
  StepRefusal refusal;
};

// What the processor does to results where the device's instructions do not: it works on a tile in
// its own memory, which they bring and take.
struct Processor {
  bool begins = false, ends = false;
};

class Builder {
 public:
  Builder(const Schedule& start, const DevicePlan& plan, const DeviceInstructions& instructions,
          Processor processor)
      : s_(start),
        plan_(plan),
        instructions_(instructions),
        processor_(processor),
        sum_(plan.sum->sum) {
    for (const Path& path : all_stmt_paths(*s_.proc)) {
      const Stmt& s = *stmt_at(*s_.proc, path);
      if (const For* f = s.as<For>()) taken_.insert(f->iter.name());
      if (const Alloc* a = s.as<Alloc>()) taken_.insert(a->name.name());
    }
  }

  BuiltPlan run() {
    try {
      tile();
      const std::vector<std::string> inner = tile_loops_outside_sum();
      keep_results();
      (void)inner;
      order_sum();
      make_operand(plan_.sum->first);
      make_operand(plan_.sum->second);
      fill_operand(plan_.sum->first);
      fill_operand(plan_.sum->second);
      const std::string first = stage(plan_.sum->first, plan_.first);
      const std::string second = stage(plan_.sum->second, plan_.second);
      keep(first, plan_.sum->first, plan_.first);
      keep(second, plan_.sum->second, plan_.second);
      step("simplify", {});
      place_in_memories(first, second);
      replace(first, plan_.first);
      replace(second, plan_.second);
      replace_rest();
      fence_reads();
      return {std::move(s_), {}};
    } catch (const Refused& r) {
      return {std::nullopt, r.refusal};
    } catch (const Error& e) {
      if (e.exit_code() == ExitCode::kInternal) throw;
      return {std::nullopt, {"plan", "", e.diagnostic().message.str()}};
    }
  }

 private:
  void step(const std::string& op, ValueList args) {
    if (auto refusal = apply(s_, op, std::move(args))) throw Refused{*refusal};
  }

  Cursor sum() const { return forward(s_.proc, sum_); }
  std::vector<Cursor> around() const { return enclosing_loops(sum()); }
  Cursor loop(const std::string& name) const {
    for (const Cursor& c : around())
      if (c.as<For>().iter.name() == name) return c;
    throw Refused{{"plan", name, "the loop is not around the sum any more"}};
  }

  const std::string& kernel_name(size_t k) const { return plan_.sum->loops[k].iter.name(); }
  std::string fresh(std::string name) {
    while (!taken_.insert(name).second) name += "t";
    return name;
  }
  const std::string& name_of(const PlanLoop& l) const {
    return names_of_loops_.at({l.loop, l.part});
  }
  bool is_tiled(size_t k) const {
    return std::find(plan_.mapping.loops.begin(), plan_.mapping.loops.end(), k) !=
           plan_.mapping.loops.end();
  }

  // Each kernel loop becomes one over tiles (split in two where the plan says so) and one inside.
  void tile() {
    for (size_t k = 0; k < plan_.sum->loops.size(); ++k) {
      const std::string name = kernel_name(k);
      const int64_t size = plan_.tile_of(k), extent = plan_.sum->loops[k].extent;
      std::string outer = name;
      if (is_tiled(k) && size < extent) {
        outer = fresh(name + "o");
        step("divide_loop", {Value(loop(name)), Value(size), Value::strings({outer, name}),
                             plan_.ragged(k) ? "short" : "perfect"});
      } else if (is_tiled(k)) {
        continue;
      }
      names_of_loops_[{k, LoopPart::kWhole}] = outer;
      const int64_t block = trips_of(k, LoopPart::kBlock), panel = trips_of(k, LoopPart::kPanel);
      if (block > 1) split_off(k, LoopPart::kBlock, outer, block, name + "b");
      if (panel > 1) split_off(k, LoopPart::kPanel, outer, panel, name + "p");
    }
  }
  // Iterations of that part of a loop that has others too; 1: there is none.
  int64_t trips_of(size_t k, LoopPart part) const {
    for (const PlanLoop& l : plan_.order)
      if (l.loop == k && l.part == part) return l.trips;
    return 1;
  }
  void split_off(size_t k, LoopPart part, const std::string& outer, int64_t trips,
                 const std::string& name) {
    const std::string inner = fresh(name);
    step("divide_loop",
         {Value(loop(outer)), Value(trips), Value::strings({outer, inner}), "perfect"});
    names_of_loops_[{k, part}] = inner;
  }

  // The names of the loops around the sum in the wanted order.
  std::vector<std::string> wanted_order() const {
    std::vector<std::string> out;
    for (const PlanLoop& l : plan_.order) out.push_back(name_of(l));
    for (const size_t k : plan_.mapping.loops) out.push_back(kernel_name(k));
    return out;
  }
  std::vector<std::string> tile_names() const {
    std::vector<std::string> out;
    for (const size_t k : plan_.mapping.loops) out.push_back(kernel_name(k));
    return out;
  }

  // Sorts the loops around the sum into `order`, those it does not name left out of it.
  void sort_loops(const std::vector<std::string>& order) {
    const auto place = [&](const Cursor& c) {
      return std::find(order.begin(), order.end(), c.as<For>().iter.name()) - order.begin();
    };
    for (bool moved = true; moved;) {
      moved = false;
      const std::vector<Cursor> loops = around();
      for (size_t k = 0; k + 1 < loops.size() && !moved; ++k) {
        const auto a = place(loops[k]), b = place(loops[k + 1]);
        const auto end = static_cast<std::ptrdiff_t>(order.size());
        if (a == end || b == end || a <= b) continue;
        step("reorder_loops", {Value(loops[k])});
        moved = true;
      }
    }
  }

  bool reduces(const std::string& name) const {
    for (const auto& [key, known] : names_of_loops_)
      if (known == name) return plan_.sum->loops[key.first].reduction;
    for (size_t k = 0; k < plan_.sum->loops.size(); ++k)
      if (kernel_name(k) == name) return plan_.sum->loops[k].reduction;
    return false;
  }

  // Parallel loops in the order of the plan, those of the tile last, all outside the reductions.
  std::vector<std::string> tile_loops_outside_sum() {
    std::vector<std::string> parallel;
    for (const std::string& name : wanted_order())
      if (!reduces(name)) parallel.push_back(name);
    std::vector<std::string> order = parallel;
    for (const std::string& name : wanted_order())
      if (reduces(name)) order.push_back(name);
    sort_loops(order);
    return parallel;
  }

  // Loops of results: inside where the sum begins, and rotated ones outside.
  std::vector<std::string> result_loops(bool with_rotated) const {
    std::vector<std::string> out;
    const size_t from = plan_.sums_begin() - (with_rotated ? plan_.rotated : 0);
    for (size_t k = from; k < plan_.order.size(); ++k)
      if (!plan_.reduces(plan_.order[k])) out.push_back(name_of(plan_.order[k]));
    for (const std::string& name : tile_names())
      if (!reduces(name)) out.push_back(name);
    return out;
  }

  // The innermost loop that is no reduction, whose body begins and ends the sums.
  Cursor last_parallel() const {
    Cursor last;
    for (const Cursor& c : around())
      if (!reduces(c.as<For>().iter.name())) last = c;
    return last;
  }

  void keep_results() {
    const Sym target = plan_.sum->target;
    results_ = target.name();
    if (!plan_.sum->target_idx.empty()) {
      const Cursor body = last_parallel().body();
      results_ = fresh(target.name() + "_sums");
      step("auto_stage_mem", {Value(body), Value(target.name()), Value(results_)});
    }
    lift_results();
    const int levels = static_cast<int>(result_loops(false).size());
    const Cursor begins = first_reduction();
    Cursor before, after;
    if (begins.path().back().index > 0) {
      before = begins.prev();
      step("fission", {Value(before), Value(levels)});
    }
    const Cursor ends = first_reduction();
    if (ends.path().back().index + 1 < block_size(ends)) {
      after = ends.next();
      step("fission", {Value(ends), Value(levels)});
    }
    if (processor_.begins && before.valid()) give_to_processor(before, "_begin");
    if (processor_.ends && after.valid()) give_to_processor(after, "_end");
  }

  // The tile that the statement is in works on a copy of the results in ordinary memory.
  void give_to_processor(Cursor c, const std::string& suffix) {
    const std::vector<std::string> tile = tile_names();
    Cursor nest;
    for (c = forward(s_.proc, c); c.valid(); c = c.parent())
      if (c.is<For>() && std::find(tile.begin(), tile.end(), c.as<For>().iter.name()) != tile.end())
        nest = c;
    if (!nest.valid()) throw Refused{{"plan", results_, "its tiles have no loops"}};
    const std::string copy = fresh(results_ + suffix);
    step("auto_stage_mem", {Value(nest), Value(results_), Value(copy)});
    step("set_memory", {Value(alloc_of(copy)), Value(dram_stack())});
  }

  // What the device writes to ordinary memory is there after a fence only: one stands before
  // whatever reads it without the device.
  void fence_reads() {
    if (!instructions_.fence) return;
    std::set<Sym> written;
    for (const Path& path : all_stmt_paths(*s_.proc)) {
      const Call* call = stmt_at(*s_.proc, path)->as<Call>();
      if (!call || !call->callee->instr) continue;
      for (size_t k = 0; k < call->args.size(); ++k) {
        const Arg& formal = call->callee->args[k];
        if ((formal.mem && !formal.mem->addressable) || !assigns(call->callee->body, formal.name))
          continue;
        if (const WindowExpr* w = call->args[k]->as<WindowExpr>()) written.insert(w->name);
        if (const Read* r = call->args[k]->as<Read>()) written.insert(r->name);
      }
    }
    for (const Cursor& c : plain_reads(written)) {
      const Cursor now = forward(s_.proc, c);
      if (now.path().back().index == 0)
        throw Refused{{"plan", "", "nothing stands before what needs a fence"}};
      step("insert_noop_call", {Value(now.prev()), Value(instructions_.fence), Value::strings({})});
    }
  }

  static bool assigns(const Block& b, Sym name) {
    return std::any_of(b.begin(), b.end(), [&](const StmtPtr& s) {
      const Assign* a = s->as<Assign>();
      const Reduce* r = s->as<Reduce>();
      return (a && a->name == name) || (r && r->name == name) || assigns(body_of(*s), name) ||
             assigns(orelse_of(*s), name);
    });
  }
  static bool calls(const Stmt& s) {
    const auto any = [](const Block& b) {
      return std::any_of(b.begin(), b.end(), [](const StmtPtr& x) { return calls(*x); });
    };
    return s.as<Call>() || any(body_of(s)) || any(orelse_of(s));
  }
  static bool reads(const Stmt& s, const std::set<Sym>& names) {
    for (const ExprPtr& e : stmt_exprs(s))
      for (const Sym name : names)
        if (mentions(e, name)) return true;
    const auto any = [&](const Block& b) {
      return std::any_of(b.begin(), b.end(), [&](const StmtPtr& x) { return reads(*x, names); });
    };
    return any(body_of(s)) || any(orelse_of(s));
  }
  // The largest statements without instructions that read any of the names.
  std::vector<Cursor> plain_reads(const std::set<Sym>& names) const {
    std::vector<Cursor> out;
    for (const Path& path : all_stmt_paths(*s_.proc)) {
      const Stmt& s = *stmt_at(*s_.proc, path);
      if (calls(s) || !reads(s, names)) continue;
      const Cursor c = Cursor::stmt(s_.proc, path);
      const Cursor around = c.parent();
      if (!around.valid() || !around.stmt() || calls(*around.stmt())) out.push_back(c);
    }
    return out;
  }

  // Results lie where only instructions reach them.
  void refuse_results_in_code() const {
    const Sym results = alloc_of(results_).as<Alloc>().name;
    for (const Path& path : all_stmt_paths(*s_.proc)) {
      const Stmt& s = *stmt_at(*s_.proc, path);
      if (s.as<Call>() || s.as<For>()) continue;
      const Assign* a = s.as<Assign>();
      const Reduce* r = s.as<Reduce>();
      bool touches = (a && a->name == results) || (r && r->name == results);
      for (const ExprPtr& e : stmt_exprs(s)) touches = touches || mentions(e, results);
      if (touches) throw Refused{{kResultsInCode, "", results_ + " is for instructions only"}};
    }
  }

  // A place for each result of the loops that are kept together, outside of all loops where it may
  // be.
  void lift_results() {
    const std::vector<std::string> kept = result_loops(true);
    int64_t levels = 0;
    std::vector<Cursor> loops = enclosing_loops(alloc_of(results_));
    for (auto l = loops.rbegin(); l != loops.rend(); ++l, ++levels) {
      const std::string name = l->as<For>().iter.name();
      if (std::find(kept.begin(), kept.end(), name) != kept.end())
        step("expand_dim", {Value(alloc_of(results_)), Value(extent_of(name)), Value(name)});
    }
    if (levels > 0) step("lift_alloc", {Value(alloc_of(results_)), Value(levels)});
  }

  // Of a loop within a tile that may be shorter, the most.
  int64_t extent_of(const std::string& name) const {
    for (const size_t k : plan_.mapping.loops)
      if (kernel_name(k) == name) return plan_.tile_of(k);
    return literal_extent(loop(name).as<For>()).value_or(0);
  }
  Cursor first_reduction() const {
    for (const Cursor& c : around())
      if (reduces(c.as<For>().iter.name())) return c;
    throw Refused{{"plan", "", "nothing is summed over"}};
  }
  int block_size(const Cursor& c) const {
    return static_cast<int>(block_at(*s_.proc, c.path()).size());
  }
  // Another sum of the kernel may have results of the same name.
  Cursor alloc_of(const std::string& name) const {
    if (name == plan_.sum->target.name())
      for (const Path& path : all_stmt_paths(*s_.proc))
        if (const Alloc* a = stmt_at(*s_.proc, path)->as<Alloc>();
            a && a->name == plan_.sum->target)
          return Cursor::stmt(s_.proc, path);
    return find(s_.proc, name + " : _");
  }

  void order_sum() {
    sort_loops(wanted_order());
    step("simplify", {});
  }

  // The outermost loop of the tile.
  Cursor tile_nest() const {
    const std::vector<Cursor> loops = around();
    return loops[loops.size() - plan_.mapping.loops.size()];
  }

  // A scalar that is computed, or converted by the program itself, becomes a buffer of the tile.
  void make_operand(const SumFactor& f) {
    if (!f.made(*plan_.product)) return;
    const BinOp& product = *sum().as<Reduce>().rhs->as<BinOp>();
    const ExprPtr& e = &f == &plan_.sum->first ? product.lhs : product.rhs;
    const std::string name = e->as<Read>()->name.name();
    const TileArgument& tile = plan_.argument_of(f);
    for (auto d = tile.loops.rbegin(); d != tile.loops.rend(); ++d) {
      const std::string l = kernel_name(plan_.mapping.loops[static_cast<size_t>(*d)]);
      step("expand_dim", {Value(alloc_of(name)), Value(extent_of(l)), Value(l)});
    }
    const int levels = static_cast<int>(plan_.mapping.loops.size());
    int free = 0;  // loops over tiles right outside that do not concern it
    while (static_cast<size_t>(free) < plan_.order.size()) {
      const PlanLoop& l = plan_.order[plan_.order.size() - 1 - static_cast<size_t>(free)];
      if (plan_.concerns(f, l) || plan_.reduces(l)) break;
      ++free;
    }
    // Out of all loops where it may be: the stack is set up once.
    if (apply(s_, "lift_alloc",
              {Value(alloc_of(name)), Value(levels + static_cast<int>(plan_.order.size()))}))
      step("lift_alloc", {Value(alloc_of(name)), Value(levels + free)});
    made_[&f] = name;
  }

  // What computes a made operand gets loops of its own, without those that do not concern it.
  void fill_operand(const SumFactor& f) {
    if (!made_.contains(&f)) return;
    const std::string& name = made_.at(&f);
    // One statement after the other, as long as other operands stand there too.
    const int levels = static_cast<int>(plan_.mapping.loops.size());
    while (sum().path().back().index > 0) {
      const bool two = made_.size() > 1 && sum().path().back().index > 1;
      step("fission",
           {Value(two ? sum().prev(sum().path().back().index) : sum().prev()), Value(levels)});
    }
    for (const size_t k : plan_.mapping.loops) {
      if (f.loops.contains(plan_.sum->loops[k].iter)) continue;
      for (const Cursor& c : enclosing_loops(writes_of(s_.proc, name).front()))
        if (c.as<For>().iter.name() == kernel_name(k)) {
          step("remove_loop", {Value(c)});
          break;
        }
    }
    step("set_memory", {Value(alloc_of(name)), Value(dram_stack())});
    hoist(fill_nest(name), f, {}, 0, plan_.order.size());
  }

  // The statement in front of the tile nest (or what became of it) that fills the buffer.
  Cursor fill_nest(const std::string& name) const {
    Cursor c = writes_of(s_.proc, name).front();
    const std::set<std::string> inside = inner_names();
    while (c.parent().valid() &&
           (!c.parent().is<For>() || !inside.contains(c.parent().as<For>().iter.name())))
      c = c.parent();
    return c;
  }
  // Names of the plan's loops, those over tiles.
  std::set<std::string> inner_names() const {
    std::set<std::string> out;
    for (const PlanLoop& l : plan_.order) out.insert(name_of(l));
    return out;
  }

  std::string stage(const SumFactor& f, const PlanOperand& o) {
    const auto made = made_.find(&f);
    const std::string buffer = made == made_.end() ? f.buffer.name() : made->second;
    const std::string name = fresh(buffer + "_tile");
    const Cursor around =
        o.spanned == 0 ? tile_nest() : loop(name_of(plan_.order[plan_.order.size() - o.spanned]));
    step("auto_stage_mem", {Value(around), Value(buffer), Value(name)});
    fill_up(name, plan_.argument_of(f));
    return name;
  }
  // A tile that may be shorter gets the room of a whole one.
  void fill_up(const std::string& name, const TileArgument& tile) {
    const std::vector<ExprPtr> shape = alloc_of(name).as<Alloc>().type.shape;
    for (size_t d = 0; d < shape.size() && d < tile.loops.size(); ++d)
      if (!as_int(shape[d]))
        step("resize_dim",
             {Value(alloc_of(name)), Value(static_cast<int64_t>(d)),
              Value(plan_.product->loops[static_cast<size_t>(tile.loops[d])].most), Value(0)});
  }

  // A buffer for all tiles that the innermost `kept` loops touch, filled as seldom as may be.
  void keep(const std::string& name, const SumFactor& f, const PlanOperand& o) {
    if (o.turns > 1) {
      const std::string& last = name_of(plan_.order.back());
      step("expand_dim",
           {Value(alloc_of(name)), Value(o.turns), Value(last + " % " + std::to_string(o.turns))});
      step("lift_alloc", {Value(alloc_of(name)), Value(1)});
      return;
    }
    size_t lifts = 0;
    for (size_t k = o.spanned; k < o.kept; ++k) {
      const PlanLoop& l = plan_.order[plan_.order.size() - 1 - k];
      if (plan_.concerns(f, l))
        step("expand_dim", {Value(alloc_of(name)), Value(l.trips), Value(name_of(l))});
      ++lifts;
    }
    if (lifts > 0) step("lift_alloc", {Value(alloc_of(name)), Value(static_cast<int64_t>(lifts))});
    if (o.grouped) bring_side_by_side(name, plan_.argument_of(f).loops.size());
    const TransferFamily& family = instructions_.families[o.family];
    hoist(fill_nest(name), f, o.grouped ? std::optional<int64_t>(family.tiles) : std::nullopt,
          o.spanned, o.kept);
    guard(name, f, o);
  }

  // Out of the loops right around that do not concern it; through one that counts tiles which one
  // instruction brings together.
  void hoist(Cursor fill, const SumFactor& f, std::optional<int64_t> group, size_t from,
             size_t kept) {
    for (size_t k = from; k < kept; ++k) {
      const PlanLoop& l = plan_.order[plan_.order.size() - 1 - k];
      fill = forward(s_.proc, fill);
      const Cursor around = fill.parent();
      if (!around.valid() || !around.is<For>() || around.as<For>().iter.name() != name_of(l))
        return;
      const bool concerned = plan_.concerns(f, l);
      if (plan_.reduces(l) && !concerned) return;
      if (concerned && (!group || l.trips > *group)) return;
      if (!move_to_front(fill)) return;
      fill = forward(s_.proc, fill);
      if (block_size(fill) > 1) step("fission", {Value(fill), Value(1)});
      fill = forward(s_.proc, fill);
      if (!concerned) {
        step("remove_loop", {Value(fill.parent())});
      } else {
        // Inside all of the tile's loops but the one along memory.
        for (size_t d = 1; d < plan_.argument_of(f).loops.size(); ++d)
          step("reorder_loops", {Value(loop_around(fill, name_of(l)))});
        group.reset();
        // The loops changed places: the filling one is now the outer.
        fill = forward(s_.proc, fill);
      }
    }
  }

  // The loop of that name in the nest that `fill` is part of.
  Cursor loop_around(const Cursor& fill, const std::string& name) const {
    Cursor c = forward(s_.proc, fill);
    for (Cursor up = c; up.valid(); up = up.parent())
      if (up.is<For>() && up.as<For>().iter.name() == name) return up;
    while (c.is<For>() && c.as<For>().iter.name() != name) c = c.body()[0];
    return c;
  }

  // Of a tile that is several of rows and columns: those that one transfer brings lie next to each
  // other, so the dimension that counts them goes behind the tile's own outer ones.
  void bring_side_by_side(const std::string& name, size_t own) {
    const size_t dims = alloc_of(name).as<Alloc>().type.shape.size();
    if (own <= 2) return;
    std::vector<int64_t> order;
    for (size_t d = 0; d < dims; ++d) order.push_back(static_cast<int64_t>(d));
    const auto counts = order.begin() + static_cast<std::ptrdiff_t>(dims - own - 1);
    std::rotate(counts, counts + 1, order.end() - 2);
    step("rearrange_dim", {Value(alloc_of(name)), Value::ints(order)});
    side_by_side_.insert(name);
  }

  // False: something that does not change places with it stands in front of it.
  bool move_to_front(const Cursor& fill) {
    for (Cursor c = forward(s_.proc, fill); c.path().back().index > 0; c = forward(s_.proc, fill))
      if (apply(s_, "reorder_stmts", {Value(c.expand(1, 0))})) return false;
    return true;
  }

  // Where loops further out repeat a fill, it runs in the first iteration only.
  void guard(const std::string& name, const SumFactor& f, const PlanOperand& o) {
    for (size_t k = o.spanned; k < o.kept; ++k) {
      const PlanLoop& l = plan_.order[plan_.order.size() - 1 - k];
      if (plan_.concerns(f, l)) continue;
      const Cursor fill = load_of(name);
      const std::vector<Cursor> loops = enclosing_loops(fill);
      const bool inside = std::any_of(loops.begin(), loops.end(), [&](const Cursor& c) {
        return c.as<For>().iter.name() == name_of(l);
      });
      if (inside) step("add_guard", {Value(fill)});
    }
  }
  // The loops that copy into the buffer, without the plan's.
  Cursor load_of(const std::string& name) const {
    Cursor c = writes_of(s_.proc, name).front();
    const std::set<std::string> plan = inner_names();
    const auto is_copy = [&](const Cursor& up) {
      if (!up.valid() || !up.is<For>()) return false;
      const std::string& iter = up.as<For>().iter.name();
      return !plan.contains(iter) || group_of(name, iter);
    };
    while (is_copy(c.parent())) c = c.parent();
    return c;
  }
  // Is the plan's loop inside the copy, as its second?
  bool group_of(const std::string& name, const std::string& iter) const {
    Cursor c = writes_of(s_.proc, name).front().parent();
    const std::set<std::string> plan = inner_names();
    for (; c.valid() && c.is<For>(); c = c.parent())
      if (c.as<For>().iter.name() == iter)
        return c.parent().valid() && c.parent().is<For>() &&
               !plan.contains(c.parent().as<For>().iter.name());
    return false;
  }

  void place_in_memories(const std::string& first, const std::string& second) {
    const auto place = [&](const std::string& name, const TileArgument& tile) {
      // Rows of the tile that are not used keep their place: instructions count in whole tiles.
      const Type type = alloc_of(name).as<Alloc>().type;
      const size_t dims = type.shape.size(), own = tile.loops.size();
      // The outermost of three or more only counts tiles.
      for (size_t d = own > 2 ? 1 : 0; d < own && own <= dims; ++d) {
        const int64_t most = plan_.product->loops[static_cast<size_t>(tile.loops[d])].most;
        const std::optional<int64_t> size = as_int(type.shape[dims - own + d]);
        if (size && *size < most)
          step("resize_dim", {Value(alloc_of(name)), Value(static_cast<int64_t>(dims - own + d)),
                              Value(most), Value(0)});
      }
      step("set_memory", {Value(alloc_of(name)), Value(tile.memory)});
    };
    place(results_, plan_.product->out);
    place(first, plan_.argument_of(plan_.sum->first));
    place(second, plan_.argument_of(plan_.sum->second));
  }

  static Value list_of(const std::vector<ProcPtr>& instructions) {
    return ValueList(instructions.begin(), instructions.end());
  }
  void replace(const std::string& name, const PlanOperand& o) {
    step("replace_configured",
         {list_of(instructions_.families[o.family].instructions), Value(load_of(name))});
  }
  void replace_rest() {
    step("replace_configured", {list_of(instructions_.usable)});
    refuse_results_in_code();
    step("hoist_config", {});
    std::vector<MemoryPtr> files;
    for (const TileArgument* t :
         {&plan_.product->out, &plan_.product->first, &plan_.product->second})
      if (t->memory->kind == MemoryKind::kRegisterFile &&
          std::find(files.begin(), files.end(), t->memory) == files.end())
        files.push_back(t->memory);
    for (const MemoryPtr& m : files) step("unroll_registers", {Value(m)});
    if (!files.empty()) step("simplify", {});
  }

  Schedule s_;
  const DevicePlan& plan_;
  const DeviceInstructions& instructions_;
  const Processor processor_;
  const Cursor sum_;
  std::set<std::string> taken_;
  std::map<std::pair<size_t, LoopPart>, std::string> names_of_loops_;
  std::map<const SumFactor*, std::string> made_;
  std::set<std::string> side_by_side_;
  std::string results_;
};

}  // namespace

BuiltPlan build_plan(const Schedule& start, const DevicePlan& plan,
                     const DeviceInstructions& instructions) {
  BuiltPlan built;
  for (const Processor& p : {Processor{}, Processor{false, true}, Processor{true, true}}) {
    built = Builder(start, plan, instructions, p).run();
    if (built.schedule || built.refusal.op != kResultsInCode) break;
  }
  return built;
}

}  // namespace exotune
