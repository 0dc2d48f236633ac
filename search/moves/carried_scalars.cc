#include "search/moves/carried_scalars.h"

#include <algorithm>
#include <set>

#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/inspection.h"

namespace exotune {

namespace {

constexpr int kMostScalars = 8;  // of a program

bool reads_scalar(const ExprPtr& e, Sym x) {
  const std::vector<const Read*> all = data_reads(e);
  return std::any_of(all.begin(), all.end(), [&](const Read* r) { return r->name == x; });
}
bool reads_scalar(const StmtPtr& s, Sym x) {
  bool found = false;
  for_each_expr(Block{s}, [&](const ExprPtr& e) { found = found || reads_scalar(e, x); });
  return found;
}

// The assignment of a scalar from outside the loop, the k-th statement of its body.
const Assign* assigned_from_outside(const For& f, size_t k) {
  const Assign* a = f.body[k]->as<Assign>();
  if (!a || !a->idx.empty()) return nullptr;
  for (const StmtPtr& s : f.body)
    if (const Alloc* own = s->as<Alloc>(); own && own->name == a->name) return nullptr;
  return a;
}

// Its k-th statement gives a scalar its next value, which earlier ones have read.
bool carries(const For& f, size_t k) {
  const Assign* a = assigned_from_outside(f, k);
  return a && !reads_scalar(a->rhs, a->name) &&
         std::any_of(f.body.begin(), f.body.begin() + static_cast<std::ptrdiff_t>(k),
                     [&](const StmtPtr& s) { return reads_scalar(s, a->name); });
}

class ScalarInRow {
 public:
  ScalarInRow(const Schedule& s, Path loop, size_t k)
      : s_(s), loop_(std::move(loop)), k_(static_cast<int>(k)) {}

  std::optional<Schedule> run() {
    const Sym scalar = loop().body[static_cast<size_t>(k_)]->as<Assign>()->name;
    const std::optional<Cursor> place = declaration(scalar);
    if (!place) return std::nullopt;
    if (as_int(loop().lo) != 0 && apply(s_, "shift_loop", {Value(at(s_.proc, loop_)), Value("0")}))
      return std::nullopt;
    if (apply(s_, "expand_scalar",
              {Value(at(s_.proc, loop_)), Value(*place), Value(scalar.name() + "_row")}))
      return std::nullopt;
    loop_.back().index += kInFront;
    ahead();
    if (k_ > 0 || loop().body.size() < 2) return std::nullopt;
    if (apply(s_, "fission", {Value(at(s_.proc, child(loop_)))})) return std::nullopt;
    return std::move(s_);
  }

 private:
  static constexpr int kInFront = 2;  // statements that expand_scalar leaves there

  const For& loop() const { return *stmt_at(*s_.proc, loop_)->as<For>(); }

  std::optional<Cursor> declaration(Sym scalar) const {
    for (size_t k = 0; k < s_.proc->args.size(); ++k)
      if (s_.proc->args[k].name == scalar) return Cursor::arg(s_.proc, static_cast<int>(k));
    for (const Path& path : all_stmt_paths(*s_.proc))
      if (const Alloc* a = stmt_at(*s_.proc, path)->as<Alloc>(); a && a->name == scalar)
        return at(s_.proc, path);
    return std::nullopt;
  }

  // The assignment to the front of the body; a local name on its way is what it stands for.
  void ahead() {
    while (k_ > 0) {
      const Path before = child(loop_, k_ - 1);
      if (!apply(s_, "reorder_stmts", {Value(Cursor::block(s_.proc, before, 2))})) {
        --k_;
        continue;
      }
      const Assign* local = stmt_at(*s_.proc, before)->as<Assign>();
      if (!local || !local->idx.empty() ||
          !reads_scalar(loop().body[static_cast<size_t>(k_)], local->name))
        return;
      const size_t statements = loop().body.size();
      if (apply(s_, "inline_assign", {Value(at(s_.proc, before))})) return;
      if (loop().body.size() == statements) return;
      --k_;
      // Nobody uses the name any more; where the core keeps it, the next exchange says so.
      if (const Path alloc = child(loop_, k_ - 1); k_ > 0 && stmt_at(*s_.proc, alloc)->as<Alloc>())
        if (!apply(s_, "delete_buffer", {Value(at(s_.proc, alloc))})) --k_;
    }
  }

  Schedule s_;
  Path loop_;
  int k_;
};

// The first scalar that can be done.
std::optional<Schedule> one_in_row(const Schedule& s) {
  for (const Path& path : all_stmt_paths(*s.proc)) {
    const For* f = stmt_at(*s.proc, path)->as<For>();
    if (!f || f->mode != LoopMode::kSeq) continue;
    for (size_t k = 1; k < f->body.size(); ++k)
      if (carries(*f, k))
        if (auto out = ScalarInRow(s, path, k).run()) return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Schedule> carried_in_rows(const Schedule& s) {
  std::optional<Schedule> out;
  for (int n = 0; n < kMostScalars; ++n) {
    std::optional<Schedule> next = one_in_row(out ? *out : s);
    if (!next) break;
    out = std::move(next);
  }
  return out;
}

}  // namespace exotune
