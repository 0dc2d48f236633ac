// exo-tune list kernels|families|targets|runners|operators
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/options.h"
#include "cli/runner_choice.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "cli/workspace.h"
#include "core/base/subprocess.h"
#include "core/library/manual.h"
#include "search/families/family.h"

namespace exotune::cli {
namespace {

Table kernels(Workspace& workspace) {
  Table table({"kernel", "family", "measured at", "what"});
  for (const KernelEntry& kernel : workspace.kernels().kernels())
    table.add({kernel.name, kernel.family, kernel.sizes.empty() ? "" : str(kernel.sizes.front()),
               kernel.summary});
  return table;
}

Table family_table(const std::filesystem::path& folder) {
  Table table({"family", "routines", "kernels", "what"}, {"routines", "kernels"});
  for (const std::string& name : families::list_families(folder)) {
    const families::Family family = families::load_family(folder, name);
    size_t routines = 0, kernels = 0;
    for (const families::RoutineTemplate& routine : family.routines)
      routines += families::combinations(family, routine.axes).size();
    for (const families::KernelTemplate& kernel : family.kernels)
      kernels += families::combinations(family, kernel.axes).size();
    table.add({name, std::to_string(routines), std::to_string(kernels), family.title});
  }
  return table;
}

// What another kind of runner needs here before anything else.
std::string simulated_here(const Target& target) {
  for (const std::string& program : target.compiler.programs)
    if (!find_program(program).empty()) return target.runner.kind + ", by " + program;
  return "no compiler";
}

// Those that ship with the command, or the one in `folder`.
Table targets(Workspace& workspace, const std::string& folder) {
  Table table({"target", "instructions", "runner", "this machine", "what"}, {"instructions"});
  const std::vector<TargetPtr> wanted =
      folder.empty() ? workspace.all_targets()
                     : std::vector<TargetPtr>{workspace.targets().load(folder)};
  for (const TargetPtr& target : wanted) {
    const auto missing = missing_features(workspace.machine(), *target);
    std::string here = missing.empty() ? "runs it" : "lacks";
    for (const std::string& feature : missing) here += " " + feature;
    if (!target->runner.is_this_machine()) here = simulated_here(*target);
    table.add({target->name, std::to_string(target->instructions().size()), target->runner.kind,
               here, target->title});
  }
  return table;
}

Table operators() {
  Table table({"operator", "what"});
  for (const Operator& op : operator_table()) table.add({op.signature(), op.doc});
  return table;
}

// One operator in full, for `list operators NAME`.
ExitCode describe(const std::string& name) {
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const Operator& o : operator_table()) names.push_back(o.name);
    const std::string near = nearest(name, names);
    throw InputError({}, "there is no operator '" + name + "'",
                     near.empty() ? "exo-tune list operators" : "did you mean '" + near + "'?");
  }
  std::fputs(description_of(*op).c_str(), stdout);
  return ExitCode::kOk;
}

ExitCode list_things(const Session& session, const std::string& what, const std::string& folder,
                     Format format) {
  Workspace workspace(session);
  if (what == "operators" && !folder.empty()) return describe(folder);
  if (!folder.empty() && what != "targets")
    throw InputError({}, "list " + what + " takes no folder, found '" + folder + "'",
                     "exo-tune list targets ./my_target shows a target of your own");
  const auto print = [&](const Table& table) {
    std::fputs(table.str(format).c_str(), stdout);
    return ExitCode::kOk;
  };
  if (what == "kernels") return print(kernels(workspace));
  if (what == "families") return print(family_table(session.data.kernels / "families"));
  if (what == "targets") return print(targets(workspace, folder));
  if (what == "runners") return print(runner_table(session.data.targets / "runners"));
  if (what == "operators") return print(operators());
  const std::string near =
      nearest(what, {"kernels", "families", "targets", "runners", "operators"});
  throw InputError({}, "nothing to list under '" + what + "'",
                   near.empty() ? "kernels, families, targets, runners or operators"
                                : "did you mean '" + near + "'?");
}

}  // namespace

void add_list_verb(CLI::App& app, Session& session) {
  auto what = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  auto format = std::make_shared<FormatOption>();
  app.add_option("what", *what, "kernels, families, targets, runners or operators")->required();
  app.add_option("folder", *folder,
                 "with targets: one of your own; with operators: the name of one, told in full");
  format->add(app);
  app.callback([&session, what, folder, format] {
    session.action = [&session, what, folder, format] {
      return list_things(session, *what, *folder, format->value());
    };
  });
}

}  // namespace exotune::cli
