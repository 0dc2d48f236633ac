#include "search/problem.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "core/base/deadline.h"
#include "core/base/hashing.h"
#include "core/interp/interp.h"
#include "core/library/ahead.h"
#include "hw/machine.h"
#include "search/test_data.h"

namespace exotune {
namespace {

ElementType element_of(ScalarType type) {
  return type == ScalarType::kR ? ElementType::kF32 : element_from_name(name_of(type));
}

bool asserts_strides(const Proc& p, Sym name) {
  const std::function<bool(const ExprPtr&)> speaks = [&](const ExprPtr& e) {
    if (const auto* stride = e->as<StrideExpr>(); stride != nullptr && stride->name == name)
      return true;
    const std::vector<ExprPtr> children = expr_children(*e);
    return std::any_of(children.begin(), children.end(), speaks);
  };
  return std::any_of(p.asserts.begin(), p.asserts.end(), speaks);
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
      if (!asserts_strides(p, arg.sym)) {
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

// One call of the nest as written on data too large for the interpreter.
constexpr double kReferenceSeconds = 120;

// Sizes small enough for the interpreter at which the asserts of `p` hold; nothing when none of
// those tried do.
std::optional<SizeBinding> small_sizes(const Proc& p, const SizeBinding& sizes) {
  for (const int64_t most : {13, 16, 32, 64}) {
    SizeBinding small = sizes;
    int64_t next = most;
    for (auto& [name, value] : small) {
      if (value <= most) continue;
      value = next;
      if (most == 13) next += 2;  // unequal ones tell more
    }
    const std::map<Sym, int64_t> env = control_values(p, small);
    if (std::all_of(p.asserts.begin(), p.asserts.end(), [&](const ExprPtr& e) {
          try {
            return eval_control(e, env) != 0;
          } catch (const InterpError&) {
            return true;  // speaks of strides
          }
        }))
      return small;
  }
  return std::nullopt;
}

// The nest as written, once its C was found to do at a small size what the interpreter does.
std::unique_ptr<Reference> checked_code(const TuningProblem& problem,
                                        const ProblemOptions& options) {
  const std::optional<SizeBinding> small = small_sizes(*problem.kernel, problem.sizes);
  if (!small) return nullptr;
  ProblemOptions interpreting = options;
  interpreting.runner = nullptr;
  const TuningProblem sample = make_problem(problem.kernel, *small, interpreting);
  const Candidate code = make_candidate(problem.kernel, *options.target, sample);
  RunOptions check;
  check.measure = false;
  check.timeout_seconds = 20;
  if (!options.runner->run(std::span(&code, 1), sample.test, check).front().ok()) return nullptr;
  return compiled(make_candidate(problem.kernel, *options.target, problem), *options.runner,
                  kReferenceSeconds);
}

double values_read(const ExprPtr& e) {
  double count = 1;
  if (!e->as<Read>())
    for (const ExprPtr& c : expr_children(*e)) count += values_read(c);
  return count;
}

// Operations that run, about: every iteration of a loop counts as its middle one, guards as true.
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
double operations_of(const Proc& p, const SizeBinding& sizes) {
  std::map<Sym, int64_t> env = control_values(p, sizes);
  try {
    return operations_of(p.body, env);
  } catch (const InterpError&) {  // bounds that only a run knows
    return 0;
  }
}

TestCase test_of(const TuningProblem& problem, const ProblemOptions& options) {
  const int64_t limit = options.runner != nullptr ? options.interpreted_steps : 0;
  const double operations = operations_of(*problem.kernel, problem.sizes);
  try {
    if (limit == 0 || operations <= static_cast<double>(limit))
      return choose_test(*problem.kernel, problem.args, options.seed,
                         *interpreted(problem.kernel, problem.args, limit));
  } catch (const InterpError& e) {
    if (e.kind() != InterpError::Kind::kSteps || DeadlineScope::current().over()) throw;
  }
  const std::unique_ptr<Reference> code = checked_code(problem, options);
  return choose_test(*problem.kernel, problem.args, options.seed,
                     code ? *code : *interpreted(problem.kernel, problem.args));
}

int argument_index(const TuningProblem& problem, const PeerOperation& peer,
                   const std::string& role) {
  const auto it = peer.arguments.find(role);
  if (it == peer.arguments.end()) return -1;
  for (size_t k = 0; k < problem.args.size(); ++k)
    if (problem.names[k] == it->second) return static_cast<int>(k);
  return -1;
}

PeerScalar factor(const TuningProblem& problem, const PeerOperation& peer, const std::string& role,
                  double absent) {
  const auto it = peer.factors.find(role);
  if (it == peer.factors.end()) return {absent, -1};
  double value = 0;
  const char* end = it->second.data() + it->second.size();
  const auto [stop, error] = std::from_chars(it->second.data(), end, value);
  if (error == std::errc() && stop == end) return {value, -1};
  for (size_t k = 0; k < problem.args.size(); ++k)
    if (problem.names[k] == it->second) return {absent, static_cast<int>(k)};
  return {absent, -1};
}

int64_t extent(const TuningProblem& problem, const PeerOperation& peer, const std::string& role) {
  const auto role_at = peer.sizes.find(role);
  if (role_at == peer.sizes.end()) return 0;
  int64_t number = 0;
  const char* end = role_at->second.data() + role_at->second.size();
  const auto [stop, error] = std::from_chars(role_at->second.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  const auto size = problem.sizes.find(role_at->second);
  return size == problem.sizes.end() ? 0 : size->second;
}

BlasOp blas_op(const std::string& name, const SourceLocation& where) {
  std::vector<std::string> known;
  for (const BlasOp op : blas_ops()) {
    if (name == blas_op_name(op)) return op;
    known.push_back(blas_op_name(op));
  }
  const std::string near = nearest(name, known);
  throw InputError(where, "no peer has an operation '" + name + "'",
                   near.empty() ? "leave 'peer' out" : "did you mean '" + near + "'?");
}

// What a program does with a kernel whose operands are packed ahead, as one function with the
// arguments of the proc: each operand is packed when it is first seen, and kept.
std::string caller_of_packed(const CFile& file, const std::string& name, const AheadParts& parts,
                             const TuningProblem& problem) {
  std::string text = R"(
#include <stdlib.h>
#include <sys/mman.h>
static struct { const void* from; void* packed; } exo_ahead_seen[64];
static int exo_ahead_count;
static void* exo_ahead_find(const void* from) {
  for (int i = 0; i < exo_ahead_count; ++i)
    if (exo_ahead_seen[i].from == from) return exo_ahead_seen[i].packed;
  return NULL;
}
static void* exo_ahead_make(const void* from, size_t bytes) {
  const size_t page = (size_t)2 << 20;
  bytes = bytes < page ? (bytes + 63) / 64 * 64 : (bytes + page - 1) / page * page;
  void* packed = aligned_alloc(bytes < page ? 64 : page, bytes);
  if (!packed || exo_ahead_count == 64) abort();
  if (bytes >= page) madvise(packed, bytes, MADV_HUGEPAGE);
  exo_ahead_seen[exo_ahead_count].from = from;
  exo_ahead_seen[exo_ahead_count++].packed = packed;
  return packed;
}
)";
  const FunctionAbi& whole = file.functions.front();
  const auto list = [](const FunctionAbi& f, size_t except_last) {
    std::string out;
    for (size_t k = 0; k + except_last < f.args.size(); ++k)
      out += (out.empty() ? "" : ", ") + f.args[k].name;
    return out;
  };
  std::string formals, body;
  for (const AbiArg& arg : whole.args)
    formals += (formals.empty() ? "" : ", ") + arg.c_type + " " + arg.name;
  std::map<Sym, int64_t> env;
  for (const Arg& arg : parts.whole->args)
    if (is_control(arg.type.scalar)) env[arg.name] = problem.sizes.at(arg.name.name());
  for (size_t k = 0; k < parts.packs.size(); ++k) {
    const FunctionAbi& pack = file.functions[k + 1];
    const auto source = std::find_if(whole.args.begin(), whole.args.end(),
                                     [&](const AbiArg& a) { return a.sym == parts.sources[k]; });
    EXO_CHECK(source != whole.args.end());
    const std::string from = source->name + (source->kind == AbiArg::Kind::kWindow ? ".data" : "");
    const std::string& packed = pack.args.back().name;
    const Alloc& alloc = *parts.whole->body[2 * k]->as<Alloc>();
    int64_t bytes = static_cast<int64_t>(element_bytes(element_of(alloc.type.scalar)));
    for (const ExprPtr& extent : alloc.type.shape) bytes *= eval_control(extent, env);
    body += "  " + pack.args.back().c_type + " " + packed + " = exo_ahead_find(" + from + ");\n" +
            "  if (!" + packed + ") {\n    " + packed + " = exo_ahead_make(" + from + ", " +
            std::to_string(bytes) + ");\n    " + pack.name + "(" + list(pack, 0) + ");\n  }\n";
  }
  body += "  " + file.functions.back().name + "(" + list(file.functions.back(), 0) + ");\n";
  return text + "void " + name + "(" + formals + ") {\n" + body + "}\n";
}

int64_t statements(const Block& block) {
  int64_t count = 0;
  for_each_stmt(block, [&](const StmtPtr&) { ++count; });
  return count;
}

}  // namespace

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
  problem.test =
      options.expected ? test_of(problem, options) : make_inputs(problem.args, options.seed);
  return problem;
}

Candidate make_candidate(const ProcPtr& scheduled, const Target& target,
                         const TuningProblem& problem, const std::string& stem) {
  CodegenOptions code;
  code.stem = stem;
  code.headers = target.compiler.headers;
  CFile file = generate_kernel(scheduled, code);
  Candidate candidate;
  candidate.function = file.functions.front().name;
  if (file.functions.size() > 1) {
    candidate.function += "_with_packed";
    file.c += caller_of_packed(file, candidate.function, *split_ahead(scheduled), problem);
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

std::optional<PeerProblem> peer_problem(const KernelEntry& kernel, const TuningProblem& problem) {
  const PeerOperation& peer = kernel.peer;
  if (peer.op.empty()) return std::nullopt;
  PeerProblem call;
  call.op = blas_op(peer.op, kernel.where);
  call.type = element_of(kernel.precision);
  call.m = extent(problem, peer, "m");
  call.n = extent(problem, peer, "n");
  call.k = extent(problem, peer, "k");
  call.l = extent(problem, peer, "l");
  call.batch = extent(problem, peer, "batch");
  call.height = extent(problem, peer, "height");
  call.width = extent(problem, peer, "width");
  call.taps = extent(problem, peer, "taps");
  call.rectify = peer.rectify;
  call.trans_a = peer.trans_a;
  call.trans_b = peer.trans_b;
  call.alpha = factor(problem, peer, "alpha", 1);
  call.beta = factor(problem, peer, "beta", 0);
  call.h[0] = factor(problem, peer, "h11", 1);
  call.h[1] = factor(problem, peer, "h21", 0);
  call.h[2] = factor(problem, peer, "h12", 0);
  call.h[3] = factor(problem, peer, "h22", 1);
  call.a = argument_index(problem, peer, "a");
  call.b = argument_index(problem, peer, "b");
  call.c = argument_index(problem, peer, "c");
  call.x = argument_index(problem, peer, "x");
  call.y = argument_index(problem, peer, "y");
  call.result = argument_index(problem, peer, "result");
  return call;
}

TargetToolchain toolchain_of(const Target& target) {
  TargetToolchain toolchain;
  toolchain.cc = find_compiler(target.compiler).path;
  toolchain.flags = target.compiler.flags;
  for (const std::string& header : target.compiler.headers)
    toolchain.includes.push_back("#include " + header);
  toolchain.isa = toolchain_isa(target.isa);
  toolchain.vector_bytes = target.vector_bits / 8;
  return toolchain;
}

}  // namespace exotune
