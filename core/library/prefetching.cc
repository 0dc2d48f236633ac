#include "core/library/prefetching.h"

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

// What the body of the loop uses of the buffer `distance` iterations later, as a window; "" when
// that is no rectangle, the same one always, or a single element.
std::string later_window(const ProcPtr& p, const Cursor& loop, const ScopeEntry& buffer,
                         int64_t distance) {
  const For& nest = loop.as<For>();
  Path first = loop.path();
  first.push_back({Child::kBody, 0});
  const Cursor body = Cursor::block(p, first, static_cast<int>(nest.body.size()));
  std::optional<Rectangle> window = touched(p, body, buffer.name);
  if (!window) return "";
  const ExprPtr later = read_var(nest.iter, ScalarType::kIndex) + int_const(distance);
  bool moves = false;
  for (std::vector<ExprPtr>* ends : {&window->lo, &window->hi})
    for (ExprPtr& e : *ends) {
      moves = moves || mentions(e, nest.iter);
      e = normalize(substitute(e, nest.iter, later));
    }
  const std::string text = window->text(buffer.name.name(), scope_at(*p, first));
  return moves && text.find(':') != std::string::npos ? text : "";
}

}  // namespace

ProcPtr prefetch_ahead(ProcPtr p, const std::string& loop, const std::string& buffer,
                       int64_t distance) {
  if (distance < 1) throw SchedulingError("the distance is at least 1 iteration");
  std::vector<std::string> names{buffer};
  if (buffer.empty()) {
    names.clear();
    for (const Arg& a : p->args)
      if (is_data(a.type.scalar) && !a.type.shape.empty()) names.push_back(a.name.name());
  }
  bool found = false;
  std::vector<Cursor> loops = require_loops(p, loop);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    const Path path = c->path();
    Path first = path;
    first.push_back({Child::kBody, 0});
    std::vector<std::string> windows;
    for (const std::string& name : names)
      if (const auto entry = visible(p, path, name))
        if (std::string w = later_window(p, Cursor::stmt(p, path), *entry, distance); !w.empty())
          windows.push_back(std::move(w));
    for (const std::string& w : windows) p = add_prefetch(p, Cursor::stmt(p, first).before(), w);
    found = found || !windows.empty();
  }
  if (!found)
    throw SchedulingError("no loop over `" + loop + "` goes through rectangles of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

}  // namespace exotune
