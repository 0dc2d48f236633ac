// Instructions of the accelerators that ship: on the simulator, the C of each does what its body
// says. Skipped where there is no cross compiler.
#include <gtest/gtest.h>

#include "core/base/subprocess.h"
#include "runners/sim/sim_runner.h"
#include "search/problem.h"

namespace exotune {
namespace {

struct Call {
  const char* name;
  const char* target;
  const char* body;  // of a procedure over arguments A, B, ..
};

void PrintTo(const Call& c, std::ostream* out) { *out << c.name; }

class DeviceTexts : public testing::TestWithParam<Call> {};

TEST_P(DeviceTexts, run_as_they_read) {
  if (find_program("riscv64-unknown-elf-gcc").empty()) GTEST_SKIP() << "no cross compiler on PATH";
  TargetLibrary library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"});
  const TargetPtr target = library.load(GetParam().target);
  const std::string text =
      std::string("from ") + GetParam().target + " import *\n@proc\ndef f" + GetParam().body;
  const ProcPtr p = parse_module(text, "t.exo", library.importer()).user_procs().at(0);
  const TuningProblem problem = make_problem(p, {});
  const Candidate c = make_candidate(p, *target, problem);
  SimRunner runner(toolchain_of(*target), SimulatedMachine{target->runner.options.at("isa"),
                                                           target->runner.options.at("extension"),
                                                           target->latency, target->parameters});
  const TrialResult r = runner.run({&c, 1}, problem.test, {})[0];
  EXPECT_TRUE(r.ok()) << r.cause << "\n" << c.c_source;
}

const Call kCalls[] = {
    {"halfwords", "rvm", R"((A: i16[4, 8], B: i16[4, 8], C: i32[4, 4]):
    a: i16[4, 8] @ RVM_TILE
    b: i16[4, 8] @ RVM_TILE
    c: i32[4, 4] @ RVM_TILE
    rvm_mzero(c[0:4, 0:4])
    rvm_mld_h(a[0:4, 0:8], A[0:4, 0:8])
    rvm_mld_h(b[0:4, 0:8], B[0:4, 0:8])
    rvm_mmada(c[0:4, 0:4], b[0:4, 0:8], a[0:4, 0:8])
    rvm_mst(c[0:4, 0:4], C[0:4, 0:4])
)"},
    {"bytes", "rvm", R"((A: i8[4, 16], B: i8[4, 16], C: i32[4, 4]):
    a: i8[4, 16] @ RVM_TILE
    b: i8[4, 16] @ RVM_TILE
    c: i32[4, 4] @ RVM_TILE
    rvm_mzero(c[0:4, 0:4])
    rvm_mld_b(a[0:4, 0:16], A[0:4, 0:16])
    rvm_mld_b(b[0:4, 0:16], B[0:4, 0:16])
    rvm_mmaqa(c[0:4, 0:4], b[0:4, 0:16], a[0:4, 0:16])
    rvm_mst(c[0:4, 0:4], C[0:4, 0:4])
)"},
    {"floats", "rvm", R"((A: f32[4, 4], B: f32[4, 4], C: f32[4, 4]):
    a: f32[4, 4] @ RVM_TILE
    b: f32[4, 4] @ RVM_TILE
    c: f32[4, 4] @ RVM_TILE
    rvm_mzero_f(c[0:4, 0:4])
    rvm_mld_f(a[0:4, 0:4], A[0:4, 0:4])
    rvm_mld_f(b[0:4, 0:4], B[0:4, 0:4])
    rvm_fmmacc(c[0:4, 0:4], b[0:4, 0:4], a[0:4, 0:4])
    rvm_mst_f(c[0:4, 0:4], C[0:4, 0:4])
)"},
    {"bias", "gemmini", R"((A: i8[5, 16], B: i8[16, 7], bias: i32[7], C: i8[5, 7], D: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    config_ld_bias_i32()
    do_ld_bias_i32(5, 7, bias[0:7], c[0:5, 0:16])
    ld_i8(5, 16, A[0:5, 0:16], a[0:5, 0:16])
    ld_i8_id1(16, 7, B[0:16, 0:7], b[0:16, 0:16])
    matmul_acc_i8(5, 7, 16, a[0:5, 0:16], b[0:16, 0:16], c[0:5, 0:16])
    st_acc_i8(5, 7, c[0:5, 0:16], C[0:5, 0:7])
    st_acc_i32(5, 7, c[0:5, 0:16], D[0:5, 0:7])
)"},
    {"second_transposed", "gemmini", R"((A: i8[5, 9], B: i8[7, 9], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(5, 9, A[0:5, 0:9], a[0:5, 0:16])
    ld_i8_id1(7, 9, B[0:7, 0:9], b[0:7, 0:16])
    config_zero_acc_i32()
    zero_acc_i32(5, 7, c[0:5, 0:16])
    config_matmul_bt()
    do_matmul_acc_i8_bt(5, 7, 9, a[0:5, 0:16], b[0:7, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"first_transposed", "gemmini", R"((A: i8[9, 5], B: i8[9, 7], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(9, 5, A[0:9, 0:5], a[0:9, 0:16])
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    config_zero_acc_i32()
    zero_acc_i32(5, 7, c[0:5, 0:16])
    config_matmul_at()
    do_matmul_acc_i8_at(5, 7, 9, a[0:9, 0:16], b[0:9, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"scaled_load_and_byte_sums", "gemmini",
     R"((s: f32, A: i8[5, 9], B: i8[9, 7], I: i8[5, 7], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    config_ld_scaled_i8(stride(A, 0), s)
    do_ld_scaled_i8(5, 9, A[0:5, 0:9], a[0:5, 0:16])
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    config_ld_acc_i8(stride(I, 0))
    do_ld_acc_i8(5, 7, I[0:5, 0:7], c[0:5, 0:16])
    matmul_acc_i8(5, 7, 9, a[0:5, 0:16], b[0:9, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"many_tiles_by_one_of_weights", "gemmini", R"((A: i8[3, 5, 9], B: i8[9, 7], C: i32[3, 5, 7]):
    a: i8[3, 16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[3, 16, 16] @ GEMM_ACCUM
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    for t in seq(0, 3):
        ld_i8(5, 9, A[t, 0:5, 0:9], a[t, 0:5, 0:16])
        config_zero_acc_i32()
        zero_acc_i32(5, 7, c[t, 0:5, 0:16])
    config_matmul()
    do_matmul_acc_i8_tiles(3, 5, 7, 9, a[0:3, 0:5, 0:16], b[0:9, 0:16], c[0:3, 0:5, 0:16])
    for t in seq(0, 3):
        st_acc_i32(5, 7, c[t, 0:5, 0:16], C[t, 0:5, 0:7])
)"},
    {"new_sums_of_many_tiles", "gemmini", R"((A: i8[3, 5, 9], B: i8[9, 7], C: i32[3, 5, 7]):
    a: i8[3, 16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[3, 16, 16] @ GEMM_ACCUM
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    for t in seq(0, 3):
        ld_i8(5, 9, A[t, 0:5, 0:9], a[t, 0:5, 0:16])
    config_matmul()
    do_matmul_i8_tiles(3, 5, 7, 9, a[0:3, 0:5, 0:16], b[0:9, 0:16], c[0:3, 0:5, 0:16])
    do_matmul_i8_tiles(3, 5, 7, 9, a[0:3, 0:5, 0:16], b[0:9, 0:16], c[0:3, 0:5, 0:16])
    for t in seq(0, 3):
        st_acc_i32(5, 7, c[t, 0:5, 0:16], C[t, 0:5, 0:7])
)"},
    {"new_sums_second_transposed", "gemmini", R"((A: i8[5, 9], B: i8[7, 9], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(5, 9, A[0:5, 0:9], a[0:5, 0:16])
    ld_i8_id1(7, 9, B[0:7, 0:9], b[0:7, 0:16])
    config_matmul_bt()
    do_matmul_i8_bt(5, 7, 9, a[0:5, 0:16], b[0:7, 0:16], c[0:5, 0:16])
    do_matmul_i8_bt(5, 7, 9, a[0:5, 0:16], b[0:7, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"new_sums_first_transposed", "gemmini", R"((A: i8[9, 5], B: i8[9, 7], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(9, 5, A[0:9, 0:5], a[0:9, 0:16])
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    config_matmul_at()
    do_matmul_i8_at(5, 7, 9, a[0:9, 0:16], b[0:9, 0:16], c[0:5, 0:16])
    do_matmul_i8_at(5, 7, 9, a[0:9, 0:16], b[0:9, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"factors_of_the_other_settings", "gemmini",
     R"((s: f32, t: f32, A: i8[5, 9], B: i8[9, 7], I: i8[5, 7], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(5, 9, A[0:5, 0:9], a[0:5, 0:16])
    config_ld_scaled_i8_id1(stride(B, 0), s)
    do_ld_scaled_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    config_ld_acc_scaled_i8(stride(I, 0), t)
    do_ld_acc_scaled_i8(5, 7, I[0:5, 0:7], c[0:5, 0:16])
    matmul_acc_i8(5, 7, 9, a[0:5, 0:16], b[0:9, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"repeated_pixels", "gemmini", R"((A: i8[10, 4], B: i8[16, 7], C: i32[7, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    config_ld_repeated_i8(stride(A, 0))
    do_ld_repeated_i8(10, A[0:10, 0:4], a[0:13, 0:16])
    ld_i8_id1(16, 7, B[0:16, 0:7], b[0:16, 0:16])
    config_zero_acc_i32()
    zero_acc_i32(7, 7, c[0:7, 0:16])
    matmul_acc_i8(7, 7, 16, a[3:10, 0:16], b[0:16, 0:16], c[0:7, 0:16])
    st_acc_i32(7, 7, c[0:7, 0:16], C[0:7, 0:7])
)"},
    {"sums_that_begin_with_bytes", "gemmini",
     R"((A: i8[5, 9], B: i8[9, 7], D: i8[5, 7], C: i32[5, 7]):
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    d: i8[16, 16] @ GEMM_SCRATCH
    c: i32[16, 16] @ GEMM_ACCUM
    ld_i8(5, 9, A[0:5, 0:9], a[0:5, 0:16])
    ld_i8(5, 7, D[0:5, 0:7], d[0:5, 0:16])
    ld_i8_id1(9, 7, B[0:9, 0:7], b[0:9, 0:16])
    config_matmul()
    do_matmul_add_i8(5, 7, 9, a[0:5, 0:16], b[0:9, 0:16], d[0:5, 0:16], c[0:5, 0:16])
    st_acc_i32(5, 7, c[0:5, 0:16], C[0:5, 0:7])
)"},
    {"pooled_bytes", "gemmini", R"((A: i8[2, 6, 9], C: i8[3, 9]):
    a: i8[2, 6, 16] @ GEMM_SCRATCH
    for y in seq(0, 2):
        ld_i8(6, 9, A[y, 0:6, 0:9], a[y, 0:6, 0:16])
    config_st_pool2_i8(3, stride(C, 0))
    do_st_pool2_i8(3, 9, a[0:2, 0:6, 0:16], C[0:3, 0:9])
)"},
    {"pooled", "gemmini", R"((A: i32[2, 6, 9], C: i8[3, 9]):
    c: i32[2, 6, 16] @ GEMM_ACCUM
    for y in seq(0, 2):
        ld_acc_i32(6, 9, A[y, 0:6, 0:9], c[y, 0:6, 0:16])
    st_pool2_acc_i8(3, 9, c[0:2, 0:6, 0:16], C[0:3, 0:9])
)"},
    {"pooled_after_a_factor", "gemmini", R"((s: f32, A: i32[2, 6, 9], C: i8[3, 9]):
    c: i32[2, 6, 16] @ GEMM_ACCUM
    config_ld_acc_i32(stride(A, 1))
    for y in seq(0, 2):
        do_ld_acc_i32(6, 9, A[y, 0:6, 0:9], c[y, 0:6, 0:16])
    config_st_pool2_scaled_i8(3, stride(C, 0), s, True)
    do_st_pool2_scaled_i8(3, 9, c[0:2, 0:6, 0:16], C[0:3, 0:9])
)"},
};

INSTANTIATE_TEST_SUITE_P(Shipped, DeviceTexts, testing::ValuesIn(kCalls),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace exotune
