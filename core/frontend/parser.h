#pragma once
// The object language's reader: `FILE.exo` text to typed IR. Start at parse_module.
//
// Lexing, parsing, name resolution and types happen in one pass over the text; the first offence
// throws an InputError that says file:line:col, what was expected, and the nearest name where one
// was misspelt. What is decided here: grammar, scopes, control against data, the quasi-affine rule
// (`*` has a literal side, `/` and `%` a positive literal right side), ranks, window against dense
// formals, arity. What is proved later, by `check` in core/analysis/queries.h: bounds, positive
// sizes, call preconditions, aliasing, races, precisions.
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/path.h"

namespace exotune {

/// A procedure that is left out of a module, and why.
struct RefusedProc {
  std::string name;
  InputError error;
};

/// What one file (or one target folder) defines.
struct Module {
  std::vector<ProcPtr> procs;                 // defined here, in order, instructions included
  std::vector<ProcPtr> imported_procs;        // from `from X import *`, callable here
  std::map<std::string, MemoryPtr> memories;  // own and imported; the built-in ones too
  std::map<std::string, ConfigPtr> configs;   // own and imported
  std::map<std::string, int64_t> constants;   // own and imported: integers,
  std::map<std::string, double> numbers;      // and those with a fraction, which only data takes
  std::vector<std::string> imports;           // target names, in order
  std::vector<RefusedProc> refused;           // of parse_accepted only

  /// Own procs first, then imported ones; null when there is none of that name.
  ProcPtr find_proc(const std::string& name) const;
  /// Own procs that are no instructions.
  std::vector<ProcPtr> user_procs() const;
  /// Adds everything `other` defines as if imported. Names already here win.
  void import_all(const Module& other);
};

/// Resolves `from NAME import *`. Null: there is no such target (the parser reports it where the
/// import stands). The module need only live during the call.
using Importer = std::function<const Module*(const std::string& name, const SourceLocation& where)>;

/// Reads a whole file. `prelude`: a module whose names are visible from the start, for the second
/// file of a target folder. Throws InputError at the first offence.
Module parse_module(std::string_view text, const std::string& file, const Importer& importer = {},
                    const Module* prelude = nullptr);

/// As parse_module; but procedures that are refused, and those that call them, are left out and
/// stand in Module::refused. Throws for what is no part of a procedure: the tokens of the text, a
/// name that is taken, constants, imports.
Module parse_accepted(std::string_view text, const std::string& file,
                      const Importer& importer = {});

/// The text of a control expression ("4*io + 3", "N % 8 == 0 and i < 4") over the names in `scope`,
/// innermost last. A name means the entry that prints so: where a second `i` is visible, it prints
/// and is called `i_1`. Config fields need `configs`.
ExprPtr parse_control_expr(std::string_view text, const std::vector<ScopeEntry>& scope,
                           const std::map<std::string, ConfigPtr>& configs = {});
/// The text of any expression, data included ("2.0 * A[i]"): for rewrite_expr and specialize.
ExprPtr parse_expr(std::string_view text, const std::vector<ScopeEntry>& scope,
                   const std::map<std::string, ConfigPtr>& configs = {});

/// "C[4*io:4*io+4, 0:N]", "A[i, :]", "x": the buffer and one access per dimension. `:` alone is the
/// whole dimension. With no brackets: the whole buffer. Config fields need `configs`. Result: a
/// WindowExpr (all points allowed).
ExprPtr parse_window(std::string_view text, const std::vector<ScopeEntry>& scope,
                     const std::map<std::string, ConfigPtr>& configs = {});

/// "f32", "size", ...: the scalar type so spelled, or nothing.
std::optional<ScalarType> scalar_type(std::string_view name);

}  // namespace exotune
