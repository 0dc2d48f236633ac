#include "tests/fuzz/entry_points.h"

#include <stdexcept>

#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/script.h"
#include "tests/core/frontend/samples.h"

namespace exotune::fuzz {
namespace {

template <class F>
bool only_errors(F f) {
  try {
    f();
    return true;
  } catch (const InternalError& e) {
    throw std::logic_error(e.what());
  } catch (const Error& e) {
    e.diagnostic().str();  // notes are made now
    return false;
  }
}

void expect_round_trip(const Proc& p, const Module& names) {
  std::string printed = str(p);
  try {
    Module again = parse_module(printed, "printed.exo", {}, &names);
    if (str(*again.procs.at(0)) != printed) {
      throw std::logic_error("prints differently when read back:\n" + printed +
                             str(*again.procs[0]));
    }
  } catch (const Error& e) {
    throw std::logic_error("what was printed is refused: " + std::string(e.what()) + "\n" +
                           printed);
  }
}

const Module& sample() {
  static const Module m = parse_module(samples::kFiles[1], "sample.exo");
  return m;
}
const Module& sgemm() {
  static const Module m = parse_module(samples::kSgemm, "sgemm.exo");
  return m;
}

// What extract_subproc made is callable by nothing but the proc that it came from.
void add_callees(const Proc& p, Module& names) {
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* c = s->as<Call>();
    if (c && !names.find_proc(c->callee->name)) names.imported_procs.push_back(c->callee);
  });
}

// A trace runs again to an equal proc.
void expect_replay(const ProcPtr& p) {
  std::string trace = trace_script(p), again;
  try {
    again = str(*run_script(trace, "trace", script_environment(sgemm(), {&sample()})).proc);
  } catch (const Error& e) {
    again = e.what();
  }
  if (again != str(*p))
    throw std::logic_error("the trace\n" + trace + "gives\n" + again + "not\n" + str(*p));
}

}  // namespace

bool read_module(std::string_view text) {
  Module m;
  bool accepted = only_errors([&] { m = parse_module(text, "fuzz.exo"); });
  Module part;
  const bool in_part = only_errors([&] { part = parse_accepted(text, "fuzz.exo"); });
  if (accepted != (in_part && part.refused.empty()) ||
      (accepted && part.procs.size() != m.procs.size()))
    throw std::logic_error("procedures by themselves are read otherwise");
  for (const ProcPtr& p : m.procs) expect_round_trip(*p, m);
  return accepted;
}

bool find_pattern(std::string_view text) {
  ProcPtr p = sample().find_proc("everything");
  std::vector<Cursor> found;
  bool accepted = only_errors([&] { found = find_all(p, std::string(text)); });
  for (size_t k = 0; k < found.size() && k < 20; ++k) {
    const Cursor& c = found[k];
    Cursor again = find(p, pattern_of(c));
    bool one = c.kind() == CursorKind::kBlock && c.length() == 1;
    if (again.path() != c.path() || (again.length() != c.length() && !one)) {
      throw std::logic_error("`" + pattern_of(c) + "` leads elsewhere");
    }
  }
  only_errors([&] { find(p, std::string(text)); });
  only_errors([&] { find_loop(p, std::string(text)); });
  only_errors([&] { find_alloc_or_arg(p, std::string(text)); });
  return accepted;
}

bool run_schedule(std::string_view text, int max_steps) {
  // Splitting loops again and again doubles a procedure each time; that is not a hang.
  constexpr int kMostStatements = 150;
  ScriptEnvironment env = script_environment(sgemm(), {&sample()});
  env.search = [](const ScriptHole& hole) { return hole.proc; };
  env.max_steps = max_steps;
  env.after_step = [](const SourceLocation& where, const ProcPtr& p) {
    int statements = 0;
    for_each_stmt(p->body, [&](const StmtPtr&) { ++statements; });
    if (statements > kMostStatements) throw InputError(where, "the procedure grows too large");
  };
  ProcPtr p;
  bool accepted = only_errors([&] { p = run_script(text, "fuzz.sched", env).proc; });
  if (p) {
    Module names = sample();
    add_callees(*p, names);
    expect_round_trip(*p, names);
    expect_replay(p);
  }
  return accepted;
}

bool read_expression(std::string_view text) {
  ProcPtr p = sample().find_proc("everything");
  Path inside = find(p, "load8(_)").path();
  std::vector<ScopeEntry> scope = scope_at(*p, inside);
  bool accepted = false;
  auto reads_back = [&](const ExprPtr& e, auto read) {
    accepted = true;
    std::string printed = str(e);
    if (str(read(printed)) != printed) {
      throw std::logic_error("`" + printed + "` reads back as `" + str(read(printed)) + "`");
    }
  };
  only_errors([&] {
    ExprPtr e = parse_control_expr(text, scope, sample().configs);
    reads_back(
        e, [&](const std::string& s) { return parse_control_expr(s, scope, sample().configs); });
  });
  only_errors([&] {
    ExprPtr e = parse_expr(text, scope, sample().configs);
    reads_back(e, [&](const std::string& s) { return parse_expr(s, scope, sample().configs); });
  });
  only_errors([&] {
    ExprPtr e = parse_window(text, scope);
    reads_back(e, [&](const std::string& s) { return parse_window(s, scope); });
  });
  return accepted;
}

}  // namespace exotune::fuzz
