// One .c and one .h of many procs.
#include <algorithm>
#include <cctype>
#include <functional>

#include "core/codegen/file_comment.h"
#include "core/codegen/function_emitter.h"
#include "core/codegen/runtime_text.h"
#include "core/cursor/provenance.h"
#include "core/ir/printer.h"

namespace exotune {
namespace codegen {

void FileNeeds::add_global(const std::string& text) {
  // Instructions that share a helper in C each bring its text: it is written once.
  if (!text.empty() && std::find(globals.begin(), globals.end(), text) == globals.end())
    globals.push_back(text);
}

namespace {

/// "/* ... */", lines kept; an end of comment inside is broken up.
std::string comment(std::string text) {
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at))
    text.replace(at, 2, "* /");
  for (size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at))
    text.replace(at, 2, "/ *");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string out = "/* ";
  for (char c : text) {
    out += c;
    if (c == '\n') out += " * ";
  }
  return out + " */\n";
}

std::string upper(std::string s) {
  for (char& c : s) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return s;
}

// Arguments that a schedule sees with other dimensions (join_dims) are the same memory: they are
// told as they were before that.
void tell_as_joined(Proc& head, const Proc& p) {
  const Proc* at = &p;
  for (const Provenance* how = provenance_of(*at); how; how = provenance_of(*at)) {
    // Before those sizes had names that are gone, or elements lay in another order.
    if (how->op == "partial_eval" || how->op == "transpose") break;
    at = how->parent.get();
    if (how->op != "join_dims") continue;
    for (Arg& a : head.args)
      for (const Arg& before : at->args)
        if (before.name == a.name) a.type = before.type;
  }
}

// So that a reader of the C sees what was promised: sizes, strides, divisibility.
/// The proc's own words: its signature and what it asserts.
std::string signature_comment(const Proc& p) {
  Proc head = p;
  tell_as_joined(head, p);
  head.body.clear();
  head.instr.reset();
  std::string text = str(head), out;
  for (size_t from = 0; from < text.size();) {
    size_t to = text.find('\n', from);
    if (to == std::string::npos) to = text.size();
    const std::string one = text.substr(from, to - from);
    from = to + 1;
    // What printing adds to a procedure without a body.
    if (one.rfind("@proc", 0) == 0 || one == "    pass") continue;
    out += one + "\n";
  }
  return comment(out);
}

/// `void NAME(T a, ...)`; `restrict_word` as the place where it stands spells it.
std::string prototype(const Signature& s, const std::string& restrict_word) {
  std::string text = "void " + s.name + "(";
  const size_t indent = text.size();
  size_t column = indent;
  // Lines of at most a hundred columns, arguments below one another.
  for (size_t k = 0; k < s.args.size(); ++k) {
    const AbiArg& a = s.args[k];
    const std::string one =
        a.c_type + (a.kind == AbiArg::Kind::kTensor ? " " + restrict_word + " " : " ") + a.name;
    if (k) {
      text += ",";
      if (column + one.size() + 2 > 100) {
        text += "\n" + std::string(indent, ' ');
        column = indent;
      } else {
        text += " ";
        ++column;
      }
    }
    text += one;
    column += one.size() + 1;
  }
  // Always last, so that it can be left out of the text that binds arguments.
  if (s.takes_workspace)
    text += s.args.empty() ? "void* workspace" : ", void* workspace";
  else if (s.args.empty())
    text += "void";
  return text + ")";
}

// How much it needs depends on sizes alone.
std::string workspace_prototype(const Signature& s) {
  std::string args;
  for (const AbiArg& a : s.args)
    if (a.kind == AbiArg::Kind::kControl || a.kind == AbiArg::Kind::kBool)
      args += (args.empty() ? "" : ", ") + a.c_type + " " + a.name;
  return "size_t " + s.name + "_workspace_bytes(" + (args.empty() ? "void" : args) + ")";
}

std::string window_definition(const std::string& name) {
  // exo_win_<rank><type>[c]
  const bool is_const = name.back() == 'c';
  size_t at = 8, digits = 0;
  const int rank = std::stoi(name.substr(at), &digits);
  const std::string type = name.substr(at + digits, name.size() - at - digits - (is_const ? 1 : 0));
  static const std::map<std::string, std::string> types = {
      {"f16", "uint16_t"}, {"bf16", "uint16_t"}, {"f32", "float"},
      {"f64", "double"},   {"i8", "int8_t"},     {"ui8", "uint8_t"},
      {"i16", "int16_t"},  {"ui16", "uint16_t"}, {"i32", "int32_t"}};
  const std::string guard = upper(name);
  return "#ifndef " + guard + "\n#define " + guard + "\nstruct " + name + " {\n  " +
         (is_const ? "const " : "") + types.at(type) + "* data;\n  int64_t strides[" +
         std::to_string(rank) + "];\n};\n#endif\n";
}

