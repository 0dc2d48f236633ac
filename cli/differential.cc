#include "cli/differential.h"

#include <algorithm>
#include <random>
#include <set>

#include "core/base/diagnostic.h"
#include "core/interp/interp.h"
#include "search/test_data.h"

namespace exotune::cli {
namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65};
constexpr int64_t kIndices[] = {0, 1, 2, 3, -1, 5};

// Asserts over control arguments alone; one about strides holds by how the arguments are made.
bool asserts_hold(const Proc& p, const Sizes& sizes) {
  std::map<Sym, int64_t> env;
  for (const Arg& arg : p.args)
    if (const auto it = sizes.find(arg.name.name()); it != sizes.end()) env[arg.name] = it->second;
  for (const ExprPtr& condition : p.asserts) {
    try {
      if (eval_control(condition, env) == 0) return false;
    } catch (const InterpError&) {
      continue;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> control_names(const Proc& p) {
  std::vector<std::string> names;
  for (const Arg& arg : p.args)
    if (is_control(arg.type.scalar)) names.push_back(arg.name.name());
  return names;
}

std::vector<Sizes> small_sizes(const Proc& p, const Sizes& fixed, int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Sizes> found;
  std::set<std::string> known;
  for (int attempt = 0; attempt < 400 && static_cast<int>(found.size()) < count; ++attempt) {
    Sizes sizes;
    for (const Arg& arg : p.args) {
      const ScalarType type = arg.type.scalar;
      if (!is_control(type)) continue;
      const std::string name = arg.name.name();
      if (const auto it = fixed.find(name); it != fixed.end())
        sizes[name] = it->second;
      else if (type == ScalarType::kBool)
        sizes[name] = static_cast<int64_t>(random() % 2);
      else if (type == ScalarType::kSize)
        sizes[name] = kSizes[random() % std::size(kSizes)];
      else
        sizes[name] = kIndices[random() % std::size(kIndices)];
    }
    if (asserts_hold(p, sizes) && known.insert(str(sizes)).second) found.push_back(sizes);
    if (sizes.empty()) break;
  }
  return found;
}

namespace {

// Nobody divides integers by zero: by one instead.
void keep_divisors(const Proc& p, Arguments& arguments) {
  const std::set<Sym> divisors = integer_divisors(p);
  size_t buffer = 0;
  for (const Arg& arg : p.args) {
    if (!is_data(arg.type.scalar)) continue;
    std::vector<double>& data = arguments.buffers[buffer++]->data;
    if (!is_float(arg.type.scalar) && divisors.count(arg.name))
      std::replace(data.begin(), data.end(), 0.0, 1.0);
  }
}

// By name, with their places among the buffers.
std::vector<std::pair<std::string, size_t>> data_arguments(const Proc& p) {
  std::vector<std::pair<std::string, size_t>> out;
  for (const Arg& arg : p.args)
    if (is_data(arg.type.scalar)) out.emplace_back(arg.name.name(), out.size());
  return out;
}

}  // namespace

DifferentialResult differential_test(const Proc& before, const Proc& after,
                                     const std::vector<Sizes>& sizes, uint64_t seed) {
  DifferentialResult result;
  Program first(before, Arithmetic::kExact);
  Program second(after, Arithmetic::kExact);
  for (const Sizes& size : sizes) {
    FillOptions fill;
    fill.strided_windows = true;
    Arguments a = make_arguments(before, size, seed, fill);
    keep_divisors(before, a);
    Arguments b = copy_of(a);
    std::vector<ArgValue> values;
    for (const Arg& wanted : after.args) {
      const auto it = std::find_if(before.args.begin(), before.args.end(), [&](const Arg& arg) {
        return arg.name.name() == wanted.name.name();
      });
      if (it == before.args.end())
        throw InputError(after.where,
                         "'" + after.name + "' has an argument '" + wanted.name.name() +
                             "' that '" + before.name + "' has not",
                         "two procs are compared argument by argument, by name");
      values.push_back(b.values[it - before.args.begin()]);
    }
    result.sizes.push_back(size);
    first.run(a.values);
    second.run(values);
    for (const auto& [name, k] : data_arguments(before)) {
      const std::string difference = first_difference(*a.buffers[k], *b.buffers[k], 1e-9);
      if (difference.empty()) continue;
      result.difference =
          "at " + (size.empty() ? "the only size" : str(size)) + ": `" + name + "`, " + difference;
      return result;
    }
  }
  return result;
}

}  // namespace exotune::cli
