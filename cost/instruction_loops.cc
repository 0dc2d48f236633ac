#include "cost/instruction_loops.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/codegen/function_emitter.h"
#include "core/ir/c_template.h"
#include "cost/instruction_class.h"

namespace exotune {

namespace {

// What every file of such functions begins with.
constexpr const char* kPrelude = R"(#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#define EXO_IN_REGISTER "+v"
#elif defined(__aarch64__)
#define EXO_IN_REGISTER "+w"
#else
#define EXO_IN_REGISTER "+m"
#endif
/* The value may be another one from here on. */
#define EXO_CHANGES(x) __asm__ volatile("" : EXO_IN_REGISTER(x))
#define EXO_CHANGES_NUMBER(x) __asm__ volatile("" : "+r"(x))
#define EXO_CHANGES_MEMORY() __asm__ volatile("" : : "r"(m) : "memory")
)";

constexpr int kMostResults = 12;    // twice what the latency of 4 of two pipes needs, and a margin
constexpr int kChain = 8;           // instructions of a chain in one step
constexpr int kInMemory = 8;        // results in memory in one step
constexpr int kSpareRegisters = 4;  // for what a template needs inside
constexpr int kFiles = 16;          // registers where the text gives no number
constexpr int kStep = 64;           // bytes from one result in memory to the next
constexpr int kFarStride = 5;       // elements, where the stride of an operand is free
constexpr int kOperandBytes = 8192, kLowerHalf = 512, kUpperHalf = 2048;

// An argument of the instruction, and where it lies in the loop that measures it.
struct Operand {
  const Arg* arg = nullptr;
  bool in_register = false;
  int64_t registers = 1;  // an array of so many where it is more
  std::string c_type;     // of a register, or of an element
  std::vector<int64_t> strides;
  int64_t offset = 0;  // in memory, or where its first value is
};

std::optional<int64_t> literal(const ExprPtr& e) {
  const auto* c = e->as<Const>();
  const auto* i = c ? std::get_if<int64_t>(&c->value) : nullptr;
  return i ? std::optional<int64_t>(*i) : std::nullopt;
}

// `assert stride(x, d) == 2`
std::optional<int64_t> asserted_stride(const Proc& p, Sym name, int dim) {
  for (const ExprPtr& e : p.asserts) {
    const auto* equal = e->as<BinOp>();
    if (!equal || equal->op != BinOpKind::kEq) continue;
    const auto* stride = equal->lhs->as<StrideExpr>();
    if (stride && stride->name == name && stride->dim == dim) return literal(equal->rhs);
  }
  return std::nullopt;
}

class LoopWriter {
 public:
  LoopWriter(const Proc& instruction, std::string name)
      : p_(instruction), name_(std::move(name)), class_(classify(instruction)) {}

  std::optional<InstructionLoops> run() {
    // Nothing where the loop cannot be written: memories that only a device has, operands too
    // large.
    if (!p_.instr || !read_operands() || operands_.empty()) return std::nullopt;
    InstructionLoops out;
    out.globals = globals_;
    out.globals.push_back(p_.instr->c_global);
    out.independent_count = results();
    out.independent = function("independent", out.independent_count, -1);
    if (!good_) return std::nullopt;
    // The chain's steps wait for each other and so give the latency; the independent ones the
    // throughput.
    if (const int from = chained(); from >= 0) {
      out.chain_count = kChain;
      out.chain = function("chain", kChain, from);
    }
    return out;
  }

