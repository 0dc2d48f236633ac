// Loops over elements as users write them (literals, scalars, functions, integers, maxima) become
// vector code on every native target with vectors, by the library alone; the result means the same.
#include <gtest/gtest.h>

#include "core/codegen/codegen.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/arithmetic.h"
#include "core/library/blocking.h"
#include "core/library/contraction.h"
#include "core/library/gemm.h"
#include "core/library/level1.h"
#include "core/library/level2.h"
#include "core/library/transposition.h"
#include "hw/target.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

struct Formula {
  const char* name;
  const char* statement;  // of `for i in seq(0, N)`, over x, y: T[N], c: T, m: T[1]
  const char* types;      // of the elements
};
const Formula kFormulas[] = {
    {"scale", "y[i] = x[i] * 3.0", "f32 f64 i32"},
    {"third", "y[i] = x[i] / 3.0", "f32 f64"},
    {"line", "y[i] = 2.0 * x[i] + 1.0", "f32 f64 i32"},
    {"reciprocal", "y[i] = 1.0 / (x[i] + 100.0)", "f32 f64"},
    {"count", "y[i] += 1.0", "f32 f64 i32"},
    {"fill", "y[i] = 1.5", "f32 f64"},
    {"first", "y[i] += 2.0 * x[i] + m[0]", "f32 f64 i32"},
    {"bias", "y[i] = x[i] + c * 2.0", "f32 f64 i32"},
    {"in_place", "y[i] = relu(y[i])", "f32 f64"},
    {"negative", "y[i] = -y[i]", "f32 f64 i32"},
    {"functions", "y[i] = sqrt(fabs(x[i])) - fmax(y[i], 0.0)", "f32 f64"},
    {"leaky", "y[i] = select(x[i], 0.0, 0.1 * x[i], x[i])", "f32 f64"},
    {"stencil", "y[i] = 0.2 * (x[i] + y[i]) + 0.6 * x[i]", "f32 f64"},
    {"polynomial", "y[i] = x[i] * (0.5 + x[i] * (0.25 + x[i] * x[i] * (-0.125 + x[i] * 0.0625)))",
     "f32 f64"},
    {"share", "y[i] = x[i] / f32(N) + y[i]", "f32"},
    {"times_a_size", "y[i] += x[i] * f64(N + 1)", "f64"},
    {"sum", "m[0] += x[i] * 2.0", "f32 f64 i32"},
    {"top", "m[0] max= x[i]", "f32 f64 i32"},
    {"largest", "m[0] max= fabs(x[i])", "f32 f64"},
};

ProcPtr formula(const Formula& f, const std::string& type) {
  const std::string text =
      "@proc\ndef f(N: size, x: T[N], y: T[N], c: T, m: T[1]):\n"
      "    for i in seq(0, N):\n        ";
  std::string typed = text + f.statement + "\n";
  for (size_t at = 0; (at = typed.find(": T", at)) != std::string::npos; ++at)
    typed.replace(at + 2, 1, type);
  return parse_module(typed, "formula.exo").procs.back();
}

TargetLibrary& library() {
  static TargetLibrary kLibrary({fs::path(EXOTUNE_SOURCE_DIR) / "hw"});
  return kLibrary;
}

VectorUnit unit_of(const Target& target, const std::string& type) {
  return {target.lanes_of(*scalar_type(type)), target.vector_memory, target.instructions(), {}};
}

void expect_same(const ProcPtr& p, const ProcPtr& q, const std::map<std::string, int64_t>& sizes) {
  Arguments expected = make_arguments(*p, sizes, 3), got = copy_of(expected);
  InterpOptions exact;
  exact.arithmetic = Arithmetic::kExact;
  exact.poison = PoisonPolicy::kPropagate;
  run(*p, expected.values, exact);
  run(*q, got.values, exact);
  ASSERT_EQ(first_difference(expected, got, 1e-9), "");
}

class VectorizedFormulas : public testing::TestWithParam<std::string> {};

