#include "search/families/entries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "core/base/words.h"

namespace exotune::families {
namespace {

// Told by an argument's name in the template: `layout`, a choice, an integer, `*x` an array, all
// others scalars.
enum class Kind : uint8_t { kLayout, kChoice, kInteger, kScalar, kArray };

struct Argument {
  std::string name;
  Kind kind = Kind::kScalar;
  bool written = false;
  std::string type;  // of an array's elements; "" for the routine's
};

// An argument that picks one of two: how CBLAS spells it, and what the body is told.
struct Choice {
  const char* argument;
  const char* cblas_type;
  const char* valid;    // of the CBLAS argument
  const char* letters;  // that Fortran takes
  const char* meaning;  // of the CBLAS argument: the body's flag
  const char* set;      // letters that set the flag
};
constexpr std::array<Choice, 6> kChoices = {{
    {"trans", "CBLAS_TRANSPOSE", "trans >= CblasNoTrans && trans <= CblasConjTrans", "NnTtCc",
     "trans != CblasNoTrans", "TtCc"},
    {"transa", "CBLAS_TRANSPOSE", "transa >= CblasNoTrans && transa <= CblasConjTrans", "NnTtCc",
     "transa != CblasNoTrans", "TtCc"},
    {"transb", "CBLAS_TRANSPOSE", "transb >= CblasNoTrans && transb <= CblasConjTrans", "NnTtCc",
     "transb != CblasNoTrans", "TtCc"},
    {"uplo", "CBLAS_UPLO", "uplo == CblasUpper || uplo == CblasLower", "UuLl", "uplo == CblasUpper",
     "Uu"},
    {"diag", "CBLAS_DIAG", "diag == CblasUnit || diag == CblasNonUnit", "UuNn", "diag == CblasUnit",
     "Uu"},
    {"side", "CBLAS_SIDE", "side == CblasLeft || side == CblasRight", "LlRr", "side == CblasRight",
     "Rr"},
}};
// Of the BLAS: lengths, bandwidths, increments and leading dimensions, by the names that all
// routines use.
constexpr std::array<const char*, 12> kIntegers = {"n",    "m",   "k",   "kl",  "ku", "incx",
                                                   "incy", "lda", "ldb", "ldc", "ld", "inc"};

const Choice* choice_of(const std::string& name) {
  const auto* found = std::find_if(kChoices.begin(), kChoices.end(),
                                   [&](const Choice& each) { return name == each.argument; });
  return found == kChoices.end() ? nullptr : found;
}

std::vector<Argument> arguments_of(const RoutineTemplate& routine) {
  std::vector<Argument> out;
  std::istringstream words(routine.arguments);
  for (std::string word; words >> word;) {
    Argument argument;
    // `*y!` is written, `*x:float` has elements of another type than the routine's.
    if (word.front() == '*') {
      argument.kind = Kind::kArray;
      word.erase(0, 1);
      if (!word.empty() && word.back() == '!') {
        argument.written = true;
        word.pop_back();
      }
      const size_t colon = word.find(':');
      if (colon != std::string::npos) {
        argument.type = word.substr(colon + 1);
        word.resize(colon);
      }
    } else if (word == "layout") {
      argument.kind = Kind::kLayout;
    } else if (choice_of(word) != nullptr) {
      argument.kind = Kind::kChoice;
    } else if (std::find(kIntegers.begin(), kIntegers.end(), word) != kIntegers.end()) {
      argument.kind = Kind::kInteger;
    }
    // It becomes a name in C.
    const bool named = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '_';
    });
    if (!named) throw InputError(routine.where, "'" + word + "' is no argument's name");
    argument.name = word;
    out.push_back(argument);
  }
  return out;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto in_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
      return true;
  }
  return false;
}

// A condition that refuses an argument, and that argument's position, from 1.
struct Check {
  std::string wrong;
  int position = 0;
  bool of_template = false;  // else of layout or of a choice, as every routine has it
};