 private:
  bool read_operands() {
    // The most elements that any operand has; a control argument below that is a count of lanes in
    // use.
    int64_t lanes = 2;
    for (const Arg& a : p_.args)
      for (const ExprPtr& e : a.type.shape) lanes = std::max(lanes, literal(e).value_or(0));
    for (const Arg& a : p_.args) {
      if (is_control(a.type.scalar)) {
        // One lane less than all: the masked form, as at the end of a row.
        controls_[a.name.name()] = a.type.scalar == ScalarType::kBool ? 1 : lanes - 1;
        continue;
      }
      Operand o;
      o.arg = &a;
      const MemoryKind kind = a.mem ? a.mem->kind : MemoryKind::kHeap;
      // Operands lie half a kilobyte more than a multiple of the page apart, so that they do not
      // share sets of the first cache.
      o.offset = static_cast<int64_t>(operands_.size()) * (kOperandBytes + kLowerHalf);
      if (o.offset + 2 * kOperandBytes > InstructionLoops::kMemoryBytes) return false;
      if (kind == MemoryKind::kVector) {
        const std::optional<int64_t> held =
            a.type.is_tensor() ? literal(a.type.shape.back()) : std::nullopt;
        const std::string* type = held ? a.mem->c_type(a.type.scalar, *held) : nullptr;
        // Registers of this element type, read as one or as an array.
        if (!type || a.type.rank() > 2) return false;
        if (a.type.rank() == 2) o.registers = literal(a.type.shape[0]).value_or(0);
        if (o.registers < 1 || (o.registers > 1 && is_result(a))) return false;
        o.in_register = true;
        o.c_type = *type;
        registers_ = std::max(registers_, a.mem->count);
        globals_.push_back(a.mem->c_global);
      } else if (kind == MemoryKind::kHeap || kind == MemoryKind::kStack ||
                 kind == MemoryKind::kStatic) {
        o.c_type = codegen::element_c_type(a.type.scalar);
        if (set_strides(a, lanes, o) * bytes_of(a.type.scalar) > kOperandBytes) return false;
      } else {
        return false;
      }
      operands_.push_back(o);
    }
    return true;
  }

  // Dense in the last dimensions unless the text leaves the stride free. Elements in all.
  int64_t set_strides(const Arg& a, int64_t lanes, Operand& o) const {
    int64_t dense = 1;
    o.strides.resize(static_cast<size_t>(a.type.rank()));
    for (int d = a.type.rank() - 1; d >= 0; --d) {
      const std::optional<int64_t> given = asserted_stride(p_, a.name, d);
      const int64_t extent = literal(a.type.shape[static_cast<size_t>(d)]).value_or(lanes);
      o.strides[static_cast<size_t>(d)] =
          given.value_or(a.type.window ? kFarStride * dense : dense);
      dense = o.strides[static_cast<size_t>(d)] * extent;
    }
    return dense;
  }

  bool is_result(const Arg& a) const {
    return class_.written >= 0 && &a == &p_.args[static_cast<size_t>(class_.written)];
  }

  const Operand* written() const {
    for (const Operand& o : operands_)
      if (class_.written >= 0 && o.arg == &p_.args[static_cast<size_t>(class_.written)]) return &o;
    return nullptr;
  }

  int results() const {
    const Operand* w = written();
    // Stores wait for nobody; a few different places are enough.
    if (!w || !w->in_register) return kInMemory;
    const int sources = static_cast<int>(operands_.size()) - 1;
    const int file = registers_ > 0 ? registers_ : kFiles;
    return std::clamp(file - sources - kSpareRegisters, 2, kMostResults);
  }

  // The operand that takes the result of the one before; -1: none can.
  int chained() const {
    const Operand* w = written();
    if (!w) return -1;
    // The result is also an operand: the chain runs through it by itself.
    if (class_.accumulates) return static_cast<int>(w - operands_.data());
    if (!w->in_register) return -1;
    for (size_t k = 0; k < operands_.size(); ++k)
      // Any operand of the same register type can take the result of the instruction before.
      if (&operands_[k] != w && operands_[k].in_register && operands_[k].c_type == w->c_type)
        return static_cast<int>(k);
    return -1;
  }

  bool is_written(size_t k) const { return &operands_[k] == written(); }

  // `number` of the results; `from`: the operand that is the result before.
  std::string place(size_t k, int number, int from) const {
    const Operand& o = operands_[k];
    const bool result = is_written(k) || static_cast<int>(k) == from;
    // dN: the N-th result; sK: operand K, which no instruction of the loop writes.
    if (o.in_register) {
      if (!result) return "s" + std::to_string(k);
      return "d" + std::to_string(from >= 0 ? 0 : number);
    }
    // In the chain all work on one place; otherwise each result has its own line.
    int64_t at = o.offset + (from >= 0 && result ? 0 : number * kStep);
    std::string base = "m";
    if (is_written(k)) {
      at += kUpperHalf;  // not on the places of a page that loads are on
      if (from < 0) base = "ring";
    }
    return "(*(" + o.c_type + "*)(" + base + " + " + std::to_string(at) + "))";
  }

