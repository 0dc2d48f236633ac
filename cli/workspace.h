#pragma once
// What the verbs work with: the targets, the built-in kernels, this machine, and the user's files,
// each read when first asked for. Start at Workspace.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/session.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"

namespace exotune::cli {

/// A kernel as the command line names it: a row of the table, or a proc of a file.
struct KernelInput {
  std::string name;                    // of the row, else of the proc
  const KernelEntry* entry = nullptr;  // null for a user's file; belongs to the workspace
  Module module;                       // what its file defines
  ProcPtr proc;                        // null only when the caller allowed it
};

/// The row that describes the kernel to the tuner: the table's, or for a user's file one whose
/// operations, bytes and precision are counted from the text. A formula that the table leaves out
/// is counted too. `named`: as the command line names it.
KernelEntry described(const KernelInput& input, const std::string& named);

/// What a kernel's records are found by: the content hash of what it means, whatever its name, its
/// file and the names in it.
std::string kernel_hash(const Proc& kernel);

/// Where "FILE.exo:proc" has its file and its proc ("" when it names none).
struct FileAndProc {
  std::string file, proc;
};
FileAndProc split_file_and_proc(const std::string& text);

class Workspace {
 public:
  explicit Workspace(const Session& session);

  TargetLibrary& targets() { return targets_; }
  const KernelTable& kernels();
  const Machine& machine();

  /// `name`: a target or a folder; "": the best one this machine runs. Error(kUnavailable) when
  /// there is none. Where `kernel` is given, "" is the best for its arguments, narrow elements
  /// first: instructions for bytes where it is of bytes.
  TargetPtr target(const std::string& name, const Proc* kernel = nullptr);
  /// The targets that ship with the command, by name. One whose text is wrong is left out, which
  /// is said once on stderr: who asks for another has no part in it.
  std::vector<TargetPtr> all_targets();
  /// Those of them that run on this machine.
  std::vector<TargetPtr> runnable();
  /// Error(kUnavailable), naming the missing features and the targets that would do, when `target`
  /// is native and this machine cannot run it.
  void require_runnable(const Target& target);

  /// "sgemm", "FILE.exo" or "FILE.exo:proc". With several procs and none named: InputError that
  /// lists them, or, when `all_procs`, a null proc. Procs of the file that are refused are an error
  /// where they are asked for, or none is named; else they are left out, which is said on stderr.
  KernelInput kernel(const std::string& text, bool all_procs = false);
  /// For a script: of several procs and none named, the one that its first line names (`p = f`).
  /// Else an InputError at that line.
  KernelInput kernel(const std::string& text, const std::string& script,
                     const std::string& script_file);

 private:
  /// A file's procs, checked: the accepted ones and the refused ones.
  Module module(const std::string& path);
  KernelInput of_file(Module module, const FileAndProc& wanted, bool all_procs);
  KernelInput of_script(const std::string& text, const std::string& script,
                        const std::string& script_file);
  /// What the kernel and those that it calls hardly mean, or all of the file where none is picked,
  /// is said once on stderr.
  void warn_of(const KernelInput& input);
  void warn_of(const ProcPtr& proc);
  /// What is refused in the file of a kernel is said once on stderr: nobody asked for it.
  void warn_of_refused(const KernelInput& input);

  const Session& session_;
  TargetLibrary targets_;
  std::optional<KernelTable> kernels_;
  std::optional<Machine> machine_;
  std::set<std::string> left_out_;  // targets that were said to be wrong
  std::set<std::string> warned_;    // what was said of programs
};

}  // namespace exotune::cli
