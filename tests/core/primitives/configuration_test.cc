// What is known of configuration, and the primitives that rest on it.
#include <gtest/gtest.h>

#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

using namespace test;

const std::vector<Sizes> kSmall = {{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

// set(v) sets the mode, work(x) asserts that it is 1, both(x) sets it and works.
struct Device {
  explicit Device(const std::string& body)
      : module(parse_module(R"(
@config
class Cfg:
    mode: index
    on: bool

@proc
def set(v: index):
    Cfg.mode = v

@proc
def work(x: f32):
    assert Cfg.mode == 1
    x += 1.0

@proc
def both(x: f32):
    Cfg.mode = 1
    x += 1.0

@proc
def f(N: size, x: f32):
)" + body,
                            "t.exo")) {}
  ProcPtr operator[](const std::string& name) const {
    for (const ProcPtr& p : module.procs)
      if (p->name == name) return p;
    ADD_FAILURE() << "no proc " << name;
    return nullptr;
  }
  ConfigPtr config() const { return module.configs.at("Cfg"); }
  /// What is said when the first addition to x becomes work(x); "" when it does.
  std::string work() const {
    return refused([&] {
      ProcPtr f = (*this)["f"];
      ProcPtr q = replace(f, "x += 1.0", (*this)["work"]);
      check(*q);
    });
  }
  Module module;
};

TEST(ConfigValues, are_known_after_a_write_or_a_call) {
  EXPECT_EQ(Device("    Cfg.mode = 1\n    x += 1.0\n").work(), "");
  EXPECT_EQ(Device("    set(1)\n    x += 1.0\n").work(), "");
  EXPECT_EQ(Device("    set(1)\n    x += 1.0\n    set(2)\n").work(), "");
  EXPECT_EQ(Device("    assert Cfg.mode == 1\n    x += 1.0\n    set(2)\n").work(), "");
  EXPECT_NE(Device("    set(2)\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device("    x += 1.0\n    set(1)\n").work(), "");
  EXPECT_NE(Device("    assert Cfg.mode == 1\n    set(2)\n    x += 1.0\n").work(), "");
}

TEST(ConfigValues, hold_in_a_loop_when_no_iteration_leaves_another) {
  EXPECT_EQ(Device("    set(1)\n    for i in seq(0, N):\n        x += 1.0\n").work(), "");
  EXPECT_EQ(
      Device("    set(1)\n    for i in seq(0, N):\n        x += 1.0\n        set(1)\n").work(), "");
  EXPECT_EQ(Device("    set(1)\n    for i in seq(0, N):\n        x += 1.0\n        set(2)\n"
                   "        set(1)\n")
                .work(),
            "");
  EXPECT_NE(
      Device("    set(1)\n    for i in seq(0, N):\n        x += 1.0\n        set(2)\n").work(), "");
  EXPECT_NE(Device("    set(1)\n    for i in seq(0, N):\n        x += 1.0\n        if i < 1:\n"
                   "            set(2)\n")
                .work(),
            "");
  EXPECT_NE(Device("    for i in seq(0, N):\n        x += 1.0\n        set(1)\n").work(), "");
}

TEST(ConfigValues, hold_after_a_loop_that_surely_runs) {
  EXPECT_EQ(Device("    for i in seq(0, N):\n        set(1)\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device("    for i in seq(1, N):\n        set(1)\n    x += 1.0\n").work(), "");
  EXPECT_EQ(Device("    set(1)\n    for i in seq(1, N):\n        set(1)\n    x += 1.0\n").work(),
            "");
  EXPECT_NE(
      Device("    for i in seq(0, N):\n        set(1)\n        set(2)\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device("    for i in seq(0, N):\n        for j in seq(0, i):\n            set(1)\n"
                   "    x += 1.0\n")
                .work(),
            "");
}

TEST(ConfigValues, hold_after_branches_that_agree) {
  const std::string one = "    if N < 3:\n        set(1)\n";
  EXPECT_EQ(Device(one + "    else:\n        both(x)\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device(one + "    else:\n        set(2)\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device(one + "    x += 1.0\n").work(), "");
  EXPECT_EQ(Device("    set(1)\n" + one + "    x += 1.0\n").work(), "");
  EXPECT_NE(Device("    set(2)\n" + one + "    x += 1.0\n").work(), "");
}

TEST(ConfigValues, of_other_fields_may_be_written) {
  EXPECT_EQ(Device("    Cfg.mode = N\n    Cfg.mode = Cfg.mode - N + 1\n    x += 1.0\n").work(), "");
  EXPECT_NE(Device("    Cfg.mode = N\n    Cfg.mode = Cfg.mode + 1\n    x += 1.0\n").work(), "");
}

TEST(ConfigValues, strides_of_what_a_callee_makes_are_its_own) {
  const std::string text = R"(
@config
class Cfg:
    stride: stride

@proc
def setup(n: size, a: [f32][4, n]):
    w = a[0:2, :]
    Cfg.stride = stride(w, 0)

@proc
def load(a: [f32][4, 2]):
    assert stride(a, 0) == Cfg.stride
    a[0, 0] = 0.0

@proc
def f(A: f32[4, 8], B: f32[4, 2]):
    setup(8, A[0:4, 0:8])
    setup(2, B[0:4, 0:2])
    load(A[0:4, 0:2])
)";
  EXPECT_THROW(check(*parse_last(text)), InputError);
}

TEST(ConfigValues, last_for_questions_about_the_whole_block) {
  const Device d("    Cfg.mode = 3\n    x = 0.0\n    Cfg.mode = 4\n    x = 1.0\n");
  const ProcPtr f = d["f"];
  const ExprPtr mode = make_expr(ReadConfig{d.config(), "mode"}, ScalarType::kIndex);
  auto is = [&](int64_t v) { return bin_op(BinOpKind::kEq, mode, int_const(v)); };
  const Path between{{Child::kBody, 1}}, last{{Child::kBody, 3}};
  EXPECT_TRUE(prove_on_arrival(*f, between, is(3)));
  EXPECT_FALSE(prove(*f, between, is(3)));  // the block goes on to change it
  EXPECT_TRUE(prove(*f, last, is(4)));
  EXPECT_FALSE(prove_on_arrival(*f, last, is(3)));
}

TEST(Configuration, a_write_of_what_is_there_changes_nothing) {
  const Device d("    set(1)\n    for i in seq(0, N):\n        work(x)\n");
  const ProcPtr f = d["f"];
  const Cursor gap = find(f, "work(_)").before();
  ProcPtr q = write_config(f, gap, d.config(), "mode", int_const(1));
  EXPECT_TRUE(is_equivalent(f, q));
  expect_same_meaning(f, q, kSmall);
  EXPECT_TRUE(is_equivalent(q, delete_config(q, "Cfg.mode = _")));
  EXPECT_REFUSED(write_config(f, gap, d.config(), "mode", int_const(2)), "read afterwards");
}

TEST(Configuration, data_that_nothing_writes_may_be_written_again) {
  const char* const text = R"(
@config
class Store:
    scale: f32

@proc
def give(v: f32):
    Store.scale = v

@proc
def once(N: size, v: f32, w: f32, x: f32[N]):
    give(v)
    for i in seq(0, N):
        x[i] = Store.scale * x[i]

@proc
def changes(N: size, v: f32, w: f32, x: f32[N]):
    Store.scale = v
    for i in seq(0, N):
        x[i] = Store.scale * x[i]
        v = x[i]

@proc
def late(N: size, v: f32, w: f32, x: f32[N]):
    for i in seq(0, N):
        x[i] = Store.scale * x[i]
    Store.scale = v
)";
  const Module m = parse_module(text, "t.exo");
  const ConfigPtr store = m.configs.at("Store");
  const auto again = [&](const char* name, const std::string& value) {
    const ProcPtr f = m.find_proc(name);
    const Sym argument = f->args[value == "v" ? 1 : 2].name;
    return write_config(f, find(f, "x[_] = _").before(), store, "scale",
                        read_var(argument, ScalarType::kF32));
  };
  EXPECT_TRUE(is_equivalent(m.find_proc("once"), again("once", "v")));
  EXPECT_REFUSED(again("once", "w"), "read afterwards");
  EXPECT_REFUSED(again("changes", "v"), "read afterwards");
  EXPECT_REFUSED(again("late", "v"), "read afterwards");
}

TEST(Configuration, a_write_that_is_written_over_changes_nothing) {
  const Device d("    x = 0.0\n    both(x)\n    work(x)\n");
  const ProcPtr f = d["f"];
  ProcPtr q = write_config(f, find(f, "x = 0.0").after(), d.config(), "mode", int_const(7));
  EXPECT_TRUE(is_equivalent(f, q));
  q = write_config(f, find(f, "work(_)").after(), d.config(), "mode", int_const(7));
  EXPECT_EQ(equivalent_modulo(f, q), std::set<std::string>{"Cfg.mode"});
  q = write_config(q, find(q, "work(_)").after(), d.config(), "on", bool_const(true));
  EXPECT_EQ(equivalent_modulo(f, q), (std::set<std::string>{"Cfg.mode", "Cfg.on"}));
  EXPECT_FALSE(is_equivalent(f, q));
}

TEST(Configuration, an_assert_of_a_callee_reads) {
  const Device d("    Cfg.mode = 1\n    work(x)\n");
  const ProcPtr f = d["f"];
  EXPECT_REFUSED(delete_config(f, "Cfg.mode = _"), "read afterwards");
  EXPECT_REFUSED(reorder_stmts(f, Cursor::block(f, {{Child::kBody, 0}}, 2)), "Cfg.mode");
}

TEST(Configuration, calls_that_only_configure_are_deleted) {
  const Device d(
      "    set(1)\n    for i in seq(0, N):\n        set(1)\n        work(x)\n    set(3)\n");
  const ProcPtr f = d["f"];
  ProcPtr q = delete_config(f, find(f, "set(_) #1"));
  EXPECT_TRUE(is_equivalent(f, q));
  expect_same_meaning(f, q, kSmall);
  EXPECT_REFUSED(delete_config(q, find(q, "set(_) #0")), "read afterwards");
  q = delete_config(q, find(q, "set(_) #1"));
  EXPECT_EQ(equivalent_modulo(f, q), std::set<std::string>{"Cfg.mode"});
  EXPECT_REFUSED(delete_config(f, find(f, "work(_)")), "more or less");
}

TEST(Configuration, equivalent_callees_may_differ_in_what_nobody_reads) {
  const Module m = parse_module(R"(
@config
class Cfg:
    mode: index

@proc
def g(x: f32):
    x += 1.0

@proc
def work(x: f32):
    assert Cfg.mode == 1
    x += 1.0

@proc
def f(x: f32):
    Cfg.mode = 1
    g(x)
    work(x)

@proc
def h(x: f32):
    g(x)
    Cfg.mode = 1
    work(x)
)",
                                "t.exo");
  auto named = [&](const char* name) {
    for (const ProcPtr& p : m.procs)
      if (p->name == name) return p;
    return ProcPtr();
  };
  const ProcPtr g = named("g"), f = named("f"), h = named("h");
  const ProcPtr sets =
      write_config(g, find(g, "x += _").after(), m.configs.at("Cfg"), "mode", int_const(2));
  EXPECT_REFUSED(call_eqv(f, "g(_)", sets), "read afterwards");
  ProcPtr q = call_eqv(h, "g(_)", sets);
  EXPECT_TRUE(is_equivalent(h, q));  // the field is written again
  expect_same_meaning(h, q);
}

TEST(Configuration, an_argument_does_not_read_what_the_block_writes) {
  const Module m = parse_module(R"(
@config
class Cfg:
    at: index

@proc
def copy(dst: [f32][4], src: [f32][4]):
    Cfg.at = 2
    for i in seq(0, 4):
        dst[i] = src[i]

@proc
def f(A: f32[8], B: f32[4]):
    Cfg.at = 0
    Cfg.at = 2
    for i in seq(0, 4):
        B[i] = A[Cfg.at + i]
)",
                                "t.exo");
  const ProcPtr copy = m.procs[0], f = m.procs[1];
  EXPECT_REFUSED(replace(f, Cursor::block(f, {{Child::kBody, 1}}, 2), copy),
                 "that the block writes");
}

}  // namespace
}  // namespace exotune
