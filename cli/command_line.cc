#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>

#include "cli/program.h"
#include "hw/kernel_table.h"

namespace exotune::cli {
namespace {

constexpr const char* kVersion = "exo-tune " EXOTUNE_VERSION;

bool is_verb(const std::vector<Verb>& verbs, const std::string& word) {
  return word == "tune" ||
         std::any_of(verbs.begin(), verbs.end(), [&](const Verb& v) { return word == v.name; });
}

std::vector<std::string> verb_names(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  names.push_back("tune");
  return names;
}

// The flags a sub-command knows, as the user types them.
std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> sub_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

// What CLI11 could not place, as an InputError that names the nearest flag.
[[noreturn]] void refuse_extras(const CLI::App& app, const std::string& extra) {
  const std::string word = extra.substr(0, extra.find('='));
  const bool flag = word.size() > 1 && word[0] == '-';
  const std::string near = nearest(word, flag ? flag_names(app) : sub_names(app));
  throw InputError(
      {}, (flag ? "unknown option '" : "unexpected argument '") + word + "' of " + app.get_name(),
      near.empty() ? "exo-tune " + app.get_name() + " --help lists them"
                   : "did you mean '" + near + "'?");
}

std::vector<std::string> kernel_names(const Session& session) {
  std::vector<std::string> names;
  const KernelTable table = load_kernel_table(session.data.kernels);
  for (const KernelEntry& kernel : table.kernels()) names.push_back(kernel.name);
  return names;
}

// The sub-command that was asked for last.
const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* asked = &app;
  while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
  return *asked;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : path_of(*app.get_parent()) + " " + app.get_name();
}

// An argument that must be given and was not, with what it means.
[[noreturn]] void refuse_missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_required() && option->count() == 0) {
      const std::string name =
          option->get_positional() ? "<" + option->get_name() + ">" : option->get_name();
      throw InputError({}, path_of(app) + ": " + name + " is missing: " + option->get_description(),
                       path_of(app) + " --help shows all it takes");
    }
  throw InputError({}, path_of(app) + ": an argument is missing",
                   path_of(app) + " --help shows all it takes");
}

// "--trials: Value 0 not in range 0.000000 to 1797693134..." (the greatest double) in words.
std::string in_words(const std::string& message) {
  const size_t value = message.find(": Value "), range = message.find(" not in range ");
  if (value == std::string::npos || range == std::string::npos || message.size() < range + 60)
    return message;
  return message.substr(0, value) + ": must be more than 0, not" +
         message.substr(value + 7, range - value - 7);
}

// The words for a shell to read again.
std::string as_typed(const std::vector<std::string>& words) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+%@";
  std::string text = "exo-tune";
  for (const std::string& word : words) {
    text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

// What stdout did not take is no result: a full disk must not look like success.
void require_written() {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush();
  if (!written)
    throw InputError({}, "cannot write the result to the standard output",
                     "is the disk full, or the other end of the pipe gone?");
}

// What no verb on the way down took.
void refuse_leftovers(const CLI::App& app) {
  const CLI::App* asked = &app;
  while (!asked->get_subcommands().empty()) {
    asked = asked->get_subcommands().front();
    if (const auto extras = asked->remaining(); !extras.empty())
      refuse_extras(*asked, extras.front());
  }
}

ExitCode dispatch(const Program& program, std::vector<std::string> arguments) {
  Session session = make_session();
  session.parts = &program.parts;
  if (!arguments.empty() && !is_verb(program.verbs, arguments.front()))
    arguments = with_verb(program.verbs, std::move(arguments), kernel_names(session));

  session.command = as_typed(arguments);

  CLI::App app{"Searches for fast, proved schedules of loop nests.", "exo-tune"};
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", kVersion);
  app.footer("exo-tune NAME ... is short for exo-tune kernel NAME ...");
  for (const Verb& verb : program.verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    sub->allow_extras();
    verb.add(*sub, session);
    if (std::string(verb.name) == "kernel") sub->alias("tune");
  }

  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 wants a vector in
  try {
    app.parse(arguments);
  } catch (const CLI::Success& asked_for_help) {
    return static_cast<ExitCode>(app.exit(asked_for_help));
  } catch (const CLI::RequiredError&) {
    refuse_missing(deepest(app));
  } catch (const CLI::ParseError& error) {
    throw InputError({}, in_words(error.what()),
                     "exo-tune --help lists the verbs, exo-tune VERB --help its options");
  }
  refuse_leftovers(app);
  if (!session.action) {
    std::fputs(app.help().c_str(), stdout);
    return ExitCode::kOk;
  }
  return session.action();
}

}  // namespace

std::vector<std::string> with_verb(const std::vector<Verb>& verbs,
                                   std::vector<std::string> arguments,
                                   const std::vector<std::string>& kernel_names) {
  if (arguments.empty()) return arguments;
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help" || first == "--version" || is_verb(verbs, first))
    return arguments;
  const bool kernel =
      first.starts_with("-") || first.starts_with("einsum:") ||
      first.find(".exo") != std::string::npos ||
      std::find(kernel_names.begin(), kernel_names.end(), first) != kernel_names.end();
  if (!kernel) {
    std::vector<std::string> known = verb_names(verbs);
    known.insert(known.end(), kernel_names.begin(), kernel_names.end());
    const std::string near = nearest(first, known);
    throw InputError(
        {}, "'" + first + "' is neither a verb, nor a built-in kernel, nor a .exo file",
        near.empty() ? "exo-tune list kernels shows the kernels, exo-tune --help the verbs"
                     : "did you mean '" + near + "'?");
  }
  arguments.insert(arguments.begin(), "kernel");
  return arguments;
}

int run(const Program& program, std::vector<std::string> arguments) {
  try {
    const ExitCode code = dispatch(program, std::move(arguments));
    require_written();
    return static_cast<int>(code);
  } catch (const Error& error) {
    std::fflush(stdout);
    std::fputs(error.what(), stderr);
    return static_cast<int>(error.exit_code());
  } catch (const std::length_error&) {
    std::fputs("error: too large to be held in memory\nhint: try smaller sizes\n", stderr);
    return static_cast<int>(ExitCode::kInput);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\nhint: try smaller sizes or fewer jobs\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\nhint: please report this with the input\n", error.what());
  }
  return static_cast<int>(ExitCode::kInternal);
}

}  // namespace exotune::cli
