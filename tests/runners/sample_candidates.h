#pragma once
// Small candidates with known behaviour, for the tests of the runner.
#include <string>
#include <vector>

#include "core/base/hashing.h"
#include "runners/candidate.h"
#include "runners/test_case.h"
#include "runners/toolchain.h"

namespace exotune::samples {

inline constexpr int64_t kLength = 37;

/// This machine's compiler, told little: what is compiled here is small and run once.
inline TargetToolchain toolchain() {
  TargetToolchain t = plain_toolchain();
  t.flags = {"-O1", "-std=gnu11"};
  return t;
}

/// y[i] = 2 * x[i] for i < n; y only written.
inline std::vector<ArgSpec> double_args(int64_t n = kLength) {
  return {ArgSpec::control("n", n), ArgSpec::tensor("y", ElementType::kF32, {n}, false, true),
          ArgSpec::tensor("x", ElementType::kF32, {n}, true, false)};
}

inline Candidate with_body(
    const std::string& body, const std::vector<ArgSpec>& args = double_args(),
    const std::string& parameters = "int64_t n, float* restrict y, const float* restrict x") {
  Candidate c;
  c.stem = "twice";
  c.function = "twice";
  c.h_source =
      "#ifndef TWICE_H\n#define TWICE_H\n#include <stdint.h>\n#ifdef __cplusplus\nextern "
      "\"C\" {\n#endif\nvoid twice(" +
      parameters + ");\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  c.c_source =
      "#include \"twice.h\"\n#include <stdlib.h>\n"
      "static float helper(float v) { return v + v; }\n"
      "void twice(" +
      parameters + ") {\n" + body + "\n}\n";
  c.id = content_hash(c.c_source);
  c.args = args;
  return c;
}

inline Candidate good() {
  return with_body("for (int64_t i = 0; i < n; ++i) y[i] = helper(x[i]);");
}

inline TestCase double_case(int64_t n = kLength) {
  TestCase t = make_inputs(double_args(n), 7);
  for (double v : t.inputs[2]) t.expected[1].push_back(2 * v);
  return t;
}

// One call, compared and not timed.
inline RunOptions check_only() {
  RunOptions o;
  o.measure = false;
  o.timeout_seconds = 20;
  return o;
}

}  // namespace exotune::samples
