// replace() of blocks that hold calls, windows, configuration and conditions: what corresponds is
// found, and what does not is refused.
#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 4}}, {{"N", 7}}};

// The procs of `text`; the last is the caller, `op` is the one put in.
struct World {
  Module module;
  explicit World(const std::string& text) : module(parse_module(text, "test.exo")) {}
  ProcPtr caller() const { return module.procs.back(); }
  ProcPtr op() const { return module.find_proc("op"); }
  ProcPtr replaced(const std::string& first) const { return replace(caller(), first, op()); }
  /// What the refusal says; "" when there was none.
  std::string refusal(const std::string& first) const {
    return refused([&] { replaced(first); });
  }
};

const char* const kLeaf = R"(
@config
class Cfg:
    n : size
    scale : f32
    on : bool

@proc
def leaf(n: size, dst: [f32][n], src: [f32][n]):
    for i in seq(0, n):
        dst[i] = src[i]

@proc
def other(n: size, dst: [f32][n], src: [f32][n]):
    for i in seq(0, n):
        dst[i] = src[i] + 1.0

@proc
def put(a: f32, b: f32):
    a = b
)";

World world(const std::string& text) { return World(std::string(kLeaf) + text); }

TEST(Unify, calls_correspond_by_their_windows) {
  const World w = world(R"(
@proc
def op(n: size, x: [f32][2, n], y: [f32][n]):
    leaf(n, x[1, 0:n], y[0:n])
    leaf(n, x[0, 0:n], x[1, 0:n])

@proc
def f(N: size, A: f32[4, N + 2], B: f32[N]):
    leaf(N, A[3, 2:N + 2], B[0:N])
    leaf(N, A[2, 2:N + 2], A[3, 2:N + 2])
)");
  const ProcPtr q = w.replaced("leaf(_)");
  EXPECT_TRUE(contains(str(*q), "op(N, A[2:4, 2:N + 2], B[0:N])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
}

TEST(Unify, whole_buffers_are_windows_of_their_own_size) {
  const World w = world(R"(
@proc
def op(n: size, x: [f32][n], y: [f32][n]):
    leaf(n, x, y)

@proc
def f(N: size, A: f32[N], B: f32[N]):
    leaf(N, A[0:N], B)
)");
  const ProcPtr q = w.replaced("leaf(_)");
  EXPECT_TRUE(contains(str(*q), "op(N, A[0:N], B[0:N])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
}

TEST(Unify, scalar_arguments_correspond_by_their_points) {
  const World w = world(R"(
@proc
def op(x: [f32][3], y: f32):
    put(x[2], y)
    put(x[0], x[2])

@proc
def f(A: f32[5], b: f32):
    put(A[3], b)
    put(A[1], A[3])
)");
  const ProcPtr q = w.replaced("put(_)");
  EXPECT_TRUE(contains(str(*q), "op(A[1:4], b)")) << str(*q);
  expect_same_meaning(w.caller(), q);
}

TEST(Unify, refuses_calls_of_another_proc_or_other_parts) {
  const char* const op = R"(
@proc
def op(n: size, x: [f32][n], y: [f32][n]):
    leaf(n, x[0:n], y[0:n])
    leaf(n, x[0:n], y[0:n])
)";
  const auto after = [&](const std::string& second) {
    return world(std::string(op) + R"(
@proc
def f(N: size, A: f32[2 * N], B: f32[2 * N]):
    assert N > 1
    leaf(N, A[0:N], B[0:N])
    )" + second + "\n");
  };
  expect_same_meaning(after("leaf(N, A[0:N], B[0:N])").caller(),
                      after("leaf(N, A[0:N], B[0:N])").replaced("leaf(_)"), {{{"N", 3}}});
  for (const char* second : {"other(N, A[0:N], B[0:N])", "leaf(N, A[N:2 * N], B[0:N])",
                             "leaf(N - 1, A[0:N - 1], B[0:N - 1])", "leaf(N, B[0:N], A[0:N])",
                             "leaf(N, A[0:N], B[1:N + 1])"})
    EXPECT_NE(after(second).refusal("leaf(_)"), "") << second;
}

TEST(Unify, windows_made_in_the_block_correspond) {
  const World w = world(R"(
@proc
def op(n: size, x: [f32][n], y: [f32][2, n]):
    v = y[1, 0:n]
    for i in seq(0, n):
        x[i] += v[i]
    leaf(n, x[0:n], v)

@proc
def f(N: size, A: f32[N], B: f32[3, N + 1]):
    w = B[2, 1:N + 1]
    for k in seq(0, N):
        A[k] += w[k]
    leaf(N, A[0:N], w)
)");
  const ProcPtr q = w.replaced("w = _");
  EXPECT_TRUE(contains(str(*q), "op(N, A[0:N], B[1:3, 1:N + 1])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
}

// The callee writes its first argument through a window and another call.
TEST(Unify, refuses_arguments_that_overlap_where_a_deeper_call_writes) {
  const auto with = [](const std::string& from) {
    return world(R"(
@proc
def op(x: [f32][4], y: [f32][4]):
    for i in seq(0, 4):
        y[i] = y[i] + x[i]
    w = x[0:4]
    leaf(4, w, y[0:4])

@proc
def f(A: f32[12]):
    for i in seq(0, 4):
        A[)" + from +
                 " + i] = A[" + from + R"( + i] + A[i]
    v = A[0:4]
    leaf(4, v, A[8:12])
)");
  };
  const World good = with("8");
  const ProcPtr q = good.replaced("for i in _: _");
  EXPECT_TRUE(contains(str(*q), "op(A[0:4], A[8:12])")) << str(*q);
  expect_same_meaning(good.caller(), q);
  EXPECT_NE(with("7").refusal("for i in _: _"), "");
}

TEST(Unify, refuses_a_call_whose_arguments_would_share_elements) {
  const World w = world(R"(
@proc
def op(x: [f32][4], y: [f32][4]):
    v = x[0:4]
    for i in seq(0, 4):
        put(v[i], y[i])

@proc
def f(A: f32[12]):
    v = A[0:4]
    for i in seq(0, 4):
        put(v[i], A[i + 1])
)");
  EXPECT_TRUE(contains(w.refusal("v = _"), "overlap")) << w.refusal("v = _");
}

TEST(Unify, refuses_windows_that_lie_otherwise) {
  const char* const op = R"(
@proc
def op(x: [f32][4], y: [f32][6]):
    v = y[1:5]
    for i in seq(0, 4):
        x[i] = v[i] + y[i]
)";
  const auto with = [&](const std::string& window, const std::string& sum) {
    return world(std::string(op) + R"(
@proc
def f(A: f32[4], B: f32[6], C: f32[4, 6]):
    w = )" + window +
                 R"(
    for k in seq(0, 4):
        A[k] = )" +
                 sum + "\n");
  };
  const World good = with("B[1:5]", "w[k] + B[k]");
  expect_same_meaning(good.caller(), good.replaced("w = _"));
  EXPECT_NE(with("B[2:6]", "w[k] + B[k]").refusal("w = _"), "");
  EXPECT_NE(with("B[1:6]", "w[k] + B[k]").refusal("w = _"), "");
  EXPECT_NE(with("B[1:5]", "B[k] + B[k + 1]").refusal("w = _"), "");
  EXPECT_NE(with("C[0:4, 1]", "w[k] + B[k]").refusal("w = _"), "");
}

TEST(Unify, configuration_is_written_and_read_alike) {
  const char* const op = R"(
@proc
def op(x: [f32][4], s: f32):
    Cfg.scale = s
    for i in seq(0, 4):
        x[i] = -Cfg.scale
)";
  const auto with = [&](const std::string& body) {
    return world(std::string(op) + "\n@proc\ndef f(A: f32[8], s: f32):\n" + body);
  };
  const World good =
      with("    Cfg.scale = s\n    for i in seq(0, 4):\n        A[i + 4] = -Cfg.scale\n");
  const ProcPtr q = good.replaced("Cfg.scale = _");
  EXPECT_TRUE(contains(str(*q), "op(A[4:8], s)")) << str(*q);
  expect_same_meaning(good.caller(), q);
  for (const char* body :
       {"    Cfg.n = 4\n    for i in seq(0, 4):\n        A[i] = -Cfg.scale\n",
        "    Cfg.scale = s\n    for i in seq(0, 4):\n        A[i] = -s\n",
        "    Cfg.scale = s\n    for i in seq(0, 4):\n        A[i] = Cfg.scale\n"})
    EXPECT_NE(with(body).refusal("Cfg._ = _"), "") << body;
}

// The argument would be evaluated before the callee changes what it reads.
TEST(Unify, refuses_a_window_placed_by_configuration_that_the_block_writes) {
  const World w = world(R"(
@proc
def op(y: [f32][1]):
    Cfg.n = 3
    y[0] = 1.0

@proc
def f(x: f32[8]):
    Cfg.n = 3
    x[Cfg.n % 8] = 1.0
)");
  EXPECT_NE(w.refusal("Cfg.n = 3"), "");
}

TEST(Unify, refuses_a_size_read_from_configuration_that_the_block_writes) {
  const World w = world(R"(
@proc
def op(n: size, y: [f32][8]):
    assert n <= 8
    Cfg.n = 3
    for i in seq(0, n):
        y[i] = 1.0

@proc
def f(x: f32[8]):
    Cfg.n = 3
    for i in seq(0, Cfg.n):
        x[i] = 1.0
)");
  EXPECT_NE(w.refusal("Cfg.n = 3"), "");
}

// A stride is a value that a condition may ask for: of a window of the block, of one of the callee.
TEST(Unify, refuses_a_value_that_only_the_block_or_the_callee_knows) {
  const auto with = [](const std::string& asked, const std::string& mine) {
    return world(R"(
@proc
def op(n: stride, y: [f32][8, 8]):
    v = y[0:4, 1]
    if n == )" + asked +
                 R"(:
        v[0] = 1.0

@proc
def f(N: size, x: f32[8, N + 8], s: stride):
    w = x[0:4, 1]
    if )" + mine +
                 R"(:
        w[0] = 1.0
)");
  };
  EXPECT_NE(with("stride(v, 0)", "stride(w, 0) == stride(w, 0)").refusal("w = _"), "");
  EXPECT_NE(with("stride(y, 0)", "stride(x, 0) == stride(x, 0)").refusal("w = _"), "");
  EXPECT_NE(with("4", "stride(w, 0) == 4").refusal("w = _"), "");
  const World good = with("4", "s == 4");
  const ProcPtr q = good.replaced("w = _");
  EXPECT_TRUE(contains(str(*q), "op(s, x[0:8, 0:8])")) << str(*q);
  for (int64_t s : {3, 4}) expect_same_meaning(good.caller(), q, {{{"N", 2}, {"s", s}}});
}

