#include "cli/einsum.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/diagnostic.h"

namespace exotune::cli {
namespace {

constexpr std::string_view kPrefix = "einsum:";
constexpr size_t kMostFactors = 8;

struct Operand {
  std::string indices;
  std::string type;    // "" where none is written
  size_t type_at = 0;  // where it stands
};

// Reads "abc,cd->abd" and "ab:i8,bc:i8->ac:i32".
class EinsumReader {
 public:
  explicit EinsumReader(const std::string& text) : text_(text) {}

  void read() {
    const size_t arrow = text_.find("->");
    if (arrow == std::string::npos)
      refuse(text_.size(), "`->` and the indices of the result are missing",
             "for a product of matrices: einsum:ab,bc->ac");
    size_t begin = 0;
    // Factors end at a comma or at the arrow.
    for (size_t at = 0; at <= arrow; ++at) {
      if (at < arrow && text_[at] != ',') continue;
      factors_.push_back(operand(begin, at));
      if (factors_.back().indices.empty())
        refuse(begin, "a factor without indices",
               "numbers are arguments of a procedure of your own");
      begin = at + 1;
    }
    if (factors_.size() > kMostFactors)
      refuse(0, "more than " + std::to_string(kMostFactors) + " factors");
    output_ = operand(arrow + 2, text_.size());
    check_output(arrow + 2);
    settle_types();
  }

  std::string text() const {
    const std::string all = all_indices();
    const std::string& result = output_.indices;
    std::string out = "@proc\ndef einsum(";
    for (const char c : all) out += std::string(1, c) + ": size, ";
    for (size_t k = 0; k < factors_.size(); ++k)
      out += name(k) + ": " + factors_[k].type + "[" + list(factors_[k].indices, "") + "], ";
    out += "out: " + output_.type + "[" + (result.empty() ? "1" : list(result, "")) + "]):\n";
    // The result's loops outside, sums inside, as people write them; the search reorders them.
    std::string loops = result;
    for (const char c : all)
      if (loops.find(c) == std::string::npos) loops += c;
    std::string indent = "    ";
    for (const char c : loops) {
      out += indent + "for " + c + "i in seq(0, " + c + "):\n";
      indent += "    ";
    }
    // Factors of another type are multiplied in the type of the sum.
    std::string product, wide, widened;
    for (size_t k = 0; k < factors_.size(); ++k) {
      std::string element = name(k) + "[" + list(factors_[k].indices, "i") + "]";
      if (factors_[k].type != output_.type) {
        const std::string local = "wide" + name(k);
        wide += indent + local + ": " + output_.type + "\n";
        widened += indent + local + " = " + element + "\n";
        element = local;
      }
      product += (k ? " * " : "") + element;
    }
    return out + wide + widened + indent + "out[" + (result.empty() ? "0" : list(result, "i")) +
           "] += " + product + "\n";
  }

 private:
  [[noreturn]] void refuse(size_t at, const std::string& message,
                           const std::string& hint = "") const {
    const SourceLocation where{std::make_shared<const std::string>(std::string(kPrefix) + text_), 1,
                               static_cast<int>(at + kPrefix.size()) + 1};
    throw InputError(where, message, hint);
  }

  // Each index of the result once, and in some factor.
  void check_output(size_t begin) const {
    const std::string& result = output_.indices;
    for (size_t k = 0; k < result.size(); ++k) {
      // Its place behind the arrow, for the message.
      const size_t at = text_.find(result[k], begin);
      if (result.find(result[k]) != k)
        refuse(text_.find(result[k], at + 1),
               std::string("`") + result[k] + "` stands twice in the result");
      if (std::none_of(factors_.begin(), factors_.end(), [&](const Operand& f) {
            return f.indices.find(result[k]) != std::string::npos;
          }))
        refuse(at, std::string("no factor has the index `") + result[k] + "`",
               "leave it out of the result, or give a factor that has it");
    }
  }

  // Factors without a type have the result's, and the result without one has what factors are
  // summed in.
  void settle_types() {
    if (output_.type.empty()) output_.type = summed_in();
    for (Operand& f : factors_) {
      if (f.type.empty()) f.type = output_.type;
      if (!holds(output_.type, f.type))
        refuse(f.type_at, "`" + output_.type + "` does not hold every `" + f.type + "`");
    }
  }

  // Bytes are summed in i32, half floats in f32: the first factor's such type that holds all
  // factors.
  std::string summed_in() const {
    const auto fits = [&](const std::string& type) {
      return std::all_of(factors_.begin(), factors_.end(),
                         [&](const Operand& f) { return f.type.empty() || holds(type, f.type); });
    };
    std::string first = "f32";
    for (const Operand& f : factors_) {
      if (f.type.empty()) continue;
      if (fits(row_of(f.type)->summed_in)) return row_of(f.type)->summed_in;
      first = row_of(f.type)->summed_in;
    }
    return first;
  }

  struct TypeRow {
    std::string name, summed_in;
    bool floating;
    int bits;
  };
  static const TypeRow* row_of(const std::string& name) {
    // A float holds every integer of half its bits exactly: i8 in bf16, i16 in f32, i32 in f64.
    static const std::vector<TypeRow> rows = {
        {"f32", "f32", true, 32},  {"f64", "f64", true, 64},   {"f16", "f32", true, 16},
        {"bf16", "f32", true, 16}, {"i8", "i32", false, 8},    {"ui8", "i32", false, 8},
        {"i16", "i32", false, 16}, {"ui16", "i32", false, 16}, {"i32", "i32", false, 32}};
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const TypeRow& r) { return r.name == name; });
    return row == rows.end() ? nullptr : &*row;
  }

  static bool holds(const std::string& wide, const std::string& narrow) {
    const TypeRow &w = *row_of(wide), &n = *row_of(narrow);
    return wide == narrow || (n.bits < w.bits && (w.floating || !n.floating));
  }

  // The order of the procedure's size arguments.
  std::string all_indices() const {  // as they appear
    std::string all;
    for (const Operand& f : factors_)
      for (const char c : f.indices)
        if (all.find(c) == std::string::npos) all += c;
    return all;
  }

  // "ab" or "ab:f64"
  Operand operand(size_t begin, size_t end) const {
    size_t colon = text_.find(':', begin);
    if (colon == std::string::npos || colon >= end) return {indices(begin, end), "", end};
    Operand out{indices(begin, colon), "", colon + 1};
    for (size_t at = ++colon; at < end; ++at)
      if (text_[at] != ' ') out.type += text_[at];
    if (!row_of(out.type))
      refuse(colon, "`" + out.type + "` is no type of elements",
             "f32, f64, f16, bf16, i8, ui8, i16, ui16 or i32");
    return out;
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
      if (static_cast<unsigned char>(c) >= 0x80)  // one byte of a letter alone cannot be printed
        refuse(at, "an index is one letter, a to z");
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
  std::vector<Operand> factors_;
  Operand output_;
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
