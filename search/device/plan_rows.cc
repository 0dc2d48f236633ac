// Tiles side by side in rows of memory: what one instruction brings or takes together, where sizes
// leave tiles and blocks of them that are shorter than the others.
#include <algorithm>
#include <functional>

#include "search/device/plan_steps.h"

namespace exotune::device_plan {

void PlanSteps::set_last_blocks_apart() {
  for (size_t k = 0; k < plan_.sum->loops.size(); ++k) {
    const std::optional<int64_t> blocks = plan_.blocks_before_last(k);
    if (!blocks) continue;
    const Cursor outer = loop(names_of_loops_.at({k, LoopPart::kWhole}));
    step("cut_loop", {Value(outer), Value(*blocks)});
    const Cursor whole = forward(s_.proc, outer), last = whole.next();
    // The same statements stand in the loop behind.
    for (size_t n = ends_.size(), e = 0; e < n; ++e) {
      ends_[e] = forward(s_.proc, ends_[e]);
      Path path = ends_[e].path();
      ++path[whole.path().size() - 1].index;
      ends_.push_back(Cursor::stmt(s_.proc, path));
    }
    // Bounds are numbers where the block is one.
    step("unroll_loop", {Value(last)});
    if (*blocks == 1) step("unroll_loop", {Value(forward(s_.proc, whole))});
    step("simplify", {});
  }
}

std::optional<Cursor> PlanSteps::loop_of(const Cursor& c, const std::string& name) const {
  for (const Cursor& l : enclosing_loops(forward(s_.proc, c)))
    if (l.as<For>().iter.name() == name) return l;
  return std::nullopt;
}

void PlanSteps::store_side_by_side(const Cursor& ends) {
  const int64_t most = instructions_.tiles_taken(plan_.product->out.memory);
  // What is computed on the way out stands in front of the store itself.
  const Assign* store = block_at(*s_.proc, forward(s_.proc, ends).path()).back()->as<Assign>();
  if (most < 2 || plan_.stores == Stores::kOneByOne || !store || store->idx.empty()) return;
  // The tile's loop that runs along a row, and the innermost loop over tiles that does.
  size_t along = plan_.sum->loops.size();
  std::vector<std::string> own;
  for (const size_t k : plan_.mapping.loops) {
    if (plan_.sum->loops[k].reduction) continue;
    own.push_back(kernel_name(k));
    const std::optional<Cursor> l = loop_of(ends, own.back());
    if (l && mentions(store->idx.back(), l->as<For>().iter)) along = k;
  }
  const PlanLoop* tiles = nullptr;
  for (size_t k = plan_.sums_begin(); k < plan_.order.size(); ++k)
    if (plan_.order[k].loop == along) tiles = &plan_.order[k];
  if (!tiles) return;
  // Inside all other loops over tiles.
  std::optional<Cursor> row = loop_of(ends, name_of(*tiles));
  if (!row || whole_tiles(*row) < 2) return;
  const auto tile_inside = [&](const Block& body) {
    const For* f = body.size() == 1 ? body.front()->as<For>() : nullptr;
    return !f || std::find(own.begin(), own.end(), f->iter.name()) != own.end();
  };
  while (row && !tile_inside(row->as<For>().body)) {
    if (apply(s_, "reorder_loops", {Value(*row)})) return;
    row = loop_of(ends, name_of(*tiles));
  }
  if (row) (void)cut_into(ends, *tiles, most);
}

int64_t PlanSteps::whole_tiles(const Cursor& row) {
  const For& f = row.as<For>();
  bool shorter = false;
  const std::function<void(const Block&)> look = [&](const Block& b) {
    for (const StmtPtr& s : b) {
      const For* inside = s->as<For>();
      shorter = shorter || (inside && mentions(inside->hi, f.iter));
      look(body_of(*s));
    }
  };
  look(f.body);
  return literal_extent(f).value_or(0) - (shorter ? 1 : 0);
}

std::optional<std::string> PlanSteps::cut_into(const Cursor& c, const PlanLoop& l, int64_t most) {
  std::optional<Cursor> row = loop_of(c, name_of(l));
  if (!row) return std::nullopt;
  const int64_t whole = whole_tiles(*row);
  if (whole < literal_extent(row->as<For>()) && apply(s_, "cut_loop", {Value(*row), Value(whole)}))
    return std::nullopt;
  if (whole <= most) return name_of(l);
  row = loop_of(c, name_of(l));
  const std::string outer = fresh(name_of(l) + "s"), inner = fresh(name_of(l) + "t");
  if (!row || apply(s_, "divide_loop",
                    {Value(*row), Value(most), Value::strings({outer, inner}),
                     whole % most == 0 ? "perfect" : "cut"}))
    return std::nullopt;
  return inner;
}

void PlanSteps::load_side_by_side(const std::string& name, const SumFactor& f,
                                  const PlanOperand& o) {
  // Plans of whole tiles are made with their groups.
  const bool ragged = std::any_of(plan_.mapping.loops.begin(), plan_.mapping.loops.end(),
                                  [&](size_t k) { return plan_.ragged(k); });
  const TransferFamily& family = instructions_.families[o.family];
  const bool apart = !ragged || plan_.stores == Stores::kOneByOne || family.tiles < 2 ||
                     o.grouped || o.spanned > 0 || plan_.argument_of(f).loops.size() != 2;
  if (apart || f.idx.empty() || f.made(*plan_.product)) return;
  // One in the program of the last block, too.
  for (const Cursor& write : writes_of(s_.proc, name))
    if (const Cursor now = forward(s_.proc, write); now.valid())
      group_load(load_around(now, name), f, family.tiles);
  // Whole tiles are told from shorter ones by their bounds alone.
  step("simplify", {});
}

// The loop right around a load, where that steps from tile to tile along a row outside and right in
// front of a tile's own dimensions in the device.
const PlanLoop* PlanSteps::row_of(const Cursor& load, const Cursor& around,
                                  const SumFactor& f) const {
  const PlanLoop* tiles = nullptr;
  for (const PlanLoop& l : plan_.order)
    if (name_of(l) == around.as<For>().iter.name()) tiles = &l;
  if (!tiles || !plan_.steps_by_tile(*tiles) || whole_tiles(around) < 2) return nullptr;
  Cursor inside = load;
  while (inside.is<For>()) inside = inside.body()[0];
  const Assign* write = inside.stmt()->as<Assign>();
  const bool along = write && write->idx.size() > 2 &&
                     mentions(f.idx.back(), plan_.sum->loops[tiles->loop].iter) &&
                     mentions(write->idx[write->idx.size() - 3], around.as<For>().iter);
  return along ? tiles : nullptr;
}

void PlanSteps::group_load(Cursor load, const SumFactor& f, int64_t most) {
  Cursor guarded = load;
  while (guarded.parent().valid() && guarded.parent().is<If>()) guarded = guarded.parent();
  const Cursor around = guarded.parent();
  const PlanLoop* tiles = around.valid() && around.is<For>() ? row_of(load, around, f) : nullptr;
  if (!tiles || !move_to_front(guarded)) return;
  guarded = forward(s_.proc, guarded);
  if (block_size(guarded) > 1 && apply(s_, "fission", {Value(guarded), Value(1)})) return;
  for (;;) {
    const std::optional<Cursor> row = loop_of(load, name_of(*tiles));
    if (!row || !row->body()[0].is<If>()) break;
    if (apply(s_, "lift_scope", {Value(row->body()[0])})) return;
  }
  if (const std::optional<std::string> inner = cut_into(load, *tiles, most))
    bring_tiles_inside(*loop_of(load, *inner), *inner == name_of(*tiles));
}

// What is left of a row is a loop of the same name behind; one tile alone needs no group.
void PlanSteps::bring_tiles_inside(const Cursor& first, bool outermost) {
  const std::string name = first.as<For>().iter.name();
  std::vector<Cursor> rows = {first};
  const Cursor top = outermost ? first : first.parent();
  if (top.path().back().index + 1 < block_size(top)) rows.push_back(top.next());
  for (const Cursor& each : rows) {
    const Cursor row = forward(s_.proc, each);
    const For* f = row.stmt()->as<For>();
    if (f && f->iter.name() == name && literal_extent(*f).value_or(0) > 1 && holds_copy(row))
      step("reorder_loops", {Value(row)});
  }
}

// Nothing but the loops of one copy inside, and none of them outside already.
bool PlanSteps::holds_copy(const Cursor& row) {
  Cursor write = row;
  while (write.is<For>() && write.as<For>().body.size() == 1) write = write.body()[0];
  if (!write.is<Assign>()) return false;
  const std::vector<ExprPtr>& idx = write.as<Assign>().idx;
  const auto of_tile = [&](const Cursor& c) {
    return c.valid() && c.is<For>() &&
           (mentions(idx[idx.size() - 2], c.as<For>().iter) ||
            mentions(idx.back(), c.as<For>().iter));
  };
  return !of_tile(row.parent()) && of_tile(row.body()[0]);
}

}  // namespace exotune::device_plan
