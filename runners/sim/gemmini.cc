#include "runners/sim/gemmini.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace exotune::sim {

namespace {

// Function codes of its instructions.
constexpr uint32_t kConfigure = 0, kLoad2 = 1, kLoad = 2, kStore = 3, kComputePreloaded = 4,
                   kComputeAccumulated = 5, kPreload = 6, kFlush = 7, kLoad3 = 14, kCounter = 126;

// Commands pack their operands into two 64-bit registers.
constexpr uint64_t field(uint64_t word, int low, int count) {
  return word >> low & ((uint64_t{1} << count) - 1);
}

float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

}  // namespace

Gemmini::Gemmini(const GemminiFigures& figures)
    : figures_(figures), local_(figures), in_(figures), out_(figures) {
  reset();
}

void Gemmini::reset() {
  local_ = GemminiMemory(figures_);
  in_ = out_ = GemminiDma(figures_);
  load_settings_.fill({});
  store_settings_ = {};
  execute_settings_ = {};
  weights_ = result_ = {};
  preloaded_ = false;
  // An even number of rows: the product is computed two rows at a time.
  array_.assign((figures_.size + figures_.size % 2) * figures_.size, 0);
  next_array_ = array_;
  row_left_.assign(figures_.size + figures_.size % 2, 0);
  row_sums_.assign(figures_.size, 0);
  loads_ = {std::vector<uint64_t>(figures_.reserved_loads, 0)};
  stores_ = {std::vector<uint64_t>(figures_.reserved_stores, 0)};
  executes_ = {std::vector<uint64_t>(figures_.reserved_executes, 0)};
  mvin_ends_.assign(figures_.loads_in_flight, 0);
  next_mvin_ = 0;
  array_free_ = idle_at_ = 0;
  load_busy_ = store_busy_ = array_busy_ = flush_ = full_ = 0;
  counters_ = {};
}

std::optional<Device::Form> Gemmini::decode(uint32_t word) const {
  // custom-3, where the generator puts its commands; the function code stands where R-type has
  // funct7.
  const uint32_t opcode = word & 0x7f, function = word >> 12 & 7, upper = word >> 25;
  if (opcode != 0x7b) return std::nullopt;
  if (function == 7 && upper == kCounter) return Form{true, true, true};
  // Loops in hardware are commands too, which this configuration refuses when it meets them.
  if (function != 3 || upper > 24) return std::nullopt;
  return Form{true, true, false};
}

// Loads, stores and computations wait in stations of their own; a configuration waits with what it
// configures.
Gemmini::Entries& Gemmini::entries_of(uint32_t function, uint64_t rs1) {
  switch (function) {
    case kLoad:
    case kLoad2:
    case kLoad3:
      return loads_;
    case kStore:
      return stores_;
    case kConfigure:
      return field(rs1, 0, 2) == 1 ? loads_ : field(rs1, 0, 2) == 2 ? stores_ : executes_;
    default:
      return executes_;
  }
}

Device::Reply Gemmini::execute(const Call& call, Memory& memory) {
  const uint32_t function = call.word >> 25;
  Reply reply;
  if (function == kCounter) {
    reply.rd = counter(call.rs1);
    reply.next = call.now + 1;
    return reply;
  }
  // The processor stands still while the station is full.
  const uint64_t entered = entries_of(function, call.rs1).enter(call.now);
  full_ += entered - call.now;
  switch (function) {
    case kConfigure:
      reply.fault = configure(call.rs1, call.rs2, entered);
      break;
    case kLoad:
      reply.fault = load(0, call.rs1, call.rs2, entered, memory);
      break;
    case kLoad2:
      reply.fault = load(1, call.rs1, call.rs2, entered, memory);
      break;
    case kLoad3:
      reply.fault = load(2, call.rs1, call.rs2, entered, memory);
      break;
    case kStore:
      reply.fault = store(call.rs1, call.rs2, entered, memory);
      break;
    case kPreload:
      reply.fault = preload(call.rs1, call.rs2, entered);
      break;
    case kComputePreloaded:
      reply.fault = compute(call.rs1, call.rs2, true, entered);
      break;
    case kComputeAccumulated:
      reply.fault = compute(call.rs1, call.rs2, false, entered);
      break;
    case kFlush:
      break;
    default:
      reply.fault = "Gemmini command " + std::to_string(function) +
                    ", which is not in the default configuration";
  }
  idle_at_ =
      std::max({idle_at_, entered + 1, loads_.last_end, stores_.last_end, executes_.last_end});
  // It goes on when the command has been taken, long before it is done.
  reply.next = entered + 1;
  return reply;
}

std::string Gemmini::configure(uint64_t rs1, uint64_t rs2, uint64_t now) {
  switch (field(rs1, 0, 2)) {
    case 0: {
      // The array drains first.
      // What the array computes with must not change under it.
      const uint64_t start = std::max(now, executes_.last_end);
      flush_ += start - std::min(start, std::max(now, array_free_));
      array_free_ = std::max(array_free_, start) + 1;
      executes_.leave(array_free_);
      return configure_execute(rs1, rs2);
    }
    case 1:
      // Three sets of settings for loads, by two bits.
      if (field(rs1, 3, 2) == 3) return "config_ld of a fourth set of settings";
      configure_load(rs1, rs2);
      loads_.leave(now + 1);
      return "";
    case 2:
      stores_.leave(std::max(now, stores_.last_end) + 1);
      return configure_store(rs1, rs2);
    default:
      return "config_norm, which is not in the default configuration";
  }
}

