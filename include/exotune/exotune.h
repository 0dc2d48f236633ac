#pragma once
// The umbrella header of the exo-tune library, layer by layer; everything is in namespace exotune.
// In a program of your own:
//
//   Module m = parse_module(text, "my.exo");                  core/frontend/parser.h
//   ProcPtr p = divide_loop(m.find_proc("f"), "i", 8, {"io", "ii"}, Tail::kCut);
//                                                             core/primitives/primitives.h
//   CFile c = generate_c({p});                                core/codegen/codegen.h
//   TuneResult r = tune(request, *open_store("tune.db"));     search/tuner.h
//   Completion c = complete(partial, *open_store("tune.db")); search/complete/completion.h
#include "core/analysis/queries.h"
#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/codegen/codegen.h"
#include "core/cursor/cursor.h"
#include "core/cursor/provenance.h"
#include "core/frontend/parser.h"
#include "core/frontend/schedule.h"
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/library.h"
#include "core/primitives/primitives.h"
#include "cost/static_cost.h"
#include "cost/work.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"
#include "runners/machine_peak.h"
#include "runners/native_runner.h"
#include "runners/peers.h"
#include "runners/shootout.h"
#include "search/complete/completion.h"
#include "search/problem.h"
#include "search/tuner.h"
