#pragma once
// The primitives: the trusted rewrites of which all scheduling is made. Exo 2 appendix A; thesis
// chapters 3-6. Each takes a proc and cursors (of that proc or any ancestor: they are forwarded),
// returns the rewritten proc, and throws SchedulingError when its obligation is not proved or
// InvalidCursorError when a cursor does not fit. A proc never changes: `divide_loop(p, ...)`
// without `p =` does nothing, and compilers say so.
//
// An entry says what the text before and after is, what is proved (the obligation), and what a
// cursor into the old proc means in the new one. "Stays": the same statement. Where nothing is said
// of forwarding, statements stay and expressions that changed are gone. "Configuration": the fields
// of @config classes.
#include "core/primitives/buffers.h"
#include "core/primitives/conditions.h"
#include "core/primitives/distribute.h"
#include "core/primitives/expand_scalar.h"
#include "core/primitives/factor.h"
#include "core/primitives/loops.h"
#include "core/primitives/procedures.h"
#include "core/primitives/reduce_ahead.h"
#include "core/primitives/reindex.h"
#include "core/primitives/state.h"
#include "core/primitives/statements.h"
#include "core/primitives/where.h"
