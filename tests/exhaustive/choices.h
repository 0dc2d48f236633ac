#pragma once
// One generator, two drivers: a function that asks `pick(n)` for each decision is run over all its
// decision sequences in order (Exhaustive), or over random ones (Sampled).
#include <cstdint>
#include <vector>

namespace exotune::exhaustive {

class Choices {
 public:
  virtual ~Choices() = default;
  /// A number in [0, n).
  virtual int pick(int n) = 0;
};

/// All decision sequences in lexicographic order: run the generator, then `advance()` until false.
class Exhaustive : public Choices {
 public:
  int pick(int n) override {
    if (at_ == taken_.size()) taken_.push_back({0, n});
    return taken_[at_++].value;
  }
  bool advance() {
    at_ = 0;
    while (!taken_.empty()) {
      if (++taken_.back().value < taken_.back().limit) return true;
      taken_.pop_back();
    }
    return false;
  }

 private:
  struct Decision {
    int value, limit;
  };
  std::vector<Decision> taken_;
  size_t at_ = 0;
};

/// Random decisions, the same for the same seed.
class Sampled : public Choices {
 public:
  explicit Sampled(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x1234567) {}
  int pick(int n) override {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 11) % static_cast<uint64_t>(n));
  }

 private:
  uint64_t state_;
};

}  // namespace exotune::exhaustive
