// Reads a nest: which loop vectors run along, which one register tiles block, what is summed over,
// and so of which kind it is. Perfect nests here, rows of others in nest_rows.cc; whatever is
// neither is searched as a program (program_search.h), which needs no kind.
#include "search/nest.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/library/inspection.h"
#include "core/library/level1.h"
#include "search/nest_parts.h"

namespace exotune {

const char* name_of(NestKind k) {
  static const char* const names[] = {"contraction", "sums", "rows", "elements", "other"};
  return names[static_cast<int>(k)];
}

const NestLoop* Nest::find(const std::string& loop) const {
  for (const NestLoop& l : loops)
    if (l.name == loop) return &l;
  return nullptr;
}

bool Operand::is_shared_along(const std::string& loop) const {
  return std::count(loops.begin(), loops.end(), loop) > 0 && !dimension.count(loop);
}

bool Nest::rows_overlap() const {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
    return o.along_vector && o.is_shared_along(row_loop);
  });
}

std::vector<std::string> Nest::windows() const {
  std::vector<std::string> out;
  for (const NestLoop& l : loops) {
    const auto moves_rows = [&](const Operand& o) {
      return o.along_vector &&
             std::any_of(o.moved.begin(), o.moved.end(), [&](const std::set<std::string>& by) {
               return by.count(l.name) && by.count(row_loop) && !by.count(vector_loop);
             });
    };
    if (!l.in_output && l.extent && std::any_of(operands.begin(), operands.end(), moves_rows))
      out.push_back(l.name);
  }
  return out;
}

bool Nest::ends_in_product() const {
  const size_t n = loops.size();
  return n >= 3 && loops[n - 1].name == reduction_loop && loops[n - 2].name == vector_loop &&
         loops[n - 3].name == row_loop;
}

namespace nest_parts {
namespace {

// Of elements that a vector reads: a window with a stride, one colour of pixels. With more between
// them a vector is as many lines of the cache as lanes.
constexpr int64_t kLargestStep = 4;

// Loops around sums, in a nest that has other statements beside it: adds them to the nest.
bool add_sums(const StmtPtr& s, Nest& nest, std::vector<Sym>& iters,
              std::vector<Statement>& statements) {
  const Block* body = nullptr;
  for (const StmtPtr* at = &s; const For* f = (*at)->as<For>(); at = &body->front()) {
    nest.loops.push_back(loop_of(*f));
    iters.push_back(f->iter);
    body = &f->body;
    if (body->size() != 1) break;
  }
  for (const StmtPtr& sum : *body) {
    const Reduce* r = sum->as<Reduce>();
    if (!r) return false;
    statements.push_back({r->name, r->idx, r->rhs, true});
  }
  return true;
}

// Rows of a tile that pay for the vectors that serve them all.
constexpr int64_t kFewRows = 4;

// The rows of a sum: the innermost loop that some vectors do not depend on, so that they serve all
// of a tile's rows, and of those one of a few iterations only where there is no longer one; else
// the innermost one beside the vector loop.
void choose_rows_of_sums(Nest& nest) {
  int best = -1;
  nest.row_loop.clear();
  for (const NestLoop& l : nest.loops) {
    if (!l.in_output) nest.reduction_loop = l.name;
    if (!l.in_output || l.name == nest.vector_loop) continue;
    const bool here =
        std::any_of(nest.operands.begin(), nest.operands.end(), [&](const Operand& o) {
          return o.along_vector &&
                 std::find(o.loops.begin(), o.loops.end(), l.name) == o.loops.end();
        });
    const int worth = here ? (l.extent.value_or(kFewRows) < kFewRows ? 1 : 2) : 0;
    if (worth >= best) nest.row_loop = l.name, best = worth;
  }
}

// Are these sums for sum_block? No loop is in tiles, and there are several, over several loops, or
// with a beginning of their own.
bool are_whole_sums(const Nest& nest, bool inside) {
  const auto sums = std::count_if(nest.loops.begin(), nest.loops.end(),
                                  [](const NestLoop& l) { return !l.in_output; });
  const bool tiled = std::any_of(nest.loops.begin(), nest.loops.end(),
                                 [](const NestLoop& l) { return !l.outer.empty(); });
  return !tiled && sums >= (inside || nest.results > 1 ? 1 : 2) && !nest.row_loop.empty() &&
         nest.find(nest.vector_loop)->in_output;
}

bool is_rectangular(const Block& body) {
  bool moves = false;
  for_each_stmt(body, [&](const StmtPtr& outer) {
    const For* f = outer->as<For>();
    if (!f) return;
    for_each_stmt(f->body, [&](const StmtPtr& s) {
      const For* inner = s->as<For>();
      moves |= inner && (mentions(inner->lo, f->iter) || mentions(inner->hi, f->iter));
    });
  });
  return !moves;
}

// A nest that is perfect down to its statements, of which one may be loops around sums.
class PerfectNest {
 public:
  explicit PerfectNest(const Proc& p) : p_(p) {}

