#pragma once
// A value that holds for as long as a scope lasts.

namespace exotune {

/// Gives `current` another value while it lives; however the scope ends, the old one is back.
template <class T>
class Within {
 public:
  Within(T& current, T value) : current_(current), before_(current) { current = value; }
  ~Within() { current_ = before_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  T& current_;
  const T before_;
};

}  // namespace exotune
