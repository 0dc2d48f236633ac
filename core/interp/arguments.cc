#include "core/base/hashing.h"
#include "core/interp/asserted_layout.h"
#include "core/interp/interp.h"

namespace exotune {
namespace {

bool is_unsigned(ScalarType t) { return t == ScalarType::kUi8 || t == ScalarType::kUi16; }

std::vector<int64_t> dense_rows(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

}  // namespace

Arguments make_arguments(const Proc& proc, const std::map<std::string, int64_t>& control,
                         uint64_t seed, const FillOptions& options) {
  Arguments result;
  std::map<Sym, int64_t> env;
  for (const Arg& a : proc.args) {
    if (!is_control(a.type.scalar)) continue;
    const auto it = control.find(a.name.name());
    if (it == control.end())
      throw InterpError(
          InterpError::Kind::kArgument,
          Diagnostic{proc.where, "bad argument: no value for `" + a.name.name() + "`", {}, {}});
    env[a.name] = it->second;
  }
  for (const Arg& a : proc.args) {
    if (is_control(a.type.scalar)) {
      result.values.emplace_back(env[a.name]);
      continue;
    }
    std::vector<int64_t> shape;
    int64_t n = 1;
    for (const ExprPtr& e : a.type.shape) {
      shape.push_back(eval_control(e, env));
      if (shape.back() <= 0)
        throw InterpError(
            InterpError::Kind::kSize,
            Diagnostic{
                proc.where, "size not positive: a dimension of `" + a.name.name() + "`", {}, {}});
    }
    std::vector<int64_t> memory = shape;
    const auto asserted = a.type.window ? asserted_layout(proc, a.name, shape, env) : std::nullopt;
    const bool strided = a.type.window && options.strided_windows && !asserted;
    const bool placed = asserted && *asserted != dense_rows(shape);
    // A padded window: the last dimension has stride 2, every row some elements more.
    if (strided) {
      for (size_t k = 1; k < memory.size(); ++k) memory[k] += 1;
      memory.push_back(2);
    } else if (placed) {
      int64_t last = 0;
      for (size_t k = 0; k < shape.size(); ++k) last += (shape[k] - 1) * (*asserted)[k];
      memory = {last + 1};
    }
    for (int64_t s : memory) n *= s;
    std::vector<double> data(static_cast<size_t>(n));
    uint64_t state = hash_combine(seed, hash_bytes(a.name.name()));
    for (double& v : data) {
      state = hash_mix(state + 0x9E3779B97F4A7C15ull);
      const int64_t lo = is_unsigned(a.type.scalar) ? 0 : -options.magnitude;
      v = static_cast<double>(
          lo +
          static_cast<int64_t>((state >> 16) % static_cast<uint64_t>(options.magnitude - lo + 1)));
    }
    auto buffer = std::make_unique<Buffer>(a.type.scalar, memory, std::move(data));
    if (strided) {
      WindowValue w{buffer.get(), 1, {}, shape};
      w.strides.assign(shape.size(), 2);
      for (size_t k = shape.size(); k-- > 1;) w.strides[k - 1] = w.strides[k] * memory[k];
      result.values.emplace_back(w);
    } else if (placed) {
      result.values.emplace_back(WindowValue{buffer.get(), 0, *asserted, shape});
    } else {
      result.values.emplace_back(buffer.get());
    }
    result.buffers.push_back(std::move(buffer));
  }
  return result;
}

Arguments copy_of(const Arguments& a) {
  Arguments r;
  std::map<const Buffer*, Buffer*> moved;
  for (const auto& b : a.buffers) {
    r.buffers.push_back(std::make_unique<Buffer>(*b));
    moved[b.get()] = r.buffers.back().get();
  }
  for (const ArgValue& v : a.values) {
    if (const auto* b = std::get_if<Buffer*>(&v)) {
      r.values.emplace_back(moved.at(*b));
    } else if (const auto* w = std::get_if<WindowValue>(&v)) {
      WindowValue copy = *w;
      copy.buffer = moved.at(w->buffer);
      r.values.emplace_back(std::move(copy));
    } else {
      r.values.push_back(v);
    }
  }
  return r;
}

std::string first_difference(const Arguments& a, const Arguments& b, double tolerance) {
  if (a.buffers.size() != b.buffers.size()) return "different numbers of data arguments";
  for (size_t k = 0; k < a.buffers.size(); ++k)
    if (std::string d = first_difference(*a.buffers[k], *b.buffers[k], tolerance); !d.empty())
      return "data argument " + std::to_string(k) + ", " + d;
  return "";
}

}  // namespace exotune
