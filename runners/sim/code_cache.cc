#include "runners/sim/code_cache.h"

namespace exotune::sim {

namespace {

constexpr int kLongestBlock = 128;  // instructions

}  // namespace

CodeCache::CodeCache(const Isa& isa, const Memory& memory, const Device* device)
    : isa_(isa), memory_(memory), device_(device), begin_(memory.code_begin()) {
  forget();
}

void CodeCache::forget() {
  code_.assign(1, Instruction{});
  start_.assign((memory_.code_end() - memory_.code_begin()) / 2, 0);
}

Instruction CodeCache::decode_at(uint64_t address) const {
  uint32_t word = memory_.read<uint16_t>(address);
  if (length_of(word) == 4) {
    if (address + 4 > memory_.code_end())
      word = 0;
    else
      word |= static_cast<uint32_t>(memory_.read<uint16_t>(address + 2)) << 16;
  }
  Instruction i = decode(word, isa_);
  if (i.operation == Operation::kIllegal && i.length == 4 && device_ != nullptr) {
    if (const std::optional<Device::Form> form = device_->decode(word)) {
      i.operation = Operation::kDevice;
      i.immediate = static_cast<int32_t>(word);
      i.rs1 = form->reads_rs1 ? word >> 15 & 31 : 0;
      i.rs2 = form->reads_rs2 ? word >> 20 & 31 : 0;
      i.rd = form->writes_rd && (word >> 7 & 31) ? word >> 7 & 31 : kNowhere;
    }
  }
  i.offset = static_cast<uint32_t>(address - memory_.base());
  return i;
}

uint32_t CodeCache::find(uint64_t address) {
  if (const uint32_t start = known(address)) return start;
  if (address < memory_.code_begin() || address + 2 > memory_.code_end() || address & 1) return 0;
  const size_t header = code_.size();
  code_.push_back({});
  code_.back().operation = Operation::kHeader;
  int count = 0;
  uint64_t at = address;
  for (;;) {
    if (at + 2 > memory_.code_end() || count == kLongestBlock) {
      Instruction on;
      on.operation = at + 2 > memory_.code_end() ? Operation::kFetch : Operation::kGoOn;
      on.offset = static_cast<uint32_t>(at - memory_.base());
      code_.push_back(on);
      break;
    }
    code_.push_back(decode_at(at));
    ++count;
    if (ends_block(code_.back().operation)) break;
    at += code_.back().length;
  }
  code_[header].immediate = count;
  for (size_t k = header + 1; k + 1 < code_.size(); ++k)
    code_[k].operation = followed_by(code_[k].operation, code_[k + 1].operation);
  return start_[(address - begin_) >> 1] = static_cast<uint32_t>(header + 1);
}

}  // namespace exotune::sim
