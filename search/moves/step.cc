#include "search/moves/step.h"

#include <algorithm>

#include "core/cursor/provenance.h"
#include "core/library/operators.h"
#include "search/internal_error.h"

namespace exotune {

namespace {

// Cursors as patterns in the current form: what is printed, and what runs again elsewhere.
ValueList with_patterns(const ProcPtr& p, const ValueList& args) {
  ValueList out = args;
  for (Value& v : out) {
    if (const Cursor* c = v.as<Cursor>()) {
      v = Value(pattern_of(forward(p, *c)));
    } else if (const ValueList* list = v.as<ValueList>()) {
      v = Value(with_patterns(p, *list));
    }
  }
  return out;
}

std::string place_of(const ValueList& args) {
  const std::string* place = args.empty() ? nullptr : args.front().as<std::string>();
  return place ? *place : "";
}

StepRefusal refusal_of(const std::string& op, const ValueList& args, const Error& e) {
  const bool ours = e.exit_code() == ExitCode::kInternal;
  return {ours ? kInternalError : op, place_of(args),
          (ours ? op + ": " : "") + e.diagnostic().message.str()};
}

ProcPtr procedure_of(const Value& result) {
  if (const ProcPtr* p = result.as<ProcPtr>()) return *p;
  const ValueList* tuple = result.as<ValueList>();
  EXO_CHECK(tuple && !tuple->empty() && tuple->front().as<ProcPtr>());
  return *tuple->front().as<ProcPtr>();
}

// The instructions of a target are one name in a script.
bool is_instructions(const Value& v) {
  const ValueList* list = v.as<ValueList>();
  return list && !list->empty() && std::all_of(list->begin(), list->end(), [](const Value& one) {
           const ProcPtr* p = one.as<ProcPtr>();
           return p && (*p)->instr;
         });
}

std::string call_line(const ScheduleStep& step, const std::string& variable) {
  std::string out = variable + " = " + step.op + "(" + variable;
  for (const Value& v : step.args) {
    if (const auto* keywords = v.as<std::map<std::string, Value>>()) {
      for (const auto& [key, value] : *keywords) out += ", " + key + "=" + value.str();
    } else {
      out += ", " + (is_instructions(v) ? "instrs" : v.str());
    }
  }
  return out + ")";
}

// "p = f(p, ..)" in terms of another variable.
std::string renamed(const std::string& line, const std::string& variable) {
  const size_t open = line.find('(');
  if (variable == "p" || !line.starts_with("p = ") || open == std::string::npos) return line;
  const bool first = line.compare(open, 2, "(p") == 0 && line.find_first_of(",)", open) == open + 2;
  return variable + line.substr(1, open) +
         (first ? variable + line.substr(open + 2) : line.substr(open + 1));
}

std::optional<StepRefusal> replay_part(Schedule& s, const ScheduleStep& step,
                                       const ScriptEnvironment& names) {
  Part part;
  Cursor nest;
  try {
    nest = find(s.proc, *step.args[0].as<std::string>());
  } catch (const Error& e) {
    return refusal_of(step.op, step.args, e);
  }
  if (auto refusal = take_out(s, nest, *step.args[1].as<std::string>(), part)) return refusal;
  Schedule inside{part.proc, {}, false};
  if (auto refusal = replay(inside, step.inside, names)) return refusal;
  return put_back(s, part, inside);
}

}  // namespace

std::string StepRefusal::text() const {
  return op + (place.empty() ? "" : " at " + place) + ": " + reason;
}

std::optional<StepRefusal> apply(Schedule& s, const std::string& op, ValueList args) {
  try {
    args = with_patterns(s.proc, args);
    std::vector<Value> all = {Value(s.proc)};
    all.insert(all.end(), args.begin(), args.end());
    const ProcPtr made = procedure_of(call_operator(op, all));
    s.proc = made;
  } catch (const Error& e) {
    return refusal_of(op, args, e);
  }
  s.steps.push_back({op, std::move(args), {}});
  return std::nullopt;
}

std::optional<StepRefusal> apply_lines(Schedule& s, const std::vector<std::string>& lines,
                                       const ScriptEnvironment& names) {
  if (lines.empty()) return std::nullopt;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  try {
    ScriptEnvironment env = names;
    env.start = s.proc;
    env.enforce = false;
    s.proc = run_script(text, "<search>", env).proc;
  } catch (const Error& e) {
    const size_t equals = lines.front().find("= "), open = lines.front().find('(');
    const bool call = equals != std::string::npos && open != std::string::npos && equals < open;
    return refusal_of(call ? lines.front().substr(equals + 2, open - equals - 2) : "lines", {}, e);
  }
  s.steps.push_back({"", ValueList(lines.begin(), lines.end()), {}});
  return std::nullopt;
}

std::optional<StepRefusal> take_out(Schedule& s, const Cursor& nest, const std::string& name,
                                    Part& part) {
  const ValueList args = with_patterns(s.proc, {Value(nest), Value(name)});
  try {
    Extracted e = extract_subproc(s.proc, forward(s.proc, nest), name);
    s.proc = e.proc;
    part = {name, place_of(args), e.subproc};
  } catch (const Error& e) {
    return refusal_of("extract_subproc", args, e);
  }
  return std::nullopt;
}

std::optional<StepRefusal> put_back(Schedule& s, const Part& part, const Schedule& scheduled) {
  const std::string call = part.name + "(_)";
  try {
    const ProcPtr called = call_eqv(s.proc, Where(call), scheduled.proc);
    s.proc = inline_call(called, Where(call));
  } catch (const Error& e) {
    return refusal_of("call_eqv", {Value(call)}, e);
  }
  s.reassociated = s.reassociated || scheduled.reassociated || reassociates(scheduled.proc);
  s.steps.push_back({"extract_subproc", {Value(part.place), Value(part.name)}, scheduled.steps});
  return std::nullopt;
}

std::optional<StepRefusal> replay(Schedule& s, const Steps& steps, const ScriptEnvironment& names) {
  for (const ScheduleStep& step : steps) {
    std::optional<StepRefusal> refusal;
    if (step.op.empty()) {
      std::vector<std::string> lines;
      for (const Value& line : step.args) lines.push_back(*line.as<std::string>());
      refusal = apply_lines(s, lines, names);
    } else if (step.op == "extract_subproc") {
      refusal = replay_part(s, step, names);
    } else {
      refusal = apply(s, step.op, step.args);
    }
    if (refusal) return refusal;
  }
  return std::nullopt;
}

std::vector<std::string> lines_of(const Steps& steps, const std::string& variable) {
  std::vector<std::string> out;
  for (const ScheduleStep& step : steps) {
    if (step.op.empty()) {
      for (const Value& line : step.args) out.push_back(renamed(*line.as<std::string>(), variable));
      continue;
    }
    if (step.op != "extract_subproc") {
      out.push_back(call_line(step, variable));
      continue;
    }
    if (step.inside.empty()) continue;  // it stays as it is
    const std::string& part = *step.args[1].as<std::string>();
    out.push_back(variable + ", " + part + call_line(step, variable).substr(variable.size()));
    for (std::string& line : lines_of(step.inside, part)) out.push_back(std::move(line));
    const std::string call = Value(part + "(_)").str();
    out.push_back(variable + " = call_eqv(" + variable + ", " + call + ", " + part + ")");
    out.push_back(variable + " = inline(" + variable + ", " + call + ")");
  }
  return out;
}

}  // namespace exotune