class EntryWriter {
 public:
  EntryWriter(const RoutineTemplate& routine, const Substitution& places)
      : routine_(routine), arguments_(arguments_of(routine)) {
    name_ = expand(routine.name, places, routine.where);
    real_ = expand(routine.real, places, routine.where);
    returns_ = expand(routine.returns, places, routine.where);
    at_once_ = expand(routine.at_once, places, routine.where);
    has_layout_ = !arguments_.empty() && arguments_.front().kind == Kind::kLayout;
    for (const std::string& text : routine.wrong)
      wrong_.push_back(expand(text, places, routine.where));
  }

  Entry entry() const {
    Entry out;
    out.routine = name_;
    out.cblas = "cblas_" + name_;
    out.fortran = name_ + "_";
    out.prototype = cblas_head("cblas_" + name_) + ";";
    out.code = cblas() + "\n" + fortran();
    return out;
  }

 private:
  // iamax and its like: from 1 in Fortran, from 0 in CBLAS.
  bool is_index() const { return returns_ == "index"; }

  std::string array(const Argument& a) const {
    return (a.written ? "" : "const ") + (a.type.empty() ? real_ : a.type) + "* " + a.name;
  }
  std::string cblas_head(const std::string& symbol) const {
    std::vector<std::string> parts;
    for (const Argument& a : arguments_) {
      switch (a.kind) {
        case Kind::kLayout:
          parts.push_back("CBLAS_LAYOUT layout");
          break;
        case Kind::kChoice:
          parts.push_back(std::string(choice_of(a.name)->cblas_type) + " " + a.name);
          break;
        case Kind::kInteger:
          parts.push_back("CBLAS_INT " + a.name);
          break;
        case Kind::kScalar:
          parts.push_back(real_ + " " + a.name);
          break;
        case Kind::kArray:
          parts.push_back(array(a));
          break;
      }
    }
    return (is_index() ? "CBLAS_INDEX" : returns_) + " " + symbol + "(" + joined(parts, ", ") + ")";
  }
  // Fortran passes everything by reference, and knows no layout.
  std::string fortran_head(const std::string& symbol) const {
    std::vector<std::string> parts;
    for (const Argument& a : arguments_) {
      if (a.kind == Kind::kLayout) continue;
      if (a.kind == Kind::kChoice) parts.push_back("const char* " + a.name + "_letter");
      if (a.kind == Kind::kInteger) parts.push_back("const CBLAS_INT* " + a.name + "_at");
      if (a.kind == Kind::kScalar) parts.push_back("const " + real_ + "* " + a.name + "_at");
      if (a.kind == Kind::kArray) parts.push_back(array(a));
    }
    return (is_index() ? "CBLAS_INT" : returns_) + " " + symbol + "(" + joined(parts, ", ") + ")";
  }

  // In the order of the arguments, as the reference looks at them.
  std::vector<Check> checks(bool cblas) const {
    std::vector<Check> out;
    int position = 0;
    for (const Argument& a : arguments_) {
      // Positions count as the caller's interface does: Fortran's are one less.
      if (a.kind == Kind::kLayout && !cblas) continue;
      ++position;
      if (a.kind == Kind::kLayout)
        out.push_back({"layout != CblasRowMajor && layout != CblasColMajor", position});
      if (a.kind == Kind::kChoice)
        out.push_back(
            {cblas ? "!(" + std::string(choice_of(a.name)->valid) + ")"
                   : "!exo_letter(" + a.name + "_letter, \"" + choice_of(a.name)->letters + "\")",
             position});
      // A template's condition belongs to the argument that it begins with: `lda < max(1, m)` is
      // of lda.
      for (const std::string& wrong : wrong_)
        if (wrong.compare(0, a.name.size(), a.name) == 0 && wrong.size() > a.name.size() &&
            wrong[a.name.size()] == ' ')
          out.push_back({wrong, position, true});
    }
    return out;
  }

  std::string refuser(bool cblas) const {
    return std::string("exo_refuse_") + (cblas ? "cblas_" + name_ : name_ + "_");
  }

