#include "search/device/pass_plans.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/cursor/provenance.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr size_t kMostPassSizes = 4;  // of tiles, along the outer loop
constexpr size_t kMostKept = 3;       // loops over tiles that have a tile each

// The loops of a nest around its first block of several statements, outermost first.
std::vector<Cursor> chain_of(const Cursor& nest) {
  std::vector<Cursor> out;
  for (Cursor c = nest; c.is<For>(); c = c.body()[0]) {
    out.push_back(c);
    if (c.as<For>().body.size() != 1) break;
  }
  return out;
}

// Only instructions, and what holds them?
bool all_calls(const Block& block) {
  return std::all_of(block.begin(), block.end(), [](const StmtPtr& s) {
    if (s->as<For>() || s->as<If>()) return all_calls(body_of(*s)) && all_calls(orelse_of(*s));
    return s->as<Call>() || s->as<Alloc>() || s->as<WriteConfig>() || s->as<Pass>();
  });
}

void collect_read(const ExprPtr& e, std::set<Sym>& into) {
  if (const Read* r = e->as<Read>(); r && !r->idx.empty()) into.insert(r->name);
  for (const ExprPtr& c : expr_children(*e)) collect_read(c, into);
}
void collect_read(const Stmt& s, std::set<Sym>& into) {
  for (const ExprPtr& e : stmt_exprs(s)) collect_read(e, into);
  for (const StmtPtr& x : body_of(s)) collect_read(*x, into);
  for (const StmtPtr& x : orelse_of(s)) collect_read(*x, into);
}

class PassSteps {
 public:
  PassSteps(const Schedule& start, const Cursor& inside, const PassInstruction& pass,
            const DeviceInstructions& instructions)
      : s_(start), inside_(inside), pass_(pass), instructions_(instructions) {
    for (const Cursor& l : around()) names_.insert(l.as<For>().iter.name());
  }

  // `tiles`: iterations of the nest's last loops in one instruction; `kept`: of the loops over
  // tiles, how many have a tile each.
  std::optional<Schedule> run(const std::vector<int64_t>& tiles, size_t kept) {
    const bool made = tile(tiles) && stage() && keep(kept) && replace();
    return made ? std::optional(std::move(s_)) : std::nullopt;
  }

 private:
  bool step(const std::string& op, ValueList args) { return !apply(s_, op, std::move(args)); }
  std::vector<Cursor> around() const { return enclosing_loops(forward(s_.proc, inside_)); }
  std::string fresh(std::string name) {
    while (!names_.insert(name).second) name += "t";
    return name;
  }

  bool tile(const std::vector<int64_t>& tiles) {
    const size_t outside = around().size() - tiles.size();
    size_t over = outside;  // loops around the tile
    for (size_t k = 0; k < tiles.size(); ++k) {
      const Cursor l = around()[over + k];
      if (tiles[k] == literal_extent(l.as<For>())) continue;
      const std::string name = l.as<For>().iter.name();
      if (!step("divide_loop",
                {Value(l), Value(tiles[k]), Value::strings({fresh(name + "o"), name}), "perfect"}))
        return false;
      // The loop over tiles goes outside of what is inside the tile so far.
      for (size_t at = over + k; at > over; --at)
        if (!step("reorder_loops", {Value(around()[at - 1])})) return false;
      ++over;
    }
    over_ = over;
    return true;
  }

  bool stage() {
    std::set<Sym> read;
    const Cursor nest = around()[over_];
    collect_read(*nest.stmt(), read);
    if (read.size() != 1) return false;
    name_ = fresh(read.begin()->name() + "_tile");
    if (!step("auto_stage_mem", {Value(nest), Value(read.begin()->name()), Value(name_)}))
      return false;
    const std::vector<ExprPtr> shape = alloc().as<Alloc>().type.shape;
    const Arg* source = source_of(*pass_.proc);
    if (shape.size() != source->type.shape.size()) return false;
    const auto have = as_int(shape.back()), want = as_int(source->type.shape.back());
    return !have || !want || *have >= *want ||
           step("resize_dim", {Value(alloc()), Value(static_cast<int64_t>(shape.size() - 1)),
                               Value(*want), Value(0)});
  }
  const Arg* source_of(const Proc& p) const {
    for (const Arg& a : p.args)
      if (a.mem == pass_.from) return &a;
    return nullptr;
  }
  Cursor alloc() const { return find(s_.proc, name_ + " : _"); }

