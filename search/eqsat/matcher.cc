// Compiling patterns to instructions and running them. The order of instructions follows egg's
// machine: subterms whose variables are all bound first (one look-up each), then those with the
// most free variables, then the smaller ones.
#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

class Matcher::Compiler {
 public:
  Compiler(Matcher& out, size_t variables) : out_(out) { out_.register_of_.assign(variables, -1); }

  void compile(const Rooted& rooted, bool first) {
    pattern_ = &rooted.pattern;
    measure();
    const int root = static_cast<int>(pattern_->nodes.size()) - 1;
    int reg = 0;
    if (!first && rooted.root >= 0 && bound(rooted.root)) {
      reg = register_of(rooted.root);
    } else {
      reg = fresh();
      if (!first) emit({.code = Code::kScan, .out = reg});
      if (rooted.root >= 0) bind(rooted.root, reg);
    }
    todo(root, reg);
    while (!todo_.empty()) step();
  }

  int registers() const { return next_; }

 private:
  struct Todo {
    int node;
    int reg;
  };

  bool bound(Var v) const { return out_.register_of_[static_cast<size_t>(v)] >= 0; }
  int register_of(Var v) const { return out_.register_of_[static_cast<size_t>(v)]; }
  void bind(Var v, int reg) { out_.register_of_[static_cast<size_t>(v)] = reg; }
  int fresh() { return next_++; }
  void emit(Instruction i) { out_.program_.push_back(std::move(i)); }
  const Pattern::Node& node(int i) const { return pattern_->nodes[static_cast<size_t>(i)]; }

  void measure() {
    free_.clear();
    sizes_.clear();
    for (const Pattern::Node& n : pattern_->nodes) {
      std::set<Var> variables;
      if (n.variable >= 0) variables.insert(n.variable);
      int size = n.kind == Pattern::Kind::kVariable ? 0 : 1;
      for (const int child : n.children) {
        variables.insert(free_[static_cast<size_t>(child)].begin(),
                         free_[static_cast<size_t>(child)].end());
        size += sizes_[static_cast<size_t>(child)];
      }
      free_.push_back(std::move(variables));
      sizes_.push_back(size);
    }
  }

  void todo(int i, int reg) {
    const Pattern::Node& n = node(i);
    if (n.kind != Pattern::Kind::kVariable) {
      todo_.push_back({i, reg});
    } else if (bound(n.variable)) {
      emit({.code = Code::kCompare, .in = reg, .out = register_of(n.variable)});
    } else {
      bind(n.variable, reg);
    }
  }

  int free_now(int i) const {
    const std::set<Var>& all = free_[static_cast<size_t>(i)];
    return static_cast<int>(
        std::count_if(all.begin(), all.end(), [this](Var v) { return !bound(v); }));
  }

  void step() {
    const auto better = [this](const Todo& a, const Todo& b) {
      const int fa = free_now(a.node), fb = free_now(b.node);
      if ((fa == 0) != (fb == 0)) return fb == 0;
      if (fa != fb) return fa < fb;
      return sizes_[static_cast<size_t>(a.node)] > sizes_[static_cast<size_t>(b.node)];
    };
    const auto best = std::max_element(todo_.begin(), todo_.end(), better);
    const Todo now = *best;
    todo_.erase(best);
    const Pattern::Node& n = node(now.node);
    if (free_now(now.node) == 0 && !n.children.empty()) {
      Instruction lookup{.code = Code::kLookup, .in = now.reg};
      ground(now.node, lookup.term);
      emit(std::move(lookup));
      return;
    }
    bind_children(n, now.reg);
  }

  void bind_children(const Pattern::Node& n, int reg) {
    Instruction i{.in = reg, .out = next_, .arity = static_cast<int>(n.children.size())};
    next_ += i.arity;
    if (n.kind == Pattern::Kind::kOperator) {
      i.code = Code::kBindOp;
      i.op = n.op;
      i.family = family_of(n.op);
    } else {
      i.code = Code::kBindFamily;
      i.family = n.family;
      i.op_out = fresh();
    }
    const int first_child = i.out, op_register = i.op_out;
    emit(std::move(i));
    if (op_register >= 0) {
      if (bound(n.variable))
        emit({.code = Code::kCompareOp, .in = op_register, .out = register_of(n.variable)});
      else
        bind(n.variable, op_register);
    }
    for (size_t k = 0; k < n.children.size(); ++k)
      todo(n.children[k], first_child + static_cast<int>(k));
  }

  int ground(int i, std::vector<Ground>& term) {
    const Pattern::Node& n = node(i);
    Ground g;
    if (n.kind == Pattern::Kind::kVariable) {
      g.reg = register_of(n.variable);
    } else {
      for (size_t k = 0; k < n.children.size(); ++k) g.children[k] = ground(n.children[k], term);
      g.op = n.op;
      if (n.kind == Pattern::Kind::kFamily) g.reg = register_of(n.variable);
    }
    term.push_back(g);
    return static_cast<int>(term.size()) - 1;
  }

