#include "core/ir/printer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "core/base/diagnostic.h"
#include "core/ir/callees.h"
#include "core/ir/canonical_names.h"

namespace exotune {

namespace {

// Gives every symbol the name it prints by: its own, or with a suffix when another symbol that is
// visible at its binder already has it.
// Printing must be the parser's inverse: names that would collide get numbers, in the order in
// which they are bound, so that equal programs print alike whatever their symbols' ids are.
class Names {
 public:
  explicit Names(bool canonical = false) : canonical_(canonical) {}

  const std::string& of(Sym s) {
    auto it = names_.find(s);
    if (it != names_.end()) return it->second;
    std::string name = canonical_ ? "v" + std::to_string(names_.size()) : s.name();
    if (!canonical_) {
      const std::string base = name;
      int& least = free_[base];
      while (used_.count(name = numbered(base, least))) ++least;
      used_.insert(name);
      visible_.push_back(name);
    }
    return names_.emplace(s, std::move(name)).first->second;
  }
  /// What was named since `mark` goes out of scope: others may take the names.
  size_t mark() const { return visible_.size(); }
  void release(size_t mark) {
    for (; visible_.size() > mark; visible_.pop_back()) {
      used_.erase(visible_.back());
      may_be_taken(visible_.back());
    }
  }
  const std::map<Sym, std::string>& all() const { return names_; }

 private:
  // `c_2` is number 2 of `c`, and number 0 of `c_2`.
  void may_be_taken(const std::string& name) {
    free_[name] = 0;
    const size_t end = name.find_last_not_of("0123456789");
    constexpr size_t kDigits = 9;  // more are no number of ours
    if (end == std::string::npos || name[end] != '_' || end + 1 == name.size() ||
        name.size() - end > kDigits)
      return;
    if (const auto it = free_.find(name.substr(0, end)); it != free_.end())
      it->second = std::min(it->second, std::stoi(name.substr(end + 1)));
  }
  static std::string numbered(const std::string& base, int k) {
    return k == 0 ? base : base + "_" + std::to_string(k);
  }

  bool canonical_;
  std::map<Sym, std::string> names_;
  std::set<std::string> used_;
  std::vector<std::string> visible_;  // the elements of used_, in order of binding
  std::map<std::string, int> free_;   // by name: each smaller number of it is in use
};

// As Python's: what prints without parentheses parses to the same tree.
int precedence(BinOpKind op) {
  switch (op) {
    case BinOpKind::kOr:
      return 1;
    case BinOpKind::kAnd:
      return 2;
    case BinOpKind::kLt:
    case BinOpKind::kGt:
    case BinOpKind::kLe:
    case BinOpKind::kGe:
    case BinOpKind::kEq:
    case BinOpKind::kNe:
      return 4;
    case BinOpKind::kAdd:
    case BinOpKind::kSub:
      return 5;
    case BinOpKind::kMul:
    case BinOpKind::kDiv:
    case BinOpKind::kMod:
      return 6;
  }
  return 0;
}
constexpr int kNotPrecedence = 3;
constexpr int kUnaryPrecedence = 7;

// The shortest decimal that reads back to exactly `d`, always with a point or exponent.
std::string number(double d) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, d).ptr;
  std::string out(buffer, end);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

class Printer {
 public:
  /// `points`: integers of data are `3.0`, as floating numbers are: where their text alone must say
  /// that they are data.
  explicit Printer(Names& names, bool points = false) : names_(names), points_(points) {}

