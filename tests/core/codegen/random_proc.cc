#include "tests/core/codegen/random_proc.h"

#include <vector>

#include "core/base/hashing.h"

namespace exotune {
namespace {

struct Tensor {
  std::string name;
  std::vector<int> shape;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}

  std::string module(const std::string& name) {
    static const char* const types[] = {"f32",  "f64", "i8",  "ui8", "i16",
                                        "ui16", "i32", "f16", "bf16"};
    type_ = types[pick(9)];
    floating_ = type_[0] == 'f' || type_[0] == 'b';
    other_ = types[2 + pick(5)];  // an integer type: converts to every other without surprise
    std::string text;
    text += "@proc\ndef " + name + "_scale(n: size, x: [" + type_ + "][n], y: [" + type_ +
            "][n]):\n" + "    for k in seq(0, n):\n        y[k] = " +
            (pick(2) ? "x[k] + x[n - 1 - k]" : "x[n - 1 - k] * 3.0") + "\n\n";
    // A callee that calls, with a square window, an index, a truth value and a tensor of dynamic
    // size.
    text += "@proc\ndef " + name + "_mix(m: size, o: index, up: bool, x: [" + type_ +
            "][m, m], v: " + type_ + "):\n    assert m <= 4\n    t: " + type_ +
            "[m, m + 1]\n    for i in seq(0, m):\n        for j in seq(0, m + 1):\n" +
            "            t[i, j] = v\n            if up and (i + o) % 3 == j / 2:\n                "
            "t[i, j] += x[i, (j + o) % " +
            "1]\n    for i in seq(0, m):\n        " + name +
            "_scale(m, t[i, 1:m + 1], x[0:m, i])\n    v = t[m - 1, m]\n\n";
    text += "@proc\ndef " + name + "(a: index, n: size, flag: bool, A: " + type_ +
            "[6, 7], B: " + type_ + "[12], W: [" + type_ + "][5, 4], s: " + type_ +
            ", I: " + other_ + "[9], C: " + type_ + "[n, 3]):\n" +
            "    assert n <= 9\n    assert a >= -50 and a <= 50\n";
    tensors_ = {{"A", {6, 7}}, {"B", {12}}, {"W", {5, 4}}};
    proc_ = name;
    iterators_ = {"a", "n"};
    block(text, 1, 3 + pick(3), 0);
    return text;
  }

 private:
  int pick(int n) {
    state_ = hash_mix(state_ + 0x9E3779B97F4A7C15ull);
    return static_cast<int>((state_ >> 20) % static_cast<uint64_t>(n));
  }
  std::string pad(int indent) const { return std::string(static_cast<size_t>(indent) * 4, ' '); }
  std::string iterator() {
    return iterators_[static_cast<size_t>(pick(static_cast<int>(iterators_.size())))];
  }

  std::string control(int depth) {
    switch (pick(depth > 2 ? 2 : 7)) {
      case 0:
        return iterator();
      case 1:
        return std::to_string(pick(9) - 4);
      case 2:
        return "(" + control(depth + 1) + " + " + control(depth + 1) + ")";
      case 3:
        return "(" + control(depth + 1) + " - " + control(depth + 1) + ")";
      case 4:
        return std::to_string(pick(7) - 3) + " * (" + control(depth + 1) + ")";
      case 5:
        return "(" + control(depth + 1) + ") / " + std::to_string(1 + pick(5));
      default:
        return "(" + control(depth + 1) + ") % " + std::to_string(1 + pick(6));
    }
  }
  std::string condition(int depth) {
    static const char* const comparisons[] = {"<", "<=", "==", "!=", ">", ">="};
    switch (pick(depth > 1 ? 1 : 5)) {
      case 1:
        return "(" + condition(depth + 1) + " and " + condition(depth + 1) + ")";
      case 2:
        return "(" + condition(depth + 1) + " or " + condition(depth + 1) + ")";
      case 3:
        return "not (" + condition(depth + 1) + ")";
      case 4:
        return "flag";
      default:
        return control(1) + " " + comparisons[pick(6)] + " " + control(1);
    }
  }
  std::string element() {
    if (pick(8) == 0) return "s";
    const Tensor& t = tensors_[static_cast<size_t>(pick(static_cast<int>(tensors_.size())))];
    if (t.shape.empty()) return t.name;
    std::string text = t.name + "[";
    for (size_t k = 0; k < t.shape.size(); ++k)
      text += (k ? ", " : "") + ("(" + control(1) + ") % " + std::to_string(t.shape[k]));
    return text + "]";
  }
  std::string data(int depth) {
    switch (pick(depth > 2 ? 2 : 9)) {
      case 0:
        return element();
      case 1:
        if (pick(4) == 0) return type_ + "((" + control(1) + ") % 100)";
        return std::to_string(pick(5)) + ".0";
      case 2:
        return "(" + data(depth + 1) + " + " + data(depth + 1) + ")";
      case 3:
        return "(" + data(depth + 1) + " - " + data(depth + 1) + ")";
      case 4:
        return data(depth + 1) + " * " + data(depth + 1);
      case 5:
        return "-(" + data(depth + 1) + ")";
      case 6:
        return data(depth + 1) + " / " + std::to_string(2 + pick(3)) + ".0";
      case 7: {
        static const char* const two[] = {"fmax", "fmin"};
        if (pick(2))
          return std::string(two[pick(2)]) + "(" + data(depth + 1) + ", " + data(depth + 1) + ")";
        return (pick(2) ? "relu(" : "fabs(") + data(depth + 1) + ")";
      }
      default:
        return "select(" + data(depth + 1) + ", " + element() + ", " + data(depth + 1) + ", " +
               data(depth + 1) + ")";
    }
  }

