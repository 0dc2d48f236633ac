#pragma once
// What the engine says to wrong input, for tests that read its words. Start at said_by().
#include <gtest/gtest.h>

#include <string>

#include "core/base/diagnostic.h"

namespace exotune {

/// The words of the Error that `act` throws, which has to be one about input; "accepted" where it
/// throws none.
template <class Act>
std::string said_by(const Act& act) {
  try {
    act();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::kInput);
    return e.what();
  }
  return "accepted";
}

}  // namespace exotune

/// For a test file that has its own said(script): what it said has `part` in it, and is shown where
/// not.
#define EXPECT_SAID(script, part)                                \
  do {                                                           \
    const std::string message = said(script);                    \
    EXPECT_NE(message.find(part), std::string::npos) << message; \
  } while (false)