  std::string text(const ExprPtr& e, int outer = 0) {
    struct Visitor {
      Printer& p;
      const Expr& e;
      int outer;
      std::string operator()(const Read& n) {
        return n.idx.empty() ? p.names_.of(n.name)
                             : p.names_.of(n.name) + "[" + p.list(n.idx) + "]";
      }
      std::string operator()(const Const& n) {
        if (auto* b = std::get_if<bool>(&n.value)) return *b ? "True" : "False";
        std::string out;
        constexpr int64_t kExact = int64_t{1} << 53;
        const bool whole = is_data(e.type) && !is_float(e.type) && !p.points_;
        if (auto* i = std::get_if<int64_t>(&n.value)) {
          out = std::to_string(*i);
          // Beyond it the parser keeps an integer as it is.
          if (is_data(e.type) && !whole && -kExact <= *i && *i <= kExact) out += ".0";
        } else {
          const double d = std::get<double>(n.value);
          const bool integer =
              whole && d == std::trunc(d) && std::fabs(d) <= kExact && !(d == 0 && std::signbit(d));
          out = integer ? std::to_string(static_cast<int64_t>(d)) : number(d);
        }
        return out[0] == '-' && outer > kUnaryPrecedence - 1 ? "(" + out + ")" : out;
      }
      std::string operator()(const USub& n) {
        // -(4) is a negation, -4 a constant.
        std::string arg = p.text(n.arg, kUnaryPrecedence + 1);
        if (n.arg->as<Const>() && arg[0] != '(') arg = "(" + arg + ")";
        return p.wrapped("-" + arg, outer > kUnaryPrecedence);
      }
      std::string operator()(const Not& n) {
        return p.wrapped("not " + p.text(n.arg, kNotPrecedence), outer > kNotPrecedence);
      }
      std::string operator()(const BinOp& n) {
        int mine = precedence(n.op);
        // Left-associative; comparisons must not chain.
        int left = is_comparison(n.op) ? mine + 1 : mine;
        // Symbols that no statement binds are named at their first mention: which side comes first
        // must not be left to the compiler of this file.
        const std::string right = p.text(n.rhs, mine + 1);
        return p.wrapped(p.text(n.lhs, left) + " " + name_of(n.op) + " " + right, outer > mine);
      }
      std::string operator()(const Extern& n) { return n.fn + "(" + p.list(n.args) + ")"; }
      std::string operator()(const WindowExpr& n) {
        std::string out = p.names_.of(n.name) + "[";
        for (size_t k = 0; k < n.access.size(); ++k) {
          if (k) out += ", ";
          out += p.text(n.access[k].lo);
          if (n.access[k].hi) out += ":" + p.text(n.access[k].hi);
        }
        return out + "]";
      }
      std::string operator()(const StrideExpr& n) {
        return "stride(" + p.names_.of(n.name) + ", " + std::to_string(n.dim) + ")";
      }
      std::string operator()(const ReadConfig& n) { return n.config->name + "." + n.field; }
      std::string operator()(const Cast& n) {
        return std::string(name_of(e.type)) + "(" + p.text(n.arg) + ")";
      }
    };
    return std::visit(Visitor{*this, *e, outer}, e->node);
  }

  std::string text(const Type& t) {
    std::string out = name_of(t.scalar);
    if (t.window) out = "[" + out + "]";
    return t.shape.empty() ? out : out + "[" + list(t.shape) + "]";
  }

  void block(const Block& b, int indent) {
    size_t mark = names_.mark();
    for (const StmtPtr& s : b) stmt(*s, indent);
    if (scoped_) names_.release(mark);
  }

