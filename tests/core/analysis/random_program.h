#pragma once
// Small random programs as text, and running two versions of one on the same data.
#include <random>
#include <string>

#include "core/interp/interp.h"
#include "text.h"

namespace exotune::testing {

/// Writes statements over A[16,16], B[16], C[16], x, y, a size N <= 4 and a config field; indices
/// are affine with quotients and remainders; loops, ifs, windows, locals, calls, sums and maxima.
class ProgramWriter {
 public:
  explicit ProgramWriter(unsigned seed) : engine_(seed) {}

  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  /// A program whose body is `body` (each line indented by 4).
  static std::string program(const std::string& body) {
    return "@config\nclass Cfg:\n    s: index\n"
           "@proc\ndef shift(n: size, d: [f32][n], e: [f32][n]):\n"
           "    for k in seq(0, n):\n        d[k] = e[k] + 1.0\n"
           // The same for arguments that do not overlap, with another order of reads and writes.
           "@proc\ndef shift_staged(n: size, d: [f32][n], e: [f32][n]):\n    t: f32[n]\n"
           "    for k in seq(0, n):\n        t[k] = e[k]\n        d[k] = 0.0\n"
           "    for k in seq(0, n):\n        d[n - 1 - k] = t[n - 1 - k] + 1.0\n"
           "@proc\ndef set_field(v: index):\n    Cfg.s = v\n"
           "@proc\ndef use_field(d: [f32][8], r: f32):\n    if Cfg.s == 1:\n        r = d[Cfg.s % "
           "4]\n"
           "    else:\n        r += d[Cfg.s % 8]\n"
           "@proc\ndef total(d: [f32][2, 2], r: f32):\n"
           "    r = 0.0\n    for k in seq(0, 2):\n        for l in seq(0, 2):\n            r += "
           "d[k, l]\n"
           "@proc\ndef accumulate(n: size, d: [f32][n], r: f32):\n"
           "    for k in seq(0, n):\n        r += d[k]\n"
           "@proc\ndef f(N: size, A: f32[16, 16], B: f32[16], C: f32[16], x: f32, y: f32):\n"
           "    assert N <= 4\n" +
           body;
  }

  std::string block(int depth, int statements, const std::string& indent) {
    const size_t visible = iters_.size(), windows = windows_.size(), locals = locals_.size();
    std::string out;
    for (int k = 0; k < statements; ++k) out += statement(depth, indent);
    iters_.resize(visible);
    windows_.resize(windows);
    locals_.resize(locals);
    return out;
  }

  std::string loop_head(const std::string& indent, std::string* iter) {
    *iter = "i" + std::to_string(names_++);
    std::string head = indent + "for " + *iter + " in seq(" + bounds() + "):\n";
    return head;
  }
  void push_iter(const std::string& i) { iters_.push_back(i); }
  void pop_iter() { iters_.pop_back(); }

  std::string bounds() {
    switch (below(6)) {
      case 0:
        return "0, N";
      case 1:
        return "0, 3";
      case 2:
        return "1, 4";
      case 3:
        return "0, N - 1";
      case 4:
        return iters_.empty() ? "1, N + 1" : "0, " + pick(iters_);
      default:
        return iters_.empty() ? "0, 2" : pick(iters_) + ", 4";
    }
  }

  std::string index() {
    const std::string i = iters_.empty() ? "N" : pick(iters_);
    const std::string j = iters_.empty() ? "1" : pick(iters_);
    switch (below(11)) {
      case 0:
        return std::to_string(below(4));
      case 1:
        return i + " + " + std::to_string(1 + below(2));
      case 2:
        return "2 * " + i;
      case 3:
        return "2 * " + i + " + " + std::to_string(below(2));
      case 4:
        return i + " + " + j;
      case 5:
        return i + " / 2";
      case 6:
        return i + " % 2";
      case 7:
        return "4 - " + i;
      case 8:
        return chance(30) ? "Cfg.s % 3" : "2 * " + i + " + " + j;
      default:
        return i;
    }
  }

  std::string place() {
    switch (below(8)) {
      case 0:
        return "x";
      case 1:
        return "A[" + index() + ", " + index() + "]";
      case 2:
        return windows_.empty() ? "B[" + index() + "]" : pick(windows_) + "[" + index() + "]";
      case 3:
        return locals_.empty() ? "y" : pick(locals_) + "[" + index() + "]";
      case 4:
        return "C[" + index() + "]";
      default:
        return "B[" + index() + "]";
    }
  }

  std::string value() {
    switch (below(4)) {
      case 0:
        return std::to_string(below(5)) + ".0";
      case 1:
        return place() + " + " + place();
      case 2:
        return place() + " - 1.0";
      default:
        return place();
    }
  }

  std::string condition() {
    const std::string i = iters_.empty() ? "N" : pick(iters_);
    switch (below(5)) {
      case 0:
        return i + " < 2";
      case 1:
        return i + " % 2 == 0";
      case 2:
        return "N > 2";
      case 3:
        return index() + " == " + index();
      default:
        return i + " > 0 and " + i + " < 3";
    }
  }

