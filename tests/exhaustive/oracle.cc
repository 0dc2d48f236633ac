#include "tests/exhaustive/oracle.h"

#include <cmath>
#include <functional>
#include <map>

#include "core/cursor/provenance.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"

namespace exotune::exhaustive {

namespace {
struct Run {
  Arguments before;  // the values a run starts from
  Arguments after;   // what the original made of them
  ConfigState config, config_after;
};
}  // namespace

namespace {
// Sums of large values round, even in double: only small results can be compared exactly.
bool is_exact(const Arguments& a) {
  for (const auto& b : a.buffers)
    for (double v : b->data)
      if (std::abs(v) > 1e9) return false;
  return true;
}

void transpose_all(Arguments& a) {
  for (auto& b : a.buffers) {
    if (b->shape.size() != 2) continue;
    for (int64_t i = 0; i < b->shape[0]; ++i)
      for (int64_t j = 0; j < i; ++j) std::swap(b->at({i, j}), b->at({j, i}));
  }
}
}  // namespace

namespace {
// A field that was set to what was never written holds poison, which no number is equal to.
bool same_setting(const ConfigState::mapped_type& a, const ConfigState::mapped_type& b) {
  const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  return a == b || (x && y && is_poison(*x) && is_poison(*y));
}

// What the program leaves undefined, its rewrite may define: a buffer that is folded may hold
// another value where nothing was written.
void leave_undefined(const Arguments& expected, Arguments& got) {
  for (size_t b = 0; b < expected.buffers.size(); ++b)
    for (size_t k = 0; k < expected.buffers[b]->data.size(); ++k)
      if (is_poison(expected.buffers[b]->data[k])) got.buffers[b]->data[k] = poison_value();
}

bool uses_configuration(const Proc& p) {
  bool found = false;
  for_each_stmt(p.body, [&](const StmtPtr& s) {
    const Call* call = s->as<Call>();
    found = found || s->as<WriteConfig>() || (call && uses_configuration(*call->callee));
  });
  for_each_expr(p.body, [&](const ExprPtr& e) { found = found || e->as<ReadConfig>(); });
  for (const ExprPtr& e : p.asserts) found = found || str(e).find("Cfg.") != std::string::npos;
  return found;
}
}  // namespace

struct Oracle::Impl {
  ProcPtr proc;
  std::vector<Run> runs;
};

Oracle::Oracle(ProcPtr p) : impl_(std::make_unique<Impl>()) {
  impl_->proc = p;
  Program program(*p, Arithmetic::kExact);
  // Without configuration the start of a field is worth no run of its own.
  const bool configured = uses_configuration(*p);
  for (int64_t n : {1, 2, 3, 5}) {
    for (int64_t field : {0, 1}) {
      if (!configured && field != n / 2 % 2) continue;
      Run r;
      r.before = make_arguments(*p, {{"N", n}}, static_cast<uint64_t>(7 * n + field));
      r.after = copy_of(r.before);
      r.config["Cfg.a"] = field;
      r.config["Cfg.f"] = static_cast<double>(3 + n);
      ConfigState config = r.config;
      InterpOptions options;
      options.config = &config;
      options.step_limit = 100000;
      try {
        program.run(r.after.values, options);
      } catch (const InterpError&) {
        impl_->runs.clear();
        return;
      }
      r.config_after = std::move(config);
      if (!is_exact(r.after)) continue;
      impl_->runs.push_back(std::move(r));
    }
  }
}

Oracle::Oracle(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

bool Oracle::usable() const { return !impl_->runs.empty(); }

std::string Oracle::difference(const ProcPtr& after, std::optional<int64_t> fixed_n,
                               Matrices matrices) const {
  const std::optional<std::set<std::string>> modulo = equivalent_modulo(impl_->proc, after);
  try {
    Program program(*after, Arithmetic::kExact);
    for (const Run& r : impl_->runs) {
      Arguments got = copy_of(r.before);
      ConfigState config = r.config;
      InterpOptions options;
      options.config = &config;
      options.poison = PoisonPolicy::kPropagate;
      options.step_limit = 1000000;
      std::vector<ArgValue> values = got.values;
      if (fixed_n) {
        if (std::get<int64_t>(values[0]) != *fixed_n) continue;
        values.erase(values.begin());
      }
      if (matrices == Matrices::kTransposed) transpose_all(got);
      if (matrices == Matrices::kJoined)
        for (auto& b : got.buffers)
          if (b->shape.size() == 2) b->shape = {b->shape[0] * b->shape[1]};
      program.run(values, options);
      if (matrices == Matrices::kTransposed) transpose_all(got);
      for (size_t k = 0; k < got.buffers.size(); ++k)
        got.buffers[k]->shape = r.before.buffers[k]->shape;
      leave_undefined(r.after, got);
      std::string d = first_difference(r.after, got);
      if (modulo)
        for (const auto& [field, value] : r.config_after)
          if (d.empty() && !modulo->count(field) && !same_setting(config[field], value))
            d = field + " ends with another value";
      if (!d.empty())
        return "for N = " + std::to_string(std::get<int64_t>(r.before.values[0])) + ": " + d;
    }
  } catch (const Error& e) {
    return std::string("the result fails to run: ") + e.what();
  }
  return "";
}

namespace {
// Expressions below a statement or expression, with their paths.
void for_each_path(const Path& at, const std::vector<ExprPtr>& exprs,
                   const std::function<void(const Path&, const ExprPtr&)>& visit) {
  for (size_t k = 0; k < exprs.size(); ++k) {
    Path path = at;
    path.push_back({Child::kExpr, static_cast<int>(k)});
    visit(path, exprs[k]);
    for_each_path(path, expr_children(*exprs[k]), visit);
  }
}
}  // namespace

std::string lost_cursor(const ProcPtr& before, const ProcPtr& after) {
  std::map<const Stmt*, int> old_count, new_count;
  for_each_stmt(before->body, [&](const StmtPtr& s) { ++old_count[s.get()]; });
  for_each_stmt(after->body, [&](const StmtPtr& s) { ++new_count[s.get()]; });
  std::string lost;
  for (const Path& path : all_stmt_paths(*before)) {
    const StmtPtr s = stmt_at(*before, path);
    Cursor c = forward(after, Cursor::stmt(before, path));
    if (c.valid() && !stmt_at(*after, c.path()))
      return "the cursor to " + str(path) + " forwards to nothing";
    const Cursor gap = forward(after, Cursor::gap(before, path));
    if (gap.valid() && !gap.anchor().valid())
      return "the gap before " + str(path) + " forwards to nothing";
    const bool untouched = old_count[s.get()] == 1 && new_count[s.get()] == 1 && !s->as<Pass>();
    if (!untouched) continue;
    if (!c.valid()) return "the cursor to " + str(path) + " is lost";
    if (c.stmt() != s)
      return "the cursor to " + str(path) + " forwards to another statement, " + str(c.path());
    for_each_path(path, stmt_exprs(*s), [&](const Path& at, const ExprPtr& e) {
      const Cursor there = forward(after, Cursor::expr(before, at));
      if (!there.valid() || there.expr() != e) lost = "the cursor to " + str(at) + " is lost";
    });
    if (!lost.empty()) return lost;
  }
  return "";
}

}  // namespace exotune::exhaustive
