#pragma once
// Gemmini: a systolic array of i8 products with i32 sums, weight stationary, with its scratchpad,
// accumulator, DMA and reservation station. Start at execute; the commands are those of custom-3
// (0x7b), function 3, by the upper seven bits: see gemmini.cc. What the published hardware leaves
// out of its default configuration (loops in hardware, output-stationary sums, normalisation) is a
// fault that says so.
//
// Time: loads, stores and executes each have a unit, entries of the reservation station, and their
// own order; a command waits for commands of the other units by the local rows they share. The
// array overlaps the next preload with the current tile; config_ex waits for it to drain.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runners/sim/device.h"
#include "runners/sim/gemmini_dma.h"
#include "runners/sim/gemmini_memory.h"

namespace exotune::sim {

class Gemmini final : public Device {
 public:
  /// Empty scratchpad and accumulator, nothing configured. The figures are latencies and sizes of
  /// one implementation, from the target's text.
  explicit Gemmini(const GemminiFigures& figures);

  std::string name() const override { return "gemmini"; }
  /// Which of the array's commands a word is; nothing for words of other extensions, which then are
  /// illegal instructions.
  std::optional<Form> decode(uint32_t word) const override;
  /// Does the command at once, in the state; the reply says when the processor goes on, which is
  /// when the reservation station takes the command. A command before its configuration, a row
  /// outside, or a form that the hardware does not have is a fault with its cause in words.
  Reply execute(const Call& call, Memory& memory) override;
  /// When everything entered so far is done: what a fence waits for.
  uint64_t idle_at() const override { return idle_at_; }
  /// Under the names of the hardware's counters, and array_busy and dma_busy.
  std::vector<Event> events() const override;
  /// As after power-on.
  void reset() override;

 private:
  /// What config_ld last said of one of the three load channels; `set`: it was said at all.
  struct LoadSettings {
    uint64_t stride = 0, block_stride = 16, repeats = 1;
    float scale = 1;
    bool narrow = false;  // i8 from memory into the accumulator
    bool set = false;
  };
  /// What config_st said; pool_size 0: no pooling.
  struct StoreSettings {
    uint64_t stride = 0;
    uint32_t activation = 0;
    float scale = 1;
    uint64_t pool_stride = 0, pool_size = 0, pad_up = 0, pad_left = 0, out_columns = 0;
    uint64_t pool_rows = 0, pool_columns = 0, rows = 0, columns = 0;
    bool set = false;
  };
  /// What config_ex said.
  struct ExecuteSettings {
    bool transpose_a = false, transpose_b = false;
    uint32_t activation = 0;
    uint64_t a_stride = 1, c_stride = 1;
    bool set = false;
  };
  /// Entries of the reservation station of one class: when each of the last ones is free again.
  struct Entries {
    std::vector<uint64_t> ends;
    size_t next = 0;
    uint64_t last_end = 0;  // of any command of the class
    uint64_t count = 0;
    /// When a new command of the class gets an entry: the oldest one's end, if that is later than
    /// now.
    uint64_t enter(uint64_t now) const { return std::max(now, ends[next]); }
    /// The command's end; entries are taken in turn, so the ring is in order of entering.
    void leave(uint64_t end) {
      ends[next] = end;
      next = (next + 1) % ends.size();
      last_end = std::max(last_end, end);
      ++count;
    }
  };

  // Each does one command entered at `now`, in the state and in time; the text is its fault.
  /// By the lowest two bits of rs1: execute, load or store.
  std::string configure(uint64_t rs1, uint64_t rs2, uint64_t now);
  std::string configure_execute(uint64_t rs1, uint64_t rs2);
  void configure_load(uint64_t rs1, uint64_t rs2);
  std::string configure_store(uint64_t rs1, uint64_t rs2);
  /// Moves rows in and out; row and block strides are of the channel's settings, and values are
  /// scaled, narrowed and rounded as the hardware does it.
  std::string load(int settings, uint64_t rs1, uint64_t rs2, uint64_t now, Memory& memory);
  std::string load_row(const LoadSettings& s, const GemminiTile& t, uint64_t from, uint64_t row,
                       const Memory& memory);
  std::string store(uint64_t rs1, uint64_t rs2, uint64_t now, Memory& memory);
  std::string store_rows(const GemminiTile& t, uint64_t to, uint64_t start, Memory& memory);
  std::string store_pooled(const GemminiTile& t, uint64_t to, uint64_t start, Memory& memory);
  int8_t stored_value(const GemminiTile& t, uint64_t row, uint64_t column);
  /// A preload names the next weights and where results go; compute multiplies with them, or with
  /// the ones before.
  std::string preload(uint64_t rs1, uint64_t rs2, uint64_t now);
  std::string compute(uint64_t rs1, uint64_t rs2, bool with_preload, uint64_t now);
  /// The preloaded weights become the array's.
  std::string take_weights();
  /// Its fault before anything changes; "" when the tiles fit the array and what is configured.
  std::string check_compute(const GemminiTile& a, const GemminiTile& d);
  /// One tile: each row of A times the held weights, plus D, into the accumulator or the
  /// scratchpad.
  void multiply(const GemminiTile& a, const GemminiTile& d);
  void keep_row(uint64_t row);
  /// When all three operands' rows are there and the array takes the next tile.
  uint64_t compute_start(const GemminiTile& a, const GemminiTile& d, bool with_preload,
                         uint64_t now);
  /// The hardware's performance counters, by the number the program asked for.
  uint64_t counter(uint64_t rs1);
  Entries& entries_of(uint32_t function, uint64_t rs1);

  GemminiFigures figures_;
  GemminiMemory local_;  // scratchpad and accumulator, with when each row is free
  GemminiDma in_, out_;  // between local and main memory
  std::array<LoadSettings, 3> load_settings_;
  StoreSettings store_settings_;
  ExecuteSettings execute_settings_;
  GemminiTile weights_, result_;  // of the last preload
  bool preloaded_ = false;        // a compute with it may follow
  /// Where the array's vectors have the weight of row k and column j: every two rows lie side by
  /// side, element by element.
  size_t weight(size_t k, size_t j) const { return (k / 2 * figures_.size + j) * 2 + k % 2; }
  std::vector<int16_t> array_, next_array_;  // the weights held, and those preloaded
  std::vector<int16_t> row_left_;            // of the row that is multiplied
  std::vector<int32_t> row_sums_;            // what becomes of it
  Entries loads_, stores_, executes_;        // of the reservation station, by class
  std::vector<uint64_t> mvin_ends_;          // of the loads in flight, a ring
  size_t next_mvin_ = 0;
  uint64_t array_free_ = 0, idle_at_ = 0;  // cycles: of the array, of everything
  // For events(): cycles of each unit, and waits for a flush and for a full station.
  uint64_t load_busy_ = 0, store_busy_ = 0, array_busy_ = 0, flush_ = 0, full_ = 0;
  /// One of the program's counters: of which event, and what it was when it was set.
  struct Counter {
    size_t event = 0;
    uint64_t from = 0;
  };
  std::array<Counter, 8> counters_{};
};

}  // namespace exotune::sim
