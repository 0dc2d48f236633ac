#pragma once
// The umbrella header of the exo-tune library, layer by layer. In a program of your own:
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
#include "core/interp/interp.h"
#include "core/ir/printer.h"
#include "core/library/blocking.h"
#include "core/library/cleanup.h"
#include "core/library/contraction.h"
#include "core/library/inspection.h"
#include "core/library/gemm.h"
#include "core/library/level1.h"
#include "core/library/level2.h"
#include "core/library/operators.h"
#include "core/library/rearranging.h"
#include "core/library/reduction.h"
#include "core/library/replacement.h"
#include "core/library/staging.h"
#include "core/library/transposition.h"
#include "core/library/vectorize.h"
#include "core/library/script.h"
#include "core/primitives/primitives.h"
#include "db/store.h"
#include "hw/kernel_table.h"
#include "hw/machine.h"
#include "hw/target.h"
#include "runners/native_runner.h"
#include "runners/shootout.h"
#include "search/complete/completion.h"
#include "search/tuner.h"
