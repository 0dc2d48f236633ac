#pragma once
// Places for what has no address: register numbers and scratchpad offsets, by liveness. Two
// allocations share a place only when no execution has both live. `check` asks whether there are
// places for all, code generation which.
//
// A scratchpad is one for all threads, so an iteration of a parallel loop has none of its own;
// registers belong to a thread, so an iteration has only those that it allocates.
#include <map>

#include "core/ir/proc.h"

namespace exotune {

struct StoragePlan {
  std::map<Sym, int> first_register;   // register_file allocations: the lowest of their numbers
  std::map<Sym, int64_t> byte_offset;  // scratchpad allocations
  std::map<std::string, int64_t>
      own;  // memory -> registers or bytes that the proc's own allocations take
  std::map<std::string, int64_t> used;  // the same with those of the procs it calls
};

/// Throws InputError when a register file or scratchpad is too small, an allocation's shape is not
/// constant or not what a register holds, a scratchpad is allocated in a parallel loop, a register
/// from outside (or a window of one) is used in one, or a callee takes of a memory that the proc
/// itself uses. Registers are handed out from the highest down.
StoragePlan plan_storage(const Proc& p);

/// Constant extents of a type, or InputError naming `what`.
std::vector<int64_t> constant_shape(const Type& t, const std::string& what,
                                    const SourceLocation& where);
/// Registers that an allocation takes: the extents before the register's own shape, multiplied.
int registers_of(const Alloc& a, const SourceLocation& where);

}  // namespace exotune
