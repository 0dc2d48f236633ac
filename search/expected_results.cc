#include "search/expected_results.h"

#include <algorithm>

#include "core/base/deadline.h"
#include "core/interp/interp.h"
#include "search/compilation.h"
#include "search/test_data.h"

namespace exotune {
namespace {

// One call of the nest as written on data too large for the interpreter.
constexpr double kReferenceSeconds = 120;
// A sample may take the interpreter so many times what it is given where it alone speaks.
constexpr int64_t kStepsOfASample = 10;

double values_read(const ExprPtr& e) {
  double count = 1;
  if (!e->as<Read>())
    for (const ExprPtr& c : expr_children(*e)) count += values_read(c);
  return count;
}

double operations_of(const Block& block, std::map<Sym, int64_t>& env) {
  double count = 0;
  for (const StmtPtr& s : block) {
    if (const For* loop = s->as<For>()) {
      const int64_t lo = eval_control(loop->lo, env), hi = eval_control(loop->hi, env);
      if (hi <= lo) continue;
      env[loop->iter] = lo + (hi - lo) / 2;
      count += static_cast<double>(hi - lo) * (1 + operations_of(loop->body, env));
    } else if (const Assign* assign = s->as<Assign>()) {
      count += values_read(assign->rhs);
    } else if (const Reduce* reduce = s->as<Reduce>()) {
      count += 1 + values_read(reduce->rhs);
    } else {
      count += operations_of(body_of(*s), env) + operations_of(orelse_of(*s), env);
    }
  }
  return count;
}

}  // namespace

double operations_of(const Proc& p, const SizeBinding& sizes) {
  std::map<Sym, int64_t> env = control_values(p, sizes);
  try {
    return operations_of(p.body, env);
  } catch (const InterpError&) {
    return 0;
  }
}

namespace {

// Sizes small enough for the interpreter at which the asserts of `p` hold; nothing when none of
// those tried do, or where literals make the work. Of many loops inside one another, as in a chain
// of factors, smaller ones.
std::optional<SizeBinding> small_sizes(const Proc& p, const SizeBinding& sizes, int64_t steps) {
  bool many = false;
  for (const int64_t most : {13, 5, 3, 16, 32, 64}) {
    if (most < 13 && !many) continue;
    SizeBinding small = sizes;
    int64_t next = most;
    for (auto& [name, value] : small) {
      if (value <= most) continue;
      value = next;
      if (most <= 13) next += most > 5 ? 2 : 1;  // unequal ones tell more
    }
    if (most == 13 && operations_of(p, small) > static_cast<double>(steps)) many = true;
    if (most == 13 && many) continue;
    if (operations_of(p, small) > static_cast<double>(kStepsOfASample * steps)) continue;
    if (keeps_asserts(p, small)) return small;
  }
  return std::nullopt;
}

struct CompiledNest {
  std::unique_ptr<Reference> code;
  InputKind kind = InputKind::kIntegers;  // of inputs that served at a small size
};

// Compiled with sums in any order, as schedules may take them: a sum that is a chain of additions
// in the order of the text takes four times as long, and is no nearer to the real number.
Candidate in_any_order(const ProcPtr& p, const Target& target, const TuningProblem& problem) {
  return compiled_as(make_candidate(p, target, problem), {.any_order = true, .compiler = ""});
}

// The nest as written, once its C was found to do at a small size what the interpreter does. Where
// no size is small the C stands for itself: schedules are proved, and their C has other forms.
CompiledNest compiled_nest(const TuningProblem& problem, const ProblemOptions& options) {
  CompiledNest out;
  if (const std::optional<SizeBinding> small =
          small_sizes(*problem.kernel, problem.sizes, options.interpreted_steps)) {
    ProblemOptions interpreting = options;
    interpreting.runner = nullptr;
    const TuningProblem sample = make_problem(problem.kernel, *small, interpreting);
    const Candidate code = in_any_order(problem.kernel, *options.target, sample);
    RunOptions check;
    check.measure = false;
    check.timeout_seconds = 20;
    if (!options.runner->run(std::span(&code, 1), sample.test, check).front().ok()) return out;
    out.kind = sample.test.kind;
  }
  const ProcPtr& written = options.written ? options.written : problem.kernel;
  out.code =
      compiled(in_any_order(written, *options.target, problem), *options.runner, kReferenceSeconds);
  return out;
}

}  // namespace

TestCase expected_results(const TuningProblem& problem, const ProblemOptions& options) {
  const int64_t limit = options.runner != nullptr ? options.interpreted_steps : 0;
  const double operations = operations_of(*problem.kernel, problem.sizes);
  try {
    if (limit == 0 || operations <= static_cast<double>(limit))
      return choose_test(*problem.kernel, problem.args, options.seed,
                         *interpreted(problem.kernel, problem.args, limit));
  } catch (const InterpError& e) {
    if (e.kind() != InterpError::Kind::kSteps || DeadlineScope::current().over()) throw;
  }
  const CompiledNest nest = compiled_nest(problem, options);
  const std::unique_ptr<Reference> slow =
      nest.code ? nullptr : interpreted(problem.kernel, problem.args);
  return choose_test(*problem.kernel, problem.args, options.seed, nest.code ? *nest.code : *slow,
                     nest.kind);
}

}  // namespace exotune
