// A load is inlined and cut where it crosses into the next whole vector; each whole vector is then
// staged for all of them, which leaves copies between registers: those that an instruction shifts.
#include "core/library/shifted_loads.h"

#include <algorithm>
#include <set>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/attempted.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/replacement.h"

namespace exotune {

namespace {

// The copy that a loop over elements is.
const Assign* copy_in(const StmtPtr& s) {
  const For* f = s->as<For>();
  const Assign* a = f && f->body.size() == 1 ? f->body.front()->as<Assign>() : nullptr;
  const Read* r = a ? a->rhs->as<Read>() : nullptr;
  return r && a->idx.size() == 1 && r->idx.size() == 1 ? a : nullptr;
}

// for i in seq(0, lanes): dst[i] = src[i], from memory to a register.
bool is_vector_load(const Proc& instr, const MemoryPtr& memory) {
  if (!instr.instr || instr.args.size() != 2 || instr.body.size() != 1) return false;
  const Assign* a = copy_in(instr.body.front());
  if (!a) return false;
  const Read* r = a->rhs->as<Read>();
  const ExprPtr iter = read_var(instr.body.front()->as<For>()->iter, ScalarType::kIndex);
  return affine_equal(a->idx.front(), iter) && affine_equal(r->idx.front(), iter) &&
         instr.find_arg(a->name)->mem == memory && instr.find_arg(r->name)->mem != memory &&
         instr.find_arg(a->name)->type.scalar == instr.find_arg(r->name)->type.scalar;
}

struct VectorLoad {
  Cursor call;  // to what it becomes, in the end
  Sym buffer;
  std::vector<ExprPtr> row;  // all subscripts but the last
  ExprPtr first;             // the last one: where the vector begins
  int64_t lanes = 0;
  int64_t offset = 0;  // from the group's first element
};
using Group = std::vector<VectorLoad>;

std::optional<VectorLoad> load_at(const ProcPtr& p, const Path& path, const MemoryPtr& memory) {
  const Call* call = stmt_at(*p, path)->as<Call>();
  if (!call || !is_vector_load(*call->callee, memory)) return std::nullopt;
  const Assign& copy = *call->callee->body.front()->as<For>()->body.front()->as<Assign>();
  const size_t source = call->callee->args[0].name == copy.name ? 1 : 0;
  const WindowExpr* w = call->args[source]->as<WindowExpr>();
  if (!w || w->access.empty() || w->access.back().is_point()) return std::nullopt;
  VectorLoad out{Cursor::stmt(p, path), w->name, {}, w->access.back().lo, 0, 0};
  const auto lanes = as_int(normalize(w->access.back().hi - w->access.back().lo));
  if (!lanes) return std::nullopt;
  out.lanes = *lanes;
  for (size_t d = 0; d + 1 < w->access.size(); ++d) {
    if (!w->access[d].is_point()) return std::nullopt;
    out.row.push_back(w->access[d].lo);
  }
  return out;
}

// How far `b` begins behind `a` in one row of one buffer.
std::optional<int64_t> distance(const VectorLoad& a, const VectorLoad& b) {
  if (a.buffer != b.buffer || a.row.size() != b.row.size() || a.lanes != b.lanes)
    return std::nullopt;
  for (size_t d = 0; d < a.row.size(); ++d)
    if (!affine_equal(a.row[d], b.row[d])) return std::nullopt;
  return as_int(normalize(b.first - a.first));
}

// The loads of a loop's body by rows, each from its first element on; only rows in which some
// overlap.
std::vector<Group> groups_of(const ProcPtr& p, const Path& loop, const MemoryPtr& memory) {
  std::vector<Group> rows;
  const int count = static_cast<int>(body_of(*stmt_at(*p, loop)).size());
  for (int k = 0; k < count; ++k) {
    std::optional<VectorLoad> load = load_at(p, child(loop, k), memory);
    if (!load) continue;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Group& g) {
      return distance(g.front(), *load).has_value();
    });
    if (row == rows.end()) {
      rows.push_back({*load});
      continue;
    }
    load->offset = *distance(row->front(), *load);
    row->push_back(*load);
  }
  std::vector<Group> out;
  for (Group& g : rows) {
    int64_t least = 0;
    std::set<int64_t> places;
    for (const VectorLoad& l : g) least = std::min(least, l.offset);
    for (VectorLoad& l : g) places.insert(l.offset -= least);
    const auto meets = [&](int64_t a) {
      const auto next = places.upper_bound(a);
      return next != places.end() && *next < a + g.front().lanes;
    };
    if (std::any_of(places.begin(), places.end(), meets)) out.push_back(std::move(g));
  }
  return out;
}

// One row of one loop's body.
class SharedRow {
 public:
  SharedRow(ProcPtr p, Group group, const MemoryPtr& memory, const std::vector<ProcPtr>& instrs)
      : p_(std::move(p)), group_(std::move(group)), memory_(memory), instrs_(instrs) {}

