#include "cli/workspace.h"

#include <algorithm>
#include <cstdio>

#include "cli/einsum.h"
#include "cli/text_file.h"
#include "core/analysis/queries.h"
#include "core/analysis/warnings.h"
#include "core/base/hashing.h"
#include "core/base/refusals.h"
#include "core/base/words.h"
#include "core/frontend/schedule.h"
#include "core/ir/callees.h"
#include "core/ir/printer.h"
#include "cost/work.h"

namespace exotune::cli {
// What a verb works on, found by name: targets, kernels, modules, the machine. Each is made at the
// first question and kept, so that a verb that needs none of them starts at once.
namespace {

std::vector<std::string> names_of(const std::vector<ProcPtr>& procs) {
  std::vector<std::string> names;
  for (const ProcPtr& proc : procs) names.push_back(proc->name);
  return names;
}

ProcPtr choose(const Module& module, const FileAndProc& wanted, bool all_procs) {
  const std::vector<ProcPtr> procs = module.user_procs();
  if (procs.empty())
    throw InputError({std::make_shared<const std::string>(wanted.file), 1, 1},
                     "this file defines no procedure",
                     "a kernel is written: @proc, and below it def NAME(n: size, x: f32[n]): ...");
  if (!wanted.proc.empty()) {
    for (const ProcPtr& proc : procs)
      if (proc->name == wanted.proc) return proc;
    const std::string near = nearest(wanted.proc, names_of(procs));
    throw InputError(
        {}, wanted.file + " has no procedure '" + wanted.proc + "'",
        near.empty() ? "it has: " + joined(names_of(procs)) : "did you mean '" + near + "'?");
  }
  if (procs.size() == 1) return procs.front();
  if (all_procs) return nullptr;
  throw InputError({}, wanted.file + " has several procedures: " + joined(names_of(procs)),
                   "name one: " + wanted.file + ":" + procs.front()->name);
}

// Of the array it writes, else of its first one.
// For naming a kernel in reports, and for the peak it is held against.
ScalarType precision_of(const Proc& proc) {
  ScalarType precision = ScalarType::kF32;
  bool found = false, written = false;
  for (const Arg& arg : proc.args) {
    if (!is_data(arg.type.scalar)) continue;
    bool writes = false;
    for_each_stmt(proc.body, [&](const StmtPtr& s) {
      const auto* assign = s->as<Assign>();
      const auto* reduce = s->as<Reduce>();
      writes =
          writes || (assign && assign->name == arg.name) || (reduce && reduce->name == arg.name);
    });
    if (found && (written || !writes)) continue;
    found = true;
    written = writes;
    precision = arg.type.scalar;
  }
  return precision;
}

}  // namespace

std::string kernel_hash(const Proc& kernel) { return content_hash(canonical_text(kernel)); }

// A kernel of the user's, described as the table describes the built-in ones: what its loops say of
// operations and bytes.
KernelEntry described(const KernelInput& input, const std::string& named) {
  KernelEntry entry;
  if (input.entry != nullptr) {
    entry = *input.entry;
  } else {
    entry.name = input.name;
    entry.file = split_file_and_proc(named).file;
    entry.proc = input.proc->name;
    entry.precision = precision_of(*input.proc);
  }
  if (entry.flops.text().empty() || entry.bytes.text().empty()) {
    const Work work = work_of(*input.proc);
    if (entry.flops.text().empty()) entry.flops = work.operations;
    if (entry.bytes.text().empty()) entry.bytes = work.bytes;
  }
  return entry;
}

namespace {

// The proc that the first statement of a script puts into a variable; "": none.
std::string first_name(const ScheduleAst& script) {
  if (script.stmts.empty()) return "";
  const ScheduleStmt& first = script.stmts.front();
  const bool names = first.target.kind == ScheduleExpr::Kind::kName &&
                     first.value.kind == ScheduleExpr::Kind::kName;
  return names ? first.value.text : "";
}

// What a kernel's arrays and scalars have, narrow elements first.
std::vector<ScalarType> types_taken(const Proc& kernel) {
  std::vector<ScalarType> out;
  for (const Arg& arg : kernel.args)
    if (is_data(arg.type.scalar)) out.push_back(arg.type.scalar);
  std::stable_sort(out.begin(), out.end(),
                   [](ScalarType a, ScalarType b) { return bytes_of(a) < bytes_of(b); });
  return out;
}

}  // namespace

FileAndProc split_file_and_proc(const std::string& text) {
  const size_t dot = text.rfind(".exo:");
  if (dot == std::string::npos) return {text, ""};
  return {text.substr(0, dot + 4), text.substr(dot + 5)};
}

Workspace::Workspace(const Session& session)
    : session_(session), targets_({session.data.targets}) {}

const KernelTable& Workspace::kernels() {
  if (!kernels_) kernels_ = load_kernel_table(session_.data.kernels);
  return *kernels_;
}

const Machine& Workspace::machine() {
  if (!machine_) machine_ = probe_machine();
  return *machine_;
}

TargetPtr Workspace::target(const std::string& name, const Proc* kernel) {
  if (!name.empty()) return targets_.load(name);
  TargetPtr best =
      best_target(machine(), runnable(), kernel ? types_taken(*kernel) : std::vector<ScalarType>{});
  if (best == nullptr)
    throw Error(Diagnostic{{},
                           "this machine runs none of the targets natively",
                           {},
                           "exo-tune list targets shows them; name one with --target"},
                ExitCode::kUnavailable);
  return best;
}

std::vector<TargetPtr> Workspace::all_targets() {
  std::vector<TargetPtr> all;
  for (const std::string& each : targets_.names()) {
    try {
      all.push_back(targets_.load(each));
    } catch (const Error& error) {
      if (error.exit_code() == ExitCode::kInternal) throw;
      if (left_out_.insert(each).second)
        std::fprintf(stderr, "the target %s is left out:\n%s", each.c_str(),
                     error.diagnostic().str().c_str());
    }
  }
  return all;
}

std::vector<TargetPtr> Workspace::runnable() {
  std::vector<TargetPtr> all = all_targets();
  std::erase_if(all, [&](const TargetPtr& target) { return !supports(machine(), *target); });
  return all;
}

// Two different refusals: this machine lacks the instructions, or the compiler that makes them;
// each says what would help.
void Workspace::require_runnable(const Target& target) {
  const std::vector<std::string> missing = missing_features(machine(), target);
  if (!missing.empty()) {
    std::vector<std::string> names;
    for (const TargetPtr& other : runnable()) names.push_back(other->name);
    throw Error(
        Diagnostic{{},
                   "this machine cannot run " + target.name + ": its CPU lacks " + joined(missing),
                   {},
                   names.empty() ? "it runs none of the targets: exo-tune list targets"
                                 : "without --target the best that it runs is taken; it runs " +
                                       joined(names, ", ")},
        ExitCode::kUnavailable);
  }
  if (!target.runner.is_this_machine())
    throw Error(
        Diagnostic{{},
                   "there is no runner of kind '" + target.runner.kind + "' for " + target.name,
                   {},
                   "exo-tune list runners shows those there are"},
        ExitCode::kUnavailable);
}

namespace {

// Moves what is refused out of the accepted procs.
void check_each(Module& module) {
  std::erase_if(module.procs, [&](const ProcPtr& proc) {
    try {
      check_to_the_end(*proc);
      return false;
    } catch (const InputError& refused) {
      module.refused.push_back({proc->name, refused});
      return true;
    }
  });
}

// In the order of the text: what its grammar refuses stands in front of what its proofs do.
void in_order_of_lines(std::vector<RefusedProc>& refused) {
  std::ranges::stable_sort(refused, {}, [](const RefusedProc& r) {
    const SourceLocation& where = r.error.diagnostic().where;
    return std::pair(where.line, where.column);
  });
}

[[noreturn]] void refuse(const Module& module) {
  Refusals all;
  for (const RefusedProc& refused : module.refused) all.add(refused.error.diagnostic());
  throw all.all();
}

const RefusedProc* refused_of(const Module& module, const std::string& name) {
  for (const RefusedProc& refused : module.refused)
    if (refused.name == name) return &refused;
  return nullptr;
}

}  // namespace

Module Workspace::module(const std::string& path) {
  Module module = parse_accepted(read_text_file(path), path, targets_.importer());
  check_each(module);
  in_order_of_lines(module.refused);
  return module;
}

// One line: nobody asked for them. Who names one is told why.
void Workspace::warn_of_refused(const KernelInput& input) {
  constexpr size_t kMost = 8;  // names that still are one line
  const std::vector<RefusedProc>& refused = input.module.refused;
  if (refused.empty()) return;
  std::vector<std::string> names;
  for (const RefusedProc& r : refused)
    if (names.size() < kMost)
      names.push_back(r.name + " (line " + std::to_string(r.error.diagnostic().where.line) + ")");
  if (refused.size() > kMost) names.push_back("...");
  const SourceLocation& first = refused.front().error.diagnostic().where;
  const std::string text =
      "note: " +
      (refused.size() == 1 ? "1 other procedure"
                           : std::to_string(refused.size()) + " other procedures") +
      " of " + (first.file ? *first.file : "the file") + (refused.size() == 1 ? " is" : " are") +
      " refused and left out: " + joined(names) + "\n";
  if (warned_.insert(text).second) std::fputs(text.c_str(), stderr);
}

// What an instruction does is its machine's affair.
void Workspace::warn_of(const ProcPtr& proc) {
  if (proc->instr) return;
  for (const Diagnostic& warning : warnings(*proc))
    if (std::string text = warning.str("warning"); warned_.insert(text).second)
      std::fputs(text.c_str(), stderr);
}

void Workspace::warn_of(const KernelInput& input) {
  if (input.proc == nullptr) {
    for (const ProcPtr& proc : input.module.user_procs()) warn_of(proc);
    return;
  }
  for (const ProcPtr& callee : procs_called(*input.proc)) warn_of(callee);
  warn_of(input.proc);
}

// A name of the table, or a file with a procedure; a name that is neither gets the nearest of both.
KernelInput Workspace::kernel(const std::string& text, bool all_procs) {
  KernelInput input;
  if (const auto notation = einsum_of(text)) {
    input.module = parse_module(einsum_text(*notation), text);
    for (const ProcPtr& proc : input.module.procs) check(*proc);
    input.proc = input.module.procs.front();
    input.name = input.proc->name;
    return input;
  }
  if (text.find(".exo") == std::string::npos) {
    input.entry = &kernels().at(text);
    input.name = text;
    input.module = module(input.entry->file.string());
    if (!input.module.refused.empty()) refuse(input.module);
    input.proc = choose(input.module, {input.entry->file.string(), input.entry->proc}, false);
    warn_of(input);
    return input;
  }
  const FileAndProc wanted = split_file_and_proc(text);
  input = of_file(module(wanted.file), wanted, all_procs);
  warn_of(input);
  return input;
}

KernelInput Workspace::of_file(Module module, const FileAndProc& wanted, bool all_procs) {
  if (const RefusedProc* refused = refused_of(module, wanted.proc)) throw refused->error;
  if (wanted.proc.empty() && !module.refused.empty()) refuse(module);
  KernelInput input;
  input.module = std::move(module);
  input.proc = choose(input.module, wanted, all_procs);
  if (input.proc != nullptr) {
    input.name = input.proc->name;
    warn_of_refused(input);
  }
  return input;
}

KernelInput Workspace::kernel(const std::string& text, const std::string& script,
                              const std::string& script_file) {
  KernelInput input = of_script(text, script, script_file);
  warn_of(input);
  return input;
}

KernelInput Workspace::of_script(const std::string& text, const std::string& script,
                                 const std::string& script_file) {
  KernelInput input;
  FileAndProc wanted = split_file_and_proc(text);
  if (text.ends_with(".exo") && !einsum_of(text)) {
    Module module = this->module(text);
    // Of a file that is refused in part the script's procedure is taken where it is none of those.
    if (!module.refused.empty()) wanted.proc = first_name(parse_schedule(script, script_file));
    const bool none = !refused_of(module, wanted.proc) && !module.find_proc(wanted.proc);
    if (none) wanted.proc.clear();
    input = of_file(std::move(module), wanted, /*all_procs=*/true);
  } else {
    input = kernel(text, /*all_procs=*/true);
  }
  if (input.proc != nullptr) return input;
  const std::vector<ProcPtr> procs = input.module.user_procs();
  const ScheduleAst ast = parse_schedule(script, script_file);
  for (const ProcPtr& proc : procs)
    if (proc->name == first_name(ast)) input.proc = proc;
  if (input.proc == nullptr) {
    const SourceLocation first{std::make_shared<const std::string>(script_file), 1, 1};
    const std::string& name = procs.front()->name;
    throw InputError(ast.stmts.empty() ? first : ast.stmts.front().where,
                     text + " has several procedures: " + joined(names_of(procs)),
                     "begin the script with `p = " + name + "`, or name one: " + text + ":" + name);
  }
  input.name = input.proc->name;
  return input;
}

}  // namespace exotune::cli
