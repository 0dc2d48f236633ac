// The targets that do not run here: their instruction bodies compute what they should, and their C
// has the encodings and addresses of the hardware's documentation.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/subprocess.h"
#include "core/codegen/codegen.h"
#include "core/interp/interp.h"
#include "hw/machine.h"

namespace exotune {
namespace {

/// Procs that call a built-in target's instructions.
struct Code {
  explicit Code(const std::string& target, const std::string& text)
      : library({std::filesystem::path(EXOTUNE_SOURCE_DIR) / "hw"}),
        proc(parse_module("from " + target + " import *\n" + text, "t.exo", library.importer())
                 .user_procs()
                 .at(0)) {}
  std::string c() const { return generate_c({proc}).c; }

  TargetLibrary library;
  ProcPtr proc;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kRvmProduct = R"(
@proc
def product(A: i32[4, 8], B: i32[4, 8], C: i32[4, 4]):
    sum: i32[4, 4] @ RVM_TILE
    rvm_mzero(sum[0:4, 0:4])
    for k in seq(0, 2):
        a: i32[4, 4] @ RVM_TILE
        b: i32[4, 4] @ RVM_TILE
        rvm_mld(a[0:4, 0:4], A[0:4, 4*k:4*k + 4])
        rvm_mld(b[0:4, 0:4], B[0:4, 4*k:4*k + 4])
        rvm_mmasa(sum[0:4, 0:4], b[0:4, 0:4], a[0:4, 0:4])
    rvm_mst(sum[0:4, 0:4], C[0:4, 0:4])
)";

TEST(Rvm, tiles_multiply_by_the_transpose) {
  const Code code("rvm", kRvmProduct);
  Arguments args = make_arguments(*code.proc, {}, 3);
  run(*code.proc, args.values);
  const Buffer &a = *args.buffers[0], &b = *args.buffers[1], &c = *args.buffers[2];
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      double want = 0;
      for (int64_t k = 0; k < 8; ++k) want += a.at({i, k}) * b.at({j, k});
      EXPECT_EQ(c.at({i, j}), want);
    }
}

TEST(Rvm, commands_are_encoded_with_register_numbers_from_the_top) {
  const std::string c = Code("rvm", kRvmProduct).c();
  EXPECT_TRUE(has(c, R"(asm volatile(".insn r 0x2b, 0, 0x7c, x0, x%0, x0" :: "i"(7) : "memory");)"))
      << c;
  EXPECT_TRUE(
      has(c, R"(0x02, x%0, %1, %2" :: "i"(16 + 6), "r"(&A[4 * k]), "r"(4 * 8) : "memory");)"))
      << c;
  EXPECT_TRUE(
      has(c, R"(0x02, x%0, %1, %2" :: "i"(16 + 5), "r"(&B[4 * k]), "r"(4 * 8) : "memory");)"))
      << c;
  // md = m7, ms1 (the rows of the product) = m6, ms2 = m5
  EXPECT_TRUE(
      has(c, R"(0x78, x16, x%0, x%1" :: "i"((6 & 3) * 8 + 7), "i"(5 * 2 + (6 >> 2)) : "memory");)"))
      << c;
  EXPECT_TRUE(has(c, R"(0x06, x%0, %1, %2" :: "i"(16 + 7), "r"(&C[0]), "r"(4 * 4) : "memory");)"))
      << c;
}

TEST(Rvm, a_ninth_tile_is_refused) {
  const Code code("rvm",
                  "@proc\ndef f():\n    t: i32[9, 4, 4] @ RVM_TILE\n    for k in seq(0, 9):\n"
                  "        rvm_mzero(t[k, 0:4, 0:4])\n");
  EXPECT_THROW(code.c(), InputError);
}

constexpr const char* kGemminiProduct = R"(
@proc
def product(A: i8[16, 40], B: i8[40, 12], C: i8[16, 12]):
    sum: i32[16, 16] @ GEMM_ACCUM
    config_matmul()
    config_ld_i8(stride(A, 0))
    config_ld_i8_id1(stride(B, 0))
    config_zero_acc_i32()
    zero_acc_i32(16, 12, sum[0:16, 0:16])
    a: i8[16, 16] @ GEMM_SCRATCH
    b: i8[16, 16] @ GEMM_SCRATCH
    for k in seq(0, 5):
        do_ld_i8(16, 8, A[0:16, 8*k:8*k + 8], a[0:16, 0:16])
        do_ld_i8_id1(8, 12, B[8*k:8*k + 8, 0:12], b[0:8, 0:16])
        do_matmul_acc_i8(16, 12, 8, a[0:16, 0:16], b[0:8, 0:16], sum[0:16, 0:16])
    st_acc_i8(16, 12, sum[0:16, 0:16], C[0:16, 0:12])
)";

