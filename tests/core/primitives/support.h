#pragma once
// Object code in tests: one proc from text, and comparison by printed text.
#include <gtest/gtest.h>

#include "core/analysis/queries.h"
#include "core/frontend/parser.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"

namespace exotune::test {

/// The last proc of `text`; every `def` is a @proc.
inline ProcPtr parse(const std::string& text) {
  std::string decorated = "\n" + text;
  for (size_t at = 0; (at = decorated.find("\ndef ", at)) != std::string::npos; at += 7)
    decorated.insert(at + 1, "@proc\n");
  return parse_module(decorated, "test.exo").procs.back();
}

/// `p` is a valid program and prints as the proc in `expected`.
inline void expect_proc(const ProcPtr& p, const std::string& expected) {
  EXPECT_NO_THROW(check(*p)) << str(*p);
  EXPECT_EQ(str(*p), str(*parse(expected)));
}

/// What a refusal says, or "" when nothing was refused.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const SchedulingError& e) {
    return e.what();
  }
  return "";
}

}  // namespace exotune::test
