#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace exotune::cli {
namespace {

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

// The name that was meant: one that has no value yet, since the others were given theirs.
std::string meant(const std::string& name, const Sizes& given,
                  const std::vector<std::string>& names) {
  std::vector<std::string> open;
  for (const std::string& each : names)
    if (given.count(each) == 0) open.push_back(each);
  if (const std::string near = nearest(name, open); !near.empty()) return near;
  return open.size() == 1 ? open.front() : "";
}

void check_names(const Sizes& sizes, const std::vector<std::string>& names, bool partial) {
  for (const auto& [name, value] : sizes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = meant(name, sizes, names);
    throw InputError({}, "--size: the kernel has no size '" + name + "'",
                     near.empty() ? "its sizes: " + list(names) : "did you mean '" + near + "'?");
  }
  if (partial) return;
  for (const std::string& name : names)
    if (sizes.count(name) == 0)
      throw InputError({}, "--size: no value for " + name,
                       "this kernel needs all of: " + list(names));
}

}  // namespace

void DatabaseOption::add(CLI::App& app) {
  app.add_option("--db", file_, "the database (default $XDG_DATA_HOME/exo-tune/tune.db)");
}

std::string DatabaseOption::path(const Session& session) const {
  return file_.empty() ? session.default_database.string() : file_;
}

void FormatOption::add(CLI::App& app) {
  app.add_option("--format", text_, "table, json or csv (default table)");
}

void SizeOption::add(CLI::App& app) {
  app.add_option("--size", size_, "one size: M=512,N=512,K=512");
  app.add_option("--sizes", sizes_, "many: FIRST:LAST:STEP for every size argument, or a file");
}

Sizes SizeOption::single() const { return size_.empty() ? Sizes{} : parse_sizes("--size", size_); }

std::vector<Sizes> SizeOption::values(const std::vector<std::string>& names, bool partial) const {
  std::vector<Sizes> all;
  if (!size_.empty()) all.push_back(parse_sizes("--size", size_));
  if (!sizes_.empty())
    for (Sizes& sizes : parse_size_sweep(sizes_, names)) all.push_back(std::move(sizes));
  for (const Sizes& sizes : all) check_names(sizes, names, partial);
  return all;
}

std::vector<std::string> given_options(const CLI::App& app,
                                       const std::vector<std::string>& without) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_positional()) continue;
    const bool is_long = !option->get_lnames().empty();
    const std::string name =
        is_long ? "--" + option->get_lnames().front() : "-" + option->get_snames().front();
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    if (option->get_expected_max() == 0)
      words.push_back(name);
    else
      for (const std::string& value : option->results()) words.push_back(name + "=" + value);
  }
  return words;
}

}  // namespace exotune::cli
