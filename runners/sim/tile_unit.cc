#include "runners/sim/tile_unit.h"

#include <algorithm>
#include <cfenv>
#include <cstdio>

#include "core/base/diagnostic.h"
#include "runners/sim/operation.h"

namespace exotune::sim {
// Tiles of RVM: eight registers of 64 bytes each, loads and stores of rows, zeroing, products that
// add to a tile. State first, then time: what an instruction computes does not depend on when it
// runs, so the two are separate functions.

namespace {

// The upper seven bits and the field of the result register, by instruction.
constexpr uint32_t kLoadWord = 0x02, kStoreWord = 0x06, kZeroTile = 0x7c;
struct Product {
  uint32_t upper, result;
  int lanes;
};
constexpr Product kProducts[] = {{0x78, 16, 4}, {0x70, 8, 8}, {0x08, 0, 16}, {0x04, 16, -4}};

template <class T>
T element(const std::array<uint8_t, 64>& bytes, int row, int column) {
  T value;
  std::memcpy(&value,
              &bytes[static_cast<size_t>(16 * row) + sizeof(T) * static_cast<size_t>(column)],
              sizeof value);
  return value;
}

// Sums wrap around.
template <class T>
uint32_t row_product(const std::array<uint8_t, 64>& a, int i, const std::array<uint8_t, 64>& b,
                     int j) {
  uint32_t sum = 0;
  for (int k = 0; k < static_cast<int>(16 / sizeof(T)); ++k)
    sum += static_cast<uint32_t>(static_cast<int32_t>(element<T>(a, i, k))) *
           static_cast<uint32_t>(static_cast<int32_t>(element<T>(b, j, k)));
  return sum;
}

// Each product is rounded, then each sum, in the order of the elements.
float float_row(float sum, const std::array<uint8_t, 64>& a, int i,
                const std::array<uint8_t, 64>& b, int j) {
  for (int k = 0; k < 4; ++k) {
    const volatile float product = element<float>(a, i, k) * element<float>(b, j, k);
    sum += product;
  }
  return sum;
}

std::string at_address(const char* what, uint64_t address) {
  char text[120];
  std::snprintf(text, sizeof text, "%s 0x%08llx", what, static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

// From the target's text: latencies are of one implementation, not of the instruction set.
TileUnit::Timing TileUnit::Timing::read(Figures& figures) {
  Timing t;
  t.zero = figures.latency("mzero");
  t.load = figures.latency("mld");
  t.store = figures.latency("mst");
  t.product = figures.latency("mmasa");
  t.product_interval = figures.parameter("mmasa_interval");
  t.same_accumulator = figures.parameter("mmasa_same_accumulator");
  t.memory_interval = figures.parameter("memory_interval");
  t.queue = std::max<uint64_t>(1, figures.parameter("issue_depth"));
  t.load_to_product = figures.parameter("chain_load_product");
  t.product_to_store = figures.parameter("chain_product_store");
  t.zero_to_product = figures.parameter("chain_zero_product");
  // A fact for schedules: what is simulated happens in the program's order anyway.
  if (figures.parameter("memory_in_order", 0) > 1)
    throw InputError({}, "[parameters] memory_in_order is 0 or 1");
  return t;
}

void TileUnit::reset() {
  tiles_.fill({});
  left_queue_.assign(timing_.queue, 0);
  product_starts_ = left_queue_;
  next_ = next_product_ = 0;
  last_left_ = memory_free_ = product_free_ = idle_at_ = 0;
  loads_ = stores_ = products_ = zeros_ = queue_full_ = 0;
}

TileUnit::Command TileUnit::command_of(uint32_t word) {
  Command c;
  if (bits(word, 0, 7) != 0x2b || bits(word, 12, 3) != 0) return c;
  const uint32_t upper = bits(word, 25, 7), result = bits(word, 7, 5), rs1 = bits(word, 15, 5),
                 rs2 = bits(word, 20, 5);
  if ((upper == kLoadWord || upper == kStoreWord) && result >= 16 && result < 24) {
    c.kind = upper == kLoadWord ? Kind::kLoad : Kind::kStore;
    c.destination = static_cast<int>(result - 16);
  } else if (upper == kZeroTile && result == 0 && rs2 == 0 && rs1 < 8) {
    c.kind = Kind::kZero;
    c.destination = static_cast<int>(rs1);
  }
  for (const Product& p : kProducts) {
    if (upper != p.upper || result != p.result || rs2 >= 16) continue;
    c.kind = Kind::kProduct;
    c.lanes = p.lanes;
    c.destination = static_cast<int>(rs1 & 7);
    c.first = static_cast<int>((rs1 >> 3) | (rs2 & 1) << 2);
    c.second = static_cast<int>(rs2 >> 1);
  }
  return c;
}

std::optional<Device::Form> TileUnit::decode(uint32_t word) const {
  const Kind kind = command_of(word).kind;
  if (kind == Kind::kNone) return std::nullopt;
  const bool moves = kind == Kind::kLoad || kind == Kind::kStore;
  return Form{moves, moves, false};
}

// Rows lie a stride apart in memory; each must be inside, and the first that is not makes the
// message.
std::string TileUnit::move(const Command& c, const Call& call, Memory& memory) {
  std::array<uint8_t, 64>& bytes = tiles_[static_cast<size_t>(c.destination)].bytes;
  const bool load = c.kind == Kind::kLoad;
  if (!load && c.destination == 0) return "mst.w of m0, which hangs the published hardware";
  for (uint64_t row = 0; row < 4; ++row) {
    // Addresses are as wide as the processor's.
    uint64_t address = call.rs1 + row * call.rs2;
    if (memory.base() + memory.bytes() <= uint64_t{1} << 32) address &= 0xffffffffu;
    if (address & 3)
      return at_address(
          load ? "mld.w from the misaligned address" : "mst.w to the misaligned address", address);
    if (load && !memory.holds(address, 16))
      return at_address("mld.w from outside memory at", address);
    if (!load && !memory.may_write(address, 16))
      return at_address("mst.w to a place that cannot be written,", address);
    if (load)
      std::memcpy(&bytes[16 * row], memory.at(address), 16);
    else
      std::memcpy(memory.at(address), &bytes[16 * row], 16);
  }
  return "";
}

void TileUnit::multiply(const Command& c) {
  const auto &a = tiles_[static_cast<size_t>(c.first)].bytes,
             &b = tiles_[static_cast<size_t>(c.second)].bytes;
  std::array<uint8_t, 64> sums = tiles_[static_cast<size_t>(c.destination)].bytes;
  std::fenv_t environment;
  if (c.lanes < 0) std::fegetenv(&environment);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      uint8_t* const at = &sums[static_cast<size_t>(16 * i + 4 * j)];
      if (c.lanes < 0) {
        const float sum = float_row(element<float>(sums, i, j), a, i, b, j);
        std::memcpy(at, &sum, sizeof sum);
        continue;
      }
      const uint32_t more = c.lanes == 4   ? row_product<int32_t>(a, i, b, j)
                            : c.lanes == 8 ? row_product<int16_t>(a, i, b, j)
                                           : row_product<int8_t>(a, i, b, j);
      const uint32_t sum = element<uint32_t>(sums, i, j) + more;
      std::memcpy(at, &sum, sizeof sum);
    }
  if (c.lanes < 0) std::fesetenv(&environment);
  tiles_[static_cast<size_t>(c.destination)].bytes = sums;
}

// When its unit is free; not while an earlier instruction of another unit still writes its
// register, except that a product goes on with the sums of another or with zeros. A load does not
// overwrite what a waiting product has yet to read, row by row.
uint64_t TileUnit::start_of(const Command& c, uint64_t ready) const {
  const Tile& tile = tiles_[static_cast<size_t>(c.destination)];
  switch (c.kind) {
    case Kind::kProduct: {
      const uint64_t start = std::max(ready, product_free_);
      if (tile.writer == Kind::kProduct)
        return std::max(start, tile.product_start + timing_.same_accumulator);
      return tile.writer == Kind::kLoad ? std::max(start, tile.done) : start;
    }
    case Kind::kStore:
      return std::max(ready, memory_free_);
    case Kind::kLoad: {
      const uint64_t start = std::max(ready, memory_free_);
      const uint64_t read = tile.read_start + 4, written = start + timing_.load;
      const uint64_t held = read > written ? start + (read - written) : start;
      return tile.writer == Kind::kLoad ? held : std::max(held, tile.done);
    }
    default:
      return std::max({ready, tile.done, tile.read_start});
  }
}

uint64_t TileUnit::end_of(const Command& c, uint64_t start) const {
  const Tile& tile = tiles_[static_cast<size_t>(c.destination)];
  switch (c.kind) {
    case Kind::kProduct: {
      uint64_t end = start + timing_.product;
      for (const int operand : {c.first, c.second}) {
        const Tile& from = tiles_[static_cast<size_t>(operand)];
        if (from.writer != Kind::kNone) end = std::max(end, from.done + timing_.load_to_product);
      }
      return tile.writer == Kind::kZero ? std::max(end, tile.done + timing_.zero_to_product) : end;
    }
    case Kind::kStore:
      return std::max(start + timing_.store,
                      tile.writer == Kind::kNone ? 0 : tile.done + timing_.product_to_store);
    case Kind::kLoad:
      return start + timing_.load;
    default:
      return start + timing_.zero;
  }
}

// In the order of the program: the state changes at once, and the time is when the unit would have
// finished. The processor waits only where it must.
Device::Reply TileUnit::execute(const Call& call, Memory& memory) {
  const Command c = command_of(call.word);
  const bool product = c.kind == Kind::kProduct;
  Reply reply;
  Tile& tile = tiles_[static_cast<size_t>(c.destination)];
  const uint64_t entered = std::max(call.now, left_queue_[next_]);
  queue_full_ += entered - call.now;
  uint64_t ready = std::max(entered, last_left_);
  if (product) ready = std::max(ready, product_starts_[next_product_]);
  const uint64_t start = start_of(c, ready), end = end_of(c, start);
  switch (c.kind) {
    case Kind::kZero:
      tile.bytes.fill(0);
      ++zeros_;
      break;
    case Kind::kProduct:
      multiply(c);
      ++products_;
      break;
    default:
      reply.fault = move(c, call, memory);
      ++(c.kind == Kind::kLoad ? loads_ : stores_);
  }
  const uint64_t left = product ? ready : start;
  left_queue_[next_] = left;
  next_ = (next_ + 1) % left_queue_.size();
  last_left_ = left + 1;
  if (product) {
    product_starts_[next_product_] = start;
    next_product_ = (next_product_ + 1) % product_starts_.size();
    product_free_ = start + timing_.product_interval;
    for (const int operand : {c.first, c.second})
      tiles_[static_cast<size_t>(operand)].read_start = start;
    tile.product_start = start;
  }
  if (c.kind == Kind::kLoad || c.kind == Kind::kStore)
    memory_free_ = start + timing_.memory_interval;
  if (c.kind != Kind::kStore) {
    tile.writer = c.kind;
    tile.done = end;
  }
  idle_at_ = std::max(idle_at_, end);
  reply.next = entered + 1;
  return reply;
}

std::vector<Event> TileUnit::events() const {
  return {{"tile_loads", loads_},
          {"tile_stores", stores_},
          {"tile_products", products_},
          {"tile_zeros", zeros_},
          {"array_busy", products_ * timing_.product_interval},
          {"dma_busy", (loads_ + stores_) * timing_.memory_interval},
          {"queue_full", queue_full_}};
}

}  // namespace exotune::sim
