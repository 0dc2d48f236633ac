// Specs read off procs, and layouts of tiles.
#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "search/dp/lift.h"
#include "search/dp/limits.h"
#include "search/dp/machine.h"
#include "search/dp/spelled_nest.h"
#include "tests/search/same_result.h"

namespace exotune {
namespace {

ProcPtr proc(const std::string& body) { return parse_module(body, "nest.exo").procs.front(); }

TEST(DpLift, a_product_is_read_with_its_sums_and_subscripts) {
  const auto nest = lift_nest(*proc(R"(
@proc
def f(A: f32[4, 6], B: f32[6, 8], C: f32[4, 8]):
    for i in seq(0, 4):
        for j in seq(0, 8):
            for k in seq(0, 6):
                C[i, j] += A[i, k] * B[k, j]
)"));
  ASSERT_TRUE(nest);
  EXPECT_EQ(nest->kind.statement, "+= $0 * $1");
  EXPECT_EQ(nest->extents, (std::vector<int64_t>{4, 8, 6}));
  EXPECT_EQ(nest->kind.reduction, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(nest->buffers[2].name(), "C");
}

TEST(DpLift, a_convolution_is_read_with_its_rows_vectors_and_taps) {
  const auto nest = lift_nest(*proc(R"(
@proc
def f(I: f32[5, 11, 4], W: f32[3, 3, 4, 8], O: f32[2, 9, 8]):
    for y in seq(0, 2):
        for x in seq(0, 9):
            for k in seq(0, 8):
                for r in seq(0, 3):
                    for s in seq(0, 3):
                        for c in seq(0, 4):
                            O[y, x, k] += I[2 * y + r, x + s, c] * W[r, s, c, k]
)"));
  ASSERT_TRUE(nest);
  const SpecKind& kind = nest->kind;
  EXPECT_EQ(kind.row_loop(), 1);
  EXPECT_EQ(kind.vector_loop(), 2);
  std::vector<bool> taps;
  for (int d = 0; d < kind.dims(); ++d) taps.push_back(kind.is_tap(d));
  EXPECT_EQ(taps, (std::vector<bool>{false, false, false, true, true, false}));
  EXPECT_TRUE(kind.operands[0].has_halo());
  EXPECT_FALSE(kind.operands[1].has_halo());
}

TEST(DpLift, a_nest_that_is_no_spec_is_refused) {
  EXPECT_FALSE(lift_nest(*proc(R"(
@proc
def f(x: f32[8]):
    for i in seq(0, 7):
        x[i + 1] = x[i]
)")));
  EXPECT_FALSE(lift_nest(*proc(R"(
@proc
def f(x: f32[8], y: f32[8]):
    for i in seq(0, 8):
        x[i] = 0.0
        y[i] = 0.0
)")));
  // Converted on the way to another type than the result's.
  EXPECT_FALSE(lift_nest(*proc(R"(
@proc
def f(x: bf16[8], y: f64[8]):
    for i in seq(0, 8):
        a: f32
        b: f64
        a = x[i]
        b = a
        y[i] = b
)")));
}

// Lifting, then spelling the Spec out again, computes the same on the same data.
TEST(DpLift, lifted_then_interpreted_equals_the_proc) {
  const char* const nests[] = {
      R"(
@proc
def f(A: f32[3, 5], B: f32[5, 2], C: f32[3, 2]):
    for i in seq(0, 3):
        for j in seq(0, 2):
            for k in seq(0, 5):
                C[i, j] += A[i, k] * B[k, j]
)",
      R"(
@proc
def f(x: f32[9], w: f32[3], y: f32[4]):
    for o in seq(0, 4):
        for r in seq(0, 3):
            y[o] += x[2 * o + r] * w[r]
)",
      R"(
@proc
def f(x: f32[4, 3], y: f32[3, 4]):
    for i in seq(0, 3):
        for j in seq(0, 4):
            y[i, j] = x[j, i] * 2.0 - 1.0
)",
      R"(
@proc
def f(a: i32[7], out: i32[7]):
    for i in seq(0, 7):
        out[i] = -a[i] + a[i] * a[i]
)",
      R"(
@proc
def f(x: bf16[3], w: bf16[3, 4], y: f32[4]):
    for j in seq(0, 4):
        for k in seq(0, 3):
            a: f32
            b: f32
            a = x[k]
            b = w[k, j]
            y[j] += a * b
)"};
  for (const char* text : nests) {
    const ProcPtr before = proc(text);
    const auto nest = lift_nest(*before);
    ASSERT_TRUE(nest) << text;
    const ProcPtr after = spell_nest(nest->kind, nest->extents);
    // Operands in the Spec's order are the arguments in order here, the output last.
    expect_same_result(before, after, text);
  }
}

TEST(DpMachine, instructions_of_a_target_are_kernels) {
  for (const char* name : {"avx2", "avx512"}) {
    const DpMachine m = machine_of(*load_target(std::string(EXOTUNE_SOURCE_DIR "/hw/") + name, {}));
    bool multiplies = false, loads = false;
    for (const DpKernel& k : m.kernels) {
      multiplies = multiplies || k.kind.statement == "+= $0 * $1";
      loads = loads || (k.kind.statement == "= $0" && k.instruction);
    }
    EXPECT_TRUE(multiplies && loads) << name;
    EXPECT_EQ(m.levels.back().name, "DRAM");
  }
}

TEST(DpMachine, figures_outrank_the_text) {
  const TargetPtr target = load_target(EXOTUNE_SOURCE_DIR "/hw/avx512", {});
  const DpMachine text = machine_of(*target);
  TargetFigures figures;
  figures.instructions["mm512_fmadd_ps"] = {2, 9, FigureSource::kMeasured};
  figures.instructions["mm512_loadu_ps"] = {0.001, 0, FigureSource::kMeasured};
  figures.lines = {1, 2, 3, 20};
  const DpMachine known = machine_of(*target, figures);
  const int units = known.units_per_cycle;
  EXPECT_NE(known.hash, text.hash);
  ASSERT_EQ(known.kernels.size(), text.kernels.size());
  for (size_t k = 0; k < known.kernels.size(); ++k) {
    const DpKernel &is = known.kernels[k], &was = text.kernels[k];
    const std::string name = is.instruction ? is.instruction->name : "";
    if (name == "mm512_fmadd_ps") {
      EXPECT_EQ(is.base, 2 * units);
      EXPECT_EQ(is.latency, 9 * units);
    } else if (name == "mm512_loadu_ps") {
      EXPECT_EQ(is.base, 1);  // nothing is free
    } else {
      EXPECT_EQ(is.base, was.base) << is.name;
      EXPECT_EQ(is.latency, was.latency) << is.name;
    }
  }
  const std::vector<std::pair<const char*, int>> lines = {
      {"L1", 1}, {"L2", 2}, {"L3", 3}, {"DRAM", 20}};
  for (const auto& [level, cycles] : lines)
    EXPECT_EQ(known.levels[known.level(level)].cost, cycles * units) << level;
}

TEST(DpMachine, a_search_table_stands_whatever_was_measured) {
  const TargetPtr target = load_target(EXOTUNE_SOURCE_DIR "/tests/search/morello_avx2", {});
  const DpMachine known = machine_of(*target, {.instructions = {}, .lines = {1, 2, 3, 4, 5}});
  const DpMachine text = machine_of(*target);
  EXPECT_EQ(known.hash, text.hash);
  for (size_t l = 0; l < text.levels.size(); ++l)
    EXPECT_EQ(known.levels[l].cost, text.levels[l].cost);
}

constexpr std::array<uint32_t, 2> kShape{8, 64};

TEST(DpLayout, a_tile_keeps_what_stays_adjacent) {
  const TensorLayout rows = TensorLayout::row_major(kShape);
  const std::array<uint32_t, 2> some_rows{4, 64}, part_of_rows{4, 16}, one_row{1, 16},
      one_column{8, 1};
  EXPECT_TRUE(rows.tiled(kShape, some_rows)->is_contiguous());
  EXPECT_EQ(rows.tiled(kShape, part_of_rows)->str(), "[0,1]c1");
  EXPECT_TRUE(rows.tiled(kShape, one_row)->is_contiguous());
  EXPECT_EQ(rows.tiled(kShape, one_column)->str(), "[0]c0");
}

TEST(DpLayout, lines_count_each_row_that_is_not_adjacent) {
  const TensorLayout rows = TensorLayout::row_major(kShape);
  EXPECT_EQ(rows.lines(kShape, 4, 64), 32);
  const std::array<uint32_t, 2> tile{4, 8};
  EXPECT_EQ(rows.tiled(kShape, tile)->lines(tile, 4, 64), 4);
}

TEST(DpLayout, a_strip_that_holds_everything_is_no_strip) {
  TensorLayout packed = TensorLayout::row_major(kShape);
  packed.dims[packed.rank++] = {0, 4};
  packed.contiguous = packed.rank;
  const std::array<uint32_t, 2> tile{4, 64}, odd{3, 64};
  EXPECT_EQ(packed.tiled(kShape, tile)->str(), "[1,0]");
  EXPECT_EQ(packed.tiled(kShape, kShape)->str(), "[0,1,0p4]");
  EXPECT_FALSE(packed.tiled(kShape, std::array<uint32_t, 2>{6, 64}).has_value());
  EXPECT_TRUE(packed.tiled(kShape, odd).has_value());
}

TEST(DpLimits, codes_are_ordered_and_round_to_the_safe_side) {
  DpMachine machine;
  machine.levels.resize(1);
  machine.levels[0].capacity = 768;
  for (const bool fine : {false, true}) {
    machine.fine_limits = fine;
    const LimitCodes codes(machine);
    for (int64_t amount = 1; amount < 5000; ++amount) {
      const uint8_t down = codes.down(0, amount), up = codes.up(0, amount);
      EXPECT_LE(codes.amount(0, down), amount);
      EXPECT_GT(codes.amount(0, static_cast<uint8_t>(down + 1)), amount);
      EXPECT_GE(codes.amount(0, up), amount);
      EXPECT_LT(codes.amount(0, static_cast<uint8_t>(up - 1)), amount);
      EXPECT_EQ(up, codes.up(0, codes.amount(0, up)));
    }
    EXPECT_EQ(codes.amount(0, codes.all().codes[0]), fine ? 768 : 512);
  }
}

}  // namespace
}  // namespace exotune