  bool keep(size_t kept) {
    for (size_t k = 0; k < kept; ++k) {
      const Cursor l = around()[over_ - 1 - k];
      const auto trips = literal_extent(l.as<For>());
      if (!trips ||
          !step("expand_dim", {Value(alloc()), Value(*trips), Value(l.as<For>().iter.name())}))
        return false;
    }
    return kept == 0 || step("lift_alloc", {Value(alloc()), Value(static_cast<int64_t>(kept))});
  }

  // The loops that fill the buffer.
  Cursor load() const {
    Cursor c = writes_of(s_.proc, name_).front();
    while (c.parent().valid() && c.parent().is<For>() &&
           !names_.contains(c.parent().as<For>().iter.name()))
      c = c.parent();
    return c;
  }

  bool replace() {
    if (!step("simplify", {}) || !step("set_memory", {Value(alloc()), Value(pass_.from)}))
      return false;
    for (const TransferFamily& f : instructions_.families)
      if (f.memory == pass_.from && f.element == pass_.element &&
          !writes_of(s_.proc, name_).empty() && !writes_of(s_.proc, name_).front().is<Call>())
        (void)step("replace_configured", {list_of(f.instructions), Value(load())});
    if (!step("replace_configured", {list_of(instructions_.usable)})) return false;
    const Cursor nest = Cursor::stmt(s_.proc, {forward(s_.proc, inside_top()).path().front()});
    return all_calls({s_.proc->body[static_cast<size_t>(nest.path().front().index)]}) &&
           step("hoist_config", {});
  }
  Cursor inside_top() const { return Cursor::stmt(inside_.proc(), {inside_.path().front()}); }
  static Value list_of(const std::vector<ProcPtr>& list) {
    return ValueList(list.begin(), list.end());
  }

  Schedule s_;
  const Cursor inside_;  // the first statement of the nest's block
  const PassInstruction& pass_;
  const DeviceInstructions& instructions_;
  std::set<std::string> names_;
  std::string name_;
  size_t over_ = 0;
};

std::vector<int64_t> divisors(int64_t n, int64_t most) {
  std::vector<int64_t> out;
  for (int64_t d = std::min(n, most); d > 0; --d)
    if (n % d == 0) out.push_back(d);
  return out;
}

// All of one nest and instruction.
std::vector<PassSchedule> schedules_of(const Schedule& start, const std::vector<Cursor>& chain,
                                       const PassInstruction& pass,
                                       const DeviceInstructions& instructions) {
  std::vector<PassSchedule> out;
  const size_t n = pass.loops.size();
  if (chain.size() < n) return out;
  std::vector<int64_t> tiles, sizes;
  for (size_t k = 0; k < n; ++k) {
    const auto extent = literal_extent(chain[chain.size() - n + k].as<For>());
    if (!extent || as_int(chain[chain.size() - n + k].as<For>().lo) != 0) return out;
    const std::vector<int64_t> all = divisors(*extent, pass.loops[k].most);
    if (k == 0) sizes = all;
    tiles.push_back(all.front());
  }
  size_t built = 0;
  for (const int64_t size : sizes) {
    if (built == kMostPassSizes) break;
    tiles.front() = size;
    const size_t before = out.size();
    for (size_t kept = 0; kept <= std::min(kMostKept, chain.size()); ++kept) {
      auto made = PassSteps(start, chain.back().body()[0], pass, instructions).run(tiles, kept);
      if (!made) break;
      out.push_back({std::move(*made), pass.proc->name + ": tiles of " + std::to_string(size) +
                                           ", kept " + std::to_string(kept)});
    }
    built += out.size() > before ? 1 : 0;
  }
  return out;
}

}  // namespace

std::vector<PassSchedule> pass_schedules(const Schedule& start,
                                         const DeviceInstructions& instructions) {
  for (size_t k = 0; k < start.proc->body.size(); ++k) {
    const Cursor nest = Cursor::stmt(start.proc, {{Child::kBody, static_cast<int>(k)}});
    if (!nest.is<For>()) continue;
    for (const PassInstruction& pass : instructions.passes)
      if (auto found = schedules_of(start, chain_of(nest), pass, instructions); !found.empty())
        return found;
  }
  return {};
}

}  // namespace exotune