std::string Gemmini::configure_execute(uint64_t rs1, uint64_t rs2) {
  ExecuteSettings s;
  s.activation = static_cast<uint32_t>(field(rs1, 3, 2));
  s.transpose_a = field(rs1, 8, 1);
  s.transpose_b = field(rs1, 9, 1);
  s.a_stride = field(rs1, 16, 16);
  s.c_stride = field(rs2, 48, 16);
  s.set = true;
  if (!field(rs1, 2, 1))
    return "config_ex of the output-stationary dataflow, which is not simulated";
  if (s.activation > 1)
    return "config_ex of an activation that is not in the default configuration";
  if (s.transpose_a && s.transpose_b) return "config_ex that transposes both operands";
  execute_settings_ = s;
  return "";
}

void Gemmini::configure_load(uint64_t rs1, uint64_t rs2) {
  LoadSettings& s = load_settings_[field(rs1, 3, 2)];
  s.stride = rs2;
  s.narrow = field(rs1, 2, 1);
  // 0 means one.
  s.repeats = std::max<uint64_t>(1, field(rs1, 8, 8));
  s.block_stride = field(rs1, 16, 16);
  s.scale = as_float(field(rs1, 32, 32));
  s.set = true;
}

std::string Gemmini::configure_store(uint64_t rs1, uint64_t rs2) {
  StoreSettings s;
  s.activation = static_cast<uint32_t>(field(rs1, 2, 2));
  s.pool_stride = field(rs1, 4, 2);
  s.pool_size = field(rs1, 6, 2);
  s.pad_up = field(rs1, 8, 2);
  s.pad_left = field(rs1, 10, 2);
  s.out_columns = field(rs1, 24, 8);
  s.pool_rows = field(rs1, 32, 8);
  s.pool_columns = field(rs1, 40, 8);
  s.rows = field(rs1, 48, 8);
  s.columns = field(rs1, 56, 8);
  s.stride = field(rs2, 0, 32);
  s.scale = as_float(field(rs2, 32, 32));
  s.set = true;
  if (s.activation > 1)
    return "config_st of an activation that is not in the default configuration";
  store_settings_ = s;
  return "";
}

std::string Gemmini::preload(uint64_t rs1, uint64_t rs2, uint64_t now) {
  // Only noted: the array takes them with the next computation.
  weights_ = GemminiTile::of(rs1);
  result_ = GemminiTile::of(rs2);
  preloaded_ = true;
  // Its entry is held until the tile that it prepares is done; see compute.
  executes_.leave(now + figures_.execute_cycles);
  if (weights_.rows > figures_.size || weights_.columns > figures_.size ||
      result_.rows > figures_.size || result_.columns > figures_.size)
    return "preload of more than a tile";
  return take_weights();
}

std::vector<Event> Gemmini::events() const {
  return {{"LOAD_ACTIVE_CYCLE", load_busy_},
          {"STORE_ACTIVE_CYCLE", store_busy_},
          {"EXE_ACTIVE_CYCLE", array_busy_},
          {"EXE_FLUSH_CYCLE", flush_},
          {"RDMA_ACTIVE_CYCLE", in_.busy()},
          {"WDMA_ACTIVE_CYCLE", out_.busy()},
          {"RDMA_READ_REQUESTS", in_.requests()},
          {"WDMA_WRITE_REQUESTS", out_.requests()},
          {"RDMA_BYTES_REC", in_.bytes()},
          {"WDMA_BYTES_SENT", out_.bytes()},
          {"RESERVATION_STATION_FULL_CYCLES", full_},
          {"RESERVATION_STATION_LD_COUNT", loads_.count},
          {"RESERVATION_STATION_ST_COUNT", stores_.count},
          {"RESERVATION_STATION_EX_COUNT", executes_.count},
          {"array_busy", array_busy_},
          {"dma_busy", in_.busy() + out_.busy()}};
}

// A program chooses an event for one of eight counters and reads it: bit 0 of rs1 sets all back,
// bit 3 chooses, bits 4 to 6 are the counter, bits 12 to 17 and 31 the hardware's number of the
// event.
uint64_t Gemmini::counter(uint64_t rs1) {
  constexpr std::pair<uint64_t, size_t> kNumbers[] = {
      {9, 0},  {12, 1},     {24, 2},     {25, 3},  {18, 4},      {21, 5},      {45, 6},
      {46, 7}, {64 + 4, 8}, {64 + 5, 9}, {41, 10}, {64 + 1, 11}, {64 + 2, 12}, {64 + 3, 13}};
  // In the order that kNumbers counts by.
  const std::vector<Event> now = events();
  Counter& c = counters_[field(rs1, 4, 3)];
  if (field(rs1, 0, 1))
    for (Counter& each : counters_) each.from = each.event < now.size() ? now[each.event].count : 0;
  if (field(rs1, 3, 1)) {
    const uint64_t wanted = field(rs1, 12, 6) | (field(rs1, 31, 1) << 6);
    // An event that is not simulated counts nothing.
    c = {now.size(), 0};
    for (const auto& [number, event] : kNumbers)
      if (number == wanted) c = {event, now[event].count};
  }
  return c.event < now.size() ? now[c.event].count - c.from : 0;
}

}  // namespace exotune::sim
