#include "runners/command/program.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/subprocess.h"
#include "runners/guarded_arguments.h"

namespace exotune {
// One program that holds a test and its kernel, for a machine that can do nothing but run programs.
// The test (data, what is expected, the checking loop) is compiled once; each candidate is one more
// file that is linked to it.
//
// What it needs besides (sources/) uses nothing but the compiler's own headers and is the same for
// every runner (contract.h). Memory from 0x80000000: code and constants, `tohost`, a gap, the
// stack, data. The stack grows towards the gap, so that a simulator that refuses stores there
// catches its overflow. A program for Linux has its system's start-up code and C library instead,
// counts nothing itself, and marks by a system call that no system has where what is to be counted
// begins and ends.

// Made by exotune_embed of sources/.
const char* bare_metal_source(const std::string& file);

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostArguments = 64;  // as main.c has it

void write(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string_view as_text(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

// The candidate's file: its own code, and a function without types through which the test calls it.
std::string unit_text(const TargetToolchain& toolchain, const Candidate& c,
                      const std::string& file) {
  std::string text = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n";
  for (const std::string& line : toolchain.includes) text += line + "\n";
  text += "#include \"" + file + "\"\n";
  std::string call;
  const size_t count = c.parameters.empty() ? c.args.size() : c.parameters.size();
  for (size_t k = 0; k < count; ++k) {
    const size_t from = c.parameters.empty() ? k : c.parameters[k];
    call += (k ? ", " : "") + passed_argument(c.args[from], from);
  }
  // Through a pointer that the compiler cannot see through: the kernel is compiled as it is.
  return text + "const char exo_kernel_id[] = \"" + c.id +
         "\";\nvoid exo_kernel(void** a) {\n  (void)a;\n  __typeof__(&" + c.function +
         ") exo_call = " + c.function +
         ";\n  __asm__ volatile(\"\" : \"+r\"(exo_call));\n  exo_call(" + call + ");\n}\n";
}

/// The tables of one test, and its data as files beside them.
class ProblemText {
 public:
  ProblemText(const PreparedCase& prepared, fs::path folder)
      : prepared_(prepared), folder_(std::move(folder)) {
    for (size_t a = 0; a < prepared.specs.size(); ++a) add(a);
  }
  std::string c() const {
    char tolerance[40];
    std::snprintf(tolerance, sizeof tolerance, "%.17g", prepared_.tolerance);
    return "#include \"exo_tune.h\"\n" + declarations_ + "const struct exo_arg exo_args[] = {\n" +
           table_ + "};\nconst int exo_arg_count = " + std::to_string(prepared_.specs.size()) +
           ";\nconst double exo_tolerance = " + tolerance + ";\n";
  }
  std::string assembly() const { return "  .section .rodata\n" + data_; }

 private:
  std::string blob(const std::string& name, const std::vector<uint8_t>& bytes) {
    write(folder_ / name, as_text(bytes));
    data_ +=
        "  .balign 64\n  .globl exo_" + name + "\nexo_" + name + ":\n  .incbin \"" + name + "\"\n";
    declarations_ += "extern const unsigned char exo_" + name + "[];\n";
    return "exo_" + name;
  }

  // By element of the whole span; what lies between strides must not change at all.
  std::string slack(size_t a) {
    const ArgSpec& spec = prepared_.specs[a];
    std::vector<double> all(static_cast<size_t>(spec.span_elements()), 0);
    const std::vector<int64_t> offsets = spec.element_offsets();
    for (size_t k = 0; k < offsets.size(); ++k)
      all[static_cast<size_t>(offsets[k])] = prepared_.args[a].slack[k];
    std::vector<uint8_t> bytes(all.size() * sizeof(double));
    std::memcpy(bytes.data(), all.data(), bytes.size());
    return "(const double*)" + blob("slack_" + std::to_string(a), bytes);
  }

  // Large data goes into files that the assembler includes: a C array of a million numbers takes a
  // compiler minutes.
  void add(size_t a) {
    const ArgSpec& spec = prepared_.specs[a];
    const std::string k = std::to_string(a);
    if (spec.kind == ArgSpec::Kind::kControl || spec.kind == ArgSpec::Kind::kBool) {
      const int64_t value = spec.kind == ArgSpec::Kind::kBool ? spec.value != 0 : spec.value;
      table_ += "  {.kind = EXO_VALUE, .value = " + std::to_string(value) + "},\n";
      return;
    }
    std::vector<uint8_t> image[2] = {prepared_.args[a].image(0), prepared_.args[a].image(1)};
    if (!spec.is_data())
      image[0] = image[1] =
          std::vector<uint8_t>(static_cast<size_t>(std::max<int64_t>(spec.value, 1)), 0);
    const bool poisoned = image[0] != image[1] || (spec.is_written && !spec.is_read);
    const std::string first = blob("image_" + k + "_0", image[0]);
    const std::string second = image[0] == image[1] ? first : blob("image_" + k + "_1", image[1]);
    const std::string bytes = std::to_string(image[0].size());
    declarations_ += "static unsigned char work_" + k + "[" + bytes +
                     " + 2 * EXO_GUARD] __attribute__((aligned(64)));\n";
    table_ += "  {.kind = " +
              std::string(spec.kind == ArgSpec::Kind::kWindow ? "EXO_WINDOW" : "EXO_DATA") +
              ", .image = {" + first + ", " + second + "}, .work = work_" + k +
              " + EXO_GUARD, .bytes = " + bytes + ", .poisoned = " + (poisoned ? "1" : "0");
    if (spec.is_data() && !prepared_.args[a].expected.empty())
      table_ += ", .want = " + blob("want_" + k, prepared_.args[a].expected);
    if (spec.type == ElementType::kF32 || spec.type == ElementType::kF64)
      table_ += spec.type == ElementType::kF32 ? ", .type = EXO_F32" : ", .type = EXO_F64";
    table_ += ", .element = " + std::to_string(spec.is_data() ? element_bytes(spec.type) : 1);
    if (spec.is_data() && !prepared_.args[a].slack.empty()) table_ += ", .slack = " + slack(a);
    if (spec.kind == ArgSpec::Kind::kWindow) {
      std::string strides;
      for (const int64_t s : spec.element_strides())
        strides += (strides.empty() ? "" : ", ") + std::to_string(s);
      declarations_ += "static const int64_t strides_" + k + "[] = {" + strides + "};\n";
      table_ += ", .rank = " + std::to_string(spec.shape.size()) + ", .strides = strides_" + k;
    }
    table_ += "},\n";
  }

  const PreparedCase& prepared_;
  fs::path folder_;
  std::string declarations_, table_, data_;
};

// What a compiled test depends on: forms of arguments and the data itself.
std::string forms_text(const std::vector<ArgSpec>& args) {
  std::string text;
  for (const ArgSpec& s : args) {
    text += s.name + '\0' + std::to_string(static_cast<int>(s.kind)) + ',' +
            std::to_string(static_cast<int>(s.type)) + ',' + std::to_string(s.value) + ',';
    for (const int64_t n : s.element_strides()) text += std::to_string(n) + ',';
  }
  return text;
}

bool same_data(const TestCase& a, const TestCase& b) {
  return a.tolerance == b.tolerance && a.inputs == b.inputs && a.expected == b.expected &&
         a.slack == b.slack;
}

std::string key_of(const std::string& forms, const PreparedCase& prepared) {
  std::string text = forms;
  for (const PreparedCase::Arg& arg : prepared.args) {
    for (const auto* bytes : {&arg.image(0), &arg.image(1), &arg.expected})
      text += as_text(*bytes), text += '\0';
    text += bytes_of(arg.slack) + '\0';
  }
  return content_hash(text + std::to_string(prepared.tolerance));
}

// The first errors, without the folder the files are in.
std::string shortened(std::string message, const std::string& folder) {
  for (size_t at; (at = message.find(folder + "/")) != std::string::npos;)
    message.erase(at, folder.size() + 1);
  std::istringstream lines(message);
  std::string out, rest;
  int kept = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool error = line.find("error:") != std::string::npos ||
                       line.find("Error:") != std::string::npos ||
                       line.find("undefined reference") != std::string::npos;
    if (error && line.rfind("collect2", 0) != 0 && kept < 3) out += (kept++ ? "\n" : "") + line;
    if (rest.size() < 600) rest += (rest.empty() ? "" : "\n") + line;
  }
  return kept > 0 ? out : rest.empty() ? "the compiler failed without a message" : rest;
}

}  // namespace

ProgramBuilder::ProgramBuilder(TargetToolchain toolchain, std::string directory,
                               double timeout_seconds, ProgramForm form)
    : toolchain_(std::move(toolchain)),
      directory_(std::move(directory)),
      timeout_seconds_(timeout_seconds),
      form_(form) {
  if (find_program(toolchain_.cc).empty())
    throw Error(
        Diagnostic{
            {}, "the cross compiler '" + toolchain_.cc + "' is not installed", {}, packages()},
        ExitCode::kUnavailable);
  const fs::path folder = directory_;
  write(folder / "exo_tune.h", bare_metal_source("exo_tune.h.in"));
  write(folder / "main.c", bare_metal_source("main.c"));
  if (form_ == ProgramForm::kLinux) {
    toolchain_.flags.push_back("-DEXO_LINUX");
    write(folder / "host.c", bare_metal_source("linux_host.c"));
    for (const char* source : {"host.c", "main.c"}) compile_shared(source);
    return;
  }
  // Kernels may use the mathematical functions of a C library; the runtime itself needs none.
  const CommandResult specs = run_command({toolchain_.cc, "-print-file-name=picolibc.specs"}, {});
  if (specs.out.find('/') != std::string::npos) libraries_ = {"-specs=picolibc.specs"};
  write(folder / "start.S", bare_metal_source("start.S"));
  write(folder / "link.ld", bare_metal_source("link.ld"));
  write(folder / "host.c", bare_metal_source("host.c"));
  for (const char* source : {"start.S", "host.c", "main.c"}) compile_shared(source);
}

// By Debian's names: "aarch64-linux-gnu-gcc" is in gcc-aarch64-linux-gnu.
std::string ProgramBuilder::packages() const {
  if (form_ == ProgramForm::kBareMetal)
    return "apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf";
  const std::string machine = toolchain_.cc.substr(0, toolchain_.cc.find('-'));
  return "apt-get install gcc-" + machine + "-linux-gnu libc6-dev-" +
         (machine == "aarch64" ? "arm64" : machine) + "-cross";
}

void ProgramBuilder::compile_shared(const std::string& source) {
  const std::string object = source.substr(0, source.rfind('.')) + ".o";
  const BuiltProgram built = compile({source}, object, false);
  if (!built.ok())
    throw Error(
        Diagnostic{{},
                   "'" + toolchain_.cc + "' does not compile the start-up code: " + built.error,
                   {},
                   packages()},
        ExitCode::kUnavailable);
  shared_.push_back(object);
}

BuiltProgram ProgramBuilder::compile(const std::vector<std::string>& sources,
                                     const std::string& output, bool link) const {
  std::vector<std::string> argv = {toolchain_.cc};
  argv.insert(argv.end(), toolchain_.flags.begin(), toolchain_.flags.end());
  argv.insert(argv.end(), libraries_.begin(), libraries_.end());
  for (const char* flag : {"-w", "-fno-pic"}) argv.push_back(flag);
  if (link && form_ == ProgramForm::kLinux) {
    argv.insert(argv.end(), {"-static", "-no-pie"});
  } else if (link) {
    for (const char* flag : {"-nostartfiles", "-static", "-T", "link.ld", "-Wl,--build-id=none"})
      argv.push_back(flag);
  } else {
    argv.push_back("-c");
  }
  argv.insert(argv.end(), {"-o", output});
  argv.insert(argv.end(), sources.begin(), sources.end());
  if (link && (form_ == ProgramForm::kLinux || !libraries_.empty())) argv.push_back("-lm");
  const CommandResult run = run_command(argv, {directory_, timeout_seconds_, {}, directory_});
  if (run.ok()) return {(fs::path(directory_) / output).string(), ""};
  if (run.timed_out) return {"", "the compiler took longer than its time limit"};
  if (run.stopped) return {"", "the time was over before it was compiled", true};
  return {"", shortened(run.err, directory_)};
}

// Compiles the test unless the last one was the same.
void ProgramBuilder::prepare(const std::vector<ArgSpec>& args, const TestCase& test) {
  if (args.size() > kMostArguments)
    throw InputError({}, "a kernel of " + std::to_string(args.size()) +
                             " arguments: bare-metal programs call one of at most " +
                             std::to_string(kMostArguments));
  const std::string forms = forms_text(args);
  // The same test comes with every few candidates, and the text of a large one takes long.
  if (!problem_.empty() && forms == forms_ && same_data(test, test_)) return;
  const PreparedCase prepared = exotune::prepare(args, test);
  const std::string name = "problem_" + key_of(forms, prepared);
  const fs::path folder = fs::path(directory_) / name;
  fs::create_directories(folder);
  const ProblemText text(prepared, folder);
  write(folder / "problem.c", text.c());
  write(folder / "data.S", text.assembly());
  for (const std::string file : {"problem.c", "data.S"}) {
    const std::string source = name + "/" + file;
    const std::string object = source.substr(0, source.rfind('.')) + ".o";
    // The blobs lie beside the text that names them.
    BuiltProgram built =
        compile({"-I" + directory_, "-Wa,-I," + folder.string(), source}, object, false);
    if (built.ok()) continue;
    const std::string problem = built.stopped ? "the time was over before the test was compiled"
                                              : "the test does not compile: " + built.error;
    throw Error(Diagnostic{{}, problem, {}, built.stopped ? "give it a longer --time-budget" : ""},
                built.stopped ? ExitCode::kNoCandidate : ExitCode::kInternal);
  }
  problem_ = name;
  forms_ = forms;
  test_ = test;
}

BuiltProgram ProgramBuilder::build(const Candidate& candidate) const {
  const std::string name =
      "k_" + content_hash(candidate.id + candidate.c_source + candidate.h_source);
  const fs::path folder = fs::path(directory_) / name;
  const std::string stem = candidate.stem.empty() ? "kernel" : candidate.stem;
  fs::create_directories(folder);
  write(folder / (stem + ".c"), candidate.c_source);
  if (!candidate.h_source.empty()) write(folder / (stem + ".h"), candidate.h_source);
  write(folder / "unit.c", unit_text(toolchain_, candidate, stem + ".c"));
  std::vector<std::string> sources = {name + "/unit.c", problem_ + "/problem.o",
                                      problem_ + "/data.o"};
  sources.insert(sources.end(), shared_.begin(), shared_.end());
  BuiltProgram built = compile(sources, name + "/program.elf", true);
  return built;
}

TrialResult unbuilt(const Candidate& candidate, const BuiltProgram& program,
                    const RunOptions& run) {
  const bool stopped = program.stopped || (run.interrupted && run.interrupted());
  TrialResult result;
  result.candidate_id = candidate.id;
  result.status = stopped ? TrialStatus::kSkipped : TrialStatus::kCompileError;
  result.cause = stopped ? "interrupted" : program.error;
  return result;
}

}  // namespace exotune
