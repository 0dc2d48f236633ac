#include "cli/einsum.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {

constexpr std::string_view kPrefix = "einsum:";
constexpr size_t kMostFactors = 8;

// Reads "abc,cd->abd".
class EinsumReader {
 public:
  explicit EinsumReader(const std::string& text) : text_(text) {}

  void read() {
    const size_t arrow = text_.find("->");
    if (arrow == std::string::npos)
      refuse(text_.size(), "`->` and the indices of the result are missing",
             "for a product of matrices: einsum:ab,bc->ac");
    size_t begin = 0;
    for (size_t at = 0; at <= arrow; ++at) {
      if (at < arrow && text_[at] != ',') continue;
      factors_.push_back(indices(begin, at));
      if (factors_.back().empty())
        refuse(begin, "a factor without indices",
               "numbers are arguments of a procedure of your own");
      begin = at + 1;
    }
    if (factors_.size() > kMostFactors)
      refuse(0, "more than " + std::to_string(kMostFactors) + " factors");
    output_ = indices(arrow + 2, text_.size());
    for (size_t k = 0; k < output_.size(); ++k) {
      const size_t at = text_.find(output_[k], arrow + 2);
      if (output_.find(output_[k]) != k)
        refuse(text_.find(output_[k], at + 1),
               std::string("`") + output_[k] + "` stands twice in the result");
      if (std::none_of(factors_.begin(), factors_.end(), [&](const std::string& f) {
            return f.find(output_[k]) != std::string::npos;
          }))
        refuse(at, std::string("no factor has the index `") + output_[k] + "`");
    }
  }

  std::string text() const {
    std::string all;  // indices as they appear
    for (const std::string& f : factors_)
      for (const char c : f)
        if (all.find(c) == std::string::npos) all += c;
    std::string out = "@proc\ndef einsum(";
    for (const char c : all) out += std::string(1, c) + ": size, ";
    for (size_t k = 0; k < factors_.size(); ++k)
      out += name(k) + ": f32[" + list(factors_[k], "") + "], ";
    out += "out: f32[" + (output_.empty() ? "1" : list(output_, "")) + "]):\n";
    std::string loops = output_;
    for (const char c : all)
      if (loops.find(c) == std::string::npos) loops += c;
    std::string indent = "    ";
    for (const char c : loops) {
      out += indent + "for " + c + "i in seq(0, " + c + "):\n";
      indent += "    ";
    }
    out += indent + "out[" + (output_.empty() ? "0" : list(output_, "i")) + "] += ";
    for (size_t k = 0; k < factors_.size(); ++k)
      out += (k ? " * " : "") + name(k) + "[" + list(factors_[k], "i") + "]";
    return out + "\n";
  }

 private:
  [[noreturn]] void refuse(size_t at, const std::string& message,
                           const std::string& hint = "") const {
    const SourceLocation where{std::make_shared<const std::string>(std::string(kPrefix) + text_), 1,
                               static_cast<int>(at + kPrefix.size()) + 1};
    throw InputError(where, message, hint);
  }

  std::string indices(size_t begin, size_t end) const {
    std::string out;
    for (size_t at = begin; at < end; ++at) {
      const char c = text_[at];
      if (c == ' ') continue;
      if (c >= 'A' && c <= 'Z')
        refuse(at, "an index is a small letter",
               std::string("write `") + static_cast<char>(c + 32) +
                   "`: capital ones name the factors");
      if (c == '.') refuse(at, "`...` is not read", "write each index");
      if (c < 'a' || c > 'z')
        refuse(at, std::string("`") + c + "` is no index: one letter, a to z");
      out += c;
    }
    return out;
  }

  static std::string name(size_t k) { return std::string(1, static_cast<char>('A' + k)); }
  static std::string list(const std::string& indices, const std::string& suffix) {
    std::string out;
    for (const char c : indices) out += (out.empty() ? "" : ", ") + std::string(1, c) + suffix;
    return out;
  }

  const std::string& text_;
  std::vector<std::string> factors_;
  std::string output_;
};

}  // namespace

std::optional<std::string> einsum_of(const std::string& kernel) {
  if (!kernel.starts_with(kPrefix)) return std::nullopt;
  return kernel.substr(kPrefix.size());
}

std::string einsum_text(const std::string& notation) {
  EinsumReader reader(notation);
  reader.read();
  return reader.text();
}

}  // namespace exotune::cli