  Nest run() {
    if (!read()) return inspect_rows(p_);
    if (statements_.empty()) return std::move(nest_);
    for (const Statement& s : statements_)
      for (const Read* r : data_reads(s.rhs)) reads_.push_back(r);
    find_loops_of_the_output();
    // Of sums in a scalar, what their end writes tells which loops they are for.
    if (inside_ && !sums_are_inside()) return inspect_rows(p_);
    find_precision();
    // Register tiles are of the output.
    count_results();
    if (inside_ || (nest_.loops.size() >= 3 && are_sums())) choose_vector_loop(true);
    if (nest_.vector_loop.empty() && nest_.loops.size() >= 3 && (inside_ || are_sums()) &&
        is_rectangular(p_.body)) {
      turns_ = true;
      choose_vector_loop(true);
    }
    if (nest_.vector_loop.empty()) turns_ = false;
    if (nest_.vector_loop.empty() && !inside_) choose_vector_loop(false);
    find_operands();
    for (const Statement& s : statements_) find_tiles(s.idx);
    for (const Read* r : reads_) find_tiles(r->idx);
    if (nest_.find(nest_.vector_loop)) choose_kind();
    if (!nest_.row_loop.empty()) count_shared();
    return std::move(nest_);
  }

 private:
  const Statement& last() const { return statements_.back(); }
  bool is_one_sum() const { return statements_.size() == 1 && last().reduces; }
  // One sum, or several for the same loops, of which none reads another's result.
  bool are_sums() const {
    return std::all_of(statements_.begin(), statements_.end(), [&](const Statement& s) {
      return s.reduces && is_for_all_loops(s) &&
             std::none_of(reads_.begin(), reads_.end(), [&](const Read* r) {
               return statements_.size() > 1 && r->name == s.name;
             });
    });
  }
  bool is_for_all_loops(const Statement& s) const {
    for (size_t k = 0; k < iters_.size(); ++k)
      if (nest_.loops[k].in_output &&
          std::none_of(s.idx.begin(), s.idx.end(),
                       [&](const ExprPtr& e) { return mentions(e, iters_[k]); }))
        return false;
    return true;
  }
  void count_results() {
    std::set<Sym> results;
    for (const Statement& s : statements_)
      if (s.reduces) results.insert(s.name);
    nest_.results = std::max(1, static_cast<int>(results.size()));
  }

  // The loops and the statements below them; false: another form.
  bool read() {
    // The one loop among the top statements (a sum may be set to zero before it).
    Block top;
    for (const StmtPtr& s : p_.body)
      if (s->as<For>()) top.push_back(s);
    if (top.size() != 1) return false;
    const Block* body = &top;
    while (body->size() == 1 && (*body)[0]->as<For>()) {
      const For& f = *(*body)[0]->as<For>();
      nest_.loops.push_back(loop_of(f));
      iters_.push_back(f.iter);
      body = &f.body;
    }
    around_ = iters_.size();
    for (const StmtPtr& s : *body) {
      if (std::optional<Statement> statement = statement_of(s))
        statements_.push_back(std::move(*statement));
      else if (s->as<For>() && !inside_ && around_ >= 2 && add_sums(s, nest_, iters_, statements_))
        inside_ = true;
      else if (!s->as<Alloc>())
        return false;
    }
    return true;
  }

  void find_loops_of_the_output() {
    for (const Statement& s : statements_)
      for (size_t k = 0; k < iters_.size(); ++k)
        for (const ExprPtr& e : s.idx)
          if (mentions(e, iters_[k])) nest_.loops[k].in_output = true;
  }

  bool sums_are_inside() const {
    for (size_t k = 0; k < nest_.loops.size(); ++k)
      if (nest_.loops[k].in_output != (k < around_)) return false;
    return true;
  }

  void find_precision() {
    nest_.output = last().name.name();
    if (const Arg* a = p_.find_arg(last().name)) nest_.precision = a->type.scalar;
    for (const Read* r : reads_)
      if (const Arg* a = p_.find_arg(r->name)) {
        nest_.converts = nest_.converts || bytes_of(a->type.scalar) < 4;
        if (!nest_.converts) nest_.precision = a->type.scalar;
      }
  }

