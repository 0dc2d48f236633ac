// Every operator that takes a number, called with numbers that make no sense, on loops that some of
// them were not made for: each call gives a procedure or is refused; none ends the process, and
// none is an internal error.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/library/operators.h"
#include "tests/core/library/four_lanes.h"

namespace exotune {
namespace {

constexpr const char* kLoops = R"(
@proc
def loops(n: size, x: f32[4, 16], y: f32[16, 4], s: f32[2], z: f32[n]):
    t: f32[4, 16]
    for r in seq(0, 4):
        for c in seq(0, 16):
            s[0] += x[r, c]
            s[1] += x[r, c] * y[c, r]
    for r in seq(0, 4):
        for c in seq(0, 16):
            t[r, c] = 2.0 * x[r, c]
        for c in seq(0, 16):
            x[r, c] = t[r, c]
    for i in seq(0, n):
        z[i] = z[i] + 1.0
)";

bool takes_numbers(const Operator& op) {
  for (const Param& p : op.params)
    if (p.kind == ParamKind::kInteger || p.kind == ParamKind::kIntegers ||
        p.kind == ParamKind::kExpr)
      return true;
  return false;
}

// A value for each parameter, `number` for those that are numbers; places and names of loops are
// `loop`, but for a second name, which is an inner loop's.
std::vector<Value> arguments(const Operator& op, const FourLanes& machine, int64_t number,
                             const std::string& loop) {
  std::vector<Value> out;
  int strings = 0;
  for (const Param& p : op.params) {
    switch (p.kind) {
      case ParamKind::kProc:
        out.emplace_back(machine.find("loops"));
        break;
      case ParamKind::kProcs: {
        ValueList instrs;
        for (const ProcPtr& instr : machine.unit.instrs) instrs.emplace_back(instr);
        out.emplace_back(std::move(instrs));
        break;
      }
      case ParamKind::kInteger:
        out.emplace_back(number);
        break;
      case ParamKind::kIntegers:
        out.push_back(Value::ints({number}));
        break;
      case ParamKind::kExpr:
        out.emplace_back(std::to_string(number));
        break;
      case ParamKind::kBoolean:
        out.emplace_back(true);
        break;
      case ParamKind::kMemory:
        out.emplace_back(machine.unit.memory);
        break;
      case ParamKind::kName:
        out.emplace_back("made");
        break;
      case ParamKind::kNames:
        out.push_back(Value::strings({"outer", "inner"}));
        break;
      case ParamKind::kString:
        out.emplace_back(strings++ == 0 ? loop : "c");
        break;
      default:
        out.emplace_back(loop == "t" ? "t: _" : "for " + loop + " in _: _");
        break;
    }
  }
  return out;
}

TEST(OddNumbers, are_refused_by_every_operator_or_make_sense_to_it) {
  const FourLanes machine(kLoops);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kMost = std::numeric_limits<int64_t>::max();
  int calls = 0, refused = 0;
  for (const Operator& op : operator_table()) {
    if (!takes_numbers(op)) continue;
    for (const int64_t number :
         {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{3}, int64_t{1} << 40, kLeast, kMost})
      for (const char* loop : {"r", "c", "i", "t"}) {
        ++calls;
        try {
          (void)call_operator(op.name, arguments(op, machine, number, loop));
        } catch (const Error& e) {
          ++refused;
          EXPECT_EQ(e.exit_code(), ExitCode::kInput)
              << op.name << " " << number << " " << loop << ": " << e.what();
        }
      }
  }
  EXPECT_GT(calls, 1000);
  EXPECT_GT(calls, refused);
}

}  // namespace
}  // namespace exotune