// Configuration that is shared by several functions lives in one struct, the context, which callers
// own.
std::string context_definition(const std::string& stem, const std::set<ConfigPtr>& configs) {
  // By name and not by address, so that the struct is the same in every run.
  std::map<std::string, ConfigPtr> by_name;
  for (const ConfigPtr& c : configs) by_name[c_identifier(c->name)] = c;
  std::string text = "typedef struct " + stem + "_Context {\n";
  for (const auto& [name, config] : by_name) {
    text += "  struct {\n";
    for (const ConfigField& f : config->fields)
      text += "    " + (is_data(f.type) ? element_c_type(f.type) : std::string(c_name_of(f.type))) +
              " " + c_identifier(f.name) + ";\n";
    text += "  } " + name + ";\n";
  }
  return text + "} " + stem + "_Context;\n";
}

std::string with_single_blank_lines(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != '\n' || !out.ends_with("\n\n")) out += c;
  return out;
}

// Orders functions, gathers what they need, and writes both files; nothing depends on addresses or
// on the clock, so that a file is the same for the same procedures.
class FileWriter {
 public:
  FileWriter(const std::vector<ProcPtr>& procs, const CodegenOptions& options)
      : procs_(procs),
        options_(options),
        stem_(c_identifier(options.stem)),
        scratch_(options.stack_limit_bytes),
        file_{options, needs_, usage_, scratch_, functions_, {}} {}

  CFile write() {
    for (const ProcPtr& p : procs_) {
      if (p->instr)
        throw InputError(
            p->where, "`" + p->name + "` is an instruction: it becomes C only where it is called");
      // The last check before C: whatever rewrote it, what is emitted has been proved as it
      // stands.
      check(*p, true);
      const std::string name = c_function_name(p->name);
      if (!file_.file_names.insert(name).second)
        throw InputError(p->where, "two functions would be named `" + name + "` in C");
      public_names_[p] = name;
    }
    for (const ProcPtr& p : procs_) order(p);
    // Callees that were not asked for become static functions, under names that are free.
    for (const ProcPtr& p : order_) {
      if (public_names_.contains(p)) continue;
      check(*p, true);
      file_.file_names.insert(static_names_[p] =
                                  unique_name(c_function_name(p->name), file_.file_names));
    }
    std::string functions;
    // Bodies first: only then is known which headers, helpers and windows the file needs.
    for (const ProcPtr& p : order_) functions += function(p);
    CFile file;
    file.stem = options_.stem;
    for (const ProcPtr& p : procs_) {
      const Signature& s = functions_.at(p);
      file.functions.push_back(
          {s.name, s.args, s.takes_workspace ? s.name + "_workspace_bytes" : ""});
    }
    file.h = with_single_blank_lines(header());
    file.c = with_single_blank_lines(prologue() + functions);
    return file;
  }

 private:
  // Depth first; recursion cannot be written in the language, so this ends.
  /// Callees before callers.
  void order(const ProcPtr& p) {
    if (p->instr || std::find(order_.begin(), order_.end(), p) != order_.end()) return;
    for_each_stmt(p->body, [&](const StmtPtr& s) {
      if (const auto* c = s->as<Call>()) order(c->callee);
    });
    order_.push_back(p);
  }

  std::string function(const ProcPtr& p) {
    const auto it = public_names_.find(p);
    const bool is_public = it != public_names_.end();
    const Usage& usage = usage_.of(p);
    // The function's own name is taken for its arguments and locals.
    std::set<std::string> own = {is_public ? it->second : static_names_.at(p)};
    Signature s = make_signature(*p, usage, *own.begin(), stem_, file_.file_names);
    for (const AbiArg& a : s.args)
      // Without "struct ".
      if (a.kind == AbiArg::Kind::kWindow) needs_.windows[a.c_type.substr(7)] = "";
    needs_.configs.insert(usage.configs.begin(), usage.configs.end());
    s.takes_workspace =
        options_.scratch == CodegenOptions::Scratch::kCaller && scratch_.of(p).needed;
    // Others in the file may call it, nobody else.
    const std::string linkage = is_public ? "" : "static ";
    std::string text = "\n";
    if (s.takes_workspace)
      text += linkage + workspace_prototype(s) + " " +
              FunctionEmitter(*p, usage, s, file_).workspace_body() + "\n";
    text += signature_comment(*p) + linkage + prototype(s, "restrict") + " " +
            FunctionEmitter(*p, usage, s, file_).body();
    functions_.emplace(p, std::move(s));
    return text;
  }

  std::string top_comment(const std::string& file) const {
    std::string text = file + ": generated C, do not edit.";
    if (!options_.comment.empty()) text += "\n" + options_.comment;
    FileFacts facts;
    facts.stem = options_.stem;
    facts.build = options_.build;
    facts.cpu = options_.cpu;
    facts.parallel = needs_.parallel;
    facts.context = !needs_.configs.empty();
    facts.one_arena = needs_.scratch && options_.scratch == CodegenOptions::Scratch::kStatic;
    for (const ProcPtr& p : procs_) facts.functions.push_back(&functions_.at(p));
    return comment(text + "\n" + build_lines(facts) +
                   (file.ends_with(".h") ? "\n" + call_lines(facts) : ""));
  }

