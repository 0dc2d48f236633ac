#include "search/test_data.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/hashing.h"
#include "search/problem.h"

namespace exotune {
namespace {

constexpr int kSpreadSeeds = 6;         // draws of scalars, where signs and sizes decide stability
constexpr double kRoundingErrors = 16;  // that a right answer may be away
constexpr double kHalf = 0.5;           // of all elements compared: a result that means something
constexpr double kEnough = 0.99;        // of all elements compared, where each draw takes its time
constexpr size_t kNeighbours = 4;  // elements each side: one alone may be off by little by chance

// Of one floating type: its unit roundoff, largest finite value, largest magnitude below which it
// holds every integer, the least relative slack, and the largest with which a test says something.
struct Rounding {
  double unit, largest, integers, least, loose;
};

Rounding rounding_of(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return {0x1p-11, 65504, 2048, 2e-2, 0.25};
    case ElementType::kBf16:
      return {0x1p-8, 3.3e38, 256, 1e-1, 0.25};
    case ElementType::kF32:
      return {0x1p-24, 3.4e38, 16777216, 1e-4, 1e-2};
    case ElementType::kF64:
      return {0x1p-53, 1.7e308, 9007199254740992, 1e-10, 1e-6};
    default:
      return {0, INFINITY, INFINITY, 0, 0};  // wraps, in the interpreter and in C alike
  }
}

// Operations whose result on integers need not be one.
bool only_exact_arithmetic(const Proc& p) {
  bool exact = true;
  const std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& e) {
    if (is_data(e->type)) {
      // Quotients and roots of integers are none.
      if (const auto* op = e->as<BinOp>(); op != nullptr && op->op == BinOpKind::kDiv)
        exact = false;
      if (const auto* fn = e->as<Extern>())
        exact = exact && (fn->fn == "relu" || fn->fn == "fabs" || fn->fn == "fmax" ||
                          fn->fn == "fmin" || fn->fn == "select");
      if (const auto* constant = e->as<Const>())
        if (const auto* value = std::get_if<double>(&constant->value))
          exact = exact && *value == std::floor(*value);
    }
    for (const ExprPtr& child : expr_children(*e)) visit(child);
  };
  for_each_expr(p.body, visit);
  return exact;
}

// Pivots: does the program divide by elements of an array that it writes, or take roots of them?
bool divides_by_results(const Proc& p) {
  std::set<Sym> written;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const auto* a = s->as<Assign>(); a != nullptr && !a->idx.empty()) written.insert(a->name);
    if (const auto* r = s->as<Reduce>(); r != nullptr && !r->idx.empty()) written.insert(r->name);
  });
  bool found = false;
  const std::function<bool(const ExprPtr&)> reads_result = [&](const ExprPtr& e) {
    if (const auto* r = e->as<Read>()) return written.count(r->name) > 0;
    const std::vector<ExprPtr> children = expr_children(*e);
    return std::any_of(children.begin(), children.end(), reads_result);
  };
  const std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& e) {
    if (const auto* op = e->as<BinOp>(); op != nullptr && op->op == BinOpKind::kDiv)
      found = found || (is_data(e->type) && reads_result(op->rhs));
    if (const auto* fn = e->as<Extern>(); fn != nullptr && fn->fn == "sqrt")
      found = found || reads_result(fn->args[0]);
    for (const ExprPtr& child : expr_children(*e)) visit(child);
  };
  for_each_expr(p.body, visit);
  return found;
}

bool are_exact_integers(const std::vector<ArgSpec>& args, const ArgumentValues& values,
                        double most_inside) {
  for (size_t a = 0; a < args.size(); ++a) {
    const double most = std::min(most_inside, rounding_of(args[a].type).integers);
    // Beyond that range floating types skip integers: another order of sums may give another
    // result.
    for (const double v : values[a])
      if (!is_poison(v) && (v != std::floor(v) || std::fabs(v) > most)) return false;
  }
  return true;
}

bool has_narrow_types(const std::vector<ArgSpec>& args) {
  return std::any_of(args.begin(), args.end(),
                     [](const ArgSpec& a) { return a.is_data() && a.type != ElementType::kF64; });
}

/// Each floating-point value moved by a few rounding errors of its type, or of `coarsest` if those
/// are larger, up or down.
ArgumentValues moved(const std::vector<ArgSpec>& args, ArgumentValues values, uint64_t seed,
                     ElementType coarsest) {
  for (size_t a = 0; a < args.size(); ++a) {
    if (!args[a].is_data() || !is_floating(args[a].type)) continue;
    const double unit = std::max(rounding_of(args[a].type).unit, rounding_of(coarsest).unit);
    // Of half floats one unit is already much; of the others four, so that rounding them is seen.
    const double relative = element_bytes(args[a].type) > 2 ? 4 * unit : unit;
    // A generator of its own for each argument: the same moves whatever the others' sizes.
    uint64_t state = hash_combine(seed, a);
    for (double& v : values[a]) {
      state = hash_mix(state + 0x9E3779B97F4A7C15ull);
      v *= state & 1 ? 1 + relative : 1 - relative;
    }
  }
  return values;
}

