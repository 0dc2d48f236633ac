#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "builder.h"

namespace exotune {
namespace {
using namespace testing;

class EffectsTest : public ::testing::Test {
 protected:
  Sym n = Sym::fresh("N"), a = Sym::fresh("A"), b = Sym::fresh("B"), x = Sym::fresh("x");
  Sym i = Sym::fresh("i"), j = Sym::fresh("j"), k = Sym::fresh("k"), w = Sym::fresh("w");

  ProcPtr around(Block body) {
    return proc(
        {size_arg(n), tensor_arg(a, {size(n)}), tensor_arg(b, {size(n)}), tensor_arg(x, {})},
        std::move(body));
  }
  StmtPtr set(Sym t, ExprPtr at, ExprPtr rhs) { return make_assign(t, {at}, rhs); }
  StmtPtr window(Sym name, Sym of, ExprPtr lo, ExprPtr hi) {
    return make_stmt(WindowStmt{name,
                                make_expr(WindowExpr{of, {{lo, hi}}}, ScalarType::kF32),
                                {ScalarType::kF32, {hi - lo}, true}});
  }
  ExprPtr zero = data_const(0, ScalarType::kF32);
};

TEST_F(EffectsTest, different_elements_commute) {
  ProcPtr p = around({set(a, num(0), zero), set(a, num(1), zero), set(a, num(0), zero)});
  EXPECT_TRUE(blocks_commute(*p, path({0}), 1, 1));
  EXPECT_FALSE(blocks_commute(*p, path({0}), 1, 2));
}

TEST_F(EffectsTest, a_window_is_an_alias) {
  ProcPtr p = around({window(w, a, num(2), size(n)), set(w, num(0), zero), set(a, num(2), zero),
                      set(w, num(1), zero)});
  EXPECT_FALSE(blocks_commute(*p, path({1}), 1, 1));
  EXPECT_TRUE(blocks_commute(*p, path({2}), 1, 1));
}

TEST_F(EffectsTest, a_definition_never_moves_below_its_use) {
  ProcPtr p = around({window(w, a, num(2), size(n)), set(w, num(0), zero)});
  EXPECT_FALSE(blocks_commute(*p, path({0}), 1, 1));
}

TEST_F(EffectsTest, sums_commute_with_sums_but_not_with_reads) {
  ProcPtr p = around({make_reduce(x, {}, elem(a, {num(0)})), make_reduce(x, {}, elem(a, {num(1)})),
                      set(b, num(0), elem(x, {}))});
  EXPECT_TRUE(blocks_commute(*p, path({0}), 1, 1));
  EXPECT_FALSE(blocks_commute(*p, path({1}), 1, 1));
}

TEST_F(EffectsTest, sums_do_not_commute_with_maxima) {
  ProcPtr p = around({make_reduce(x, {}, zero), make_reduce(x, {}, zero, ReduceOp::kMax)});
  EXPECT_FALSE(blocks_commute(*p, path({0}), 1, 1));
}

TEST_F(EffectsTest, iterations_that_write_their_own_element_commute) {
  ProcPtr p = around({make_for(i, num(0), size(n), {set(a, idx(i), elem(b, {idx(i)}))})});
  EXPECT_TRUE(iterations_commute(*p, path({0})));
  EXPECT_TRUE(loop_parallel(*p, path({0})));
  EXPECT_FALSE(iterations_commute(*p, path({0})).reassociates);
}

TEST_F(EffectsTest, iterations_that_read_a_neighbour_do_not_commute) {
  ProcPtr p = around({make_for(i, num(1), size(n), {set(a, idx(i), elem(a, {idx(i) - num(1)}))})});
  LoopAnswer no = iterations_commute(*p, path({0}));
  EXPECT_EQ(no.verdict, Verdict::kRefuted);
  EXPECT_EQ(no.counter_example.at("i"), 1);
  EXPECT_EQ(no.counter_example.at("i'"), 2);
}

TEST_F(EffectsTest, a_sum_over_iterations_reassociates) {
  ProcPtr p = around({make_for(i, num(0), size(n), {make_reduce(x, {}, elem(a, {idx(i)}))})});
  LoopAnswer yes = iterations_commute(*p, path({0}));
  EXPECT_TRUE(yes);
  EXPECT_TRUE(yes.reassociates);
  EXPECT_FALSE(loop_parallel(*p, path({0})));
  EXPECT_TRUE(loop_parallel(*p, path({0}), true));
}

TEST_F(EffectsTest, private_allocations_do_not_carry) {
  Sym t = Sym::fresh("t");
  Block body{make_alloc(t, {ScalarType::kF32, {}, false}, dram()),
             make_assign(t, {}, elem(b, {idx(i)})), set(a, idx(i), elem(t, {}))};
  ProcPtr p = around({make_for(i, num(0), size(n), body)});
  EXPECT_TRUE(loop_parallel(*p, path({0})));
  EXPECT_TRUE(alloc_carries_nothing(*p, path({0, 0}), path({0})));
}

TEST_F(EffectsTest, interchange_needs_only_flipped_pairs) {
  Sym m = Sym::fresh("M");
  auto at = [&](int di, int dj) { return elem(m, {idx(i) + num(di), idx(j) + num(dj)}); };
  auto nest = [&](ExprPtr rhs) {
    return proc(
        {size_arg(n), tensor_arg(m, {size(n) + num(2), size(n) + num(2)})},
        {make_for(i, num(1), size(n),
                  {make_for(j, num(1), size(n), {make_assign(m, {idx(i), idx(j)}, rhs)})})});
  };
  EXPECT_TRUE(loops_interchange(*nest(at(-1, -1)), path({0})));
  EXPECT_FALSE(loops_interchange(*nest(at(-1, 1)), path({0})));
}

TEST_F(EffectsTest, fission_when_only_the_same_iteration_is_read) {
  ProcPtr same = around(
      {make_for(i, num(0), size(n), {set(a, idx(i), zero), set(b, idx(i), elem(a, {idx(i)}))})});
  ProcPtr next =
      around({make_for(i, num(0), size(n) - num(1),
                       {set(a, idx(i), zero), set(b, idx(i), elem(a, {idx(i) + num(1)}))})});
  EXPECT_TRUE(can_fission(*same, path({0, 1})));
  EXPECT_FALSE(can_fission(*next, path({0, 1})));
}

TEST_F(EffectsTest, fusion_when_the_second_reads_what_is_done) {
  auto two = [&](ExprPtr read) {
    return around({make_for(i, num(1), size(n) - num(1), {set(a, idx(i), zero)}),
                   make_for(j, num(1), size(n) - num(1), {set(b, idx(j), elem(a, {read}))})});
  };
  EXPECT_TRUE(can_fuse(*two(idx(j)), path({0})));
  EXPECT_TRUE(can_fuse(*two(idx(j) - num(1)), path({0})));
  EXPECT_FALSE(can_fuse(*two(idx(j) + num(1)), path({0})));
}

TEST_F(EffectsTest, plain_writes_are_idempotent_and_sums_are_not) {
  ProcPtr p = around({set(a, num(0), elem(b, {num(0)})), make_reduce(x, {}, zero)});
  EXPECT_TRUE(block_idempotent(*p, path({0}), 1));
  EXPECT_FALSE(block_idempotent(*p, path({0}), 2));
}

TEST_F(EffectsTest, a_sum_that_starts_from_zero_is_idempotent) {
  ProcPtr p = around({make_for(j, num(0), size(n), {set(a, idx(j), zero)}),
                      make_for(i, num(0), size(n), {make_reduce(a, {idx(i)}, elem(b, {idx(i)}))})});
  EXPECT_TRUE(block_idempotent(*p, path({0}), 2));
}

TEST_F(EffectsTest, a_partly_cleared_sum_is_not_idempotent) {
  ProcPtr p = around({make_for(j, num(1), size(n), {set(a, idx(j), zero)}),
                      make_for(i, num(0), size(n), {make_reduce(a, {idx(i)}, elem(b, {idx(i)}))})});
  EXPECT_FALSE(block_idempotent(*p, path({0}), 2));
}

TEST_F(EffectsTest, tiles_clear_everything_that_is_summed) {
  Sym t = Sym::fresh("T"), io = Sym::fresh("io"), ii = Sym::fresh("ii");
  ProcPtr p = proc(
      {tensor_arg(t, {num(32)})},
      {make_for(
           io, num(0), num(4),
           {make_for(ii, num(0), num(8), {make_assign(t, {num(8) * idx(io) + idx(ii)}, zero)})}),
       make_for(i, num(0), num(32), {make_reduce(t, {idx(i)}, data_const(1, ScalarType::kF32))})});
  EXPECT_TRUE(block_idempotent(*p, path({0}), 2));
}

TEST_F(EffectsTest, main_part_and_tail_together_clear_everything) {
  Block body;
  body.push_back(make_for(j, num(0), size(n) - num(1), {set(a, idx(j), zero)}));
  body.push_back(set(a, size(n) - num(1), zero));
  body.push_back(make_for(i, num(0), size(n), {make_reduce(a, {idx(i)}, zero)}));
  EXPECT_TRUE(block_idempotent(*around(body), path({0}), 3));
}

TEST_F(EffectsTest, a_first_iteration_that_clears_counts) {
  Block body{make_for(k, num(0), size(n),
                      {make_if(eq(idx(k), num(0)), {make_assign(x, {}, zero)}),
                       make_reduce(x, {}, elem(a, {idx(k)}))})};
  EXPECT_TRUE(block_idempotent(*around(body), path({0}), 1));
}

TEST_F(EffectsTest, a_later_iteration_that_clears_does_not_count) {
  Block body{make_for(k, num(0), size(n),
                      {make_if(eq(idx(k), num(1)), {make_assign(x, {}, zero)}),
                       make_reduce(x, {}, elem(a, {idx(k)}))})};
  EXPECT_FALSE(block_idempotent(*around(body), path({0}), 1));
}

TEST_F(EffectsTest, a_value_is_unchanged_by_writes_elsewhere) {
  ProcPtr p = around({set(a, num(0), zero)});
  EXPECT_TRUE(value_unchanged_by(*p, path({0}), 1, elem(a, {num(1)})));
  EXPECT_TRUE(value_unchanged_by(*p, path({0}), 1, elem(b, {num(0)})));
  EXPECT_FALSE(value_unchanged_by(*p, path({0}), 1, elem(a, {num(0)})));
  EXPECT_FALSE(value_unchanged_by(*p, path({0}), 1, elem(b, {num(0)}) + elem(a, {num(0)})));
}

TEST_F(EffectsTest, recomputation_needs_inputs_that_stay_and_outputs_apart) {
  auto loop = [&](StmtPtr s) { return around({make_for(i, num(1), size(n), {s})}); };
  EXPECT_TRUE(recompute_safe(*loop(set(a, idx(i), elem(b, {idx(i)}))), path({0})));
  EXPECT_FALSE(recompute_safe(*loop(set(a, idx(i), elem(a, {idx(i) - num(1)}))), path({0})));
  EXPECT_FALSE(recompute_safe(*loop(make_assign(x, {}, elem(b, {idx(i)}))), path({0})));
  EXPECT_FALSE(recompute_safe(*loop(make_reduce(a, {idx(i)}, elem(b, {idx(i)}))), path({0})));
}

TEST_F(EffectsTest, a_buffer_is_dead_when_it_is_rewritten_before_every_read) {
  Sym t = Sym::fresh("t");
  auto alloc = make_alloc(t, {ScalarType::kF32, {}, false}, dram());
  auto write = make_assign(t, {}, elem(b, {num(0)}));
  auto read = set(a, num(0), elem(t, {}));
  ProcPtr dead = around({alloc, write, read, write, read});
  EXPECT_TRUE(buffer_dead_after(*dead, path({2}), t));
  EXPECT_FALSE(buffer_dead_after(*dead, path({1}), t));
  EXPECT_TRUE(buffer_dead_after(*dead, path({4}), t));
  EXPECT_FALSE(buffer_dead_after(*dead, path({4}), a));
}

TEST_F(EffectsTest, a_buffer_read_by_the_next_iteration_is_alive) {
  Sym t = Sym::fresh("t");
  auto alloc = make_alloc(t, {ScalarType::kF32, {}, false}, dram());
  Block body{set(a, idx(i), elem(t, {})), make_assign(t, {}, elem(b, {idx(i)}))};
  ProcPtr p = around({alloc, make_assign(t, {}, zero), make_for(i, num(0), size(n), body)});
  EXPECT_FALSE(buffer_dead_after(*p, path({2, 1}), t));
  EXPECT_FALSE(alloc_carries_nothing(*p, path({0}), path({2})));
}

TEST_F(EffectsTest, calls_are_seen_through_their_bodies) {
  // copy(dst: [f32][4], src: [f32][4])
  Sym dst = Sym::fresh("dst"), src = Sym::fresh("src"), l = Sym::fresh("l");
  ProcPtr copy =
      proc({tensor_arg(dst, {num(4)}, true), tensor_arg(src, {num(4)}, true)},
           {make_for(l, num(0), num(4), {make_assign(dst, {idx(l)}, elem(src, {idx(l)}))})});
  auto part = [&](Sym t, ExprPtr lo) {
    return make_expr(WindowExpr{t, {{lo, lo + num(4)}}}, ScalarType::kF32);
  };
  ProcPtr p =
      proc({size_arg(n), tensor_arg(a, {num(4) * size(n)}), tensor_arg(b, {num(4) * size(n)})},
           {make_for(i, num(0), size(n),
                     {make_call(copy, {part(a, num(4) * idx(i)), part(b, num(4) * idx(i))})})});
  EXPECT_TRUE(loop_parallel(*p, path({0})));
  std::vector<Access> all = accesses_of(*p, path({0}), 1);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, Access::Kind::kRead);
  EXPECT_EQ(all[0].buffer, b);
  EXPECT_EQ(all[1].kind, Access::Kind::kWrite);
  EXPECT_EQ(all[1].buffer, a);
  EXPECT_EQ(all[1].vars.size(), 2u);
}

TEST_F(EffectsTest, overlapping_calls_do_not_commute) {
  Sym dst = Sym::fresh("dst"), l = Sym::fresh("l");
  ProcPtr clear = proc({tensor_arg(dst, {num(4)}, true)},
                       {make_for(l, num(0), num(4), {make_assign(dst, {idx(l)}, zero)})});
  ProcPtr p =
      proc({tensor_arg(a, {num(16)})},
           {make_call(clear, {make_expr(WindowExpr{a, {{num(0), num(4)}}}, ScalarType::kF32)}),
            set(a, num(3), data_const(1, ScalarType::kF32)), set(a, num(4), zero)});
  EXPECT_FALSE(blocks_commute(*p, path({0}), 1, 1));
  ProcPtr q = proc({tensor_arg(a, {num(16)})}, {p->body[0], p->body[2]});
  EXPECT_TRUE(blocks_commute(*q, path({0}), 1, 1));
}

TEST_F(EffectsTest, many_threads_get_one_answer) {
  ProcPtr p = around({make_for(i, num(1), size(n),
                               {set(a, idx(i), elem(a, {idx(i) - num(1)})),
                                set(b, num(2) * quo(idx(i), 2), elem(b, {idx(i)}))})});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        wrong += iterations_commute(*p, path({0})) ? 1 : 0;
        wrong += prove(*p, path({0, 0}), lt(quo(idx(i), 2), size(n))) ? 0 : 1;
        wrong += can_fission(*p, path({0, 1})) ? 0 : 1;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

class ConfigEffects : public EffectsTest {
 protected:
  ConfigEffects() {
    auto c = std::make_shared<Config>();
    c->name = "Cfg";
    c->fields = {{"s", ScalarType::kIndex}};
    config = c;
  }
  StmtPtr write(ExprPtr e) { return make_stmt(WriteConfig{config, "s", e}); }
  static bool config_free(const Access& x) { return x.idx[0]->as<ReadConfig>() == nullptr; }
  ExprPtr read() { return make_expr(ReadConfig{config, "s"}, ScalarType::kIndex); }
  ConfigPtr config;
};

TEST_F(ConfigEffects, a_write_does_not_pass_a_read) {
  ProcPtr p = around(
      {write(num(1)), make_if(eq(read(), num(1)), {set(a, num(0), zero)}), set(b, num(0), zero)});
  EXPECT_FALSE(blocks_commute(*p, path({0}), 1, 1));
  EXPECT_TRUE(blocks_commute(*p, path({1}), 1, 1));
}

TEST_F(ConfigEffects, a_settled_field_can_be_split_off_and_hoisted) {
  ProcPtr p = around({make_for(
      i, num(0), size(n), {write(num(1)), make_if(eq(read(), num(1)), {set(a, idx(i), zero)})})});
  EXPECT_TRUE(can_fission(*p, path({0, 1})));
  EXPECT_TRUE(block_idempotent(*p, path({0, 0}), 1));
  ProcPtr varying = around({make_for(
      i, num(0), size(n), {write(idx(i)), make_if(eq(read(), num(1)), {set(a, idx(i), zero)})})});
  EXPECT_FALSE(can_fission(*varying, path({0, 1})));
}

TEST_F(ConfigEffects, accesses_do_not_speak_of_a_field_that_changes) {
  ProcPtr p = around({set(a, read(), zero), write(num(2))});
  EXPECT_TRUE(config_free(accesses_of(*p, path({0}), 2)[0]));
  EXPECT_FALSE(config_free(accesses_of(*p, path({0}), 1)[0]));
}

TEST_F(ConfigEffects, an_if_is_not_split_where_its_condition_changes) {
  ProcPtr p = around({make_if(eq(read(), num(1)), {write(num(2)), set(a, num(0), zero)})});
  EXPECT_FALSE(can_fission(*p, path({0, 1})));
}

TEST_F(ConfigEffects, parallel_iterations_write_no_config) {
  ProcPtr p = around({make_for(i, num(0), size(n), {write(num(1))})});
  EXPECT_FALSE(loop_parallel(*p, path({0})));
  EXPECT_TRUE(iterations_commute(*p, path({0})));
}

}  // namespace
}  // namespace exotune
