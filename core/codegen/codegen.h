#pragma once
// C11 from checked procs. Start at generate_c; describe_abi says how a caller must call the result.
//
// What is emitted (docs/language.md, "What the generated C looks like"): one .c and one .h; each
// proc a function `void NAME(args)`; callees that were not asked for become static functions before
// their callers; instructions become their templates. Nothing is emitted for a proc that `check`
// refuses.
//
// Scratch memory: an allocation in DRAM of constant size up to `stack_limit_bytes` is a 64-byte
// aligned array on the stack. Anything else comes from an arena of the calling thread that grows by
// malloc, is reused by later calls and is freed by `STEM_release_scratch()`; inside loops it costs
// a pointer bump. The header says so when it applies. Or the caller gives the memory:
// Scratch::kCaller.
#include <string>
#include <vector>

#include "core/ir/proc.h"

namespace exotune {

/// One formal of a generated function.
struct AbiArg {
  enum class Kind : uint8_t {
    kControl,  // int64_t by value
    kBool,     // bool by value
    kScalar,   // T*
    kTensor,   // T*, dense row-major
    kWindow,   // struct exo_win_<rank><type>[c] by value
    kContext,  // STEM_Context*: present only when the proc materialises configuration state
  };
  std::string name;  // the C name
  Kind kind = Kind::kControl;
  Sym sym;                               // the proc's formal; null for the context
  ScalarType type = ScalarType::kIndex;  // R is already f32
  std::vector<ExprPtr> shape;            // over control arguments
  bool read = false;                     // data: some execution may read an element
  bool written = false;                  // data: some execution may write one
  std::string c_type;                    // "const float*", "struct exo_win_2f32c", "int64_t", ...
};

struct FunctionAbi {
  std::string name;          // the C name
  std::vector<AbiArg> args;  // in the order of the C parameters
  /// With Scratch::kCaller, when the function needs scratch memory: "NAME_workspace_bytes", a
  /// function of the control arguments; the function itself has one more last parameter, `void*
  /// workspace`, that many bytes aligned to 64.
  std::string workspace_bytes;
};

/// What the C is to look like and to say of itself; nothing here changes what it computes.
struct CodegenOptions {
  std::string stem = "kernel";  // names the files, the include guard and the context
  std::string comment;  // put at the top of both files: trace id, levels of proof; may have lines
  std::string build;    // how to compile: "cc -O3 -mavx512f"; said in both files
  std::string cpu;  // what a CPU must have to run the code: "avx512f, fma"; "" = nothing special
  std::vector<std::string> headers;       // extra includes of the .c, "<immintrin.h>"
  int64_t stack_limit_bytes = 64 * 1024;  // larger constant-size DRAM allocations use the arena
  int64_t scratch_padding_bytes = 64;     // addressable bytes after each arena allocation
  enum class Scratch : uint8_t {
    kThreadLocal,  // the arena belongs to the thread
    kStatic,       // bare metal: one arena, no thread-local storage; not re-entrant
    kCaller,       // the caller gives a workspace of NAME_workspace_bytes(control arguments)
  } scratch = Scratch::kThreadLocal;
  bool openmp = true;  // `par` loops become `#pragma omp parallel for`, else plain loops
};

/// Generated C, in memory: nothing is written here.
struct CFile {
  std::string stem;
  std::string c, h;                    // text of STEM.c (which includes "STEM.h") and STEM.h
  std::vector<FunctionAbi> functions;  // of the procs asked for, in order
};

/// Throws InputError when `check(p, true)` refuses a proc or when something has no C (the message
/// says what); instructions among `procs` are refused.
CFile generate_c(const std::vector<ProcPtr>& procs, const CodegenOptions& options = {});

/// The C interface of one proc, as generate_c would give it with `stem`.
FunctionAbi describe_abi(const Proc& p, const std::string& stem = "kernel");

}  // namespace exotune
