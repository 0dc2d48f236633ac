#pragma once
// One character after another of a rule's text, spaces passed over: what its parsers stand on.
#include <cctype>
#include <string_view>

namespace exotune::eqsat {

class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

 protected:
  bool at_end() const { return at_ >= text_.size(); }
  void skip_spaces() {
    while (!at_end() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  /// Past `c`, and the spaces before it, where it comes next.
  bool take(char c) {
    skip_spaces();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// What follows, after spaces, as long as `belongs`; may be empty.
  template <class Belongs>
  std::string_view run_of(const Belongs& belongs) {
    skip_spaces();
    const size_t begin = at_;
    while (!at_end() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace exotune::eqsat
