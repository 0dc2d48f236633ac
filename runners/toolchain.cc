#include "runners/toolchain.h"

#include <map>
#include <mutex>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"

namespace exotune {

namespace {

/// The first line of `cc --version`, asked once per compiler.
std::string version_line(const std::string& cc) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::lock_guard lock(mutex);
  auto [at, fresh] = known.try_emplace(cc);
  if (fresh) {
    const CommandResult r = run_command({cc, "--version"});
    at->second = r.ok() ? r.out.substr(0, r.out.find('\n')) : "absent";
  }
  return at->second;
}

}  // namespace

std::string TargetToolchain::describe() const {
  std::string out = version_line(cc);
  for (const std::string& flag : flags) out += " " + flag;
  if (threads > 1) out += ", " + std::to_string(threads) + " threads";
  return out;
}

bool cpu_supports(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (isa == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return isa == "scalar";
}

std::string toolchain_isa(const std::string& target_isa) {
  return target_isa == "avx512" || target_isa == "avx2" ? target_isa : "scalar";
}

TargetToolchain default_toolchain(const std::string& isa, const std::string& cc) {
  TargetToolchain t;
  t.isa = isa;
  t.cc = cc;
  if (t.cc.empty()) t.cc = find_program("gcc").empty() ? "clang" : "gcc";
  if (find_program(t.cc).empty())
    throw Error(
        Diagnostic{{}, "no C compiler: '" + t.cc + "' is not on PATH", {}, "apt install gcc"},
        ExitCode::kUnavailable);
  t.flags = {"-O3", "-std=gnu11"};
  if (isa == "avx512") {
    for (const char* f :
         {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512cd", "-mfma", "-mavx2",
          "-mf16c", "-mbmi", "-mbmi2", "-mprefer-vector-width=512"})
      t.flags.push_back(f);
    t.includes = {"#include <immintrin.h>"};
  } else if (isa == "avx2") {
    for (const char* f : {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mbmi2"}) t.flags.push_back(f);
    t.includes = {"#include <immintrin.h>"};
  } else if (isa != "scalar") {
    throw InputError({}, "no built-in toolchain for '" + isa + "'", "one of avx512, avx2, scalar");
  }
  return t;
}

}  // namespace exotune
