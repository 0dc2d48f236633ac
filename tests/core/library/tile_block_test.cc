// Products on instructions that multiply whole tiles, against the interpreter, on a file of eight
// registers of 4 x 4 words.
#include "core/library/tile_block.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "tests/core/primitives/differential.h"

namespace exotune {
namespace {

// Tiles of bytes, four neighbours a word: 4 x 16 of the first factor, 4 x 4 groups of the second.
const char* const kTiles = R"(
@memory
class TILE:
    kind = "register_file"
    count = 8
    shape = [4, 4]
    bytes = 64

@instr("zero")
def tile_zero(dst: [i32][4, 4] @ TILE):
    assert stride(dst, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i, j] = 0

@instr("load")
def tile_load(dst: [i32][4, 4] @ TILE, src: [i32][4, 4] @ DRAM):
    assert stride(dst, 1) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i, j] = src[i, j]

@instr("store")
def tile_store(dst: [i32][4, 4] @ DRAM, src: [i32][4, 4] @ TILE):
    assert stride(dst, 1) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            dst[i, j] = src[i, j]

@instr("rows")
def tile_rows(dst: [i8][4, 16] @ TILE, src: [i8][4, 16] @ DRAM):
    assert stride(dst, 1) == 1
    assert stride(src, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 16):
            dst[i, j] = src[i, j]

@instr("groups")
def tile_groups(dst: [i8][4, 16] @ TILE, src: [i8][4, 4, 4] @ DRAM):
    assert stride(dst, 1) == 1
    assert stride(src, 2) == 1
    for k in seq(0, 4):
        for j in seq(0, 4):
            for r in seq(0, 4):
                dst[k, 4 * j + r] = src[k, j, r]

@instr("product")
def tile_product(c: [i32][4, 4] @ TILE, a: [i8][4, 16] @ TILE, b: [i8][4, 16] @ TILE):
    assert stride(c, 1) == 1
    assert stride(a, 1) == 1
    assert stride(b, 1) == 1
    for i in seq(0, 4):
        for j in seq(0, 4):
            for k in seq(0, 4):
                for r in seq(0, 4):
                    x: i32
                    y: i32
                    x = a[i, 4 * k + r]
                    y = b[k, 4 * j + r]
                    c[i, j] += x * y

@instr("strips")
def two_strips(dst: [i8][2, 4, 4] @ DRAM, src: [i8][4, 8] @ DRAM):
    assert stride(dst, 2) == 1
    assert stride(src, 1) == 1
    for s in seq(0, 2):
        for j in seq(0, 4):
            for r in seq(0, 4):
                dst[s, j, r] = src[r, 4 * s + j]
)";

std::string product(const std::string& a, const std::string& b, bool begun) {
  std::string out = "@proc\ndef f(M: size, N: size, K: size, A: i8[";
  out += a == "A[i, k]" ? "M, K" : "K, M";
  out += "], B: i8[";
  out += b == "B[k, j]" ? "K, N" : "N, K";
  out += "], C: i32[M, N]):\n    for i in seq(0, M):\n        for j in seq(0, N):\n";
  if (begun) out += "            C[i, j] = 0\n";
  out += "            for k in seq(0, K):\n                C[i, j] += i32(" + a + ") * i32(";
  return out + b + ")\n";
}

struct Tiled {
  Module module;
  ProcPtr before;
  VectorUnit unit;
};

Tiled case_of(const std::string& kernel, int64_t m, int64_t n, int64_t k) {
  Tiled out{parse_module(kTiles + kernel, "tiles.exo"), nullptr, {}};
  out.before = partial_eval(out.module.find_proc("f"), {{"M", m}, {"N", n}, {"K", k}});
  for (const ProcPtr& p : out.module.procs)
    if (p->instr) out.unit.instrs.push_back(p);
  out.unit.memory = out.unit.instrs.front()->args.front().mem;
  return out;
}

