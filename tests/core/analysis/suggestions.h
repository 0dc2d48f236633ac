#pragma once
// A program with a line that is refused, and the words that its hint says to write instead.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/analysis/queries.h"
#include "tests/said.h"
#include "text.h"

namespace exotune {
using testing::parse;

inline const std::string kHead =
    "PI = 3.5\n"
    "W = 4\n"
    "@proc\n"
    "def f(N: size, M: size, x: f32[N], y: f32[N], m: f32[N, M], a: i32[N], b: i8[N],\n"
    "      h: i16[N], d: f64[N], u: ui8[N]):\n"
    "    assert N < 1000000\n"
    "    for i in seq(0, N):\n";

inline std::string in_loop(const std::string& lines) { return kHead + "        " + lines + "\n"; }

inline std::string said(const std::string& text) {
  return said_by([&] { check(*parse(text)); });
}

// The words in backquotes of the hint, in order.
inline std::vector<std::string> suggested(const std::string& text) {
  const std::string message = said(text);
  std::vector<std::string> out;
  size_t at = message.find("hint: ");
  while (at < message.size()) {
    const size_t from = message.find('`', at), to = message.find('`', from + 1);
    if (from == std::string::npos || to == std::string::npos) break;
    out.push_back(message.substr(from + 1, to - from - 1));
    at = to + 1;
  }
  EXPECT_FALSE(out.empty()) << message;
  return out.empty() ? std::vector<std::string>{message} : out;
}

}  // namespace exotune
