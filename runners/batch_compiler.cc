#include "runners/batch_compiler.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/base/deadline.h"
#include "core/base/hashing.h"
#include "core/base/subprocess.h"
#include "runners/file_scope_names.h"
#include "runners/other_compilers.h"

namespace exotune {

namespace {

namespace fs = std::filesystem;

// Of the time that the thread's deadline leaves: for a unit, and for each of its candidates alone
// once that was not enough. Compilers unroll some nests of a few lines into what takes
// them minutes; the others' time is not theirs.
constexpr double kShareOfUnit = 0.3, kShareOfOne = 0.1;
constexpr double kShareAgain = 0.6;  // of one that was late: who asks again has nothing else
constexpr double kLeastSeconds = 3;  // that a compiler has, however little is left

// The loop around the kernel, compiled with it: `calls` calls on `count` sets of arguments in
// turn. The pointer goes through an empty asm, so that no compiler inlines the kernel into the
// loop.
std::string trampoline(const Candidate& c, const std::string& symbol) {
  std::string call;
  // Some parameters may be left out or in another order than the arguments.
  const size_t count = c.parameters.empty() ? c.args.size() : c.parameters.size();
  for (size_t k = 0; k < count; ++k) {
    const size_t from = c.parameters.empty() ? k : c.parameters[k];
    call += (k ? ", " : "") + passed_argument(c.args[from], from);
  }
  return "__attribute__((visibility(\"default\"))) void " + symbol +
         "(void** const* sets, int64_t count, int64_t calls) {\n" + "  __typeof__(&" + c.function +
         ") kernel = " + c.function + ";\n" + "  __asm__ volatile(\"\" : \"+r\"(kernel));\n" +
         "  for (int64_t i = 0, s = 0; i < calls; ++i) {\n    void** a = sets[s];\n" +
         "    s = s + 1 < count ? s + 1 : 0;\n    kernel(" + call + ");\n  }\n}\n";
}

// Standard headers come before any renaming, so that it cannot reach into them.
std::string headers_of(const TargetToolchain& toolchain) {
  std::string text =
      "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
      "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
      "#include <string.h>\n";
  for (const std::string& line : toolchain.includes) text += line + "\n";
  return text;
}

// How code is compiled, which a compiled header must agree with.
std::vector<std::string> compilation(const TargetToolchain& toolchain) {
  std::vector<std::string> argv = {toolchain.cc};
  argv.insert(argv.end(), toolchain.flags.begin(), toolchain.flags.end());
  for (const char* flag : {"-w", "-fPIC", "-fvisibility=hidden", "-fno-semantic-interposition"})
    argv.push_back(flag);
  return argv;
}

bool is_clang(const TargetToolchain& toolchain) {
  return toolchain.cc.find("clang") != std::string::npos;
}

// Flags that say nothing to a linker: optimization and instructions.
bool links_plainly(const std::vector<std::string>& flags) {
  return std::ranges::all_of(flags, [](const std::string& flag) {
    return flag != "-Ofast" && flag != "-m32" && flag != "-mx32" &&
           (flag.starts_with("-O") || flag.starts_with("-m") || flag.starts_with("-ffp-contract"));
  });
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
}

/// One attempt to compile some of the candidates together.
class Unit {
 public:
  Unit(const TargetToolchain& toolchain, std::span<const Candidate> batch,
       const fs::path& directory, double timeout, const std::string& prologue,
       const std::string& stem)
      : toolchain_(toolchain),
        batch_(batch),
        directory_(directory),
        timeout_(timeout),
        prologue_(prologue),
        stem_(stem) {}

  /// Fills `results` of `members`, splitting as long as something fails.
  void compile(const std::vector<size_t>& members, std::vector<CompiledCandidate>& results,
               bool again) {
    compile(members, results, share_of_time(again ? kShareAgain : kShareOfUnit));
  }

 private:
  double share_of_time(double share) const {
    const double left = DeadlineScope::current().left();
    return std::min(timeout_, std::max(kLeastSeconds, share * left));
  }

