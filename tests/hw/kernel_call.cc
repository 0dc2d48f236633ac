#include "tests/hw/kernel_call.h"

#include <gtest/gtest.h>

namespace exotune {

const KernelTable& built_in_kernels() {
  static const KernelTable kTable =
      load_kernel_table(std::filesystem::path(EXOTUNE_SOURCE_DIR) / "kernels");
  return kTable;
}

KernelCall::KernelCall(const KernelEntry& kernel, SizeBinding sizes, uint64_t seed)
    : proc_(kernel.load()), sizes_(std::move(sizes)) {
  FillOptions fill;
  fill.strided_windows = true;
  arguments_ = make_arguments(*proc_, sizes_, seed, fill);
  for (const auto& buffer : arguments_.buffers)
    for (double& v : buffer->data)
      if (v == 0) v = 1;  // solvers divide by diagonals
}

std::vector<double> KernelCall::values(const std::string& name) const {
  for (size_t k = 0; k < proc_->args.size(); ++k) {
    if (proc_->args[k].name.name() != name) continue;
    if (const auto* buffer = std::get_if<Buffer*>(&arguments_.values[k])) return (*buffer)->data;
    const auto& w = std::get<WindowValue>(arguments_.values[k]);
    const bool matrix = w.shape.size() == 2;
    std::vector<double> out;
    for (int64_t i = 0; i < (matrix ? w.shape[0] : 1); ++i)
      for (int64_t j = 0; j < w.shape.back(); ++j)
        out.push_back(
            w.buffer->data[w.offset + (matrix ? i * w.strides[0] : 0) + j * w.strides.back()]);
    return out;
  }
  ADD_FAILURE() << "no argument " << name;
  return {};
}

}  // namespace exotune
