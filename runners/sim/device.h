#pragma once
// Device: an instruction-set extension that is simulated beside the processor: which words are its
// instructions, what they do to its own state and to memory, and when. Start at Device; a device
// for `extension = "NAME"` of target.toml is made by make_device (devices.h).
//
// Time is in cycles of the processor's clock and only moves forward. A device does what an
// instruction does at once, in program order, and reckons when the hardware would be done with it:
// that is what may_go_on and idle_at say.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runners/sim/memory.h"

namespace exotune::sim {

/// A count the hardware would keep, under the hardware's name.
struct Event {
  std::string name;
  uint64_t count = 0;
};

class Device {
 public:
  struct Call {
    uint32_t word = 0;          // the instruction
    uint64_t rs1 = 0, rs2 = 0;  // values of the processor's registers that it names
    uint64_t now = 0;           // when the processor reaches it
  };
  struct Reply {
    uint64_t next = 0;  // when the processor goes on to the next instruction, at least now + 1
    uint64_t rd = 0;    // for an instruction that gives a value back
    std::string fault;  // what the program did wrong; "" when nothing. It ends the run.
  };
  /// How the words of an instruction use the processor's registers: what it waits for.
  struct Form {
    bool reads_rs1 = false, reads_rs2 = false, writes_rd = false;
  };

  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// The form of `word`; nothing when it is none of its instructions.
  virtual std::optional<Form> decode(uint32_t word) const = 0;
  virtual Reply execute(const Call& call, Memory& memory) = 0;
  /// When everything begun so far is done: a fence waits for it.
  virtual uint64_t idle_at() const = 0;
  /// In an order of its own, always the same names; counts never go down.
  virtual std::vector<Event> events() const = 0;
  /// As after power-on.
  virtual void reset() = 0;
};
using DevicePtr = std::unique_ptr<Device>;

}  // namespace exotune::sim