TEST_P(VectorizedFormulas, mean_the_same) {
  const TargetPtr target = library().load(GetParam());
  for (const Formula& f : kFormulas)
    for (const char* type : {"f32", "f64", "i32"}) {
      if (std::string(f.types).find(type) == std::string::npos) continue;
      SCOPED_TRACE(std::string(f.name) + " " + type);
      const ProcPtr p = formula(f, type);
      const VectorUnit unit = unit_of(*target, type);
      ProcPtr fast;
      ASSERT_NO_THROW(fast = optimize_level_1(p, "i", unit, 2));
      ASSERT_NO_THROW((void)generate_c({fast}));
      for (const int64_t n : {1, 16, 37}) expect_same(p, fast, {{"N", n}});
    }
}

// Doubles beside what is narrower: as many lanes as there are doubles, the rest in half registers.
TEST(MixedFormulas, mean_the_same) {
  const char* const statements[] = {
      "w[i] = x[i] * y[i] - x[i] * 2.0",
      "s[0] += f64(x[i] * y[i]) * f64(k[i])",
      "w[i] += f64(select(x[i], c, x[i], y[i])) / f64(k[i] + 3)",
      "k[i] = select(k[i], 5, k[i] * 2, i32(h[i]))\n        w[i] = f64(k[i]) * 0.5",
      "y[i] = sqrt(fabs(x[i])) + f32(w[i] * w[i])",
      "x[i] = f32(k[i]) * y[i]\n        s[0] += w[i] * f64(x[i])",
      "w[i] = fmax(x[i], y[i]) - relu(x[i]) / c\n        k[i] = w[i] * 4.0",
      "w[i] = f64(h[i]) + f64(b[i]) * 3.0",
      "y[i] = 1.0 / sqrt(fabs(x[i]) + 1.0)\n        w[i] = 2.0 / x[i] - x[i] / sqrt(y[i])",
  };
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = library().load(name);
    const VectorUnit unit = unit_of(*target, "f64");
    for (const char* statement : statements) {
      SCOPED_TRACE(name + std::string(": ") + statement);
      const ProcPtr p = parse_module(
                            "@proc\ndef f(N: size, x: f32[N], y: f32[N], w: f64[N], k: i32[N], "
                            "h: i16[N], b: ui8[N], c: f32, s: f64[1]):\n"
                            "    for i in seq(0, N):\n        " +
                                std::string(statement) + "\n",
                            "mixed.exo")
                            .procs.back();
      ProcPtr fast;
      ASSERT_NO_THROW(fast = optimize_level_1(p, "i", unit, 1));
      const std::string registers =
          "[" + std::to_string(unit.lanes) + "] @ " + target->vector_memory->name;
      EXPECT_NE(str(*fast).find(registers), std::string::npos) << str(*fast);
      ASSERT_NO_THROW((void)generate_c({fast}));
      for (const int64_t n : {1, 16, 37}) expect_same(p, fast, {{"N", n}});
    }
  }
}

// What is counted is converted lane by lane, and then added.
TEST(VectorizedCounts, mean_the_same) {
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = library().load(name);
    for (const std::string type : {"f32", "f64"}) {
      SCOPED_TRACE(name + (" " + type));
      const ProcPtr p = parse_module("@proc\ndef f(N: size, x: " + type + "[N], c: " + type +
                                         ", q: i32[1]):\n    for i in seq(0, N):\n"
                                         "        q[0] += select(c, x[i], 3.0, 0.0)\n",
                                     "count.exo")
                            .procs.back();
      const ProcPtr fast = optimize_level_1(convert_ahead(p), "i", unit_of(*target, type), 2);
      const std::string sums = "i32[" + std::to_string(target->lanes_of(*scalar_type(type))) + "]";
      EXPECT_NE(str(*fast).find(sums), std::string::npos) << str(*fast);
      ASSERT_NO_THROW((void)generate_c({fast}));
      for (const int64_t n : {1, 16, 37}) expect_same(p, fast, {{"N", n}});
    }
  }
}