  Matcher& out_;
  const Pattern* pattern_ = nullptr;
  std::vector<std::set<Var>> free_;
  std::vector<int> sizes_;
  std::vector<Todo> todo_;
  int next_ = 0;
};

Matcher::Matcher(const std::vector<Rooted>& patterns, size_t variables) {
  EXO_CHECK(!patterns.empty());
  Compiler compiler(*this, variables);
  for (size_t i = 0; i < patterns.size(); ++i) compiler.compile(patterns[i], i == 0);
  registers_ = compiler.registers();
  const Pattern::Node& root = patterns[0].pattern.nodes.back();
  rooted_ = root.kind != Pattern::Kind::kVariable;
  if (rooted_)
    root_family_ = root.kind == Pattern::Kind::kOperator ? family_of(root.op) : root.family;
}

class Matcher::Machine {
 public:
  Machine(const Matcher& matcher, const EGraph& graph, size_t limit, Matches& found)
      : matcher_(matcher),
        graph_(graph),
        limit_(limit),
        found_(found),
        registers_(static_cast<size_t>(matcher.registers_)) {}

  // False: the limit is reached.
  bool run(Id root) {
    root_ = root;
    registers_[0] = root;
    return step(0);
  }

 private:
  uint32_t& reg(int i) { return registers_[static_cast<size_t>(i)]; }

  bool step(size_t pc) {
    for (; pc < matcher_.program_.size(); ++pc) {
      const Instruction& i = matcher_.program_[pc];
      switch (i.code) {
        case Code::kBindOp:
        case Code::kBindFamily:
          return bind(i, pc);
        case Code::kCompare:
          if (graph_.find(reg(i.in)) != graph_.find(reg(i.out))) return true;
          break;
        case Code::kCompareOp:
          if (reg(i.in) != reg(i.out)) return true;
          break;
        case Code::kLookup:
          if (ground_class(i.term) != graph_.find(reg(i.in))) return true;
          break;
        case Code::kScan:
          for (const Id id : graph_.classes()) {
            reg(i.out) = id;
            if (!step(pc + 1)) return false;
          }
          return true;
      }
    }
    return note_match();
  }

  bool bind(const Instruction& i, size_t pc) {
    const std::span<const ENode> nodes = graph_.nodes(reg(i.in));
    const Op first = i.code == Code::kBindOp ? i.op : i.family << kFamilyShift;
    const ENode* node = nodes.data();
    const ENode* const end = node + nodes.size();
    if (nodes.size() > 8)
      node = std::lower_bound(node, end, first, [](const ENode& n, Op op) { return n.op < op; });
    else
      while (node != end && node->op < first) ++node;
    for (; node != end; ++node) {
      if (i.code == Code::kBindOp ? node->op != i.op : family_of(node->op) != i.family) break;
      // As many children as the pattern has: the next one is missing, the last one is not.
      if (i.arity < kMaxChildren && node->children[static_cast<size_t>(i.arity)] != kNoId) continue;
      if (i.arity > 0 && node->children[static_cast<size_t>(i.arity) - 1] == kNoId) continue;
      for (int k = 0; k < i.arity; ++k) reg(i.out + k) = node->children[static_cast<size_t>(k)];
      if (i.op_out >= 0) reg(i.op_out) = node->op;
      if (!step(pc + 1)) return false;
    }
    return true;
  }

  Id ground_class(const std::vector<Ground>& term) {
    classes_.clear();
    for (const Ground& g : term) {
      if (g.op == kNoOp && g.children[0] < 0) {
        classes_.push_back(graph_.find(reg(g.reg)));
        continue;
      }
      ENode node{g.op == kNoOp ? reg(g.reg) : g.op, {kNoId, kNoId, kNoId}};
      for (size_t k = 0; k < kMaxChildren && g.children[k] >= 0; ++k)
        node.children[k] = classes_[static_cast<size_t>(g.children[k])];
      const Id id = graph_.lookup(node);
      if (id == kNoId) return kNoId;
      classes_.push_back(id);
    }
    return classes_.back();
  }

  bool note_match() {
    found_.roots.push_back(root_);
    for (const int r : matcher_.register_of_) found_.values.push_back(r < 0 ? kNoId : reg(r));
    return found_.roots.size() < limit_;
  }

  const Matcher& matcher_;
  const EGraph& graph_;
  const size_t limit_;
  Matches& found_;
  std::vector<uint32_t> registers_;
  std::vector<Id> classes_;  // of a ground term, reused
  Id root_ = kNoId;
};

void Matcher::search(const EGraph& graph, size_t limit, Matches& found,
                     const std::function<bool()>& keep_going) const {
  EXO_CHECK(graph.clean());
  constexpr size_t kAskEvery = 64;  // classes
  found.stride = register_of_.size();
  if (limit == 0) return;
  Machine machine(*this, graph, limit, found);
  size_t asked = 0;
  for (const Id id : rooted_ ? graph.classes_with(root_family_) : graph.classes()) {
    if (keep_going && ++asked % kAskEvery == 0 && !keep_going()) return;
    if (!machine.run(id)) return;
  }
}

}  // namespace exotune::eqsat
