#include <limits>

#include "core/interp/compiler.h"
#include "core/ir/printer.h"

namespace exotune {

using interp::Compiled;
using interp::EntryView;
using interp::Machine;

namespace {

[[noreturn]] void bad_argument(const Proc& p, const std::string& message) {
  throw InterpError(
      InterpError::Kind::kArgument,
      Diagnostic{
          p.where, std::string(name_of(InterpError::Kind::kArgument)) + ": " + message, {}, {}});
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

ScalarType decided(ScalarType t) { return t == ScalarType::kR ? ScalarType::kF32 : t; }

/// One argument, taken apart and compared with its formal.
struct Bound {
  EntryView view;
  double* base = nullptr;
};

Bound bind_data(const Proc& p, const Arg& formal, const ArgValue& value,
                const interp::ControlEvaluator& env) {
  const std::string what = "`" + formal.name.name() + "`";
  Bound b;
  const Buffer* buffer = nullptr;
  int64_t offset = 0;
  if (const auto* whole = std::get_if<Buffer*>(&value)) {
    buffer = *whole;
    if (!buffer) bad_argument(p, what + " has no buffer");
    b.view = {buffer->shape, dense_strides(buffer->shape)};
  } else if (const auto* w = std::get_if<WindowValue>(&value)) {
    if (!formal.type.window) bad_argument(p, what + " takes a dense tensor, not a window");
    buffer = w->buffer;
    if (!buffer || w->shape.size() != w->strides.size())
      bad_argument(p, what + " has no well-formed window");
    b.view = {w->shape, w->strides};
    offset = w->offset;
  } else {
    bad_argument(p, what + " takes data, not a number");
  }
  if (decided(buffer->type) != decided(formal.type.scalar))
    bad_argument(p, what + " is " + name_of(formal.type.scalar) + ", not " + name_of(buffer->type));
  if (b.view.shape.size() != formal.type.shape.size()) bad_argument(p, what + " has another rank");
  int64_t lowest = offset, highest = offset;
  for (size_t k = 0; k < b.view.shape.size(); ++k) {
    const int64_t want = env.eval(formal.type.shape[k]);
    if (b.view.shape[k] != want)
      bad_argument(p, "dimension " + std::to_string(k) + " of " + what + " is " +
                          std::to_string(b.view.shape[k]) + ", not " + std::to_string(want));
    const int64_t reach = (want - 1) * b.view.strides[k];
    (reach < 0 ? lowest : highest) += reach;
  }
  if (lowest < 0 || highest >= static_cast<int64_t>(buffer->data.size()))
    bad_argument(p, what + " reaches outside its buffer");
  b.base = const_cast<double*>(buffer->data.data()) + offset;
  return b;
}

}  // namespace

// Compiled for one set of control values and layouts; other values compile again, since bounds and
// strides are folded into the code.
struct Program::Impl {
  Proc proc;
  Arithmetic arithmetic;
  // The code of the last control values and layouts.
  std::vector<int64_t> key;
  std::unique_ptr<Compiled> code;
  Machine machine;
};

Program::Program(const Proc& proc, Arithmetic arithmetic)
    : impl_(std::make_unique<Impl>(Impl{proc, arithmetic, {}, nullptr, {}})) {}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

namespace {

// A call's arguments as the machine takes them: numbers in the order of the formals, a view and a
// base address for each buffer.
struct Entry {
  std::vector<int64_t> control;
  std::vector<EntryView> views;
  std::vector<double*> bases;
  /// What compiled code depends on: numbers, then strides. Addresses are free.
  std::vector<int64_t> key() const {
    std::vector<int64_t> out = control;
    for (const EntryView& v : views) out.insert(out.end(), v.strides.begin(), v.strides.end());
    return out;
  }
};

int64_t number_for(const Proc& p, const Arg& formal, const ArgValue& given) {
  const auto* v = std::get_if<int64_t>(&given);
  if (!v) bad_argument(p, "`" + formal.name.name() + "` takes a number");
  if (formal.type.scalar == ScalarType::kSize && *v <= 0)
    throw InterpError(InterpError::Kind::kSize,
                      Diagnostic{p.where,
                                 std::string(name_of(InterpError::Kind::kSize)) + ": `" +
                                     formal.name.name() + "` = " + std::to_string(*v),
                                 {},
                                 {}});
  return *v;
}

// Numbers first, wherever they stand: shapes are made of them.
Entry bind_arguments(const Proc& p, const std::vector<ArgValue>& args) {
  if (args.size() != p.args.size())
    bad_argument(p, "`" + p.name + "` takes " + std::to_string(p.args.size()) + " arguments, not " +
                        std::to_string(args.size()));
  interp::ControlEvaluator env;
  Entry entry;
  for (size_t k = 0; k < args.size(); ++k) {
    if (!is_control(p.args[k].type.scalar)) continue;
    entry.control.push_back(number_for(p, p.args[k], args[k]));
    env.set(p.args[k].name, entry.control.back());
  }
  for (size_t k = 0; k < args.size(); ++k) {
    if (!is_data(p.args[k].type.scalar)) continue;
    Bound b = bind_data(p, p.args[k], args[k], env);
    entry.bases.push_back(b.base);
    entry.views.push_back(std::move(b.view));
  }
  return entry;
}

// A field of configuration is one slot that is read as a number or as data; both are kept.
void load_configuration(const Compiled& code, const ConfigState& from, Machine& m) {
  for (size_t k = 0; k < code.config.size(); ++k) {
    const auto it = from.find(code.config[k]);
    if (it == from.end()) continue;
    m.config[k].present = true;
    if (const auto* i = std::get_if<int64_t>(&it->second)) {
      m.config[k].integer = *i;
      m.config[k].data = static_cast<double>(*i);
    } else {
      m.config[k].data = std::get<double>(it->second);
      m.config[k].integer = code.config_is_data[k] ? 0 : static_cast<int64_t>(m.config[k].data);
    }
  }
}

void store_configuration(const Compiled& code, const Machine& m, ConfigState& to) {
  for (size_t k = 0; k < code.config.size(); ++k) {
    if (!m.config[k].present) continue;
    if (code.config_is_data[k])
      to[code.config[k]] = m.config[k].data;
    else
      to[code.config[k]] = m.config[k].integer;
  }
}

}  // namespace

// Checks shapes and asserts, compiles if need be, runs; buffers are written in place, also when an
// error ends the run half-way.
void Program::run(const std::vector<ArgValue>& args, const InterpOptions& options) {
  const Proc& p = impl_->proc;
  Entry entry = bind_arguments(p, args);
  std::vector<int64_t> key = entry.key();
  if (!impl_->code || key != impl_->key) {
    impl_->code = std::make_unique<Compiled>(
        interp::compile(p, impl_->arithmetic, entry.control, entry.views));
    impl_->key = std::move(key);
  }

  const Compiled& code = *impl_->code;
  Machine& m = impl_->machine;
  m = Machine{};
  m.ints.assign(static_cast<size_t>(code.int_slots), 0);
  m.bases = std::move(entry.bases);
  m.bases.resize(static_cast<size_t>(code.base_slots));
  m.poison = options.poison;
  m.steps_beyond =
      options.step_limit > 0 ? options.step_limit : std::numeric_limits<int64_t>::max() / 2;
  m.config.resize(code.config.size());
  if (options.config) load_configuration(code, *options.config, m);
  interp::exec_all(code.body, m);
  if (options.config) store_configuration(code, m, *options.config);
}

void run(const Proc& proc, const std::vector<ArgValue>& args, const InterpOptions& options) {
  Program(proc, options.arithmetic).run(args, options);
}

int64_t eval_control(const ExprPtr& e, const std::map<Sym, int64_t>& env) {
  interp::ControlEvaluator evaluator;
  for (const auto& [s, v] : env) evaluator.set(s, v);
  return evaluator.eval(e);
}

}  // namespace exotune
