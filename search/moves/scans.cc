#include "search/moves/scans.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

/// Statements that compute, of a loop from 0.
const For* plain_loop(const StmtPtr& s) {
  const For* f = s ? s->as<For>() : nullptr;
  if (!f || as_int(f->lo) != 0) return nullptr;
  const bool plain = std::all_of(f->body.begin(), f->body.end(), [](const StmtPtr& inner) {
    return inner->as<Assign>() || inner->as<Reduce>();
  });
  return plain ? f : nullptr;
}

/// Does an iteration hand something on, which it keeps besides: into an element that stays and
/// another one, or from one element to the next? Sums alone are no such loops.
bool hands_on(const For& f) {
  if (f.body.size() == 2)
    return (f.body[0]->as<Reduce>() != nullptr) != (f.body[1]->as<Reduce>() != nullptr);
  const Assign* a = f.body.size() == 1 ? f.body[0]->as<Assign>() : nullptr;
  if (!a || a->idx.empty()) return false;
  const std::vector<const Read*> reads = data_reads(a->rhs);
  return std::any_of(reads.begin(), reads.end(), [&](const Read* r) {
    return r->name == a->name && r->idx.size() == a->idx.size() &&
           !equal(r->idx.back(), a->idx.back());
  });
}

struct Scan {
  Value instruction;
  int64_t length = 0;
  size_t statements = 0;
};

// The longest first.
std::vector<Scan> scans_among(const ValueList& instructions) {
  std::vector<Scan> out;
  for (const Value& v : instructions) {
    const Proc& instr = **v.as<ProcPtr>();
    const For* f = instr.body.size() == 1 ? plain_loop(instr.body[0]) : nullptr;
    if (const auto length = f && hands_on(*f) ? as_int(f->hi) : std::nullopt)
      out.push_back({v, *length, f->body.size()});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Scan& a, const Scan& b) { return a.length > b.length; });
  return out;
}

}  // namespace

std::optional<Schedule> scans_in_vectors(const Schedule& s, const ValueList& instructions) {
  Schedule out = s;
  std::vector<Scan> scans;
  bool any = false;
  const std::vector<Path> paths = all_stmt_paths(*s.proc);
  // The last first: places in front of it stay.
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const For* f = plain_loop(stmt_at(*s.proc, *path));
    if (!f || !hands_on(*f)) continue;
    if (scans.empty()) scans = scans_among(instructions);
    const std::string name = f->iter.name();
    for (const Scan& scan : scans) {
      const auto extent = as_int(f->hi);
      if (scan.statements != f->body.size() || extent.value_or(scan.length) < scan.length) continue;
      Schedule made = out;
      Path inner = *path;
      inner.push_back({Child::kBody, 0});
      if (apply(made, "divide_loop",
                {Value(Cursor::stmt(made.proc, *path)), Value(scan.length),
                 Value::strings({name + "o", name}), Value("cut")}) ||
          apply(made, "replace", {Value(Cursor::stmt(made.proc, inner)), scan.instruction}))
        continue;
      out = std::move(made);
      any = true;
      break;
    }
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace exotune
