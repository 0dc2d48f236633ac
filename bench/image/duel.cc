#include "bench/image/duel.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <type_traits>

#include "core/codegen/codegen.h"
#include "core/library/script.h"
#include "hw/kernel_table.h"
#include "hw/target.h"
#include "runners/peer_library.h"
#include "runners/shared_object.h"
#include "runners/shootout.h"
#include "runners/statistics.h"

namespace exotune {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = EXOTUNE_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Of this thread's own time: what the machine gives to others does not count.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

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

template <class T>
Plane<T>::Plane(int64_t elements) : elements_(elements) {
  constexpr size_t kPage = size_t{2} << 20;
  const size_t bytes = (static_cast<size_t>(elements) * sizeof(T) + kPage - 1) / kPage * kPage;
  data_.reset(static_cast<T*>(std::aligned_alloc(kPage, bytes)));
  madvise(data_.get(), bytes, MADV_HUGEPAGE);
  std::memset(data_.get(), 0, bytes);
}

template <class T>
Plane<T> pixels(int64_t n) {
  Plane<T> out(n);
  uint32_t state = 1;
  for (int64_t k = 0; k < n; ++k) {
    state = state * 1664525u + 1013904223u;
    if constexpr (std::is_floating_point_v<T>)
      out[k] = static_cast<T>(state >> 8) / static_cast<T>(1 << 24);
    else
      out[k] = static_cast<T>(state >> 8);
  }
  return out;
}

template <class T>
void duel(const std::string& title, const std::vector<Entry>& field, const Plane<T>& out,
          const std::vector<double>& expected, int rounds, Tolerance tolerance) {
  T poison = std::numeric_limits<T>::max();
  if constexpr (std::is_floating_point_v<T>) poison = std::numeric_limits<T>::quiet_NaN();
  for (const Entry& c : field) {
    std::fill_n(out.data(), out.size(), poison);
    c.run();
    for (int64_t k = 0; k < out.size(); ++k) {
      const double want = expected[static_cast<size_t>(k)];
      if (std::abs(static_cast<double>(out[k]) - want) <=
          tolerance.absolute + tolerance.relative * std::abs(want))
        continue;
      throw Error(Diagnostic{
          {}, title + ": " + c.name + " computes something else at " + std::to_string(k), {}, ""});
    }
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
  std::printf("%s: %s %.3f ms\n", title.c_str(), field[0].name.c_str(), 1e3 * median_of(times[0]));
  for (size_t k = 1; k < field.size(); ++k) {
    const Ratio r = paired_ratio(times[0], times[k]);
    std::printf("  %-22s %9.3f ms, over ours %.3f [%.3f, %.3f]\n", field[k].name.c_str(),
                1e3 * median_of(times[k]), r.median, r.low, r.high);
  }
  std::fflush(stdout);
}

template class Plane<float>;
template class Plane<uint16_t>;
template Plane<float> pixels(int64_t);
template Plane<uint16_t> pixels(int64_t);
template void duel(const std::string&, const std::vector<Entry>&, const Plane<float>&,
                   const std::vector<double>&, int, Tolerance);
template void duel(const std::string&, const std::vector<Entry>&, const Plane<uint16_t>&,
                   const std::vector<double>&, int, Tolerance);

ImageArguments image_arguments(int argc, char** argv) {
  ImageArguments out;
  for (int k = 1; k < argc; ++k) {
    long long h = 0, w = 0;
    if (std::strcmp(argv[k], "--rounds") == 0 && k + 1 < argc) {
      out.rounds = std::max(3, std::atoi(argv[++k]));
    } else if (std::sscanf(argv[k], "%lldx%lld", &h, &w) == 2 && h > 0 && w > 0) {
      out.sizes.emplace_back(h, w);
    } else {
      throw InputError({}, "what is '" + std::string(argv[k]) + "'?",
                       "sizes are HEIGHTxWIDTH, rounds are --rounds N");
    }
  }
  return out;
}

int bench_main(const std::function<void()>& run) {
  clear_peer_environment();
  setenv("HL_NUM_THREADS", "1", 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  try {
    run();
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return static_cast<int>(e.exit_code());
  }
}

}  // namespace exotune