// Distance of two results of one element; infinite when either is none.
double distance(double a, double b) {
  // Neither has written it.
  if (is_poison(a) && is_poison(b)) return 0;
  const double d = std::fabs(a - b);
  return std::isfinite(d) ? d : INFINITY;
}

// Of up to kNeighbours on each side. By maxima of 2, 4 and 8 neighbours in turn, each made of two
// of the ones before.
std::vector<double> largest_nearby(const std::vector<double>& values) {
  const size_t n = values.size();
  static_assert(kNeighbours == 4);
  std::vector<double> from = values;  // of values[i] and those behind it
  for (size_t width = 1; width < 2 * kNeighbours; width *= 2)
    for (size_t i = 0; i + width < n; ++i) from[i] = std::max(from[i], from[i + width]);
  std::vector<double> out(n);
  for (size_t i = 0; i < n; ++i) {
    const auto last = static_cast<std::ptrdiff_t>(std::min(n - 1, i + kNeighbours));
    // The first ones have fewer before them.
    out[i] = i < kNeighbours ? *std::max_element(values.begin(), values.begin() + last + 1)
                             : std::max(from[i - kNeighbours], values[static_cast<size_t>(last)]);
  }
  return out;
}

// The slack of each element of one argument, given how far each was moved by rounding, and the
// narrowest type that the program keeps intermediate results in.
std::vector<double> slack_of(const ArgSpec& arg, const std::vector<double>& want,
                             const std::vector<double>& errors, ElementType inside) {
  const Rounding type = rounding_of(arg.type);
  double largest = 0;
  for (const double v : want)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  // Results near zero are judged by the size of their neighbours, or by one: relative to
  // themselves they have no digits.
  const double unit = largest > 0 ? std::min(1.0, largest) : 1;
  const bool floating = is_floating(arg.type);
  std::vector<double> slack = largest_nearby(errors);
  for (size_t i = 0; i < slack.size(); ++i) {
    const double magnitude = std::fabs(want[i]), size = std::max(unit, magnitude);
    const double mine = std::max(kRoundingErrors * slack[i], type.least * size);
    // An integer made of floating-point numbers may fall on either side of a step.
    const double loose = floating ? std::max(type.loose, rounding_of(inside).loose) * size : 1;
    // So ill-conditioned that a comparison would say nothing: not compared.
    const bool says = magnitude < type.largest / 16 && mine <= loose;
    if (says || !is_poison(want[i]) || slack[i] != 0) slack[i] = says ? mine : INFINITY;
  }
  return slack;
}

class Interpreted : public Reference {
 public:
  Interpreted(ProcPtr proc, const std::vector<ArgSpec>& args, int64_t step_limit)
      : proc_(std::move(proc)), args_(args), step_limit_(step_limit) {}

  ArgumentValues run(const ArgumentValues& inputs, Arithmetic arithmetic) override {
    // Compiled for the interpreter once for each arithmetic, and run on many inputs.
    std::unique_ptr<Program>& program = programs_[arithmetic == Arithmetic::kExact];
    if (!program) program = std::make_unique<Program>(*proc_, arithmetic);
    std::vector<std::unique_ptr<Buffer>> storage(args_.size());
    std::vector<ArgValue> values;
    size_t at = 0;  // in args_, which may begin with a context
    for (const Arg& arg : proc_->args) {
      while (args_[at].kind == ArgSpec::Kind::kContext) ++at;
      const ArgSpec& spec = args_[at];
      if (is_control(arg.type.scalar)) {
        values.emplace_back(spec.value);
      } else {
        storage[at] = placed(arg.type.scalar, spec, inputs[at]);
        values.push_back(argument(spec, *storage[at]));
      }
      ++at;
    }
    InterpOptions options;
    options.step_limit = step_limit_;
    program->run(values, options);
    ArgumentValues out(args_.size());
    for (size_t k = 0; k < args_.size(); ++k)
      if (storage[k] && args_[k].is_written) out[k] = taken(args_[k], *storage[k]);
    return out;
  }

