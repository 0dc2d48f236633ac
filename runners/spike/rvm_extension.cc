// RVM for Spike: the tile instructions as an extension of the reference simulator, which loads this
// file as a shared object (spike --extlib=librvm.so --extension=rvm). Written against Spike's own
// headers and nothing of exo-tune's, so that the two simulators have only the documents in common.
//
// Instructions have meaning and no time here. A store of m0, which hangs the published hardware, is
// illegal.
#include <riscv/extension.h>
#include <riscv/mmu.h>
#include <riscv/trap.h>

#include <array>
#include <cstring>

namespace {

using Tile = std::array<uint32_t, 16>;  // four rows of 16 bytes

class Rvm final : public extension_t {
 public:
  const char* name() const override { return "rvm"; }
  void reset(processor_t&) override { tiles.fill({}); }
  std::vector<insn_desc_t> get_instructions(const processor_t& p) override;
  std::vector<disasm_insn_t*> get_disasms(const processor_t*) override { return {}; }
  std::array<Tile, 8> tiles{};
};

Rvm& unit_of(processor_t* p) { return *static_cast<Rvm*>(p->get_extension("rvm")); }

// Of row `i` of what a load or store moves, wrapped around as addresses of this width are.
reg_t row_address(processor_t* p, insn_t insn, int i) {
  const auto& x = p->get_state()->XPR;
  const reg_t at = x[insn.rs1()] + static_cast<reg_t>(i) * x[insn.rs2()];
  return p->get_xlen() == 32 ? static_cast<reg_t>(static_cast<int32_t>(at)) : at;
}

reg_t load(processor_t* p, insn_t insn, reg_t pc) {
  Tile tile;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k] = p->get_mmu()->load<uint32_t>(row_address(p, insn, i) + 4 * k);
  unit_of(p).tiles[insn.rd() & 7] = tile;
  return pc + 4;
}

reg_t store(processor_t* p, insn_t insn, reg_t pc) {
  if ((insn.rd() & 7) == 0) throw trap_illegal_instruction(insn.bits());
  const Tile tile = unit_of(p).tiles[insn.rd() & 7];
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      p->get_mmu()->store<uint32_t>(row_address(p, insn, i) + 4 * k, tile[4 * i + k]);
  return pc + 4;
}

reg_t zero(processor_t* p, insn_t insn, reg_t pc) {
  unit_of(p).tiles[insn.rs1()].fill(0);
  return pc + 4;
}

// Integer sums wrap around; of floats each product is rounded and then each sum, in order.
template <class Element>
void accumulate(uint32_t& sum, const Element* a, const Element* b) {
  for (size_t k = 0; k < 16 / sizeof(Element); ++k)
    sum += static_cast<uint32_t>(static_cast<int32_t>(a[k])) *
           static_cast<uint32_t>(static_cast<int32_t>(b[k]));
}
void accumulate(uint32_t& sum, const float* a, const float* b) {
  float total;
  std::memcpy(&total, &sum, sizeof total);
  for (int k = 0; k < 4; ++k) {
    const volatile float product = a[k] * b[k];
    total += product;
  }
  std::memcpy(&sum, &total, sizeof sum);
}

template <class Element>
reg_t product(processor_t* p, insn_t insn, reg_t pc) {
  // A tile is four rows of sixteen bytes.
  constexpr size_t kRow = 16 / sizeof(Element);
  std::array<Tile, 8>& tiles = unit_of(p).tiles;
  std::array<Element, 4 * kRow> a, b;
  std::memcpy(a.data(), tiles[(insn.rs1() >> 3) | (insn.rs2() & 1) << 2].data(), sizeof a);
  std::memcpy(b.data(), tiles[insn.rs2() >> 1].data(), sizeof b);
  Tile& out = tiles[insn.rs1() & 7];
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) accumulate(out[4 * i + j], &a[kRow * i], &b[kRow * j]);
  return pc + 4;
}

insn_desc_t described(insn_bits_t match, insn_bits_t fields, insn_func_t f) {
  return {match | 0x2b, fields | 0xfe00707f, f, f, f, f, f, f, f, f};
}

std::vector<insn_desc_t> Rvm::get_instructions(const processor_t&) {
  constexpr insn_bits_t kTileAsResult = 0xc00, kTileAsSource = 0x1fc0f80, kTiles = 0x1000f80;
  const auto upper = [](insn_bits_t bits, insn_bits_t rd) { return bits << 25 | rd << 7; };
  return {described(upper(0x02, 16), kTileAsResult, load),
          described(upper(0x06, 16), kTileAsResult, store),
          described(upper(0x7c, 0), kTileAsSource, zero),
          described(upper(0x78, 16), kTiles, product<int32_t>),
          described(upper(0x70, 8), kTiles, product<int16_t>),
          described(upper(0x08, 0), kTiles, product<int8_t>),
          described(upper(0x04, 16), kTiles, product<float>)};
}

REGISTER_EXTENSION(rvm, [] { return new Rvm; })

}  // namespace
