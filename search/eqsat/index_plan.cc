#include "search/eqsat/index_plan.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "core/base/diagnostic.h"
#include "search/eqsat/operand_index.h"

namespace exotune::eqsat {
namespace {

// An axis of the product: what it is of the program's loops, and as a loop.
struct ProductAxis {
  std::string value, name;
  Size extent = 1;
  size_t first = 0;    // the outermost loop that it is of
  size_t loops = 0;    // how many it is of
  bool inner = false;  // a place in a block
};

// From a term, views around one product, to loops. The axes of the product become loops; what they
// are of the loops as written is read upwards off one operand and must agree with the other, which
// is what makes it the same sum; downwards, each former loop is told in the new ones. The core
// proves that the new loops count the same points (reindex_loops), so that nothing here is trusted.
class Planner {
 public:
  Planner(const ProcPtr& p, const Product& product, const Term& term,
          const AccessLanguage& language)
      : proc_(p),
        product_(product),
        term_(term),
        language_(language),
        left_(product, product.left, term, language),
        right_(product, product.right, term, language) {}

  IndexPlan plan() {
    find_axes();
    name_axes();
    solve();
    return made();
  }

 private:
  void find_axes() {
    const Term::Node* zip = nullptr;
    for (const Term::Node& node : term_.nodes) {
      const auto kind = language_.kind(node.op);
      if (kind != AccessOp::kZip && kind != AccessOp::kSystolic) continue;
      if (zip) throw NoLoops{"it has several products"};
      zip = &node;
    }
    if (!zip) throw NoLoops{"it has no product"};
    a_ = zip->children[0];
    b_ = zip->children[1];
    const auto a = left_.values(a_), b = right_.values(b_);
    const auto ta = type_of(term_, a_, language_), tb = type_of(term_, b_, language_);
    const size_t shared = static_cast<size_t>(language_.ops().params(zip->op)[0]);
    for (size_t k = 0; k < a.size(); ++k) a_axes_.push_back(axis(a[k].text, ta->axis(k)));
    // Those of the right operand: shared ones, its own, the items, which the left one has too.
    size_t item = ta->access.size();
    for (size_t k = 0; k < b.size(); ++k) {
      const bool is_item = k >= tb->access.size() && item < a.size();
      if (k >= shared && !is_item) {
        b_axes_.push_back(axis(b[k].text, tb->axis(k)));
        continue;
      }
      const size_t same = is_item ? static_cast<size_t>(a_axes_[item++]) : k;
      if (axes_[same].value != b[k].text) throw NoLoops{"the factors do not meet as written"};
      b_axes_.push_back(static_cast<int>(same));
    }
  }

  int axis(const std::string& value, Size extent) {
    ProductAxis axis{value, "", extent};
    for (size_t k = 0; k < product_.loops.size(); ++k) {
      if (!mentions(value, loop_name(k))) continue;
      if (axis.loops++ == 0) axis.first = k;
      axis.name += loop_name(k);
    }
    axis.inner = value.find(" % ") != std::string::npos;
    axes_.push_back(axis);
    return static_cast<int>(axes_.size()) - 1;
  }

  const std::string& loop_name(size_t k) const { return product_.loops[k].iter.name(); }

