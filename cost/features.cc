#include "cost/features.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/hashing.h"
#include "core/ir/functions.h"
#include "cost/compiled_loop.h"
#include "cost/footprint.h"
#include "cost/index_ranges.h"
#include "cost/instruction_class.h"
#include "cost/register_pressure.h"

namespace exotune {
// Counts of what a run of the code does, by term of the model (terms.h): operations by port, lines
// by level, chains, calls. Everything outside of loops is counted once a block, loops by their
// trips; nothing is simulated.

namespace {

// As many sums side by side as a compiler makes a vector of, when they are floats.
constexpr double kSumsOfVectors = 4, kScalarBytes = 4;
// What they write out without being asked: iterations of one loop, statements in all.
constexpr int64_t kUnrolled = 16, kUnrolledStatements = 128;

class Counter {
 public:
  Counter(const Proc& p, const std::map<std::string, int64_t>& sizes, const CostMachine& machine)
      : machine_(machine), ranges_(p, sizes), compiled_(machine, ranges_) {
    for (const Arg& a : p.args)
      if (is_data(a.type.scalar)) declare(a.name, a.type);
  }

  Features block(const Block& b) {
    Straight line;
    return block(b, line);
  }

 private:
  // What one block does outside of its loops. Statements are looked at in their order, and the
  // order is meant: a vector that is loaded twice is loaded once until a store, which may have
  // changed it; a chain through memory is a load, a sum and a store of one place that follow each
  // other, noted at the load (`loaded_from`), at the sum (`chains`) and closed at the store
  // (`memory_chains`). Only `written` has no order: a place that any statement of the block sets
  // anew carries nothing into the next iteration.
  struct Straight {
    PortCycles ports;
    double scalar = 0, instructions = 0;
    bool written_out = false;                          // holds a loop that was unrolled
    std::map<uint64_t, double> chains, scalar_chains;  // cycles, by the place accumulated into
    // Elements of memory that are read, accumulated and written: cycles until they can be read
    // again, and where registers were loaded from.
    std::map<uint64_t, double> memory_chains;
    std::map<uint64_t, uint64_t> loaded_from;
    std::set<uint64_t> written;  // places that are set anew: no chain goes on through them
    std::set<uint64_t> loaded;   // what is in a register already: the compiler loads it once
  };

  // In additions.
  static double own_operations(const ExprPtr& e) {
    constexpr double kQuotient = 6;  // dividers are hardly pipelined, on any machine
    if (const Extern* x = e->as<Extern>()) return find_function(x->fn)->additions;
    const BinOp* b = e->as<BinOp>();
    if (b && b->op == BinOpKind::kDiv && is_float(e->type)) return kQuotient;
    return b || e->as<USub>() || e->as<Cast>() ? 1 : 0;
  }
  static double operations(const ExprPtr& e) {
    if (const Read* r = e->as<Read>(); r && is_data(e->type)) return 0.5;
    double out = is_data(e->type) ? own_operations(e) : 0;
    for (const ExprPtr& c : expr_children(*e)) out += operations(c);
    return out;
  }
  static double operations(const StmtPtr& s) {
    if (const Assign* a = s->as<Assign>()) return 1 + operations(a->rhs);
    if (const Reduce* r = s->as<Reduce>()) return 1.5 + operations(r->rhs);
    return 0;
  }

  Features block(const Block& b, Straight& line) {
    Features out;
    for (const StmtPtr& s : b) statement(s, line, out);
    // Sums that stay, into several scalars side by side, become one sum of vectors.
    const double sums = static_cast<double>(
        std::count_if(line.scalar_chains.begin(), line.scalar_chains.end(),
                      [&](const auto& chain) { return !inner_ || !moves(chain.first, *inner_); }));
    if (sums >= kSumsOfVectors && !line.written_out)
      line.scalar /= std::min(sums, machine_.vector_bytes / kScalarBytes);
    out[Term::kPort] += line.ports.busiest();
    out[Term::kArithmetic] += line.ports.arithmetic;
    out[Term::kLoad] += line.ports.load;
    out[Term::kStore] += line.ports.store;
    out[Term::kOther] += line.ports.other;
    out[Term::kScalar] += line.scalar;
    return out;
  }

