#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "builder.h"
#include "core/ir/printer.h"

namespace exotune {
namespace {
using namespace testing;

class Prove : public ::testing::Test {
 protected:
  Sym n = Sym::fresh("N"), m = Sym::fresh("M"), i = Sym::fresh("i"), j = Sym::fresh("j");
  Sym io = Sym::fresh("io"), ii = Sym::fresh("ii");
  // for i in seq(0, N): for j in seq(0, i): pass
  ProcPtr triangle =
      proc({size_arg(n), size_arg(m)},
           {make_for(i, num(0), size(n), {make_for(j, num(0), idx(i), {make_pass()})})});
  // for io in seq(0, N/8): for ii in seq(0, 8): pass
  ProcPtr tiled =
      proc({size_arg(n)},
           {make_for(io, num(0), quo(size(n), 8), {make_for(ii, num(0), num(8), {make_pass()})})});
  Path in_tile = path({0, 0, 0});
};

TEST_F(Prove, sizes_are_positive) {
  EXPECT_TRUE(prove(*triangle, path({0}), ge(size(n), num(1))));
  EXPECT_EQ(prove(*triangle, path({0}), ge(size(n), num(2))).verdict, Verdict::kRefuted);
}

TEST_F(Prove, notes_speak_of_the_solver_only_where_it_was_asked) {
  const std::vector<LazyText> notes = loop_parallel(*triangle, path({0, 0, 0})).notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].str(), "this is not a loop");
}

TEST_F(Prove, loop_bounds_hold_inside) {
  EXPECT_TRUE(prove(*triangle, path({0, 0, 0}), lt(idx(j), size(n))));
  EXPECT_TRUE(prove(*triangle, path({0, 0, 0}), ge(idx(i), num(1))));
}

TEST_F(Prove, loop_bounds_do_not_hold_outside) {
  EXPECT_FALSE(prove(*triangle, path({0, 0}), ge(idx(i), num(1))));
}

TEST_F(Prove, tiles_stay_below_the_size) {
  EXPECT_TRUE(prove(*tiled, in_tile, lt(num(8) * idx(io) + idx(ii), size(n))));
}

TEST_F(Prove, one_past_the_tile_is_refuted_with_the_smallest_size) {
  Answer a = prove(*tiled, in_tile, lt(num(8) * idx(io) + idx(ii) + num(1), size(n)));
  EXPECT_EQ(a.verdict, Verdict::kRefuted);
  EXPECT_EQ(a.counter_example.at("N"), 8);
  EXPECT_EQ(a.counter_example.at("ii"), 7);
}

TEST_F(Prove, notes_name_the_counter_example) {
  Answer a = prove(*triangle, path({0, 0}), lt(idx(i), size(m)));
  ASSERT_EQ(a.verdict, Verdict::kRefuted);
  EXPECT_EQ(a.notes().back().str(), "fails for M = 1, N = 2, i = 1");
}

TEST_F(Prove, asserts_are_facts) {
  ProcPtr p = proc({size_arg(n)}, {make_pass()}, {eq(rem(size(n), 8), num(0))});
  EXPECT_TRUE(prove(*p, path({0}), eq(quo(size(n), 8) * num(8), size(n))));
  EXPECT_TRUE(prove(*p, path({0}), ge(size(n), num(8))));
  EXPECT_FALSE(prove(*p, path({0}), eq(rem(size(n), 16), num(0))));
}

TEST_F(Prove, division_is_floor) {
  Sym x = Sym::fresh("x");
  ProcPtr p = proc({control_arg(x, ScalarType::kIndex)}, {make_pass()}, {eq(idx(x), num(-1))});
  EXPECT_TRUE(prove(*p, path({0}), eq(quo(idx(x), 4), num(-1))));
  EXPECT_TRUE(prove(*p, path({0}), eq(rem(idx(x), 4), num(3))));
}

