#include "core/cursor/edit.h"

#include <algorithm>

#include "core/base/deadline.h"
#include "core/cursor/provenance.h"

namespace exotune {
// How a path moves through an edit. Forwarding is what makes a schedule's cursors survive
// rewriting, and a wrong answer here would make a step work on another statement: trusted code.
// Every edit therefore says exactly which places move, which stay and which are gone, and the
// exhaustive test follows cursors through every primitive.

namespace {

// Where `path` runs through (or, as its last step, stands in) the block that `at` indexes: the
// depth of that step, or -1.
int depth_in_block(const Path& at, const Path& path) {
  size_t d = at.size() - 1;
  if (path.size() <= d || !std::equal(at.begin(), at.end() - 1, path.begin())) return -1;
  return path[d].child == at[d].child ? static_cast<int>(d) : -1;
}

Path shifted(const Path& path, int depth, int by) {
  Path out = path;
  out[static_cast<size_t>(depth)].index += by;
  return out;
}

std::optional<Path> forward_insert(const Edit& e, const Path& path, bool gap) {
  int d = depth_in_block(e.at, path);
  if (d < 0) return path;
  int k = path[static_cast<size_t>(d)].index;
  bool is_last = static_cast<size_t>(d) + 1 == path.size();
  // A gap at the insertion point stays before what was inserted.
  bool moves = gap && is_last ? k > e.at.back().index : k >= e.at.back().index;
  return moves ? shifted(path, d, e.count) : path;
}

// Deletion and replacement: what lies after shifts; what lies inside is gone.
std::optional<Path> forward_replace(const Edit& e, int new_count, const Path& path, bool gap) {
  int d = depth_in_block(e.at, path);
  if (d < 0) return path;
  int k = path[static_cast<size_t>(d)].index, first = e.at.back().index;
  bool is_gap = gap && static_cast<size_t>(d) + 1 == path.size();
  if (k < first || (is_gap && k == first)) return path;
  if (k >= first + e.count) return shifted(path, d, new_count - e.count);
  if (is_gap) return shifted(path, d, first - k);
  return std::nullopt;
}

// Wrapped statements go one level deeper; gaps at either end stay outside.
std::optional<Path> forward_wrap(const Edit& e, const Path& path, bool gap) {
  int d = depth_in_block(e.at, path);
  if (d < 0) return path;
  int k = path[static_cast<size_t>(d)].index, first = e.at.back().index;
  bool is_gap = gap && static_cast<size_t>(d) + 1 == path.size();
  if (k < first || (is_gap && k == first)) return path;
  if (k >= first + e.count) return shifted(path, d, 1 - e.count);
  Path out(path.begin(), path.begin() + d);
  out.push_back(e.at.back());
  out.insert(out.end(), e.inner.begin(), e.inner.end());
  out.back().index += k - first;
  out.insert(out.end(), path.begin() + d + 1, path.end());
  return out;
}

// The inverse: a level less, and places in the scope's head are gone.
std::optional<Path> forward_unwrap(const Edit& e, const Path& path, bool gap) {
  int d = depth_in_block(e.at, path);
  if (d < 0) return path;
  size_t depth = static_cast<size_t>(d);
  int k = path[depth].index, at = e.at.back().index;
  bool is_gap = gap && depth + 1 == path.size();
  if (k < at || (is_gap && k == at)) return path;
  if (k > at) return shifted(path, d, e.count - 1);
  if (depth + 1 == path.size() || path[depth + 1].child != e.inner.back().child)
    return std::nullopt;
  Path out(path.begin(), path.begin() + d);
  out.push_back({path[depth].child, at + path[depth + 1].index});
  out.insert(out.end(), path.begin() + d + 2, path.end());
  return out;
}

std::optional<Path> forward_move(const Edit& e, const Path& path, bool gap) {
  // A move is: take the statements out, then put them in at `to` as it stands after the taking out.
  Edit removal{Edit::Kind::kDelete, e.at, e.count, 0, {}, {}};
  std::optional<Path> to = forward_replace(removal, 0, e.to, /*gap=*/true);
  EXO_CHECK(to.has_value());
  int d = depth_in_block(e.at, path);
  if (d >= 0) {
    size_t depth = static_cast<size_t>(d);
    int k = path[depth].index - e.at.back().index;
    bool is_gap = gap && depth + 1 == path.size();
    if (k >= 0 && k < e.count && !(is_gap && k == 0)) {
      Path out = *to;
      out.back().index += k;
      out.insert(out.end(), path.begin() + d + 1, path.end());
      return out;
    }
  }
  std::optional<Path> left = forward_replace(removal, 0, path, gap);
  if (!left) return std::nullopt;
  return forward_insert(Edit{Edit::Kind::kInsert, *to, e.count, 0, {}, {}}, *left, gap);
}

// The two halves of a scope change places: what was under one is now under the other.
std::optional<Path> forward_swap(const Edit& e, const Path& path, bool gap) {
  size_t n = e.at.size();
  if (!is_prefix(e.at, path) || (gap && path.size() == n)) return path;
  const Child from = e.inner.back().child;
  auto under = [&](std::initializer_list<Step> steps, size_t rest) {
    Path out = e.at;
    out.insert(out.end(), steps);
    out.insert(out.end(), path.begin() + static_cast<std::ptrdiff_t>(rest), path.end());
    return out;
  };
  const Step outer{Child::kBody, 0};
  if (path.size() == n || path[n].child != from) return under({outer}, n);
  if (gap && path.size() == n + 1) return under({{Child::kBody, path[n].index}}, n + 1);
  if (path.size() == n + 1 || path[n + 1].child == Child::kExpr) return under({}, n + 1);
  const Step branch = path[n + 1].child == Child::kBody ? outer : Step{Child::kOrelse, 0};
  return under({branch, {from, path[n + 1].index}}, n + 2);
}

}  // namespace

// One edit after the other, in their order; a path that is gone stays gone.
std::optional<Path> forward(const Edit& e, const Path& path, bool gap) {
  switch (e.kind) {
    case Edit::Kind::kInsert:
      return forward_insert(e, path, gap);
    case Edit::Kind::kDelete:
      return forward_replace(e, 0, path, gap);
    case Edit::Kind::kReplace:
      return forward_replace(e, e.new_count, path, gap);
    case Edit::Kind::kWrap:
      return forward_wrap(e, path, gap);
    case Edit::Kind::kMove:
      return forward_move(e, path, gap);
    case Edit::Kind::kUnwrap:
      return forward_unwrap(e, path, gap);
    case Edit::Kind::kExpr:
      if (is_prefix(e.at, path)) return std::nullopt;
      return path;
    case Edit::Kind::kSwap:
      return forward_swap(e, path, gap);
    case Edit::Kind::kKeep:
      return path;
  }
  return std::nullopt;
}

// Begins with the procedure as it is; each member makes a new body and notes the edit. Nothing is
// checked here: primitives prove first and check afterwards.
Rewrite::Rewrite(ProcPtr p)
    : original_(std::move(p)), current_(std::make_shared<Proc>(*original_)) {
  leave_if_over();  // every primitive begins here
  current_->provenance = nullptr;
}

void Rewrite::insert(const Path& gap, Block stmts) {
  int count = static_cast<int>(stmts.size());
  current_->body = splice(*current_, gap, 0, stmts);
  edits_.push_back({Edit::Kind::kInsert, gap, count, 0, {}, {}});
}

void Rewrite::erase(const Path& first, int count) {
  bool empties = static_cast<int>(block_at(*current_, first).size()) == count &&
                 first.back().child == Child::kBody;
  if (empties) {
    replace(first, count, {make_pass()});
    return;
  }
  current_->body = splice(*current_, first, count, {});
  edits_.push_back({Edit::Kind::kDelete, first, count, 0, {}, {}});
}

void Rewrite::replace(const Path& first, int count, Block with) {
  int new_count = static_cast<int>(with.size());
  if (new_count == 0) {
    erase(first, count);
    return;
  }
  current_->body = splice(*current_, first, count, with);
  edits_.push_back({Edit::Kind::kReplace, first, count, new_count, {}, {}});
}

void Rewrite::replace_keep(const Path& at, StmtPtr with) {
  current_->body = splice(*current_, at, 1, {std::move(with)});
  edits_.push_back({Edit::Kind::kKeep, at, 1, 1, {}, {}});
}

void Rewrite::wrap(const Path& first, int count, const std::function<StmtPtr(Block)>& make,
                   bool orelse) {
  const Block& b = block_at(*current_, first);
  auto begin = b.begin() + first.back().index;
  StmtPtr wrapper = make(Block(begin, begin + count));
  current_->body = splice(*current_, first, count, {wrapper});
  edits_.push_back(
      {Edit::Kind::kWrap, first, count, 1, {}, {{orelse ? Child::kOrelse : Child::kBody, 0}}});
}

void Rewrite::unwrap(const Path& at, bool orelse) {
  StmtPtr s = stmt_at(*current_, at);
  EXO_CHECK(s != nullptr);
  Block inner = orelse ? orelse_of(*s) : body_of(*s);
  if (inner.empty()) {
    erase(at, 1);
    return;
  }
  int count = static_cast<int>(inner.size());
  current_->body = splice(*current_, at, 1, inner);
  edits_.push_back(
      {Edit::Kind::kUnwrap, at, count, 0, {}, {{orelse ? Child::kOrelse : Child::kBody, 0}}});
}

// Expressed on the procedure before the move; the gap is corrected for what was taken out in front
// of it.
void Rewrite::move(const Path& first, int count, const Path& to_gap) {
  const Block& b = block_at(*current_, first);
  auto begin = b.begin() + first.back().index;
  Block moved(begin, begin + count);
  bool empties = static_cast<int>(b.size()) == count && first.back().child == Child::kBody &&
                 depth_in_block(first, to_gap) != static_cast<int>(first.size()) - 1;
  Path from = first;
  if (empties) {
    // Leave a pass behind: it is put before the moved statements and stays.
    insert(first, {make_pass()});
    Path target = to_gap;
    if (depth_in_block(first, to_gap) >= 0) target = *forward(edits_.back(), to_gap, true);
    from = sibling(first, 1);
    move(from, count, target);
    return;
  }
  Edit e{Edit::Kind::kMove, first, count, count, to_gap, {}};
  Edit removal{Edit::Kind::kDelete, first, count, 0, {}, {}};
  Path to = *forward(removal, to_gap, true);
  current_->body = splice(*current_, first, count, {});
  current_->body = splice(*current_, to, 0, moved);
  edits_.push_back(std::move(e));
}

void Rewrite::swap(const Path& at, StmtPtr with, bool from_orelse) {
  current_->body = splice(*current_, at, 1, {std::move(with)});
  edits_.push_back(
      {Edit::Kind::kSwap, at, 1, 1, {}, {{from_orelse ? Child::kOrelse : Child::kBody, 0}}});
}

void Rewrite::replace_expr(const Path& at, ExprPtr with) {
  current_->body = with_expr_at(*current_, at, with);
  edits_.push_back({Edit::Kind::kExpr, at, 1, 1, {}, {}});
}

// For rewrites that keep the tree's shape: paths stay as they are, whatever changed inside
// statements.
void Rewrite::map_in_place(Block new_body) {
  EXO_CHECK(new_body.size() == current_->body.size());
  current_->body = std::move(new_body);
}

void Rewrite::set_header(const std::function<void(Proc&)>& change) { change(*current_); }

// Where a place of the original stands now: through all edits so far.
std::optional<Path> Rewrite::now(const Path& original_path, bool gap) const {
  std::optional<Path> p = original_path;
  for (const Edit& e : edits_)
    if (p) p = forward(e, *p, gap);
  return p;
}

}  // namespace exotune
