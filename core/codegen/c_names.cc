#include "core/codegen/c_names.h"

#include <cctype>

#include "core/base/diagnostic.h"
#include "core/codegen/c_library_names.h"
#include "core/ir/functions.h"

namespace exotune::codegen {
namespace {

const std::set<std::string>& reserved() {
  static const std::set<std::string> words = {
      // C11
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
      "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
      "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
      "union", "unsigned", "void", "volatile", "while", "asm", "typeof",
      // C++: the header is read by both
      "alignas", "alignof", "and", "bitand", "bitor", "bool", "catch", "class", "compl", "concept",
      "consteval", "constexpr", "constinit", "const_cast", "co_await", "co_return", "co_yield",
      "decltype", "delete", "dynamic_cast", "explicit", "export", "false", "friend", "mutable",
      "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected",
      "public", "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this",
      "thread_local", "throw", "true", "try", "typeid", "typename", "using", "virtual", "wchar_t",
      "xor", "char8_t", "char16_t", "char32_t",
      // types and macros that generated code writes, and macros of GNU mode
      "I", "complex", "i386", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
      "int64_t", "uint64_t", "size_t", "ptrdiff_t", "max_align_t", "assert", "errno", "ctxt",
      "workspace",
      // functions that it calls
      "sin", "cos", "exp", "sqrt", "rint", "tanh", "fabs", "fmax", "fmin", "fma", "sinf", "cosf",
      "expf", "sqrtf", "rintf", "tanhf", "fabsf", "fmaxf", "fminf", "fmaf", "abs", "abort", "exit",
      "malloc", "calloc", "realloc", "free", "aligned_alloc", "memcpy", "memset", "memmove",
      "fprintf", "printf"};
  return words;
}

// math.h's functions that expressions call, for double and for float.
bool in_math_h(const std::string& name) {
  for (const std::string& n : {name, name.substr(0, name.size() - (name.ends_with("f") ? 1 : 0))})
    if (const Function* f = find_function(n); f && f->in_math_h) return true;
  return false;
}

}  // namespace

std::string c_identifier(const std::string& name) {
  std::string r;
  for (char c : name) r += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (r.empty() || std::isdigit(static_cast<unsigned char>(r[0]))) r = "v" + r;
  // _x belongs to the implementation and its intrinsics, exo_ to what we emit.
  const bool intrinsic =
      r[0] == '_' && r.size() > 1 && !std::isdigit(static_cast<unsigned char>(r[1]));
  if (intrinsic) r = "v" + r;
  if (r.rfind("exo_", 0) == 0 || r.rfind("EXO_", 0) == 0) r = "v_" + r;
  if (reserved().contains(r) || is_macro_of_library(r) || in_math_h(r)) r += "_";
  return r;
}

std::string c_function_name(const std::string& name) {
  const std::string r = c_identifier(name);
  return r == "main" || is_declared_by_library(r) ? r + "_" : r;
}

bool has_token(const std::string& text, const std::string& name, size_t from) {
  auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name, from); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool left = at == 0 || !word(text[at - 1]);
    const bool right = at + name.size() >= text.size() || !word(text[at + name.size()]);
    if (left && right) return true;
  }
  return false;
}

std::string unique_name(const std::string& name, const std::set<std::string>& taken,
                        const std::set<std::string>& also) {
  auto free = [&](const std::string& n) { return !taken.contains(n) && !also.contains(n); };
  if (free(name)) return name;
  for (int k = 1;; ++k)
    if (std::string r = name + "_" + std::to_string(k); free(r)) return r;
}

void NameScopes::pop() {
  for (const std::string& n : scopes_.back()) taken_.erase(n);
  scopes_.pop_back();
}

const std::string& NameScopes::bind(Sym s) { return names_[s] = fresh(c_identifier(s.name())); }

std::string NameScopes::fresh(const std::string& name) {
  std::string r = unique_name(name, taken_, file_names_);
  taken_.insert(r);
  scopes_.back().push_back(r);
  return r;
}

const std::string& NameScopes::of(Sym s) const {
  const auto it = names_.find(s);
  EXO_CHECK(it != names_.end());
  return it->second;
}

}  // namespace exotune::codegen
