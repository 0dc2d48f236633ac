// Building a plan, and its tiles: each kernel loop becomes one over tiles and one inside, all of
// them in the plan's order. Every step is an operator that the core proves; a refusal ends the
// plan.
#include "search/device/plan_builder.h"

#include <algorithm>

#include "search/device/plan_steps.h"
#include "search/device/processor_loops.h"

namespace exotune::device_plan {

PlanSteps::PlanSteps(const Schedule& start, const DevicePlan& plan,
                     const DeviceInstructions& instructions, Processor processor, Zeros zeros)
    : s_(start),
      plan_(plan),
      instructions_(instructions),
      processor_(processor),
      zeros_(zeros),
      sum_(plan.sum->sum) {
  for (const Path& path : all_stmt_paths(*s_.proc)) {
    const Stmt& s = *stmt_at(*s_.proc, path);
    if (const For* f = s.as<For>()) taken_.insert(f->iter.name());
    if (const Alloc* a = s.as<Alloc>()) taken_.insert(a->name.name());
  }
}

// The order of the steps is fixed by what each needs to find: tiles before results, since the
// results of a tile are what is kept; sums in order before operands are staged around them;
// memories before instructions, which ask for them; and instructions before the processor's fences,
// since only what is left is the processor's.
BuiltPlan PlanSteps::run() {
  try {
    turn_factors();
    tile();
    tile_loops_outside_sum();
    keep_results();
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
    begin_in_product();
    if (plan_.loading != Loading::kInSum) {
      bring_in_front(first);
      bring_in_front(second);
    }
    set_last_blocks_apart();
    for (const Cursor& ends : ends_) store_side_by_side(ends);
    load_side_by_side(first, plan_.sum->first, plan_.first);
    load_side_by_side(second, plan_.sum->second, plan_.second);
    replace(first, plan_.first);
    replace(second, plan_.second);
    replace_rest();
    if (plan_.loading == Loading::kRunsAhead) run_loads_ahead();
    fence_processor();
    // Registers' loops are written out already.
    if (plan_.product->out.memory->kind != MemoryKind::kRegisterFile) cut_at_short_tiles(s_);
    return {std::move(s_), {}};
  } catch (const Refused& r) {
    return {std::nullopt, r.refusal};
  } catch (const Error& e) {
    if (e.exit_code() == ExitCode::kInternal) throw;
    return {std::nullopt, {"plan", "", e.diagnostic().message.str()}};
  }
}

void PlanSteps::step(const std::string& op, ValueList args) {
  if (auto refusal = apply(s_, op, std::move(args))) throw Refused{*refusal};
}

Cursor PlanSteps::loop(const std::string& name) const {
  for (const Cursor& c : around())
    if (c.as<For>().iter.name() == name) return c;
  throw Refused{{"plan", name, "the loop is not around the sum any more"}};
}

std::string PlanSteps::fresh(std::string name) {
  while (!taken_.insert(name).second) name += "t";
  return name;
}

const std::string& PlanSteps::name_of(const PlanLoop& l) const {
  return names_of_loops_.at({l.loop, l.part});
}

bool PlanSteps::is_tiled(size_t k) const {
  return std::find(plan_.mapping.loops.begin(), plan_.mapping.loops.end(), k) !=
         plan_.mapping.loops.end();
}

// The kernel multiplies first by second; a mapping that swaps them has to find the two converted
// factors in its own order too, or no body matches.
void PlanSteps::turn_factors() {
  if (!plan_.mapping.swapped || !plan_.product->converts) return;
  const Path path = sum().path();
  const Block& block = block_at(*s_.proc, path);
  const auto allocates = [&](size_t i) { return block[i]->as<Alloc>() != nullptr; };
  const auto assigns = [&](size_t i) { return block[i]->as<Assign>() != nullptr; };
  // Both names, both values, the sum: nothing else is read as one body.
  if (block.size() != 5 || path.back().index != 4) return;
  if (!allocates(0) || !allocates(1) || !assigns(2) || !assigns(3)) return;
  for (const int first : {-4, -2}) {
    const Cursor pair = Cursor::stmt(s_.proc, sibling(sum().path(), first));
    step("reorder_stmts", {Value(pair.expand(0, 1))});
  }
}

// A loop that the kernel has becomes tiles of its size; what a plan further divides, blocks and
// panels, is split off the loop over tiles, from outside in. A loop shorter than its tile stays:
// the instruction takes fewer.
void PlanSteps::tile() {
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
    const int64_t block = plan_.trips_of(k, LoopPart::kBlock),
                  panel = plan_.trips_of(k, LoopPart::kPanel);
    if (block > 1) split_off(k, LoopPart::kBlock, outer, block, name + "b");
    if (panel > 1) split_off(k, LoopPart::kPanel, outer, panel, name + "p");
  }
}