  // As a word of the text.
  static bool mentions(const std::string& text, const std::string& name) {
    const auto part_of_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at == 0 || !part_of_word(text[at - 1])) &&
          (end == text.size() || !part_of_word(text[end])))
        return true;
    }
    return false;
  }

  // Axes of one loop keep its name where they are all of it; blocks are numbered.
  void name_axes() {
    std::map<std::string, int> count, next;
    for (const ProductAxis& a : axes_) ++count[a.name];
    for (ProductAxis& a : axes_) {
      const std::string base = a.name.empty() ? "one" : a.name;
      if (count[a.name] > 1 || (a.loops == 1 && a.value != base) || a.name.empty())
        a.name = base + std::to_string(next[base]++);
    }
  }

  std::vector<std::string> names(const std::vector<int>& axes) const {
    std::vector<std::string> out;
    for (const int k : axes) out.push_back(axes_[static_cast<size_t>(k)].name);
    return out;
  }

  void solve() {
    left_.solve(a_, names(a_axes_));
    right_.solve(b_, names(b_axes_));
    former_ = left_.loops();
    for (const auto& [loop, text] : right_.loops())
      if (!former_.emplace(loop, text).second && former_[loop] != text)
        throw NoLoops{"the factors do not meet as written"};
    if (former_.size() != product_.loops.size()) throw NoLoops{"a loop is in no factor"};
  }

  // Loops around something else stay; those of the nest that holds the sum alone may change.
  size_t loops_around_the_nest() const {
    size_t around = product_.loops.size();
    while (around > 0) {
      const Path to(product_.path.begin(), product_.path.begin() + static_cast<long>(around));
      if (stmt_at(*proc_, to)->as<For>()->body.size() != 1) break;
      --around;
    }
    return around;
  }

  bool stays(size_t loop) const { return former_.at(static_cast<int>(loop)) == loop_name(loop); }

  // Outer loops in the order they had, places in blocks innermost: blocks are there to stay near.
  // Loops that are what they were and stand around more than the product are left where they are.
  IndexPlan made() const {
    IndexPlan plan;
    plan.around = loops_around_the_nest();
    for (size_t k = 0; k < plan.around; ++k)
      if (!stays(k)) throw NoLoops{"`" + loop_name(k) + "` holds more than the product"};
    std::vector<ProductAxis> order = axes_;
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.inner, a.first) < std::pair(b.inner, b.first);
    });
    bool changed = false;
    for (const ProductAxis& a : order) {
      plan.points = language_.sizes().mul(plan.points, a.extent);
      // The item of a product without a sum.
      if (a.loops == 0 && a.extent == 1) continue;
      const bool same = a.loops == 1 && a.value == a.name;
      changed = changed || !same;
      if (same && a.first < plan.around) continue;
      plan.loops.push_back({a.name, language_.sizes().str(a.extent), a.value});
    }
    if (!changed) throw NoLoops{"its loops are those of the program"};
    for (size_t k = plan.around; k < product_.loops.size(); ++k)
      plan.former.push_back({loop_name(k), former_.at(static_cast<int>(k))});
    std::set<std::string> guards = left_.guards();
    guards.insert(right_.guards().begin(), right_.guards().end());
    for (const std::string& g : guards) plan.where += (plan.where.empty() ? "" : " and ") + g;
    return plan;
  }

  const ProcPtr& proc_;
  const Product& product_;
  const Term& term_;
  const AccessLanguage& language_;
  OperandIndex left_, right_;
  int a_ = 0, b_ = 0;
  std::vector<ProductAxis> axes_;
  std::vector<int> a_axes_, b_axes_;  // of the operands, in axes_
  std::map<int, std::string> former_;
};

}  // namespace

std::variant<IndexPlan, std::string> index_plan_of(const ProcPtr& p, const Product& product,
                                                   const Term& term,
                                                   const AccessLanguage& language) {
  try {
    return Planner(p, product, term, language).plan();
  } catch (const NoLoops& no) {
    return no.reason;
  }
}

std::string text_of(const IndexPlan& plan) {
  std::string text;
  for (const auto& [name, value] : plan.former)
    if (name != value) text += (text.empty() ? "" : ", ") + name + " = " + value;
  return plan.where.empty() ? text : text + " where " + plan.where;
}

ProcPtr reindexed(const ProcPtr& p, const Product& product, const IndexPlan& plan) {
  const Path nest(product.path.begin(), product.path.begin() + static_cast<long>(plan.around + 1));
  return reindex_loops(p, Cursor::stmt(p, nest), plan.loops, plan.former, plan.where);
}

}  // namespace exotune::eqsat
