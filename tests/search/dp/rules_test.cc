// The named restrictions of the search: each leaves the optimum where it is, at sizes where the
// unrestricted search finishes too. On the AVX-512 machine as its text states it; nothing runs.
#include <gtest/gtest.h>

#include "search/dp/dp.h"

namespace exotune {
namespace {

struct Problem {
  SpecKind kind;
  std::vector<uint32_t> extents;
  std::string text;
};

int64_t optimum(const DpRules& rules, const Problem& problem) {
  const DpMachine machine = machine_of(*load_target("avx512", {EXOTUNE_SOURCE_DIR "/hw"}));
  SpecKinds kinds;
  LayoutPool layouts;
  BoxMemo memo;
  ActionSpace space(machine, rules, kinds, layouts);
  SpecSolver solver(space, memo);
  Spec spec;
  spec.kind = static_cast<uint16_t>(kinds.id(problem.kind));
  std::copy(problem.extents.begin(), problem.extents.end(), spec.extents.begin());
  for (size_t o = 0; o < problem.kind.operands.size(); ++o) {
    const OperandShape shape = operand_shape(problem.kind.operands[o], spec.extents.data());
    spec.operands[o].level = static_cast<uint8_t>(machine.outermost());
    spec.operands[o].layout = layouts.id(TensorLayout::row_major(shape));
  }
  const std::optional<MemoValue> value = solver.solve(spec);
  return value && !value->best.empty() ? value->best.front().cost.units : -1;
}

std::string text_of(const std::vector<uint32_t>& extents) {
  std::string out;
  for (const uint32_t e : extents) out += (out.empty() ? "" : "x") + std::to_string(e);
  return out;
}

// C[i, j] += A[i, k] * B[k, j]
Problem product(uint32_t m, uint32_t n, uint32_t depth) {
  const Subscript i{{0, 1}}, j{{1, 1}}, k{{2, 1}};
  const ScalarType t = ScalarType::kF32;
  return {{"+= $0 * $1",
           true,
           {false, false, true},
           {{t, {i, k}}, {t, {k, j}}, {t, {i, j}}},
           {{0, 1}, {1, 0}},
           "0"},
          {m, n, depth},
          text_of({m, n, depth})};
}

// out[y, x, k] += image[y + dy, x + dx, c] * weights[dy, dx, c, k]
Problem convolution(const std::vector<uint32_t>& extents) {
  const ScalarType t = ScalarType::kF32;
  const Subscript y{{0, 1}}, x{{1, 1}}, k{{2, 1}}, dy{{3, 1}}, dx{{4, 1}}, c{{5, 1}};
  return {{"+= $0 * $1",
           true,
           {false, false, false, true, true, true},
           {{t, {{{0, 1}, {3, 1}}, {{1, 1}, {4, 1}}, c}}, {t, {dy, dx, c, k}}, {t, {y, x, k}}},
           {{0, 1}},
           "0"},
          extents,
          text_of(extents)};
}

struct Restriction {
  const char* name;
  void (*lift)(DpRules&);
};

const Restriction kRestrictions[] = {
    {"one copy for each operand", [](DpRules& r) { r.relayout = Relayout::kAlways; }},
    {"one copy for each operand and level", [](DpRules& r) { r.relayout = Relayout::kOnce; }},
    {"outermost level first", [](DpRules& r) { r.outermost_first = false; }},
    {"tiles in steps", [](DpRules& r) { r.tiles_in_steps = false; }},
    {"all of them",
     [](DpRules& r) {
       r.relayout = Relayout::kAlways;
       r.outermost_first = r.tiles_in_steps = false;
     }},
};

TEST(DpRules, restrictions_keep_the_optimum) {
  for (const Problem& problem :
       {product(16, 16, 16), product(32, 32, 32), product(64, 64, 64), product(20, 48, 30)}) {
    const int64_t expected = optimum(search_rules(), problem);
    EXPECT_GT(expected, 0);
    for (const Restriction& r : kRestrictions) {
      DpRules rules = search_rules();
      r.lift(rules);
      EXPECT_EQ(optimum(rules, problem), expected) << r.name << " at " << problem.text;
    }
  }
}

const Restriction kOfSums[] = {
    {"one row loop", [](DpRules& r) { r.one_row_loop = false; }},
    {"whole taps", [](DpRules& r) { r.whole_taps = false; }},
    {"copies inside", [](DpRules& r) { r.copies_inside = false; }},
    {"vectors inside", [](DpRules& r) { r.vectors_inside = false; }},
    {"all of them",
     [](DpRules& r) {
       r.one_row_loop = r.whole_taps = r.copies_inside = r.vectors_inside = false;
     }},
};

TEST(DpRules, restrictions_of_convolutions_keep_the_optimum) {
  for (const Problem& problem :
       {convolution({2, 4, 16, 2, 2, 4}), convolution({1, 8, 32, 3, 1, 4})}) {
    const int64_t expected = optimum(search_rules(), problem);
    EXPECT_GT(expected, 0);
    for (const Restriction& r : kOfSums) {
      DpRules rules = search_rules();
      r.lift(rules);
      EXPECT_EQ(optimum(rules, problem), expected) << r.name << " at " << problem.text;
    }
  }
}

TEST(DpRules, a_block_costs_its_busiest_port_or_the_sum) {
  DpRules sum = search_rules();
  sum.ports = false;
  EXPECT_GT(optimum(sum, product(32, 32, 32)), optimum(search_rules(), product(32, 32, 32)));
}

// More sizes to choose from never cost more.
TEST(DpRules, further_tiles_only_help) {
  DpRules powers = search_rules();
  powers.factors = {};
  for (const Problem& problem : {product(96, 96, 96), product(100, 48, 64)})
    EXPECT_LE(optimum(search_rules(), problem), optimum(powers, problem));
}

}  // namespace
}  // namespace exotune