  void compile(const std::vector<size_t>& members, std::vector<CompiledCandidate>& results,
               double timeout) {
    if (members.empty()) return;
    const std::string library = (directory_ / (stem_ + std::to_string(count_++) + ".so")).string();
    const fs::path source = directory_ / (fs::path(library).stem().string() + ".c");
    write_file(source, unit_text(members));
    const CommandOptions limits{directory_.string(), timeout, {}, directory_.string()};
    std::optional<CommandResult> quick = linked_by_itself(source, library, limits);
    const CommandResult run =
        quick ? std::move(*quick) : run_command(command(source, library), limits);
    // One library for all of them.
    if (run.ok()) {
      for (size_t m : members) results[m] = {library, symbol(m), "", toolchain_.threads};
      return;
    }
    // By us: not the candidates' fault.
    if (run.stopped) {
      for (size_t m : members) {
        results[m].error = "stopped before it was compiled";
        results[m].stopped = true;
      }
      return;
    }
    const std::string message =
        run.timed_out  ? "the compiler took longer than its time limit"
        : !run.started ? "the compiler '" + toolchain_.cc + "' cannot be started"
        : run.signal   ? "the compiler was killed by signal " + std::to_string(run.signal)
                       : run.err;
    if (members.size() == 1) {
      results[members[0]].error = shorten(message);
      results[members[0]].late = run.timed_out;
      return;
    }
    // After a time-out nobody is named: each alone, where who takes so long takes it from nobody.
    // All may have been long and none too long, so each has twice its part of the time, until one
    // is found that needs more than that.
    if (run.timed_out) {
      const double twice_its_part = 2 * timeout / static_cast<double>(members.size());
      bool found = false;
      for (size_t m : members) {
        const double least = share_of_time(kShareOfOne);
        compile({m}, results, found ? least : std::max(twice_its_part, least));
        found |= !results[m].ok();
      }
      return;
    }
    const std::set<size_t> guilty = named_in(run.err);
    std::vector<size_t> first, second;
    for (size_t k = 0; k < members.size(); ++k) {
      const bool left = guilty.empty() ? k < members.size() / 2 : guilty.count(members[k]) == 0;
      (left ? first : second).push_back(members[k]);
    }
    compile(first, results, timeout);
    if (guilty.empty()) return compile(second, results, timeout);
    // Alone each gets its own message, and a clash between two files is none.
    for (size_t m : second) compile({m}, results, timeout);
  }

  // clang starts itself once more for a compilation that is linked, which takes as long as a small
  // kernel does. Nothing: another compiler, what only it knows how to link, or what the linker
  // refuses and the compiler may know more of.
  std::optional<CommandResult> linked_by_itself(const fs::path& source, const std::string& library,
                                                const CommandOptions& limits) const {
    static const std::string linker = find_program("ld");
    if (linker.empty() || !is_clang(toolchain_) || !links_plainly(toolchain_.flags)) return {};
    const std::string object = library + ".o";
    std::vector<std::string> argv = compiling();
    argv.insert(argv.end(), {"-c", "-o", object, source.string()});
    CommandResult compiled = run_command(argv, limits);
    if (!compiled.ok()) return compiled;
    CommandResult linked =
        run_command({linker, "-shared", "-z", "defs", "-o", library, object, "-lm", "-lc"}, limits);
    return linked.ok() ? std::optional(std::move(linked)) : std::nullopt;
  }

  // By place in the batch.
  static std::string symbol(size_t m) { return "exo_call_" + std::to_string(m); }

  std::vector<std::string> compiling() const {
    std::vector<std::string> argv = compilation(toolchain_);
    if (!prologue_.empty()) argv.insert(argv.end(), {"-include", prologue_});
    return argv;
  }
  std::vector<std::string> command(const fs::path& source, const std::string& library) const {
    std::vector<std::string> argv = compiling();
    // A symbol nobody defines is found here, not when the whole unit is loaded.
    for (const char* flag : {"-shared", "-Wl,-z,defs", "-o"}) argv.push_back(flag);
    argv.push_back(library);
    argv.push_back(source.string());
    argv.push_back("-lm");
    return argv;
  }

  std::string unit_text(const std::vector<size_t>& members) const {
    std::string text = prologue_.empty() ? headers_of(toolchain_) : "";
    for (size_t m : members) {
      const Candidate& c = batch_[m];
      const std::string folder = "k" + std::to_string(m);
      const std::string stem = c.stem.empty() ? "kernel" : c.stem;
      fs::create_directories(directory_ / folder);
      write_file(directory_ / folder / (stem + ".c"), c.c_source);
      if (!c.h_source.empty()) write_file(directory_ / folder / (stem + ".h"), c.h_source);
      std::set<std::string> names;
      // Two files may define the same helper: each one's names get a prefix of its own by macros,
      // which leave the text as it is.
      if (members.size() > 1) {
        for (const std::string* source : {&c.h_source, &c.c_source})
          for (std::string& name : file_scope_names(*source)) names.insert(std::move(name));
        if (const std::string guard = header_guard(c.h_source); !guard.empty())
          text += "#undef " + guard + "\n";
      }
      for (const std::string& name : names)
        text += "#define " + name + " exo_" + folder + "_" + name + "\n";
      text += "#include \"" + folder + "/" + stem + ".c\"\n";
      // Errors in the trampoline name it, and not the unit.
      text += "#line 1 \"" + folder + "/trampoline.c\"\n" + trampoline(c, symbol(m));
      for (const std::string& name : names) text += "#undef " + name + "\n";
    }
    return text;
  }

