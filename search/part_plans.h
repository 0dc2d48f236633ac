#pragma once
// part_plans: what a program search knows about a program that was taken apart: plans of its parts,
// and in which order other plans are worth trying. Start at PartPlans.
#include <map>
#include <string>
#include <vector>

#include "cost/static_cost.h"
#include "search/moves/step.h"

namespace exotune {

/// Steps that make a schedule, and what they are worth.
struct PartPlan {
  Steps steps;
  ProcPtr proc;       // what they make; null where it is only to be made again, of another part
  double cycles = 0;  // of the static cost model, one run of the part
  Features features;  // what they are made of
  std::string text_hash;
  bool reassociated = false;
  std::string move;         // what made it, for reports: "distribute"
  double order = 0;         // among those of its move: the least is tried first
  bool for_caches = false;  // of a structure that is there for what the cost model does not see
};

/// One structure of a program, its parts, and what may become of each.
struct PartPlans {
  std::string move;
  bool for_caches = false;
  Schedule schedule;
  std::vector<Cursor> nests;
  std::vector<std::string> names;              // of the parts
  std::vector<double> shares;                  // of the time of all parts as written
  std::vector<double> entries;                 // how often each is run: parts may stand in loops
  std::vector<std::vector<PartPlan>> choices;  // of each part, never empty; the best first
};

/// The first of each move, the cheapest of them first, then the second of each, ...; of plans that
/// make the same text only the first. So a kind of move that the cost model thinks little of is
/// tried before the tenth of a kind that it likes. Of those in one turn first what is for the
/// caches.
std::vector<PartPlan> moves_in_turn(std::vector<PartPlan> plans);

/// How late another plan of a part is tried (PartPlan::order): the part that takes most of the time
/// first, and of its plans first one of each kind, whatever the cost model thinks of that kind.
double order_of(const PartPlans& s, size_t part, size_t alternative);

/// Cycles of all parts with plan number `which[n]` of each part n: the sum of what is known of
/// them.
double cycles_of(const PartPlans& s, const std::vector<size_t>& which);

/// Which plan of each part makes all parts alike, by the way that they share (a move's name without
/// its loops): what suits one sweep mostly suits its neighbours, and what the cost model thinks of
/// it counts less. Parts that do not have the way keep their best; ways of one part are left out.
std::map<std::string, std::vector<size_t>> ways_alike(const PartPlans& s);

}  // namespace exotune
