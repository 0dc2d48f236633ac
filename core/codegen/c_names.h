#pragma once
// C identifiers for symbols and procs. Names keep the user's spelling where C allows it: what is a
// keyword, a library name or already visible gets a suffix. Siblings may share a name (two loops
// over `i`); nothing shadows.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/symbol.h"

namespace exotune::codegen {

/// `name` as a C (and C++) identifier that is no keyword, no macro, and no function of the standard
/// library that generated code calls.
std::string c_identifier(const std::string& name);
/// The same for a function of the file: nothing that the library's headers declare either.
std::string c_function_name(const std::string& name);
/// Does `text`, from `from` on, contain `name` as a word of its own?
bool has_token(const std::string& text, const std::string& name, size_t from = 0);
/// `name`, or `name` with the first suffix _1, _2, ... that is not in `taken`.
std::string unique_name(const std::string& name, const std::set<std::string>& taken,
                        const std::set<std::string>& also = {});

/// Mirrors the blocks of the C being written: push at `{`, pop at `}`. Two names that are visible
/// at once never collide, and a name is never reused for another thing while the first is in scope.
class NameScopes {
 public:
  /// `file_names`: functions and structs that a local name must not hide; borrowed.
  explicit NameScopes(const std::set<std::string>& file_names) : file_names_(file_names) { push(); }
  explicit NameScopes(std::set<std::string>&&) = delete;
  void push() { scopes_.emplace_back(); }
  void pop();
  /// Gives `s` a name until the scope ends.
  const std::string& bind(Sym s);
  /// A name of our own until the scope ends.
  std::string fresh(const std::string& name);
  /// The name of a bound symbol; EXO_CHECK otherwise.
  const std::string& of(Sym s) const;

 private:
  const std::set<std::string>& file_names_;
  std::set<std::string> taken_;
  std::map<Sym, std::string> names_;
  std::vector<std::vector<std::string>> scopes_;
};

}  // namespace exotune::codegen
