#include "core/library/combinators.h"

#include <optional>

namespace exotune {
// Strategies as values, after Exo 2 (and ELEVATE): a combinator takes a procedure and a place, and
// gives both back. A refusal inside try_else, repeat or reduce is a result, everywhere else it goes
// to the caller. Nothing here proves anything: primitives inside do.
namespace {

Cursor here(const Focus& f) {
  const Cursor c = forward(f.proc, f.cursor);
  if (!c.valid()) throw InvalidCursorError("the place that the strategy is about is gone");
  return c;
}

std::optional<Focus> attempt(const Combinator& step, const Focus& f) {
  try {
    return step(f);
  } catch (const SchedulingError&) {
  } catch (const InvalidCursorError&) {
  }
  return std::nullopt;
}

}  // namespace

Combinator apply(std::function<ProcPtr(ProcPtr, const Cursor&)> op) {
  return [op = std::move(op)](const Focus& f) -> Focus {
    const Cursor c = here(f);
    ProcPtr p = op(f.proc, c);
    return {p, forward(p, c)};
  };
}

Combinator seq(std::vector<Combinator> steps) {
  return [steps = std::move(steps)](const Focus& f) {
    Focus out = f;
    for (const Combinator& s : steps) out = s(out);
    return out;
  };
}

Combinator repeat(Combinator step, int limit) {
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

Combinator try_else(Combinator first, Combinator second) {
  return [first = std::move(first), second = std::move(second)](const Focus& f) {
    if (std::optional<Focus> done = attempt(first, f)) return *done;
    return second(f);
  };
}

// Each place is forwarded to the procedure as the places before it left it.
Combinator reduce(Combinator step, Traversal places) {
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

Combinator nav(Navigation move) {
  return [move = std::move(move)](const Focus& f) -> Focus {
    Cursor to = move(here(f));
    if (!to.valid()) throw InvalidCursorError("the move leads nowhere");
    return {f.proc, to};
  };
}

Combinator savec(Combinator step) {
  return [step = std::move(step)](const Focus& f) -> Focus { return {step(f).proc, f.cursor}; };
}

Combinator reframe(Navigation move, Combinator step) {
  return savec(seq({nav(std::move(move)), std::move(step)}));
}

}  // namespace exotune
