#include "tests/emitted/c_program.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/subprocess.h"
#include "core/ir/printer.h"
#include "runners/candidate.h"
#include "tests/emitted/driver_text.h"

namespace exotune::emitted {
namespace {

ElementType element_type(ScalarType t) {
  return t == ScalarType::kR ? ElementType::kF32 : element_from_name(name_of(t));
}

std::string bytes_of_buffer(const Buffer& b) {
  const ElementType type = element_type(b.type);
  std::string out(b.data.size() * element_bytes(type), '\0');
  for (size_t i = 0; i < b.data.size(); ++i) {
    const double v = is_poison(b.data[i]) && !is_floating(type) ? 85 : b.data[i];
    store_element(type, out.data() + i * element_bytes(type), v);
  }
  return out;
}

void put(std::string& out, int64_t v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); }

// What the driver reads: the blocks of memory, then the arguments.
std::string encoded(size_t proc, const FunctionAbi& abi, const Arguments& args) {
  std::string out;
  put(out, static_cast<int64_t>(proc));
  put(out, static_cast<int64_t>(args.buffers.size()));
  for (const auto& b : args.buffers) {
    const std::string bytes = bytes_of_buffer(*b);
    put(out, static_cast<int64_t>(bytes.size()));
    out += bytes;
  }
  auto block = [&](const Buffer* wanted) {
    for (size_t k = 0; k < args.buffers.size(); ++k)
      if (args.buffers[k].get() == wanted) return static_cast<int64_t>(k);
    return int64_t{-1};
  };
  put(out, static_cast<int64_t>(args.values.size()));
  size_t next = 0;
  for (const AbiArg& a : abi.args) {
    if (a.kind == AbiArg::Kind::kContext) continue;
    const ArgValue& v = args.values[next++];
    if (const auto* number = std::get_if<int64_t>(&v)) {
      put(out, kControlArgument);
      put(out, *number);
      continue;
    }
    const auto* whole = std::get_if<Buffer*>(&v);
    const WindowValue* w = std::get_if<WindowValue>(&v);
    const Buffer* buffer = whole ? *whole : w->buffer;
    const auto& shape = whole ? buffer->shape : w->shape;
    put(out, a.kind == AbiArg::Kind::kWindow ? kWindowArgument : kPointerArgument);
    put(out, block(buffer));
    if (a.kind != AbiArg::Kind::kWindow) continue;
    put(out, (w ? w->offset : 0) * static_cast<int64_t>(element_bytes(element_type(buffer->type))));
    put(out, static_cast<int64_t>(shape.size()));
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      strides[d] = w ? w->strides[d] : stride;
      stride *= shape[d];
    }
    for (int64_t s : strides) put(out, s);
  }
  return out;
}

// Every config field that the proc or its callees name is 0 at first.
ConfigState zero_configuration(const Proc& p) {
  ConfigState state;
  auto note = [&](const ConfigPtr& c) {
    for (const ConfigField& f : c->fields) {
      if (is_data(f.type))
        state[c->name + "." + f.name] = 0.0;
      else
        state[c->name + "." + f.name] = int64_t{0};
    }
  };
  for_each_expr(p.body, [&](const ExprPtr& e) {
    if (const auto* r = e->as<ReadConfig>()) note(r->config);
  });
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    if (const auto* w = s->as<WriteConfig>()) note(w->config);
    if (const auto* c = s->as<exotune::Call>()) state.merge(zero_configuration(*c->callee));
  });
  return state;
}

class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "exo_emitted_XXXXXX").string();
    EXO_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string first_lines(const std::string& text, size_t bytes) {
  return text.size() <= bytes ? text : text.substr(0, bytes) + "\n...";
}

CommandResult compile(const Build& build, const std::string& source, const std::string& object) {
  std::vector<std::string> argv = {build.compiler, "-std=c11",          "-O1",
                                   "-g1",          "-ffp-contract=off", "-c"};
  argv.insert(argv.end(), build.flags.begin(), build.flags.end());
  argv.insert(argv.end(), {source, "-o", object});
  CommandOptions options;
  options.timeout_seconds = 500;
  return run_command(argv, options);
}

CommandResult link(const Build& build, std::vector<std::string> objects,
                   const std::string& program) {
  std::vector<std::string> argv = {build.compiler};
  for (const std::string& f : build.flags)
    if (!(build.own_threads && f == "-fopenmp")) argv.push_back(f);
  argv.insert(argv.end(), objects.begin(), objects.end());
  argv.insert(argv.end(), {"-o", program, "-lm", "-lpthread"});
  return run_command(argv);
}

}  // namespace

Build four_threads(const std::string& compiler) {
  Build b;
  b.compiler = compiler;
  b.flags = {"-fopenmp"};
  b.environment = {"OMP_NUM_THREADS=4", "OMP_MAX_ACTIVE_LEVELS=2", "OMP_DYNAMIC=false",
                   "OMP_WAIT_POLICY=passive"};
  return b;
}

Build thread_sanitizer() {
  Build b;
  b.flags = {"-fopenmp", "-fsanitize=thread"};
  b.environment = {"TSAN_OPTIONS=exitcode=66"};
  b.own_threads = true;
  return b;
}