  std::string statement(int depth, const std::string& indent) {
    switch (below(depth > 0 ? 14 : 7)) {
      case 0:
      case 1:
        return indent + place() + " = " + value() + "\n";
      case 2:
        return indent + place() + " += " + value() + "\n";
      case 3:
        return indent + place() + (chance(40) ? " max= " : " = ") + value() + "\n";
      case 4:
        if (chance(35))
          return indent + "Cfg.s = " + (chance(50) ? "N" : std::to_string(below(3))) + "\n";
        return indent + "B[" + index() + "] = " + value() + "\n";
      case 5:
        return call(indent);
      case 6:
        return indent + place() + " = 0.0\n";
      case 7: {
        const std::string w = "w" + std::to_string(names_++);
        const std::string at = index();
        std::string line = chance(50) ? indent + w + " = B[" + at + ":16]\n"
                                      : indent + w + " = A[" + at + ", 0:16]\n";
        if (chance(25)) line = indent + w + " = A[0:16, " + at + "]\n";
        if (!windows_.empty() && chance(40))
          line = indent + w + " = " + pick(windows_) + "[" + std::to_string(below(3)) + ":8]\n";
        windows_.push_back(w);
        return line;
      }
      case 8: {
        const std::string t = "t" + std::to_string(names_++), i = "z" + std::to_string(names_++);
        locals_.push_back(t);
        std::string out = indent + t + ": f32[16]\n";
        if (chance(80))
          out += indent + "for " + i + " in seq(0, 16):\n" + indent + "    " + t + "[" + i +
                 "] = 1.0\n";
        return out;
      }
      case 9: {
        std::string out =
            indent + "if " + condition() + ":\n" + block(depth - 1, 1 + below(2), indent + "    ");
        if (chance(40)) out += indent + "else:\n" + block(depth - 1, 1, indent + "    ");
        return out;
      }
      default: {
        std::string i;
        std::string out = loop_head(indent, &i);
        push_iter(i);
        out += block(depth - 1, 1 + below(2), indent + "    ");
        pop_iter();
        return out;
      }
    }
  }

  std::string call(const std::string& indent) {
    const std::string a = index(), b = index();
    switch (below(7)) {
      case 5:
        return indent + "set_field(" + (chance(50) ? "1" : "N + " + std::to_string(below(3))) +
               ")\n";
      case 6:
        return indent + "use_field(B[" + a + ":" + a + " + 8], " +
               (chance(50) ? "x" : "C[" + b + "]") + ")\n";
      case 3:
        return indent + "shift(2, B[" + a + ":" + a + " + 2], B[" + b + ":" + b + " + 2])\n";
      case 4:
        return indent + "shift(2, A[" + a + ", 0:2], A[" + b + ":" + b + " + 2, " +
               std::to_string(below(4)) + "])\n";
      case 0:
        return indent + "shift(3, A[" + a + ", 0:3], B[" + b + ":" + b + " + 3])\n";
      case 1:
        return indent + "total(A[" + a + ":" + a + " + 2, 1:3], " + (chance(50) ? "x" : "y") +
               ")\n";
      default:
        return indent + "accumulate(2, B[" + a + ":" + a + " + 2], C[" + b + "])\n";
    }
  }

 private:
  const std::string& pick(const std::vector<std::string>& v) {
    return v[below(static_cast<int>(v.size()))];
  }
  std::mt19937 engine_;
  std::vector<std::string> iters_, windows_, locals_;
  int names_ = 0;
};

/// What a run left behind: argument buffers and configuration; nothing when the program read an
/// undefined value (then no rewrite owes it anything).
struct Outcome {
  Arguments arguments;
  ConfigState config;
};
inline std::optional<Outcome> outcome(const Proc& p, int64_t n, uint64_t seed) {
  Outcome out;
  out.arguments = make_arguments(p, {{"N", n}}, seed);
  out.config["Cfg.s"] = int64_t{1};
  InterpOptions options;
  options.arithmetic = Arithmetic::kExact;
  options.config = &out.config;
  try {
    run(p, out.arguments.values, options);
  } catch (const InterpError& e) {
    if (e.kind() == InterpError::Kind::kPoison) return std::nullopt;
    throw;
  }
  return out;
}

/// "" when both programs leave the same data (and configuration, if `config`) for N = 1..4.
inline std::string difference(const Proc& a, const Proc& b, bool config = true) {
  for (int64_t n = 1; n <= 4; ++n)
    for (uint64_t seed : {1u, 2u}) {
      std::optional<Outcome> x = outcome(a, n, seed);
      if (!x) continue;
      std::optional<Outcome> y = outcome(b, n, seed);
      if (!y) return "N = " + std::to_string(n) + ": only the second reads an undefined value";
      std::string d = first_difference(x->arguments, y->arguments);
      if (!d.empty()) return "N = " + std::to_string(n) + ": " + d;
      if (config && x->config != y->config) return "N = " + std::to_string(n) + ": Cfg.s differs";
    }
  return "";
}

}  // namespace exotune::testing
