#include "core/library/step.h"

#include <algorithm>

#include "core/base/deadline.h"
#include "core/primitives/procedures.h"

namespace exotune {
// A step as data: printing it, running it, refusing it without an exception. Searches run many
// thousands of steps, most of which may be refused: text is made only when somebody prints it, and
// a refusal carries its reasons as values.

namespace {

constexpr char kPart[] = "extract_subproc";  // the step that has others inside
constexpr size_t kLongNote = 400;            // a procedure, not a reason

// What a script's target gives has one name there: the instructions that vectors are made of.
std::string argument_text(const Param* parameter, const Value& v) {
  const ValueList* list = v.as<ValueList>();
  const bool targets = parameter && parameter->kind == ParamKind::kProcs &&
                       parameter->name == "instructions" && list;
  if (!targets) return v.str();
  const ProcPtr* first = list->empty() ? nullptr : list->front().as<ProcPtr>();
  return first && (*first)->instr ? (*first)->instr->list : kInstructionList;
}

// As a script would have it: a step that was found is copied into a schedule by hand without a
// change.
std::string call_line(const ScheduleStep& step, const std::string& variable) {
  const Operator* op = find_operator(step.op);
  std::string out = variable + " = " + step.op + "(" + variable;
  for (size_t k = 0; k < step.args.size(); ++k) {
    const bool known = op && k + 1 < op->params.size();
    out += ", " + argument_text(known ? &op->params[k + 1] : nullptr, step.args[k]);
  }
  for (const auto& [name, v] : step.named) out += ", " + name + "=" + v.str();
  return out + ")";
}

const std::string& text_at(const ScheduleStep& step, size_t k) {
  return *step.args.at(k).as<std::string>();
}

// The second line on of a part: what is done to it, and how it comes back.
void add_part(const ScheduleStep& step, const std::string& variable,
              std::vector<std::string>& out) {
  if (step.inside.empty()) return;  // it stays as it is
  const std::string& part = text_at(step, 1);
  out.push_back(variable + ", " + part + call_line(step, variable).substr(variable.size()));
  for (std::string& line : lines_of(step.inside, part)) out.push_back(std::move(line));
  const std::string call = Value(part + "(_)").str();
  out.push_back(variable + " = call_eqv(" + variable + ", " + call + ", " + part + ")");
  out.push_back(variable + " = inline(" + variable + ", " + call + ")");
}

StepRefusal refusal_of(const ScheduleStep& step, const Error& e) {
  const bool ours = e.exit_code() == ExitCode::kInternal;
  const std::string* place = step.args.empty() ? nullptr : step.args.front().as<std::string>();
  StepRefusal out{ours ? kInternalError : step.op, place ? *place : "",
                  (ours ? step.op + ": " : "") + e.diagnostic().message.str(), step};
  for (const LazyText& note : e.diagnostic().notes)
    if (const std::string text = note.str(); text.size() < kLongNote) out.reason += "\n  " + text;
  return out;
}

ProcPtr procedure_of(const Value& result) {
  if (const ProcPtr* p = result.as<ProcPtr>()) return *p;
  const ValueList* tuple = result.as<ValueList>();
  EXO_CHECK(tuple && !tuple->empty() && tuple->front().as<ProcPtr>());
  return *tuple->front().as<ProcPtr>();
}

// The place of a broken constraint: none, it is the whole procedure's.
std::optional<StepRefusal> broken(const ProcPtr& made, const ScheduleStep& step,
                                  const std::vector<ScriptConstraint>& constraints) {
  for (const ScriptConstraint& c : constraints)
    if (std::string why = broken_by_result(c, made, false); !why.empty())
      return StepRefusal{c.kind, "", std::move(why), step};
  return std::nullopt;
}

// s  ->  part(...), scheduled  ->  the body of what the part became.
// A part is scheduled as a procedure of its own, whose program is small, and takes its place in the
// caller by call_eqv and inline.
Stepped run_part(const ProcPtr& p, const ScheduleStep& step) {
  const std::string& name = text_at(step, 1);
  const Extracted apart = extract_subproc(p, find(p, text_at(step, 0)), name);
  Stepped part = run_steps(apart.subproc, step.inside);
  if (part.refusal) return part;
  const Where call(name + "(_)");
  return {inline_call(call_eqv(apart.proc, call, part.proc), call), std::nullopt};
}

Stepped run_call(const ProcPtr& p, const ScheduleStep& step,
                 const std::vector<ScriptConstraint>& constraints) {
  std::vector<Value> values = {Value(p)};
  values.insert(values.end(), step.args.begin(), step.args.end());
  if (!constraints.empty())
    if (std::string why = broken_by_call(step.op, values, step.named, constraints); !why.empty())
      return {nullptr, StepRefusal{step.op, "", std::move(why), step}};
  const Operator* op = find_operator(step.op);
  if (!op) throw InputError({}, "there is no operator `" + step.op + "`", "");
  return {procedure_of(call_operator(*op, values, step.named)), std::nullopt};
}

// Where the parameter stands; nothing when the operator has none of that name.
std::optional<size_t> position_of(const Operator& op, const std::string& parameter) {
  for (size_t k = 0; k < op.params.size(); ++k)
    if (op.params[k].name == parameter) return k;
  return std::nullopt;
}

}  // namespace

std::string StepRefusal::text() const {
  if (step) return line_of(*step) + "\n" + reason;
  return op + (place.empty() ? "" : " at " + place) + ": " + reason;
}

// Constraints before the call and after; the call itself may throw, and everything a step may throw
// on user's text becomes a StepRefusal here. Internal errors pass through.
Stepped run_step(const ProcPtr& p, const ScheduleStep& step,
                 const std::vector<ScriptConstraint>& constraints) {
  try {
    Stepped out = step.op == kPart && step.args.size() == 2 ? run_part(p, step)
                                                            : run_call(p, step, constraints);
    // What an operator tries and does without may have failed for want of time: again, with time,
    // it would make something else.
    if (!out.refusal && DeadlineScope::current().over())
      return {nullptr, StepRefusal{step.op, "", "the time was over", step}};
    if (!out.refusal && !constraints.empty())
      if (auto refusal = broken(out.proc, step, constraints)) return {nullptr, refusal};
    return out;
  } catch (const Error& e) {
    return {nullptr, refusal_of(step, e)};
  }
}

Stepped run_steps(ProcPtr p, const Steps& steps, const std::vector<ScriptConstraint>& constraints) {
  for (const ScheduleStep& step : steps) {
    Stepped next = run_step(p, step, constraints);
    if (next.refusal) return next;
    p = std::move(next.proc);
  }
  return {std::move(p), std::nullopt};
}

const Value* value_of(const ScheduleStep& step, const std::string& parameter) {
  for (const auto& [name, value] : step.named)
    if (name == parameter) return &value;
  const Operator* op = find_operator(step.op);
  const std::optional<size_t> at = op ? position_of(*op, parameter) : std::nullopt;
  if (!at || *at == 0) return nullptr;
  if (*at <= step.args.size()) return &step.args[*at - 1];
  const std::optional<Value>& fallback = op->params[*at].fallback;
  return fallback ? &*fallback : nullptr;
}

ScheduleStep with_value(ScheduleStep step, const std::string& parameter, Value value) {
  for (auto& [name, old] : step.named)
    if (name == parameter) {
      old = std::move(value);
      return step;
    }
  const Operator* op = find_operator(step.op);
  const std::optional<size_t> at = op ? position_of(*op, parameter) : std::nullopt;
  EXO_CHECK(at && *at > 0);
  if (*at <= step.args.size())
    step.args[*at - 1] = std::move(value);
  else
    step.named.emplace_back(parameter, std::move(value));
  return step;
}

std::string line_of(const ScheduleStep& step, const std::string& variable) {
  std::string out;
  for (const std::string& line : lines_of({step}, variable))
    out += (out.empty() ? "" : "\n") + line;
  return out.empty() ? call_line(step, variable) : out;
}

std::vector<std::string> lines_of(const Steps& steps, const std::string& variable) {
  std::vector<std::string> out;
  for (const ScheduleStep& step : steps)
    if (step.op == kPart)
      add_part(step, variable, out);
    else
      out.push_back(call_line(step, variable));
  return out;
}

// Two schedules of one key are the same steps; used where schedules are collected in sets.
std::string key_of(const Steps& steps) {
  std::string out;
  for (const std::string& line : lines_of(steps)) out += line + "\n";
  return out;
}

std::optional<Steps> steps_behind(const Steps& first, const Steps& steps) {
  const auto same = [](const ScheduleStep& a, const ScheduleStep& b) { return a.op == b.op; };
  if (steps.size() < first.size() || !std::equal(first.begin(), first.end(), steps.begin(), same))
    return std::nullopt;
  return Steps(steps.begin() + std::ssize(first), steps.end());
}

}  // namespace exotune
