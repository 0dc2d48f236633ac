#include "search/moves/step.h"

#include "core/cursor/provenance.h"

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

}  // namespace

std::optional<StepRefusal> apply(Schedule& s, ScheduleStep step) {
  step.args = with_patterns(s.proc, step.args);
  Stepped made = run_step(s.proc, step);
  if (made.refusal) return std::move(made.refusal);
  s.proc = std::move(made.proc);
  s.steps.push_back(std::move(step));
  return std::nullopt;
}

std::optional<StepRefusal> apply(Schedule& s, const std::string& op, ValueList args) {
  return apply(s, ScheduleStep{op, std::move(args)});
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

std::optional<StepRefusal> replay(Schedule& s, const Steps& steps) {
  for (const ScheduleStep& step : steps)
    if (auto refusal = apply(s, step)) return refusal;
  return std::nullopt;
}

}  // namespace exotune
