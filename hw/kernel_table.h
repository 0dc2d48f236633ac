#pragma once
// KernelTable: the built-in kernels as data: which file and proc, at which sizes they are measured,
// how many operations and bytes they take, and which library call does the same. Read from
// `kernels/kernels.toml`. Start at load_kernel_table.
#include <filesystem>
#include <string>
#include <vector>

#include "core/frontend/parser.h"
#include "hw/size_formula.h"

namespace exotune {

/// The call of a BLAS library that computes the same: argument names of the proc by role ("a", "x",
/// "y", "result"), sizes by role ("m", "n", "k") and factors ("alpha", "beta"), both either an
/// argument's name or a number. How the operation reads them: runners/peers.h.
struct PeerOperation {
  std::string op;  // "gemm", "axpy", ...; empty: no library has it
  std::map<std::string, std::string> arguments;
  std::map<std::string, std::string> sizes;
  std::map<std::string, std::string> factors;
  bool trans_a = false, trans_b = false;
  bool rectify = false;
};

struct KernelEntry {
  std::string name;            // what the command line calls it; unique in the table
  std::filesystem::path file;  // absolute or relative to the working directory
  std::string proc;
  std::string family;                       // "gemm", "blas1", ...
  std::string summary;                      // one line of mathematics
  ScalarType precision = ScalarType::kF32;  // of its results
  std::vector<SizeBinding> sizes;           // measured by default; the first is the one to tune at
  std::vector<SizeBinding> calibration;  // sizes at which it teaches the cost model; may be empty
  SizeFormula flops;                     // arithmetic operations of one call
  SizeFormula bytes;                     // compulsory memory traffic of one call
  PeerOperation peer;
  /// Arguments that are the same in many calls (the weights of a layer): they may be packed ahead,
  /// once, into an order that the search chooses.
  std::vector<std::string> ahead;
  SourceLocation where;  // in kernels.toml

  /// What it computes, whatever its form: sgemv_n and sgemv_t are one operation.
  const std::string& operation() const { return peer.op.empty() ? name : peer.op; }
  /// Parses the file and returns the proc. InputError when there is none of that name.
  ProcPtr load(const Importer& importer = {}) const;
};

class KernelTable {
 public:
  explicit KernelTable(std::vector<KernelEntry> kernels) : kernels_(std::move(kernels)) {}
  const std::vector<KernelEntry>& kernels() const& { return kernels_; }
  const std::vector<KernelEntry>& kernels() const&& = delete;  // a loop over it would dangle
  const KernelEntry* find(const std::string& name) const;      // null when absent
  /// As find, but refuses (InputError) an unknown name and says which is nearest.
  const KernelEntry& at(const std::string& name) const;
  std::vector<std::string> families() const;  // in order of the table
  std::vector<const KernelEntry*> of_family(const std::string& family) const;

 private:
  std::vector<KernelEntry> kernels_;
};

/// Reads `folder`/kernels.toml. Throws InputError where the table is wrong: unknown keys, sizes
/// that a formula needs and a binding lacks, a name twice.
KernelTable load_kernel_table(const std::filesystem::path& folder);

}  // namespace exotune
