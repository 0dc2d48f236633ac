#pragma once
// The umbrella header of the exo-tune library. Start at the header of the layer you need:
//   core/base/diagnostic.h   Error and Diagnostic: what every refusal carries
//   core/base/symbol.h       names with unique ids
#include "core/base/diagnostic.h"
#include "core/base/hashing.h"
#include "core/base/source_location.h"
#include "core/base/subprocess.h"
#include "core/base/symbol.h"