  // In program order, which matters for loads that are still in registers.
  void statement(const StmtPtr& s, Straight& line, Features& out) {
    if (const For* f = s->as<For>()) {
      if (unrolls(*f, 1) && !(compiled_.cycles(*f) > 0))
        unrolled(*f, line, out);
      else
        out.add(loop(*f, line));
    } else if (const If* i = s->as<If>()) {
      out[Term::kBranch] += 1;
      // The dearer side.
      Features yes = block(i->body), no = block(i->orelse);
      out.add(yes[Term::kPort] + yes[Term::kScalar] >= no[Term::kPort] + no[Term::kScalar] ? yes
                                                                                           : no);
    } else if (const Alloc* alloc = s->as<Alloc>()) {
      declare(alloc->name, alloc->type);
      if (alloc->mem && alloc->mem->kind == MemoryKind::kVector) {
        double count = 1;
        for (size_t d = 0; d + 1 < alloc->type.shape.size(); ++d)
          count *= static_cast<double>(ranges_.value(alloc->type.shape[d]));
        registers_[alloc->name] = count;
        capacity_ = alloc->mem->count;
      } else if (alloc->type.shape.empty()) {
        local_.insert(alloc->name);
      }
    } else if (const Call* c = s->as<Call>()) {
      call(*c, line, out);
    } else if (const Assign* a = s->as<Assign>()) {
      line.scalar += operations(s);
      ++line.instructions;
      line.written.insert(place_of(a->name, a->idx));
      if (a->idx.empty() && a->rhs->as<Const>()) literals_[a->name] = a->rhs->hash;
    } else if (const Reduce* r = s->as<Reduce>()) {
      ++line.instructions;
      line.scalar += operations(s);
      const uint64_t place = place_of(r->name, r->idx);
      line.scalar_chains[place] +=
          machine_.latency + (local_.count(r->name) ? 0 : machine_.load_latency);
      places_[place] = s;
    }
  }

  void declare(Sym name, const Type& type) {
    compiled_.declare(name, type.scalar);
    std::vector<int64_t>& strides = strides_[name];
    strides.resize(type.shape.size());
    int64_t stride = bytes_of(type.scalar);
    for (size_t d = type.shape.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= std::max<int64_t>(1, ranges_.value(type.shape[d]));
    }
  }

  // Registers that hold the same literal in all lanes are one to a compiler.
  void note_constant(const Call& c) {
    if (c.args.size() != 2) return;
    const WindowExpr* to = c.args.front()->as<WindowExpr>();
    const Read* from = c.args.back()->as<Read>();
    const auto literal = from ? literals_.find(from->name) : literals_.end();
    if (!to || literal == literals_.end() || !registers_.count(to->name)) return;
    const auto [first, fresh] =
        broadcasts_.emplace(std::pair(literal->second, c.callee.get()), to->name);
    if (!fresh && first->second != to->name) registers_[to->name] = 0;
  }

  // Lines beyond the first that a vector in memory touches, on average over where its rows begin.
  double splits(const ExprPtr& e) {
    const WindowExpr* w = e->as<WindowExpr>();
    if (!w || registers_.count(w->name) || w->access.empty() || w->access.back().is_point())
      return 0;
    const auto found = strides_.find(w->name);
    if (found == strides_.end() || found->second.size() != w->access.size()) return 0;
    const int64_t line = machine_.caches.empty() ? 64 : machine_.caches.front().line_bytes;
    int64_t start = 0;
    bool aligned = true;
    for (size_t d = 0; d < w->access.size(); ++d) {
      start += ranges_.value(w->access[d].lo) * found->second[d];
      aligned = aligned && (d + 1 == w->access.size() || found->second[d] % line == 0);
    }
    if (aligned && start % line == 0) return 0;
    const int64_t element = found->second.back();
    const int64_t bytes =
        (ranges_.value(w->access.back().hi) - ranges_.value(w->access.back().lo)) * element;
    return std::clamp(static_cast<double>(bytes - element) / static_cast<double>(line), 0.0, 1.0);
  }

  static uint64_t place_of(Sym name, const std::vector<ExprPtr>& idx) {
    uint64_t place = name.id();
    for (const ExprPtr& e : idx) place = hash_combine(place, e->hash);
    return place;
  }

  const InstructionClass& class_of(const ProcPtr& callee) {
    const auto [it, fresh] = classes_.try_emplace(callee.get());
    if (fresh) it->second = classify(*callee, machine_.instructions, machine_.core);
    return it->second;
  }

