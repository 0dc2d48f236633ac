// The last tier: quantifier-free linear integer arithmetic for Z3. Effort is limited by rlimit, a
// count of solver steps, so the same question has the same answer on every machine.
#include <unistd.h>
#include <z3++.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "core/analysis/queries.h"
#include "core/analysis/solver.h"
#include "core/base/hashing.h"

namespace exotune {
namespace {

// Steps of the solver, not seconds: what it does not decide within them is refused, on a slow
// machine as on a fast one.
constexpr unsigned kResourceLimit = 3'000'000;

struct ProofsDirectory {
  std::mutex mutex;
  std::string path;
  std::atomic<bool> on{false}, every_tier{false};
};
ProofsDirectory& proofs() {
  static ProofsDirectory d;
  return d;
}

// Formulas as Z3's terms. Variables by number: the same question gives the same terms in the same
// order, on which Z3's steps, and so its limit, depend.
class Builder {
 public:
  explicit Builder(z3::context& c) : context_(c) {}

  z3::expr of(const Constraint& c) {
    z3::expr_vector terms(context_);
    for (const Lin::Term& t : c.lin.terms)
      terms.push_back(context_.int_val(t.coeff) * variable(t.var));
    terms.push_back(context_.int_val(c.lin.constant));
    z3::expr sum = z3::sum(terms);
    return c.equality ? sum == 0 : sum >= 0;
  }
  z3::expr of(const Formula& f) {
    switch (f.kind) {
      case Formula::Kind::kTrue:
        return context_.bool_val(true);
      case Formula::Kind::kFalse:
        return context_.bool_val(false);
      case Formula::Kind::kAtom:
        return of(f.atom);
      case Formula::Kind::kAnd:
      case Formula::Kind::kOr: {
        z3::expr_vector kids(context_);
        for (const Formula& kid : f.kids) kids.push_back(of(kid));
        return f.kind == Formula::Kind::kAnd ? z3::mk_and(kids) : z3::mk_or(kids);
      }
    }
    return context_.bool_val(true);
  }
  z3::expr variable(int v) {
    seen_.insert(v);
    return context_.int_const(("v" + std::to_string(v)).c_str());
  }
  const std::set<int>& seen() const { return seen_; }

