#include "core/frontend/foreign_functions.h"

#include <map>

#include "core/base/words.h"

namespace exotune {
namespace {

// The same function by another name.
const std::map<std::string, std::string> kOtherNames = {{"abs", "fabs"},  {"max", "fmax"},
                                                        {"min", "fmin"},  {"ln", "log"},
                                                        {"float", "f32"}, {"double", "f64"}};

// An expression that is the same: `$0` is the first argument.
struct Formula {
  size_t arity;
  const char* text;
};
const std::map<std::string, Formula> kFormulas = {
    {"fma", {3, "$0 * $1 + $2"}},
    {"rsqrt", {1, "1.0 / sqrt($0)"}},
    {"sign", {1, "select($0, 0.0, -1.0, select(0.0, $0, 1.0, 0.0))"}},
    {"clamp", {3, "fmin(fmax($0, $1), $2)"}},
    {"clip", {3, "fmin(fmax($0, $1), $2)"}},
    {"square", {1, "$0 * $0"}},
    {"gelu", {1, "0.5 * $0 * (1.0 + erf(0.7071067811865476 * $0))"}},
    {"silu", {1, "$0 * sigmoid($0)"}},
    {"swish", {1, "$0 * sigmoid($0)"}},
    {"softplus", {1, "log1p(exp($0))"}},
    {"erfc", {1, "1.0 - erf($0)"}},
    {"exp10", {1, "pow(10.0, $0)"}},
    {"lerp", {3, "$0 + $2 * ($1 - $0)"}},
    {"fdim", {2, "fmax($0 - $1, 0.0)"}},
    {"copysign", {2, "select($1, 0.0, -fabs($0), fabs($0))"}},
    {"atanh", {1, "0.5 * log((1.0 + $0) / (1.0 - $0))"}},
    {"acosh", {1, "log($0 + sqrt($0 * $0 - 1.0))"}},
    {"asinh", {1, "log($0 + sqrt($0 * $0 + 1.0))"}},
    {"saturate", {1, "fmin(fmax($0, 0.0), 1.0)"}},
    {"relu6", {1, "fmin(fmax($0, 0.0), 6.0)"}},
    {"rcp", {1, "1.0 / $0"}},
    {"mix", {3, "$0 + $2 * ($1 - $0)"}},
    {"mod", {2, "fmod($0, $1)"}},
    {"int", {1, "i32($0)"}}};

// What takes a whole row, and is a loop here.
const std::map<std::string, const char*> kLoops = {
    {"sum", "a sum is a loop with `+=`"},
    {"mean", "a mean is a loop with `+=`, and a division by `f32(n)`"},
    {"prod", "a product is a loop with `*=`"},
    {"dot", "a sum of products is a loop with `+=`"},
    {"norm", "a norm is a loop with `+=`, and `sqrt`"},
    {"argmax",
     "a running maximum `best`, and where it stood: `at = select(best, x[i], f32(i), at)`"},
    {"argmin",
     "a running minimum `best`, and where it stood: `at = select(x[i], best, f32(i), at)`"}};

bool alone_in_brackets(const std::string& text, size_t from, size_t to) {
  const char before = from > 0 ? text[from - 1] : '(', after = to < text.size() ? text[to] : ')';
  const bool opens = before == '(' || (before == ' ' && from > 1 && text[from - 2] == ',');
  return opens && (after == ')' || after == ',');
}

std::string filled(const std::string& formula, const SyntaxExpr& call) {
  std::string out;
  for (size_t k = 0; k < formula.size(); ++k) {
    if (formula[k] != '$') {
      out += formula[k];
      continue;
    }
    const SyntaxExpr& argument = call.children[static_cast<size_t>(formula[k + 1] - '0')];
    out += alone_in_brackets(formula, k, k + 2) ? written(argument) : written_operand(argument);
    ++k;
  }
  return out;
}

}  // namespace

bool is_minimum(const SyntaxExpr& call) {
  return call.kind == SyntaxExpr::Kind::kCall && (call.name == "min" || call.name == "fmin");
}

bool is_maximum(const SyntaxExpr& call) {
  return call.kind == SyntaxExpr::Kind::kCall && (call.name == "max" || call.name == "fmax");
}

std::string nested_pairs(const std::string& function, const SyntaxExpr& call) {
  constexpr size_t kMost = 8;  // that still are a hint
  if (call.children.size() > kMost) return function + "(a, " + function + "(b, c))";
  std::string out = written(call.children.back());
  for (size_t k = call.children.size() - 1; k-- > 0;)
    out = function + "(" + written(call.children[k]) + ", " + out + ")";
  return out;
}

std::string instead_of_function(const SyntaxExpr& call) {
  if (const auto it = kOtherNames.find(call.name); it != kOtherNames.end()) {
    const std::string& name = it->second;
    const std::string called = "it is called " + quoted(name) + " here";
    const bool several = (name == "fmax" || name == "fmin") && call.children.size() > 2;
    return several ? called + ", and takes two: write " + quoted(nested_pairs(name, call)) : called;
  }
  if (const auto it = kFormulas.find(call.name);
      it != kFormulas.end() && it->second.arity == call.children.size())
    return "write " + quoted(filled(it->second.text, call));
  if (const auto it = kLoops.find(call.name); it != kLoops.end()) return it->second;
  return "";
}

}  // namespace exotune
