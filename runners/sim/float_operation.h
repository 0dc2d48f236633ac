#pragma once
// FloatOperation: the arithmetic of the F and D extensions, in one width or the other. Loads and
// stores are ordinary operations (operation.h).
#include <cstdint>

namespace exotune::sim {

/// The order is the decoder's: operations up to kMoveFromInt leave their result in a float
/// register, those from kEq on in an integer one, which is how the processor's loop tells the two
/// apart.
enum class FloatOperation : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kSqrt,
  kMadd,
  kMsub,
  kNmsub,
  kNmadd,
  kSgnj,
  kSgnjn,
  kSgnjx,
  kMin,
  kMax,
  kFromW,
  kFromWu,
  kFromL,
  kFromLu,
  kFromOther,
  kMoveFromInt,  // results in a float register
  kEq,
  kLt,
  kLe,
  kClass,
  kToW,
  kToWu,
  kToL,
  kToLu,
  kMoveToInt,  // in an integer register
};

/// Bit 7 of Instruction::detail: the operation works on f64.
constexpr uint8_t kDoubleWidth = 0x80;

}  // namespace exotune::sim
