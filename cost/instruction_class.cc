#include "cost/instruction_class.h"

#include <algorithm>

namespace exotune {

namespace {

// A copy only moves; anything else that makes a value occupies the arithmetic ports.
bool computes(const ExprPtr& e) {
  if (!is_data(e->type)) return false;
  if (e->as<BinOp>() || e->as<USub>() || e->as<Extern>() || e->as<Cast>()) return true;
  return false;
}

bool reads(const ExprPtr& e, Sym name) {
  if (const Read* r = e->as<Read>(); r && r->name == name) return true;
  const std::vector<ExprPtr> children = expr_children(*e);
  return std::any_of(children.begin(), children.end(),
                     [&](const ExprPtr& c) { return reads(c, name); });
}

bool in_registers(const Arg& a) {
  return a.mem && (a.mem->kind == MemoryKind::kVector || a.mem->kind == MemoryKind::kRegisterFile);
}

bool reads_memory(const Proc& p, const ExprPtr& e) {
  for (const Arg& a : p.args)
    if (is_data(a.type.scalar) && !in_registers(a) && reads(e, a.name)) return true;
  return false;
}

bool is_constant(const ExprPtr& e) { return e->as<Const>() != nullptr; }

// The last statement of the body is the one that counts: what comes before it prepares.
struct LastWrite {
  Sym written;
  const std::vector<ExprPtr>* index = nullptr;  // of the body
  ExprPtr value;                                // null: the body writes nothing
  bool accumulates = false, guarded = false;
};

LastWrite last_write(const Proc& p) {
  LastWrite out;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (s->as<If>()) out.guarded = true;
    if (const Assign* a = s->as<Assign>()) {
      out.written = a->name;
      out.index = &a->idx;
      out.value = a->rhs;
      out.accumulates = reads(a->rhs, a->name);
    } else if (const Reduce* r = s->as<Reduce>()) {
      out.written = r->name;
      out.index = &r->idx;
      out.value = r->rhs;
      out.accumulates = true;
    }
  });
  return out;
}

}  // namespace

void PortCycles::add(const PortCycles& o, double times) {
  arithmetic += times * o.arithmetic;
  load += times * o.load;
  store += times * o.store;
  other += times * o.other;
}

// Ports work at once: the one with the most to do bounds the rest.
double PortCycles::busiest() const { return std::max({arithmetic, load, store, other}); }

// Read off the body, so that an instruction that a target adds needs no entry here: it writes
// registers or memory, computes or copies, and reads memory beside that or not. An operand that
// comes from memory shares the instruction, so its load costs no more than `operand_load`.
InstructionClass classify(const Proc& p, const InstructionFigures& figures, const CoreFacts& core) {
  InstructionClass out;
  double cost = p.instr ? p.instr->cost : 1;
  if (const auto known = figures.find(p.name); known != figures.end()) {
    cost = known->second.throughput;
    out.latency = known->second.latency;
  }
  const LastWrite last = last_write(p);
  out.partial = last.guarded;
  out.accumulates = last.accumulates;
  const ExprPtr& value = last.value;
  if (!value) {
    out.ports.other = cost;
    return out;
  }
  for (size_t k = 0; k < p.args.size(); ++k)
    if (p.args[k].name == last.written) out.written = static_cast<int>(k);
  const bool to_registers = out.written < 0 || in_registers(p.args[out.written]);
  const bool arithmetic = out.accumulates || computes(value);
  const bool one_place = std::all_of(last.index->begin(), last.index->end(), is_constant);
  out.writes_memory = !to_registers;
  if (to_registers) {
    const bool load = reads_memory(p, value);
    if (arithmetic) out.ports.arithmetic = cost;
    if (load) out.ports.load = arithmetic ? std::min(cost, core.operand_load) : cost;
    if (!load && !arithmetic) out.ports.other = cost;
  } else if (out.accumulates && one_place) {
    out.ports.other = cost;  // a sum across lanes
  } else {
    out.ports.store = cost;
    if (arithmetic) out.ports.arithmetic = std::min(cost, core.operand_load);
    if (out.accumulates) out.ports.load = std::min(cost, core.operand_load);
  }
  return out;
}

}  // namespace exotune
