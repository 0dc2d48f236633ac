#pragma once
// Patterns over e-graphs: text, compiled searching, and terms made from matches. Start at Pattern.
//
//   (dot (pair ?a ?b))        ?a and ?b stand for any class
//   (transpose[?p] ?a)        any operator of the family; ?p is bound to it
//   (transpose[1,0] ?a)       that operator only
//   (+ ?a 0)                  integers are operators of the family "num"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "search/eqsat/egraph.h"
#include "search/eqsat/flat_vector.h"

namespace exotune::eqsat {

using Var = int;

/// The variables of one rule, shared by its patterns, conditions and right side. Numbered in the
/// order of their first appearance, which is the order of Bindings.
class Variables {
 public:
  Var of(const std::string& name);          // made when it is new
  int find(const std::string& name) const;  // -1: none
  size_t size() const { return names_.size(); }
  const std::string& name(Var v) const { return names_[static_cast<size_t>(v)]; }

  /// What a variable stands for is settled by its first use; false for a use as the other.
  bool stands_for_class(Var v) { return settle(v, Kind::kClass); }
  bool stands_for_operator(Var v) { return settle(v, Kind::kOperator); }
  bool is_class(Var v) const { return kinds_[static_cast<size_t>(v)] == Kind::kClass; }
  bool is_operator(Var v) const { return kinds_[static_cast<size_t>(v)] == Kind::kOperator; }

 private:
  enum class Kind : uint8_t { kOpen, kClass, kOperator };
  bool settle(Var v, Kind kind) {
    Kind& known = kinds_[static_cast<size_t>(v)];
    if (known == Kind::kOpen) known = kind;
    return known == kind;
  }
  std::vector<std::string> names_;
  std::vector<Kind> kinds_;
};

/// Values of a rule's variables in one match: class ids, and operators for variables in brackets.
using Bindings = std::span<const uint32_t>;

/// A tree as an array, children before parents: instantiating is one pass forwards.
struct Pattern {
  enum class Kind : uint8_t { kVariable, kOperator, kFamily };
  struct Node {
    Kind kind = Kind::kVariable;  // says which of the next three count
    Var variable = -1;            // kVariable: bound to the class; kFamily: bound to the operator
    Op op = kNoOp;                // kOperator
    Family family = 0;            // kFamily
    std::array<int, kMaxChildren> places = {};  // of the children in `nodes`, the first `arity`
    size_t arity = 0;
    std::span<const int> children() const { return {places.data(), arity}; }
  };
  std::vector<Node> nodes;  // children first; the root is the last

  /// Throws InputError at `where` for text that is no pattern.
  static Pattern parse(std::string_view text, OpTable& ops, Variables& variables,
                       const std::string& where = "pattern");
  /// As it was written, up to spaces.
  std::string str(const OpTable& ops, const Variables& variables) const;
  /// Adds the pattern with its variables replaced; the id of its root (see EGraph::add).
  /// Every variable is bound; a kFamily node uses the operator its variable is bound to.
  Id instantiate(EGraph& graph, Bindings bindings) const;
};

/// A pattern compiled for being instantiated often: a compiled right side. Not for two threads at
/// once.
class Maker {
 public:
  /// Cost: linear in the pattern, which is not needed any more then.
  explicit Maker(const Pattern& pattern);
  /// As Pattern::instantiate.
  Id make(EGraph& graph, Bindings bindings);
  /// The same if the graph has every subterm but the whole already; else kNoId, and nothing is
  /// added.
  Id make_of_known(EGraph& graph, Bindings bindings);

 private:
  /// One operator of the pattern.
  struct Step {
    Op op = kNoOp;
    int op_place = -1;                          // of the operator, where a variable is bound to it
    std::array<uint32_t, kMaxChildren> places;  // of the children
  };
  void bind(Bindings bindings);
  ENode node_of(const Step& step) const;

  std::vector<Step> steps_;  // children first
  // In the match at hand: what the variables are bound to, then an id for each step, then kNoId.
  std::vector<Id> values_;
  size_t variables_ = 0;
  size_t root_ = 0;  // its place
};

/// A point in the life of a graph, to tell matches that were there from those that were not.
struct Moment {
  uint32_t view = 0;  // EGraphView::number
  Id ids = 0;         // EGraph::id_count
};

/// Matches of one rule: their roots, and `stride` values for each.
struct Matches {
  FlatVector<Id> roots;
  FlatVector<uint32_t> values;
  FlatVector<uint8_t> known;  // by match: whether it was there before
  size_t stride = 0;
  size_t left_out = 0;  // matches that were there before, counted and not among these

  size_t size() const { return roots.size(); }
  /// What a limit on matches, and a rule's backoff, count.
  size_t found() const { return size() + left_out; }
  /// Keeps the room: the same object serves every iteration.
  void clear();
  /// Of match `i`; valid until the next match is added.
  Bindings bindings(size_t i) const { return {values.data() + i * stride, stride}; }
  size_t bytes() const {
    return roots.capacity() * sizeof(Id) + values.capacity() * sizeof(uint32_t) + known.capacity();
  }
};

/// Several patterns that must match together, each rooted at a variable: a compiled left side. The
/// first pattern's root is the match's root. Instructions bind the nodes of a class one by one,
/// compare classes, or look a subterm up whose variables are all bound.
class Matcher {
 public:
  struct Rooted {
    Var root = -1;  // -1: nobody else asks for it
    Pattern pattern;
  };
  /// Compiles; `variables` is how many a match binds. Cost: linear in the patterns.
  Matcher(const std::vector<Rooted>& patterns, size_t variables);

  /// What to do with matches that were there at some moment: those of the same nodes in the same
  /// classes. Nothing was, before the first view.
  struct Known {
    Moment since;
    bool leave_out = false;  // count them only
  };
  /// Appends every match in the view of the last rebuild, at most `limit` in all (with those left
  /// out), classes ascending. `keep_going` is asked now and then; false ends the search early.
  void search(const EGraph& graph, size_t limit, Matches& found, const Known& known = {{}, false},
              const std::function<bool()>& keep_going = {}) const;

 private:
  enum class Code : uint8_t {
    kBindOp,      // each node of the class with this operator, in turn
    kBindFamily,  // each with an operator of this family
    kCompare,     // two registers are the same class
    kCompareOp,   // two registers are the same operator
    kLookup,      // the class of a term whose variables are all bound
    kScan,        // every class, for a pattern that nothing before it leads to
    kMatch,       // the end: what the registers hold is a match
  };
  struct Ground {  // a term whose leaves are registers
    Op op = kNoOp;
    int reg = -1;  // a register, when op is kNoOp
    std::array<int, kMaxChildren> children = {-1, -1, -1};
  };
  struct Instruction {
    Code code = Code::kCompare;
    int in = 0;   // the register looked at
    int out = 0;  // kBind: first register of the children; kCompare, kCompareOp: the other; kScan:
                  // the class
    int op_out = -1;  // kBindFamily: the register of the operator
    int arity = 0;
    Op op = kNoOp;
    Family family = 0;
    std::vector<Ground> term;  // kLookup, children first
  };
  /// The compiler and the machine are in matcher.cc: their types are nobody's business.
  class Compiler;
  class Machine;

  std::vector<Instruction> program_;  // run with backtracking: the next choice of the last kBind
  std::vector<int> register_of_;      // by variable
  int registers_ = 0;                 // how many a run needs
  bool rooted_ = false;               // the first instruction binds the root by family
  Family root_family_ = 0;
};

}  // namespace exotune::eqsat
