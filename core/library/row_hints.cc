#include "core/library/row_hints.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"

namespace exotune {

namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kFarthest = 1 << 20;  // lines: no row is longer, and no cache holds more

// One request: behind the statement of this number in a loop's body, for this element.
struct Request {
  int statement;
  Rectangle element;
};

// The piece of a row of `buffer` that the statement touches, when `iter` goes along the row and the
// piece has a known length.
std::optional<Rectangle> piece_of_row(const ProcPtr& p, const Path& stmt, const ScopeEntry& buffer,
                                      Sym iter) {
  const std::optional<Rectangle> piece = touched(p, Cursor::stmt(p, stmt), buffer.name);
  if (!piece || piece->lo.empty()) return std::nullopt;
  for (size_t d = 0; d < piece->lo.size(); ++d) {
    const bool last = d + 1 == piece->lo.size();
    const auto extent = as_int(normalize(piece->hi[d] - piece->lo[d]));
    if (!extent || *extent < 1 || (!last && *extent != 1) || mentions(piece->lo[d], iter) != last)
      return std::nullopt;
  }
  return piece;
}

// Is the element in a line that is asked for already: the same row, less than a line on?
bool is_asked_for(const Rectangle& element, const std::vector<Request>& requests, int64_t step) {
  return std::any_of(requests.begin(), requests.end(), [&](const Request& r) {
    for (size_t d = 0; d < element.lo.size(); ++d) {
      const auto apart = as_int(normalize(element.lo[d] - r.element.lo[d]));
      const int64_t same = d + 1 == element.lo.size() ? step : 1;
      if (!apart || *apart >= same || *apart <= -same) return false;
    }
    return true;
  });
}

// Does the row end before the element, whatever the sizes?
bool is_never_there(const ProcPtr& p, const Path& stmt, const ScopeEntry& buffer,
                    const Rectangle& element) {
  return static_cast<bool>(
      prove(*p, stmt, bin_op(BinOpKind::kLe, buffer.type.shape.back(), element.lo.back())));
}

std::vector<Request> requests_in(const ProcPtr& p, const Cursor& loop, const ScopeEntry& buffer,
                                 int64_t lines) {
  const For& f = loop.as<For>();
  const int64_t step = std::max<int64_t>(1, kLineBytes / bytes_of(buffer.type.scalar));
  std::vector<Request> out;
  for (int k = 0; k < static_cast<int>(f.body.size()); ++k) {
    const auto piece = piece_of_row(p, child(loop.path(), k), buffer, f.iter);
    if (!piece) continue;
    const int64_t length = *as_int(normalize(piece->hi.back() - piece->lo.back()));
    for (int64_t at = 0; at < length; at += step) {
      Rectangle element{piece->lo, piece->lo};
      element.lo.back() = normalize(element.lo.back() + int_const(lines * step + at));
      for (size_t d = 0; d < element.lo.size(); ++d)
        element.hi[d] = normalize(element.lo[d] + int_const(1));
      if (!is_asked_for(element, out, step) &&
          !is_never_there(p, child(loop.path(), k), buffer, element))
        out.push_back({k, std::move(element)});
    }
  }
  return out;
}

// All of one loop, the last first, so that the others keep their places.
bool ask_in(ProcPtr& p, const Path& path, const std::string& buffer, int64_t lines) {
  const auto entry = visible(p, path, buffer);
  if (!entry || entry->type.shape.empty()) return false;
  std::vector<Request> requests = requests_in(p, Cursor::stmt(p, path), *entry, lines);
  std::reverse(requests.begin(), requests.end());
  for (const Request& r : requests) {
    const Path stmt = child(path, r.statement);
    p = add_prefetch(p, Cursor::stmt(p, stmt).after(),
                     r.element.text(buffer, scope_at(*p, stmt), true));
  }
  return !requests.empty();
}

}  // namespace

ProcPtr prefetch_rows(ProcPtr p, const std::string& buffer, int64_t lines, int64_t dimensions) {
  if (lines < 1 || lines > kFarthest)
    throw SchedulingError("prefetch_rows: at least 1 line ahead, and at most " +
                          std::to_string(kFarthest));
  if (dimensions < 1) throw SchedulingError("prefetch_rows: a row is of one dimension at least");
  const std::vector<std::string> names = buffers_asked(p, buffer, static_cast<size_t>(dimensions));
  bool found = false;
  const std::vector<Path> paths = all_stmt_paths(*p);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    const For* f = stmt_at(*p, *path)->as<For>();
    if (!f || has_loops(*f)) continue;
    for (const std::string& name : names) found = ask_in(p, *path, name, lines) || found;
  }
  const auto is_there = [&](const Path& path) { return visible(p, path, buffer).has_value(); };
  if (!buffer.empty() && std::none_of(paths.begin(), paths.end(), is_there))
    throw SchedulingError("prefetch_rows: there is no buffer `" + buffer + "`");
  if (!found)
    throw SchedulingError("prefetch_rows: no loop goes along rows of " +
                          (buffer.empty() ? "any argument" : "`" + buffer + "`"));
  return p;
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> row_hints_operators() {
  using namespace params;
  return {
      {"prefetch_rows",
       {proc(), string("buffer", ""), integer("lines", 8), integer("dimensions", 2)},
       "for k: s(x[r, k])  ->  for k: s(x[r, k]); prefetch(x[r, k + lines])",
       [](const OperatorArgs& a) -> Value {
         return prefetch_rows(a.proc(), a.string(1), a.integer(2), a.integer(3));
       }},
  };
}

}  // namespace exotune
