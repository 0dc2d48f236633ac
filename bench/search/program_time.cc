// How long the program search takes for a nest when no deadline ends it, and what it makes.
//
//   bench_program TARGET FILE:NAME N=..,M=.. [REPEATS]
//
// The work is the same each time (the search is deterministic): what compares two versions of the
// core, the allocator, or the compiler's flags.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "core/frontend/parser.h"
#include "search/program_search.h"
#include "search/tuning_context.h"

namespace exotune {
namespace {

SizeBinding sizes_of(const std::string& text) {
  SizeBinding out;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');)
    if (const size_t equals = one.find('='); equals != std::string::npos)
      out[one.substr(0, equals)] = std::atoll(one.c_str() + equals + 1);
  return out;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void run(const std::string& target_name, const std::string& kernel, const std::string& sizes,
         int repeats) {
  const TargetPtr target = load_target(target_name, {EXOTUNE_SOURCE_DIR "/hw"});
  const size_t colon = kernel.rfind(':');
  ProcPtr nest;
  for (const ProcPtr& p : parse_module(text_of(kernel.substr(0, colon)), kernel).procs)
    if (p->name == kernel.substr(colon + 1)) nest = p;
  if (!nest) throw std::runtime_error("no procedure " + kernel.substr(colon + 1));
  BeamContext context;
  context.instructions = instruction_values(*target);
  context.weights = default_weights(CostMachine{});
  const ProcPtr fixed = with_folded_updates(at_sizes(nest, sizes_of(sizes)));
  ProgramSearchRequest request;
  request.target = target.get();
  request.levels = target->levels;
  request.context = &context;
  for (int k = 0; k < repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const ProgramSearchResult found = ProgramSearch(request).run(first_state(fixed, context));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-20s %.2f s, %d schedules, %zu kept, the first of %.0f cycles\n",
                nest->name.c_str(), seconds, found.made, found.states.size(),
                found.states.empty() ? 0.0 : found.states.front().cost.cycles);
  }
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "bench_program TARGET FILE:NAME N=..,M=.. [REPEATS]\n");
    return 2;
  }
  try {
    exotune::run(argv[1], argv[2], argv[3], argc > 4 ? std::atoi(argv[4]) : 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
