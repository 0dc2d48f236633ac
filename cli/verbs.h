#pragma once
// The verbs of the command, one file each (cli/NAME_verb.cc). Each function puts a verb's options
// on its CLI11 sub-command and sets Session::action when that verb was asked for.
namespace CLI {
class App;
}

namespace exotune::cli {

struct Session;

/// In the order in which the help shows them.
void add_kernel_verb(CLI::App& app, Session& session);
void add_complete_verb(CLI::App& app, Session& session);
void add_schedule_verb(CLI::App& app, Session& session);
void add_eqsat_verb(CLI::App& app, Session& session);
void add_verify_verb(CLI::App& app, Session& session);
void add_bench_verb(CLI::App& app, Session& session);
void add_calibrate_verb(CLI::App& app, Session& session);
void add_explain_verb(CLI::App& app, Session& session);
void add_family_verb(CLI::App& app, Session& session);
void add_list_verb(CLI::App& app, Session& session);
void add_db_verb(CLI::App& app, Session& session);
void add_doctor_verb(CLI::App& app, Session& session);
void add_worker_verb(CLI::App& app, Session& session);
void add_manual_verb(CLI::App& app, Session& session);

}  // namespace exotune::cli