  void call(const Call& c, Straight& line, Features& out) {
    if (!c.callee->instr) {
      out[Term::kCall] += 1;
      return;
    }
    const InstructionClass& k = class_of(c.callee);
    uint64_t same = hash_bytes(c.callee->name);
    for (size_t i = 0; i < c.args.size(); ++i)
      if (static_cast<int>(i) != k.written) same = same * 31 + c.args[i]->hash;
    const bool load = k.ports.load > 0 && k.ports.arithmetic == 0;
    if (!load || line.loaded.insert(same).second) {
      line.ports.add(k.ports);
      ++line.instructions;
      if (k.partial && k.writes_memory) out[Term::kPartial] += 1;
      for (const ExprPtr& e : c.args) out[Term::kSplit] += splits(e);
    }
    if (k.writes_memory) line.loaded.clear();
    note_constant(c);
    for (const ExprPtr& e : c.args)
      if (const WindowExpr* w = e->as<WindowExpr>(); w && registers_.count(w->name))
        for (size_t d = 0; d + 1 < w->access.size(); ++d)
          if (!as_int(w->access[d].lo)) {
            out[Term::kIndexed] += 1;
            break;
          }
    trace_memory(c, k, line);
    if (!k.accumulates && k.written >= 0)
      line.written.insert(c.args[static_cast<size_t>(k.written)]->hash);
    if (k.accumulates && k.written >= 0) {
      const uint64_t place = c.args[static_cast<size_t>(k.written)]->hash;
      line.chains[place] += k.latency > 0
                                ? k.latency
                                : machine_.latency + (k.writes_memory ? machine_.load_latency : 0);
      place_exprs_[place] = c.args[static_cast<size_t>(k.written)];
    }
  }

  // x = y[..]; x += ..; y[..] = x: the next iteration waits for the store.
  void trace_memory(const Call& c, const InstructionClass& k, Straight& line) {
    if (k.written < 0 || k.accumulates || k.ports.arithmetic > 0) return;
    for (size_t i = 0; i < c.args.size(); ++i) {
      if (static_cast<int>(i) == k.written || !c.args[i]->as<WindowExpr>()) continue;
      const ExprPtr& to = c.args[static_cast<size_t>(k.written)];
      if (!k.writes_memory) {
        line.loaded_from[to->hash] = c.args[i]->hash;
      } else if (const auto from = line.loaded_from.find(c.args[i]->hash);
                 from != line.loaded_from.end() && from->second == to->hash) {
        const auto sum = line.chains.find(c.args[i]->hash);
        if (sum == line.chains.end()) continue;
        line.memory_chains[to->hash] = sum->second + machine_.load_latency;
        place_exprs_[to->hash] = to;
      }
    }
  }

  // Is the place accumulated into another one in each iteration?
  bool moves(uint64_t place, Sym iter) const {
    if (const auto e = place_exprs_.find(place); e != place_exprs_.end())
      return mentions(e->second, iter);
    const auto s = places_.find(place);
    if (s == places_.end()) return false;
    const std::vector<ExprPtr>& idx = s->second->as<Reduce>()->idx;
    return std::any_of(idx.begin(), idx.end(), [&](const ExprPtr& i) { return mentions(i, iter); });
  }
  // The longest chain that runs on from one iteration to the next.
  double chain(const Straight& line, const std::map<uint64_t, double>& chains, Sym iter) const {
    double out = 0;
    for (const auto& [place, cycles] : chains)
      if (!line.written.count(place) && !moves(place, iter)) out = std::max(out, cycles);
    return out;
  }

  // A loop of plain statements is what the compiler makes of it; its sums still wait for the
  // element that they add to when it runs again.
  Features compiled(const For& f, double cycles, Straight& around) {
    Features out;
    out[Term::kCompiled] += cycles;
    for (const StmtPtr& s : f.body)
      if (const Reduce* r = s->as<Reduce>()) {
        const uint64_t place = place_of(r->name, r->idx);
        places_[place] = s;
        around.memory_chains[place] = machine_.latency + machine_.load_latency;
      }
    out[Term::kEntry] += 1;
    return out;
  }

