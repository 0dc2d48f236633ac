#include "tests/core/codegen/c_library.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/subprocess.h"

namespace exotune {
namespace {

uint16_t to_bf16(double v) {
  const float f = static_cast<float>(v);
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return static_cast<uint16_t>(u >> 16);
}
double from_bf16(uint16_t h) {
  const uint32_t u = static_cast<uint32_t>(h) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
uint16_t to_f16(double v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  v = std::fabs(v);
  if (std::isnan(v)) return 0x7E00;
  if (std::isinf(v)) return sign | 0x7C00;
  if (v < std::ldexp(1.0, -14)) return sign | static_cast<uint16_t>(std::ldexp(v, 24));
  const int e = std::ilogb(v);
  return static_cast<uint16_t>(sign | (e + 15) << 10 |
                               (static_cast<int>(std::ldexp(v, 10 - e)) & 0x3FF));
}
double from_f16(uint16_t h) {
  const int e = h >> 10 & 31, m = h & 0x3FF;
  double v = e == 31  ? (m ? NAN : INFINITY)
             : e == 0 ? std::ldexp(m, -24)
                      : std::ldexp(m + 1024, e - 25);
  return h & 0x8000 ? -v : v;
}

template <class T>
void put(std::vector<char>& memory, size_t i, T v) {
  std::memcpy(&memory[i * sizeof(T)], &v, sizeof(T));
}
template <class T>
T get(const std::vector<char>& memory, size_t i) {
  T v;
  std::memcpy(&v, &memory[i * sizeof(T)], sizeof(T));
  return v;
}

void store(ScalarType t, std::vector<char>& m, size_t i, double v) {
  const bool poison = is_poison(v);
  if (poison) v = is_float(t) ? NAN : 85;
  switch (t) {
    case ScalarType::kF16:
      return put(m, i, to_f16(v));
    case ScalarType::kBf16:
      return put(m, i, to_bf16(v));
    case ScalarType::kF64:
      return put(m, i, v);
    case ScalarType::kI8:
      return put(m, i, static_cast<int8_t>(v));
    case ScalarType::kUi8:
      return put(m, i, static_cast<uint8_t>(v));
    case ScalarType::kI16:
      return put(m, i, static_cast<int16_t>(v));
    case ScalarType::kUi16:
      return put(m, i, static_cast<uint16_t>(v));
    case ScalarType::kI32:
      return put(m, i, static_cast<int32_t>(v));
    default:
      return put(m, i, static_cast<float>(v));
  }
}
double load(ScalarType t, const std::vector<char>& m, size_t i) {
  switch (t) {
    case ScalarType::kF16:
      return from_f16(get<uint16_t>(m, i));
    case ScalarType::kBf16:
      return from_bf16(get<uint16_t>(m, i));
    case ScalarType::kF64:
      return get<double>(m, i);
    case ScalarType::kI8:
      return get<int8_t>(m, i);
    case ScalarType::kUi8:
      return get<uint8_t>(m, i);
    case ScalarType::kI16:
      return get<int16_t>(m, i);
    case ScalarType::kUi16:
      return get<uint16_t>(m, i);
    case ScalarType::kI32:
      return get<int32_t>(m, i);
    default:
      return get<float>(m, i);
  }
}

/// `void exo_call_NAME(void** a)`: every argument through a pointer.
std::string driver(const CFile& file) {
  std::string text = "#include \"" + file.stem + ".h\"\n";
  for (const FunctionAbi& f : file.functions) {
    text += "void exo_call_" + f.name + "(void** a);\nvoid exo_call_" + f.name +
            "(void** a) {\n  (void)a;\n  " + f.name + "(";
    for (size_t k = 0; k < f.args.size(); ++k) {
      const AbiArg& a = f.args[k];
      const std::string at = "a[" + std::to_string(k) + "]";
      const bool by_value = a.kind == AbiArg::Kind::kControl || a.kind == AbiArg::Kind::kBool ||
                            a.kind == AbiArg::Kind::kWindow;
      text +=
          (k ? ", " : "") + (by_value ? "*(" + a.c_type + "*)" + at : "(" + a.c_type + ")" + at);
    }
    if (!f.workspace_bytes.empty())
      text += std::string(f.args.empty() ? "" : ", ") + "a[" + std::to_string(f.args.size()) + "]";
    text += ");\n}\n";
    if (f.workspace_bytes.empty()) continue;
    std::string controls;
    for (size_t k = 0; k < f.args.size(); ++k)
      if (f.args[k].kind == AbiArg::Kind::kControl || f.args[k].kind == AbiArg::Kind::kBool)
        controls += (controls.empty() ? "*(" : ", *(") + f.args[k].c_type + "*)a[" +
                    std::to_string(k) + "]";
    text += "size_t exo_size_" + f.name + "(void** a);\nsize_t exo_size_" + f.name +
            "(void** a) {\n  (void)a;\n  return " + f.workspace_bytes + "(" + controls + ");\n}\n";
  }
  return text;
}

}  // namespace

std::string make_temporary_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "exo_codegen_XXXXXX").string();
  EXO_CHECK(mkdtemp(name.data()) != nullptr);
  return name;
}