void PlanSteps::split_off(size_t k, LoopPart part, const std::string& outer, int64_t trips,
                          const std::string& name) {
  const std::string inner = fresh(name);
  step("divide_loop", {Value(loop(outer)), Value(trips), Value::strings({outer, inner}),
                       plan_.uneven(k) ? "short" : "perfect"});
  names_of_loops_[{k, part}] = inner;
}

std::vector<std::string> PlanSteps::wanted_order() const {
  std::vector<std::string> out;
  for (const PlanLoop& l : plan_.order) out.push_back(name_of(l));
  for (const size_t k : plan_.mapping.loops) out.push_back(kernel_name(k));
  return out;
}

std::vector<std::string> PlanSteps::tile_names() const {
  std::vector<std::string> out;
  for (const size_t k : plan_.mapping.loops) out.push_back(kernel_name(k));
  return out;
}

// Neighbours change places until all named loops stand in the order: each exchange is proved, and a
// refused one ends the plan. Loops that are not named stay where they are, and nothing passes them.
void PlanSteps::sort_loops(const std::vector<std::string>& order) {
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

bool PlanSteps::reduces(const std::string& name) const {
  for (const auto& [key, known] : names_of_loops_)
    if (known == name) return plan_.sum->loops[key.first].reduction;
  for (size_t k = 0; k < plan_.sum->loops.size(); ++k)
    if (kernel_name(k) == name) return plan_.sum->loops[k].reduction;
  return false;
}

// So that a tile of results is all that the sums need: what begins and ends them then stands around
// the whole of the sum, and keep_results finds one place for the tile.
void PlanSteps::tile_loops_outside_sum() {
  std::vector<std::string> order;
  for (const bool reduction : {false, true})
    for (const std::string& name : wanted_order())
      if (reduces(name) == reduction) order.push_back(name);
  sort_loops(order);
}

int64_t PlanSteps::extent_of(const std::string& name) const {
  for (const size_t k : plan_.mapping.loops)
    if (kernel_name(k) == name) return plan_.tile_of(k);
  for (const PlanLoop& l : plan_.order)
    if (name_of(l) == name) return l.trips;
  return literal_extent(loop(name).as<For>()).value_or(0);
}

Cursor PlanSteps::first_reduction() const {
  for (const Cursor& c : around())
    if (reduces(c.as<For>().iter.name())) return c;
  throw Refused{{"plan", "", "nothing is summed over"}};
}

int PlanSteps::block_size(const Cursor& c) const {
  return static_cast<int>(block_at(*s_.proc, c.path()).size());
}

Cursor PlanSteps::alloc_of(const std::string& name) const {
  if (name == plan_.sum->target.name())
    for (const Path& path : all_stmt_paths(*s_.proc))
      if (const Alloc* a = stmt_at(*s_.proc, path)->as<Alloc>(); a && a->name == plan_.sum->target)
        return Cursor::stmt(s_.proc, path);
  return find(s_.proc, name + " : _");
}

void PlanSteps::order_sum() {
  sort_loops(wanted_order());
  step("simplify", {});
}

}  // namespace exotune::device_plan

namespace exotune {

// The device does as much as it can: first all of it, then with the processor ending the sums, then
// with it beginning them too. Only results that no instruction takes are a reason for the next way;
// any other refusal is the plan's.
BuiltPlan build_plan(const Schedule& start, const DevicePlan& plan,
                     const DeviceInstructions& instructions) {
  BuiltPlan built;
  using device_plan::Processor;
  for (const Processor& p : {Processor{}, Processor{false, true}, Processor{true, true}})
    for (const Zeros zeros : {Zeros::kByProduct, Zeros::kByThemselves}) {
      // The processor's own beginning is no zero that a product could write.
      const bool apart = plan.zeros == Zeros::kByThemselves || p.begins || !plan.product->begins;
      if (zeros == Zeros::kByProduct && apart) continue;
      built = device_plan::PlanSteps(start, plan, instructions, p, zeros).run();
      if (built.schedule || built.refusal.op != device_plan::kResultsInCode) return built;
    }
  return built;
}

}  // namespace exotune
