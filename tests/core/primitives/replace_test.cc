#include "core/cursor/provenance.h"
#include "core/primitives/unify.h"
#include "tests/core/primitives/differential.h"

namespace exotune::test {
namespace {

const std::vector<Sizes> kSmall{{{"N", 1}}, {{"N", 2}}, {{"N", 5}}};

// The procs of `text` by name; the last is the caller.
struct World {
  Module module;
  explicit World(const std::string& text) : module(parse_module(text, "test.exo")) {}
  ProcPtr operator[](const std::string& name) const { return module.find_proc(name); }
  ProcPtr caller() const { return module.procs.back(); }
};

const char* const kMemory = R"(
@memory
class VEC:
    kind = "vector"
    bytes = 64
    count = 32
    c_types = {"f32": "__m512"}

@instr("load({dst_data}, {src_data});")
def load(dst: [f32][16] @ VEC, src: [f32][16] @ DRAM):
    assert stride(src, 0) == 1
    for i in seq(0, 16):
        dst[i] = src[i]

@instr("fma;")
def fma(dst: [f32][16] @ VEC, a: [f32][16] @ VEC, b: [f32][16] @ VEC):
    for i in seq(0, 16):
        dst[i] += a[i] * b[i]

@instr("bcast;")
def bcast(dst: [f32][16] @ VEC, src: [f32][1] @ DRAM):
    for i in seq(0, 16):
        dst[i] = src[0]

@instr("scalar;")
def bcast_scalar(dst: [f32][16] @ VEC, src: f32 @ DRAM):
    for i in seq(0, 16):
        dst[i] = src

@instr("mask;")
def mask_load(n: size, dst: [f32][16] @ VEC, src: [f32][n] @ DRAM):
    assert n <= 16
    for i in seq(0, 16):
        if i < n:
            dst[i] = src[i]

@instr("mask;")
def mask_free(n: size, dst: [f32][16] @ VEC, src: [f32][n] @ DRAM):
    for i in seq(0, 16):
        if i < n:
            dst[i] = src[i]

@instr("zero;")
def prefix_zero(n: size, dst: [f32][n] @ DRAM):
    for i in seq(0, n):
        dst[i] = 0.0
)";

World world(const std::string& caller) { return World(std::string(kMemory) + caller); }

TEST(Replace, finds_windows_from_the_accesses) {
  World w = world(R"(
@proc
def f(N: size, A: f32[N, 4, 16]):
    for i in seq(0, N):
        for j in seq(0, 4):
            r : f32[4, 16] @ VEC
            for k in seq(0, 16):
                r[j, k] = A[i, j, k]
)");
  ProcPtr p = w.caller();
  ProcPtr q = replace(p, "for k in _: _", w["load"]);
  EXPECT_TRUE(contains(str(*q), "load(r[j, 0:16], A[i, j, 0:16])")) << str(*q);
  expect_same_meaning(p, q, kSmall);
}

TEST(Replace, finds_offsets) {
  World w = world(R"(
@proc
def f(N: size, A: f32[16 * N + 3]):
    for io in seq(0, N):
        r : f32[16] @ VEC
        for ii in seq(0, 16):
            r[ii] = A[16 * io + ii + 3]
)");
  ProcPtr q = replace(w.caller(), "for ii in _: _", w["load"]);
  EXPECT_TRUE(contains(str(*q), "A[16 * io + 3:16 * io + 19]")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
}

// An instruction that adds several numbers up does so in an order of its own; one that adds to each
// element once does not.
TEST(Replace, tells_of_instructions_that_add_up) {
  World w = World(R"(
@instr("sum;")
def sum(dst: [f32][1] @ DRAM, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[0] += src[i]

@instr("run;")
def run(dst: [f32][5] @ DRAM, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[i + 1] = dst[i] + src[i]

@instr("decay;")
def decay(acc: f32 @ DRAM, dst: [f32][4] @ DRAM, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        acc = src[i] + 0.5 * acc
        dst[i] = acc

@instr("add;")
def add(dst: [f32][4] @ DRAM, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        dst[i] += src[i]

@proc
def by_hand(dst: [f32][1], src: [f32][4]):
    for i in seq(0, 4):
        dst[0] += src[i]

@proc
def f(a: f32[4], b: f32[5], c: f32[1], d: f32):
    for i in seq(0, 4):
        c[0] += a[i]
    for j in seq(0, 4):
        b[j + 1] = b[j] + a[j]
    for k in seq(0, 4):
        b[k] += a[k]
    for l in seq(0, 4):
        d = a[l] + 0.5 * d
        b[l] = d
)");
  const ProcPtr p = w.caller();
  EXPECT_TRUE(reassociates(replace(p, "for i in _: _", w["sum"])));
  EXPECT_TRUE(reassociates(replace(p, "for j in _: _", w["run"])));
  EXPECT_TRUE(reassociates(replace(p, "for l in _: _", w["decay"])));
  EXPECT_FALSE(reassociates(replace(p, "for k in _: _", w["add"])));
  EXPECT_FALSE(reassociates(replace(p, "for i in _: _", w["by_hand"])));
}

TEST(Replace, shifts_a_loop_that_starts_elsewhere) {
  World w = world(R"(
@proc
def f(A: f32[20]):
    r : f32[16] @ VEC
    for i in seq(4, 20):
        r[i - 4] = A[i]
)");
  ProcPtr q = replace(w.caller(), "for i in _: _", w["load"]);
  EXPECT_TRUE(contains(str(*q), "load(r[0:16], A[4:20])")) << str(*q);
  expect_same_meaning(w.caller(), q);
}

TEST(Replace, refuses_another_trip_count) {
  World w = world(R"(
@proc
def f(A: f32[16]):
    r : f32[16] @ VEC
    for i in seq(0, 8):
        r[i] = A[i]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["load"]), "bounds or indices");
  EXPECT_FALSE(try_replace(w.caller(), find_loop(w.caller(), "i"), w["load"]));
}

TEST(Replace, commutes_products) {
  World w = world(R"(
@proc
def f(c: f32[16] @ VEC, a: f32[16] @ VEC, b: f32[16] @ VEC):
    for i in seq(0, 16):
        c[i] += b[15 - i] * a[i]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["fma"]), "no window");
  World v = world(R"(
@proc
def f(c: f32[16] @ VEC, a: f32[16] @ DRAM, b: f32[16] @ VEC):
    for i in seq(0, 16):
        c[i] += b[i] * a[i]

@instr("m;")
def fma_mem(dst: [f32][16] @ VEC, x: [f32][16] @ DRAM, y: [f32][16] @ VEC):
    for i in seq(0, 16):
        dst[i] += x[i] * y[i]
)");
  ProcPtr q = replace(v["f"], "for i in _: _", v["fma_mem"]);
  EXPECT_TRUE(contains(str(*q), "fma_mem(c[0:16], a[0:16], b[0:16])")) << str(*q);
  expect_same_meaning(v["f"], q);
}

TEST(Replace, refuses_another_memory) {
  World w = world(R"(
@proc
def f(A: f32[16]):
    r : f32[16]
    for i in seq(0, 16):
        r[i] = A[i]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["load"]), "memory");
}

TEST(Replace, refuses_another_precision) {
  World w = world(R"(
@proc
def f(A: f64[16]):
    r : f32[16] @ VEC
    for i in seq(0, 16):
        r[i] = A[i]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["load"]), "precision");
}

TEST(Replace, refuses_a_column_where_the_callee_wants_stride_one) {
  World w = world(R"(
@proc
def f(A: f32[16, 4], r: f32[16] @ VEC):
    for i in seq(0, 16):
        r[i] = A[i, 2]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["load"]), "stride(src, 0) == 1");
}

TEST(Replace, proves_strides_of_windows_and_asserted_arguments) {
  World w = world(R"(
@proc
def f(A: [f32][16], B: [f32][16], r: f32[16] @ VEC):
    assert stride(A, 0) == 1
    for i in seq(0, 16):
        r[i] = A[i]
    for j in seq(0, 16):
        r[j] = B[j]
)");
  ProcPtr q = replace(w.caller(), "for i in _: _", w["load"]);
  expect_same_meaning(w.caller(), q);
  EXPECT_REFUSED(replace(w.caller(), "for j in _: _", w["load"]), "stride(src, 0) == 1");
}

TEST(Replace, binds_one_element) {
  World w = world(R"(
@proc
def f(N: size, A: f32[4, N], r: f32[16] @ VEC):
    for k in seq(0, N):
        for i in seq(0, 16):
            r[i] = A[2, k]
)");
  ProcPtr q = replace(w.caller(), "for i in _: _", w["bcast"]);
  EXPECT_TRUE(contains(str(*q), "bcast(r[0:16], A[2, k:k + 1])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
  q = replace(w.caller(), "for i in _: _", w["bcast_scalar"]);
  EXPECT_TRUE(contains(str(*q), "bcast_scalar(r[0:16], A[2, k])")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
}

TEST(Replace, solves_for_a_mask) {
  World w = world(R"(
@proc
def f(N: size, A: f32[N], r: f32[16] @ VEC):
    for io in seq(0, (N + 15) / 16):
        for ii in seq(0, 16):
            if 16 * io + ii < N:
                r[ii] = A[16 * io + ii]
)");
  ProcPtr q = replace(w.caller(), "for ii in _: _", w["mask_free"]);
  EXPECT_TRUE(contains(str(*q), "mask_free(N - 16 * io, r[0:16], A[16 * io:N])")) << str(*q);
  expect_same_meaning(w.caller(), q, {{{"N", 1}}, {{"N", 16}}, {{"N", 35}}});
  // The same with `assert n <= 16`, which full iterations break.
  EXPECT_REFUSED(replace(w.caller(), "for ii in _: _", w["mask_load"]), "n <= 16");
}

TEST(Replace, proves_a_mask_where_the_tail_is_short) {
  World w = world(R"(
@proc
def f(N: size, A: f32[N], r: f32[16] @ VEC):
    assert N % 16 == 5
    for ii in seq(0, 16):
        if N / 16 * 16 + ii < N:
            r[ii] = A[N / 16 * 16 + ii]
)");
  ProcPtr q = replace(w.caller(), "for ii in _: _", w["mask_load"]);
  expect_same_meaning(w.caller(), q, {{{"N", 5}}, {{"N", 21}}});
}

TEST(Replace, refuses_a_size_that_may_be_zero) {
  World w = world(R"(
@proc
def f(N: size, A: f32[N]):
    for i in seq(0, N - 1):
        A[i] = 0.0
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["prefix_zero"]), "must be positive");
  World v = world(R"(
@proc
def f(N: size, A: f32[N]):
    assert N > 1
    for i in seq(0, N - 1):
        A[i] = 0.0
)");
  ProcPtr q = replace(v.caller(), "for i in _: _", v["prefix_zero"]);
  EXPECT_TRUE(contains(str(*q), "prefix_zero(N - 1, A[0:N - 1])")) << str(*q);
  expect_same_meaning(v.caller(), q, {{{"N", 2}}, {{"N", 5}}});
}

TEST(Replace, refuses_one_formal_for_two_buffers) {
  World w = world(R"(
@instr("sq;")
def square(dst: [f32][16], a: [f32][16]):
    for i in seq(0, 16):
        dst[i] = a[i] * a[i]

@proc
def f(c: f32[16], a: f32[16], b: f32[16]):
    for i in seq(0, 16):
        c[i] = a[i] * b[i]
)");
  EXPECT_REFUSED(replace(w.caller(), "for i in _: _", w["square"]), "two buffers");
}

TEST(Replace, refuses_overlapping_arguments) {
  World w = world(R"(
@instr("decay;")
def decay(acc: f32 @ DRAM, dst: [f32][4] @ DRAM, src: [f32][4] @ DRAM):
    for i in seq(0, 4):
        acc = src[i] + 0.5 * acc
        dst[i] = acc

@instr("add;")
def add(dst: [f32][16], a: [f32][16], b: [f32][16]):
    for i in seq(0, 16):
        dst[i] = a[i] + b[i]

@proc
def f(c: f32[64], a: f32[16]):
    for i in seq(0, 16):
        c[i] = c[i + 8] + a[i]
    for j in seq(0, 16):
        c[j] = c[j + 16] + a[j]
    for k in seq(0, 16):
        c[k] = a[k] + a[k]
)");
  ProcPtr p = w.caller();
  EXPECT_REFUSED(replace(p, "for i in _: _", w["add"]), "overlap");
  expect_same_meaning(p, replace(p, "for j in _: _", w["add"]));
  expect_same_meaning(p, replace(p, "for k in _: _", w["add"]));
}

TEST(Replace, refuses_other_constants_operators_and_reductions) {
  World w = world(R"(
@instr("op;")
def op(dst: [f32][4], a: [f32][4]):
    for i in seq(0, 4):
        dst[i] += 2.0 * a[i]

@proc
def f(x: f32[4], y: f32[4]):
    for i in seq(0, 4):
        x[i] += 3.0 * y[i]
    for j in seq(0, 4):
        x[j] = 2.0 * y[j]
    for k in seq(0, 4):
        x[k] max= 2.0 * y[k]
    for l in seq(0, 4):
        x[l] += 2.0 * y[3 - l]
)");
  for (const char* loop : {"for i in _: _", "for j in _: _", "for k in _: _", "for l in _: _"})
    EXPECT_FALSE(try_replace(w.caller(), find(w.caller(), loop), w["op"])) << loop;
}

TEST(Replace, matches_several_statements_and_local_buffers) {
  World w = world(R"(
@proc
def twice(n: size, dst: [f32][n], src: [f32][n]):
    t : f32[n]
    for i in seq(0, n):
        t[i] = src[i]
    for i in seq(0, n):
        dst[i] = 2.0 * t[i]

@proc
def f(N: size, x: f32[N], y: f32[N]):
    u : f32[N]
    for a in seq(0, N):
        u[a] = x[a]
    for b in seq(0, N):
        y[b] = 2.0 * u[b]
)");
  ProcPtr p = w.caller();
  ProcPtr q = replace(p, body_of(p), w["twice"]);
  EXPECT_TRUE(contains(str(*q), "twice(N, y[0:N], x[0:N])")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  // A statement stands for as many as the callee has.
  expect_same_meaning(p, replace(p, "u : _", w["twice"]), kSmall);
}

TEST(Replace, refuses_a_local_buffer_used_afterwards) {
  World w = world(R"(
@proc
def fill(n: size, dst: [f32][n]):
    t : f32
    t = 1.0
    for i in seq(0, n):
        dst[i] = t

@proc
def f(N: size, x: f32[N]):
    u : f32
    u = 1.0
    for i in seq(0, N):
        x[i] = u
    x[0] = u
)");
  EXPECT_REFUSED(replace(w.caller(), "u : _", w["fill"]), "used after it");
}

TEST(Replace, wants_whole_buffers_for_dense_formals) {
  World w = world(R"(
@proc
def fill(n: size, dst: f32[n]):
    for i in seq(0, n):
        dst[i] = 1.0

@proc
def f(N: size, x: f32[N], y: f32[N, 8]):
    for i in seq(0, N):
        x[i] = 1.0
    for j in seq(0, 8):
        y[0, j] = 1.0
)");
  ProcPtr q = replace(w.caller(), "for i in _: _", w["fill"]);
  EXPECT_TRUE(contains(str(*q), "fill(N, x)")) << str(*q);
  expect_same_meaning(w.caller(), q, kSmall);
  EXPECT_FALSE(try_replace(w.caller(), find(w.caller(), "for j in _: _"), w["fill"]));
}

TEST(Replace, keeps_apart_names_shared_with_the_callee) {
  // A proc scheduled from the callee shares its symbols.
  World w = world("");
  ProcPtr p = w["prefix_zero"];
  ProcPtr q = replace(
      cut_loop(add_assertion(p, bin_op(BinOpKind::kGt, read_var(p->args[0].name, ScalarType::kSize),
                                       int_const(1))),
               "i", 1),
      "for i in _: _ #1", p);
  EXPECT_TRUE(contains(str(*q), "prefix_zero(n - 1, dst[1:n])")) << str(*q);
  expect_same_meaning(p, q, {{{"n", 2}}, {{"n", 5}}});
}

TEST(Replace, opens_again_by_inline) {
  World w = world(R"(
@proc
def f(N: size, A: f32[N, 4, 16]):
    for i in seq(0, N):
        for j in seq(0, 4):
            r : f32[4, 16] @ VEC
            for k in seq(0, 16):
                r[j, k] = A[i, j, k]
)");
  ProcPtr p = w.caller();
  ProcPtr q = inline_call(replace(p, "for k in _: _", w["load"]), "load(_)");
  EXPECT_TRUE(alpha_equal(p->body, q->body)) << str(*q);
}

TEST(Replace, matches_strides_written_to_configuration) {
  World w(R"(
@config
class Load:
    stride: stride

@instr("setup({s});")
def setup(s: stride):
    Load.stride = s

@instr("load;")
def load(n: size, src: [f32][n, 4], dst: [f32][n, 4]):
    Load.stride = stride(src, 0)
    for i in seq(0, n):
        for j in seq(0, 4):
            dst[i, j] = src[i, j]

@proc
def f(N: size, A: f32[N, 8], B: f32[N, 4]):
    Load.stride = stride(A, 0)
    for i in seq(0, N):
        for j in seq(0, 4):
            B[i, j] = A[i, j + 2]

@proc
def g(N: size, A: f32[N, 8], B: f32[N, 4]):
    Load.stride = stride(B, 0)
    for i in seq(0, N):
        for j in seq(0, 4):
            B[i, j] = A[i, j + 2]
)");
  ProcPtr p = w["f"];
  ProcPtr q = replace(p, "Load.stride = _", w["load"]);
  EXPECT_TRUE(contains(str(*q), "load(N, A[0:N, 2:6], B[0:N, 0:4])")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  q = replace(p, find(p, "Load.stride = _"), w["setup"]);
  EXPECT_TRUE(contains(str(*q), "setup(stride(A, 0))")) << str(*q);
  expect_same_meaning(p, q, kSmall);
  EXPECT_REFUSED(replace(w["g"], "Load.stride = _", w["load"]), "strides differ");
}

TEST(Replace, shapes_tell_bodies_apart) {
  World w = world(R"(
@proc
def f(x: f32[4], y: f32[4]):
    for i in seq(0, 4):
        x[i] += 2.0 * y[i]
    for j in seq(0, 4):
        x[j] += y[j] * 2.0
    for k in seq(0, 4):
        x[k] += y[k] * 3.0
)");
  const Block& b = w.caller()->body;
  EXPECT_EQ(internal::shape_hash(b[0]), internal::shape_hash(b[1]));
  EXPECT_NE(internal::shape_hash(b[0]), internal::shape_hash(b[2]));
}

}  // namespace
}  // namespace exotune::test