 private:
  // Values are in the order of elements; a window's stand where its strides say, as asserts may.
  static bool stands_apart(const ArgSpec& spec) {
    return spec.kind == ArgSpec::Kind::kWindow && !spec.strides.empty();
  }
  static std::unique_ptr<Buffer> placed(ScalarType type, const ArgSpec& spec,
                                        const std::vector<double>& elements) {
    const bool apart = stands_apart(spec);
    auto buffer = std::make_unique<Buffer>(
        type, apart ? std::vector<int64_t>{spec.span_elements()} : spec.shape);
    if (elements.empty()) return buffer;
    if (!apart) {
      buffer->data = elements;
      return buffer;
    }
    const std::vector<int64_t> offsets = spec.element_offsets();
    for (size_t k = 0; k < offsets.size(); ++k)
      buffer->data[static_cast<size_t>(offsets[k])] = elements[k];
    return buffer;
  }
  static ArgValue argument(const ArgSpec& spec, Buffer& buffer) {
    if (!stands_apart(spec)) return &buffer;
    return WindowValue{&buffer, 0, spec.strides, spec.shape};
  }
  static std::vector<double> taken(const ArgSpec& spec, Buffer& buffer) {
    if (!stands_apart(spec)) return std::move(buffer.data);
    std::vector<double> elements;
    for (const int64_t at : spec.element_offsets())
      elements.push_back(buffer.data[static_cast<size_t>(at)]);
    return elements;
  }

  ProcPtr proc_;
  std::vector<ArgSpec> args_;
  int64_t step_limit_;
  std::unique_ptr<Program> programs_[2];  // kRounded, kExact
};

class Compiled : public Reference {
 public:
  Compiled(Candidate as_written, Runner& runner, double timeout_seconds)
      : as_written_(std::move(as_written)), runner_(runner), timeout_seconds_(timeout_seconds) {}

  ArgumentValues run(const ArgumentValues& inputs, Arithmetic) override {
    Evaluation e = runner_.evaluate(as_written_, inputs, timeout_seconds_);
    if (!e.cause.empty())
      throw Error(Diagnostic{{}, "the procedure as written: " + e.cause, {}, {}},
                  ExitCode::kUnavailable);
    // Only what nobody wrote is not a number there.
    for (size_t a = 0; a < e.outputs.size(); ++a)
      if (as_written_.args[a].is_data() && !is_floating(as_written_.args[a].type))
        for (double& v : e.outputs[a])
          if (std::isnan(v)) v = poison_value();
    return std::move(e.outputs);
  }
  bool has_exact() const override { return false; }

 private:
  Candidate as_written_;
  Runner& runner_;
  double timeout_seconds_;
};

// How `test` is judged on its inputs; true when they are exact, or determine every element.
bool judge_inputs(const Proc& proc, const std::vector<ArgSpec>& args, bool integers, uint64_t seed,
                  Reference& reference, TestCase& test) {
  const ElementType inside = element_of(narrowest_inside(proc));
  ArgumentValues want = reference.run(test.inputs, Arithmetic::kExact);
  if (integers && only_exact_arithmetic(proc) &&
      are_exact_integers(args, want, rounding_of(inside).integers)) {
    test.expected = std::move(want);
    return true;
  }
  // How far does a right answer move? By inputs that are a rounding off, and by arithmetic that
  // rounds as C's does: the larger of the two, element by element.
  std::vector<ArgumentValues> others;
  // What the types inside round, C that stands for the reals does not show.
  others.push_back(reference.run(
      moved(args, test.inputs, seed, reference.has_exact() ? ElementType::kF64 : inside),
      Arithmetic::kExact));
  if (reference.has_exact() && (inside != ElementType::kF64 || has_narrow_types(args)))
    others.push_back(reference.run(test.inputs, Arithmetic::kRounded));
  test.slack.assign(args.size(), {});
  for (size_t a = 0; a < args.size(); ++a) {
    std::vector<double> errors(want[a].size(), 0);
    for (const ArgumentValues& other : others)
      for (size_t i = 0; i < errors.size(); ++i)
        errors[i] = std::max(errors[i], distance(want[a][i], other[a][i]));
    test.slack[a] = slack_of(args[a], want[a], errors, inside);
  }
  test.expected = std::move(want);
  return compared_share(test) == 1;
}

}  // namespace

ScalarType narrowest_inside(const Proc& p) {
  ScalarType narrowest = ScalarType::kF64;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    ScalarType type = narrowest;
    if (const auto* a = s->as<Alloc>(); a != nullptr && is_float(a->type.scalar))
      type = a->type.scalar;
    if (const auto* call = s->as<Call>()) type = narrowest_inside(*call->callee);
    if (rounding_of(element_of(type)).unit > rounding_of(element_of(narrowest)).unit)
      narrowest = type;
  });
  return narrowest;
}

