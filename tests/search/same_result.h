#pragma once
// What every schedule must do: leave the same in every argument as the procedure it came from.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/interp/interp.h"

namespace exotune {

/// Runs both on equal arguments; `text` is shown when they differ.
inline void expect_same_result(const ProcPtr& before, const ProcPtr& after, const std::string& text,
                               const std::map<std::string, int64_t>& sizes = {}) {
  Arguments expected = make_arguments(*before, sizes, 3), got = make_arguments(*after, sizes, 3);
  for (size_t i = 0; i < got.buffers.size(); ++i) *got.buffers[i] = *expected.buffers[i];
  run(*before, expected.values);
  run(*after, got.values);
  for (size_t i = 0; i < got.buffers.size(); ++i)
    EXPECT_EQ(first_difference(*expected.buffers[i], *got.buffers[i]), "") << text;
}

}  // namespace exotune