  // What looks which argument is wrong and reports it, with the parameters that it reads: a
  // function of its own, so that the entry saves no registers for its sake.
  struct Refusal {
    std::string function, call;
  };
  Refusal refusal(bool cblas) const {
    std::string text;
    for (const Check& check : checks(cblas))
      text += "  if (wrong == 0 && (" + check.wrong +
              ")) wrong = " + std::to_string(check.position) + ";\n";
    if (cblas) {
      // In row-major order the body computes the transposed problem: what is wrong there has the
      // other's position here.
      for (const auto& [a, b] : routine_.exchanged)
        text += "  wrong = row && wrong == " + std::to_string(a) + " ? " + std::to_string(b) +
                " : row && wrong == " + std::to_string(b) + " ? " + std::to_string(a) +
                " : wrong;\n";
      text += "  exo_wrong_argument(row, wrong, \"cblas_" + name_ + "\");\n";
    } else {
      std::string upper = name_;
      std::transform(upper.begin(), upper.end(), upper.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      // xerbla's names are blank-padded to six letters, as in the reference.
      upper.resize(std::max<size_t>(6, upper.size()), ' ');
      text += "  xerbla_(\"" + upper + "\", &wrong, " + std::to_string(upper.size()) + ");\n";
    }
    const bool asks_row = has_word(text, "row");
    std::string set = asks_row && !cblas ? "  const bool row = false;\n" : "";
    if (asks_row && cblas) set = "  const bool row = layout == CblasRowMajor;\n";
    for (const Argument& a : arguments_)
      if (a.kind == Kind::kChoice && has_word(text, a.name + "_")) set += flag(a, cblas);
    text = set + "  int wrong = 0;\n" + text;
    std::vector<std::string> parameters, values;
    for (const Argument& a : arguments_) {
      const bool letter = a.kind == Kind::kChoice && !cblas;
      const std::string name = letter ? a.name + "_letter" : a.name;
      if (!has_word(text, name)) continue;
      parameters.push_back((letter                     ? "const char*"
                            : a.kind == Kind::kLayout  ? "CBLAS_LAYOUT"
                            : a.kind == Kind::kInteger ? "CBLAS_INT"
                                                       : choice_of(a.name)->cblas_type) +
                           (" " + name));
      values.push_back(name);
    }
    return {"static __attribute__((cold, noinline)) void " + refuser(cblas) + "(" +
                joined(parameters, ", ") + ") {\n" + text + "}\n",
            refuser(cblas) + "(" + joined(values, ", ") + ");\n"};
  }

  std::string refusals(bool cblas) const {
    const std::vector<Check> all = checks(cblas);
    if (all.empty()) return "";
    // One test of all conditions, `|` instead of `||`, so that a right call passes one branch;
    // only a wrong one looks which it was.
    std::string any;
    for (const Check& check : all)
      any += (any.empty() ? "(int)(" : " |\n               (int)(") + check.wrong + ")";
    // The reference returns zero after the error handler, where that returns at all.
    return "  if (EXO_RARE(" + any + ")) {\n    " + refusal(cblas).call +
           (returns_ == "void" ? "    return;\n  }\n" : "    return 0;\n  }\n");
  }
  std::string refusing_function(bool cblas) const {
    return checks(cblas).empty() ? "" : refusal(cblas).function;
  }

  // What checks and bodies know choices as: `const bool trans_`.
  static std::string flag(const Argument& a, bool cblas) {
    return "  const bool " + a.name + "_ = " +
           (cblas ? std::string(choice_of(a.name)->meaning)
                  : "exo_letter(" + a.name + "_letter, \"" + choice_of(a.name)->set + "\")") +
           ";\n";
  }
  std::string flags(bool cblas) const {
    std::string text;
    for (const Argument& a : arguments_)
      if (a.kind == Kind::kChoice) text += flag(a, cblas);
    return text;
  }

  // What bodies are called with, under the names that the conditions use, too.
  std::vector<std::string> values() const {
    std::vector<std::string> parts;
    for (const Argument& a : arguments_) {
      if (a.kind == Kind::kLayout)
        parts.emplace_back("row");
      else if (a.kind == Kind::kChoice)
        parts.push_back(a.name + "_");
      else
        parts.push_back(a.name);
    }
    return parts;
  }
  std::string call(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> parts = values();
    parts.insert(parts.end(), more.begin(), more.end());
    return name_ + "_body(" + joined(parts, ", ") + ")";
  }

  // Returns when all is done. Conditions of layout and choices are told, not asked ahead: few
  // calls fail at them.
  std::string what_is_done_at_once(bool cblas) const {
    std::string right;
    for (const Check& check : checks(cblas))
      if (!check.of_template) right += (right.empty() ? "!(" : " && !(") + check.wrong + ")";
    std::vector<std::string> parts = values();
    parts.insert(parts.begin(), right.empty() ? "true" : right);
    return at_once_ + "(" + joined(parts, ", ") + ")";
  }
  // Is it to be asked? By what comes in registers: neither arrays nor how far apart things are.
  std::string may_be_at_once() const {
    std::vector<std::string> parts;
    for (const Argument& a : arguments_)
      if (a.kind == Kind::kLayout)
        parts.emplace_back("row");
      else if (a.kind == Kind::kChoice)
        parts.push_back(a.name + "_");
      else if (a.kind == Kind::kInteger && a.name.compare(0, 2, "ld") != 0 &&
               a.name.compare(0, 3, "inc") != 0)
        parts.push_back(a.name);
    return at_once_ + "_if(" + joined(parts, ", ") + ")";
  }

  std::string result(bool cblas) const {
    if (returns_ == "void") return "  " + call() + ";\n";
    if (!is_index()) return "  return " + call() + ";\n";
    // The body is told where places count from, so that it returns what its callees return.
    return cblas ? "  return (CBLAS_INDEX)" + call({"0"}) + ";\n"
                 : "  return (CBLAS_INT)" + call({"1"}) + ";\n";
  }

  std::string cblas() const {
    const std::string set =
        (has_layout_ ? "  const bool row = layout == CblasRowMajor;\n" : "") + flags(true);
    const std::string all = " {\n" + set + refusals(true) + result(true) + "}\n";
    const std::string entry = "EXO_PUBLIC " + cblas_head("EXO_ENTRY(cblas_" + name_ + ")");
    if (at_once_.empty()) return refusing_function(true) + entry + all;
    // Functions that have the entry's arguments, which stay where they are: one of them is jumped
    // to, and the entry saves nothing. Two jumps would not do: of two calls compilers make one.
    std::vector<std::string> names;
    for (const Argument& a : arguments_) names.push_back(a.name);
    const std::string given = "(" + joined(names, ", ") + ");\n";
    const std::string alone = "static __attribute__((noinline)) ";
    const std::string first = "exo_first_cblas_" + name_, others = "exo_others_cblas_" + name_;
    return refusing_function(true) + alone + cblas_head(others) + all + alone + cblas_head(first) +
           " {\n" + set + "  if (!" + what_is_done_at_once(true) + ") " + others + given + "}\n" +
           entry + " {\n" + set + "  (" + may_be_at_once() + " ? " + first + " : " + others + ")" +
           given + "}\n";
  }

  std::string fortran() const {
    std::string text = refusing_function(false) + "EXO_PUBLIC " +
                       fortran_head("EXO_ENTRY(" + name_ + "_)") + " {\n";
    if (has_layout_) text += "  const bool row = false;\n";
    text += flags(false);
    for (const Argument& a : arguments_) {
      if (a.kind == Kind::kInteger)
        text += "  const CBLAS_INT " + a.name + " = *" + a.name + "_at;\n";
      if (a.kind == Kind::kScalar)
        text += "  const " + real_ + " " + a.name + " = *" + a.name + "_at;\n";
    }
    if (!at_once_.empty())
      text += "  if (" + may_be_at_once() + " && " + what_is_done_at_once(false) + ") return;\n";
    return text + refusals(false) + result(false) + "}\n";
  }

  const RoutineTemplate& routine_;
  std::vector<Argument> arguments_;
  std::string name_, real_, returns_, at_once_;
  std::vector<std::string> wrong_;
  bool has_layout_ = false;
};

}  // namespace

std::vector<Entry> entries_of(const Family& family) {
  std::vector<Entry> out;
  for (const RoutineTemplate& routine : family.routines)
    for (const Substitution& places : combinations(family, routine.axes)) {
      Entry entry = EntryWriter(routine, places).entry();
      const auto precision = places.find("p");
      entry.unit = precision == places.end() ? "mixed" : precision->second;
      out.push_back(std::move(entry));
    }
  return out;
}

}  // namespace exotune::families
