#pragma once
// Figures: the numbers of a target's [latency] and [parameters], each read by whoever simulates
// what it describes. A number that nobody reads is a mistake in the text.
#include <map>
#include <set>
#include <string>
#include <vector>

namespace exotune::sim {

class Figures {
 public:
  Figures() = default;
  Figures(std::map<std::string, double> latency, std::map<std::string, double> parameters)
      : latency_(std::move(latency)), parameters_(std::move(parameters)) {}

  /// Whole numbers >= 0 (latency: cycles). An absent one is `absent`, or refused (InputError)
  /// without. A fraction or a negative number is refused.
  uint64_t latency(const std::string& name);
  uint64_t latency(const std::string& name, uint64_t absent);
  uint64_t parameter(const std::string& name);
  uint64_t parameter(const std::string& name, uint64_t absent);

  /// Refuses (InputError) when something was never asked for, naming the nearest that was.
  void refuse_unread() const;

 private:
  std::map<std::string, double> latency_, parameters_;
  std::set<std::string> asked_;  // "latency.fma"
};

}  // namespace exotune::sim
