#include "runners/toolchain.h"

#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "core/base/words.h"
#include "hw/machine.h"

namespace exotune {

std::string TargetToolchain::describe() const {
  std::string out = version_of(cc).value_or("absent");
  for (const std::string& flag : flags) out += " " + flag;
  if (threads > 1) out += ", " + std::to_string(threads) + " threads";
  return out;
}

TargetToolchain toolchain_of(const Target& target) {
  TargetToolchain toolchain;
  toolchain.cc = find_compiler(target.compiler).path;
  toolchain.flags = target.compiler.flags;
  for (const std::string& header : target.compiler.headers)
    toolchain.includes.push_back("#include " + header);
  toolchain.isa = target.isa;
  toolchain.lacking = missing_features(probe_machine(), target);
  if (target.runner.is_this_machine())
    for (const auto& [feature, flags] : target.compiler.further)
      if (probe_machine().has_feature(feature))
        toolchain.further.insert(toolchain.further.end(), flags.begin(), flags.end());
  toolchain.peers = target.peers;
  for (const auto& [type, roof] : target.roofs) toolchain.roofs[name_of(type)] = roof;
  toolchain.vector_bytes = target.vector_bits / 8;
  return toolchain;
}

TargetToolchain plain_toolchain(const std::string& cc) {
  TargetToolchain t;
  t.cc = cc;
  if (t.cc.empty()) t.cc = find_program("gcc").empty() ? "clang" : "gcc";
  if (find_program(t.cc).empty())
    throw Error(
        Diagnostic{{}, "no C compiler: '" + t.cc + "' is not on PATH", {}, "apt install gcc"},
        ExitCode::kUnavailable);
  t.flags = {"-O3", "-std=gnu11"};
  return t;
}

void require_cpu(const TargetToolchain& toolchain) {
  if (toolchain.lacking.empty()) return;
  throw Error(Diagnostic{{},
                         "this CPU cannot run " + toolchain.isa + " code: it has no " +
                             joined(toolchain.lacking, ", "),
                         {},
                         "choose another target or runner"},
              ExitCode::kUnavailable);
}

}  // namespace exotune
