#include "search/complete/open_nests.h"

#include <algorithm>
#include <set>

#include "core/library/inspection.h"

namespace exotune {

namespace {

bool is_vectorized(const Stmt& s) {
  if (s.as<Call>()) return true;
  const Alloc* a = s.as<Alloc>();
  return a && a->mem &&
         (a->mem->kind == MemoryKind::kVector || a->mem->kind == MemoryKind::kRegisterFile ||
          a->mem->kind == MemoryKind::kScratchpad);
}

struct Contents {
  bool work = false, vectors = false;
};

void look(const Stmt& s, Contents& into) {
  into.work = into.work || s.as<Assign>() || s.as<Reduce>();
  into.vectors = into.vectors || is_vectorized(s);
  for (const Block* block : {&body_of(s), &orelse_of(s)})
    for (const StmtPtr& below : *block) look(*below, into);
}

// Iterations of one loop; of one whose extent is a size, a guess.
double iterations(const For& f) {
  // As the outline of a program has it, which is not made for parts of one.
  constexpr double kUnknown = 64;
  if (const auto extent = literal_extent(f))
    return static_cast<double>(std::max<int64_t>(1, *extent));
  const BinOp* rest = f.hi->as<BinOp>();
  const auto tile = rest && rest->op == BinOpKind::kMod ? as_int(rest->rhs) : std::nullopt;
  return tile ? static_cast<double>(*tile) / 2 : kUnknown;
}

// Iterations of the whole nest.
double iterations(const Stmt& s) {
  double below = 0;
  for (const Block* block : {&body_of(s), &orelse_of(s)})
    for (const StmtPtr& t : *block) below += iterations(*t);
  const For* f = s.as<For>();
  return (f ? iterations(*f) : 1) * std::max(1.0, below);
}

void collect_written(const Stmt& s, std::set<Sym>& into) {
  if (const Assign* a = s.as<Assign>()) into.insert(a->name);
  if (const Reduce* r = s.as<Reduce>()) into.insert(r->name);
  for (const Block* block : {&body_of(s), &orelse_of(s)})
    for (const StmtPtr& below : *block) collect_written(*below, into);
}

// Somewhere inside stand loops that a tile size which divides nothing cut in two: the same sum or
// copy over the whole tiles and over the rest, which may be guarded. Each is a nest of its own.
bool holds_cut_loops(const Stmt& nest) {
  const Stmt* s = &nest;
  while (s->as<For>() && body_of(*s).size() == 1) s = body_of(*s).front().get();
  const For* f = s->as<For>();
  if (!f || f->body.size() < 2) return false;
  std::set<Sym> first;
  collect_written(*f->body.front(), first);
  return std::all_of(f->body.begin(), f->body.end(), [&](const StmtPtr& part) {
    std::set<Sym> written;
    collect_written(*part, written);
    const bool loops = part->as<For>() || (part->as<If>() && body_of(*part).size() == 1 &&
                                           body_of(*part).front()->as<For>());
    return loops && written.size() == 1 && written == first;
  });
}

class OpenNests {
 public:
  explicit OpenNests(const std::vector<Cursor>& pins) : pins_(pins) {}

  std::vector<Cursor> of(const Cursor& block) {
    walk(block);
    return std::move(open_);
  }

 private:
  bool is_pinned(const Path& path) const {
    return std::any_of(pins_.begin(), pins_.end(), [&](const Cursor& pin) {
      for (int k = 0; k < pin.length(); ++k)
        if (is_prefix(sibling(pin.path(), k), path)) return true;
      return false;
    });
  }
  bool holds_pin(const Path& path) const {
    return std::any_of(pins_.begin(), pins_.end(),
                       [&](const Cursor& pin) { return is_prefix(path, pin.path()); });
  }

  void walk(const Cursor& block) {
    for (int k = 0; k < block.length(); ++k) {
      const Cursor c = block.length() == 1 && block.kind() == CursorKind::kStmt ? block : block[k];
      if (is_pinned(c.path())) continue;
      const StmtPtr s = c.stmt();
      Contents contents;
      look(*s, contents);
      if (s->as<For>() && contents.work && !contents.vectors && !holds_pin(c.path()) &&
          !holds_cut_loops(*s)) {
        open_.push_back(c);
        continue;
      }
      if (!body_of(*s).empty()) walk(c.body());
      if (!orelse_of(*s).empty()) walk(c.orelse());
    }
  }

  const std::vector<Cursor>& pins_;
  std::vector<Cursor> open_;
};

}  // namespace

std::vector<Cursor> open_nests(const Cursor& block, const std::vector<Cursor>& pins) {
  return OpenNests(pins).of(block);
}

double work_at(const Cursor& nest) {
  double out = iterations(*nest.stmt());
  for (const Cursor& around : enclosing_loops(nest)) out *= iterations(around.as<For>());
  return out;
}

}  // namespace exotune
