#pragma once
// What the image benchmarks share: our scheduled kernels as machine code, planes of floats, and the
// comparison of contenders in turn. Start at scheduled(), then duel().
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace exotune {

/// The kernel under kernels/NAME_avx512.sched as machine code; an Error when it does not compile.
void* scheduled(const std::string& name);

/// Elements on huge pages where there are any, zero at first.
template <class T>
class Plane {
 public:
  explicit Plane(int64_t elements);
  T* data() const { return data_.get(); }
  int64_t size() const { return elements_; }
  T& operator[](int64_t k) const { return data_.get()[k]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  int64_t elements_;
  std::unique_ptr<T, Free> data_;
};

/// Reproducible values: floats in [0, 1), integers of all bits.
template <class T>
Plane<T> pixels(int64_t n);

struct Entry {
  std::string name;
  std::function<void()> run;
};

/// How far a result may be from the expected one: absolute + relative * |expected|.
struct Tolerance {
  double absolute = 1e-4, relative = 0;
};

/// The first of `field` is ours. Compares what each writes to `out` with `expected` (an Error where
/// one differs), then times them in turn. Prints the median milliseconds of each and, for each of
/// the others, its time over ours with the 95 % interval.
template <class T>
void duel(const std::string& title, const std::vector<Entry>& field, const Plane<T>& out,
          const std::vector<double>& expected, int rounds, Tolerance tolerance = {});

/// "HEIGHTxWIDTH" arguments and --rounds N of a benchmark; an InputError for anything else.
struct ImageArguments {
  int rounds = 15;
  std::vector<std::pair<int64_t, int64_t>> sizes;
};
ImageArguments image_arguments(int argc, char** argv);

/// `run` with the libraries limited to one thread; errors printed, the exit code returned.
int bench_main(const std::function<void()>& run);

}  // namespace exotune
