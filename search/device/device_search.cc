#include "search/device/device_search.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/cursor/provenance.h"
#include "search/device/gathered_sums.h"
#include "search/device/plan_space.h"
#include "search/tuning_context.h"

namespace exotune {

namespace {

constexpr size_t kMostPlans = 400;    // of one sum and product
constexpr size_t kMostRefused = 100;  // plans in a row

bool reads_scalar(const ExprPtr& e, Sym name) {
  const Read* r = e->as<Read>();
  if (r && r->name == name && r->idx.empty()) return true;
  const std::vector<ExprPtr> inside = expr_children(*e);
  return std::any_of(inside.begin(), inside.end(),
                     [&](const ExprPtr& c) { return reads_scalar(c, name); });
}

// Where that scalar is read in one of the procedure's outermost statements; nothing: nowhere.
std::optional<Cursor> read_in(const ProcPtr& p, Sym name, int top) {
  for (const Cursor& c : find_all(p, name.name()))
    if (c.kind() == CursorKind::kExpr && c.path().front().index == top &&
        reads_scalar(c.expr(), name))
      return c;
  return std::nullopt;
}

// Arguments that are one value for the whole kernel go where the device's instructions read such
// values, as far as types tell: each field takes the first argument of its type that is left. Only
// in the nest that is to run there: others go on reading the argument.
void bind_values(Schedule& s, const DeviceInstructions& instructions, Cursor nest) {
  std::vector<Sym> bound;
  for (const DeviceInstructions::Field& field : instructions.values)
    for (const Arg& a : s.proc->args) {
      const bool fits = a.type.shape.empty() && a.type.scalar == field.type;
      if (!fits || std::find(bound.begin(), bound.end(), a.name) != bound.end()) continue;
      nest = forward(s.proc, nest);
      const std::optional<Cursor> read = read_in(s.proc, a.name, nest.path().front().index);
      if (!read || apply(s, "bind_config", {Value(*read), Value(field.config), Value(field.name)}))
        continue;
      bound.push_back(a.name);
      break;
    }
  if (!bound.empty()) (void)!apply(s, "hoist_config", {});
}

void fix_sizes(Schedule& s, const SizeBinding& sizes) {
  for (const ScheduleStep& step : fixing_steps(*s.proc, sizes)) (void)!apply(s, step);
}

// What costs cannot compare takes turns.
std::vector<RankedPlan> in_turns(std::vector<std::vector<RankedPlan>> lists) {
  std::vector<RankedPlan> out;
  for (size_t k = 0, left = 1; left > 0; ++k) {
    left = 0;
    for (std::vector<RankedPlan>& list : lists) {
      if (k >= list.size()) continue;
      out.push_back(std::move(list[k]));
      ++left;
    }
  }
  return out;
}

}  // namespace

bool device_serves(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target) {
  const DeviceInstructions instructions = read_instructions(target);
  if (instructions.products.empty()) return false;
  for (const KernelSum& sum : sums_of(with_folded_updates(at_sizes(kernel, sizes))))
    for (const ProductInstruction& product : instructions.products)
      if (!mappings_of(sum, product).empty()) return true;
  return false;
}

DeviceSearch::DeviceSearch(const ProcPtr& kernel, const SizeBinding& sizes, const Target& target)
    : target_(target), instructions_(read_instructions(target)) {
  if (instructions_.products.empty() && instructions_.passes.empty()) return;
  Schedule fixed{kernel, {}, false};
  fix_sizes(fixed, sizes);
  (void)!apply(fixed, "fold_updates", {});  // refused: all sums are spelled as such
  const size_t count = sums_of(fixed.proc).size();
  for (size_t k = 0; k < count; ++k) {
    starts_.push_back(fixed);
    const Cursor sum = sums_of(fixed.proc)[k].sum;
    bind_values(starts_.back(), instructions_, Cursor::stmt(fixed.proc, {sum.path().front()}));
    std::vector<KernelSum> sums = sums_of(starts_.back().proc);
    if (sums.size() != count)
      throw Error(Diagnostic{{}, "settings changed the sums", {}, ""}, ExitCode::kInternal);
    if (auto apart = gathered_apart(starts_.back(), sums[k].sum, instructions_)) {
      starts_.back() = std::move(*apart);
      sums = sums_of(starts_.back().proc);
      sums.at(k).in_device = true;
    }
    sums_.push_back(std::move(sums[k]));
  }
  std::vector<std::vector<RankedPlan>> by_product;
  for (const KernelSum& sum : sums_)
    for (const ProductInstruction& product : instructions_.products)
      by_product.push_back(plans_of(sum, product, instructions_, target, kMostPlans));
  plans_ = in_turns(std::move(by_product));
  if (plans_.empty()) passes_ = pass_schedules(fixed, instructions_);
}

void DeviceSearch::build(const std::vector<Chosen>& chosen, std::vector<DeviceSchedule>& out) {
  std::vector<BuiltPlan> built(chosen.size());
  in_parallel(chosen.size(), [&](size_t k) {
    const DevicePlan& plan = chosen[k].ranked->plan;
    const auto sum = static_cast<size_t>(plan.sum - sums_.data());
    built[k] = build_plan(starts_[sum], plan, instructions_);
  });
  for (size_t k = 0; k < chosen.size(); ++k) {
    const auto& [ranked, number] = chosen[k];
    if (built[k].schedule)
      out.push_back({std::move(*built[k].schedule), ranked->plan.text(), ranked->estimate, number});
    else
      refusals_.push_back(built[k].refusal);
    refused_in_a_row_ = built[k].schedule ? 0 : refused_in_a_row_ + 1;
  }
}

std::vector<DeviceSchedule> DeviceSearch::next(size_t count,
                                               const std::function<bool()>& interrupted) {
  std::vector<DeviceSchedule> out;
  for (; !passes_.empty() && out.size() < count; passes_.erase(passes_.begin()))
    out.push_back({std::move(passes_.front().schedule), passes_.front().plan, 0, plans_.size()});
  while (next_ < plans_.size() && out.size() < count && !(interrupted && interrupted())) {
    std::vector<Chosen> chosen;
    for (; next_ < plans_.size() && chosen.size() < count - out.size(); ++next_)
      if (tried_.insert(plans_[next_].plan.text()).second)
        chosen.push_back({&plans_[next_], next_});
    build(chosen, out);
    if (refused_in_a_row_ >= kMostRefused) next_ = plans_.size();  // they are all alike
  }
  return out;
}

DeviceSearch::Chosen DeviceSearch::remember(RankedPlan plan) {
  varied_.push_back(std::move(plan));
  return {&varied_.back(), plans_.size() + varied_.size() - 1};
}

const DevicePlan* DeviceSearch::plan_at(size_t number) const {
  if (number < plans_.size()) return &plans_[number].plan;
  const size_t k = number - plans_.size();
  return k < varied_.size() ? &varied_[k].plan : nullptr;
}

std::vector<DeviceSchedule> DeviceSearch::made_of(std::vector<DevicePlan> plans) {
  std::vector<Chosen> chosen;
  for (DevicePlan& plan : plans)
    if (tried_.insert(plan.text()).second) chosen.push_back(remember({std::move(plan), 0}));
  std::vector<DeviceSchedule> out;
  build(chosen, out);
  return out;
}

std::vector<DeviceSchedule> DeviceSearch::earlier_loads(size_t number) {
  const DevicePlan* plan = plan_at(number);
  // Registers are written out: their loads stand where the compiler's scheduler finds them.
  if (plan == nullptr || plan->product->out.memory->kind == MemoryKind::kRegisterFile) return {};
  DevicePlan ahead = *plan, in_front = *plan;
  ahead.loading = Loading::kRunsAhead;
  in_front.loading = Loading::kInFront;
  return made_of({ahead, in_front});
}

std::vector<DeviceSchedule> DeviceSearch::taken_apart(size_t number) {
  const DevicePlan* plan = plan_at(number);
  if (plan == nullptr) return {};
  std::vector<DevicePlan> plans;
  if (plan->product->begins) {
    plans.push_back(*plan);
    plans.back().zeros = Zeros::kByThemselves;
  }
  if (instructions_.tiles_taken(plan->product->out.memory) > 1) {
    plans.push_back(*plan);
    plans.back().stores = Stores::kOneByOne;
  }
  return made_of(std::move(plans));
}

std::vector<DeviceSchedule> DeviceSearch::like(size_t number, size_t count,
                                               const std::function<bool()>& interrupted) {
  std::vector<DeviceSchedule> out;
  const DevicePlan* plan = plan_at(number);
  if (plan == nullptr) return out;
  const std::vector<RankedPlan> plans = plans_like(*plan, instructions_, target_);
  for (size_t k = 0; k < plans.size() && out.size() < count && !(interrupted && interrupted());) {
    std::vector<Chosen> chosen;
    for (; k < plans.size() && chosen.size() < count - out.size(); ++k)
      if (tried_.insert(plans[k].plan.text()).second) chosen.push_back(remember(plans[k]));
    build(chosen, out);
  }
  return out;
}

}  // namespace exotune