TEST(Unify, comparisons_are_the_same_however_they_are_written) {
  const char* const op = R"(
@proc
def op(n: size, k: size, x: [f32][n]):
    assert k <= n
    for i in seq(0, n):
        if i < k:
            x[i] = 0.0
)";
  const auto with = [&](const std::string& condition) {
    return world(std::string(op) + R"(
@proc
def f(N: size, A: f32[2 * N]):
    for j in seq(0, 2 * N):
        if )" + condition +
                 R"(:
            A[j] = 0.0
)");
  };
  for (const char* condition :
       {"j < N", "N > j", "j <= N - 1", "N >= j + 1", "j + 1 <= N", "2 * j < 2 * N"}) {
    const World w = with(condition);
    const std::string said = refused([&] {
      const ProcPtr q = w.replaced("for j in _: _");
      EXPECT_TRUE(contains(str(*q), "op(2 * N, N, A[0:2 * N])")) << str(*q);
      expect_same_meaning(w.caller(), q, kSmall);
    });
    // Scaled by two the equation is another one.
    EXPECT_EQ(said.empty(), condition != std::string("2 * j < 2 * N")) << condition << ": " << said;
  }
  for (const char* condition :
       {"j > N", "j == N", "j <= N", "j != N", "j % 2 == 0", "j < N and 0 < N"}) {
    const World w = with(condition);
    std::string said = refused([&] {
      const ProcPtr q = w.replaced("for j in _: _");
      expect_same_meaning(w.caller(), q, kSmall);  // where it is possible, it must be right
    });
    if (condition != std::string("j <= N")) {
      EXPECT_NE(said, "") << condition;
    }
  }
}

