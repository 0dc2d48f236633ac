#include "tests/hw/instruction_harness.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/subprocess.h"
#include "core/codegen/codegen.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "runners/candidate.h"

namespace exotune {
namespace {
namespace fs = std::filesystem;

// Of each one-dimensional buffer: 32 elements with three between each two, and what is before.
constexpr int kElements = 160;
constexpr int kOffset = 3;  // windows begin here: nothing is aligned by luck

// Functions whose vector form is another rounding than the C library's.
const std::vector<const char*> kRounded = {
    "exp(", "exp2(",    "expm1(", "log(",   "log2(", "log10(", "log1p(", "sin(",
    "cos(", "tan(",     "asin(",  "acos(",  "atan(", "sinh(",  "cosh(",  "tanh(",
    "erf(", "sigmoid(", "pow(",   "atan2(", "cbrt(", "hypot("};

bool calls_any(const std::string& body, const std::vector<const char*>& functions) {
  return std::any_of(functions.begin(), functions.end(),
                     [&](const char* f) { return body.find(f) != std::string::npos; });
}

bool in_file(const Arg& a) { return a.mem && a.mem->kind == MemoryKind::kRegisterFile; }

// A vector, or a register of another file, which has two dimensions.
bool in_register(const Target& target, const Arg& a) {
  return a.type.is_tensor() && (a.mem == target.vector_memory || in_file(a));
}

// 0: it says nothing.
int64_t asserted_stride(const Proc& p, const Arg& a) {
  constexpr int64_t kMost = 4;
  for (const ExprPtr& e : p.asserts)
    for (int64_t stride = 1; stride <= kMost; ++stride)
      if (str(e) == "stride(" + a.name.name() + ", 0) == " + std::to_string(stride)) return stride;
  return 0;
}

// "8, 4"
std::string shape_text(const Arg& a) {
  std::string out;
  for (const ExprPtr& extent : a.type.shape) out += (out.empty() ? "" : ", ") + str(extent);
  return out;
}

// The first instruction that moves a whole register such as `like` to (or from) contiguous memory.
std::string mover(const Target& target, const Arg& like, bool load) {
  const ScalarType type = like.type.scalar;
  for (const ProcPtr& p : target.instructions()) {
    if (p->args.size() != 2) continue;
    const Arg &to = p->args[0], &from = p->args[1];
    if (to.type.scalar != type || from.type.scalar != type) continue;
    if (in_register(target, to) != load || in_register(target, from) == load) continue;
    const Arg& reg = load ? to : from;
    if (reg.mem != like.mem || to.type.rank() != from.type.rank()) continue;
    if (in_file(like)
            ? shape_text(reg) == shape_text(like) && shape_text(to) == shape_text(from)
            : to.type.rank() == 1 && as_int(from.type.shape[0]) == as_int(to.type.shape[0]) &&
                  as_int(reg.type.shape[0]) == as_int(like.type.shape.back()))
      return p->name;
  }
  return "";
}

// "[0:8, 0:4]"
std::string whole_text(const Arg& a) {
  std::string out;
  for (const ExprPtr& extent : a.type.shape) out += (out.empty() ? "[0:" : ", 0:") + str(extent);
  return out + "]";
}

// The registers of an operand: "[0:8]", or of several "[0, 0:8]", "[1, 0:8]"..
std::vector<std::string> registers_of(const Arg& a) {
  if (a.type.rank() == 1 || in_file(a)) return {whole_text(a)};
  std::vector<std::string> out;
  for (int64_t k = 0; k < as_int(a.type.shape[0]).value(); ++k)
    out.push_back("[" + std::to_string(k) + ", 0:" + str(a.type.shape[1]) + "]");
  return out;
}

// The wrapper's text, or "" when a register operand cannot be loaded or stored.
std::string wrapper_text(const Target& target, const Proc& p) {
  std::string formals, asserts, before, call, after;
  const auto add = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const Arg& a : p.args) {
    const std::string name = a.name.name(), type = name_of(a.type.scalar);
    if (is_control(a.type.scalar)) {
      add(formals, name + ": " + type);
      asserts += "    assert 1 <= " + name + " and " + name + " <= 40\n";  // a divisor, maybe
      add(call, name);
    } else if (!a.type.is_tensor()) {
      add(formals, name + ": " + type);
      add(call, name);
    } else if (in_register(target, a)) {
      const std::string reg = name + "_reg", shape = shape_text(a);
      const std::string load = mover(target, a, true);
      const std::string store = mover(target, a, false);
      if (load.empty() || store.empty()) return "";
      add(formals, name + ": " + type + "[" + shape + "]");
      before += "    " + reg + ": " + type + "[" + shape + "] @ " + a.mem->name + "\n";
      for (const std::string& part : registers_of(a)) {
        before += "    " + load + "(" + reg + part + ", " + name + part + ")\n";
        after += "    " + store + "(" + name + part + ", " + reg + part + ")\n";
      }
      add(call, reg + whole_text(a));
    } else if (a.type.rank() >= 2) {
      const std::string first = std::to_string(kOffset), whole = whole_text(a).substr(3);
      add(formals, name + ": " + type + "[" + first + " + " + shape_text(a) + "]");
      add(call, name + "[" + first + ":" + first + " + " + whole);
    } else if (asserted_stride(p, a) != 1 && as_int(a.type.shape[0]) != 1) {
      const std::string extent = str(a.type.shape[0]);
      const int64_t asserted = asserted_stride(p, a), stride = asserted > 0 ? asserted : 3;
      add(formals, name + ": " + type + "[" + extent + ", " + std::to_string(stride) + "]");
      add(call, name + "[0:" + extent + ", 1]");
    } else {
      const std::string first = std::to_string(kOffset);
      add(formals, name + ": " + type + "[" + std::to_string(kElements) + "]");
      add(call, name + "[" + first + ":" + first + " + " + str(a.type.shape[0]) + "]");
    }
  }
  return "@proc\ndef run_" + p.name + "(" + formals + "):\n" + asserts + before + "    " + p.name +
         "(" + call + ")\n" + after;
}

void put_element(ScalarType type, std::byte* at, double v) {
  store_element(element_from_name(name_of(type)), at, v);
}

double get_element(ScalarType type, const std::byte* at) {
  return load_element(element_from_name(name_of(type)), at);
}

// void call_NAME(void** a) { NAME(*(int64_t*)a[0], (float*)a[1], ...); }
std::string trampolines(const CFile& file) {
  std::string out = "#include \"" + file.stem + ".h\"\n";
  for (const FunctionAbi& f : file.functions) {
    std::string args;
    for (size_t k = 0; k < f.args.size(); ++k) {
      const std::string slot = "a[" + std::to_string(k) + "]";
      args += k == 0 ? "" : ", ";
      args += f.args[k].kind == AbiArg::Kind::kControl ? "*(int64_t*)" + slot : slot;
    }
    out += "void call_" + f.name + "(void** a);\nvoid call_" + f.name + "(void** a) { (void)a; " +
           f.name + "(" + args + "); }\n";
  }
  return out;
}

// A program that does one call after the other: standard input has which function, then each
// argument's size and bytes; the arguments come out again.
std::string call_loop(const CFile& file) {
  std::string table, counts;
  for (const FunctionAbi& f : file.functions) {
    table += "call_" + f.name + ", ";
    counts += std::to_string(f.args.size()) + ", ";
  }
  return "#include <stdio.h>\n#include <stdlib.h>\ntypedef void (*exo_call)(void**);\n"
         "static const exo_call exo_calls[] = {" +
         table +
         "0};\n"
         "static const int exo_counts[] = {" +
         counts + R"(0};
int main(void) {
  for (int which; fread(&which, sizeof which, 1, stdin) == 1;) {
    void* at[16];
    long long bytes[16];
    for (int k = 0; k < exo_counts[which]; ++k) {
      if (fread(&bytes[k], sizeof *bytes, 1, stdin) != 1) return 1;
      at[k] = malloc(bytes[k] + 64);
      if (fread(at[k], 1, bytes[k], stdin) != (size_t)bytes[k]) return 1;
    }
    exo_calls[which](at);
    for (int k = 0; k < exo_counts[which]; ++k) {
      fwrite(at[k], 1, bytes[k], stdout);
      free(at[k]);
    }
  }
  return 0;
}
)";
}

}  // namespace

