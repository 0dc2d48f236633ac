// Compiling patterns to instructions and running them. The order of instructions follows egg's
// machine: subterms whose variables are all bound first (one look-up each), then those with the
// most free variables, then the smaller ones.
#include <algorithm>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/pattern.h"

namespace exotune::eqsat {

// The order is chosen once a pattern: what is cheapest to refuse comes first.
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

  // Sizes and free variables of subterms, for the order.
  void measure() {
    free_.clear();
    sizes_.clear();
    for (const Pattern::Node& n : pattern_->nodes) {
      std::set<Var> variables;
      if (n.variable >= 0) variables.insert(n.variable);
      int size = n.kind == Pattern::Kind::kVariable ? 0 : 1;
      for (const int child : n.children()) {
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
    if (free_now(now.node) == 0 && n.arity > 0) {
      Instruction lookup{.code = Code::kLookup, .in = now.reg};
      ground(now.node, lookup.term);
      emit(std::move(lookup));
      return;
    }
    bind_children(n, now.reg);
  }

  void bind_children(const Pattern::Node& n, int reg) {
    Instruction i{.in = reg, .out = next_, .arity = static_cast<int>(n.arity)};
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
    for (size_t k = 0; k < n.arity; ++k) todo(n.places[k], first_child + static_cast<int>(k));
  }

  // Terms without open variables are looked up in the table of nodes instead of matched: one probe
  // for a whole subterm.
  int ground(int i, std::vector<Ground>& term) {
    const Pattern::Node& n = node(i);
    Ground g;
    if (n.kind == Pattern::Kind::kVariable) {
      g.reg = register_of(n.variable);
    } else {
      for (size_t k = 0; k < n.arity; ++k) g.children[k] = ground(n.places[k], term);
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
  program_.push_back({.code = Code::kMatch});
  registers_ = compiler.registers();
  const Pattern::Node& root = patterns[0].pattern.nodes.back();
  rooted_ = root.kind != Pattern::Kind::kVariable;
  if (rooted_)
    root_family_ = root.kind == Pattern::Kind::kOperator ? family_of(root.op) : root.family;
}

void Matches::clear() {
  roots.clear();
  values.clear();
  known.clear();
  left_out = 0;
}

// Between rebuilds every id in the view leads its class, so registers are compared as they are.
// A stack machine without a stack: backtracking is recursion over the instructions, one level a
// bound class.
class Matcher::Machine {
 public:
  Machine(const Matcher& matcher, const EGraph& graph, size_t limit, const Known& known,
          Matches& found, const std::function<bool()>& keep_going)
      : matcher_(matcher),
        graph_(graph),
        view_(graph.view()),
        limit_(limit),
        known_(known),
        found_(found),
        keep_going_(keep_going),
        registers_(static_cast<size_t>(matcher.registers_)) {}

  // False: the limit is reached, or nobody wants more.
  bool run(Id root) {
    if (!go_on()) return false;
    root_ = root;
    registers_[0] = root;
    return step(matcher_.program_.data(), is_new(root));
  }

 private:
  uint32_t& reg(int i) { return registers_[static_cast<size_t>(i)]; }
  // Of several patterns one root may match as often as there are pairs of classes: so each class
  // that is tried as a root, and each match, counts.
  bool go_on() {
    constexpr size_t kAskEvery = 256;  // of them; as often as while matches are applied
    return ++counted_ % kAskEvery != 0 || !keep_going_ || keep_going_();
  }
  // Classes never come back, and those since have larger ids.
  bool is_new(Id leader) const { return leader >= known_.since.ids; }

  // `fresh`: something that is bound so far was not there before.
  bool step(const Instruction* i, bool fresh) {
    for (;; ++i) switch (i->code) {
        case Code::kBindOp:
        case Code::kBindFamily:
          return bind(*i, fresh);
        case Code::kCompare:
        case Code::kCompareOp:
          if (reg(i->in) != reg(i->out)) return true;
          break;
        case Code::kLookup:
          if (ground_class(i->term) != reg(i->in)) return true;
          fresh = fresh || ground_is_new(i->term);
          break;
        case Code::kScan:
          for (const Id id : view_.classes()) {
            reg(i->out) = id;
            if (!go_on() || !step(i + 1, fresh || is_new(id))) return false;
          }
          return true;
        case Code::kMatch:
          return note_match(fresh);
      }
  }

  // Nodes of a class are sorted by operator, so those of one operator are a range.
  bool bind(const Instruction& i, bool fresh) {
    const std::span<const ENode> nodes = view_.nodes(reg(i.in), i.family);
    const bool any = i.code == Code::kBindFamily;  // operator of the family
    const Op first = any ? i.family << kFamilyShift : i.op;
    const Op last = any ? first | ((Op{1} << kFamilyShift) - 1) : i.op;
    const ENode* node = nodes.data();
    const ENode* const end = node + nodes.size();
    if (nodes.size() > 8)
      node = std::lower_bound(node, end, first, [](const ENode& n, Op op) { return n.op < op; });
    else
      while (node != end && node->op < first) ++node;
    // A child that has to be a class known by now is asked for here: most nodes have another.
    const Instruction* next = &i + 1;
    const int child = next->code == Code::kCompare ? next->in - i.out : -1;
    const bool asks = child >= 0 && child < i.arity && next->out < i.out;
    const Id wanted = asks ? reg(next->out) : kNoId;
    if (asks) ++next;
    const bool matched = next->code == Code::kMatch;  // with any such node
    for (; node != end && node->op <= last; ++node) {
      if (asks && node->children[static_cast<size_t>(child)] != wanted) continue;
      // As many children as the pattern has: the next one is missing, the last one is not.
      if (i.arity < kMaxChildren && node->children[static_cast<size_t>(i.arity)] != kNoId) continue;
      if (i.arity > 0 && node->children[static_cast<size_t>(i.arity) - 1] == kNoId) continue;
      for (int k = 0; k < i.arity; ++k) reg(i.out + k) = node->children[static_cast<size_t>(k)];
      if (i.op_out >= 0) reg(i.op_out) = node->op;
      const bool now_fresh = fresh || view_.birth(*node) > known_.since.view;
      if (!(matched ? note_match(now_fresh) : step(next, now_fresh))) return false;
    }
    return true;
  }

  // The node of one part of a ground term; those of its children are in classes_.
  ENode ground_node(const Ground& g) {
    ENode node{g.op == kNoOp ? reg(g.reg) : g.op, {kNoId, kNoId, kNoId}};
    for (size_t k = 0; k < kMaxChildren && g.children[k] >= 0; ++k)
      node.children[k] = classes_[static_cast<size_t>(g.children[k])];
    return node;
  }

  static bool is_register(const Ground& g) { return g.op == kNoOp && g.children[0] < 0; }

  Id ground_class(const std::vector<Ground>& term) {
    classes_.clear();
    for (const Ground& g : term) {
      const Id id = is_register(g) ? reg(g.reg) : graph_.lookup(ground_node(g));
      if (id == kNoId) return kNoId;
      classes_.push_back(id);
    }
    return classes_.back();
  }

  // Asked where ground_class found the term. Nodes that the analysis dropped from the view count as
  // new: nobody knows since when.
  bool ground_is_new(const std::vector<Ground>& term) {
    for (size_t i = 0; i < term.size(); ++i) {
      if (is_register(term[i])) continue;
      const ENode node = ground_node(term[i]);
      const std::span<const ENode> nodes = view_.nodes(classes_[i]);
      const auto found = std::lower_bound(nodes.begin(), nodes.end(), node);
      if (found == nodes.end() || !(*found == node) || view_.birth(*found) > known_.since.view)
        return true;
    }
    return false;
  }

  // The limit is per rule: a rule that would flood the graph is noticed while it is searched.
  bool note_match(bool fresh) {
    if (!fresh && known_.leave_out) {
      ++found_.left_out;
    } else {
      found_.roots.push_back(root_);
      found_.known.push_back(!fresh);
      uint32_t* value = found_.values.extend(found_.stride);
      for (const int r : matcher_.register_of_) *value++ = r < 0 ? kNoId : reg(r);
    }
    return found_.found() < limit_ && go_on();
  }

  const Matcher& matcher_;
  const EGraph& graph_;
  const EGraphView& view_;
  const size_t limit_;
  const Known known_;
  Matches& found_;
  const std::function<bool()>& keep_going_;
  size_t counted_ = 0;
  std::vector<uint32_t> registers_;
  std::vector<Id> classes_;  // of a ground term, reused
  Id root_ = kNoId;
};

// Every class is a possible root. `known` lets a rule look only at what is new since its last
// search; without it the second iteration would find all of the first one's matches again.
void Matcher::search(const EGraph& graph, size_t limit, Matches& found, const Known& known,
                     const std::function<bool()>& keep_going) const {
  EXO_CHECK(graph.clean());
  found.stride = register_of_.size();
  if (limit == 0) return;
  Machine machine(*this, graph, limit, known, found, keep_going);
  for (const Id id : rooted_ ? graph.view().classes_with(root_family_) : graph.classes())
    if (!machine.run(id)) return;
}

}  // namespace exotune::eqsat
