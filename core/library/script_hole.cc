// What a script's evaluator is given and what it hands on: the names in sight, and holes with the
// constraints that hold there.
#include <algorithm>
#include <set>

#include "core/library/script_parts.h"

namespace exotune {

namespace {

// `tiles=[['j', [48]], ['k', [64, 128]]]` is two constraints, `avoid=[f, g]` one of a list.
std::vector<std::vector<Value>> arguments_of(const std::string& name, const Value& value,
                                             const SourceLocation& where) {
  if (name != "tiles") return {{value}};
  std::vector<std::vector<Value>> out;
  const ValueList* list = value.as<ValueList>();
  for (const Value& pair : list ? *list : ValueList{}) {
    const ValueList* parts = pair.as<ValueList>();
    if (!parts || parts->size() != 2) break;
    out.push_back(*parts);
  }
  if (!list || out.size() != list->size() || out.empty())
    throw InputError(where, "`tiles` is a list of loops and their sizes",
                     "write tiles=[['j', [32, 48]]]");
  return out;
}

void add_names(const Module& m, std::map<std::string, Value>& names) {
  for (const auto* list : {&m.procs, &m.imported_procs})
    for (const ProcPtr& p : *list) names.emplace(p->name, p);
  for (const auto& [name, memory] : m.memories) names.emplace(name, memory);
  for (const auto& [name, config] : m.configs) names.emplace(name, config);
  for (const auto& [name, value] : m.constants) names.emplace(name, value);
}

}  // namespace

ScriptHole script_hole(const std::vector<Value>& positional,
                       const std::vector<std::pair<std::string, Value>>& keyword,
                       const std::vector<ScriptConstraint>& in_force, const SourceLocation& where) {
  ScriptHole hole;
  hole.location = where;
  const ProcPtr* p = positional.empty() ? nullptr : positional[0].as<ProcPtr>();
  if (!p || positional.size() > 2) {
    throw InputError(where, "`search` takes a procedure and a place in it");
  }
  hole.proc = *p;
  hole.constraints = in_force;
  for (const auto& [name, value] : keyword) {
    if (!is_constraint(name)) {
      hole.options[name] = value;
      continue;
    }
    for (const std::vector<Value>& args : arguments_of(name, value, where)) {
      hole.constraints.push_back(
          make_constraint(name, hole.proc, args, {}, where, hole.constraints));
      ++hole.own_constraints;
    }
  }
  if (positional.size() == 2 && !positional[1].is_none()) {
    if (const Cursor* c = positional[1].as<Cursor>()) {
      hole.where = forward(hole.proc, *c);
    } else if (const std::string* pattern = positional[1].as<std::string>()) {
      hole.where = Where(*pattern).block(hole.proc);
    } else {
      throw InputError(where, "the place of a search is a cursor or a pattern");
    }
  }
  return hole;
}

namespace {

// Is it the library of other vectors than the script's target is for?
bool is_listed_apart(const Module& library) {
  return std::any_of(library.procs.begin(), library.procs.end(), [](const ProcPtr& p) {
    return p->instr && p->instr->list != kInstructionList;
  });
}

}  // namespace

ScriptEnvironment script_environment(const Module& file,
                                     const std::vector<const Module*>& libraries) {
  ScriptEnvironment env;
  add_names(file, env.names);
  for (const Module* m : libraries) add_names(*m, env.names);
  // `instrs`: every instruction in sight, for operators that choose among them; those that are
  // listed apart have a name of their own.
  std::map<std::string, ValueList> lists = {{kInstructionList, {}}};
  for (const Module* m : libraries)
    for (const auto* procs : {&m->procs, &m->imported_procs})
      for (const ProcPtr& p : *procs)
        if (p->instr) lists[p->instr->list].emplace_back(p);
  for (const ProcPtr& p : file.procs)
    if (p->instr) lists[kInstructionList].emplace_back(p);
  for (auto& [name, instructions] : lists) env.names.emplace(name, Value(std::move(instructions)));
  // `machine`: the vector registers, where there is one kind of them.
  std::set<MemoryPtr> registers;
  for (const Module* m : libraries) {
    if (is_listed_apart(*m)) continue;
    for (const auto& [name, memory] : m->memories)
      if (memory->kind == MemoryKind::kVector) registers.insert(memory);
  }
  if (registers.size() == 1) env.names.emplace("machine", Value(*registers.begin()));
  std::vector<ProcPtr> procs = file.user_procs();
  if (procs.size() == 1) env.start = procs[0];
  return env;
}

}  // namespace exotune
