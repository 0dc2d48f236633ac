// Instructions that do the same in another way, against the interpreter, on a target of four lanes.
#include "core/library/twins.h"

#include <gtest/gtest.h>

#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/step.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kRoots = R"(
@instr("root")
def root(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = sqrt(src[i])

@instr("root_by_estimate")
def root_by_estimate(into: [f32][4] @ V4, of: [f32][4] @ V4):
    assert stride(into, 0) == 1
    for k in seq(0, 4):
        into[k] = sqrt(of[k])

@instr("root_of_dense")
def root_of_dense(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    assert stride(src, 0) == 1
    for i in seq(0, 4):
        dst[i] = sqrt(src[i])

@instr("negative")
def negative(dst: [f32][4] @ V4, src: [f32][4] @ V4):
    assert stride(dst, 0) == 1
    for i in seq(0, 4):
        dst[i] = -src[i]

@proc
def roots(x: f32[8], y: f32[8]):
    for jv in seq(0, 2):
        a: f32[4] @ V4
        b: f32[4] @ V4
        load(a[0:4], x[4 * jv:4 * jv + 4])
        root(b[0:4], a[0:4])
        root(a[0:4], b[0:4])
        store(y[4 * jv:4 * jv + 4], a[0:4])
)";

struct CallTwins : ::testing::Test {
  CallTwins() : module(parse_module(std::string(kFourLanes) + kRoots, "roots.exo")) {}
  ProcPtr by(const std::vector<std::string>& names) const {
    std::vector<ProcPtr> instructions;
    for (const std::string& name : names) instructions.push_back(module.find_proc(name));
    return call_twins(module.procs.back(), instructions);
  }
  static std::vector<double> result(const ProcPtr& p) {
    Buffer x(ScalarType::kF32, {8}), y(ScalarType::kF32, {8});
    for (size_t k = 0; k < x.data.size(); ++k) x.data[k] = static_cast<double>(k * 7 % 11);
    run(*p, {&x, &y});
    return y.data;
  }
  Module module;
};

TEST_F(CallTwins, every_call_becomes_one_of_what_does_the_same) {
  const ProcPtr p = by({"negative", "root_by_estimate"});
  EXPECT_EQ(result(p), result(module.procs.back()));
  const std::string text = str(*p);
  EXPECT_NE(text.find("root_by_estimate(b[0:4], a[0:4])"), std::string::npos) << text;
  EXPECT_NE(text.find("root_by_estimate(a[0:4], b[0:4])"), std::string::npos) << text;
  EXPECT_EQ(text.find("root("), std::string::npos) << text;
}

// A script says which: all instructions of a target would be the callee's own.
TEST_F(CallTwins, are_named_in_scripts) {
  const ValueList twins = {Value(module.find_proc("root_by_estimate"))};
  const Steps steps = {{"call_twins", {Value(twins)}}};
  EXPECT_EQ(lines_of(steps, "p"),
            std::vector<std::string>{"p = call_twins(p, [root_by_estimate])"});
}

// What it asks for is part of what an instruction says: it is no twin, whatever it computes.
TEST_F(CallTwins, refuses_where_nothing_does_the_same) {
  EXPECT_THROW((void)by({"negative"}), SchedulingError);
  EXPECT_THROW((void)by({"root"}), SchedulingError) << "itself";
  EXPECT_THROW((void)by({"root_of_dense"}), SchedulingError);
}

}  // namespace
}  // namespace exotune