  /// The members whose files the error lines name.
  std::set<size_t> named_in(const std::string& messages) const {
    std::set<size_t> out;
    std::istringstream lines(messages);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("error:") == std::string::npos) continue;
      size_t k = line.rfind("/k", line.find(": "));
      // Errors begin with "k12/stem.c:" or a path that ends so.
      k = line.rfind('k', 0) == 0 ? 1 : k == std::string::npos ? k : k + 2;
      if (k == std::string::npos) continue;
      size_t m = 0, digits = 0;
      for (; k < line.size() && isdigit(static_cast<unsigned char>(line[k])); ++k, ++digits)
        m = m * 10 + static_cast<size_t>(line[k] - '0');
      if (digits > 0 && k < line.size() && line[k] == '/' && m < batch_.size()) out.insert(m);
    }
    return out;
  }

  /// The first errors, without the folders we put the files in.
  std::string shorten(const std::string& message) const {
    std::istringstream lines(message);
    std::string out, rest;
    int kept = 0;
    const std::string prefix = directory_.string() + "/";
    for (std::string line; std::getline(lines, line);) {
      for (size_t at; (at = line.find(prefix)) != std::string::npos;) line.erase(at, prefix.size());
      // The folder of the candidate, of up to six digits.
      if (line[0] == 'k' && line.find('/') < 8) line.erase(0, line.find('/') + 1);
      const size_t unresolved = line.find("undefined reference to ");
      if (unresolved != std::string::npos) line.erase(0, unresolved);
      const bool names_error =
          unresolved != std::string::npos ||
          (line.find("error:") != std::string::npos && line.rfind("collect2", 0) != 0);
      if (names_error && kept < 3) {
        out += (out.empty() ? "" : "\n") + line;
        ++kept;
      }
      // In case no line is an error's.
      if (rest.size() < 600) rest += (rest.empty() ? "" : "\n") + line;
    }
    return kept > 0 ? out : rest.empty() ? "the compiler failed without a message" : rest;
  }

  const TargetToolchain& toolchain_;
  std::span<const Candidate> batch_;
  fs::path directory_;
  double timeout_;
  std::string prologue_;
  std::string stem_;  // of the files
  int count_ = 0;
};

}  // namespace

// What is compiled, flags aside, which are the toolchain's: equal keys share one result.
std::string compilation_key(const Candidate& candidate) {
  std::string text = trampoline(candidate, "");
  for (const std::string* part :
       {&candidate.stem, &candidate.h_source, &candidate.c_source, &candidate.compiler}) {
    text += '\0';
    text += *part;
  }
  return content_hash(text);
}

std::string compile_prologue(const TargetToolchain& toolchain, const std::string& directory,
                             double timeout_seconds) {
  const std::string header = directory + "/prologue.h";
  write_file(header, headers_of(toolchain));
  // They look for their compiled headers under different names.
  const bool clang = is_clang(toolchain);
  std::vector<std::string> argv = compilation(toolchain);
  for (const std::string& a : {std::string("-x"), std::string("c-header"), header,
                               std::string("-o"), header + (clang ? ".pch" : ".gch")})
    argv.push_back(a);
  return run_command(argv, {directory, timeout_seconds, {}, directory}).ok() ? header : "";
}

std::vector<CompiledCandidate> compile_batch(const TargetToolchain& toolchain,
                                             std::span<const Candidate> batch,
                                             const std::string& directory, double timeout_seconds,
                                             const std::string& prologue, bool again) {
  std::vector<CompiledCandidate> results(batch.size());
  std::map<std::string, std::vector<size_t>> by_compiler;
  // A candidate may ask for another compiler: peers, and nests as written.
  for (size_t k = 0; k < batch.size(); ++k) by_compiler[batch[k].compiler].push_back(k);
  int other = 0;
  const Deadline whole = DeadlineScope::current();
  for (const auto& [name, members] : by_compiler) {
    const std::optional<TargetToolchain> own = with_compiler(toolchain, name);
    if (!own) {
      for (const size_t m : members)
        results[m].error = "the compiler " + name + " is not installed";
      continue;
    }
    // Compiled headers are of the toolchain's own compiler.
    const std::string stem = name.empty() ? "unit" : "other" + std::to_string(other++) + "unit";
    double timeout = timeout_seconds;
    Deadline patience = whole;
    for (const OtherCompiler& c : other_compilers())
      if (c.name == name) {
        timeout = std::min(timeout, c.timeout_seconds);
        patience = whole.within(c.share * whole.left());
      }
    const DeadlineScope scope(patience);
    Unit(*own, batch, directory, timeout, name.empty() ? prologue : "", stem)
        .compile(members, results, again);
  }
  return results;
}

}  // namespace exotune
