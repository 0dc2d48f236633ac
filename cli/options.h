#pragma once
// Options that several verbs share, as small groups: each puts its flags on a CLI11 sub-command and
// hands out the checked value.
#include <filesystem>
#include <string>

#include "cli/quantities.h"
#include "cli/session.h"
#include "cli/table.h"

namespace exotune::cli {

/// --db FILE
/// Where results are kept between runs.
class DatabaseOption {
 public:
  void add(CLI::App& app);
  /// The file: as given (":memory:" for none on disk), else $XDG_DATA_HOME/exo-tune/tune.db.
  std::string path(const Session& session) const;

 private:
  std::string file_;
};

/// --format table|json|csv How tables are printed; `json` and `csv` are for programs and have no
/// extra words.
class FormatOption {
 public:
  void add(CLI::App& app);
  Format value() const { return parse_format(text_); }

 private:
  std::string text_ = "table";
};

/// --size M=512,N=512 | --sizes a:b:step | FILE
/// One size, several, or a file of them.
class SizeOption {
 public:
  void add(CLI::App& app);
  bool given() const { return !size_.empty() || !sizes_.empty(); }
  /// The value of --size, whatever the kernel's size arguments are; empty when it was not given.
  Sizes single() const;
  /// Every size asked for, over the kernel's size arguments `names`. `--size` may name some of them
  /// only when `partial`; InputError for a name the kernel has not (with the nearest) and for a
  /// missing one. Empty when neither option was given.
  std::vector<Sizes> values(const std::vector<std::string>& names, bool partial = false) const;

 private:
  std::string size_;
  std::string sizes_;
};

/// The options that were given on the command line, as "--name=value", but for those of `without`
/// and positional ones.
std::vector<std::string> given_options(const CLI::App& app,
                                       const std::vector<std::string>& without);

}  // namespace exotune::cli
