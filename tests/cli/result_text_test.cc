#include "cli/result_text.h"

#include <gtest/gtest.h>

#include "core/frontend/parser.h"
#include "hw/target.h"

namespace exotune::cli {
namespace {

// What is over the peak is said to need fewer operations where a step of the schedule, or of one of
// its parts, makes it so; else the peak is doubted.
TEST(ResultText, a_speed_over_the_peak_is_explained) {
  TuneRequest request;
  request.target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  request.proc = parse_module(R"(
@proc
def scaled(s: f64, x: f64[8], y: f64[1]):
    for i in seq(0, 8):
        y[0] += s * x[i]
)",
                              "scaled.exo")
                     .procs.at(0);
  request.kernel.name = "scaled";
  TuneResult result;
  result.winner = request.proc;
  result.seconds = 1e-6;
  result.gflops = 60;
  result.peak_gflops = 50;
  const auto text = [&] { return result_text(request, result, {}, false); };
  EXPECT_NE(text().find("the peak is wrong"), std::string::npos) << text();
  result.script = "p, part1 = extract_subproc(p, 'i', 'part1')\npart1 = factors_ahead(part1)\n";
  EXPECT_NE(text().find("the winner needs fewer"), std::string::npos) << text();
  result.gflops = 40;
  EXPECT_EQ(text().find("over 100 %"), std::string::npos) << text();
}

// Loops that a step made are in no text that the user has.
TEST(ResultText, refusals_are_told_in_names_of_the_program) {
  TuneRequest request;
  request.target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  request.proc = parse_module(
                     "@proc\ndef f(n: size, x: f32[n]):\n    for i in seq(0, n):\n"
                     "        x[i] = x[i] * 3.0\n",
                     "f.exo")
                     .procs.at(0);
  request.sizes = {{"n", 50}};
  TuneResult result;
  result.winner = request.proc;
  result.as_written = true;
  result.seconds = 1e-3;
  result.statistics.reasons = {
      {"a", "p = a(p)\na: `x[i + 1]` is read, and `i` goes on"},
      {"b", "p = b(p, 'i0o i1o')\nno loop 'i0o' holds just the loop 'i1o'"},
      {"c", "p = c(p)\nlift_alloc: `x` would carry a value from one iteration of `il` to another"}};
  const std::string text = result_text(request, result, {}, false);
  EXPECT_NE(text.find("refused  p = a(p): a: `x[i + 1]` is read"), std::string::npos) << text;
  EXPECT_EQ(text.find("i0o"), std::string::npos) << text;
  EXPECT_EQ(text.find("`il`"), std::string::npos) << text;
}

TEST(ResultText, rounds_that_were_left_out_are_told) {
  TuneRequest request;
  request.target = load_target("avx2", {EXOTUNE_SOURCE_DIR "/hw"});
  request.proc = parse_module(
                     "@proc\ndef f(T: size, x: f32[8]):\n    for t in seq(0, T):\n"
                     "        for i in seq(0, 8):\n            x[i] = x[i] * 3.0\n",
                     "f.exo")
                     .procs.at(0);
  request.sizes = {{"T", 5000}};
  TuneResult result;
  result.winner = request.proc;
  result.seconds = 1e-3;
  const auto text = [&] { return result_text(request, result, {}, false); };
  EXPECT_EQ(text().find("rounds "), std::string::npos) << text();
  result.searched_at = {{"T", 56}};
  EXPECT_NE(text().find("rounds   searched, and compared with others, at T=56"), std::string::npos)
      << text();
  EXPECT_EQ(text().find("timed there"), std::string::npos) << text();
  result.timed_there = true;
  EXPECT_NE(text().find("timed there, too"), std::string::npos) << text();
}

}  // namespace
}  // namespace exotune::cli
