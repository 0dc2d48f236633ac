#include "search/smaller_run.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/ir/normal_form.h"
#include "search/problem.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

// The kernel's sizes, those that bound its outer loops first.
void collect_sizes(const ProcPtr& kernel, const Block& block, std::vector<std::string>& into) {
  for (const StmtPtr& s : block) {
    const For* loop = s->as<For>();
    for (const Arg& a : kernel->args)
      if (loop && is_integer_control(a.type.scalar) && mentions(loop->hi, a.name) &&
          std::find(into.begin(), into.end(), a.name.name()) == into.end())
        into.push_back(a.name.name());
    collect_sizes(kernel, body_of(*s), into);
    collect_sizes(kernel, orelse_of(*s), into);
  }
}

bool fits(const ProcPtr& kernel, const SizeBinding& sizes) {
  try {
    at_sizes(kernel, sizes);
    make_problem(kernel, sizes, {.expected = false, .inputs = false});
    return true;
  } catch (const Error& e) {
    if (e.exit_code() == ExitCode::kInternal) throw;
    return false;
  }
}

}  // namespace

SmallerRun smaller_run(const ProcPtr& kernel, const SizeFormula& operations,
                       const SizeBinding& sizes, double most) {
  SmallerRun out{sizes, 1};
  if (operations.text().empty()) return out;
  std::vector<std::string> names;
  collect_sizes(kernel, kernel->body, names);
  for (const std::string& name : names) {
    if (!sizes.contains(name)) continue;
    while (operations.evaluate(out.sizes) > most && out.sizes.at(name) > 1) {
      SizeBinding half = out.sizes;
      half[name] /= 2;
      if (!fits(kernel, half)) break;
      out.sizes = half;
    }
  }
  const double left = operations.evaluate(out.sizes);
  if (left <= 0) return {sizes, 1};
  out.times = operations.evaluate(sizes) / left;
  return out;
}

}  // namespace exotune
