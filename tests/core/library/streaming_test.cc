// Results past the caches, against the interpreter, on a target of four lanes.
#include "core/library/streaming.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kStreams = R"(
@instr("stream")
def stream(dst: [f32][4] @ DRAM, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = src[i]

@instr("fence")
def fence():
    pass
)";

// `loop` and a second store, into z, as a test wants them.
std::string kernel(const std::string& loop, const std::string& from) {
  return "@proc\ndef copy(x: f32[16], y: f32[16], z: f32[16]):\n    for jv in " + loop +
         "(0, 4):\n        a: f32[4] @ V4\n        load(a[0:4], " + from +
         "[4 * jv:4 * jv + 4])\n        store(y[4 * jv:4 * jv + 4], a[0:4])\n";
}

struct Streamed {
  ProcPtr before, after;
};
Streamed streamed(const std::string& text) {
  const Module m = parse_module(std::string(kFourLanes) + kStreams + text, "streams.exo");
  return {m.procs.back(),
          stream_results(m.procs.back(), {m.find_proc("stream")}, m.find_proc("fence"))};
}

std::vector<double> result(const ProcPtr& p) {
  Buffer x(ScalarType::kF32, {16}), y(ScalarType::kF32, {16}), z(ScalarType::kF32, {16});
  for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
  run(*p, {&x, &y, &z});
  return y.data;
}

TEST(StreamResults, go_past_the_caches_and_end_with_a_fence) {
  const Streamed s = streamed(kernel("seq", "x"));
  EXPECT_EQ(result(s.before), result(s.after));
  const std::string text = str(*s.after);
  EXPECT_NE(text.find("stream(y[4 * jv:4 * jv + 4], a[0:4])"), std::string::npos) << text;
  EXPECT_EQ(text.find("store("), std::string::npos) << text;
  EXPECT_NE(text.find("\n    fence()"), std::string::npos) << text;
}

// Two rows of y in each iteration: their lines wait for one another.
TEST(StreamResults, refuses_more_rows_at_once_than_are_asked_for) {
  const Module m = parse_module(std::string(kFourLanes) + kStreams + R"(
@proc
def copy(x: f32[16], y: f32[2, 16]):
    for jv in seq(0, 4):
        a: f32[4] @ V4
        load(a[0:4], x[4 * jv:4 * jv + 4])
        store(y[0, 4 * jv:4 * jv + 4], a[0:4])
        store(y[1, 4 * jv:4 * jv + 4], a[0:4])
)",
                                "streams.exo");
  const auto by = [&](int64_t rows) {
    return stream_results(m.procs.back(), {m.find_proc("stream")}, m.find_proc("fence"), rows);
  };
  EXPECT_THROW((void)by(1), SchedulingError);
  EXPECT_NO_THROW((void)by(2));
  EXPECT_NO_THROW((void)by(0));
}

TEST(StreamResults, refuses_what_is_read_again_and_what_runs_in_threads) {
  EXPECT_THROW((void)streamed(kernel("seq", "y")), SchedulingError);
  EXPECT_THROW((void)streamed(kernel("par", "x")), SchedulingError);
  EXPECT_THROW((void)streamed("@proc\ndef none(x: f32[16], y: f32[16]):\n    for i in seq(0, 16):\n"
                              "        y[i] = x[i]\n"),
               SchedulingError);
  // A buffer of the procedure's own is read by it, whatever it is.
  EXPECT_THROW((void)streamed("@proc\ndef own(x: f32[16]):\n    y: f32[4]\n    a: f32[4] @ V4\n"
                              "    load(a[0:4], x[0:4])\n    store(y[0:4], a[0:4])\n"),
               SchedulingError);
}

}  // namespace
}  // namespace exotune
