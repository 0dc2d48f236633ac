#pragma once
// Before against after: both run in the interpreter on the same small sizes and random integers.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/primitives/primitives.h"

namespace exotune::test {

using Sizes = std::map<std::string, int64_t>;

inline ProcPtr parse_last(const std::string& text) {
  return parse_module(text, "test.exo").procs.back();
}

/// The result is a valid program, computes what the original computes, and its trace prints.
inline void expect_same_meaning(const ProcPtr& before, const ProcPtr& after,
                                const std::vector<Sizes>& sizes = {{}}) {
  try {
    check(*after);
  } catch (const Error& e) {
    ADD_FAILURE() << e.what() << "\n" << str(*after);
    return;
  }
  for (const Sizes& s : sizes) {
    Arguments a = make_arguments(*before, s, 11), b = copy_of(a);
    InterpOptions options;
    options.arithmetic = Arithmetic::kExact;
    options.poison = PoisonPolicy::kPropagate;
    run(*before, a.values, options);
    run(*after, b.values, options);
    EXPECT_EQ(first_difference(a, b), "") << str(*after);
  }
  EXPECT_NO_THROW(trace_script(after));
}

/// What the refusal says, or "" when nothing was refused.
template <class F>
std::string refused(F f) {
  try {
    f();
  } catch (const SchedulingError& e) {
    return e.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#define EXPECT_REFUSED(expression, part)                                      \
  do {                                                                        \
    std::string said = ::exotune::test::refused([&] { (void)(expression); }); \
    EXPECT_TRUE(::exotune::test::contains(said, part)) << "said: " << said;   \
  } while (false)

inline ExprPtr control(const ProcPtr& p, const Cursor& at, const std::string& text) {
  return parse_expr_at(p, at.path(), text);
}

}  // namespace exotune::test
