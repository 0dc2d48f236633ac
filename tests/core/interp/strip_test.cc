// Loops that may run many iterations at a time must not be told from loops that run one by one. The
// plain form of each loop is the same body with a statement that strips refuse (an `if`).
#include "tests/core/interp/fixture.h"

namespace exotune {
namespace {

/// Runs the proc with its text as it stands, and with every `BODY` line under an `if`; both results
/// must agree on every argument.
void expect_same(const std::string& head, const std::vector<std::string>& body, int64_t n,
                 Arithmetic arithmetic, int poisoned_element = -1) {
  std::string fast = head, slow = head;
  for (const std::string& line : body) {
    fast += "        " + line + "\n";
    slow += "        if i < 100000:\n            " + line + "\n";
  }
  const ProcPtr f = proc_of(fast);
  // The guard must not fold away: the loop bound is data of the config.
  ProcPtr s = proc_of("@config\nclass Cfg:\n    limit: index\n" + [&] {
    std::string t = slow;
    for (size_t at; (at = t.find("i < 100000")) != std::string::npos;)
      t.replace(at, 10, "i < Cfg.limit");
    return t;
  }());
  Arguments a = make_arguments(*f, {{"n", n}}, 3);
  if (poisoned_element >= 0)
    a.buffers[0]->data[static_cast<size_t>(poisoned_element)] = poison_value();
  const Arguments b = copy_of(a);
  InterpOptions options;
  options.arithmetic = arithmetic;
  options.poison = PoisonPolicy::kPropagate;
  ConfigState state = {{"Cfg.limit", int64_t{100000}}};
  run(*f, a.values, options);
  options.config = &state;
  run(*s, b.values, options);
  EXPECT_EQ(first_difference(a, b), "") << fast;
}

const std::vector<std::vector<std::string>> kBodies = {
    {"y[i] = x[i]"},
    {"y[i] = x[n - 1 - i] * 2.0 + 1.0"},
    {"y[i] += x[i] * x[i]"},
    {"y[0] += x[i] * y[i]"},
    {"y[n - 1] = x[i]"},
    {"y[0] = y[0] * 0.5 + x[i]"},
    {"y[0] += x[i]", "y[0] = y[0] - 1.0"},
    {"x[i] = x[i] / 3.0"},
    {"x[i] = x[n - 1 - i]"},
    {"y[i] max= x[i]"},
    {"y[0] min= x[i]"},
    {"y[i] min= x[i] + TYPE(i % 7)"},
    {"y[i] = x[i] * TYPE(2 - i % 3)"},
    {"y[i] = x[i] + TYPE(3 * i - n)"},
    {"y[i] = select(x[i], 0.5, y[i], x[i])"},
    {"y[i] = x[i]", "x[i] = y[i] + 1.0"},
    {"y[i] = x[i]", "x[n - 1 - i] = y[i] + 1.0"},
    {"y[i] = x[i]", "y[i] += 1.0", "x[i] = y[i]"},
    {"y[i] = sqrt(fabs(x[i])) + fmax(x[i], 1.0)"},
};

// Casts are to the type of the buffers.
std::vector<std::string> typed(std::vector<std::string> body, const std::string& type) {
  for (std::string& l : body)
    if (const size_t at = l.find("TYPE"); at != std::string::npos) l.replace(at, 4, type);
  return body;
}

TEST(Strips, agree_with_single_iterations) {
  for (const char* type : {"f32", "f64", "i8", "i32", "bf16"})
    for (const auto& body : kBodies)
      for (int64_t n : {1, 4, 5, 128, 129, 300}) {
        bool floats_only = false;
        for (const std::string& l : body) floats_only |= l.find("sqrt") != std::string::npos;
        if (floats_only && std::string(type)[0] == 'i') continue;
        const std::string head = "@proc\ndef f(n: size, x: " + std::string(type) +
                                 "[n], y: " + type + "[n]):\n    for i in seq(0, n):\n";
        expect_same(head, typed(body, type), n, Arithmetic::kRounded);
        expect_same(head, typed(body, type), n, Arithmetic::kExact);
      }
}

TEST(Strips, overlapping_windows_keep_their_order) {
  for (const char* shift : {"0", "1", "2"})
    for (const char* line : {"b[i] = a[i] + 1.0", "a[i] = b[i] + 1.0", "b[i] += a[i]"}) {
      const std::string head = "@proc\ndef f(n: size, x: f32[n + 2]):\n    a = x[0:n]\n    b = x[" +
                               std::string(shift) + ":n + " + shift +
                               "]\n    for i in seq(0, n):\n";
      expect_same(head, {line}, 200, Arithmetic::kRounded);
    }
}

TEST(Strips, poison_reaches_what_depends_on_it_and_no_more) {
  for (const auto& body : kBodies)
    expect_same("@proc\ndef f(n: size, x: f32[n], y: f32[n]):\n    for i in seq(0, n):\n",
                typed(body, "f32"), 300, Arithmetic::kRounded, 137);
}

}  // namespace
}  // namespace exotune
