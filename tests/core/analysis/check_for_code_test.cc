// What code can be made of: memories, instructions, precisions of arguments, storage, threads.
#include <gtest/gtest.h>

#include "text.h"

namespace exotune {
namespace {
using testing::refusal;

constexpr const char* kVector = R"(
@memory
class VEC:
    kind = "vector"
    bytes = 64
@instr("load({dst_data}, {src_data});")
def load(dst: [f32][16] @ VEC, src: [f32][16] @ DRAM):
    assert stride(src, 0) == 1
    for i in seq(0, 16):
        dst[i] = src[i]
)";

TEST(CheckForCode, instructions_touch_vectors) {
  EXPECT_EQ(refusal(std::string(kVector) + R"(
@proc
def f(A: f32[64]):
    v: f32[4, 16] @ VEC
    for i in seq(0, 4):
        load(v[i, 0:16], A[16 * i:16 * i + 16])
)",
                    true),
            "");
}

TEST(CheckForCode, code_does_not_touch_vectors) {
  const std::string text = std::string(kVector) + R"(
@proc
def f(A: f32[16]):
    v: f32[16] @ VEC
    for i in seq(0, 16):
        v[i] = A[i]
)";
  EXPECT_EQ(refusal(text), "");
  EXPECT_EQ(refusal(text, true), "v is in VEC, which only instructions may touch");
}

TEST(CheckForCode, vectors_are_as_wide_as_their_register) {
  EXPECT_EQ(refusal(std::string(kVector) + R"(
@proc
def f(A: f32[16]):
    v: f32[8] @ VEC
    pass
)",
                    true),
            "v in VEC: the last dimension is 8, a vector of f32 has 16 lanes");
}

TEST(CheckForCode, memories_of_arguments_fit) {
  EXPECT_EQ(refusal(std::string(kVector) + R"(
@proc
def f(A: f32[16]):
    v: f32[16]
    load(v, A)
)",
                    true),
            "argument dst of load is in VEC, but v is in DRAM");
}

TEST(CheckForCode, precisions_of_arguments_fit) {
  EXPECT_EQ(refusal(std::string(kVector) + R"(
@proc
def f(A: f64[16]):
    v: f32[16] @ VEC
    load(v, A)
)",
                    true),
            "argument src of load is f32, not f64");
}

TEST(CheckForCode, strided_columns_break_the_stride_assert) {
  EXPECT_EQ(refusal(std::string(kVector) + R"(
@proc
def f(A: f32[16, 16]):
    v: f32[16] @ VEC
    load(v, A[0:16, 0])
)",
                    true),
            "load asserts stride(src, 0) == 1: stride(A, 0) == 1 never holds");
}

constexpr const char* kDevice = R"(
@memory
class PAD:
    kind = "scratchpad"
    bytes = 64
    alignment = 16

@memory
class TILE:
    kind = "register_file"
    count = 2
    shape = [4]

@instr("fill({p_data});")
def fill(p: [f32][16] @ PAD):
    for i in seq(0, 16):
        p[i] = 0.0

@instr("zero({t_reg});")
def zero(t: [f32][4] @ TILE):
    for i in seq(0, 4):
        t[i] = 0.0

@instr("sum({t_reg}, {to_data});")
def sum(t: [f32][4] @ TILE, to: [f32][4] @ DRAM):
    for i in seq(0, 4):
        to[i] = t[i]

@proc
def pads():
    p: f32[16] @ PAD
    fill(p)

)";

TEST(CheckForCode, memory_is_counted_on_what_is_live) {
  EXPECT_EQ(refusal(std::string(kDevice) + R"(
@proc
def f():
    p: f32[16] @ PAD
    fill(p)
    q: f32[16] @ PAD
    fill(q)
    for i in seq(0, 3):
        t: f32[2, 4] @ TILE
        zero(t[0, 0:4])
        zero(t[1, 0:4])
    u: f32[2, 4] @ TILE
    zero(u[0, 0:4])
)",
                    true),
            "");
  EXPECT_EQ(refusal(std::string(kDevice) + R"(
@proc
def f():
    p: f32[16] @ PAD
    fill(p)
    q: f32[16] @ PAD
    fill(q)
    fill(p)
)",
                    true),
            "`q` does not fit: 128 bytes of PAD are in use at once, it has 64");
  EXPECT_EQ(refusal(std::string(kDevice) + R"(
@proc
def f():
    p: f32[16] @ PAD
    fill(p)
    pads()
    fill(p)
)",
                    true),
            "`f` and its callee `pads` both use PAD");
}

TEST(CheckForCode, threads_do_not_share_scratchpads_or_registers) {
  const std::string hint = "all threads have one PAD";
  const std::string allocates = refusal(std::string(kDevice) + R"(
@proc
def f():
    for i in par(0, 2):
        for j in seq(0, 2):
            p: f32[16] @ PAD
            fill(p)
)",
                                        true);
  EXPECT_EQ(allocates, "`p` in PAD is allocated in a parallel loop: " + hint);
  const std::string calls = refusal(std::string(kDevice) + R"(
@proc
def f():
    for i in par(0, 2):
        pads()
)",
                                    true);
  EXPECT_EQ(calls, "`pads` allocates in PAD and is called in a parallel loop: " + hint);
  EXPECT_EQ(refusal(std::string(kDevice) + R"(
@proc
def f(A: f32[8, 4]):
    t: f32[4] @ TILE
    zero(t)
    for i in par(0, 8):
        sum(t, A[i, 0:4])
)",
                    true),
            "`t` is a register of the thread in front of the parallel loop, used in it by others");
  EXPECT_EQ(refusal(std::string(kDevice) + R"(
@proc
def f(A: f32[8, 4]):
    for i in par(0, 8):
        t: f32[4] @ TILE
        zero(t)
        sum(t, A[i, 0:4])
)",
                    true),
            "");
}
}  // namespace
}  // namespace exotune