TEST(Gemmini, sums_of_products_are_saturated_when_stored) {
  const Code code("gemmini", kGemminiProduct);
  FillOptions fill;
  fill.magnitude = 12;
  Arguments args = make_arguments(*code.proc, {}, 3, fill);
  run(*code.proc, args.values);
  const Buffer &a = *args.buffers[0], &b = *args.buffers[1], &c = *args.buffers[2];
  int saturated = 0;
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 12; ++j) {
      double want = 0;
      for (int64_t k = 0; k < 40; ++k) want += a.at({i, k}) * b.at({k, j});
      saturated += want > 127 || want < -128;
      EXPECT_EQ(c.at({i, j}), std::max(-128.0, std::min(127.0, want)));
    }
  EXPECT_GT(saturated, 10);
}

TEST(Gemmini, a_load_under_another_stride_is_refused) {
  std::string wrong = kGemminiProduct;
  const std::string set = "config_ld_i8(stride(A, 0))";
  wrong.replace(wrong.find(set), set.size(), "config_ld_i8(stride(B, 0))");
  const Code code("gemmini", wrong);
  Arguments args = make_arguments(*code.proc, {}, 3);
  EXPECT_THROW(run(*code.proc, args.values), InterpError);
}

TEST(Gemmini, local_addresses_count_rows) {
  const std::string c = Code("gemmini", kGemminiProduct).c();
  EXPECT_TRUE(has(c, "EXO_GEMMINI(14, 0, EXO_GEMMINI_TILE((0x80000000u + 0 / 64), 16, 12));")) << c;
  EXPECT_TRUE(has(c, "EXO_GEMMINI(1, &B[8 * k * 12], EXO_GEMMINI_TILE((256 / 16), 8, 12));")) << c;
}

/// The C of both goes through a cross compiler where there is one.
TEST(Accelerators, their_c_compiles_with_their_compiler) {
  bool any = false;
  for (const auto& [target, text] :
       {std::pair{"rvm", kRvmProduct}, std::pair{"gemmini", kGemminiProduct}}) {
    Code code(target, text);
    const TargetCompiler compiler = code.library.load(target)->compiler;
    std::string path;
    for (const std::string& program : compiler.programs)
      if (path.empty()) path = find_program(program);
    if (path.empty()) continue;
    any = true;
    const std::string folder = testing::TempDir();
    const CFile file = generate_c({code.proc});
    std::ofstream(folder + "/kernel.c") << file.c;
    std::ofstream(folder + "/kernel.h") << file.h;
    std::vector<std::string> command = {path};
    command.insert(command.end(), compiler.flags.begin(), compiler.flags.end());
    for (const char* flag : {"-Wall", "-Wextra", "-c", "kernel.c", "-o", "kernel.o"})
      command.push_back(flag);
    const CommandResult built = run_command(command, {folder, 60, {}});
    EXPECT_EQ(built.out + built.err, "") << target;
    EXPECT_TRUE(built.ok()) << target;
  }
  if (!any) GTEST_SKIP() << "no cross compiler on PATH";
}

}  // namespace
}  // namespace exotune
