#pragma once
// TileUnit: RVM, eight tile registers of four rows of 16 bytes and what works on them. Instructions
// wait in a queue, leave it in order, complete out of order and chain: a product starts on the rows
// that a load has brought. Products wait once more, before the array.
//
// Opcode 0x2b, function 0; which instruction, by the upper bits: see tile_unit.cc.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runners/sim/device.h"
#include "runners/sim/figures.h"

namespace exotune::sim {

/// State changes in program order, time is worked out beside it: results are right whatever the
/// latencies are, and latencies are checked against published intervals by tests.
class TileUnit final : public Device {
 public:
  /// Cycles, of [latency] and [parameters] of the target.
  struct Timing {
    uint64_t zero = 10, load = 12, store = 12, product = 17;  // of one instruction alone
    uint64_t product_interval = 4;                            // from one product to the next
    uint64_t same_accumulator = 14;                           // the same, into one register
    uint64_t memory_interval = 5;                             // from one load or store to the next
    uint64_t queue = 4;                                       // instructions waiting
    uint64_t load_to_product = 8;  // from the end of what is waited for to the end of what waits
    uint64_t product_to_store = 3;
    uint64_t zero_to_product = 14;
    static Timing read(Figures& figures);
  };
  explicit TileUnit(const Timing& timing) : timing_(timing) { reset(); }

  std::string name() const override { return "rvm"; }
  /// See Device: decode says whether a word is one of RVM's, execute does it at the time given and
  /// replies when the processor goes on.
  std::optional<Form> decode(uint32_t word) const override;
  Reply execute(const Call& call, Memory& memory) override;
  uint64_t idle_at() const override { return idle_at_; }
  std::vector<Event> events() const override;
  void reset() override;

 private:
  enum class Kind : uint8_t { kNone, kZero, kLoad, kStore, kProduct };
  /// A decoded instruction.
  struct Command {
    Kind kind = Kind::kNone;
    int lanes = 0;        // products: factors in a row of 16 bytes; -4: four of f32
    int destination = 0;  // stores: what is stored
    int first = 0, second = 0;
  };
  /// A register's bytes, and what the next user of it has to wait for.
  struct Tile {
    std::array<uint8_t, 64> bytes{};
    Kind writer = Kind::kNone;
    uint64_t done = 0;           // of the last write
    uint64_t product_start = 0;  // of the last product into it
    uint64_t read_start = 0;     // of the last product of it
  };
  /// kNone for words that are no instruction of this unit.
  static Command command_of(uint32_t word);
  /// Loads and stores; the text is the fault.
  std::string move(const Command& c, const Call& call, Memory& memory);
  /// Products, by the width of their elements; sums wrap, floats round at each step.
  void multiply(const Command& c);
  /// When the instruction begins, and when it ends once begun: the rules of waiting and chaining.
  uint64_t start_of(const Command& c, uint64_t ready) const;
  uint64_t end_of(const Command& c, uint64_t start) const;

  Timing timing_;
  std::array<Tile, 8> tiles_;
  // Rings: when each of the last instructions left the queue, and when each of the last products,
  // which the array queues once more, began.
  std::vector<uint64_t> left_queue_, product_starts_;
  size_t next_ = 0, next_product_ = 0;  // places in the rings
  // Cycles: when the last instruction left the queue, when memory and the array take the next one,
  // and when everything is done.
  uint64_t last_left_ = 0, memory_free_ = 0, product_free_ = 0, idle_at_ = 0;
  // For events().
  uint64_t loads_ = 0, stores_ = 0, products_ = 0, zeros_ = 0, queue_full_ = 0;
};

}  // namespace exotune::sim