TEST(Unify, conditions_joined_by_and_or_and_not_correspond_in_either_order) {
  const char* const op = R"(
@proc
def op(n: size, a: index, b: bool, x: [f32][n]):
    for i in seq(0, n):
        if i == a or not (b and i != 0):
            x[i] = 0.0
        else:
            x[i] = 1.0
)";
  const auto with = [&](const std::string& condition) {
    return world(std::string(op) + R"(
@proc
def f(N: size, c: bool, d: bool, A: f32[N]):
    for j in seq(0, N):
        if )" + condition +
                 R"(:
            A[j] = 0.0
        else:
            A[j] = 1.0
)");
  };
  for (const char* condition :
       {"j == 2 or not (c and j != 0)", "not (c and j != 0) or 2 == j",
        "not (j != 0 and c) or j == 2", "j - 2 == 0 or not (0 != j and c)"}) {
    const World w = with(condition);
    const ProcPtr q = w.replaced("for j in _: _");
    EXPECT_TRUE(contains(str(*q), "op(N, 2, c, A[0:N])")) << str(*q);
    for (int64_t c : {0, 1})
      expect_same_meaning(w.caller(), q, {{{"N", 4}, {"c", c}, {"d", 1 - c}}});
  }
  for (const char* condition :
       {"j == 2 and not (c and j != 0)", "j == 2 or c and j != 0", "j == 2 or not (c or j != 0)",
        "j == 2 or not (c and j == 0)", "j == 2 or not (j != 1 and j != 0)", "j == 2 or not c"})
    EXPECT_NE(with(condition).refusal("for j in _: _"), "") << condition;
}

