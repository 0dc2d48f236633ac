// Blur and unsharp mask against Halide 14, one thread: our kernels/*_avx512.sched and Halide's own
// schedules of the same algorithm, interleaved in one process.
//
//   bench_image [--rounds N] [HEIGHTxWIDTH...]          (default 1536x2560 and 6400x4800)
//
// Every output is first compared with plain loops in double. One line per kernel and size: the
// median milliseconds of each, and our ratio to the best of Halide's with its 95 % interval.
#include <Halide.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include "core/codegen/codegen.h"
#include "core/library/script.h"
#include "hw/kernel_table.h"
#include "hw/target.h"
#include "runners/shared_object.h"
#include "runners/shootout.h"
#include "runners/statistics.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;
using Halide::Func, Halide::ImageParam, Halide::Var;

const fs::path kRoot = EXOTUNE_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// The kernel under kernels/NAME_avx512.sched as machine code.
void* scheduled(const std::string& name) {
  TargetLibrary library({kRoot / "hw"});
  const TargetPtr target = library.load("avx512");
  const KernelTable table = load_kernel_table(kRoot / "kernels");
  const KernelEntry& kernel = table.at(name);
  const fs::path script = kRoot / "kernels" / (name + "_avx512.sched");
  const Module module = parse_module(read(kernel.file), kernel.file.string());
  const ProcPtr p =
      run_script(read(script), script.string(), script_environment(module, {&target->library}))
          .proc;
  CodegenOptions options;
  options.stem = name;
  options.headers = target->compiler.headers;
  const CFile file = generate_c({p}, options);
  const std::string include = "#include \"" + name + ".h\"";
  std::string source = file.c;
  source.replace(source.find(include), include.size(), file.h);
  std::string error;
  const std::string path = compile_shared_object(
      {target->compiler.programs.front(), target->compiler.flags, source, ".c", name},
      fs::temp_directory_path().string(), &error);
  void* handle = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW);
  void* function = handle ? dlsym(handle, name.c_str()) : nullptr;
  if (!function) throw Error(Diagnostic{{}, name + " does not compile", {LazyText(error)}, ""});
  return function;
}

/// Floats on huge pages where there are any.
class Plane {
 public:
  explicit Plane(int64_t elements) : elements_(elements) {
    constexpr size_t kPage = size_t{2} << 20;
    const size_t bytes = (static_cast<size_t>(elements) * 4 + kPage - 1) / kPage * kPage;
    data_.reset(static_cast<float*>(std::aligned_alloc(kPage, bytes)));
    madvise(data_.get(), bytes, MADV_HUGEPAGE);
    std::memset(data_.get(), 0, bytes);
  }
  float* data() const { return data_.get(); }
  int64_t size() const { return elements_; }
  float& operator[](int64_t k) const { return data_.get()[k]; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  int64_t elements_;
  std::unique_ptr<float, Free> data_;
};

Plane pixels(int64_t n) {
  Plane out(n);
  uint32_t state = 1;
  for (int64_t k = 0; k < n; ++k) {
    state = state * 1664525u + 1013904223u;
    out[k] = static_cast<float>(state >> 8) / static_cast<float>(1 << 24);
  }
  return out;
}

struct Entry {
  std::string name;
  std::function<void()> run;
};

/// Of this thread's own time: what the machine gives to others does not count.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void compare(const Plane& out, const std::vector<double>& expected, const std::string& who) {
  for (int64_t k = 0; k < out.size(); ++k)
    if (!(std::abs(out[k] - expected[static_cast<size_t>(k)]) < 1e-4))
      throw Error(Diagnostic{{}, who + " computes something else at " + std::to_string(k), {}, ""});
}

void duel(const std::string& title, const std::vector<Entry>& field, const Plane& out,
          const std::vector<double>& expected, int rounds) {
  for (const Entry& c : field) {
    std::fill_n(out.data(), out.size(), std::nanf(""));
    c.run();
    compare(out, expected, title + ": " + c.name);
  }
  std::vector<std::vector<double>> times(field.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t k = 0; k < field.size(); ++k) {
      const size_t who = (k + static_cast<size_t>(round)) % field.size();
      const double start = thread_seconds();
      field[who].run();
      times[who].push_back(thread_seconds() - start);
    }
  }
  size_t best = 1;
  std::printf("%-22s", title.c_str());
  for (size_t k = 0; k < field.size(); ++k) {
    std::printf("  %s %.3f ms", field[k].name.c_str(), 1e3 * median_of(times[k]));
    if (k > 1 && median_of(times[k]) < median_of(times[best])) best = k;
  }
  const Ratio r = paired_ratio(times[0], times[best]);
  std::printf("  | %.3f of the best of Halide's [%.3f, %.3f]\n", r.median, r.low, r.high);
  std::fflush(stdout);
}