// One call: what the body makes of its arguments, and these as bytes.
struct InstructionHarness::Prepared {
  Arguments expected, got;
  std::vector<std::vector<std::byte>> storage;  // by argument
  bool rounds = false;  // functions of the real numbers, in more than one way

  // "" when `storage` is what the body says.
  std::string judge(const Proc& wrapper) {
    size_t next = 0;
    for (size_t k = 0; k < wrapper.args.size(); ++k) {
      if (is_control(wrapper.args[k].type.scalar)) continue;
      Buffer& b = *got.buffers[next++];
      const int size = bytes_of(b.type);
      for (size_t e = 0; e < b.data.size(); ++e)
        b.data[e] = get_element(b.type, &storage[k][e * size]);
    }
    // Whole numbers are sums in any order, as far as their type holds them.
    const double tolerance = rounds ? 3e-7 : beyond_exact() ? 1e-5 : 0;
    return first_difference(expected, got, tolerance);
  }
  bool beyond_exact() const {
    return std::any_of(expected.buffers.begin(), expected.buffers.end(), [](const auto& b) {
      const double most = b->type == ScalarType::kF64 ? 0x1p53 : 0x1p24;
      return is_float(b->type) && std::any_of(b->data.begin(), b->data.end(),
                                              [&](double v) { return std::abs(v) > most; });
    });
  }
};

