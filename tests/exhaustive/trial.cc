#include "tests/exhaustive/trial.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "core/analysis/queries.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"
#include "core/library/operators.h"
#include "core/library/script.h"
#include "tests/exhaustive/callees.h"

namespace exotune::exhaustive {

Tally::Count Tally::total() const {
  Count all;
  for (const auto& [op, n] : by_operator) {
    all.tried += n.tried;
    all.accepted += n.accepted;
    all.wrong += n.wrong;
  }
  return all;
}

void Tally::add(const Tally& other) {
  for (const auto& [op, n] : other.by_operator) {
    Count& mine = by_operator[op];
    mine.tried += n.tried;
    mine.accepted += n.accepted;
    mine.wrong += n.wrong;
  }
}

std::string Tally::table() const {
  std::ostringstream out;
  auto line = [&](const std::string& op, const Count& n) {
    out << std::left << std::setw(24) << op << std::right << std::setw(10) << n.tried
        << std::setw(10) << n.accepted << std::setw(10) << n.refused() << std::setw(7) << n.wrong
        << '\n';
  };
  out << std::left << std::setw(24) << "primitive" << std::right << std::setw(10) << "tried"
      << std::setw(10) << "accepted" << std::setw(10) << "refused" << std::setw(7) << "wrong"
      << '\n';
  for (const auto& [op, n] : by_operator) line(op, n);
  line("all", total());
  return out.str();
}

std::string invalid(const Proc& p) {
  try {
    check(p);
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

namespace {

// The trace's operator and arguments make the same proc again.
std::string step_difference(const ProcPtr& p, const ProcPtr& q) {
  const Provenance& how = *provenance_of(*q);
  std::vector<Value> args = {Value(p)};
  std::vector<std::pair<std::string, Value>> keywords;
  for (const Value& v : how.args)
    if (const auto* map = v.as<std::map<std::string, Value>>())
      keywords.assign(map->begin(), map->end());
    else
      args.push_back(v);
  try {
    const Operator* op = find_operator(how.op);
    if (!op) return "there is no operator " + how.op;
    const Value result = call_operator(*op, args, keywords);
    const ProcPtr* again = result.as<ProcPtr>();
    if (const ValueList* list = result.as<ValueList>()) again = (*list)[0].as<ProcPtr>();
    if (again && str(**again) == str(*q)) return "";
    return "replaying the step gives another proc:\n" + (again ? str(**again) : result.str());
  } catch (const Error& e) {
    return std::string("replaying the step fails: ") + e.what();
  }
}

bool same_program(const Proc& p, const Proc& q) {
  if (p.body != q.body || p.asserts != q.asserts || p.args.size() != q.args.size()) return false;
  return std::equal(p.args.begin(), p.args.end(), q.args.begin(), [](const Arg& a, const Arg& b) {
    return a.name == b.name && a.type.scalar == b.type.scalar && a.type.shape == b.type.shape &&
           a.type.window == b.type.window && a.mem == b.mem;
  });
}

Outcome wrong(ProcPtr q, std::string why) {
  return {Outcome::Kind::kWrong, std::move(q), std::move(why), false};
}

}  // namespace

std::optional<Start> start_at(const ProcPtr& p) {
  if (!invalid(*p).empty()) return std::nullopt;
  Start start{p, Oracle(p), callees_of(p)};
  if (!start.oracle.usable()) return std::nullopt;
  return start;
}

Outcome try_move(const ProcPtr& p, const Oracle& oracle, const Move& m, bool replay) {
  ProcPtr q;
  try {
    q = m.apply();
  } catch (const SchedulingError&) {
    return {};
  } catch (const InvalidCursorError&) {
    return {};
  } catch (const std::exception& e) {
    return wrong(p, std::string("it raised ") + e.what());
  }
  // The same statements under the same arguments are the program that was judged before.
  const bool judged = same_program(*p, *q);
  std::string why = judged ? "" : invalid(*q);
  // Code that never runs may come to read a buffer that no longer is written: no fault of the step.
  const bool undefined = why.find("contents are undefined") != std::string::npos;
  if (!why.empty() && !undefined) return wrong(q, "the result is no valid program: " + why);
  if (!judged)
    why = oracle.difference(q, m.fixes_n ? std::optional<int64_t>(3) : std::nullopt, m.matrices);
  if (!why.empty()) return wrong(q, why);
  why = lost_cursor(p, q);
  if (!why.empty()) return wrong(q, why);
  if (replay && !m.composite) why = step_difference(p, q);
  if (!why.empty()) return wrong(q, why);
  return {Outcome::Kind::kAccepted, q, "",
          !undefined && !m.fixes_n && m.matrices == Matrices::kSame};
}

std::string script_difference(const ProcPtr& start, const ProcPtr& p) {
  ScriptEnvironment environment;
  environment.start = start;
  environment.names["p"] = Value(start);
  environment.names["DRAM_STACK"] = Value(dram_stack());
  environment.names["DRAM_STATIC"] = Value(dram_static());
  environment.names["DRAM"] = Value(dram());
  environment.names["nothing"] = Value(nothing());
  environment.names["Cfg"] = Value(config());
  for (const ProcPtr& c : callees_of(start)) environment.names[c->name] = Value(c);
  const std::string script = trace_script(p);
  try {
    const ProcPtr again = run_script(script, "trace.sched", environment).proc;
    if (str(*again) == str(*p)) return "";
    return "replaying\n" + script + "gives another proc:\n" + str(*again);
  } catch (const Error& e) {
    return "replaying\n" + script + "fails: " + e.what();
  }
}

namespace {

bool goes_wrong(const ProcPtr& p, const std::string& op) {
  const std::optional<Start> start = start_at(p);
  if (!start) return false;
  for (const Move& m : moves_of(p, start->known))
    if (m.op == op && try_move(p, start->oracle, m, true).kind == Outcome::Kind::kWrong)
      return true;
  return false;
}

// What the statement at `at` may become in a smaller proc.
std::vector<Block> simpler(const StmtPtr& s) {
  std::vector<Block> out{{}};
  if (const For* f = s->as<For>()) {
    out.push_back(substitute(f->body, f->iter, f->lo));
    for (int64_t hi : {1, 2})
      if (as_int(f->hi) != hi)
        out.push_back({make_for(f->iter, int_const(0), int_const(hi), f->body, f->mode)});
    if (f->mode == LoopMode::kPar) out.push_back({make_for(f->iter, f->lo, f->hi, f->body)});
  }
  if (const If* i = s->as<If>()) {
    out.push_back(i->body);
    if (!i->orelse.empty()) {
      out.push_back(i->orelse);
      out.push_back({make_if(i->cond, i->body)});
    }
  }
  std::vector<ExprPtr> exprs = stmt_exprs(*s);
  for (size_t k = 0; k < exprs.size(); ++k) {
    std::vector<ExprPtr> smaller = expr_children(*exprs[k]);
    smaller.push_back(is_data(exprs[k]->type) ? data_const(1, exprs[k]->type) : int_const(0));
    for (const ExprPtr& e : smaller) {
      if (is_data(e->type) != is_data(exprs[k]->type) || equal(e, exprs[k])) continue;
      if ((e->type == ScalarType::kBool) != (exprs[k]->type == ScalarType::kBool)) continue;
      if (s->as<Call>() || s->as<WindowStmt>()) continue;
      std::vector<ExprPtr> changed = exprs;
      changed[k] = e;
      out.push_back({with_exprs(s, changed)});
    }
  }
  return out;
}

}  // namespace

ProcPtr shrink(const ProcPtr& p, const std::string& op) {
  if (!goes_wrong(p, op)) return p;
  auto best = std::make_shared<Proc>(*p);
  best->provenance = nullptr;
  int budget = 400;
  for (bool progress = true; progress && budget > 0;) {
    progress = false;
    for (const Path& at : all_stmt_paths(*best)) {
      for (const Block& with : simpler(stmt_at(*best, at))) {
        if (with.empty() && block_at(*best, at).size() == 1) continue;
        auto next = std::make_shared<Proc>(*best);
        next->body = splice(*best, at, 1, with);
        if (--budget < 0 || !goes_wrong(next, op)) continue;
        best = next;
        progress = true;
        break;
      }
      if (progress) break;
    }
  }
  return best;
}

}  // namespace exotune::exhaustive
