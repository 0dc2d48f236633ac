#pragma once
// Short ways to say "this proc on these values".
#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"

namespace exotune {

/// The last proc of the text.
inline ProcPtr proc_of(const std::string& text) {
  return parse_module(text, "test.exo").procs.back();
}

inline Buffer f32(std::vector<int64_t> shape, std::vector<double> data) {
  return Buffer(ScalarType::kF32, std::move(shape), std::move(data));
}

/// The kind of error that running raises; a failure when there is none.
inline std::optional<InterpError::Kind> error_of(const Proc& p, const std::vector<ArgValue>& args,
                                                 InterpOptions options = {}) {
  options.poison = PoisonPolicy::kError;
  try {
    run(p, args, options);
  } catch (const InterpError& e) {
    return e.kind();
  }
  return std::nullopt;
}

}  // namespace exotune