TEST_F(Prove, branches_know_their_condition) {
  ProcPtr p = proc({size_arg(n), size_arg(m)},
                   {make_if(lt(size(n), size(m)), {make_pass()}, {make_pass()})});
  EXPECT_TRUE(prove(*p, path({0, 0}), ge(size(m), num(2))));
  EXPECT_TRUE(prove(*p, {{Child::kBody, 0}, {Child::kOrelse, 0}}, le(size(m), size(n))));
}

TEST_F(Prove, disjunctions_split_cases) {
  ProcPtr p =
      proc({size_arg(n)}, {make_pass()}, {either(eq(size(n), num(4)), eq(size(n), num(8)))});
  EXPECT_TRUE(prove(*p, path({0}), eq(rem(size(n), 4), num(0))));
  EXPECT_TRUE(prove(*p, path({0}), ne(size(n), num(6))));
  EXPECT_FALSE(prove(*p, path({0}), eq(size(n), num(4))));
}

TEST_F(Prove, anything_holds_where_control_never_arrives) {
  ProcPtr p = proc({size_arg(n)}, {make_if(lt(size(n), num(1)), {make_pass()})});
  EXPECT_TRUE(prove(*p, path({0, 0}), eq(num(0), num(1))));
}

TEST_F(Prove, extra_variables_are_ranged) {
  Sym k = Sym::fresh("k");
  EXPECT_TRUE(prove_for_all(*triangle, path({0}), {{k, num(0), size(n)}}, {}, lt(idx(k), size(n))));
  EXPECT_TRUE(prove_for_all(*triangle, path({0}), {{k, num(0), size(n)}}, {eq(size(n), num(1))},
                            eq(idx(k), num(0))));
  EXPECT_FALSE(prove_for_all(*triangle, path({0}), {{k, num(0), size(n)}}, {}, eq(idx(k), num(0))));
}

TEST_F(Prove, equal_sums_are_equal_in_any_order) {
  EXPECT_TRUE(prove_equal(*triangle, path({0, 0}), size(n) + idx(i), idx(i) + size(n)));
  EXPECT_FALSE(prove_equal(*triangle, path({0, 0}), size(n), size(m)));
}

TEST_F(Prove, strides_of_dense_tensors_are_extents) {
  Sym a = Sym::fresh("A");
  ProcPtr p = proc({size_arg(n), size_arg(m), tensor_arg(a, {size(n), size(m)})}, {make_pass()});
  auto stride = [&](int d) { return make_expr(StrideExpr{a, d}, ScalarType::kStride); };
  EXPECT_TRUE(prove(*p, path({0}), eq(stride(1), num(1))));
  EXPECT_TRUE(prove(*p, path({0}), eq(stride(0), size(m))));
  EXPECT_FALSE(prove(*p, path({0}), eq(stride(0), num(1))));
}

TEST_F(Prove, strides_of_window_arguments_are_unknown_but_for_asserts) {
  Sym a = Sym::fresh("A");
  auto stride = make_expr(StrideExpr{a, 0}, ScalarType::kStride);
  ProcPtr loose = proc({tensor_arg(a, {num(8)}, true)}, {make_pass()});
  ProcPtr tight = proc({tensor_arg(a, {num(8)}, true)}, {make_pass()}, {eq(stride, num(1))});
  EXPECT_FALSE(prove(*loose, path({0}), eq(stride, num(1))));
  EXPECT_TRUE(prove(*tight, path({0}), eq(stride, num(1))));
}

TEST_F(Prove, config_conditions_count_only_while_unwritten) {
  auto config = std::make_shared<Config>();
  config->name = "Cfg";
  config->fields = {{"k", ScalarType::kIndex}};
  ExprPtr k = make_expr(ReadConfig{config, "k"}, ScalarType::kIndex);
  ProcPtr keeps = proc({size_arg(n)}, {make_if(eq(k, num(3)), {make_pass()})});
  ProcPtr writes =
      proc({size_arg(n)},
           {make_if(eq(k, num(3)), {make_stmt(WriteConfig{config, "k", num(4)}), make_pass()})});
  EXPECT_TRUE(prove(*keeps, path({0, 0}), eq(k, num(3))));
  EXPECT_FALSE(prove(*writes, path({0, 1}), eq(k, num(3))));
}

