#include "core/library/streaming.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/queries.h"
#include "core/ir/normal_form.h"
#include "core/ir/printer.h"
#include "core/library/operator_rows.h"
#include "core/library/operator_values.h"
#include "core/library/twins.h"

namespace exotune {

namespace {

// Arguments that are written and never read.
std::set<Sym> results_of(const Proc& p) {
  std::set<Sym> out;
  for (const Arg& a : p.args) out.insert(a.name);
  std::set<Sym> written;
  for (const Access& a : accesses_of(p, {{Child::kBody, 0}}, static_cast<int>(p.body.size())))
    if (a.kind == Access::Kind::kWrite)
      written.insert(a.buffer);
    else
      out.erase(a.buffer);
  std::erase_if(out, [&](Sym s) { return written.count(s) == 0; });
  return out;
}

bool stores_into(const Call& c, const std::set<Sym>& results) {
  const WindowExpr* to = c.args.empty() ? nullptr : c.args.front()->as<WindowExpr>();
  return to && results.count(to->name) > 0;
}

// Rows that one run of a block stores into: what moves along the last dimension alone is one row.
class Rows {
 public:
  void add(const Proc& p, const Path& path, const WindowExpr& to) {
    const std::vector<ScopeEntry> scope = scope_at(p, path);
    std::string row = std::to_string(to.name.id());
    for (size_t d = 0; d + 1 < to.access.size(); ++d)
      row += "," + str(normalize(to.access[d].lo), scope);
    blocks_[str(Path{path.begin(), path.end() - 1})].insert(row);
  }
  int64_t most() const {
    size_t most = 0;
    for (const auto& [block, rows] : blocks_) most = std::max(most, rows.size());
    return static_cast<int64_t>(most);
  }

 private:
  std::map<std::string, std::set<std::string>> blocks_;  // by the path of the loop
};

}  // namespace

ProcPtr stream_results(ProcPtr p, const std::vector<ProcPtr>& stores, const ProcPtr& fence,
                       int64_t rows) {
  const std::set<Sym> results = results_of(*p);
  Twins twins(stores);
  std::vector<std::pair<Path, ProcPtr>> found;
  Rows at_once;
  for (const Path& path : all_stmt_paths(*p)) {
    const StmtPtr s = stmt_at(*p, path);
    if (const For* f = s->as<For>(); f && f->mode == LoopMode::kPar)
      throw SchedulingError("stream_results: `" + f->iter.name() + "` runs in several threads");
    if (const Call* c = s->as<Call>(); c && stores_into(*c, results))
      if (const ProcPtr twin = twins.of(c->callee)) {
        found.emplace_back(path, twin);
        at_once.add(*p, path, *c->args.front()->as<WindowExpr>());
      }
  }
  if (rows > 0 && at_once.most() > rows)
    throw SchedulingError("stream_results: an iteration stores into " +
                          std::to_string(at_once.most()) + " rows of results, and " +
                          std::to_string(rows) + " at most may wait for their lines");
  int streamed = 0;
  for (const auto& [path, twin] : found)
    if (std::optional<ProcPtr> done = with_twin(p, path, twin)) {
      p = *done;
      ++streamed;
    }
  if (streamed == 0)
    throw SchedulingError(
        "stream_results: no vector is stored into an argument that is only written");
  const Path last = {{Child::kBody, static_cast<int>(p->body.size())}};
  return insert_noop_call(p, Cursor::gap(p, last), fence, {});
}

// --- rows of the operator table ----------------------------------------------------------------

std::vector<Operator> streaming_operators() {
  using namespace params;
  return {
      {"stream_results",
       {proc(), procs("stores"), procs("fence"), integer("rows", 0)},
       "storeu(y[..], v)  ->  stream(y[..], v); fence()   for arguments that are only written",
       [](const OperatorArgs& a) -> Value {
         const std::vector<ProcPtr> fence = a.procs(2);
         if (fence.size() != 1)
           throw InputError({}, "one procedure is the fence", "mm512_stream_fence");
         if (a.integer(3) < 0)
           throw InputError({}, "rows of results are counted from 0 on, which is any number");
         return stream_results(a.proc(), a.procs(1), fence.front(), a.integer(3));
       }},
  };
}

}  // namespace exotune