std::set<Sym> integer_divisors(const Proc& p) {
  std::set<Sym> out;
  const std::function<void(const ExprPtr&)> all = [&](const ExprPtr& e) {
    if (const auto* r = e->as<Read>()) out.insert(r->name);
    if (const auto* w = e->as<WindowExpr>()) out.insert(w->name);
    for (const ExprPtr& child : expr_children(*e)) all(child);
  };
  const auto mentioned = [&](const ExprPtr& e) {
    return std::any_of(out.begin(), out.end(), [&](Sym s) { return mentions(e, s); });
  };
  const std::function<void(const ExprPtr&)> visit = [&](const ExprPtr& e) {
    if (const auto* op = e->as<BinOp>(); op != nullptr && op->op == BinOpKind::kDiv)
      if (is_data(e->type) && !is_float(e->type)) all(op->rhs);
    for (const ExprPtr& child : expr_children(*e)) visit(child);
  };
  for_each_expr(p.body, visit);
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const auto* call = s->as<Call>();
    if (call == nullptr) return;
    const std::set<Sym> inside = integer_divisors(*call->callee);
    for (size_t k = 0; k < call->args.size(); ++k)
      if (inside.count(call->callee->args[k].name)) all(call->args[k]);
  });
  for (size_t before = 0; before != out.size();) {
    before = out.size();
    for_each_stmt(p.body, [&](const StmtPtr& s) {
      // What a call makes it makes of its arguments.
      if (const auto* call = s->as<Call>())
        if (std::any_of(call->args.begin(), call->args.end(), mentioned))
          for (const ExprPtr& arg : call->args) all(arg);
      if (const auto* w = s->as<WindowStmt>(); w != nullptr && out.count(w->name)) all(w->rhs);
      if (const auto* a = s->as<Assign>(); a != nullptr && out.count(a->name)) all(a->rhs);
      if (const auto* r = s->as<Reduce>(); r != nullptr && out.count(r->name)) all(r->rhs);
    });
  }
  return out;
}

void keep_divisors(const Proc& proc, const std::vector<ArgSpec>& args, TestCase& test) {
  const std::set<Sym> divisors = integer_divisors(proc);
  // In front of the procedure's own arguments C may have one for its settings.
  if (args.size() < proc.args.size()) return;
  const size_t first = args.size() - proc.args.size();
  for (size_t a = first; a < args.size(); ++a)
    if (args[a].is_data() && !is_floating(args[a].type) &&
        divisors.count(proc.args[a - first].name))
      std::replace(test.inputs[a].begin(), test.inputs[a].end(), 0.0, 1.0);
}

std::unique_ptr<Reference> interpreted(const ProcPtr& proc, const std::vector<ArgSpec>& args,
                                       int64_t step_limit) {
  return std::make_unique<Interpreted>(proc, args, step_limit);
}

std::unique_ptr<Reference> compiled(Candidate as_written, Runner& runner, double timeout_seconds) {
  return std::make_unique<Compiled>(std::move(as_written), runner, timeout_seconds);
}

double compared_share(const TestCase& test) {
  size_t all = 0, compared = 0;
  for (size_t a = 0; a < test.expected.size(); ++a) {
    all += test.expected[a].size();
    compared += test.expected[a].size();
    if (a < test.slack.size())
      compared -=
          static_cast<size_t>(std::count(test.slack[a].begin(), test.slack[a].end(), INFINITY));
  }
  // Nothing is written: nothing is missed.
  return all == 0 ? 1 : static_cast<double>(compared) / static_cast<double>(all);
}

namespace {

// What each argument looks like is drawn as well.
bool has_draws(InputKind kind) { return kind == InputKind::kSpread || kind == InputKind::kFields; }

}  // namespace

TestCase choose_test(const Proc& proc, const std::vector<ArgSpec>& args, uint64_t seed,
                     Reference& reference, InputKind first) {
  TestCase best;
  double best_share = -1;
  // Pivots shrink with their number: what serves a few rows of a factorization does not serve a
  // thousand.
  std::vector<InputKind> kinds;
  if (divides_by_results(proc)) kinds.push_back(InputKind::kDominant);
  if (kinds.empty() || kinds.front() != first) kinds.push_back(first);
  for (const InputKind kind : kInputKinds)
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  for (const InputKind kind : kinds) {
    // For what is hardly a number with any other inputs: half a dozen runs of the reference.
    if (kind == InputKind::kFields && first != kind && best_share >= kHalf) continue;
    for (int draw = 0; draw < (has_draws(kind) ? kSpreadSeeds : 1); ++draw) {
      TestCase test = make_inputs(args, seed + static_cast<uint64_t>(draw), kind);
      keep_divisors(proc, args, test);
      if (judge_inputs(proc, args, kind == InputKind::kIntegers, seed, reference, test))
        return test;
      const double share = compared_share(test);
      // The nest's own C takes long, or the interpreter would have been asked.
      if (!reference.has_exact() && share >= kEnough) return test;
      if (share <= best_share) continue;
      best_share = share;
      best = std::move(test);
    }
  }
  return best;
}

}  // namespace exotune