  void stmt(const Stmt& s, int indent) {
    struct Visitor {
      Printer& p;
      int indent;
      std::string target(Sym name, const std::vector<ExprPtr>& idx) {
        return idx.empty() ? p.names_.of(name) : p.names_.of(name) + "[" + p.list(idx) + "]";
      }
      void operator()(const Assign& n) {
        const std::string rhs = p.text(n.rhs);  // first, as in a sum
        p.line(indent, target(n.name, n.idx) + " = " + rhs);
      }
      void operator()(const Reduce& n) {
        const std::string rhs = p.text(n.rhs);
        p.line(indent, target(n.name, n.idx) + " " + name_of(n.op) + " " + rhs);
      }
      void operator()(const WriteConfig& n) {
        p.line(indent, n.config->name + "." + n.field + " = " + p.text(n.rhs));
      }
      void operator()(const Pass&) { p.line(indent, "pass"); }
      void operator()(const If& n) {
        p.line(indent, "if " + p.text(n.cond) + ":");
        p.block(n.body, indent + 1);
        // `elif`, so that long chains do not drift to the right. Nothing is bound between the ifs.
        const Block* rest = &n.orelse;
        while (rest->size() == 1 && rest->front()->as<If>()) {
          const If& next = *rest->front()->as<If>();
          p.line(indent, "elif " + p.text(next.cond) + ":");
          p.block(next.body, indent + 1);
          rest = &next.orelse;
        }
        if (rest->empty()) return;
        p.line(indent, "else:");
        p.block(*rest, indent + 1);
      }
      void operator()(const For& n) {
        std::string lo = p.text(n.lo), hi = p.text(n.hi);
        size_t mark = p.names_.mark();
        p.line(indent, "for " + p.names_.of(n.iter) + " in " +
                           (n.mode == LoopMode::kPar ? "par" : "seq") + "(" + lo + ", " + hi +
                           "):");
        p.block(n.body, indent + 1);
        if (p.scoped_) p.names_.release(mark);
      }
      void operator()(const Alloc& n) {
        std::string type = p.text(n.type);
        p.line(indent, p.names_.of(n.name) + " : " + type + " @ " + n.mem->name);
      }
      void operator()(const Call& n) {
        p.line(indent, n.callee->name + "(" + p.list(n.args) + ")");
      }
      void operator()(const WindowStmt& n) {
        std::string rhs = p.text(n.rhs);
        p.line(indent, p.names_.of(n.name) + " = " + rhs);
      }
    };
    std::visit(Visitor{*this, indent}, s.node);
  }

  void line(int indent, const std::string& text) {
    out_.append(static_cast<size_t>(indent) * 4, ' ');
    out_ += text;
    out_ += '\n';
  }

