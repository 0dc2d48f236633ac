#include "search/outline/blockers.h"

#include <algorithm>
#include <cstdlib>

#include "core/cursor/cursor.h"
#include "core/ir/printer.h"

namespace exotune {
// What keeps a program from being faster, in words for its author: chains through memory, strides
// that break vectors, calls that no instruction does. Only said where the outline shows it.

namespace {

class Reading {
 public:
  Reading(const Proc& p, const std::map<std::string, int64_t>& sizes)
      : p_(p), o_(outline_of(p, sizes)) {}

  std::vector<Blocker> run() {
    double all = 0;
    for (int k = 0; k < count(); ++k)
      if (loop(k).children.empty()) all += iterations(k);
    for (int k = 0; k < count(); ++k) {
      if (!loop(k).children.empty()) continue;
      std::optional<Blocker> b = of(k);
      if (!b) continue;
      b->where = stmt_at(p_, loop(k).path)->where;
      b->loop = "for " + loop(k).iter.name();
      b->share = all > 0 ? iterations(k) / all : 0;
      out_.push_back(std::move(*b));
    }
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Blocker& a, const Blocker& b) { return a.share > b.share; });
    return std::move(out_);
  }

 private:
  int count() const { return static_cast<int>(o_.loops.size()); }
  const OutlineLoop& loop(int k) const { return o_.loops[static_cast<size_t>(k)]; }
  double iterations(int k) const {
    double out = 1;
    for (; k >= 0; k = loop(k).parent) out *= loop(k).trips;
    return out;
  }
  std::string text(const OutlineAccess& a) const {
    const std::vector<ScopeEntry> scope = scope_at(p_, a.what.stmt);
    std::string out = a.what.buffer.name();
    for (size_t d = 0; d < a.what.idx.size(); ++d)
      out += (d ? ", " : "[") + str(a.what.idx[d], scope);
    return out + (a.what.idx.empty() ? "" : "]");
  }
  std::vector<const OutlineAccess*> inside(int k) const {
    std::vector<const OutlineAccess*> out;
    for (const OutlineAccess& a : o_.accesses)
      if (!a.loops.empty() && a.loops.back() == k) out.push_back(&a);
    return out;
  }

  // The first reason that holds for the loop; others would follow from it.
  std::optional<Blocker> of(int k) const {
    const std::string name = "`" + loop(k).iter.name() + "`";
    if (role_of(o_, k) == LoopRole::kRecurrence) return chain(k, name);
    if (loop(k).in_condition)
      return Blocker{{},
                     "",
                     "an `if` inside depends on " + name,
                     "cut the loop where the condition changes, or write the choice as select",
                     0};
    for (const OutlineAccess* a : inside(k)) {
      const std::optional<int64_t> step = o_.stride(*a, k);
      if (!step)
        return Blocker{{},
                       "",
                       text(*a) + " is no sum of multiples of " + name,
                       "index by the iterator itself",
                       0};
      if (*step == 0 || *step == 1) continue;
      return Blocker{{},
                     "",
                     text(*a) + " steps over " + std::to_string(std::llabs(*step)) +
                         " elements with each " + name,
                     "let the last index's loop be innermost, or store " + a->what.buffer.name() +
                         " with this index last",
                     0};
    }
    return std::nullopt;
  }

  // What an earlier iteration wrote, or may have.
  Blocker chain(int k, const std::string& name) const {
    std::string why = "its iterations are not proved to be independent";
    bool one_element = false;
    for (const OutlineAccess* w : inside(k)) {
      if (!w->writes()) continue;
      for (const OutlineAccess* r : inside(k))
        if (!r->writes() && r->what.buffer == w->what.buffer &&
            (text(*r) != text(*w) || o_.stride(*w, k) == 0)) {
          why = "reads " + text(*r) + ", which another iteration writes as " + text(*w);
          one_element = text(*r) == text(*w);
        }
    }
    return {{}, "", why, instead_of_chain(k, name, one_element), 0, true};
  }

  // `one_element`: what the iterations hand on is one element, as a sum's or a maximum's is.
  std::string instead_of_chain(int k, const std::string& name, bool one_element) const {
    for (int around = loop(k).parent; around >= 0; around = loop(around).parent)
      if (role_of(o_, around) == LoopRole::kParallel)
        return "the iterations of `" + loop(around).iter.name() +
               "` are independent: let that loop be innermost instead of " + name;
    return one_element
               ? "if it is a sum, a maximum or a minimum, write it as +=, max= or min="
               : "nothing inside of one such chain; a loop around it over several that know "
                 "nothing of one another would be vectors";
  }

  const Proc& p_;
  const Outline o_;
  std::vector<Blocker> out_;
};

}  // namespace

std::vector<Blocker> blockers_of(const Proc& p, const std::map<std::string, int64_t>& sizes) {
  return Reading(p, sizes).run();
}

}  // namespace exotune
