#include "cli/executor_option.h"

#include <CLI/CLI.hpp>

#include "hw/toml_table.h"

namespace exotune::cli {
namespace {
namespace fs = std::filesystem;

int positive(const TomlTable& table, const std::string& key, int absent) {
  const int64_t value = table.integer_or(key, absent);
  if (value < 1 || value > 1000000)
    throw InputError(table.where(key), "'" + key + "' is a number from 1 to 1000000");
  return static_cast<int>(value);
}

}  // namespace

void ExecutorOption::add(CLI::App& app) {
  app.add_option("--executor", kind_,
                 "local or slurm[:PARTITION] (default local): who does the measuring");
  app.add_option("--cluster-dir", folder_,
                 "a folder that all nodes see, for requests and results (default: beside the "
                 "database)");
  app.add_option("--machine", machine_,
                 "the fingerprint of the nodes to measure on, or any (default: this machine's)");
  app.add_option("--sbatch", sbatch_, "an option for sbatch, as it is: --sbatch=--time=30");
  app.add_option("--gres", gres_, "what each task needs, such as board:1");
  app.add_option("--constraint", constraint_, "features that nodes must have, as Slurm names them");
  app.add_option("--attempts", attempts_, "at each shard, before it is given up (default 3)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--bundle", bundle_, "shards a task (default 1)")->check(CLI::Range(1, 1000000));
  app.add_flag("--shared-nodes", shared_nodes_,
               "others may work on the nodes meanwhile: times are worth less");
}

void ExecutorOption::read(const Session& session) {
  const bool asked = !kind_.empty();
  std::error_code ignored;
  if (fs::exists(session.config_file, ignored)) {
    const TomlTable file = TomlTable::read(session.config_file);
    file.allow_only({"executor", "cluster_dir", "machine", "slurm"});
    if (!asked) kind_ = file.text_or("executor", "");
    if (folder_.empty()) folder_ = file.text_or("cluster_dir", "");
    if (machine_.empty()) machine_ = file.text_or("machine", "");
    if (file.has("slurm")) {
      const TomlTable slurm = file.table("slurm");
      slurm.allow_only({"sbatch", "attempts", "bundle", "exclusive", "command"});
      std::vector<std::string> options = slurm.texts("sbatch");
      options.insert(options.end(), sbatch_.begin(), sbatch_.end());  // the last one counts
      sbatch_ = std::move(options);
      if (attempts_ == 0) attempts_ = positive(slurm, "attempts", kShardAttempts);
      if (bundle_ == 0) bundle_ = positive(slurm, "bundle", 1);
      shared_nodes_ = shared_nodes_ || !slurm.boolean_or("exclusive", true);
      command_ = slurm.text_or("command", "");
    }
  }
  if (kind_.empty()) kind_ = "local";
  const size_t colon = kind_.find(':');
  if (colon != std::string::npos) {
    partition_ = kind_.substr(colon + 1);
    kind_.resize(colon);
  }
  if (kind_ != "slurm" && (kind_ != "local" || colon != std::string::npos)) {
    const std::string near = nearest(kind_, {"local", "slurm"});
    throw InputError({}, "--executor: there is no executor '" + kind_ + "'",
                     near.empty() || near == kind_ ? "local or slurm[:PARTITION]"
                                                   : "did you mean '" + near + "'?");
  }
}

std::vector<std::string> ExecutorOption::names() {
  return {"--executor",   "--cluster-dir", "--machine", "--sbatch",      "--gres",
          "--constraint", "--attempts",    "--bundle",  "--shared-nodes"};
}

std::string ExecutorOption::machine_word(const std::string& here) const {
  return local() || machine_.empty() ? here : machine_;
}

}  // namespace exotune::cli
