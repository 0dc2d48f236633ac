#include "runners/sim/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "core/base/diagnostic.h"

namespace exotune::sim {

namespace {

#ifndef EM_RISCV
constexpr uint16_t EM_RISCV = 243;
#endif

// Every read is checked against the file's end: a program may come from a record, and what it says
// of itself is not believed.
class Reader {
 public:
  Reader(const std::string& bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <class T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, part(offset, sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) refuse("is cut off");
    return std::string_view(bytes_).substr(offset, count);
  }
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    return std::string(bytes_.c_str() + offset);
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError({}, "'" + name_ + "' " + why);
  }

 private:
  const std::string& bytes_;
  const std::string& name_;
};

// 32 and 64 bits differ in the structures only.
template <class Header, class Program, class Section, class Symbol>
ElfImage read_as(const Reader& file, int xlen) {
  const auto header = file.at<Header>(0);
  if (header.e_machine != EM_RISCV) file.refuse("is no RISC-V program");
  if (header.e_type != ET_EXEC) file.refuse("is no executable (linked) program");
  ElfImage image;
  image.xlen = xlen;
  image.entry = header.e_entry;
  for (unsigned k = 0; k < header.e_phnum; ++k) {
    const auto p = file.at<Program>(header.e_phoff + uint64_t{k} * header.e_phentsize);
    if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
    if (p.p_filesz > p.p_memsz) file.refuse("has a segment larger in the file than in memory");
    image.segments.push_back({p.p_paddr, p.p_memsz, std::string(file.part(p.p_offset, p.p_filesz)),
                              (p.p_flags & PF_X) != 0, (p.p_flags & PF_W) != 0});
  }
  for (unsigned k = 0; k < header.e_shnum; ++k) {
    const auto s = file.at<Section>(header.e_shoff + uint64_t{k} * header.e_shentsize);
    if (s.sh_type != SHT_SYMTAB) continue;
    const auto names = file.at<Section>(header.e_shoff + uint64_t{s.sh_link} * header.e_shentsize);
    for (uint64_t at = 0; at + sizeof(Symbol) <= s.sh_size; at += sizeof(Symbol)) {
      const auto symbol = file.at<Symbol>(s.sh_offset + at);
      const int type = symbol.st_info & 15;
      if (type == STT_SECTION || type == STT_FILE || symbol.st_name == 0) continue;
      image.symbols[file.text(names.sh_offset + symbol.st_name)] = symbol.st_value;
    }
  }
  return image;
}

}  // namespace

ElfImage ElfImage::parse(const std::string& bytes, const std::string& name) {
  const Reader file(bytes, name);
  const std::string_view ident = file.part(0, EI_NIDENT);
  if (ident.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG) ||
      ident[EI_DATA] != ELFDATA2LSB)
    file.refuse("is no ELF file of a little-endian machine");
  if (ident[EI_CLASS] == ELFCLASS32)
    return read_as<Elf32_Ehdr, Elf32_Phdr, Elf32_Shdr, Elf32_Sym>(file, 32);
  return read_as<Elf64_Ehdr, Elf64_Phdr, Elf64_Shdr, Elf64_Sym>(file, 64);
}

ElfImage ElfImage::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError({}, "cannot read '" + path + "'");
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return parse(bytes.str(), path);
}

void ElfImage::load(Memory& memory) const {
  uint64_t code_begin = ~uint64_t{0}, code_end = 0, writable = ~uint64_t{0};
  for (const Segment& s : segments) {
    if (!memory.holds(s.address, s.bytes)) {
      char text[120];
      std::snprintf(text, sizeof text, "the program needs memory from 0x%llx to 0x%llx",
                    static_cast<unsigned long long>(s.address),
                    static_cast<unsigned long long>(s.address + s.bytes));
      throw InputError({}, text);
    }
    std::memcpy(memory.at(s.address), s.content.data(), s.content.size());
    if (s.executable)
      code_begin = std::min(code_begin, s.address),
      code_end = std::max(code_end, s.address + s.bytes);
    if (s.writable) writable = std::min(writable, s.address);
  }
  if (code_end == 0) throw InputError({}, "the program has no code");
  if (writable == ~uint64_t{0}) writable = code_end;
  // A program that says where its stack ends has nothing to write below but `tohost`.
  if (const uint64_t bottom = symbol("exo_stack_bottom")) writable = std::max(writable, bottom);
  memory.protect(code_begin, code_end, (writable + 7) & ~uint64_t{7});
}

// The last symbol at or before the address; names of assemblers and mapping symbols ($x) tell
// nothing.
std::string ElfImage::locate(uint64_t address) const {
  const std::string* best = nullptr;
  uint64_t start = 0;
  for (const auto& [name, value] : symbols)
    if (value <= address && (best == nullptr || value > start) && name[0] != '.' && name[0] != '$')
      best = &name, start = value;
  if (best == nullptr) return "";
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(address - start));
  return *best + (address == start ? "" : offset);
}

uint64_t ElfImage::symbol(const std::string& name) const {
  const auto it = symbols.find(name);
  return it == symbols.end() ? 0 : it->second;
}

}  // namespace exotune::sim
