#pragma once
// FloatUnit: the arithmetic of F and D, done by the host's own floating-point unit, which is IEEE
// 754 with the same detection of underflow. Start at FloatUnit::operate.
//
// While a FloatUnit::Session lives, the host's flags are the simulated machine's (set them first)
// and the host's rounding is to nearest; its end puts the caller's floating-point state back.
#include <cfenv>
#include <cstdint>

#include "runners/sim/operation.h"

namespace exotune::sim {

/// A register's 64 bits; an f32 is boxed: upper half all ones.
using FloatBits = uint64_t;
constexpr FloatBits boxed(uint32_t single) { return 0xffffffff00000000ull | single; }

/// Keeps the rounding mode; flags live in the host's unit while a session is open.
class FloatUnit {
 public:
  /// The host's floating-point environment is the guest's for the life of a session: open one
  /// around a run, not around an instruction.
  class Session {
   public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

   private:
    std::fenv_t host_;
  };

  struct Result {
    uint64_t bits = 0;     // of the float register (boxed), or the integer, sign-extended
    bool illegal = false;  // a rounding mode that does not exist, or not for this operation
  };
  /// `a`, `b`, `c`: the float registers rs1, rs2, rs3; `x`: the integer register rs1.
  /// Results are bit for bit what the RISC-V specification says, NaNs included.
  Result operate(const Instruction& i, FloatBits a, FloatBits b, FloatBits c, uint64_t x);

  /// fflags and frm, as the control registers hold them. Only inside a session.
  uint32_t flags() const;
  void set_flags(uint32_t flags);
  uint32_t mode() const { return mode_; }
  void set_mode(uint32_t mode) { mode_ = mode & 7; }

 private:
  uint32_t mode_ = 0;
};

}  // namespace exotune::sim
