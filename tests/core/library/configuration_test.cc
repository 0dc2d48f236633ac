#include "core/library/configuration.h"

#include <gtest/gtest.h>

#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

using namespace test;

// Two loads that differ in which setting they want, and one that wants a flag too.
constexpr const char* kDevice = R"(
@config
class Load0:
    stride: stride

@config
class Load1:
    stride: stride
    fast: bool

@instr("set0({s});")
def set0(s: stride):
    Load0.stride = s

@instr("set1({s});")
def set1(s: stride):
    Load1.stride = s
    Load1.fast = True

@instr("load0;")
def load0(n: size, src: [f32][n, 4], dst: [f32][n, 4]):
    assert stride(src, 0) == Load0.stride
    for i in seq(0, n):
        for j in seq(0, 4):
            dst[i, j] = src[i, j]

@instr("load1;")
def load1(n: size, src: [f32][n, 4], dst: [f32][n, 4]):
    assert Load1.stride == stride(src, 0)
    assert Load1.fast
    for i in seq(0, n):
        for j in seq(0, 4):
            dst[i, j] = src[i, j]

@proc
def f(N: size, A: f32[N, 8], B: f32[N, 4], C: f32[N, 4]):
    for k in seq(0, 3):
        for i in seq(0, N):
            for j in seq(0, 4):
                C[i, j] = A[i, j + 2]
        for i in seq(0, N):
            for j in seq(0, 4):
                B[i, j] = C[i, j]
)";

const std::vector<Sizes> kSmall = {{{"N", 1}}, {{"N", 3}}};

struct World {
  Module module = parse_module(kDevice, "t.exo");
  ProcPtr operator[](const std::string& name) const {
    for (const ProcPtr& p : module.procs)
      if (p->name == name) return p;
    ADD_FAILURE() << "no proc " << name;
    return nullptr;
  }
};

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Configuration, instructions_come_with_their_settings) {
  const World w;
  const ProcPtr f = w["f"];
  const ProcPtr q = replace_configured(f, body_of(f), {w["load0"], w["set0"]});
  expect_same_meaning(f, q, kSmall);
  EXPECT_EQ(count(str(*q), "set0(stride(A, 0))"), 1u) << str(*q);
  EXPECT_EQ(count(str(*q), "set0(stride(C, 0))"), 1u) << str(*q);
  EXPECT_EQ(count(str(*q), "load0("), 2u) << str(*q);
}

TEST(Configuration, settings_of_several_fields_are_one_instruction) {
  const World w;
  const ProcPtr f = w["f"];
  const ProcPtr q = replace_configured(f, body_of(f), {w["load1"], w["set1"]});
  expect_same_meaning(f, q, kSmall);
  EXPECT_EQ(count(str(*q), "set1("), 2u) << str(*q);
  EXPECT_EQ(count(str(*q), "Load1."), 0u) << str(*q);
  // Without an instruction for it, fields are written one by one.
  const ProcPtr plain = replace_configured(f, body_of(f), {w["load1"]});
  expect_same_meaning(f, plain, kSmall);
  EXPECT_EQ(count(str(*plain), "Load1.stride = "), 2u) << str(*plain);
  EXPECT_EQ(count(str(*plain), "Load1.fast = True"), 1u) << str(*plain);  // it still holds
}

TEST(Configuration, what_is_set_to_one_value_leaves_the_loops) {
  const World w;
  const ProcPtr f = w["f"];
  ProcPtr q = replace_configured(f, find_loop(f, "i #0"), {w["load0"], w["set0"]});
  q = replace_configured(q, find_loop(q, "i"), {w["load1"], w["set1"]});
  q = hoist_config(q);
  expect_same_meaning(f, q, kSmall);
  ASSERT_EQ(q->body.size(), 3u) << str(*q);
  EXPECT_TRUE(q->body[0]->as<Call>() && q->body[1]->as<Call>() && q->body[2]->as<For>());
}

TEST(Configuration, what_changes_in_a_loop_stays) {
  const World w;
  const ProcPtr f = w["f"];
  ProcPtr q = replace_configured(f, body_of(f), {w["load0"], w["set0"]});
  q = hoist_config(q);
  expect_same_meaning(f, q, kSmall);
  ASSERT_EQ(q->body.size(), 1u) << str(*q);
  EXPECT_EQ(count(str(*q), "set0("), 2u);
}

TEST(Configuration, what_is_set_again_goes) {
  const World w;
  const ProcPtr f = w["f"];
  ProcPtr q = replace_configured(f, find_loop(f, "i #0"), {w["load0"], w["set0"]});
  q = unroll_loop(q, "k");
  EXPECT_EQ(count(str(*q), "set0("), 3u);
  q = hoist_config(q);
  expect_same_meaning(f, q, kSmall);
  EXPECT_EQ(count(str(*q), "set0("), 1u) << str(*q);
}

// A setting that holds data: `one` has one value throughout, the others do not.
constexpr const char* kScales = R"(
@config
class Store:
    scale: f32

@instr("set_scale({x_data});")
def set_scale(x: f32):
    Store.scale = x

@proc
def one(N: size, x: f32, A: f32[N], C: f32[N]):
    for i in seq(0, N):
        Store.scale = x
        C[i] = Store.scale * A[i]

@proc
def one_call(N: size, x: f32, A: f32[N], C: f32[N]):
    for i in seq(0, N):
        set_scale(x)
        C[i] = Store.scale * A[i]

@proc
def changes(N: size, x: f32, A: f32[N], C: f32[N]):
    for i in seq(0, N):
        Store.scale = x
        C[i] = Store.scale * A[i]
        x = A[i]

@proc
def two_calls(N: size, x: f32, y: f32, A: f32[N], C: f32[N]):
    for i in seq(0, N):
        set_scale(x)
        C[i] = Store.scale * A[i]
        set_scale(y)
        A[i] = Store.scale * A[i]
)";

TEST(Configuration, data_is_set_once_where_it_does_not_change) {
  const Module module = parse_module(kScales, "t.exo");
  for (const char* name : {"one", "one_call"}) {
    const ProcPtr p = module.find_proc(name), q = hoist_config(p);
    expect_same_meaning(p, q, kSmall);
    ASSERT_EQ(q->body.size(), 2u) << str(*q);
    EXPECT_TRUE(q->body[1]->as<For>()) << str(*q);
  }
  for (const char* name : {"changes", "two_calls"}) {
    const ProcPtr p = module.find_proc(name), q = hoist_config(p);
    expect_same_meaning(p, q, kSmall);
    EXPECT_EQ(q->body.size(), 1u) << str(*q);
  }
}

}  // namespace
}  // namespace exotune
