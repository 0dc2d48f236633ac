#include "search/peer_problem.h"

#include <charconv>

namespace exotune {
namespace {

// The number that the whole text is; nothing for a name.
template <typename T>
std::optional<T> number_in(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
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
  if (const auto value = number_in<double>(it->second)) return {*value, -1};
  for (size_t k = 0; k < problem.args.size(); ++k)
    if (problem.names[k] == it->second) return {absent, static_cast<int>(k)};
  return {absent, -1};
}

int64_t extent(const TuningProblem& problem, const PeerOperation& peer, const std::string& role) {
  const auto role_at = peer.sizes.find(role);
  if (role_at == peer.sizes.end()) return 0;
  if (const auto number = number_in<int64_t>(role_at->second)) return *number;
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

}  // namespace

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

}  // namespace exotune