  void block(std::string& out, int indent, int statements, int depth) {
    const size_t tensors = tensors_.size();
    for (int k = 0; k < statements; ++k) statement(out, indent, depth);
    tensors_.resize(tensors);
  }

  void statement(std::string& out, int indent, int depth) {
    switch (pick(depth > 2 ? 5 : 10)) {
      case 0:
        out += pad(indent) + element() + " = " + data(0) + "\n";
        return;
      case 1:
        out += pad(indent) + element() + " += " + data(0) + "\n";
        return;
      case 2:
        out += pad(indent) + element() + (pick(2) ? " max= " : " min= ") + data(0) + "\n";
        return;
      case 3:
        out += pad(indent) + element() + " = I[(" + control(1) + ") % 9]\n";
        return;
      case 4: {
        if (pick(4) == 0) {
          const std::string x = fresh("x");
          out += pad(indent) + x + ": " + type_ + "\n" + pad(indent) + x + " = " + data(1) + "\n";
          tensors_.push_back({x, {}});
          return;
        }
        const std::string w = fresh("w");
        const int lo = pick(3), extent = 2 + pick(3);
        const bool column = pick(2) != 0;
        const std::string range = std::to_string(lo) + ":" + std::to_string(lo + extent);
        const std::string point = "(" + control(1) + ") % " + (column ? "7" : "6");
        out += pad(indent) + w + " = A[" + (column ? range + ", " + point : point + ", " + range) +
               "]\n";
        tensors_.push_back({w, {extent}});
        return;
      }
      case 5:
      case 6: {
        const std::string i = fresh("i");
        const int lo = pick(6) - 4;
        const std::string hi = pick(3) == 0 ? "n" : std::to_string(lo + pick(5));
        out += pad(indent) + "for " + i + " in " + "seq(" + std::to_string(lo) + ", " + hi + "):\n";
        iterators_.push_back(i);
        block(out, indent + 1, 1 + pick(3), depth + 1);
        iterators_.pop_back();
        return;
      }
      case 7: {
        out += pad(indent) + "if " + condition(0) + ":\n";
        block(out, indent + 1, 1 + pick(2), depth + 1);
        if (pick(2)) {
          out += pad(indent) + "else:\n";
          block(out, indent + 1, 1 + pick(2), depth + 1);
        }
        return;
      }
      case 8: {
        const std::string t = fresh("t");
        const int extent = 2 + pick(5);
        const std::string i = fresh("i");
        out += pad(indent) + t + ": " + type_ + "[" + std::to_string(extent) + "]\n";
        out += pad(indent) + "for " + i + " in seq(0, " + std::to_string(extent) + "):\n" +
               pad(indent + 1) + t + "[" + i + "] = B[" + i + " + " + std::to_string(pick(6)) +
               "]\n";
        tensors_.push_back({t, {extent}});
        return;
      }
      default: {
        const std::string i = fresh("i");
        out += pad(indent) + "for " + i + " in seq(0, n):\n" + pad(indent + 1) + "C[" + i + ", " +
               std::to_string(pick(3)) + "] = " + data(1) + "\n";
        if (pick(3) == 0) {
          const std::string m = std::to_string(1 + pick(4));
          const std::string lo = std::to_string(pick(2));
          out += pad(indent) + proc_ + "_mix(" + m + ", " + control(1) + ", " + condition(1) +
                 ", " +
                 (pick(2) ? "A[" + lo + ":" + lo + " + " + m + ", 2:2 + " + m + "]"
                          : "W[" + lo + ":" + lo + " + " + m + ", 0:" + m + "]") +
                 ", " + (pick(2) ? "s" : "B[(" + control(1) + ") % 12]") + ")\n";
        } else if (pick(2))
          out += pad(indent) + proc_ + "_scale(3, A[1:4, 2], W[2, 0:3])\n";
        else
          out += pad(indent) + proc_ + "_scale(4, B[2:6], A[3, 1:5])\n";
        return;
      }
    }
  }

  std::string fresh(const std::string& stem) { return stem + std::to_string(counter_++); }

  uint64_t state_;
  std::string type_, other_, proc_;
  bool floating_ = false;
  std::vector<Tensor> tensors_;
  std::vector<std::string> iterators_;
  int counter_ = 0;
};

}  // namespace

std::string random_module(uint64_t seed, const std::string& name) {
  return Generator(seed).module(name);
}

}  // namespace exotune