  // `canonical` leaves out the procedure's name and what it is as an instruction, which do not
  // change its meaning: for hashes of stored records.
  void proc(const Proc& p, bool canonical) {
    scoped_ = true;
    if (p.instr && !canonical) {
      line(0, "@instr(" + quoted(p.instr->c_template) +
                  (p.instr->c_global.empty() ? "" : ", " + quoted(p.instr->c_global)) +
                  ", cost = " + number(p.instr->cost) + ")");
    } else {
      line(0, "@proc");
    }
    std::string head = "def " + (canonical ? "_" : p.name) + "(";
    for (size_t k = 0; k < p.args.size(); ++k) names_.of(p.args[k].name);
    for (size_t k = 0; k < p.args.size(); ++k) {
      const Arg& a = p.args[k];
      if (k) head += ", ";
      head += names_.of(a.name) + ": " + text(a.type);
      if (is_data(a.type.scalar)) head += " @ " + a.mem->name;
    }
    line(0, head + "):");
    for (const ExprPtr& e : p.asserts) line(1, "assert " + text(e));
    if (p.body.empty()) line(1, "pass");
    block(p.body, 1);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string list(const std::vector<ExprPtr>& es) {
    std::string out;
    for (size_t k = 0; k < es.size(); ++k) out += (k ? ", " : "") + text(es[k]);
    return out;
  }
  static std::string wrapped(std::string s, bool parens) { return parens ? "(" + s + ")" : s; }
  static std::string quoted(const std::string& s) {
    std::string out = "\"";
    for (char c : s) {
      if (c == '\n') {
        out += "\\n";
        continue;
      }
      if (c == '\t') {
        out += "\\t";
        continue;
      }
      if (c == '\r') {
        out += "\\r";
        continue;
      }
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  }

  Names& names_;
  bool points_;
  bool scoped_ = false;  // a whole proc: every symbol is met at its binder first
  std::string out_;
};

}  // namespace

std::string str(const Proc& p) {
  Names names;
  Printer printer(names);
  printer.proc(p, false);
  return printer.take();
}

std::string str(const Proc& p, const Block& part, int indent) {
  // Number names as the whole proc does, so that the part reads like an excerpt of it.
  Names names;
  Printer(names).proc(p, false);
  Printer printer(names);
  printer.block(part, indent);
  return printer.take();
}

std::string str(const ExprPtr& e) {
  Names names;
  return Printer(names).text(e);
}

namespace {

// "c" of "c", "c_1" and "c_1_2": who has another stem never has the name of one of these.
std::string_view stem_of(std::string_view name) {
  for (;;) {
    const size_t end = name.find_last_not_of("0123456789");
    if (end == std::string::npos || end == 0 || name[end] != '_' || end + 1 == name.size())
      return name;
    name = name.substr(0, end);
  }
}

}  // namespace

// Of a variable alone, which is asked for often, only those are named that could have its name.
std::string str(const ExprPtr& e, const std::vector<ScopeEntry>& scope) {
  const Read* alone = e->as<Read>();
  if (alone && !alone->idx.empty()) alone = nullptr;
  const std::string own = alone ? alone->name.name() : "";
  Names names;
  for (const ScopeEntry& entry : scope)
    if (!alone || stem_of(entry.name.name()) == stem_of(own)) names.of(entry.name);
  return Printer(names, /*points=*/true).text(e);
}

std::string str(const StmtPtr& s) {
  Names names;
  Printer printer(names);
  printer.stmt(*s, 0);
  return printer.take();
}

std::string str(const Type& t) {
  Names names;
  return Printer(names).text(t);
}

std::string str(const Memory& m) { return m.name; }
std::string str(const Config& c) { return c.name; }

std::map<Sym, std::string> printed_names(const Proc& p) {
  Names names;
  Printer(names).proc(p, false);
  return names.all();
}

namespace {

// A proc and, where a call of it comes first, each callee; later calls are numbers of those. What a
// call means is its callee's body, and equal bodies are one callee whatever their objects.
// For content hashes: two programs with equal texts compute the same.
class CanonicalTexts {
 public:
  explicit CanonicalTexts(const Proc& p) {
    for (const ProcPtr& callee : procs_called(p)) number(*callee);
  }

  std::string of(const Proc& p) {
    std::string out = alone(p);
    for_each_stmt(p.body, [&](const StmtPtr& s) {
      const Call* c = s->as<Call>();
      if (!c) return;
      const size_t callee = numbers_.at(c->callee.get());
      const auto [place, first] = shown_.emplace(callee, shown_.size());
      out += first ? of(*c->callee) : "#" + std::to_string(place->second) + "\n";
    });
    return out;
  }

 private:
  static std::string alone(const Proc& p) {
    Names names(/*canonical=*/true);
    Printer printer(names, /*points=*/true);  // as records have it that are stored
    printer.proc(p, true);
    return printer.take();
  }
  // Callees come before their callers.
  void number(const Proc& p) {
    std::string text = alone(p);
    for_each_stmt(p.body, [&](const StmtPtr& s) {
      if (const Call* c = s->as<Call>())
        text += "#" + std::to_string(numbers_.at(c->callee.get())) + "\n";
    });
    numbers_[&p] = known_.emplace(std::move(text), known_.size()).first->second;
  }

  std::map<const Proc*, size_t> numbers_;
  std::map<std::string, size_t> known_;
  std::map<size_t, size_t> shown_;
};

}  // namespace

std::string canonical_text(const Proc& p) { return CanonicalTexts(p).of(p); }

std::vector<std::string> canonical_names(const Proc& p) {
  Names numbered(/*canonical=*/true);
  Printer(numbered).proc(p, true);
  const std::map<Sym, std::string> printed = printed_names(p);
  std::vector<std::string> out(numbered.all().size());
  for (const auto& [symbol, number] : numbered.all())
    out[static_cast<size_t>(std::stoul(number.substr(1)))] = printed.at(symbol);
  return out;
}

}  // namespace exotune