CLibrary::CLibrary(const CFile& file, const CompileOptions& options)
    : directory_(make_temporary_directory()) {
  auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  };
  write(file.stem + ".c", file.c);
  write(file.stem + ".h", file.h);
  write("driver.c", driver(file));
  const std::string object = directory_ + "/library.so";
  std::vector<std::string> argv = {options.compiler, "-std=c11", "-Wall",   "-Wextra",
                                   "-Wpedantic",     "-Werror",  "-shared", "-fPIC"};
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  argv.insert(argv.end(),
              {directory_ + "/" + file.stem + ".c", directory_ + "/driver.c", "-o", object, "-lm"});
  const CommandResult r = run_command(argv);
  if (!r.ok()) {
    error_ = r.err.empty() ? "no compiler" : r.err;
    return;
  }
  // Not unloaded: the threads of an OpenMP library outlive it.
  handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle_) error_ = dlerror();
}

CLibrary::~CLibrary() {
  if (handle_) dlclose(handle_);
  std::filesystem::remove_all(directory_);
}

bool CLibrary::call(const FunctionAbi& f, const Arguments& args, void* context) const {
  using Function = void (*)(void**);
  const auto function = reinterpret_cast<Function>(dlsym(handle_, ("exo_call_" + f.name).c_str()));
  EXO_CHECK(function != nullptr);
  struct Window {
    void* data;
    int64_t strides[8];
  };
  std::map<const Buffer*, std::vector<char>> memory;
  for (const auto& b : args.buffers) {
    std::vector<char>& m = memory[b.get()];
    m.resize(b->data.size() * static_cast<size_t>(bytes_of(b->type)));
    for (size_t i = 0; i < b->data.size(); ++i) store(b->type, m, i, b->data[i]);
  }
  std::vector<void*> pointers;
  std::vector<int64_t> controls(args.values.size());
  std::vector<Window> windows(args.values.size());
  size_t next = 0;
  for (const AbiArg& a : f.args) {
    if (a.kind == AbiArg::Kind::kContext) {
      pointers.push_back(context);
      continue;
    }
    const size_t k = next++;
    const ArgValue& v = args.values[k];
    if (const auto* i = std::get_if<int64_t>(&v)) {
      controls[k] = *i;  // little-endian: a bool is the first byte
      pointers.push_back(&controls[k]);
      continue;
    }
    const auto* whole = std::get_if<Buffer*>(&v);
    const WindowValue* w = std::get_if<WindowValue>(&v);
    Buffer* buffer = whole ? *whole : w->buffer;
    char* data = memory[buffer].data();
    if (a.kind != AbiArg::Kind::kWindow) {
      pointers.push_back(data);
      continue;
    }
    const auto& shape = whole ? buffer->shape : w->shape;
    windows[k].data = data + (w ? w->offset : 0) * bytes_of(buffer->type);
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      windows[k].strides[d] = w ? w->strides[d] : stride;
      stride *= shape[d];
    }
    pointers.push_back(&windows[k]);
  }
  constexpr size_t kGuard = 256;
  size_t bytes = 0;
  std::vector<char> workspace;
  char* aligned = nullptr;
  if (!f.workspace_bytes.empty()) {
    using Size = size_t (*)(void**);
    const auto size = reinterpret_cast<Size>(dlsym(handle_, ("exo_size_" + f.name).c_str()));
    EXO_CHECK(size != nullptr);
    bytes = size(pointers.data());
    workspace.assign(bytes + kGuard + 64, 0x5A);
    aligned = workspace.data() + (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64) % 64;
    pointers.push_back(aligned);
  }
  function(pointers.data());
  for (const auto& b : args.buffers)
    for (size_t i = 0; i < b->data.size(); ++i) b->data[i] = load(b->type, memory[b.get()], i);
  for (size_t k = 0; aligned && k < kGuard; ++k)
    if (aligned[bytes + k] != 0x5A) return false;
  return true;
}

}  // namespace exotune
