#include "hw/size_formula.h"

#include <cctype>
#include <set>

namespace exotune {

class SizeFormulaParser {
 public:
  explicit SizeFormulaParser(SizeFormula& f) : f_(f) {}

  void parse() {
    sum();
    if (peek() != '\0') refuse("expected an operator");
  }

 private:
  using Op = SizeFormula::Op;

  char peek() {
    while (at_ < f_.text_.size() && std::isspace(static_cast<unsigned char>(f_.text_[at_]))) ++at_;
    return at_ < f_.text_.size() ? f_.text_[at_] : '\0';
  }
  [[noreturn]] void refuse(const std::string& what) {
    SourceLocation where = f_.where_;
    if (where.known()) where.column += static_cast<int>(at_) + 1;  // past the opening quote
    throw InputError(where, what + " in the formula '" + f_.text_ + "'",
                     "integers, size names, + - * / and parentheses");
  }
  void sum() {
    product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      ++at_;
      product();
      f_.steps_.push_back({c == '+' ? Op::kAdd : Op::kSub, 0, ""});
    }
  }
  void product() {
    factor();
    for (char c = peek(); c == '*' || c == '/'; c = peek()) {
      ++at_;
      factor();
      if (c == '/') invert();
      f_.steps_.push_back({Op::kMul, 0, ""});
    }
  }
  // Division is by a number: a product with its inverse.
  void invert() {
    auto& last = f_.steps_.back();
    if (last.op != Op::kNumber || last.number == 0) refuse("expected a number to divide by");
    last.number = 1 / last.number;
  }
  void factor() {
    const char c = peek();
    if (c == '(') {
      ++at_;
      sum();
      if (peek() != ')') refuse("expected ')'");
      ++at_;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      double value = 0;
      for (; at_ < f_.text_.size() && std::isdigit(static_cast<unsigned char>(f_.text_[at_]));
           ++at_)
        value = value * 10 + (f_.text_[at_] - '0');
      f_.steps_.push_back({Op::kNumber, value, ""});
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      const size_t begin = at_;
      while (at_ < f_.text_.size() &&
             (std::isalnum(static_cast<unsigned char>(f_.text_[at_])) || f_.text_[at_] == '_'))
        ++at_;
      f_.steps_.push_back({Op::kName, 0, f_.text_.substr(begin, at_ - begin)});
    } else {
      refuse("expected a number or a size");
    }
  }

  SizeFormula& f_;
  size_t at_ = 0;
};

SizeFormula::SizeFormula(std::string text, SourceLocation where)
    : text_(std::move(text)), where_(std::move(where)) {
  SizeFormulaParser(*this).parse();
}

std::vector<std::string> SizeFormula::names() const {
  std::set<std::string> found;
  for (const Step& s : steps_)
    if (s.op == Op::kName) found.insert(s.name);
  return {found.begin(), found.end()};
}

double SizeFormula::evaluate(const SizeBinding& sizes) const {
  std::vector<double> stack;
  for (const Step& s : steps_) {
    if (s.op == Op::kNumber) {
      stack.push_back(s.number);
    } else if (s.op == Op::kName) {
      const auto it = sizes.find(s.name);
      if (it == sizes.end())
        throw InputError(where_, "no value for the size '" + s.name + "' of '" + text_ + "'");
      stack.push_back(static_cast<double>(it->second));
    } else {
      const double b = stack.back();
      stack.pop_back();
      double& a = stack.back();
      a = s.op == Op::kAdd ? a + b : s.op == Op::kSub ? a - b : a * b;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

}  // namespace exotune
