#include "search/problem.h"

#include <algorithm>

#include "core/base/hashing.h"
#include "core/interp/asserted_layout.h"
#include "core/interp/interp.h"
#include "core/library/ahead.h"
#include "search/expected_results.h"
#include "search/packed_caller.h"
#include "search/test_data.h"

namespace exotune {
// A kernel at given sizes as something to run: arguments with shapes and strides, data, what must
// come out, and how it is compiled. Everything a candidate is checked with is made here, once for
// all of them.
namespace {

ArgSpec concrete(const AbiArg& arg, const Proc& p, const std::map<Sym, int64_t>& env,
                 int64_t free_stride) {
  ArgSpec spec;
  spec.name = arg.name;
  spec.is_read = arg.read;
  spec.is_written = arg.written;
  std::vector<int64_t> shape;
  for (const ExprPtr& extent : arg.shape) shape.push_back(eval_control(extent, env));
  switch (arg.kind) {
    case AbiArg::Kind::kControl:
      return ArgSpec::control(arg.name, env.at(arg.sym));
    case AbiArg::Kind::kBool:
      return ArgSpec::boolean(arg.name, env.at(arg.sym) != 0);
    case AbiArg::Kind::kScalar:
      return ArgSpec::scalar(arg.name, element_of(arg.type), arg.read, arg.written);
    case AbiArg::Kind::kTensor:
      return ArgSpec::tensor(arg.name, element_of(arg.type), shape, arg.read, arg.written);
    case AbiArg::Kind::kWindow: {
      std::vector<int64_t> strides;
      // Where the kernel promises nothing about strides, elements lie apart in its test: a schedule
      // that takes them for neighbours must be found wrong.
      if (const auto asserted = asserted_layout(p, arg.sym, shape, env)) {
        strides = *asserted;
      } else {
        strides.assign(shape.size(), free_stride);
        for (size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
      }
      spec = ArgSpec::window(arg.name, element_of(arg.type), shape, strides, arg.read, arg.written);
      spec.c_type = arg.c_type;
      return spec;
    }
    case AbiArg::Kind::kContext:
      spec.kind = ArgSpec::Kind::kContext;
      spec.value = 4096;
      return spec;
  }
  return spec;
}

int64_t statements(const Block& block) {
  int64_t count = 0;
  for_each_stmt(block, [&](const StmtPtr&) { ++count; });
  return count;
}

}  // namespace

ElementType element_of(ScalarType type) {
  return type == ScalarType::kR ? ElementType::kF32 : element_from_name(name_of(type));
}

std::map<Sym, int64_t> control_values(const Proc& p, const SizeBinding& sizes) {
  std::map<Sym, int64_t> env;
  for (const Arg& arg : p.args) {
    if (!is_control(arg.type.scalar)) continue;
    const auto it = sizes.find(arg.name.name());
    if (it == sizes.end())
      throw InputError(p.where, "no value for '" + arg.name.name() + "' of '" + p.name + "'",
                       "give one: --size " + arg.name.name() + "=64");
    env[arg.name] = it->second;
  }
  return env;
}

bool keeps_asserts(const Proc& p, const SizeBinding& sizes) {
  const std::map<Sym, int64_t> env = control_values(p, sizes);
  return std::all_of(p.asserts.begin(), p.asserts.end(), [&](const ExprPtr& e) {
    try {
      return eval_control(e, env) != 0;
    } catch (const InterpError&) {
      return true;
    }
  });
}

// Shapes and strides at these sizes; with inputs, what must come out is computed once here.
TuningProblem make_problem(const ProcPtr& kernel, const SizeBinding& sizes,
                           const ProblemOptions& options) {
  TuningProblem problem;
  problem.kernel = kernel;
  problem.sizes = sizes;
  const std::map<Sym, int64_t> env = control_values(*kernel, sizes);
  for (const AbiArg& arg : describe_abi(*kernel).args) {
    problem.args.push_back(concrete(arg, *kernel, env, options.free_stride));
    problem.names.push_back(arg.kind == AbiArg::Kind::kContext ? "" : arg.sym.name());
  }
  if (!options.inputs) return problem;
  if (options.expected) {
    problem.test = expected_results(problem, options);
  } else {
    problem.test = make_inputs(problem.args, options.seed);
    keep_divisors(*kernel, problem.args, problem.test);
  }
  return problem;
}

namespace {

// Settings that code makes, and no instruction, are an argument more in C: the struct that holds
// them, which nobody passes.
void refuse_settings_left(const Proc& scheduled, const TuningProblem& problem) {
  const auto is_context = [](const ArgSpec& a) { return a.kind == ArgSpec::Kind::kContext; };
  if (std::any_of(problem.args.begin(), problem.args.end(), is_context)) return;
  for_each_stmt(scheduled.body, [&](const StmtPtr& s) {
    const WriteConfig* w = s->as<WriteConfig>();
    if (!w) return;
    const std::string field = "`" + w->config->name + "." + w->field + "`";
    throw InputError({},
                     "the schedule leaves " + field + " to be set by code, not by an instruction",
                     "replace_configured sets it where an instruction asserts it; delete_config "
                     "takes away what nothing reads");
  });
}

}  // namespace

// C of the scheduled procedure, under a name of its own; its id is the hash of the text, so that
// two schedules of one text are one candidate.
Candidate make_candidate(const ProcPtr& scheduled, const Target& target,
                         const TuningProblem& problem, const std::string& stem) {
  refuse_settings_left(*scheduled, problem);
  CodegenOptions code;
  code.stem = stem;
  code.headers = target.compiler.headers;
  CFile file = generate_kernel(scheduled, code);
  Candidate candidate;
  candidate.function = file.functions.front().name;
  if (file.functions.size() > 1) {
    candidate.function += "_with_packed";
    file.c += packed_caller(file, candidate.function, *split_ahead(scheduled), problem);
  }
  candidate.id = content_hash(file.c + file.h);
  candidate.stem = stem;
  candidate.c_source = file.c;
  candidate.h_source = file.h;
  candidate.args = problem.args;
  if (scheduled->args.size() < problem.kernel->args.size()) {
    for (size_t k = 0; k < problem.args.size(); ++k) {
      const ArgSpec& arg = problem.args[k];
      const bool taken =
          arg.kind == ArgSpec::Kind::kContext ||
          std::any_of(scheduled->args.begin(), scheduled->args.end(),
                      [&](const Arg& a) { return a.name.name() == problem.names[k]; });
      if (taken) candidate.parameters.push_back(k);
    }
  }
  candidate.complexity = static_cast<double>(statements(scheduled->body));
  return candidate;
}

}  // namespace exotune