InstructionHarness::InstructionHarness(TargetPtr target, const Importer& importer)
    : InstructionHarness(target, importer, target->compiler.flags) {}

InstructionHarness::InstructionHarness(TargetPtr target, const Importer& importer,
                                       std::vector<std::string> flags)
    : target_(std::move(target)) {
  std::string text = "from " + target_->name + " import *\n";
  for (const ProcPtr& p : target_->instructions()) {
    const std::string wrapper = wrapper_text(*target_, *p);
    if (wrapper.empty()) left_out_.push_back(p->name);
    text += wrapper;
  }
  wrappers_ = parse_module(text, "wrappers.exo", importer).user_procs();

  char name[] = "/tmp/exotune_instructions_XXXXXX";
  directory_ = mkdtemp(name);
  CodegenOptions options;
  options.stem = "wrappers";
  options.headers = target_->compiler.headers;
  const CFile file = generate_c(wrappers_, options);
  std::ofstream(directory_ + "/wrappers.c") << file.c;
  std::ofstream(directory_ + "/wrappers.h") << file.h;
  const bool here = target_->runner.kind == "native";
  std::ofstream(directory_ + "/calls.c") << trampolines(file) + (here ? "" : call_loop(file));

  std::vector<std::string> command = {find_compiler(target_->compiler).path};
  for (const std::string& flag : flags) command.push_back(flag);
  for (const char* flag : {"-O1", "-Wall", "-Wextra", "-o"}) command.push_back(flag);
  if (here)
    command.insert(command.end(), {"wrappers.so", "-shared", "-fPIC"});
  else
    command.insert(command.end(), {"wrappers", "-static"});
  for (const char* word : {"wrappers.c", "calls.c", "-lm"}) command.push_back(word);
  const CommandResult built = run_command(command, {directory_, 120, {}});
  build_log_ = built.out + built.err;
  if (!here) return;
  library_ = dlopen((directory_ + "/wrappers.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) build_log_ += std::string("\n") + dlerror();
}

InstructionHarness::~InstructionHarness() {
  if (library_) dlclose(library_);
  fs::remove_all(directory_);
}

InstructionHarness::Prepared InstructionHarness::prepare(const Proc& wrapper, int64_t n,
                                                         uint64_t seed) const {
  std::map<std::string, int64_t> control;
  for (const Arg& a : wrapper.args)
    if (is_control(a.type.scalar)) control[a.name.name()] = n;
  Prepared p;
  p.expected = make_arguments(wrapper, control, seed);
  const ProcPtr instruction = target_->library.find_proc(wrapper.name.substr(4));
  const std::string body = str(*instruction);
  for (const auto& buffer : p.expected.buffers)
    for (double& v : buffer->data) {
      if (calls_any(body, {"sqrt(", "log(", "log2(", "log10(", "log1p(", "pow("})) v = std::fabs(v);
      if (calls_any(body, {"asin(", "acos("})) v /= 1 + std::fabs(v);
      if (body.find(" / ") != std::string::npos && v == 0) v = 2;
    }
  const std::vector<ProcPtr>& estimates = target_->estimates;
  p.rounds = calls_any(body, kRounded) ||
             std::find(estimates.begin(), estimates.end(), instruction) != estimates.end();
  p.got = copy_of(p.expected);
  run(wrapper, p.expected.values);
  size_t next = 0;
  for (const Arg& a : wrapper.args) {
    if (is_control(a.type.scalar)) {
      p.storage.emplace_back(sizeof n);
      std::memcpy(p.storage.back().data(), &n, sizeof n);
    } else {
      const Buffer& b = *p.got.buffers[next++];
      const int size = bytes_of(b.type);
      p.storage.emplace_back(b.data.size() * size);
      for (size_t k = 0; k < b.data.size(); ++k)
        put_element(b.type, &p.storage.back()[k * size], b.data[k]);
    }
  }
  return p;
}

std::string InstructionHarness::compare(const Proc& wrapper, int64_t n, uint64_t seed) const {
  Prepared p = prepare(wrapper, n, seed);
  void* call = dlsym(library_, ("call_" + wrapper.name).c_str());
  if (!call) return "no function call_" + wrapper.name;
  std::vector<void*> slots;
  for (std::vector<std::byte>& bytes : p.storage) slots.push_back(bytes.data());
  reinterpret_cast<void (*)(void**)>(call)(slots.data());
  return p.judge(wrapper);
}

std::vector<std::string> InstructionHarness::compare_under(const std::vector<std::string>& emulator,
                                                           const std::vector<Call>& calls) const {
  std::vector<Prepared> prepared;
  const std::string in = directory_ + "/in", out = directory_ + "/out";
  {
    std::ofstream file(in, std::ios::binary);
    for (const Call& c : calls) {
      const int which = static_cast<int>(std::find(wrappers_.begin(), wrappers_.end(), c.wrapper) -
                                         wrappers_.begin());
      prepared.push_back(prepare(*c.wrapper, c.n, c.seed));
      file.write(reinterpret_cast<const char*>(&which), sizeof which);
      for (const std::vector<std::byte>& bytes : prepared.back().storage) {
        const long long size = static_cast<long long>(bytes.size());
        file.write(reinterpret_cast<const char*>(&size), sizeof size);
        file.write(reinterpret_cast<const char*>(bytes.data()), size);
      }
    }
  }
  std::string line;
  for (const std::string& word : emulator) line += word + " ";
  line += directory_ + "/wrappers < " + in + " > " + out;
  const CommandResult ran = run_command({"sh", "-c", line}, {directory_, 120, {}});
  std::ifstream results(out, std::ios::binary);
  std::vector<std::string> differences;
  for (size_t k = 0; k < calls.size(); ++k) {
    for (std::vector<std::byte>& bytes : prepared[k].storage)
      results.read(reinterpret_cast<char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    differences.push_back(results ? prepared[k].judge(*calls[k].wrapper)
                                  : "the program ended before: " + ran.err);
  }
  return differences;
}

}  // namespace exotune