  // The one dimension of the index that loop `k` moves, one element at a time, and that no other
  // loop moves; -1: there is none such.
  int dimension_along(const std::vector<ExprPtr>& idx, size_t k) const {
    int found = -1;
    for (size_t d = 0; d < idx.size(); ++d) {
      if (!mentions(idx[d], iters_[k])) continue;
      if (found >= 0 || !runs_along(idx[d], iters_[k])) return -1;
      for (const Sym& other : iters_)
        if (other != iters_[k] && mentions(idx[d], other)) return -1;
      found = static_cast<int>(d);
    }
    return found;
  }

  // Is what `r` reads along loop `k` worth packing in strips of the dimension that the loop moves:
  // read the same way everywhere, and again by some loop of the output that does not move it?
  bool can_be_turned(const Read& r, size_t k) const {
    const int d = dimension_along(r.idx, k);
    if (d < 0 || d + 1 == static_cast<int>(r.idx.size())) return false;
    bool again = false;
    for (size_t l = 0; l < iters_.size(); ++l)
      again |= nest_.loops[l].in_output && nest_.loops[l].extent != 1 &&
               std::none_of(r.idx.begin(), r.idx.end(),
                            [&](const ExprPtr& e) { return mentions(e, iters_[l]); });
    return is_read_one_way(r) && again && !is_written(r.name);
  }

  // In how many accesses vectors along loop `k` are contiguous; nothing where one is in the way:
  // every access that mentions the loop does so in its last index, with coefficient one. Reads may
  // take every second to fourth element: targets have shuffles for that. Where nothing else would
  // do, one operand may be turned while it is packed.
  std::optional<int> contiguous_along(size_t k) const {
    int score = 0;
    bool allowed = true;
    const auto look = [&](const std::vector<ExprPtr>& idx, int64_t most_step) {
      const int64_t strip = idx.empty() ? 0 : strip_of(idx.back(), iters_[k]);
      for (size_t d = 0; d < idx.size(); ++d) {
        if (!mentions(idx[d], iters_[k]) || picks_strip(idx[d], iters_[k], strip)) continue;
        if (d + 1 == idx.size() && (strip > 0 || runs_along(idx[d], iters_[k])))
          ++score;
        else if (const int64_t step = coefficient(idx[d], iters_[k]);
                 d + 1 < idx.size() || step < 1 || step > most_step)
          allowed = false;
      }
    };
    for (const Statement& s : statements_) look(s.idx, 1);
    Sym turned;
    for (const Read* r : reads_) {
      if (turns_ && (!turned.valid() || r->name == turned) && can_be_turned(*r, k))
        turned = r->name;
      else
        look(r->idx, kLargestStep);
    }
    if (!allowed) return std::nullopt;
    return score;
  }

  // Of several such loops the innermost one that is contiguous in most accesses.
  void choose_vector_loop(bool of_output) {
    int best_score = 0;
    for (size_t k = 0; k < iters_.size(); ++k) {
      if (of_output && !nest_.loops[k].in_output) continue;
      const std::optional<int> score = contiguous_along(k);
      if (!score || *score < best_score || *score == 0) continue;
      best_score = *score;
      nest_.vector_loop = nest_.loops[k].name;
    }
  }

  void find_operands() {
    for (size_t k = 0; k < iters_.size(); ++k)
      if (nest_.loops[k].name == nest_.vector_loop) vector_iter_ = iters_[k];
    for (const Statement& s : statements_) check_stride(s.name, s.idx);
    std::set<std::string> seen;
    for (const Read* r : reads_) {
      check_stride(r->name, r->idx);
      if (is_result(*r) || r->idx.empty() || !seen.insert(r->name.name()).second) continue;
      nest_.operands.push_back(operand_of(*r));
      nest_.operands.back().one_way = is_read_one_way(*r);
    }
  }

  bool is_read_one_way(const Read& r) const {
    return std::all_of(reads_.begin(), reads_.end(), [&](const Read* other) {
      return other->name != r.name || same_indices(other->idx, r.idx);
    });
  }

  // Different elements along the vectors that the rows do not move.
  void count_shared() {
    std::vector<const Read*> shared;
    Sym rows;
    for (size_t k = 0; k < iters_.size(); ++k)
      if (nest_.loops[k].name == nest_.row_loop) rows = iters_[k];
    for (const Read* r : reads_) {
      const auto moves = [&](const ExprPtr& e) { return mentions(e, rows); };
      if (is_result(*r) || r->idx.empty() || !mentions(r->idx.back(), vector_iter_) ||
          std::any_of(r->idx.begin(), r->idx.end(), moves))
        continue;
      if (std::none_of(shared.begin(), shared.end(), [&](const Read* o) {
            return o->name == r->name && same_indices(o->idx, r->idx);
          }))
        shared.push_back(r);
    }
    nest_.shared = std::max(1, static_cast<int>(shared.size()));
  }

