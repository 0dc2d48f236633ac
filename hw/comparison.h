#pragma once
// What a target's text says of what its code is compared with: the libraries of others, and the
// roof. Start at PeerLimits.
//
// A kernel for one instruction set is compared with libraries that are held to the same, and with
// a peak that its own instructions can reach. Which word makes a library do so, and which
// instruction reaches the peak, are facts of the target: runners/ passes them on and knows none.
#include <map>
#include <string>
#include <vector>

namespace exotune {

/// `[peers]`: what libraries are held to. Without it they are held to plain code of the machine.
struct PeerLimits {
  std::vector<std::string> flags;  // of those that are compiled here
  /// By library, its words for the cores whose code is allowed; each makes a peer of its own, the
  /// first under the library's name. "" leaves the choice to the library.
  std::map<std::string, std::vector<std::string>> cores;

  bool empty() const { return flags.empty() && cores.empty(); }
};

/// `[roof.TYPE]`: one instruction in C, whose chains measure the peak of a precision that the
/// compiler's own vectors of floats do not reach.
struct RoofLoop {
  std::string chain;    // the C type of the accumulator `a`
  std::string operand;  // of the operands `x` and `y`
  std::string step;     // "a = ...": from a, x and y
  int operations = 0;   // of one step
  std::string begin;    // what the instruction needs first, once: registers set up; may be empty
};

}  // namespace exotune
