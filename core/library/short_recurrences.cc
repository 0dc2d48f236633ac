#include "core/library/short_recurrences.h"

#include <algorithm>

#include "core/ir/normal_form.h"
#include "core/library/inspection.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/staging.h"

namespace exotune {

namespace {

constexpr int64_t kMostStatements = 4096;  // written out; compilers take seconds for more

std::optional<int64_t> known_extent(const For& f) { return as_int(normalize(f.hi - f.lo)); }

// One nest on its way; statements are counted as they come.
class Unrolling {
 public:
  Unrolling(ProcPtr p, const std::string& but) : p_(std::move(p)), but_(but) {}

  // What stands at `path` now, so many statements, is unrolled.
  int all_at(const Path& path) {
    const StmtPtr s = stmt_at(*p_, path);
    const For* f = s->as<For>();
    const auto extent = f && f->iter.name() != but_ ? known_extent(*f) : std::nullopt;
    if (!extent) {
      inside(path, Child::kBody, static_cast<int>(body_of(*s).size()));
      inside(path, Child::kOrelse, static_cast<int>(orelse_of(*s).size()));
      return 1;
    }
    const auto each = static_cast<int64_t>(f->body.size());
    if (*extent > (kMostStatements - made_) / each)
      throw SchedulingError("unroll_nest: more than " + std::to_string(kMostStatements) +
                            " statements would come of it");
    made_ += std::max<int64_t>(0, *extent) * each;
    if (!as_int(f->lo)) p_ = shift_loop(p_, at(p_, path), int_const(0));
    const int before = size_of_block(p_, path);
    p_ = unroll_loop(p_, at(p_, path));
    return in_turn(path, size_of_block(p_, path) - before + 1);
  }
  ProcPtr take() { return std::move(p_); }

 private:
  void inside(const Path& path, Child branch, int count) {
    if (count == 0) return;
    Path first = path;
    first.push_back({branch, 0});
    (void)in_turn(first, count);
  }
  // `count` statements from `first` on; how many there are then.
  int in_turn(Path first, int count) {
    int now = 0;
    for (int k = 0; k < count; ++k) {
      const int more = all_at(first);
      first.back().index += more;
      now += more;
    }
    return now;
  }

  ProcPtr p_;
  const std::string& but_;
  int64_t made_ = 0;
};

// The one array that the loop writes.
Sym array_of(const Cursor& loop) {
  std::optional<Sym> found;
  for_each_stmt({loop.stmt()}, [&](const StmtPtr& s) {
    const Assign* a = s->as<Assign>();
    const Reduce* r = s->as<Reduce>();
    if (!a && !r) return;
    const Sym name = a ? a->name : r->name;
    if (found && *found != name)
      throw SchedulingError("solve_in_registers: the loop writes several arrays");
    found = name;
  });
  if (!found) throw SchedulingError("solve_in_registers: the loop writes nothing");
  return *found;
}

// Are there loops over `rows` inside, all of whole vectors?
bool in_whole_vectors(const Cursor& loop, const std::string& rows, int64_t lanes) {
  bool any = false, all = true;
  for_each_stmt(loop.as<For>().body, [&](const StmtPtr& s) {
    const For* f = s->as<For>();
    if (!f || f->iter.name() != rows) return;
    const auto width = literal_extent(*f);
    any = true;
    all &= width && *width % lanes == 0;
  });
  return any && all;
}

// Every loop over `rows` among `count` statements from `first` on, in whole vectors, the last
// first: their paths stay.
ProcPtr vectorize_rows(ProcPtr p, Path first, int count, const std::string& rows,
                       const VectorUnit& unit) {
  first.back().index += count;
  for (int k = 0; k < count; ++k) {
    --first.back().index;
    const Cursor loop = at(p, first);
    if (!loop.is<For>() || loop.as<For>().iter.name() != rows)
      throw SchedulingError("solve_in_registers: a statement stands outside the loop over `" +
                            rows + "`");
    p = divide_loop(p, loop, unit.lanes, {rows + "v", rows}, Tail::kPerfect);
    p = simplify(p, at(p, first));
    p = vectorize_lanes(p, at(p, child(first)), unit);
  }
  return p;
}

}  // namespace

ProcPtr unroll_nest(ProcPtr p, const Where& where, const std::string& but) {
  const Cursor loop = where.loop(p);
  if (!known_extent(loop.as<For>()))
    throw SchedulingError("unroll_nest: how often `" + loop.as<For>().iter.name() +
                          "` runs is not known");
  Unrolling nest(p, but);
  (void)nest.all_at(loop.path());
  return delete_pass(nest.take());
}

ProcPtr solve_in_registers(ProcPtr p, const Where& where, const std::string& rows,
                           const VectorUnit& unit) {
  const Cursor loop = where.loop(p);
  if (!in_whole_vectors(loop, rows, unit.lanes))
    throw SchedulingError("solve_in_registers: needs loops over `" + rows +
                          "` inside, of a multiple of " + std::to_string(unit.lanes) +
                          " iterations");
  const Path top = loop.path();
  const Sym array = array_of(loop);
  const Staged staged = auto_stage_mem(p, loop, array.name(), array.name() + "_reg");
  p = staged.proc;
  if (!staged.load.valid() || !staged.store.valid())
    throw SchedulingError("solve_in_registers: `" + array.name() +
                          "` is not both read and written");
  // alloc, load, the recurrence, store
  p = divide_dim(p, at(p, top), at(p, top).as<Alloc>().type.rank() - 1, unit.lanes);
  p = set_memory(p, at(p, top), unit.memory);
  const Path load = sibling(top, 1), main = sibling(top, 2), store = sibling(top, 3);
  p = vectorize(p, at(p, innermost(p, store)), unit, VectorTail::kPerfect);
  const int before = size_of_block(p, main);
  p = unroll_nest(p, at(p, main), rows);
  p = vectorize_rows(p, main, size_of_block(p, main) - before + 1, rows, unit);
  p = vectorize(p, at(p, innermost(p, load)), unit, VectorTail::kPerfect);
  return unroll_registers(p, unit.memory);
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> short_recurrences_operators() {
  using namespace params;
  return {
      {"unroll_nest",
       {proc(), place("loop"), string("but", "")},
       "for i in seq(0, 3): for j in seq(b, b + i): s  ->  s; s; s   the loop and all in it of "
       "known length (loops over `but` stay)",
       [](const OperatorArgs& a) -> Value {
         return unroll_nest(a.proc(), a.where(1), a.string(2));
       }},
      {"solve_in_registers",
       {proc(), place("loop"), string("rows"), integer("vw"), memory("mem_type"),
        procs("instructions")},
       "for j: for i: { for k in seq(b, b + j): P[j, i] += e(P[k, i]) ; t }  ->  the rows of P in "
       "registers, all j and k written out",
       [](const OperatorArgs& a) -> Value {
         return solve_in_registers(a.proc(), a.where(1), a.string(2), vector_unit(a, 3, 4, 5));
       }},
  };
}

}  // namespace exotune
