#include "runners/sim/memory.h"

#include <sys/mman.h>

#include "core/base/diagnostic.h"

namespace exotune::sim {

Memory::Memory(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw Error(
        Diagnostic{{},
                   "no memory for a simulated machine of " + std::to_string(bytes >> 20) + " MB",
                   {},
                   ""},
        ExitCode::kUnavailable);
  data_ = static_cast<uint8_t*>(data);
  writable_ = base;
}

Memory::~Memory() { munmap(data_, bytes_); }

void Memory::protect(uint64_t code_begin, uint64_t code_end, uint64_t writable) {
  code_begin_ = code_begin;
  code_end_ = code_end;
  writable_ = writable;
}

}  // namespace exotune::sim
