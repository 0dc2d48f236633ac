#include "search/device/instruction_set.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/ir/normal_form.h"

namespace exotune {

bool TileArgument::has(int loop) const {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

namespace {

bool is_own_memory(const MemoryPtr& m) {
  return m && (m->kind == MemoryKind::kRegisterFile || m->kind == MemoryKind::kScratchpad);
}

// The most that asserts allow a size argument to be; 0 when none says.
int64_t bound_of(const Proc& p, Sym size) {
  int64_t most = 0;
  for (const ExprPtr& a : p.asserts) {
    const BinOp* o = a->as<BinOp>();
    const Read* r = o && o->op == BinOpKind::kLe ? o->lhs->as<Read>() : nullptr;
    const auto value = r && r->name == size ? as_int(o->rhs) : std::nullopt;
    if (value) most = most == 0 ? *value : std::min(most, *value);
  }
  return most;
}

// The body as a nest of loops from 0 with one block inside.
struct Nest {
  std::vector<Sym> iters;
  std::vector<ProductInstruction::Loop> loops;
  const Block* inside = nullptr;
};

std::optional<Nest> nest_of(const Proc& p) {
  Nest out;
  const Block* block = &p.body;
  // Down to the first block that is not a loop alone.
  while (block->size() == 1 && block->front()->as<For>()) {
    const For& f = *block->front()->as<For>();
    ProductInstruction::Loop loop{f.iter.name(), 0, false};
    if (const auto n = as_int(f.hi)) {
      loop.most = *n;
      loop.fixed = true;
    } else if (const Read* r = f.hi->as<Read>()) {
      // A size argument: tiles may be smaller, up to what an assert allows.
      loop.most = bound_of(p, r->name);
    }
    if (as_int(f.lo) != 0 || loop.most <= 0) return std::nullopt;
    out.iters.push_back(f.iter);
    out.loops.push_back(loop);
    block = &f.body;
  }
  if (out.loops.empty()) return std::nullopt;
  out.inside = block;
  return out;
}

// An argument accessed by loops alone, in a memory of the device's own.
std::optional<TileArgument> tile_argument(const Proc& p, const Nest& nest, Sym name,
                                          const std::vector<ExprPtr>& idx) {
  const Arg* arg = p.find_arg(name);
  if (!arg || !is_own_memory(arg->mem) || idx.empty()) return std::nullopt;
  TileArgument out{arg->mem, {}};
  for (const ExprPtr& e : idx) {
    const Read* r = e->as<Read>();
    const auto at = r ? std::find(nest.iters.begin(), nest.iters.end(), r->name) : nest.iters.end();
    // A subscript that is not a loop's own iterator makes it no plain tile.
    if (at == nest.iters.end()) return std::nullopt;
    out.loops.push_back(static_cast<int>(at - nest.iters.begin()));
  }
  return out;
}

std::optional<ProductInstruction> product_of(const ProcPtr& proc) {
  const std::optional<Nest> nest = nest_of(*proc);
  if (!nest) return std::nullopt;
  ProductInstruction out;
  out.proc = proc;
  out.loops = nest->loops;
  // Bodies may convert factors through scalars first.
  std::map<Sym, ExprPtr> scalars;
  const Reduce* sum = nullptr;
  for (const StmtPtr& s : *nest->inside) {
    if (s->as<Alloc>()) continue;
    const Assign* a = s->as<Assign>();
    // In front of the sum only: what comes after it belongs to no product.
    if (a && a->idx.empty() && !sum) {
      scalars[a->name] = a->rhs;
    } else if (const Reduce* r = s->as<Reduce>(); r && !sum && r->op == ReduceOp::kAdd) {
      sum = r;
    } else {
      return std::nullopt;
    }
  }
  const BinOp* product = sum ? sum->rhs->as<BinOp>() : nullptr;
  if (!product || product->op != BinOpKind::kMul) return std::nullopt;
  const auto factor = [&](ExprPtr e) -> std::optional<TileArgument> {
    const Read* r = e->as<Read>();
    if (r && r->idx.empty() && scalars.contains(r->name)) {
      out.converts = true;
      e = scalars.at(r->name);
      r = e->as<Read>();
    }
    if (!r) return std::nullopt;
    out.operand = e->type;
    return tile_argument(*proc, *nest, r->name, r->idx);
  };
  const auto first = factor(product->lhs), second = factor(product->rhs);
  const auto target = tile_argument(*proc, *nest, sum->name, sum->idx);
  if (!first || !second || !target) return std::nullopt;
  out.first = *first;
  out.second = *second;
  out.out = *target;
  return out;
}

// The memory in which an instruction sets results to zero and adds products to them, and the loops
// that it does so in; 0: it does not.
std::pair<MemoryPtr, size_t> begun_by(const Proc& p) {
  const std::optional<Nest> nest = nest_of(p);
  if (!nest || nest->inside->size() != 2) return {};
  const Assign* zero = nest->inside->front()->as<Assign>();
  const For* sum = nest->inside->back()->as<For>();
  const Arg* arg = zero ? p.find_arg(zero->name) : nullptr;
  if (!sum || !arg || !is_own_memory(arg->mem) || !zero->rhs->as<Const>()) return {};
  return {arg->mem, nest->loops.size() + 1};
}

// What an instruction fills, when it copies: the memory, and how many tiles at once.
struct Transfer {
  MemoryPtr memory;
  ScalarType element = ScalarType::kI32;
  int64_t tiles = 1;
};

std::optional<Transfer> transfer_of(const Proc& p) {
  const std::optional<Nest> nest = nest_of(p);
  if (!nest || nest->inside->size() != 1) return std::nullopt;
  const Assign* a = nest->inside->front()->as<Assign>();
  const Read* from = a ? a->rhs->as<Read>() : nullptr;
  if (!from || from->idx.empty()) return std::nullopt;
  const Arg *to = p.find_arg(a->name), *source = p.find_arg(from->name);
  // From a memory that programs address into the device's own.
  if (!to || !source || !is_own_memory(to->mem) || is_own_memory(source->mem)) return std::nullopt;
  // One that repeats what it reads (a bias for all rows) brings no tile.
  for (const Sym iter : nest->iters)
    if (!mentions(a->rhs, iter)) return std::nullopt;
  Transfer out{to->mem, to->type.scalar, 1};
  // More dimensions than the source has: the first counts tiles.
  if (a->idx.size() > from->idx.size())
    if (const Read* r = a->idx.front()->as<Read>())
      for (size_t k = 0; k < nest->iters.size(); ++k)
        if (nest->iters[k] == r->name) out.tiles = nest->loops[k].most;
  return out;
}

// Loops in each other, at most.
size_t depth_of(const Block& block) {
  size_t most = 0;
  for (const StmtPtr& s : block)
    if (const For* f = s->as<For>()) most = std::max(most, 1 + depth_of(f->body));
  return most;
}

std::optional<PassInstruction> pass_of(const ProcPtr& p) {
  const std::optional<Nest> nest = nest_of(*p);
  // One statement alone is a copy.
  if (!nest || nest->inside->size() < 2) return std::nullopt;
  PassInstruction out{p, nest->loops, nullptr, ScalarType::kI32, depth_of(*nest->inside)};
  // A pass reads results in the device and writes one array outside.
  int elsewhere = 0;
  for (const Arg& a : p->args) {
    if (!is_data(a.type.scalar)) continue;
    if (!is_own_memory(a.mem)) {
      ++elsewhere;
      continue;
    }
    if (out.from) return std::nullopt;
    out.from = a.mem;
    out.element = a.type.scalar;
  }
  if (!out.from || elsewhere != 1) return std::nullopt;
  return out;
}

// Results that leave the device: more dimensions there than outside mean that the first counts
// tiles.
std::optional<TilesTaken> tiles_taken_by(const ProcPtr& proc) {
  const Proc& p = *proc;
  const std::optional<Nest> nest = nest_of(p);
  if (!nest || depth_of(*nest->inside) > 0) return std::nullopt;
  const Assign* to = nest->inside->back()->as<Assign>();
  const Arg* outside = to ? p.find_arg(to->name) : nullptr;
  if (!outside || is_own_memory(outside->mem)) return std::nullopt;
  std::optional<TilesTaken> out;
  for_each_expr(p.body, [&](const ExprPtr& e) {
    const Read* r = e->as<Read>();
    const Arg* arg = r && r->idx.size() >= to->idx.size() ? p.find_arg(r->name) : nullptr;
    if (!arg || !is_own_memory(arg->mem)) return;
    out = TilesTaken{proc, arg->mem, 1, p.instr ? p.instr->cost : 1};
    const Read* first = r->idx.front()->as<Read>();
    if (r->idx.size() == to->idx.size()) return;
    for (size_t k = 0; first && k < nest->iters.size(); ++k)
      if (nest->iters[k] == first->name && mentions(to->idx.back(), first->name))
        out->tiles = nest->loops[k].most;
  });
  return out;
}

void collect_configs(const ExprPtr& e, std::set<std::string>& into) {
  if (const ReadConfig* r = e->as<ReadConfig>()) into.insert(r->config->name);
  for (const ExprPtr& c : expr_children(*e)) collect_configs(c, into);
}

std::set<std::string> configs_asserted(const Proc& p) {
  std::set<std::string> out;
  for (const ExprPtr& a : p.asserts) collect_configs(a, out);
  return out;
}

// The structures that a procedure of nothing but settings writes; empty for any other.
std::set<std::string> configs_set(const Proc& p) {
  std::set<std::string> out;
  for (const StmtPtr& s : p.body) {
    const WriteConfig* w = s->as<WriteConfig>();
    if (!w) return {};
    out.insert(w->config->name);
  }
  return out;
}

bool writes_config(const Proc& p) {
  return std::any_of(p.body.begin(), p.body.end(),
                     [](const StmtPtr& s) { return s->writes_config; });
}

class Reader {
 public:
  explicit Reader(const Target& target) : instructions_(target.instructions()) {}

  DeviceInstructions run() {
    for (const ProcPtr& p : instructions_) {
      // Settings and work in one: no step could prove what holds afterwards.
      if (writes_config(*p) && configs_set(*p).empty()) continue;
      // An instruction that does nothing to data and takes nothing orders what is around it.
      if (p->args.empty() && p->body.size() == 1 && p->body.front()->as<Pass>()) {
        out_.fence = p;
        continue;
      }
      out_.usable.push_back(p);
      read_fields(*p);
      if (auto product = product_of(p)) out_.products.push_back(*product);
      if (auto transfer = transfer_of(*p)) add(p, *transfer);
      if (const auto taken = tiles_taken_by(p)) out_.taken.push_back(*taken);
      if (auto pass = pass_of(p)) out_.passes.push_back(std::move(*pass));
    }
    for (ProductInstruction& product : out_.products)
      for (const ProcPtr& p : out_.usable)
        if (begun_by(*p) == std::pair(product.out.memory, product.loops.size()))
          product.begins = true;
    // Each family with the instruction that makes its settings, so that replacing can insert it.
    for (TransferFamily& f : out_.families)
      for (const ProcPtr& p : out_.usable)
        if (const auto set = configs_set(*p); !set.empty() && set == settings_.at(key(f)))
          f.instructions.push_back(p);
    return std::move(out_);
  }

 private:
  static const Proc* key(const TransferFamily& f) { return f.instructions.front().get(); }

  void add(const ProcPtr& p, const Transfer& t) {
    const std::set<std::string> settings = configs_asserted(*p);
    for (TransferFamily& f : out_.families) {
      if (f.memory != t.memory || f.element != t.element || settings_.at(key(f)) != settings)
        continue;
      // The instruction of most tiles is tried first, one tile last.
      const bool first = t.tiles > f.tiles;
      f.instructions.insert(first ? f.instructions.begin() : f.instructions.end(), p);
      if (t.tiles < alone_.at(f.alone.get())) f.alone = p;
      alone_[p.get()] = t.tiles;
      f.tiles = std::max(f.tiles, t.tiles);
      settings_[key(f)] = settings;
      return;
    }
    out_.families.push_back({t.memory, t.element, {p}, t.tiles, p});
    alone_[p.get()] = t.tiles;
    settings_[p.get()] = settings;
  }

  void read_fields(const Proc& p) {
    for_each_expr(p.body, [&](const ExprPtr& e) { read_field(e); });
  }
  void read_field(const ExprPtr& e) {
    if (const ReadConfig* r = e->as<ReadConfig>()) {
      const bool known = std::any_of(out_.values.begin(), out_.values.end(), [&](const auto& f) {
        return f.config->name == r->config->name && f.name == r->field;
      });
      if (!known) out_.values.push_back({r->config, r->field, e->type});
    }
    for (const ExprPtr& c : expr_children(*e)) read_field(c);
  }

  std::vector<ProcPtr> instructions_;
  std::map<const Proc*, std::set<std::string>> settings_;
  std::map<const Proc*, int64_t> alone_;  // tiles that a transfer brings
  DeviceInstructions out_;
};

}  // namespace

int64_t DeviceInstructions::tiles_taken(const MemoryPtr& from) const {
  int64_t most = 1;
  for (const TilesTaken& t : taken)
    if (t.from == from) most = std::max(most, t.tiles);
  return most;
}

double DeviceInstructions::cost_of_leaving(const MemoryPtr& from, int64_t tiles) const {
  double least = 0;
  for (const TilesTaken& t : taken) {
    if (t.from != from) continue;
    const double each = t.cost / static_cast<double>(std::min(tiles, t.tiles));
    if (least == 0 || each < least) least = each;
  }
  return least;
}

DeviceInstructions read_instructions(const Target& target) {
  DeviceInstructions out = Reader(target).run();
  const auto order = target.parameters.find("memory_in_order");
  out.in_order = order != target.parameters.end() && order->second != 0;
  return out;
}

}  // namespace exotune