Build address_sanitizer() {
  Build b;
  b.flags = {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"};
  b.environment = {"ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1"};
  b.exact_blocks = true;
  return b;
}

CProgram::CProgram(CodegenOptions options) : options_(std::move(options)) {
  options_.stem = "program";
}

size_t CProgram::add(const ProcPtr& p) {
  auto own = std::make_shared<Proc>(*p);
  own->name = "f" + std::to_string(procs_.size()) + "_" + p->name;
  generate_c({own}, options_);  // refused here rather than with all others
  procs_.push_back(std::move(own));
  file_.reset();
  return procs_.size() - 1;
}

bool CProgram::call(size_t proc, const Arguments& arguments) {
  Call c{proc, copy_of(arguments), copy_of(arguments)};
  ConfigState config = zero_configuration(*procs_[proc]);
  InterpOptions options;
  options.config = &config;
  options.step_limit = 50'000'000;
  try {
    exotune::run(*procs_[proc], c.after.values, options);
  } catch (const InterpError&) {
    return false;
  }
  calls_.push_back(std::move(c));
  return true;
}

std::vector<CProgram::Failure> CProgram::run(const Build& build) {
  if (procs_.empty()) return {};
  const Folder folder;
  if (!file_) file_ = generate_c(procs_, options_);
  const CFile& file = *file_;
  folder.write("program.h", file.h);
  std::string inputs;
  for (const Call& c : calls_) inputs += encoded(c.proc, file.functions[c.proc], c.before);
  folder.write("inputs", inputs);
  std::vector<std::pair<std::string, std::string>> sources = {
      {"program", file.c}, {"driver", driver_text(file, build.exact_blocks)}};
  if (build.own_threads) sources.push_back({"threads", own_threads_text()});
  std::vector<std::string> objects;
  for (const auto& [name, text] : sources) {
    Build own = build;
    // Random code compares what is known and reads what was never written; where it cannot run it
    // may index anything. Where it runs, the sanitizer sees to that.
    if (name == "program")
      own.flags.insert(own.flags.end(), {"-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
                                         "-Wno-type-limits", "-Wno-tautological-compare",
                                         "-Wno-uninitialized", "-Wno-maybe-uninitialized",
                                         "-Wno-array-bounds", "-Wno-unknown-warning-option"});
    objects.push_back(folder.file(name + ".o"));
    const CommandResult r = compile(own, folder.write(name + ".c", text), objects.back());
    if (!r.ok()) return {{0, build.compiler + ": " + first_lines(r.err, 4000)}};
  }
  const CommandResult linked = link(build, objects, folder.file("program"));
  if (!linked.ok()) return {{0, build.compiler + ": " + first_lines(linked.err, 4000)}};

  std::vector<std::string> argv = {"env"};
  argv.insert(argv.end(), build.environment.begin(), build.environment.end());
  argv.insert(argv.end(), {folder.file("program"), folder.file("inputs"), folder.file("outputs")});
  CommandOptions options;
  options.timeout_seconds = 500;
  const CommandResult r = run_command(argv, options);
  std::vector<Failure> failures = compare(read_file(folder.file("outputs")));
  if (!r.ok()) {
    const std::string why = r.timed_out ? "it did not end" : "it ended with a fault";
    const size_t at = failures.empty() ? 0 : failures.back().proc;
    failures.insert(failures.begin(), {at, why + "\n" + first_lines(r.err, 4000)});
  }
  return failures;
}

std::vector<CProgram::Failure> CProgram::compare(const std::string& outputs) const {
  std::vector<Failure> failures;
  std::set<size_t> failed;
  size_t at = 0;
  for (const Call& c : calls_) {
    Arguments got = copy_of(c.before);
    size_t bytes = 0;
    for (const auto& b : got.buffers)
      bytes += b->data.size() * element_bytes(element_type(b->type));
    if (at + bytes > outputs.size()) {
      failures.push_back({c.proc, "no results of\n" + str(*procs_[c.proc])});
      break;
    }
    for (size_t k = 0; k < got.buffers.size(); ++k) {
      Buffer& b = *got.buffers[k];
      const ElementType type = element_type(b.type);
      for (size_t i = 0; i < b.data.size(); ++i, at += element_bytes(type))
        b.data[i] = is_poison(c.after.buffers[k]->data[i])
                        ? poison_value()
                        : load_element(type, outputs.data() + at);
    }
    const std::string d = first_difference(c.after, got);
    if (!d.empty() && failed.insert(c.proc).second)
      failures.push_back({c.proc, d + " in\n" + str(*procs_[c.proc])});
  }
  return failures;
}

int parallel_loops(const Proc& p) {
  int n = 0;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const For* f = s->as<For>();
    n += f && f->mode == LoopMode::kPar;
    const auto* c = s->as<Call>();
    if (c && !c->callee->instr) n += parallel_loops(*c->callee);
  });
  return n;
}

std::string unavailable(const Build& build) {
  const Folder folder;
  const std::string source =
      folder.write("probe.c",
                   "int main(void) {\n  int n = 0;\n#pragma omp parallel for reduction(+:n)\n"
                   "  for (int i = 0; i < 4; i++) n += i;\n  return n != 6;\n}\n");
  Build plain = build;
  plain.own_threads = false;
  CommandResult r = compile(plain, source, folder.file("probe.o"));
  if (r.ok()) r = link(plain, {folder.file("probe.o")}, folder.file("probe"));
  return r.ok() ? "" : build.compiler + ": " + (r.err.empty() ? "is not here" : r.err);
}

}  // namespace exotune::emitted