ProcPtr tiled(const Tiled& c, int64_t rows, int64_t columns) {
  return unroll_registers(tile_block(c.before, "i", "j", "k", rows, columns, c.unit),
                          c.unit.memory);
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(TileBlock, every_form_at_sizes_with_and_without_rests) {
  for (const char* a : {"A[i, k]", "A[k, i]"})
    for (const char* b : {"B[k, j]", "B[j, k]"})
      for (const bool begun : {false, true})
        for (const auto& [m, n, k] : {std::array<int64_t, 3>{8, 8, 32},
                                      {4, 4, 16},
                                      {13, 12, 16},
                                      {4, 7, 48},
                                      {9, 21, 37}}) {
          const Tiled c = case_of(product(a, b, begun), m, n, k);
          const ProcPtr p = tiled(c, 2, 2);
          EXPECT_NE(str(*p).find("tile_product(C_tile"), std::string::npos) << str(*p);
          test::expect_same_meaning(c.before, p, {{}});
          check(*p, true);
        }
}

TEST(TileBlock, blocks_of_every_shape) {
  for (const auto& [rows, columns] :
       {std::array<int64_t, 2>{1, 1}, {1, 2}, {1, 3}, {2, 1}, {3, 1}, {2, 2}}) {
    const Tiled c = case_of(product("A[i, k]", "B[k, j]", true), 20, 12, 32);
    const ProcPtr p = tiled(c, rows, columns);
    test::expect_same_meaning(c.before, p, {{}});
    check(*p, true);
    EXPECT_EQ(str(*p).find("+= A_i32 * B_i32"), std::string::npos) << str(*p);
  }
}

TEST(TileBlock, sums_that_begin_with_zero_read_nothing_of_the_results) {
  const Tiled begun = case_of(product("A[i, k]", "B[k, j]", true), 8, 8, 16);
  const std::string zeros = str(*tiled(begun, 2, 2));
  EXPECT_EQ(count(zeros, "tile_zero("), 4u) << zeros;
  EXPECT_EQ(count(zeros, "tile_load("), 0u) << zeros;
  const Tiled added = case_of(product("A[i, k]", "B[k, j]", false), 8, 8, 16);
  const std::string loads = str(*tiled(added, 2, 2));
  EXPECT_EQ(count(loads, "tile_load("), 4u) << loads;
}

TEST(TileBlock, registers_are_allocated_in_front_of_all_loops) {
  const Tiled c = case_of(product("A[i, k]", "B[k, j]", true), 16, 16, 32);
  const std::string text = str(*tiled(c, 2, 2));
  EXPECT_EQ(count(text, "\n    A_tile_"), 2u) << text;
  EXPECT_EQ(count(text, "\n    B_dot_tile_"), 2u) << text;
  EXPECT_EQ(count(text, "\n    C_tile_"), 4u) << text;
}

TEST(TileBlock, an_instruction_copies_several_strips) {
  const Tiled c = case_of(product("A[i, k]", "B[k, j]", true), 4, 12, 16);
  const ProcPtr p = tiled(c, 1, 1);
  EXPECT_EQ(count(str(*p), "two_strips("), 1u) << str(*p);
  test::expect_same_meaning(c.before, p, {{}});
}

TEST(TileBlock, refuses_what_no_tile_fits) {
  const auto refused = [](const Tiled& c, const char* i) {
    EXPECT_THROW((void)tile_block(c.before, i, "j", "k", 2, 2, c.unit), SchedulingError);
  };
  refused(case_of(product("A[i, k]", "B[k, j]", true), 3, 8, 16), "i");  // fewer rows than a tile
  refused(case_of(product("A[i, k]", "B[k, j]", true), 8, 3, 16), "i");
  refused(case_of(product("A[i, k]", "B[k, j]", true), 8, 8, 15), "i");
  const Tiled c = case_of(product("A[i, k]", "B[k, j]", true), 8, 8, 16);
  EXPECT_THROW((void)tile_block(c.before, "x", "j", "k", 2, 2, c.unit), InvalidCursorError);
  refused(c, "k");
  EXPECT_THROW((void)tile_block(c.before, "i", "j", "k", 0, 1, c.unit), SchedulingError);
  Tiled none = c;
  std::erase_if(none.unit.instrs, [](const ProcPtr& p) { return p->name == "tile_product"; });
  refused(none, "i");
}

TEST(TileBlock, finds_instructions_by_what_they_do) {
  const Tiled c = case_of(product("A[i, k]", "B[k, j]", true), 8, 8, 16);
  const std::vector<TileInstr> found = tile_instructions(c.unit.instrs);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rows * found[0].columns * found[0].depth * found[0].group, 256);
  EXPECT_TRUE(tile_instruction_at(c.before, "i", "j", "k", c.unit.instrs));
  EXPECT_FALSE(tile_instruction_at(c.before, "j", "i", "k", c.unit.instrs));
}

}  // namespace
}  // namespace exotune