  // An element that a statement writes, not another one of the same buffer.
  bool is_result(const Read& r) const {
    return std::any_of(statements_.begin(), statements_.end(), [&](const Statement& s) {
      return r.name == s.name && same_indices(r.idx, s.idx);
    });
  }
  bool is_written(Sym buffer) const {
    return std::any_of(statements_.begin(), statements_.end(),
                       [&](const Statement& s) { return s.name == buffer; });
  }

  static bool same_indices(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return equal(x, y); });
  }

  void check_stride(Sym buffer, const std::vector<ExprPtr>& idx) {
    if (vector_iter_.valid() && !idx.empty() && mentions(idx.back(), vector_iter_))
      nest_.unit_stride = nest_.unit_stride && is_contiguous(p_, buffer);
  }

  Operand operand_of(const Read& r) const {
    Operand o;
    o.buffer = r.name.name();
    o.rank = static_cast<int>(r.idx.size());
    for (const ExprPtr& e : r.idx) {
      o.moved.emplace_back();
      for (size_t k = 0; k < iters_.size(); ++k)
        if (mentions(e, iters_[k])) {
          o.loops.push_back(nest_.loops[k].name);
          o.moved.back().insert(nest_.loops[k].name);
        }
    }
    for (size_t k = 0; k < iters_.size(); ++k)
      if (const int d = dimension_along(r.idx, k); d >= 0) o.dimension[nest_.loops[k].name] = d;
    o.along_vector = vector_iter_.valid() && mentions(r.idx.back(), vector_iter_);
    if (const auto d = o.dimension.find(nest_.vector_loop); turns_ && d != o.dimension.end())
      if (d->second + 1 < o.rank) o.along_vector = true, o.turned = d->second;
    if (!o.along_vector || o.turned >= 0) return o;
    o.strip = strip_of(r.idx.back(), vector_iter_);
    o.halo = std::any_of(iters_.begin(), iters_.end(), [&](Sym iter) {
      return iter != vector_iter_ && mentions(r.idx.back(), iter);
    });
    return o;
  }

  // 48 * jo + j with 48 iterations of j: j is a tile of jo.
  void find_tiles(const std::vector<ExprPtr>& idx) {
    for (const ExprPtr& e : idx)
      for (size_t inner = 0; inner < iters_.size(); ++inner)
        for (size_t outer = 0; outer < inner; ++outer)
          if (nest_.loops[inner].extent &&
              nest_.loops[inner].in_output == nest_.loops[outer].in_output &&
              coefficient(e, iters_[inner]) == 1 &&
              coefficient(e, iters_[outer]) == *nest_.loops[inner].extent)
            nest_.loops[inner].outer = nest_.loops[outer].name;
  }

  void choose_kind() {
    nest_.adds = is_one_sum() && last().adds;
    if (inside_ || (nest_.loops.size() >= 3 && are_sums())) {
      choose_rows_of_sums(nest_);
      if (are_whole_sums(nest_, inside_)) nest_.kind = NestKind::kSums;
      if (inside_ || nest_.kind == NestKind::kSums) return;
      nest_.row_loop = nest_.reduction_loop = "";
      if (is_one_sum() && is_contraction()) return;
    }
    if (nest_.loops.size() == 1) nest_.kind = NestKind::kElements;
    if (nest_.kind == NestKind::kElements && statements_.size() == 1)
      nest_.functions = functions_in(last().rhs);
    if (nest_.loops.size() == 2) {
      nest_.kind = NestKind::kRows;
      for (const NestLoop& l : nest_.loops)
        if (l.name != nest_.vector_loop) nest_.row_loop = l.name;
    }
  }

  // out[.., row, vector] += a * b over one loop: then its loops are named.
  bool is_contraction() {
    if (nest_.loops.size() < 3 || !nest_.find(nest_.vector_loop)->in_output) return false;
    choose_rows_of_sums(nest_);
    if (nest_.row_loop.empty() || nest_.reduction_loop.empty()) return false;
    nest_.kind = NestKind::kContraction;
    return true;
  }

  const Proc& p_;
  Nest nest_;
  std::vector<Sym> iters_;  // of nest_.loops
  size_t around_ = 0;       // loops that are not below the statements' own
  bool inside_ = false;     // one of the statements is loops around a sum
  bool turns_ = false;      // an operand may run along the vectors in another dimension
  std::vector<Statement> statements_;
  std::vector<const Read*> reads_;  // of the statements' values
  Sym vector_iter_;
};

}  // namespace
}  // namespace nest_parts

Nest inspect_nest(const Proc& p) {
  Nest out = nest_parts::PerfectNest(p).run();
  out.rectangular = nest_parts::is_rectangular(p.body);
  return out;
}

}  // namespace exotune
