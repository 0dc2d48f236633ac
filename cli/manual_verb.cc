// exo-tune manual man|bash-completion: the command describes itself, so that what is installed
// cannot fall behind what it takes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/session.h"
#include "cli/verbs.h"

namespace exotune::cli {
namespace {

// Text as roff takes it: a leading dot or quote is no request, a minus no hyphen.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

std::string option_names(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name();
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "--" : ", --") + name;
  return names;
}

std::string options_man(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options())
    if (option->get_name() != "--help")
      out +=
          ".TP\n.B " + roff(option_names(*option)) + "\n" + roff(option->get_description()) + "\n";
  return out;
}

std::string verb_man(const CLI::App& app, const std::string& name) {
  std::string out =
      ".SS " + roff(name) + "\n" + roff(app.get_description()) + "\n" + options_man(app);
  for (const CLI::App* sub : app.get_subcommands({}))
    out += verb_man(*sub, name + " " + sub->get_name());
  return out;
}

std::string man_page(const CLI::App& root) {
  std::string out = ".TH EXO-TUNE 1 \"\" \"exo-tune " EXOTUNE_VERSION
                    "\"\n.SH NAME\nexo\\-tune \\- " +
                    roff("searches for fast, proved schedules of loop nests") +
                    "\n.SH SYNOPSIS\n.B exo\\-tune\n.I VERB\n[arguments]\n.SH VERBS\n";
  for (const CLI::App* verb : root.get_subcommands({})) out += verb_man(*verb, verb->get_name());
  return out +
         ".SH EXIT STATUS\n0 done; 1 our fault; 2 input; 3 no valid candidate; 4 a requirement was "
         "not met; 5 verification found a difference; 6 compiler, runner or target not available; "
         "130 interrupted, the best so far written.\n";
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : app.get_subcommands({})) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
    for (const std::string& name : option->get_snames()) words += "-" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

void add_cases(const CLI::App& app, const std::string& path, std::string& cases) {
  for (const CLI::App* sub : app.get_subcommands({})) {
    const std::string name = path.empty() ? sub->get_name() : path + " " + sub->get_name();
    add_cases(*sub, name, cases);
    cases += "    \"" + name + "\"*) words=\"" + words_of(*sub) + "\" ;;\n";
  }
}

std::string bash_completion(const CLI::App& root) {
  std::string cases;
  add_cases(root, "", cases);
  return "# bash completion of exo-tune: verbs and their options; files otherwise.\n"
         "_exo_tune() {\n"
         "  local words line=\"${COMP_WORDS[*]:1:COMP_CWORD-1}\"\n"
         "  case \"$line\" in\n" +
         cases + "    *) words=\"" + words_of(root) +
         "\" ;;\n  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\ncomplete -o default -F _exo_tune exo-tune\n";
}

}  // namespace

void add_manual_verb(CLI::App& app, Session& session) {
  auto what = std::make_shared<std::string>("man");
  app.add_option("what", *what, "man (a page, default) or bash-completion (a script)");
  app.callback([&session, &app, what] {
    session.action = [&app, what] {
      const CLI::App& root = *app.get_parent();
      if (*what != "man" && *what != "bash-completion")
        throw InputError({}, "no manual of the form '" + *what + "'", "man or bash-completion");
      std::fputs((*what == "man" ? man_page(root) : bash_completion(root)).c_str(), stdout);
      return ExitCode::kOk;
    };
  });
}

}  // namespace exotune::cli
