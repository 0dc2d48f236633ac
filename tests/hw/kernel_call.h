#pragma once
// One built-in kernel with arguments at one size, run by the interpreter: for tests that compare it
// with what it should compute.
#include <string>
#include <vector>

#include "core/interp/interp.h"
#include "hw/kernel_table.h"

namespace exotune {

/// The table that ships.
const KernelTable& built_in_kernels();

class KernelCall {
 public:
  /// Arguments are small integers other than zero; windows are strided where the kernel lets them.
  KernelCall(const KernelEntry& kernel, SizeBinding sizes, uint64_t seed);
  void run() { exotune::run(*proc_, arguments_.values); }
  int64_t size(const std::string& name) const { return sizes_.at(name); }
  /// The argument's elements in row-major order; one for a scalar.
  std::vector<double> values(const std::string& name) const;

 private:
  ProcPtr proc_;
  SizeBinding sizes_;
  Arguments arguments_;
};

}  // namespace exotune