 private:
  z3::context& context_;
  std::set<int> seen_;
};

// Making a context costs more than most questions; Z3 allows one thread in each.
z3::context& thread_context() {
  thread_local z3::context context;
  return context;
}

// SMT-LIB has no negative literals, and the least int64_t has no positive counterpart.
void write_int(std::ostream& out, int64_t v) {
  if (v < 0) {
    out << "(- " << static_cast<uint64_t>(-(v + 1)) + 1 << ")";
  } else {
    out << v;
  }
}

void write(std::ostream& out, const Constraint& c) {
  out << (c.equality ? "(= " : "(>= ") << (c.lin.terms.empty() ? "" : "(+ ");
  write_int(out, c.lin.constant);
  for (const Lin::Term& t : c.lin.terms) {
    out << " (* ";
    write_int(out, t.coeff);
    out << " v" << t.var << ")";
  }
  out << (c.lin.terms.empty() ? " 0)" : ") 0)");
}

void write(std::ostream& out, const Formula& f) {
  switch (f.kind) {
    case Formula::Kind::kTrue:
      out << "true";
      return;
    case Formula::Kind::kFalse:
      out << "false";
      return;
    case Formula::Kind::kAtom:
      write(out, f.atom);
      return;
    case Formula::Kind::kAnd:
    case Formula::Kind::kOr:
      out << (f.kind == Formula::Kind::kAnd ? "(and" : "(or");
      for (const Formula& kid : f.kids) {
        out << " ";
        write(out, kid);
      }
      out << ")";
      return;
  }
}

// One file a question, by its content: asked again it is the same file. Failure to write is silent,
// since the records are for an audit and no part of the answer.
void write_proof(const std::string& text, Feasible verdict) {
  std::string directory;
  {
    std::lock_guard lock(proofs().mutex);
    directory = proofs().path;
  }
  if (directory.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  const char* status = verdict == Feasible::kNo    ? "unsat"
                       : verdict == Feasible::kYes ? "sat"
                                                   : "unknown";
  const std::string name = content_hash(text);
  const std::string path = directory + "/" + name + ".smt2";
  // Unique per thread and process: published by rename.
  std::ostringstream unique;
  unique << path << "." << getpid() << "." << &directory << ".part";
  {
    std::ofstream file(unique.str());
    file << "(set-info :status " << status << ")\n" << text;
  }
  std::filesystem::rename(unique.str(), path, ignored);
}

}  // namespace

std::string solver_internal::smt_text(std::span<const Constraint> facts,
                                      std::span<const Formula> disjunctions,
                                      const Formula& question) {
  std::set<int> variables;
  auto note = [&](const Constraint& c) {
    for (const Lin::Term& t : c.lin.terms) variables.insert(t.var);
  };
  for (const Constraint& c : facts) note(c);
  for (const Formula& f : disjunctions) for_each_atom(f, note);
  for_each_atom(question, note);
  std::ostringstream out;
  out << "; unsat: the facts imply what was asked\n(set-logic QF_LIA)\n";
  for (int v : variables) out << "(declare-const v" << v << " Int)\n";
  for (const Constraint& c : facts) {
    out << "(assert ";
    write(out, c);
    out << ")\n";
  }
  for (const Formula& f : disjunctions) {
    out << "(assert ";
    write(out, f);
    out << ")\n";
  }
  out << "(assert ";
  write(out, question);
  out << ")\n(check-sat)\n";
  return out.str();
}

Decision solver_internal::decide_smt(std::span<const Constraint> facts,
                                     std::span<const Formula> disjunctions, const Formula& question,
                                     int variables, std::span<const uint8_t> sizes) {
  Decision out;
  try {
    z3::context& context = thread_context();
    z3::solver solver(context, "QF_LIA");
    z3::params params(context);
    params.set("rlimit", kResourceLimit);
    params.set("random_seed", 0u);
    params.set("ctrl_c", false);  // else Z3 takes over the process's SIGINT, from any thread
    solver.set(params);
    Builder builder(context);
    for (const Constraint& c : facts) solver.add(builder.of(c));
    for (const Formula& f : disjunctions) solver.add(builder.of(f));
    solver.add(builder.of(question));
    z3::check_result result = solver.check();
    if (result == z3::unsat) out.feasible = Feasible::kNo;
    if (result == z3::sat) {
      z3::model model = solver.get_model();
      // A small counter-example reads better: look for one with small sizes first.
      for (int bound : {2, 8, 32}) {
        solver.push();
        for (int v : builder.seen())
          if (static_cast<size_t>(v) < sizes.size() && sizes[v])
            solver.add(builder.variable(v) <= bound);
        const bool found = solver.check() == z3::sat;
        if (found) model = solver.get_model();
        solver.pop();
        if (found) break;
      }
      out.model.assign(variables, 0);
      bool fits = true;
      for (int v : builder.seen()) {
        z3::expr value = model.eval(builder.variable(v), true);
        fits &= value.is_numeral_i64(out.model[v]);
      }
      // Trust, but check: a model must satisfy the question as we wrote it.
      for (const Constraint& c : facts) fits &= holds(c, out.model);
      for (const Formula& f : disjunctions) fits &= holds(f, out.model);
      fits &= holds(question, out.model);
      if (fits) {
        out.feasible = Feasible::kYes;
      } else {
        out.model.clear();
      }
    }
  } catch (const z3::exception&) {
    out = {};  // unknown, and therefore a refusal
  }
  return out;
}

void solver_internal::record(std::span<const Constraint> facts,
                             std::span<const Formula> disjunctions, const Formula& question,
                             Feasible verdict, bool smt_tier) {
  if (!proofs().on || (!smt_tier && !proofs().every_tier)) return;
  write_proof(smt_text(facts, disjunctions, question), verdict);
}

void set_proofs_directory(const std::string& directory, bool every_tier) {
  std::lock_guard lock(proofs().mutex);
  proofs().path = directory;
  proofs().every_tier = every_tier;
  proofs().on = !directory.empty();
}

}  // namespace exotune
