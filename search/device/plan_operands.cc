// Operands of a plan: staged tile by tile in the device's memory, kept there over the loops that
// use them again, and filled as seldom as the core proves to be enough.
#include <algorithm>

#include "search/device/plan_steps.h"

namespace exotune::device_plan {

Cursor PlanSteps::tile_nest() const {
  const std::vector<Cursor> loops = around();
  // The tile's loops are the innermost ones.
  return loops[loops.size() - plan_.mapping.loops.size()];
}

void PlanSteps::make_operand(const SumFactor& f) {
  if (!f.made(*plan_.product)) return;
  const BinOp& product = *sum().as<Reduce>().rhs->as<BinOp>();
  const ExprPtr& e = &f == &plan_.sum->first ? product.lhs : product.rhs;
  const std::string name = e->as<Read>()->name.name();
  const TileArgument& tile = plan_.argument_of(f);
  // expand_dim puts a dimension in front: the tile's last one first.
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
  // apply tells a refusal, step would throw: then as far out as it is needed.
  if (apply(s_, "lift_alloc",
            {Value(alloc_of(name)), Value(levels + static_cast<int>(plan_.order.size()))}))
    step("lift_alloc", {Value(alloc_of(name)), Value(levels + free)});
  made_[&f] = name;
}

void PlanSteps::fill_operand(const SumFactor& f) {
  if (!made_.contains(&f)) return;
  const std::string& name = made_.at(&f);
  // One statement after the other, as long as other operands stand there too.
  const int levels = static_cast<int>(plan_.mapping.loops.size());
  // What stands in front of the sum gets loops of its own.
  while (sum().path().back().index > 0) {
    const bool two = made_.size() > 1 && sum().path().back().index > 1;
    step("fission",
         {Value(two ? sum().prev(sum().path().back().index) : sum().prev()), Value(levels)});
  }
  for (const size_t k : plan_.mapping.loops) {
    // A loop of the tile that the operand does not run along would fill it again and again.
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

Cursor PlanSteps::fill_nest(const std::string& name) const {
  Cursor c = writes_of(s_.proc, name).front();
  const std::set<std::string> inside = inner_names();
  while (c.parent().valid() &&
         (!c.parent().is<For>() || !inside.contains(c.parent().as<For>().iter.name())))
    c = c.parent();
  return c;
}

std::set<std::string> PlanSteps::inner_names() const {
  std::set<std::string> out;
  for (const PlanLoop& l : plan_.order) out.insert(name_of(l));
  return out;
}

std::string PlanSteps::stage(const SumFactor& f, const PlanOperand& o) {
  const auto made = made_.find(&f);
  const std::string buffer = made == made_.end() ? f.buffer.name() : made->second;
  const std::string name = fresh(buffer + "_tile");
  const Cursor around =
      o.spanned == 0 ? tile_nest() : loop(name_of(plan_.order[plan_.order.size() - o.spanned]));
  step("auto_stage_mem", {Value(around), Value(buffer), Value(name)});
  fill_up(name, plan_.argument_of(f));
  return name;
}

void PlanSteps::fill_up(const std::string& name, const TileArgument& tile) {
  const std::vector<ExprPtr> shape = alloc_of(name).as<Alloc>().type.shape;
  for (size_t d = 0; d < shape.size() && d < tile.loops.size(); ++d)
    if (!as_int(shape[d]))
      step("resize_dim",
           {Value(alloc_of(name)), Value(static_cast<int64_t>(d)),
            Value(plan_.product->loops[static_cast<size_t>(tile.loops[d])].most), Value(0)});
}

void PlanSteps::keep(const std::string& name, const SumFactor& f, const PlanOperand& o) {
  if (o.turns > 1) {
    const std::string& last = name_of(plan_.order.back());
    step("expand_dim",
         {Value(alloc_of(name)), Value(o.turns), Value(last + " % " + std::to_string(o.turns))});
    step("lift_alloc", {Value(alloc_of(name)), Value(1)});
    return;
  }
  size_t lifts = 0;
  for (size_t k = o.spanned; k < o.kept; ++k) {
    // Counted from the innermost loop outwards.
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

void PlanSteps::hoist(Cursor fill, const SumFactor& f, std::optional<int64_t> group, size_t from,
                      size_t kept) {
  for (size_t k = from; k < kept; ++k) {
    const PlanLoop& l = plan_.order[plan_.order.size() - 1 - k];
    fill = forward(s_.proc, fill);
    const Cursor around = fill.parent();
    // The loop is another one than the plan thinks: the load stays where it is.
    if (!around.valid() || !around.is<For>() || around.as<For>().iter.name() != name_of(l)) return;
    const bool concerned = plan_.concerns(f, l);
    // Out of a loop of the sum it may not go: each of its iterations loads another tile, or none
    // does.
    if (plan_.reduces(l) && !concerned) return;
    // One transfer does not bring so many tiles.
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
      // One loop is grouped, no more.
      group.reset();
      // The loops changed places: the filling one is now the outer.
      fill = forward(s_.proc, fill);
    }
  }
}

Cursor PlanSteps::loop_around(const Cursor& fill, const std::string& name) const {
  Cursor c = forward(s_.proc, fill);
  for (Cursor up = c; up.valid(); up = up.parent())
    if (up.is<For>() && up.as<For>().iter.name() == name) return up;
  while (c.is<For>() && c.as<For>().iter.name() != name) c = c.body()[0];
  return c;
}

void PlanSteps::bring_side_by_side(const std::string& name, size_t own) {
  const size_t dims = alloc_of(name).as<Alloc>().type.shape.size();
  if (own <= 2) return;
  std::vector<int64_t> order;
  for (size_t d = 0; d < dims; ++d) order.push_back(static_cast<int64_t>(d));
  const auto counts = order.begin() + static_cast<std::ptrdiff_t>(dims - own - 1);
  // The dimension that counts tiles moves inwards, right in front of the last two: one transfer
  // brings what lies side by side there.
  std::rotate(counts, counts + 1, order.end() - 2);
  step("rearrange_dim", {Value(alloc_of(name)), Value::ints(order)});
  side_by_side_.insert(name);
}

bool PlanSteps::move_to_front(const Cursor& fill) {
  for (Cursor c = forward(s_.proc, fill); c.path().back().index > 0; c = forward(s_.proc, fill))
    if (apply(s_, "reorder_stmts", {Value(c.expand(1, 0))})) return false;
  return true;
}

void PlanSteps::guard(const std::string& name, const SumFactor& f, const PlanOperand& o) {
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

void PlanSteps::bring_in_front(const std::string& name) {
  std::set<std::string> sums;  // loops inside which results grow
  for (size_t k = plan_.sums_begin(); k < plan_.order.size(); ++k)
    sums.insert(name_of(plan_.order[k]));
  Cursor c = load_of(name);
  const auto inside_sum = [&] {
    const Cursor up = c.parent();
    return up.valid() && up.is<For>() && sums.contains(up.as<For>().iter.name());
  };
  while (c.parent().valid() && c.parent().is<If>()) c = c.parent();
  while (inside_sum()) {
    if (!move_to_front(c)) return;
    c = forward(s_.proc, c);
    // Other iterations use the same place, or the next loop is around what is loaded already.
    if (block_size(c) > 1 && apply(s_, "fission", {Value(c), Value(1)})) return;
    c = forward(s_.proc, c).parent();
  }
}

void PlanSteps::run_loads_ahead() {
  // The product's outermost loop of the sum, found anew: settings that left it were split off.
  const std::string outermost =
      plan_.sums_begin() < plan_.order.size() ? name_of(plan_.order[plan_.sums_begin()]) : "";
  for (const Path& path : all_stmt_paths(*s_.proc)) {
    const Call* call = stmt_at(*s_.proc, path)->as<Call>();
    if (!call || call->callee != plan_.product->proc) continue;
    for (const Cursor& c : enclosing_loops(Cursor::stmt(s_.proc, path))) {
      if (c.as<For>().iter.name() != outermost || c.path().back().index == 0) continue;
      step("run_ahead", {Value(c.prev())});
      step("simplify", {});
      // Loads of the first iteration alone leave empty loops in the others.
      step("delete_pass", {});
      return;
    }
  }
  throw Refused{{"run_ahead", "", "nothing stands in front of the sum"}};
}

Cursor PlanSteps::load_of(const std::string& name) const {
  return load_around(writes_of(s_.proc, name).front(), name);
}

Cursor PlanSteps::load_around(Cursor c, const std::string& name) const {
  const std::set<std::string> plan = inner_names();
  const auto is_copy = [&](const Cursor& up) {
    if (!up.valid() || !up.is<For>()) return false;
    const std::string& iter = up.as<For>().iter.name();
    return !plan.contains(iter) || group_of(name, iter);
  };
  while (is_copy(c.parent())) c = c.parent();
  return c;
}

bool PlanSteps::group_of(const std::string& name, const std::string& iter) const {
  Cursor c = writes_of(s_.proc, name).front().parent();
  const std::set<std::string> plan = inner_names();
  for (; c.valid() && c.is<For>(); c = c.parent())
    if (c.as<For>().iter.name() == iter)
      return c.parent().valid() && c.parent().is<For>() &&
             !plan.contains(c.parent().as<For>().iter.name());
  return false;
}

}  // namespace exotune::device_plan