// Numbers of elements as data: one instruction a vector, where 32 bits are proved to hold them.
TEST(VectorizedIndices, come_as_ramps) {
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = library().load(name);
    for (const std::string type : {"f32", "f64", "i32"}) {
      SCOPED_TRACE(name + (" " + type));
      const auto formula = [&](const std::string& bound) {
        return parse_module("@proc\ndef f(x: " + type + "[5, 37], y: " + type +
                                "[5, 37]):\n    for j in seq(0, 5):\n"
                                "        for i in seq(0, 37):\n            y[j, i] = x[j, i] * " +
                                type + "(" + bound + ")\n",
                            "ramp.exo")
            .procs.back();
      };
      const VectorUnit unit = unit_of(*target, type);
      const ProcPtr p = formula("8 * j + i - 3");
      const ProcPtr fast = optimize_level_1(p, "i", unit, 1);
      int ramps = 0;
      for_each_stmt(fast->body, [&](const StmtPtr& s) {
        if (const Call* c = s->as<Call>())
          ramps += c->callee->name.find("ramp") != std::string::npos;
      });
      EXPECT_GE(ramps, 1);
      expect_same(p, fast, {});
      // More than 32 bits.
      EXPECT_THROW((void)optimize_level_1(formula("i + 2147483647"), "i", unit, 1),
                   SchedulingError);
    }
  }
}

TEST(VectorizedStores, narrow_numbers_and_integers) {
  for (const char* name : {"avx2", "avx512"}) {
    const TargetPtr target = library().load(name);
    for (const char* from : {"f32", "i32"})
      for (const char* to : {"i8", "ui8", "i16", "ui16", "i32"}) {
        if (std::string(from) == to) continue;
        SCOPED_TRACE(std::string(name) + " " + from + " to " + to);
        const ProcPtr p =
            parse_module("@proc\ndef f(N: size, x: " + std::string(from) + "[N], y: " + to +
                             "[N]):\n    for i in seq(0, N):\n"
                             "        y[i] = x[i] * 3.0 + 7.0\n",
                         "narrow.exo")
                .procs.back();
        ProcPtr fast;
        ASSERT_NO_THROW(fast = optimize_level_1(p, "i", unit_of(*target, from), 2));
        int stores = 0;
        for_each_stmt(fast->body, [&](const StmtPtr& s) {
          if (const Call* c = s->as<Call>())
            stores += c->callee->args.front().type.scalar == *scalar_type(to);
        });
        EXPECT_GT(stores, 0);
        for (const int64_t n : {1, 16, 37}) expect_same(p, fast, {{"N", n}});
      }
  }
}

TEST_P(VectorizedFormulas, tails_compute_whole_registers) {
  const TargetPtr target = library().load(GetParam());
  const ProcPtr p = formula(kFormulas[2], "f32");
  const ProcPtr q = vectorize(p, "i", unit_of(*target, "f32"), VectorTail::kPredicate);
  // One masked load, one masked store; what is between needs no mask.
  int masked = 0;
  for_each_stmt(q->body, [&](const StmtPtr& s) {
    if (const Call* c = s->as<Call>()) masked += c->callee->name.find("mask") != std::string::npos;
  });
  EXPECT_EQ(masked, 2);
  expect_same(p, q, {{"N", 21}});
}

TEST_P(VectorizedFormulas, maxima_of_rows) {
  const TargetPtr target = library().load(GetParam());
  const ProcPtr p = parse_module(
                        "@proc\ndef f(N: size, M: size, A: f32[N, M], m: f32[N]):\n"
                        "    for i in seq(0, N):\n        for j in seq(0, M):\n"
                        "            m[i] max= A[i, j]\n",
                        "rows.exo")
                        .procs.back();
  const ProcPtr q = optimize_level_2(p, "i", "j", unit_of(*target, "f32"), 4, 2);
  expect_same(p, q, {{"N", 5}, {"M", 37}});
  expect_same(p, q, {{"N", 9}, {"M", 3}});
}

TEST_P(VectorizedFormulas, tiles_are_transposed_in_registers) {
  const TargetPtr target = library().load(GetParam());
  const ProcPtr p = parse_module(
                        "@proc\ndef f(N: size, M: size, A: f32[N, M], B: f32[M, N]):\n"
                        "    for i in seq(0, M):\n        for j in seq(0, N):\n"
                        "            B[i, j] = A[j, i]\n",
                        "turn.exo")
                        .procs.back();
  int used = 0;
  for (const ProcPtr& instr : target->instructions()) {
    const bool turns = instr->name.find("transpose") != std::string::npos;
    if (!turns || instr->args[0].type.scalar != ScalarType::kF32) continue;
    const ProcPtr q = tile_to_instr(p, "i", instr);
    expect_same(p, q, {{"N", 37}, {"M", 21}});
    expect_same(p, q, {{"N", 3}, {"M", 50}});
    ++used;
  }
  EXPECT_GT(used, 0);
}

