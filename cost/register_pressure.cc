#include "cost/register_pressure.h"

#include <algorithm>
#include <vector>

namespace exotune {

namespace {

// Everything that the statement reads or writes, in what is inside it, too.
void collect_named(const StmtPtr& s, std::set<Sym>& into) {
  if (const Assign* a = s->as<Assign>()) into.insert(a->name);
  if (const Reduce* r = s->as<Reduce>()) into.insert(r->name);
  for (const ExprPtr& e : stmt_exprs(*s)) collect_symbols(e, into);
  for (const StmtPtr& inner : body_of(*s)) collect_named(inner, into);
  for (const StmtPtr& inner : orelse_of(*s)) collect_named(inner, into);
}

// Does an instruction's body write the whole formal before anything in it reads it?
bool overwrites(const Proc& instr, Sym formal) {
  bool writes = false, reads = false;
  const auto look = [&](const ExprPtr& e) { reads = reads || mentions(e, formal); };
  for_each_stmt(instr.body, [&](const StmtPtr& s) {
    // A guard keeps lanes that it does not reach.
    if (s->as<If>()) reads = true;
    if (const Reduce* r = s->as<Reduce>())
      reads = reads || r->name == formal || mentions(r->rhs, formal);
    if (const Assign* a = s->as<Assign>()) {
      writes = writes || a->name == formal;
      look(a->rhs);
    }
  });
  return writes && !reads;
}

// A call after which nothing is left of what the register held.
bool begins_anew(const StmtPtr& s, Sym name) {
  const Call* c = s->as<Call>();
  if (!c) return false;
  int met = 0;
  bool anew = false;
  for (size_t k = 0; k < c->args.size(); ++k) {
    if (!mentions(c->args[k], name)) continue;
    ++met;
    anew = overwrites(*c->callee, c->callee->args[k].name);
  }
  return met == 1 && anew;
}

// From the first to the last statement that needs what a register holds.
struct Span {
  size_t first = 0, last = 0;
};

// A register's values in the block, one after the other, or one through all of it, from before.
struct RegisterValues {
  std::vector<Span> spans;
  bool through = false;

  void used(size_t at, bool anew, bool from_outside) {
    if (through) return;
    if (spans.empty() && from_outside && !anew)
      through = true;
    else if (spans.empty() || anew)
      spans.push_back({at, at});
    else
      spans.back().last = at;
  }
};

}  // namespace

double register_pressure(const For& f, const std::map<Sym, double>& registers,
                         const std::set<Sym>& outside) {
  std::map<Sym, RegisterValues> values;
  for (size_t k = 0; k < f.body.size(); ++k) {
    if (f.body[k]->as<Alloc>()) continue;
    std::set<Sym> named;
    collect_named(f.body[k], named);
    for (const Sym name : named)
      if (const auto r = registers.find(name); r != registers.end() && r->second > 0)
        values[name].used(k, begins_anew(f.body[k], name), outside.count(name) > 0);
  }
  double through = 0;
  std::vector<double> at(f.body.size() + 1, 0);
  for (const auto& [name, held] : values) {
    const double count = registers.at(name);
    if (held.through) through += count;
    for (const Span& span : held.spans) {
      at[span.first] += count;
      at[span.last] -= count;
    }
  }
  double now = 0, most = 0;
  for (const double d : at) {
    now += d;
    most = std::max(most, now);
  }
  return through + most;
}

}  // namespace exotune
