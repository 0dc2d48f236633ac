// Local variables are declared where they get their first value, when that is in the same block;
// those that nobody mentions (registers of a tile of which a part is never used) are not.
#include "core/codegen/c_names.h"
#include "core/codegen/function_emitter.h"

namespace exotune::codegen {
namespace {

// Begins the line that stands for a declaration until the function is complete.
constexpr char kPlace = '\x01';

}  // namespace

void FunctionEmitter::declare(const std::string& type, const std::string& name) {
  line(kPlace + std::to_string(declarations_.size()));
  waiting_.back().push_back(declarations_.size());
  declarations_.push_back({type, name, out_.size()});
}

/// "x = e;" with the type in front when it is the first mention of x, declared in this block.
std::string FunctionEmitter::initialised(const std::string& assignment) {
  for (size_t k : waiting_.back()) {
    Declaration& d = declarations_[k];
    const std::string start = d.name + " = ";
    if (d.joined || assignment.rfind(start, 0) != 0) continue;
    if (has_token(assignment, d.name, start.size()) || has_token(out_, d.name, d.at)) continue;
    d.joined = true;
    return d.type + " " + assignment;
  }
  return assignment;
}

std::string FunctionEmitter::with_declarations(const std::string& text) const {
  std::string out;
  for (size_t from = 0; from < text.size();) {
    const size_t to = text.find('\n', from) + 1;
    const size_t place = text.find_first_not_of(' ', from);
    if (text[place] != kPlace) {
      out.append(text, from, to - from);
    } else if (const Declaration& d = declarations_[std::stoul(text.substr(place + 1))];
               !d.joined && has_token(text, d.name, to)) {
      out += text.substr(from, place - from) + d.type + " " + d.name + ";\n";
    }
    from = to;
  }
  return out;
}

}  // namespace exotune::codegen