  Features loop(const For& f, Straight& around) {
    Features out;
    const double n = static_cast<double>(ranges_.trips(f));
    if (n == 0) return out;
    if (const double cycles = compiled_.cycles(f); cycles > 0) return compiled(f, cycles, around);
    ranges_.enter(f, ranges_.typical(f));
    Straight line;
    const std::set<Sym> outside = names(registers_);
    const std::optional<Sym> around_iter = std::exchange(inner_, f.iter);
    Features body = block(f.body, line);
    inner_ = around_iter;
    // Short loops overlap with the next time around: as many as the core looks ahead.
    const double ahead =
        std::max(1.0, machine_.core.window / (n * std::max(1.0, line.instructions)));
    out[Term::kLatency] +=
        n * std::max(0.0, chain(line, line.chains, f.iter) / ahead - line.ports.busiest());
    out[Term::kChain] += n * std::max(0.0, chain(line, line.scalar_chains, f.iter) / ahead -
                                               line.scalar / machine_.core.scalar_width);
    if (capacity_ > 0)
      out[Term::kSpill] += n * std::max(0.0, register_pressure(f, registers_, outside) -
                                                 static_cast<double>(capacity_));
    // Chains through memory end where the place moves on with this loop.
    double through = 0;
    for (const auto& [place, cycles] : line.memory_chains) {
      if (!moves(place, f.iter)) through = std::max(through, cycles);
      around.memory_chains[place] = cycles * (moves(place, f.iter) ? 1 : n);
    }
    out[Term::kLatency] += n * std::max(0.0, through - body[Term::kPort] - body[Term::kCompiled]);
    out.add(body, n);
    out[Term::kLoop] += n;
    out[Term::kEntry] += 1;
    return out;
  }

  // A compiler writes short loops of constant bounds out: no counter, and one block with what is
  // around them.
  bool unrolls(const For& f, int64_t times) {
    if (!as_int(f.lo) || !as_int(f.hi)) return false;
    const int64_t n = times * ranges_.trips(f);
    if (ranges_.trips(f) > kUnrolled) return false;
    int64_t statements = 0;
    for (const StmtPtr& s : f.body) {
      if (s->as<If>()) return false;
      if (const For* inner = s->as<For>(); inner && !unrolls(*inner, n)) return false;
      if (!s->as<For>() && !s->as<Alloc>()) ++statements;
    }
    return n * statements <= kUnrolledStatements;
  }
  void unrolled(const For& f, Straight& line, Features& out) {
    const double n = static_cast<double>(ranges_.trips(f));
    if (n == 0) return;
    ranges_.enter(f);
    Straight inner;
    Features body;
    for (const StmtPtr& s : f.body) statement(s, inner, body);
    out.add(body, n);
    line.ports.add(inner.ports, n);
    line.written_out = true;
    line.scalar += n * inner.scalar;
    line.instructions += n * inner.instructions;
    for (const auto& [place, cycles] : inner.chains)
      line.chains[place] += (moves(place, f.iter) ? 1 : n) * cycles;
    for (const auto& [place, cycles] : inner.scalar_chains)
      line.scalar_chains[place] += (moves(place, f.iter) ? 1 : n) * cycles;
    line.written.insert(inner.written.begin(), inner.written.end());
    for (const auto& [place, cycles] : inner.memory_chains)
      line.memory_chains[place] = cycles * (moves(place, f.iter) ? 1 : n);
  }

  static std::set<Sym> names(const std::map<Sym, double>& m) {
    std::set<Sym> out;
    for (const auto& [name, count] : m) out.insert(name);
    return out;
  }

  const CostMachine& machine_;
  IndexRanges ranges_;
  CompiledLoops compiled_;
  std::optional<Sym> inner_;                     // iterator of the innermost loop around
  std::map<Sym, std::vector<int64_t>> strides_;  // bytes, by dimension
  std::map<Sym, double> registers_;
  std::set<Sym> local_;               // scalars of the proc itself: registers
  std::map<Sym, uint64_t> literals_;  // the literal that a scalar was set to, by its hash
  std::map<std::pair<uint64_t, const Proc*>, Sym> broadcasts_;  // the first register that holds it
  int capacity_ = 0;
  std::map<const Proc*, InstructionClass> classes_;
  std::map<uint64_t, StmtPtr> places_;
  std::map<uint64_t, ExprPtr> place_exprs_;
};

}  // namespace

Features features_of(const Proc& p, const std::map<std::string, int64_t>& sizes,
                     const CostMachine& machine) {
  Features out = Counter(p, sizes, machine).block(p.body);
  out[Term::kRun] = 1;
  const Footprints footprints(p, sizes);
  for (size_t k = 0; k < std::min(machine.caches.size(), kCacheTerms); ++k) {
    const LineCount lines =
        footprints.traffic(machine.caches[k].bytes, machine.caches[k].line_bytes, machine.core);
    out.count[static_cast<size_t>(Term::kLines1) + k] = lines.all;
    out.count[static_cast<size_t>(Term::kScattered1) + k] = lines.scattered;
  }
  const auto page = static_cast<int>(machine.core.page);
  const auto at_hand = static_cast<int64_t>(machine.core.translations) * page;
  if (at_hand > 0) out[Term::kPages] = footprints.traffic(at_hand, page, machine.core).all;
  return out;
}

}  // namespace exotune