// --- blur ----------------------------------------------------------------------------------------

Func halide_blur(ImageParam image, ImageParam taps, bool tiles) {
  Var x("x"), y("y"), xi("xi"), yi("yi");
  Func across("across"), out("out");
  across(x, y) = taps(0) * image(x, y) + taps(1) * image(x + 1, y) + taps(2) * image(x + 2, y);
  out(x, y) = taps(0) * across(x, y) + taps(1) * across(x, y + 1) + taps(2) * across(x, y + 2);
  if (tiles) {
    out.tile(x, y, xi, yi, 256, 32).vectorize(xi, 16);
    across.compute_at(out, x).vectorize(x, 16);
  } else {
    out.split(y, y, yi, 32).vectorize(x, 16);
    across.store_at(out, y).compute_at(out, yi).vectorize(x, 16);
  }
  return out;
}

void blur(int64_t H, int64_t W, int rounds) {
  const Plane image = pixels((H + 2) * (W + 2)), out(H * W);
  float taps[3] = {0.25f, 0.5f, 0.2f};
  std::vector<double> rows(static_cast<size_t>((H + 2) * W)), expected(static_cast<size_t>(H * W));
  for (int64_t y = 0; y < H + 2; ++y)
    for (int64_t x = 0; x < W; ++x)
      for (int64_t t = 0; t < 3; ++t)
        rows[static_cast<size_t>(y * W + x)] += double{taps[t]} * image[y * (W + 2) + x + t];
  for (int64_t k = 0; k < H * W; ++k)
    for (int64_t t = 0; t < 3; ++t)
      expected[static_cast<size_t>(k)] += taps[t] * rows[static_cast<size_t>(k + t * W)];

  using Kernel = void (*)(int64_t, int64_t, const float*, const float*, float*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("blur"));
  std::vector<Entry> field = {{"ours", [&] { ours(H, W, taps, image.data(), out.data()); }}};
  Halide::Buffer<float> in(image.data(), {static_cast<int>(W + 2), static_cast<int>(H + 2)}),
      result(out.data(), {static_cast<int>(W), static_cast<int>(H)}), weights(taps, {3});
  for (bool tiles : {true, false}) {
    ImageParam image_in(Halide::Float(32), 2), taps_in(Halide::Float(32), 1);
    image_in.set(in);
    taps_in.set(weights);
    Func f = halide_blur(image_in, taps_in, tiles);
    f.compile_jit();
    field.push_back(
        {tiles ? "halide-tiles" : "halide-rows", [f, &result]() mutable { f.realize(result); }});
  }
  duel("blur " + std::to_string(H) + "x" + std::to_string(W), field, out, expected, rounds);
}

// --- unsharp mask --------------------------------------------------------------------------------

Func halide_unsharp(ImageParam image, ImageParam weights, ImageParam taps,
                    Halide::Param<float> amount, bool planes_inside) {
  Var x("x"), y("y"), c("c"), yo("yo"), yi("yi");
  Func gray("gray"), down("down"), edge("edge"), out("out");
  gray(x, y) =
      weights(0) * image(x, y, 0) + weights(1) * image(x, y, 1) + weights(2) * image(x, y, 2);
  down(x, y) = taps(0) * gray(x, y + 3) + taps(1) * (gray(x, y + 2) + gray(x, y + 4)) +
               taps(2) * (gray(x, y + 1) + gray(x, y + 5)) +
               taps(3) * (gray(x, y) + gray(x, y + 6));
  edge(x, y) =
      gray(x + 3, y + 3) -
      (taps(0) * down(x + 3, y) + taps(1) * (down(x + 2, y) + down(x + 4, y)) +
       taps(2) * (down(x + 1, y) + down(x + 5, y)) + taps(3) * (down(x, y) + down(x + 6, y)));
  out(x, y, c) = image(x + 3, y + 3, c) + amount * edge(x, y);
  out.bound(c, 0, 3).split(y, yo, yi, 32).vectorize(x, 16);
  if (planes_inside) {
    out.reorder(c, x, yi, yo).unroll(c);
    edge.compute_at(out, x).vectorize(x, 16);
  } else {
    out.reorder(x, c, yi, yo);
    edge.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  }
  gray.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  down.compute_at(out, yi).store_at(out, yo).vectorize(x, 16);
  return out;
}

