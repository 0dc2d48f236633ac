#include "search/shared_loops.h"

#include <algorithm>
#include <map>

#include "core/interp/interp.h"
#include "core/library/inspection.h"
#include "search/steps/builders.h"

namespace exotune {

namespace {

constexpr double kLittleWork = 1.0 / 64;  // of all iterations: not worth waking a thread for
constexpr double kGuess = 16;             // iterations of a loop whose bounds depend on others

class SharingOut {
 public:
  SharingOut(const BeamState& program, int threads, const BeamContext& context)
      : state_(program), threads_(threads), context_(context) {
    for (const auto& [name, value] : context.sizes)
      for (const Arg& a : program.proc->args)
        if (a.name.name() == name) sizes_[a.name] = value;
    least_ = kLittleWork * iterations_of(program.proc->body);
  }

  std::optional<BeamState> run() {
    const ProcPtr before = state_.proc;
    if (!share(before->body, {}, 1)) return std::nullopt;
    return std::move(state_);
  }

 private:
  double iterations_of(const Block& block) const {
    double out = 0;
    for (const StmtPtr& s : block) out += iterations_of(*s);
    return out;
  }
  double iterations_of(const Stmt& s) const {
    if (const For* f = s.as<For>()) return times_of(*f) * iterations_of(f->body);
    const double inside = iterations_of(body_of(s)) + iterations_of(orelse_of(s));
    return std::max(1.0, inside);
  }
  double times_of(const For& f) const {
    try {
      return static_cast<double>(
          std::max<int64_t>(0, eval_control(f.hi, sizes_) - eval_control(f.lo, sizes_)));
    } catch (const InterpError&) {  // a triangle's, say
      return kGuess;
    }
  }

  // Statements keep their places: a loop that becomes parallel stays where it is. `times`: of the
  // loops around the block.
  bool share(const Block& block, const Path& around, double times) {
    bool shared = false;
    for (int k = 0; k < static_cast<int>(block.size()); ++k) {
      const StmtPtr s = block[static_cast<size_t>(k)];
      const Path here = child(around, k);
      const For* f = s->as<For>();
      if (!f || f->mode != LoopMode::kSeq || times * iterations_of(*s) < least_) continue;
      const double trips = times_of(*f);
      const bool enough = trips >= threads_;
      const bool now = enough && parallel(here);
      const bool inside = !now && share(f->body, here, times * trips);
      shared = now || inside || (!enough && trips > 1 && parallel(here)) || shared;
    }
    return shared;
  }

  bool parallel(const Path& loop) {
    return !extend(state_,
                   {{"parallelize_loop", {Value(pattern_of(Cursor::stmt(state_.proc, loop)))}}},
                   context_);
  }

  BeamState state_;
  const int threads_;
  const BeamContext& context_;
  std::map<Sym, int64_t> sizes_;
  double least_ = 0;
};

}  // namespace

std::optional<BeamState> shared_out(const BeamState& program, int threads,
                                    const BeamContext& context) {
  return SharingOut(program, threads, context).run();
}

std::vector<SharedLoop> shared_loops(const Nest& nest, const Target& target, int threads) {
  std::vector<SharedLoop> out;
  for (size_t k = 0; k < nest.loops.size(); ++k) {
    const NestLoop& loop = nest.loops[k];
    if (!loop.in_output || !loop.extent || !loop.outer.empty()) continue;
    const bool vectors = loop.name == nest.vector_loop;
    const int64_t step = vectors ? std::max(1, target.lanes_of(nest.precision)) : 1;
    const int64_t part = *loop.extent / threads / step * step;
    if (part < 1) continue;
    SharedLoop shared;
    const std::string outer = loop.name + "t";
    shared.share_out = block_step(loop.name, part, outer, k == 0 ? "" : nest.loops.front().name);
    shared.parallelize = {"H_parallel", {outer}};
    shared.part = nest;
    shared.part.loops[k].extent = part;
    if (vectors)
      out.insert(out.begin(), std::move(shared));
    else
      out.push_back(std::move(shared));
  }
  return out;
}

}  // namespace exotune