  // Includable from C and C++, twice, and without the options the .c was compiled with.
  std::string header() const {
    const std::string guard = "EXO_GENERATED_" + upper(stem_) + "_H";
    std::string h = top_comment(options_.stem + ".h");
    h += "#ifndef " + guard + "\n#define " + guard +
         "\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n";
    h += "#ifndef EXO_RESTRICT\n#ifdef __cplusplus\n#define EXO_RESTRICT __restrict\n#else\n"
         "#define EXO_RESTRICT restrict\n#endif\n#endif\n\n";
    h += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    // Only structs that public functions take: the others are private to the .c.
    std::string windows;
    std::set<std::string> public_windows;
    for (const ProcPtr& p : procs_)
      for (const AbiArg& a : functions_.at(p).args)
        if (a.kind == AbiArg::Kind::kWindow) public_windows.insert(a.c_type.substr(7));
    for (const std::string& w : public_windows) h += window_definition(w) + "\n";
    if (!needs_.configs.empty()) {
      h += "/* Configuration state that the program keeps; zero it before the first call. */\n";
      h += context_definition(stem_, needs_.configs) + "\n";
    }
    if (needs_.scratch && options_.scratch != CodegenOptions::Scratch::kCaller) {
      h += options_.scratch == CodegenOptions::Scratch::kThreadLocal
               ? "/* Some functions below take scratch memory from an arena of the calling thread. "
                 "It grows as needed,\n"
                 " * is reused by later calls, and is given back to the system by this call, in "
                 "each thread. */\n"
               : "/* Some functions below take scratch memory from one arena, so only one may run "
                 "at a time. It grows as\n"
                 " * needed, is reused by later calls, and is given back by this call. */\n";
      h += "void " + stem_ + "_release_scratch(void);\n\n";
    }
    for (const ProcPtr& p : procs_) {
      const Signature& s = functions_.at(p);
      h += signature_comment(*p) + prototype(s, "EXO_RESTRICT") + ";\n";
      if (s.takes_workspace)
        h += "/* The bytes of `workspace`, which is aligned to 64. */\n" + workspace_prototype(s) +
             ";\n";
      h += "\n";
    }
    h += "#ifdef __cplusplus\n}\n#endif\n#endif\n";
    return h;
  }

  // An instruction's global may be just the header that declares its intrinsic.
  static bool only_includes(const std::string& global) {
    return global.rfind("#include ", 0) == 0 && global.find('\n') == std::string::npos;
  }

  std::string prologue() const {
    std::string c = top_comment(options_.stem + ".c");
    c += "#include \"" + options_.stem + ".h\"\n\n";
    bool memcpy_used = false;
    // Conversions of half floats read bits through memcpy.
    for (const std::string& h : needs_.helpers) memcpy_used |= h.find("f16_") != std::string::npos;
    if (needs_.math) c += "#include <math.h>\n";
    const bool arena = needs_.scratch && options_.scratch != CodegenOptions::Scratch::kCaller;
    if (arena) c += "#include <stdlib.h>\n";
    if (memcpy_used) c += "#include <string.h>\n";
    std::vector<std::string> includes;  // each once, before the globals that need them
    for (const std::string& h : options_.headers) includes.push_back("#include " + h);
    // What is no include: functions and macros of instructions and memories, in the order in which
    // they were first needed.
    for (const std::string& g : needs_.globals)
      if (only_includes(g) && std::find(includes.begin(), includes.end(), g) == includes.end())
        includes.push_back(g);
    for (const std::string& i : includes) c += i + "\n";
    c += "\n";
    for (const auto& [name, unused] : needs_.windows) c += window_definition(name);
    if (!needs_.windows.empty()) c += "\n";
    for (const std::string& g : needs_.globals)
      if (!only_includes(g)) c += g + (g.back() == '\n' ? "" : "\n");
    if (needs_.helpers.contains("exo_workspace_take"))
      c += "#define EXO_WORKSPACE_PADDING " + std::to_string(options_.scratch_padding_bytes) + "\n";
    for (const std::string& h : needs_.helpers) c += helper_text(h);
    if (arena)
      c += scratch_text(stem_, options_.scratch_padding_bytes,
                        options_.scratch == CodegenOptions::Scratch::kThreadLocal);
    return c;
  }

  const std::vector<ProcPtr>& procs_;
  const CodegenOptions& options_;
  std::string stem_;
  FileNeeds needs_;
  UsageTable usage_;
  ScratchTable scratch_;
  std::map<ProcPtr, Signature> functions_;
  std::map<ProcPtr, std::string> public_names_, static_names_;
  std::vector<ProcPtr> order_;
  FileContext file_;
};

}  // namespace
}  // namespace codegen

CFile generate_c(const std::vector<ProcPtr>& procs, const CodegenOptions& options) {
  return codegen::FileWriter(procs, options).write();
}

}  // namespace exotune
