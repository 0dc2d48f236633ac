// exo-tune list kernels|targets
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/kernel_folder.h"
#include "cli/session.h"
#include "cli/verbs.h"

namespace exotune::cli {
namespace {

ExitCode list(const Session& session, const std::string& what) {
  if (what == "kernels") {
    for (const std::string& name : kernel_names(session.data.kernels)) std::puts(name.c_str());
    return ExitCode::kOk;
  }
  const std::string near = nearest(what, {"kernels", "targets"});
  throw InputError({}, "nothing to list under '" + what + "'",
                   near.empty() ? "kernels or targets" : "did you mean '" + near + "'?");
}

}  // namespace

void add_list_verb(CLI::App& app, Session& session) {
  auto what = std::make_shared<std::string>("kernels");
  app.add_option("what", *what, "kernels or targets");
  app.callback([&session, what] { session.action = [&session, what] { return list(session, *what); }; });
}

}  // namespace exotune::cli
