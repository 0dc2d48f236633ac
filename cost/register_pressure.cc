#include "cost/register_pressure.h"

#include <algorithm>
#include <vector>

namespace exotune {

namespace {

bool uses(const StmtPtr& s, Sym name) {
  return (s->bloom & name.bloom()) == name.bloom() && mentions(s, name);
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

// The register's values in the block, one after the other; nothing: it holds one through all of it,
// from before.
std::vector<Span> spans_of(const Block& body, Sym name, bool from_outside) {
  std::vector<Span> out;
  for (size_t k = 0; k < body.size(); ++k) {
    if (body[k]->as<Alloc>() || !uses(body[k], name)) continue;
    const bool anew = begins_anew(body[k], name);
    if (out.empty() && from_outside && !anew) return {};
    if (out.empty() || anew)
      out.push_back({k, k});
    else
      out.back().last = k;
  }
  return out;
}

}  // namespace

double register_pressure(const For& f, const std::map<Sym, double>& registers,
                         const std::set<Sym>& outside) {
  double through = 0;
  std::vector<double> at(f.body.size() + 1, 0);
  for (const auto& [name, count] : registers) {
    if (count == 0 || !mentions(f.body, name)) continue;
    const std::vector<Span> spans = spans_of(f.body, name, outside.count(name) > 0);
    if (spans.empty()) through += count;
    for (const Span& span : spans) {
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
