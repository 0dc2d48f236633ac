#include "runners/roof.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "runners/shared_object.h"

namespace exotune {

std::string compile_roof(const TargetToolchain& toolchain, const std::string& source,
                         const std::string& directory) {
  constexpr const char* prelude = R"roof(
#include <stdint.h>
#include <string.h>
typedef int64_t Words __attribute__((vector_size(BYTES), may_alias));
typedef int64_t W __attribute__((vector_size(BYTES), aligned(8), may_alias));
#define ROOF double roof(int64_t steps, double seed)
)roof";
  require_cpu(toolchain);
  SharedObjectRequest request;
  request.compiler = toolchain.cc;
  request.flags = toolchain.flags;
  for (std::string& flag : request.flags)
    if (flag == "-O3") flag = "-O2";
  const int bytes = std::max(toolchain.vector_bytes, 16);
  for (const std::string& flag :
       {std::string("-w"), std::string("-ffp-contract=fast"), "-DBYTES=" + std::to_string(bytes)})
    request.flags.push_back(flag);
  request.source = prelude + source;
  request.name = "roof";
  std::string error;
  std::string library = compile_shared_object(request, directory, &error);
  if (library.empty())
    throw Error(Diagnostic{{}, "the peak measurement does not compile: " + error, {}, {}},
                ExitCode::kUnavailable);
  return library;
}

}  // namespace exotune