TEST_P(VectorizedFormulas, the_second_factor_of_a_times_b_transposed_is_turned_over) {
  const TargetPtr target = library().load(GetParam());
  const ProcPtr p = parse_module(
                        "@proc\ndef f(M: size, N: size, K: size, A: f32[M, K], B: f32[N, K], "
                        "C: f32[M, N]):\n"
                        "    for i in seq(0, M):\n        for j in seq(0, N):\n"
                        "            for k in seq(0, K):\n"
                        "                C[i, j] += A[i, k] * B[j, k]\n",
                        "gemm_nt.exo")
                        .procs.back();
  const VectorUnit unit = unit_of(*target, "f32");
  ProcPtr q = pack_transposed(p, "B", "i", unit.instrs);
  bool turned = false;
  for_each_stmt(q->body, [&](const StmtPtr& s) {
    turned = turned || (s->as<Call>() && is_transpose(*s->as<Call>()->callee));
  });
  EXPECT_TRUE(turned);
  GemmBlocks blocks;
  blocks.nr = unit.lanes;
  q = gemm(q, "i", "j", "k", unit, blocks);
  expect_same(p, q, {{"M", 7}, {"N", 37}, {"K", 21}});
}

TEST_P(VectorizedFormulas, strips_of_a_transposed_factor_are_turned_over_as_they_are_packed) {
  const TargetPtr target = library().load(GetParam());
  for (const char* type : {"f32", "f64"}) {
    std::string text =
        "@proc\ndef f(M: size, N: size, K: size, A: T[M, K], B: T[N, K], C: T[M, N]):\n"
        "    for i in seq(0, M):\n        for j in seq(0, N):\n"
        "            for k in seq(0, K):\n"
        "                C[i, j] += A[i, k] * B[j, k]\n";
    for (size_t at = 0; (at = text.find(": T", at)) != std::string::npos; ++at)
      text.replace(at + 2, 1, type);
    const ProcPtr p = parse_module(text, "gemm_nt.exo").procs.back();
    const VectorUnit unit = unit_of(*target, type);
    if (unit.lanes <= 1) continue;
    const ProcPtr q = pack_operand(p, "B", "i", 2 * unit.lanes, unit, "i0", 0);
    int turned = 0;
    for_each_stmt(q->body, [&](const StmtPtr& s) {
      turned += s->as<Call>() && is_transpose(*s->as<Call>()->callee);
    });
    EXPECT_GT(turned, 0) << type;
    expect_same(p, q, {{"M", 2}, {"N", 37}, {"K", 21}});
  }
}

TEST_P(VectorizedFormulas, products_of_any_size_in_cache_blocks) {
  const TargetPtr target = library().load(GetParam());
  const ProcPtr p = parse_module(
                        "@proc\ndef f(M: size, N: size, K: size, A: f32[M, K], B: f32[K, N], "
                        "C: f32[M, N]):\n"
                        "    for i in seq(0, M):\n        for j in seq(0, N):\n"
                        "            for k in seq(0, K):\n"
                        "                C[i, j] += A[i, k] * B[k, j]\n",
                        "gemm.exo")
                        .procs.back();
  const VectorUnit unit = unit_of(*target, "f32");
  GemmBlocks blocks;
  blocks.mr = 6;
  blocks.nr = unit.lanes;
  blocks.kc = 16;
  blocks.mc = 12;
  const ProcPtr q = gemm(p, "i", "j", "k", unit, blocks);
  ASSERT_NO_THROW((void)generate_c({q}));
  expect_same(p, q, {{"M", 17}, {"N", 37}, {"K", 21}});
  expect_same(p, q, {{"M", 1}, {"N", 1}, {"K", 1}});
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorizedFormulas, testing::Values("avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace exotune
