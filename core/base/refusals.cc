#include "core/base/refusals.h"

#include <algorithm>

namespace exotune {

void Refusals::add(const Diagnostic& refused) {
  Diagnostic now{refused.where, refused.message.str(), {}, refused.hint.str()};
  for (const LazyText& note : refused.notes) now.notes.emplace_back(note.str());
  const bool said = std::ranges::any_of(found_, [&](const Diagnostic& other) {
    return other.message.str() == now.message.str() && other.hint.str() == now.hint.str();
  });
  if (!said) found_.push_back(std::move(now));
  for (const Diagnostic& other : refused.more) add(other);
}

InputError Refusals::all() const {
  Diagnostic first = found_.front();
  const size_t shown = std::min(found_.size(), kMost);
  first.more.assign(found_.begin() + 1, found_.begin() + static_cast<std::ptrdiff_t>(shown));
  if (const size_t left = found_.size() - shown; left > 0)
    (first.more.empty() ? first : first.more.back())
        .notes.emplace_back(std::to_string(left) + " more " + (left == 1 ? "error" : "errors") +
                            " are not shown");
  return InputError(std::move(first));
}

}  // namespace exotune