  ProcPtr run() {
    const VectorLoad first = *std::min_element(
        group_.begin(), group_.end(),
        [](const VectorLoad& a, const VectorLoad& b) { return a.offset < b.offset; });
    std::set<int64_t> vectors;
    for (VectorLoad& l : group_) {
      cut(l);
      vectors.insert(l.offset / lanes());
      if (crosses(l)) vectors.insert(l.offset / lanes() + 1);
    }
    for (const int64_t v : vectors) stage(first, v);
    for (const VectorLoad& l : group_) become_instruction(l);
    return std::move(p_);
  }

 private:
  int64_t lanes() const { return group_.front().lanes; }
  bool crosses(const VectorLoad& l) const { return l.offset % lanes() != 0; }
  Path now(const VectorLoad& l) const { return forward(p_, l.call).path(); }

  // for i: dst[i] = x[first + i], in two where the next whole vector begins.
  void cut(VectorLoad& l) {
    const Path loop = now(l);
    p_ = inline_call(p_, l.call);
    l.call = at(p_, loop);
    if (!crosses(l)) return;
    p_ = cut_loop(p_, at(p_, loop), lanes() - l.offset % lanes());
    p_ = shift_loop(p_, at(p_, sibling(loop, 1)), int_const(0));
  }

  void stage(const VectorLoad& first, int64_t vector) {
    const Path from = now(group_.front()), to = now(group_.back());
    const int length = to.back().index - from.back().index + (crosses(group_.back()) ? 2 : 1);
    for (const Access& a : accesses_of(*p_, from, length))
      if (a.buffer == first.buffer && a.kind != Access::Kind::kRead)
        throw SchedulingError("shift_loads: `" + first.buffer.name() + "` is written in between");
    const std::vector<ScopeEntry> scope = scope_at(*p_, from);
    const ExprPtr lo = normalize(first.first + int_const(vector * lanes()));
    std::string window = first.buffer.name() + "[";
    for (const ExprPtr& e : first.row) window += str(e, scope) + ", ";
    window += str(lo, scope) + ":" + str(normalize(lo + int_const(lanes())), scope) + "]";
    p_ = stage_mem(p_, Cursor::block(p_, from, length), window, first.buffer.name() + "_w");
    p_ = set_memory(p_, at(p_, from), memory_);
    const auto load = try_replace_any(p_, at(p_, sibling(from, 1)), instrs_);
    if (!load) throw SchedulingError("shift_loads: no instruction loads `" + window + "`");
    p_ = *load;
  }

  void become_instruction(const VectorLoad& l) {
    const Path path = now(l);
    if (!crosses(l)) {
      if (const auto copy = try_replace_any(p_, at(p_, path), instrs_)) {
        p_ = *copy;
        return;
      }
      throw SchedulingError("shift_loads: no instruction copies a register");
    }
    for (const ProcPtr& instr : instrs_) {
      if (!shifts_registers(*instr)) continue;
      if (auto shifted = try_replace(p_, Cursor::block(p_, path, 2), instr)) {
        p_ = *shifted;
        return;
      }
    }
    throw SchedulingError("shift_loads: no instruction shifts two registers by " +
                          std::to_string(l.offset % lanes()) + " elements");
  }

  ProcPtr p_;
  Group group_;
  const MemoryPtr& memory_;
  const std::vector<ProcPtr>& instrs_;
};

}  // namespace

bool shifts_registers(const Proc& instr) {
  if (!instr.instr || instr.body.size() != 2) return false;
  const Assign *first = copy_in(instr.body[0]), *second = copy_in(instr.body[1]);
  if (!first || !second || first->name != second->name) return false;
  const Sym src = first->rhs->as<Read>()->name, next = second->rhs->as<Read>()->name;
  return src != next && std::all_of(instr.args.begin(), instr.args.end(), [&](const Arg& a) {
           return a.mem == instr.args.front().mem && a.type.is_tensor();
         });
}

ProcPtr shift_loads(ProcPtr p, const std::string& loop, const MemoryPtr& memory,
                    const std::vector<ProcPtr>& instrs) {
  bool any = false;
  std::string why = "no loads in one row overlap";
  const std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    for (Group& group : groups_of(p, forward(p, *c).path(), memory)) {
      try {
        p = SharedRow(p, std::move(group), memory, instrs).run();
        any = true;
      } catch (const SchedulingError& e) {
        why = e.diagnostic().message.str();
      }
    }
  }
  if (!any)
    throw SchedulingError("shift_loads: nothing is shared along `" + loop + "`: " + why, {},
                          "the loop needs two loads of one row, less than a vector apart");
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> shifted_loads_operators() {
  using namespace params;
  return {
      {"shift_loads",
       {proc(), string("loop"), memory("mem_type"), procs("instructions")},
       "v = x[8 * j]; w = x[8 * j + 1]  ->  a = x[8 * j]; b = x[8 * j + 8]; v = a; w = a and b "
       "shifted",
       [](const OperatorArgs& a) -> Value {
         return shift_loads(a.proc(), a.string(1), a.memory(2), a.procs(3));
       }},
  };
}

}  // namespace exotune
