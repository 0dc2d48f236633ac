// Results of a plan: kept in the device while sums go on, begun and ended by instructions or, where
// it has none, by the processor; and the replacement of tiles by instructions.
#include <algorithm>

#include "core/ir/printer.h"
#include "search/device/plan_steps.h"

namespace exotune::device_plan {

std::vector<std::string> PlanSteps::result_loops(bool with_rotated) const {
  std::vector<std::string> out;
  // Loops that stand inside all sums: each of their iterations has a result of its own to keep.
  const size_t from = plan_.sums_begin() - (with_rotated ? plan_.rotated : 0);
  for (size_t k = from; k < plan_.order.size(); ++k)
    if (!plan_.reduces(plan_.order[k])) out.push_back(name_of(plan_.order[k]));
  for (const std::string& name : tile_names())
    if (!reduces(name)) out.push_back(name);
  return out;
}

Cursor PlanSteps::last_parallel() const {
  Cursor last;
  for (const Cursor& c : around())
    if (!reduces(c.as<For>().iter.name())) last = c;
  return last;
}

void PlanSteps::keep_results() {
  const Sym target = plan_.sum->target;
  results_ = target.name();
  // A target in memory is copied where its sums run; one that is a scalar already is kept as it
  // is.
  if (!plan_.sum->target_idx.empty() && !plan_.sum->in_device) {
    const Cursor body = last_parallel().body();
    results_ = fresh(target.name() + "_sums");
    step("auto_stage_mem", {Value(body), Value(target.name()), Value(results_)});
  }
  lift_results();
  const int levels = static_cast<int>(result_loops(false).size());
  // What stands in front of the sums begins the results, what stands behind ends them: each in
  // loops of its own, so that an instruction can do it.
  const Cursor begins = first_reduction();
  Cursor before, after;
  if (begins.path().back().index > 0) {
    before = begins_ = begins.prev();
    step("fission", {Value(before), Value(levels)});
  }
  const Cursor ends = first_reduction();
  if (ends.path().back().index + 1 < block_size(ends)) {
    after = ends.next();
    step("fission", {Value(ends), Value(levels)});
  }
  if (processor_.begins && before.valid()) give_to_processor(before, "_begin");
  if (processor_.ends && after.valid()) give_to_processor(after, "_end");
  if (!processor_.ends && after.valid()) ends_.push_back(after);
}

void PlanSteps::begin_in_product() {
  if (zeros_ != Zeros::kByProduct || !begins_.valid()) return;
  Cursor c = forward(s_.proc, begins_);
  if (!c.valid() || !c.is<Assign>() || !c.as<Assign>().rhs->as<Const>()) return;
  const std::set<std::string> kept = [&] {
    const std::vector<std::string> names = result_loops(false);
    return std::set<std::string>(names.begin(), names.end());
  }();
  // In loops of its own since results are kept.
  while (c.parent().valid() && c.parent().is<For>() &&
         kept.contains(c.parent().as<For>().iter.name()))
    c = c.parent();
  (void)!apply(s_, "begin_sums", {Value(c), Value(tile_nest())});
}

void PlanSteps::give_to_processor(Cursor c, const std::string& suffix) {
  const std::vector<std::string> tile = tile_names();
  Cursor nest;
  // The outermost loop of the tile around it.
  for (c = forward(s_.proc, c); c.valid(); c = c.parent())
    if (c.is<For>() && std::find(tile.begin(), tile.end(), c.as<For>().iter.name()) != tile.end())
      nest = c;
  if (!nest.valid()) throw Refused{{"plan", results_, "its tiles have no loops"}};
  // In the processor's own memory, where plain code may touch it.
  const std::string copy = fresh(results_ + suffix);
  step("auto_stage_mem", {Value(nest), Value(results_), Value(copy)});
  step("set_memory", {Value(alloc_of(copy)), Value(dram_stack())});
}

PlanSteps::DeviceAccesses PlanSteps::device_accesses() const {
  DeviceAccesses out;
  for (const Path& path : all_stmt_paths(*s_.proc)) {
    const Call* call = stmt_at(*s_.proc, path)->as<Call>();
    if (!call || !call->callee->instr) continue;
    for (size_t k = 0; k < call->args.size(); ++k) {
      const Arg& formal = call->callee->args[k];
      // Buffers in the device's memories are met by instructions alone, which keep their order
      // themselves.
      if (!is_data(formal.type.scalar) || (formal.mem && !formal.mem->addressable)) continue;
      std::set<Sym>& into = assigns(call->callee->body, formal.name) ? out.written : out.read;
      if (const WindowExpr* w = call->args[k]->as<WindowExpr>()) into.insert(w->name);
      if (const Read* r = call->args[k]->as<Read>()) into.insert(r->name);
    }
  }
  return out;
}

void PlanSteps::fence_processor() {
  if (!instructions_.fence) return;
  const DeviceAccesses device = device_accesses();
  std::set<Sym> shared = device.read;
  // What the device touches at all: the processor's writes to it have to be seen, its writes
  // waited for.
  shared.insert(device.written.begin(), device.written.end());
  std::vector<Cursor> before, after;
  // Of the plain statements right in front of each other: one fence before the first that needs
  // one, one after the last.
  bool fenced = false, pending = false;
  Path last;
  for (const Cursor& c : plain_statements()) {
    if (last.empty() || c.path().back().index == 0 || last != sibling(c.path(), -1))
      fenced = pending = false;
    last = c.path();
    // Where the device's memory accesses are in order with the processor's, stores need no fence.
    const bool meets = !instructions_.in_order && writes(*c.stmt(), shared);
    if (!fenced && (meets || reads(*c.stmt(), device.written))) {
      before.push_back(c);
      fenced = true;
    }
    if (!meets) continue;
    if (pending) after.pop_back();
    after.push_back(c);
    pending = true;
  }
  for (const Cursor& c : before) fence_behind(c, true);
  for (const Cursor& c : after) fence_behind(c, false);
}

void PlanSteps::fence_behind(const Cursor& c, bool change_places) {
  const Cursor now = forward(s_.proc, c);
  // Noop calls are inserted behind a statement.
  const bool first = now.path().back().index == 0;
  step("insert_noop_call", {Value(change_places && !first ? now.prev() : now),
                            Value(instructions_.fence), Value::strings({})});
  // Places are statements, so what stands first in its block has none in front of it.
  if (change_places && first) step("reorder_stmts", {Value(forward(s_.proc, c).expand(0, 1))});
}

bool PlanSteps::assigns(const Block& b, Sym name) {
  return std::any_of(b.begin(), b.end(), [&](const StmtPtr& s) {
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    return (a && a->name == name) || (r && r->name == name) || assigns(body_of(*s), name) ||
           assigns(orelse_of(*s), name);
  });
}

bool PlanSteps::calls(const Stmt& s) {
  const auto any = [](const Block& b) {
    return std::any_of(b.begin(), b.end(), [](const StmtPtr& x) { return calls(*x); });
  };
  return s.as<Call>() || any(body_of(s)) || any(orelse_of(s));
}

bool PlanSteps::reads(const Stmt& s, const std::set<Sym>& names) {
  for (const ExprPtr& e : stmt_exprs(s))
    for (const Sym name : names)
      if (mentions(e, name)) return true;
  const auto any = [&](const Block& b) {
    return std::any_of(b.begin(), b.end(), [&](const StmtPtr& x) { return reads(*x, names); });
  };
  return any(body_of(s)) || any(orelse_of(s));
}

bool PlanSteps::writes(const Stmt& s, const std::set<Sym>& names) {
  const Assign* a = s.as<Assign>();
  const Reduce* r = s.as<Reduce>();
  if ((a && names.contains(a->name)) || (r && names.contains(r->name))) return true;
  const auto any = [&](const Block& b) {
    return std::any_of(b.begin(), b.end(), [&](const StmtPtr& x) { return writes(*x, names); });
  };
  return any(body_of(s)) || any(orelse_of(s));
}

std::vector<Cursor> PlanSteps::plain_statements() const {
  std::vector<Cursor> out;
  for (const Path& path : all_stmt_paths(*s_.proc)) {
    const Stmt& s = *stmt_at(*s_.proc, path);
    // Loops that hold instructions are looked into; those of plain statements alone count as one.
    if (calls(s)) continue;
    const Cursor c = Cursor::stmt(s_.proc, path);
    const Cursor around = c.parent();
    if (!around.valid() || !around.stmt() || calls(*around.stmt())) out.push_back(c);
  }
  return out;
}

void PlanSteps::refuse_results_in_code() const {
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

void PlanSteps::lift_results() {
  const std::vector<std::string> kept = result_loops(true);
  int64_t levels = 0;
  std::vector<Cursor> loops = enclosing_loops(alloc_of(results_));
  // From the inside out: a dimension for each loop whose iterations keep results, none for sums.
  for (auto l = loops.rbegin(); l != loops.rend(); ++l, ++levels) {
    const std::string name = l->as<For>().iter.name();
    if (std::find(kept.begin(), kept.end(), name) != kept.end())
      step("expand_dim", {Value(alloc_of(results_)), Value(extent_of(name)), Value(name)});
  }
  if (levels > 0) step("lift_alloc", {Value(alloc_of(results_)), Value(levels)});
}

void PlanSteps::place_in_memories(const std::string& first, const std::string& second) {
  const auto place = [&](const std::string& name, const TileArgument& tile) {
    // Rows of the tile that are not used keep their place: instructions count in whole tiles.
    const Type type = alloc_of(name).as<Alloc>().type;
    const size_t dims = type.shape.size(), own = tile.loops.size();
    // The outermost of three or more only counts tiles; what a window gathers has rows of its own.
    const size_t counts = plan_.sum->in_device && name == results_ ? own - 1 : own > 2 ? 1 : 0;
    for (size_t d = counts; d < own && own <= dims; ++d) {
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

Value PlanSteps::list_of(const std::vector<ProcPtr>& instructions) {
  return ValueList(instructions.begin(), instructions.end());
}

void PlanSteps::replace(const std::string& name, const PlanOperand& o) {
  std::vector<Cursor> loads;
  for (const Cursor& write : writes_of(s_.proc, name))
    if (write.is<Assign>()) loads.push_back(load_around(write, name));
  for (const Cursor& load : loads)
    step("replace_configured",
         {list_of(instructions_.families[o.family].instructions), Value(forward(s_.proc, load))});
}

void PlanSteps::replace_rest() {
  std::vector<ProcPtr> usable = instructions_.usable;
  if (plan_.stores == Stores::kOneByOne)
    for (const TilesTaken& t : instructions_.taken)
      if (t.tiles > 1) std::erase(usable, t.proc);
  step("replace_configured", {list_of(usable)});
  refuse_results_in_code();
  // Settings that hold already are not made again in each iteration.
  step("hoist_config", {});
  std::vector<MemoryPtr> files;
  for (const TileArgument* t : {&plan_.product->out, &plan_.product->first, &plan_.product->second})
    if (t->memory->kind == MemoryKind::kRegisterFile &&
        std::find(files.begin(), files.end(), t->memory) == files.end())
      files.push_back(t->memory);
  // Registers are numbers in instructions: loops over them are written out.
  for (const MemoryPtr& m : files) step("unroll_registers", {Value(m)});
  if (!files.empty()) step("simplify", {});
}

}  // namespace exotune::device_plan
