#include "core/library/stages.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/script.h"

namespace exotune {
namespace {

const char kBlur[] = R"(
def blur(H: size, W: size, x: f32[H + 2, W + 2], y: f32[H, W]):
    a : f32[H + 2, W]
    for i in seq(0, H + 2):
        for j in seq(0, W):
            a[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in seq(0, H):
        for j in seq(0, W):
            y[i, j] = a[i, j] + a[i + 1, j] + a[i + 2, j]
)";

ProcPtr parse(const std::string& text) { return parse_module(text, "test.exo").procs.back(); }
std::string body(const ProcPtr& p) { return str(*p, p->body); }

ProcPtr schedule(const std::string& object, const std::string& script) {
  return run_script(script, "test.sched", script_environment(parse_module(object, "test.exo")))
      .proc;
}

void expect_same(const ProcPtr& before, const ProcPtr& after,
                 const std::map<std::string, int64_t>& sizes) {
  Arguments expected = make_arguments(*before, sizes, 3), got = make_arguments(*after, sizes, 3);
  run(*before, expected.values);
  run(*after, got.values);
  for (size_t k = 0; k < got.buffers.size(); ++k)
    EXPECT_EQ(first_difference(*expected.buffers[k], *got.buffers[k]), "") << k;
}

TEST(Stages, bounds_inference_gives_the_window_of_one_iteration) {
  ScriptResult r = run_script(
      "p = divide_loop(p, 'i #1', 4, ['i', 'ii'], tail='cut')\n"
      "p, w = bounds_inference(p, 'for ii in _: _', 'a', 'R')\n"
      "p, all = bounds_inference(p, 'for i in _: _', 'a', 'W')\n",
      "s", script_environment(parse_module(kBlur, "b.exo")));
  EXPECT_EQ(*r.bindings.at("w").as<std::string>(), "a[4 * i:4 * i + 6, 0:W]");
  EXPECT_EQ(*r.bindings.at("all").as<std::string>(), "a[0:H + 2, 0:W]");
}

TEST(Stages, tiles_compute_their_border_again) {
  const ProcPtr before = parse(kBlur);
  const ProcPtr p = schedule(kBlur,
                             "p = add_assertion(p, 'H % 4 == 0')\n"
                             "p = add_assertion(p, 'W % 8 == 0')\n"
                             "p = H_tile(p, 'y', 'i', 'j', 'ii', 'ji', 4, 8)\n"
                             "p = H_compute_store_at(p, 'a', 'y', 'j')\n");
  EXPECT_EQ(body(p), R"(for i in seq(0, H / 4):
    for j in seq(0, W / 8):
        a : f32[6, 8] @ DRAM
        for ii in seq(0, 6):
            for ji in seq(0, 8):
                a[ii, ji] = x[4 * i + ii, 8 * j + ji] + x[4 * i + ii, 8 * j + ji + 1] + x[4 * i + ii, 8 * j + ji + 2]
        for ii in seq(0, 4):
            for ji in seq(0, 8):
                y[4 * i + ii, 8 * j + ji] = a[ii, ji] + a[ii + 1, ji] + a[ii + 2, ji]
)");
  expect_same(before, p, {{"H", 8}, {"W", 16}});
}

TEST(Stages, a_sliding_window_computes_each_row_once) {
  const ProcPtr before = parse(kBlur);
  const ProcPtr p = schedule(kBlur,
                             "p = H_compute_at(p, 'a', 'y', 'i')\n"
                             "p = H_fold_storage(p, 'a', 0, 3)\n");
  EXPECT_EQ(body(p), R"(a : f32[3, W] @ DRAM
for i in seq(0, 2):
    for j in seq(0, W):
        a[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
for i in seq(0, H):
    for j in seq(0, W):
        a[(i + 2) % 3, j] = x[i + 2, j] + x[i + 2, j + 1] + x[i + 2, j + 2]
    for j in seq(0, W):
        y[i, j] = a[i % 3, j] + a[(i + 1) % 3, j] + a[(i + 2) % 3, j]
)");
  for (int64_t h : {1, 2, 7}) expect_same(before, p, {{"H", h}, {"W", 5}});
  EXPECT_THROW(
      schedule(kBlur, "p = H_compute_at(p, 'a', 'y', 'i')\np = H_fold_storage(p, 'a', 0, 2)\n"),
      SchedulingError);
}

TEST(Stages, storage_inside_and_a_sliding_window_within_it) {
  const ProcPtr p = schedule(kBlur,
                             "p = add_assertion(p, 'H % 4 == 0')\n"
                             "p = H_split(p, 'y', 'i', 'i', 'ii', 4)\n"
                             "p = H_compute_store_at(p, 'a', 'y', 'i')\n"
                             "p = H_compute_at(p, 'a', 'y', 'ii')\n"
                             "p = H_fold_storage(p, 'a', 0, 4)\n");
  EXPECT_NE(body(p).find("for i in seq(0, H / 4):\n    a : f32[4, W] @ DRAM\n"), std::string::npos);
  expect_same(parse(kBlur), p, {{"H", 8}, {"W", 3}});
}

TEST(Stages, one_element_becomes_a_scalar_and_can_be_inlined) {
  const std::string text = R"(
def f(H: size, W: size, x: f32[H, W], y: f32[H, W]):
    a : f32[H, W]
    for i in seq(0, H):
        for j in seq(0, W):
            a[i, j] = 2.0 * x[i, j]
    for j in seq(0, W):
        for i in seq(0, H):
            y[i, j] = a[i, j] + 1.0
)";
  EXPECT_EQ(body(compute_and_store_at(parse(text), "a", "y", "i")),
            "for j in seq(0, W):\n    for i in seq(0, H):\n        a : f32 @ DRAM\n"
            "        a = 2.0 * x[i, j]\n        y[i, j] = a + 1.0\n");
  EXPECT_EQ(
      body(schedule(text, "p = H_compute_inline(p, 'a', 'y', 'i')\n")),
      "for j in seq(0, W):\n    for i in seq(0, H):\n        y[i, j] = 2.0 * x[i, j] + 1.0\n");
}

TEST(Stages, compute_root_takes_a_stage_out_again) {
  const std::string text = R"(
def f(H: size, W: size, x: f32[H, W], y: f32[H, W]):
    for i in seq(0, H):
        a : f32[W]
        for j in seq(0, W):
            a[j] = 2.0 * x[i, j]
        for j in seq(0, W):
            y[i, j] = a[j] + 1.0
)";
  const ProcPtr p = compute_root(parse(text), "a");
  EXPECT_EQ(body(p), R"(a : f32[H, W] @ DRAM
for i in seq(0, H):
    for j in seq(0, W):
        a[i, j] = 2.0 * x[i, j]
for i in seq(0, H):
    for j in seq(0, W):
        y[i, j] = a[i, j] + 1.0
)");
  EXPECT_THROW(compute_root(p, "a"), SchedulingError);
}

TEST(Stages, what_cannot_be_fused_is_refused) {
  const ProcPtr p = parse(kBlur);
  EXPECT_THROW(compute_at(p, "a", "y", "k"), InvalidCursorError);
  EXPECT_THROW(compute_at(p, "y", "a", "i"), SchedulingError);  // it comes later
  EXPECT_THROW(store_at(p, "a", "y", "i"), SchedulingError);    // it is used in two loops
  // The window runs backwards.
  const ProcPtr back = parse(
      "def f(n: size, x: f32[n], y: f32[n]):\n    a : f32[n]\n    for i in seq(0, n):\n"
      "        a[i] = x[i]\n    for i in seq(0, n):\n        y[i] = a[n - 1 - i]\n");
  EXPECT_THROW(compute_at(back, "a", "y", "i"), SchedulingError);
}

TEST(Tiling, a_nest_is_tiled_from_its_outermost_loop) {
  const std::string text =
      "def f(x: f32[8, 4, 6]):\n    for i in seq(0, 8):\n        for j in seq(0, 4):\n"
      "            for k in seq(0, 6):\n                x[i, j, k] = 1.0\n";
  const ProcPtr p = schedule(text, "p = tile_loops_bottom_up(p, 'i', [4, 2, 3])\n");
  std::string order;
  for (const Path& at : all_stmt_paths(*p))
    if (const For* f = stmt_at(*p, at)->as<For>()) order += f->iter.name() + " ";
  EXPECT_EQ(order, "io jo ko ii ji ki ");
  EXPECT_THROW(schedule(text, "p = tile_loops_bottom_up(p, 'i', [4, 2, 3, 2])\n"), SchedulingError);
}

TEST(Halide, reorder_takes_the_innermost_first_and_parallel_marks_the_loop) {
  const std::string text =
      "def f(n: size, y: f32[3, n, n]):\n    for c in seq(0, 3):\n        for i in seq(0, n):\n"
      "            for j in seq(0, n):\n                y[c, i, j] = 1.0\n";
  const ProcPtr p = schedule(
      text, "p = H_reorder(p, 'y', 'c j i')\np = H_parallel(p, 'i')\np = H_unroll(p, 'y', 'c')\n");
  EXPECT_EQ(body(p),
            "for i in par(0, n):\n    for j in seq(0, n):\n        y[0, i, j] = 1.0\n"
            "        y[1, i, j] = 1.0\n        y[2, i, j] = 1.0\n");
  EXPECT_EQ(
      body(schedule(text, "p = H_reorder(p, 'y', 'c i j')\np = H_fuse(p, 'y', 'i', 'c', 'k')\n")),
      "for j in seq(0, n):\n    for k in seq(0, 3 * n):\n        y[k % 3, k / 3, j] = 1.0\n");
}

}  // namespace
}  // namespace exotune
