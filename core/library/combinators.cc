#include "core/library/combinators.h"

#include <optional>

namespace exotune {
namespace {

Cursor here(const Focus& f) {
  const Cursor c = forward(f.proc, f.cursor);
  if (!c.valid()) throw InvalidCursorError("the place that the strategy is about is gone");
  return c;
}

std::optional<Focus> attempt(const Strategy& step, const Focus& f) {
  try {
    return step(f);
  } catch (const SchedulingError&) {
  } catch (const InvalidCursorError&) {
  }
  return std::nullopt;
}

}  // namespace

Strategy apply(std::function<ProcPtr(ProcPtr, const Cursor&)> op) {
  return [op = std::move(op)](const Focus& f) -> Focus {
    const Cursor c = here(f);
    ProcPtr p = op(f.proc, c);
    return {p, forward(p, c)};
  };
}

Strategy seq(std::vector<Strategy> steps) {
  return [steps = std::move(steps)](const Focus& f) {
    Focus out = f;
    for (const Strategy& s : steps) out = s(out);
    return out;
  };
}

Strategy repeat(Strategy step, int limit) {
  return [step = std::move(step), limit](const Focus& f) {
    Focus out = f;
    for (int k = 0; k < limit; ++k) {
      std::optional<Focus> next = attempt(step, out);
      if (!next) break;
      const bool same = next->proc == out.proc && next->cursor.path() == out.cursor.path();
      out = std::move(*next);
      if (same) break;
    }
    return out;
  };
}

Strategy try_else(Strategy first, Strategy second) {
  return [first = std::move(first), second = std::move(second)](const Focus& f) {
    if (std::optional<Focus> done = attempt(first, f)) return *done;
    return second(f);
  };
}

Strategy reduce(Strategy step, Traversal places) {
  return [step = std::move(step), places = std::move(places)](const Focus& f) {
    Focus out = f;
    for (const Cursor& c : places(here(f))) {
      const Cursor now = forward(out.proc, c);
      if (!now.valid()) continue;
      if (std::optional<Focus> done = attempt(step, {out.proc, now})) out.proc = done->proc;
    }
    return out;
  };
}

Strategy nav(Navigation move) {
  return [move = std::move(move)](const Focus& f) -> Focus {
    Cursor to = move(here(f));
    if (!to.valid()) throw InvalidCursorError("the move leads nowhere");
    return {f.proc, to};
  };
}

Strategy savec(Strategy step) {
  return [step = std::move(step)](const Focus& f) -> Focus { return {step(f).proc, f.cursor}; };
}

Strategy reframe(Navigation move, Strategy step) {
  return savec(seq({nav(std::move(move)), std::move(step)}));
}

}  // namespace exotune
