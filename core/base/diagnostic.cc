#include "core/base/diagnostic.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace exotune {

std::string Diagnostic::str(const std::string& kind) const {
  std::string out = where.str();
  if (!out.empty()) out += ": ";
  out += kind + ": " + message.str() + "\n";
  for (const LazyText& n : notes) out += "note: " + n.str() + "\n";
  if (!hint.empty()) out += "hint: " + hint.str() + "\n";
  for (const Diagnostic& other : more) out += other.str(kind);
  return out;
}

const char* Error::what() const noexcept {
  try {
    if (what_.empty()) what_ = diagnostic_.str();
    return what_.c_str();
  } catch (...) {
    return "error";
  }
}

void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(std::string("internal check failed: ") + condition + " at " + file + ":" +
                      std::to_string(line));
}

namespace {
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}
bool same_but_case(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& c : candidates) {
    if (same_but_case(word, c)) return c;
    size_t d = edit_distance(word, c);
    if (d < best_distance) {
      best_distance = d;
      best = c;
    }
  }
  return best;
}

}  // namespace exotune