TEST(Unify, one_truth_argument_stands_for_one_condition) {
  const char* const op = R"(
@proc
def op(b: bool, x: f32):
    if b:
        x = 0.0
    if b:
        x += 1.0
)";
  const auto with = [&](const std::string& second) {
    return world(std::string(op) +
                 "\n@proc\ndef f(c: bool, d: bool, y: f32):\n    if c:\n        y = 0.0\n    if " +
                 second + ":\n        y += 1.0\n");
  };
  const ProcPtr q = with("c").replaced("if c: _");
  EXPECT_TRUE(contains(str(*q), "op(c, y)")) << str(*q);
  for (int64_t c : {0, 1}) expect_same_meaning(with("c").caller(), q, {{{"c", c}, {"d", 1}}});
  EXPECT_NE(with("d").refusal("if c: _"), "");
}

TEST(Unify, a_condition_may_not_depend_on_a_loop_of_the_block) {
  const World w = world(R"(
@proc
def op(n: size, b: bool, x: [f32][n]):
    for i in seq(0, n):
        if b:
            x[i] = 0.0

@proc
def f(N: size, c: bool, A: f32[N]):
    for j in seq(0, N):
        if j < 2:
            A[j] = 0.0
)");
  EXPECT_NE(w.refusal("for j in _: _"), "");
}

TEST(Unify, integer_constants_count_by_value) {
  const World w = world(R"(
@proc
def op(x: [f32][4]):
    for i in seq(0, 4):
        x[i] = 2.0 * x[i] - 1.0

@proc
def f(A: f32[4], B: f32[4]):
    for i in seq(0, 4):
        A[i] = A[i] * 2.0 - 1.0
    for j in seq(0, 4):
        B[j] = B[j] * 2.0 - 3.0
)");
  expect_same_meaning(w.caller(), w.replaced("for i in _: _"));
  EXPECT_NE(w.refusal("for j in _: _"), "");
}

// x / 16 against x / i32(d): a formal that the callee divides by is the literal.
TEST(Unify, a_divisor_in_the_program_is_a_formal_in_the_callee) {
  const std::string op = R"(
@proc
def op(d: index, n: size, x: [i32][n], y: [i32][n]):
    assert 1 <= d and d <= 1000
    for i in seq(0, n):
        y[i] = x[i] / i32(d)
)";
  const auto divided = [&](const std::string& value, const std::string& type = "i32") {
    return world(op + "@proc\ndef f(N: size, A: " + type + "[N], B: " + type +
                 "[N], c: i32):\n    for i in seq(0, N):\n        B[i] = " + value + "\n");
  };
  const World w = divided("A[i] / 16");
  const ProcPtr q = w.replaced("for i in _: _");
  EXPECT_TRUE(contains(str(*q), "op(16, N, A[0:N], B[0:N])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
  EXPECT_EQ(refused([&] { (void)divided("A[i] / 1000").replaced("for i in _: _"); }), "");
  for (const char* value : {"A[i] / 1001", "A[i] / -2", "A[i] / c", "16 / A[i]", "A[i] * 16"})
    EXPECT_NE(divided(value).refusal("for i in _: _"), "") << value;
  EXPECT_NE(divided("A[i] / 16.0", "f32").refusal("for i in _: _"), "");
}

TEST(Unify, local_buffers_need_the_same_memory_precision_and_shape) {
  const char* const op = R"(
@proc
def op(n: size, x: [f32][n]):
    t : f32[n]
    for i in seq(0, n):
        t[i] = x[i]
    for i in seq(0, n):
        x[i] = t[i] + t[i]
)";
  const auto with = [&](const std::string& alloc, const std::string& index) {
    return world(std::string(op) + "\n@proc\ndef f(N: size, A: f32[N]):\n    u : " + alloc +
                 "\n    for i in seq(0, N):\n        u[" + index +
                 "] = A[i]\n    for i in seq(0, N):\n        A[i] = u[" + index + "] + u[" + index +
                 "]\n");
  };
  const World good = with("f32[N]", "i");
  expect_same_meaning(good.caller(), good.replaced("u : _"), kSmall);
  EXPECT_NE(with("f32[N] @ DRAM_STATIC", "i").refusal("u : _"), "");
  EXPECT_NE(with("f64[N]", "i").refusal("u : _"), "");
  EXPECT_NE(with("f32[N + 1]", "i").refusal("u : _"), "");
  EXPECT_NE(with("f32[N, 1]", "i, 0").refusal("u : _"), "");
  EXPECT_NE(with("f32[N]", "N - 1 - i").refusal("u : _"), "");
}

}  // namespace
}  // namespace exotune::test