  std::string instance(int number, int from) {
    std::string text = expand_template(p_.instr->c_template, [&](const std::string& hole, bool) {
      return fill(hole, number, from);
    });
    text = "    " + text + "\n";
    bool memory = false;
    for (size_t k = 0; k < operands_.size(); ++k) {
      memory = memory || !operands_[k].in_register;
      // Or the compiler would compute what is the same in every step once, in front of the loop.
      if (operands_[k].in_register)
        text += "    " + changes(operands_[k], place(k, number, from)) + "\n";
    }
    if (memory) text += "    EXO_CHANGES_MEMORY();\n";
    return text;
  }

  std::string fill(const std::string& hole, int number, int from) {
    // Holes of the template: a control argument by name, `x_data` an operand's place,
    // `x.strides[0]` a stride.
    if (const auto c = controls_.find(hole); c != controls_.end()) return "c_" + hole;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const std::string& name = operands_[k].arg->name.name();
      if (hole.compare(0, name.size(), name) != 0) continue;
      const std::string rest = hole.substr(name.size());
      if (rest == "_data") return place(k, number, from);
      const size_t dim = rest.rfind(".strides[", 0) == 0 ? std::stoul(rest.substr(9)) : SIZE_MAX;
      if (dim < operands_[k].strides.size()) return std::to_string(operands_[k].strides[dim]);
    }
    good_ = false;  // a window's struct, a register's number
    return "";
  }

  // Each of the operand's registers may be another one from here on.
  static std::string changes(const Operand& o, const std::string& variable) {
    if (o.registers == 1) return "EXO_CHANGES(" + variable + ");";
    std::string text;
    for (int64_t r = 0; r < o.registers; ++r)
      text += "EXO_CHANGES(" + variable + "[" + std::to_string(r) + "]); ";
    return text;
  }

  std::string declarations(int count, int from) const {
    std::string text;
    // Their values are hidden from the compiler, as they are in a kernel.
    for (const auto& [name, value] : controls_)
      text += "  int64_t c_" + name + " = " + std::to_string(value) + "; EXO_CHANGES_NUMBER(c_" +
              name + ");\n";
    std::vector<std::string> known;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Operand& o = operands_[k];
      const std::string element = codegen::element_c_type(o.arg->type.scalar);
      const std::string at = "m + " + std::to_string(o.offset);
      // All ones: no denormals, no infinities, whose arithmetic may take other times.
      text += "  for (int e = 0; e < " +
              std::to_string(kOperandBytes / bytes_of(o.arg->type.scalar)) + "; ++e) ((" + element +
              "*)(" + at + "))[e] = (" + element + ")1;\n";
      if (!o.in_register) continue;
      for (int n = 0; n < count; ++n) {
        const std::string variable = place(k, n, from);
        if (std::find(known.begin(), known.end(), variable) != known.end()) continue;
        known.push_back(variable);
        const std::string several = o.registers > 1 ? "[" + std::to_string(o.registers) + "]" : "";
        text += "  " + o.c_type + " " + variable + several + "; memcpy(&" + variable + ", " + at +
                ", sizeof " + variable + "); " + changes(o, variable) + "\n";
      }
    }
    return text;
  }

  std::string function(const std::string& what, int count, int from) {
    const std::string full = name_ + "_" + what;
    std::string text = "void " + full + "(int64_t steps, char* m) {\n" + declarations(count, from) +
                       "  for (int64_t i = 0; i < steps; ++i) {\n";
    const Operand* w = written();
    if (from < 0 && w && !w->in_register)
      // Stores go round four places, so that none waits for the store of the step before.
      text += "    char* ring = m + ((i & 3) << 9);\n    EXO_CHANGES_NUMBER(ring);\n";
    // Marks for the static analyser, where there is no machine to run on.
    text += "    __asm__ volatile(\"# LLVM-MCA-BEGIN " + full + "\");\n";
    for (int n = 0; n < count; ++n) text += instance(n, from);
    return text + "    __asm__ volatile(\"# LLVM-MCA-END " + full + "\");\n  }\n}\n";
  }

  const Proc& p_;
  const std::string name_;
  const InstructionClass class_;
  std::map<std::string, int64_t> controls_;
  std::vector<Operand> operands_;
  std::vector<std::string> globals_ = {kPrelude};
  int registers_ = 0;
  bool good_ = true;
};

}  // namespace

std::optional<InstructionLoops> instruction_loops(const Proc& instruction,
                                                  const std::string& name) {
  return LoopWriter(instruction, name).run();
}

}  // namespace exotune
