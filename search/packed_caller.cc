#include "search/packed_caller.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/interp/interp.h"

namespace exotune {
namespace {

// Huge pages, as a program would: a packed operand is read from end to end at every call.
constexpr const char* kPackedOperands = R"(
#include <stdlib.h>
#include <sys/mman.h>
static struct { const void* from; void* packed; } exo_ahead_seen[64];
static int exo_ahead_count;
static void* exo_ahead_find(const void* from) {
  for (int i = 0; i < exo_ahead_count; ++i)
    if (exo_ahead_seen[i].from == from) return exo_ahead_seen[i].packed;
  return NULL;
}
static void* exo_ahead_make(const void* from, size_t bytes) {
  const size_t page = (size_t)2 << 20;
  bytes = bytes < page ? (bytes + 63) / 64 * 64 : (bytes + page - 1) / page * page;
  void* packed = aligned_alloc(bytes < page ? 64 : page, bytes);
  if (!packed || exo_ahead_count == 64) abort();
  if (bytes >= page) madvise(packed, bytes, MADV_HUGEPAGE);
  exo_ahead_seen[exo_ahead_count].from = from;
  exo_ahead_seen[exo_ahead_count++].packed = packed;
  return packed;
}
)";

std::string arguments_of(const FunctionAbi& f) {
  std::string out;
  for (const AbiArg& arg : f.args) out += (out.empty() ? "" : ", ") + arg.name;
  return out;
}

int64_t bytes_of_packed(const Alloc& alloc, const std::map<Sym, int64_t>& sizes) {
  int64_t bytes = static_cast<int64_t>(element_bytes(element_of(alloc.type.scalar)));
  for (const ExprPtr& extent : alloc.type.shape) bytes *= eval_control(extent, sizes);
  return bytes;
}

// Finds the packed copy of one operand, or makes it.
std::string find_or_pack(const FunctionAbi& pack, const AbiArg& source, int64_t bytes) {
  const std::string from = source.name + (source.kind == AbiArg::Kind::kWindow ? ".data" : "");
  const std::string& packed = pack.args.back().name;
  return "  " + pack.args.back().c_type + " " + packed + " = exo_ahead_find(" + from + ");\n" +
         "  if (!" + packed + ") {\n    " + packed + " = exo_ahead_make(" + from + ", " +
         std::to_string(bytes) + ");\n    " + pack.name + "(" + arguments_of(pack) + ");\n  }\n";
}

}  // namespace

std::string packed_caller(const CFile& file, const std::string& name, const AheadParts& parts,
                          const TuningProblem& problem) {
  const FunctionAbi& whole = file.functions.front();
  std::string formals, body;
  for (const AbiArg& arg : whole.args)
    formals += (formals.empty() ? "" : ", ") + arg.c_type + " " + arg.name;
  const std::map<Sym, int64_t> sizes = control_values(*parts.whole, problem.sizes);
  for (size_t k = 0; k < parts.packs.size(); ++k) {
    const auto source = std::find_if(whole.args.begin(), whole.args.end(),
                                     [&](const AbiArg& a) { return a.sym == parts.sources[k]; });
    EXO_CHECK(source != whole.args.end());
    // The whole is `allocate; pack;` for each operand, then the kernel.
    const Alloc& alloc = *parts.whole->body[2 * k]->as<Alloc>();
    body += find_or_pack(file.functions[k + 1], *source, bytes_of_packed(alloc, sizes));
  }
  const FunctionAbi& kernel = file.functions.back();
  body += "  " + kernel.name + "(" + arguments_of(kernel) + ");\n";
  return kPackedOperands + ("void " + name) + "(" + formals + ") {\n" + body + "}\n";
}

}  // namespace exotune