TEST_F(Prove, bounds_of_tiled_indices) {
  Bounds b = bounds_of(*tiled, in_tile, idx(ii) * num(2) + num(1));
  EXPECT_EQ(b.lo, 1);
  EXPECT_EQ(b.hi, 15);
  EXPECT_EQ(bounds_of(*tiled, in_tile, idx(io)).lo, 0);
  EXPECT_FALSE(bounds_of(*tiled, in_tile, idx(io)).hi.has_value());
}

TEST_F(Prove, queries_are_written_for_another_solver) {
  const std::string directory = ::testing::TempDir() + "proofs";
  std::filesystem::remove_all(directory);
  set_proofs_directory(directory);
  prove(*tiled, in_tile, lt(num(8) * idx(io) + idx(ii), size(n)));
  prove(*tiled, in_tile, lt(num(9) * idx(io) + idx(ii), size(n)));
  set_proofs_directory("");
  prove(*tiled, in_tile, lt(num(7) * idx(io) + idx(ii), size(n)));
  std::multiset<std::string> first_lines;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    EXPECT_EQ(entry.path().extension(), ".smt2");
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    first_lines.insert(line);
  }
  EXPECT_EQ(first_lines,
            (std::multiset<std::string>{"(set-info :status sat)", "(set-info :status unsat)"}));
}

class Simplify : public Prove {
 protected:
  std::string simple(const ExprPtr& e) { return str(simplify_expr(*tiled, in_tile, e)); }
  ExprPtr whole = num(8) * idx(io) + idx(ii);
};

TEST_F(Simplify, quotient_and_remainder_of_a_tile) {
  EXPECT_EQ(simple(quo(whole, 8)), "io");
  EXPECT_EQ(simple(rem(whole, 8)), "ii");
  EXPECT_EQ(simple(quo(idx(ii), 8)), "0");
  EXPECT_EQ(simple(rem(idx(ii) + num(8), 8)), "ii");
}

TEST_F(Simplify, undecided_quotients_stay) {
  EXPECT_EQ(simple(quo(idx(ii), 4)), "ii / 4");
  EXPECT_EQ(simple(quo(whole, 4)), "ii / 4 + 2 * io");
}

TEST_F(Simplify, nested_quotients_merge) { EXPECT_EQ(simple(quo(quo(size(n), 4), 2)), "N / 8"); }

TEST_F(Simplify, rounding_down_and_what_is_left) {
  EXPECT_EQ(simple(size(n) - quo(size(n), 8) * num(8)), "N % 8");
  EXPECT_EQ(simple(quo(size(n), 8) * num(8) + rem(size(n), 8)), "N");
}

TEST_F(Simplify, decided_comparisons_fold) {
  EXPECT_EQ(simple(lt(whole, size(n))), "True");
  EXPECT_EQ(simple(lt(size(n), whole)), "False");
  EXPECT_EQ(simple(lt(idx(ii), num(4))), "ii < 4");
  EXPECT_EQ(simple(both(lt(whole, size(n)), lt(idx(ii), num(4)))), "ii < 4");
}

TEST_F(Simplify, indices_inside_data_expressions) {
  Sym a = Sym::fresh("A");
  EXPECT_EQ(simple(elem(a, {rem(whole, 8)})), "A[ii]");
}

TEST_F(Simplify, shares_what_does_not_change) {
  EXPECT_EQ(simplify_expr(*tiled, in_tile, idx(io)).get() != nullptr, true);
  ExprPtr e = lt(idx(ii), num(4));
  EXPECT_EQ(simplify_expr(*tiled, in_tile, e), e);
}

}  // namespace
}  // namespace exotune
