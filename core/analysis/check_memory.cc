// What only code generation asks: can this memory hold that shape, may C code touch it?
#include "core/analysis/checker.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {

bool plain(const Memory& m) {
  return m.addressable && (m.kind == MemoryKind::kHeap || m.kind == MemoryKind::kStack ||
                           m.kind == MemoryKind::kStatic);
}

// Vectors and register files are C variables or register numbers: no element has an address.
bool is_register(const Memory& m) {
  return m.kind == MemoryKind::kVector || m.kind == MemoryKind::kRegisterFile;
}

}  // namespace

const Memory* Checker::memory_of(Sym name) const {
  const Binding* b = scope_.find(scope_.root_of(name));
  return b ? b->mem : nullptr;
}

void Checker::addressable(Sym name, const SourceLocation& where) {
  const Memory* m = memory_of(name);
  if (!m || (m->addressable && !is_register(*m))) return;
  fail(where, name.name() + " is in " + m->name + ", which only instructions may touch",
       "replace the statement by an instruction, or set_memory the buffer to DRAM");
}

void Checker::allocation_memory(const Alloc& n, const SourceLocation& where) {
  if (!n.mem) return;
  const Memory& m = *n.mem;
  const std::string what = n.name.name() + " in " + m.name;
  const ScalarType element = decided(n.type.scalar);
  std::vector<int64_t> extents;
  for (const ExprPtr& e : n.type.shape) {
    const Lin value = problem_.lin(e);
    if (!value.is_constant()) {
      if (m.kind == MemoryKind::kHeap) return;
      fail(where,
           what + ": the size " + str(e) + " must be a constant in " + name_of(m.kind) + " memory");
    }
    extents.push_back(value.constant);
  }
  if (m.kind == MemoryKind::kVector) {
    if (extents.empty())
      fail(where, what + ": a scalar does not fill a vector", "expand_dim it to one vector");
    const bool held = m.c_type(element, extents.back()) != nullptr;
    if (!held && !m.c_types.empty() && !m.c_types.count(name_of(element)))
      fail(where, what + ": there is no vector of " + name_of(element));
    if (!held && m.bytes > 0 && extents.back() * bytes_of(element) != m.bytes)
      fail(where,
           what + ": the last dimension is " + std::to_string(extents.back()) + ", a vector of " +
               name_of(element) + " has " + std::to_string(m.bytes / bytes_of(element)) + " lanes",
           "divide_dim the buffer so that its last dimension is one vector");
  }
}

// C knows a register that is not full by another type.
void Checker::whole_registers(const Call& n, size_t k, Sym name, const SourceLocation& where) {
  const Arg& formal = n.callee->args[k];
  const Sym root = scope_.root_of(name);
  const Binding* b = scope_.find(root);
  if (!formal.mem || formal.mem->kind != MemoryKind::kVector || !b || !b->type ||
      !b->type->is_tensor() || !formal.type.is_tensor())
    return;
  const std::optional<int64_t> has = as_int(b->type->shape.back()),
                               wants = as_int(formal.type.shape.back());
  if (!has || !wants || *has == *wants) return;
  fail(where,
       "argument " + formal.name.name() + " of " + n.callee->name + " is a register of " +
           std::to_string(*wants) + " elements, but one of " + root.name() + " has " +
           std::to_string(*has),
       "allocate " + root.name() + " with " + std::to_string(*wants) +
           ", or call an instruction for " + std::to_string(*has));
}

void Checker::argument_memory(const Call& n, size_t k, const SourceLocation& where) {
  const Arg& formal = n.callee->args[k];
  const ExprPtr& arg = n.args[k];
  Sym name;
  if (const Read* r = arg->as<Read>()) name = r->name;
  if (const WindowExpr* w = arg->as<WindowExpr>()) name = w->name;
  if (!name.valid()) return;
  const Memory* have = memory_of(name);
  const MemoryPtr want = formal.mem ? formal.mem : dram();
  if (have && have->name == want->name) return whole_registers(n, k, name, where);
  if (!have || (plain(*have) && plain(*want))) return;
  fail(where,
       "argument " + formal.name.name() + " of " + n.callee->name + " is in " + want->name +
           ", but " + name.name() + " is in " + have->name,
       "set_memory " + name.name() + " to " + want->name);
}

}  // namespace exotune
