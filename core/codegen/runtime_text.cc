#include "core/codegen/runtime_text.h"

#include <map>

#include "core/base/diagnostic.h"

namespace exotune::codegen {
namespace {

const char* c_type(const std::string& type) {
  static const std::map<std::string, const char*> types = {
      {"f32", "float"},   {"f64", "double"},    {"i8", "int8_t"},  {"ui8", "uint8_t"},
      {"i16", "int16_t"}, {"ui16", "uint16_t"}, {"i32", "int32_t"}};
  const auto it = types.find(type);
  EXO_CHECK(it != types.end());
  return it->second;
}

std::string one_line(const std::string& type, const std::string& name, const std::string& args,
                     const std::string& value) {
  return "static inline " + type + " " + name + "(" + args + ") { return " + value + "; }\n";
}

constexpr const char* kFloorDiv =
    "/* a / b rounded toward minus infinity, b > 0. */\n"
    "static inline int64_t exo_floor_div(int64_t a, int64_t b) {\n"
    "  const int64_t q = a / b;\n"
    "  return q - (a % b < 0);\n"
    "}\n";
constexpr const char* kFloorMod =
    "/* a modulo b in [0, b), b > 0. */\n"
    "static inline int64_t exo_floor_mod(int64_t a, int64_t b) {\n"
    "  const int64_t r = a % b;\n"
    "  return r < 0 ? r + b : r;\n"
    "}\n";
constexpr const char* kBf16To =
    "static inline float exo_bf16_to_f32(uint16_t h) {\n"
    "  const uint32_t u = (uint32_t)h << 16;\n"
    "  float f;\n"
    "  memcpy(&f, &u, sizeof f);\n"
    "  return f;\n"
    "}\n";
constexpr const char* kBf16From =
    "/* Rounds to nearest, ties to even; a NaN stays one. */\n"
    "static inline uint16_t exo_bf16_from_f32(float f) {\n"
    "  uint32_t u;\n"
    "  memcpy(&u, &f, sizeof u);\n"
    "  if ((u & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(u >> 16 | 0x40u);\n"
    "  return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1u)) >> 16);\n"
    "}\n";
constexpr const char* kF16To =
    "static inline float exo_f16_to_f32(uint16_t h) {\n"
    "  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;\n"
    "  const uint32_t exponent = h >> 10 & 0x1Fu, fraction = h & 0x3FFu;\n"
    "  uint32_t u;\n"
    "  float f;\n"
    "  if (exponent == 0) { /* zero and subnormal: fraction * 2^-24 */\n"
    "    f = (float)fraction * 5.9604644775390625e-8f;\n"
    "    memcpy(&u, &f, sizeof u);\n"
    "    u |= sign;\n"
    "  } else {\n"
    "    u = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112u) << 23) | fraction << 13;\n"
    "  }\n"
    "  memcpy(&f, &u, sizeof f);\n"
    "  return f;\n"
    "}\n";
constexpr const char* kF16From =
    "/* Rounds to nearest, ties to even; too large becomes infinity, a NaN stays one. */\n"
    "static inline uint16_t exo_f16_from_f32(float f) {\n"
    "  uint32_t u;\n"
    "  memcpy(&u, &f, sizeof u);\n"
    "  const uint16_t sign = (uint16_t)(u >> 16 & 0x8000u);\n"
    "  u &= 0x7FFFFFFFu;\n"
    "  if (u > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);\n"
    "  if (u >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u);\n"
    "  if (u < 0x38800000u) { /* subnormal: adding 1/2 rounds at 2^-24 */\n"
    "    float g;\n"
    "    memcpy(&g, &u, sizeof g);\n"
    "    g += 0.5f;\n"
    "    memcpy(&u, &g, sizeof u);\n"
    "    return (uint16_t)(sign | (u - 0x3F000000u));\n"
    "  }\n"
    "  return (uint16_t)(sign | ((u - 0x38000000u + 0xFFFu + (u >> 13 & 1u)) >> 13));\n"
    "}\n";
constexpr const char* kTooMany =
    "/* Bytes that no memory has: sums and products of sizes stay there and do not wrap around. "
    "*/\n"
    "#define EXO_TOO_MANY (SIZE_MAX / 4)\n";
constexpr const char* kTimes =
    "static inline size_t exo_times(size_t a, size_t b) {\n"
    "#ifdef __GNUC__\n"
    "  size_t product;\n"
    "  return __builtin_mul_overflow(a, b, &product) || product > EXO_TOO_MANY ? EXO_TOO_MANY : "
    "product;\n"
    "#else\n"
    "  return b != 0 && a > EXO_TOO_MANY / b ? EXO_TOO_MANY : a * b;\n"
    "#endif\n"
    "}\n";
constexpr const char* kWorkspace =
    "/* The next piece of the caller's workspace, in units of 64 bytes. */\n"
    "static inline size_t exo_workspace_size(size_t bytes) {\n"
    "  return (bytes + EXO_WORKSPACE_PADDING + 63) / 64 * 64;\n"
    "}\n"
    "static inline size_t exo_plus(size_t a, size_t b) {\n"
    "  return a > EXO_TOO_MANY - (b > EXO_TOO_MANY ? EXO_TOO_MANY : b) ? EXO_TOO_MANY : a + b;\n"
    "}\n"
    "static inline void* exo_workspace_take(char** at, size_t bytes) {\n"
    "  char* const piece = *at;\n"
    "  *at += exo_workspace_size(bytes);\n"
    "  return piece;\n"
    "}\n";
constexpr const char* kAssert =
    "/* What the caller must have made sure of; checked when EXO_CHECKED is defined. */\n"
    "#ifdef EXO_CHECKED\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#define EXO_ASSERT(condition) \\\n"
    "  ((condition) ? (void)0 : (fprintf(stderr, \"%s:%d: violated: %s\\n\", __FILE__, __LINE__, "
    "#condition), abort()))\n"
    "#else\n"
    "#define EXO_ASSERT(condition) ((void)(0 && (condition)))\n"
    "#endif\n";
constexpr const char* kUnroll =
    "/* The loop indexes variables that live in registers: unrolled, its subscripts are constants. "
    "*/\n"
    "#if defined(__clang__)\n"
    "#define EXO_UNROLL _Pragma(\"clang loop unroll(full)\")\n"
    "#elif defined(__GNUC__)\n"
    "#define EXO_UNROLL _Pragma(\"GCC unroll 32\")\n"
    "#else\n"
    "#define EXO_UNROLL\n"
    "#endif\n";
constexpr const char* kStays =
    "/* What is to be written out is: compilers that unroll more of so long a function take long. "
    "*/\n"
    "#if defined(__clang__)\n"
    "#define EXO_STAYS _Pragma(\"nounroll\")\n"
    "#else\n"
    "#define EXO_STAYS\n"
    "#endif\n";

}  // namespace

std::string helper_text(const std::string& name) {
  static const std::map<std::string, const char*> fixed = {{"exo_floor_div", kFloorDiv},
                                                           {"exo_floor_mod", kFloorMod},
                                                           {"exo_bf16_to_f32", kBf16To},
                                                           {"exo_f16_to_f32", kF16To},
                                                           {"exo_bf16_from_f32", kBf16From},
                                                           {"exo_f16_from_f32", kF16From},
                                                           {"EXO_ASSERT", kAssert},
                                                           {"exo_workspace_take", kWorkspace},
                                                           {"exo_times", kTimes},
                                                           {"EXO_TOO_MANY", kTooMany},
                                                           {"EXO_UNROLL", kUnroll},
                                                           {"EXO_STAYS", kStays}};
  if (const auto it = fixed.find(name); it != fixed.end()) return it->second;
  // exo_<operation>_<type>
  const size_t split = name.rfind('_');
  const std::string op = name.substr(4, split - 4), type = name.substr(split + 1), t = c_type(type);
  const bool floating = type == "f32" || type == "f64";
  const std::string f = type == "f32" ? "f" : "", two = t + " a, " + t + " b", one = t + " x";
  if (op == "max") return one_line(t, name, two, "a < b ? b : a");
  if (op == "min") return one_line(t, name, two, "b < a ? b : a");
  if (op == "relu")
    return one_line(t, name, one, floating ? "x > 0.0" + f + " ? x : 0.0" + f : "x > 0 ? x : 0");
  if (op == "sigmoid")
    return one_line(t, name, one, "1.0" + f + " / (1.0" + f + " + exp" + f + "(-x))");
  if (op == "abs" && type == "i32")
    return one_line(t, name, one, "x < 0 ? (int32_t)(0u - (uint32_t)x) : x");
  if (op == "abs" && type[0] == 'u') return one_line(t, name, one, "x");
  if (op == "abs") return one_line(t, name, one, "(" + t + ")(x < 0 ? -x : x)");
  EXO_CHECK(false && "unknown helper");
  return "";
}

std::string scratch_text(const std::string& stem, int64_t padding_bytes,
                         bool thread_local_storage) {
  const std::string owner = thread_local_storage ? "static _Thread_local " : "static ";
  return "/* Scratch memory: blocks that are kept for later calls; taking and giving back moves a "
         "mark. */\n"
         "struct exo_scratch_block {\n"
         "  struct exo_scratch_block* next;\n"
         "  size_t size, used;\n"
         "};\n"
         "struct exo_scratch_mark {\n"
         "  struct exo_scratch_block* block;\n"
         "  size_t used;\n"
         "};\n" +
         owner +
         "struct exo_scratch_block *exo_scratch_first, *exo_scratch_current;\n"
         "\n"
         "static struct exo_scratch_mark exo_scratch_mark(void) {\n"
         "  struct exo_scratch_mark mark = { exo_scratch_current, exo_scratch_current ? "
         "exo_scratch_current->used : 0 };\n"
         "  return mark;\n"
         "}\n"
         "\n"
         "static void exo_scratch_release(struct exo_scratch_mark mark) {\n"
         "  exo_scratch_current = mark.block ? mark.block : exo_scratch_first;\n"
         "  if (exo_scratch_current) exo_scratch_current->used = mark.used;\n"
         "}\n"
         "\n"
         "static void* exo_scratch_alloc(size_t bytes) {\n"
         "  struct exo_scratch_block* block = exo_scratch_current;\n"
         "  bytes = (bytes + " +
         std::to_string(padding_bytes) +
         " + 63) / 64 * 64;\n"
         "  while (block && block->size - block->used < bytes && block->next) {\n"
         "    block = block->next;\n"
         "    block->used = 0;\n"
         "  }\n"
         "  if (!block || block->size - block->used < bytes) {\n"
         "    size_t size = block ? 2 * block->size : (size_t)1 << 20;\n"
         "    struct exo_scratch_block* fresh;\n"
         "    if (size < bytes) size = bytes;\n"
         "    fresh = (struct exo_scratch_block*)aligned_alloc(64, size + 64);\n"
         "    if (!fresh) abort();\n"
         "    fresh->next = NULL;\n"
         "    fresh->size = size;\n"
         "    fresh->used = 0;\n"
         "    if (block) block->next = fresh;\n"
         "    else exo_scratch_first = fresh;\n"
         "    block = fresh;\n"
         "  }\n"
         "  exo_scratch_current = block;\n"
         "  block->used += bytes;\n"
         "  return (char*)block + 64 + block->used - bytes;\n"
         "}\n"
         "\n"
         "void " +
         stem +
         "_release_scratch(void) {\n"
         "  while (exo_scratch_first) {\n"
         "    struct exo_scratch_block* next = exo_scratch_first->next;\n"
         "    free(exo_scratch_first);\n"
         "    exo_scratch_first = next;\n"
         "  }\n"
         "  exo_scratch_current = NULL;\n"
         "}\n";
}

}  // namespace exotune::codegen