void unsharp(int64_t H, int64_t W, int rounds) {
  const int64_t w = W + 6, h = H + 6;
  const Plane image = pixels(3 * h * w), out(3 * H * W);
  float amount = 0.7f, weights[3] = {0.3f, 0.59f, 0.11f}, taps[4] = {0.27f, 0.2f, 0.11f, 0.04f};
  std::vector<double> gray(static_cast<size_t>(h * w)), down(static_cast<size_t>(H * w)),
      expected(static_cast<size_t>(3 * H * W));
  const auto tap = [&](int64_t k) { return double{taps[std::abs(k - 3)]}; };
  for (int64_t k = 0; k < h * w; ++k)
    for (int64_t c = 0; c < 3; ++c)
      gray[static_cast<size_t>(k)] += double{weights[c]} * image[c * h * w + k];
  for (int64_t k = 0; k < H * w; ++k)
    for (int64_t t = 0; t < 7; ++t)
      down[static_cast<size_t>(k)] += tap(t) * gray[static_cast<size_t>(k + t * w)];
  for (int64_t y = 0; y < H; ++y)
    for (int64_t x = 0; x < W; ++x) {
      double edge = gray[static_cast<size_t>((y + 3) * w + x + 3)];
      for (int64_t t = 0; t < 7; ++t) edge -= tap(t) * down[static_cast<size_t>(y * w + x + t)];
      for (int64_t c = 0; c < 3; ++c)
        expected[static_cast<size_t>((c * H + y) * W + x)] =
            image[(c * h + y + 3) * w + x + 3] + amount * edge;
    }
  using Kernel =
      void (*)(int64_t, int64_t, const float*, const float*, const float*, const float*, float*);
  const auto ours = reinterpret_cast<Kernel>(scheduled("unsharp"));
  std::vector<Entry> field = {
      {"ours", [&] { ours(H, W, &amount, weights, taps, image.data(), out.data()); }}};
  Halide::Buffer<float> in(image.data(), {static_cast<int>(w), static_cast<int>(h), 3}),
      result(out.data(), {static_cast<int>(W), static_cast<int>(H), 3}), gray_weights(weights, {3}),
      blur_taps(taps, {4});
  for (bool inside : {false, true}) {
    ImageParam image_in(Halide::Float(32), 3), weights_in(Halide::Float(32), 1),
        taps_in(Halide::Float(32), 1);
    Halide::Param<float> amount_in;
    image_in.set(in);
    weights_in.set(gray_weights);
    taps_in.set(blur_taps);
    amount_in.set(amount);
    Func f = halide_unsharp(image_in, weights_in, taps_in, amount_in, inside);
    f.compile_jit();
    field.push_back(
        {inside ? "halide-planes" : "halide-app", [f, &result]() mutable { f.realize(result); }});
  }
  duel("unsharp " + std::to_string(H) + "x" + std::to_string(W), field, out, expected, rounds);
}

int run(int argc, char** argv) {
  int rounds = 15;
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (int k = 1; k < argc; ++k) {
    long long h = 0, w = 0;
    if (std::strcmp(argv[k], "--rounds") == 0 && k + 1 < argc) {
      rounds = std::max(3, std::atoi(argv[++k]));
    } else if (std::sscanf(argv[k], "%lldx%lld", &h, &w) == 2 && h >= 256 && w >= 256) {
      sizes.emplace_back(h, w);
    } else {
      throw InputError({}, "what is '" + std::string(argv[k]) + "'?",
                       "sizes are HEIGHTxWIDTH, 256x256 at least");
    }
  }
  if (sizes.empty()) sizes = {{1536, 2560}, {6400, 4800}};
  std::printf("# Halide for %s, one thread\n",
              Halide::get_jit_target_from_environment().to_string().c_str());
  for (auto [h, w] : sizes) {
    blur(h, w, rounds);
    unsharp(h, w, rounds);
  }
  return 0;
}

}  // namespace
}  // namespace exotune

int main(int argc, char** argv) {
  setenv("HL_NUM_THREADS", "1", 1);
  try {
    return exotune::run(argc, argv);
  } catch (const exotune::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.exit_code());
  }
}
