#include "search/size_classes.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace exotune {

namespace {

// What a second copy of the code must be worth at the sizes that are its own: less may be noise,
// with as many ways to choose two. Few of the sizes may be large ones, so that a mean over all
// says little.
constexpr double kWorthTwo = 1.04;

// Of the classes' schedules over the best one alone, where they are another: a geometric mean.
double gain_of(const SizeClasses& classes, const SizeTable& table, size_t alone) {
  double sum = 0;
  int count = 0;
  for (size_t s = 0; s < table.sizes.size(); ++s) {
    const size_t here = classes.holds[s] ? classes.where : classes.elsewhere;
    if (here == alone) continue;
    sum += std::log(table.seconds[alone][s] / table.seconds[here][s]);
    ++count;
  }
  return std::exp(sum / std::max(1, count));
}

// Bounds of each size: none (0), and one between each two neighbouring sizes of the table.
std::vector<std::vector<int64_t>> bounds_of(const SizeTable& table,
                                            const std::vector<std::string>& names) {
  std::vector<std::vector<int64_t>> out;
  for (const std::string& name : names) {
    std::set<int64_t> values;
    for (const SizeBinding& s : table.sizes) values.insert(s.at(name));
    out.push_back({0});
    for (auto v = values.begin(); v != values.end() && std::next(v) != values.end(); ++v) {
      const double middle =
          std::sqrt(static_cast<double>(*v)) * std::sqrt(static_cast<double>(*std::next(v)));
      out.back().push_back(static_cast<int64_t>(std::ceil(middle)));
    }
  }
  return out;
}

// Every choice of one bound for each size: those of few bounds first, of these those of the first
// sizes.
std::vector<std::vector<int64_t>> choices_of(const std::vector<std::vector<int64_t>>& bounds) {
  std::vector<std::vector<int64_t>> out{{}};
  for (const std::vector<int64_t>& of_one : bounds) {
    std::vector<std::vector<int64_t>> longer;
    for (const int64_t b : of_one)
      for (const std::vector<int64_t>& so_far : out) {
        longer.push_back(so_far);
        longer.back().push_back(b);
      }
    out = std::move(longer);
  }
  const auto used = [](const std::vector<int64_t>& c) {
    return std::count_if(c.begin(), c.end(), [](int64_t b) { return b > 0; });
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return used(a) < used(b); });
  return out;
}

std::string condition_text(const std::vector<int64_t>& bounds,
                           const std::vector<std::string>& names) {
  std::string out;
  for (size_t d = 0; d < names.size(); ++d)
    if (bounds[d] > 0)
      out += (out.empty() ? "" : " and ") + names[d] + " >= " + std::to_string(bounds[d]);
  return out;
}

}  // namespace

std::optional<SizeClasses> size_classes(const SizeTable& table,
                                        const std::vector<std::string>& names) {
  const size_t n = table.seconds.size(), sizes = table.sizes.size();
  if (n < 2 || sizes < 2 || names.empty()) return std::nullopt;
  double best = INFINITY;
  size_t alone = 0;
  for (size_t k = 0; k < n; ++k) {
    double sum = 0;
    for (const double t : table.seconds[k]) sum += std::log(t);
    if (sum < best) best = sum, alone = k;
  }
  std::optional<SizeClasses> out;
  for (const std::vector<int64_t>& bounds : choices_of(bounds_of(table, names))) {
    std::vector<bool> within;
    for (const SizeBinding& s : table.sizes) {
      bool all = true;
      for (size_t d = 0; d < names.size(); ++d) all = all && s.at(names[d]) >= bounds[d];
      within.push_back(all);
    }
    // The best schedule of each class.
    SizeClasses classes;
    double sum = 0;
    for (const bool side : {true, false}) {
      double least = INFINITY;
      for (size_t k = 0; k < n; ++k) {
        if (!table.whole.empty() && table.whole[k]) continue;
        double of_k = 0;
        for (size_t s = 0; s < sizes; ++s)
          if (within[s] == side) of_k += std::log(table.seconds[k][s]);
        if (of_k >= least) continue;
        least = of_k;
        (side ? classes.where : classes.elsewhere) = k;
      }
      sum += least;
    }
    if (classes.where == classes.elsewhere || !(sum < best - 1e-9)) continue;
    best = sum;
    classes.condition = condition_text(bounds, names);
    classes.holds = within;
    classes.gain = gain_of(classes, table, alone);
    out = classes;
  }
  return out && out->gain >= kWorthTwo ? out : std::nullopt;
}

Steps steps_of(const SizeClasses& classes, const Proc& f, const Steps& where,
               const Steps& elsewhere) {
  const For* nest = f.body.size() == 1 ? f.body[0]->as<For>() : nullptr;
  if (!nest) return {};
  const std::string loop = "for " + nest->iter.name() + " in _: _";
  // The second branch first: the first one's loops stand in front of its own.
  return {{"specialize", {Value(loop), Value::strings({classes.condition})}},
          {"extract_subproc", {Value(loop + " #1"), Value(f.name + "_small")}, elsewhere},
          {"extract_subproc", {Value(loop), Value(f.name + "_large")}, where}};
}

}  // namespace exotune
