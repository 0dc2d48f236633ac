#include "runners/peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "core/base/subprocess.h"
#include "runners/judge.h"
#include "runners/peer_library.h"
#include "runners/peer_sources.h"
#include "runners/shared_object.h"

extern char** environ;

namespace exotune {

const char* blas_op_name(BlasOp op) {
  static constexpr const char* kNames[] = {"gemm", "gemv", "ger",  "symv",   "syr",  "syr2", "trmv",
                                           "trsv", "axpy", "dot",  "dsdot",  "scal", "copy", "swap",
                                           "asum", "rot",  "rotm", "conv2d", "read", "gemm2"};
  return kNames[static_cast<size_t>(op)];
}

int blas_level(BlasOp op) {
  return op == BlasOp::kGemm || op == BlasOp::kConv2d || op == BlasOp::kGemm2 ? 3
         : op < BlasOp::kAxpy                                                 ? 2
                                                                              : 1;
}

bool Peer::supports(const PeerProblem& problem) const {
  if (problem.op == BlasOp::kRead || kind == Kind::kReads)
    return problem.op == BlasOp::kRead && kind == Kind::kReads;
  if (problem.type != ElementType::kF32 && problem.type != ElementType::kF64) return false;
  if (problem.op == BlasOp::kDsdot && problem.type != ElementType::kF64) return false;
  if (kind == Kind::kOneDnn && problem.type != ElementType::kF32) return false;
  if (problem.op == BlasOp::kConv2d) return kind == Kind::kPlainC || !adapter.empty();
  if (kind == Kind::kOneDnn) return problem.op == BlasOp::kGemm || problem.op == BlasOp::kGemm2;
  if (kind == Kind::kEigen && (problem.op == BlasOp::kTrmv || problem.op == BlasOp::kTrsv))
    return !problem.trans_a && !problem.unit_diagonal;
  // Its second core type differs in the level 1 kernels only.
  return blas_level(problem.op) == 1 || kind != Kind::kOpenBlas || name == "openblas";
}

namespace {

namespace fs = std::filesystem;

/// The first of the known places that holds one of `files`; "" when none does.
std::string find_library(const std::vector<std::string>& folders,
                         const std::vector<std::string>& files) {
  static const char* kRoots[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                 "/usr/local/lib", "/usr/lib64", "/usr/lib"};
  std::error_code ignored;
  for (const char* root : kRoots)
    for (const std::string& folder : folders)
      for (const std::string& file : files)
        if (const fs::path path = fs::path(root) / folder / file; fs::exists(path, ignored))
          return path.string();
  return "";
}

struct CoreType {
  const char* name;
  const char* value;
};

std::vector<CoreType> core_types(Peer::Kind kind, const std::string& isa) {
  const bool wide = isa == "avx512", middle = isa == "avx2";
  switch (kind) {
    case Peer::Kind::kOpenBlas:
      if (wide) return {{"openblas", "SkylakeX"}, {"openblas-cooperlake", "Cooperlake"}};
      if (middle) return {{"openblas", "Haswell"}, {"openblas-zen", "Zen"}};
      return {{"openblas", "Prescott"}};
    // BLIS 0.9 takes numbers only: skx, haswell, penryn. Left to itself it may not know the core
    // and fall to its generic kernels.
    case Peer::Kind::kBlis:
      return {{"blis", wide ? "0" : middle ? "3" : "5"}};
    case Peer::Kind::kOneDnn:
      return {{"onednn", wide ? "" : middle ? "AVX2" : "SSE41"}};
    case Peer::Kind::kEigen:
      return {{"eigen", ""}};
    case Peer::Kind::kPlainC:
      return {{"c", ""}};
    case Peer::Kind::kReads:
      return {{"reads", ""}};
    case Peer::Kind::kCblas:
      return {};
  }
  return {};
}

std::vector<std::string> machine_flags(const std::string& isa) {
  if (isa == "avx512") return {"-march=skylake-avx512", "-mprefer-vector-width=512"};
  if (isa == "avx2") return {"-march=haswell"};
  return {};
}

std::string first_present(const std::vector<std::string>& programs) {
  for (const std::string& p : programs)
    if (!find_program(p).empty()) return p;
  return "";
}

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

/// A folder only we can write: what is loaded from it runs as us.
std::string cache_folder(const std::string& wanted, std::string* error) {
  const std::string cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
  const std::string temporary = environment("TMPDIR");
  const std::string folder = !wanted.empty()  ? wanted
                             : !cache.empty() ? cache + "/exo-tune"
                             : !home.empty()  ? home + "/.cache/exo-tune"
                                              : (temporary.empty() ? "/tmp" : temporary) +
                                                   "/exo-tune-peers-" + std::to_string(getuid());
  std::error_code failed;
  if (fs::path parent = fs::path(folder).parent_path(); !parent.empty())
    fs::create_directories(parent, failed);
  mkdir(folder.c_str(), 0700);
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    *error = "cannot make the folder '" + folder + "'";
  else if (info.st_uid != getuid())
    *error = "the folder '" + folder + "' belongs to someone else";
  else if (info.st_mode & S_IWOTH)
    *error = "anyone can write the folder '" + folder + "'";
  return folder;
}

/// Compiles one of the peers made of source; fills path and version.
bool compile_peer(Peer& peer, const TargetToolchain& toolchain, const std::string& directory,
                  std::string* error) {
  const bool eigen = peer.kind == Peer::Kind::kEigen;
  SharedObjectRequest request;
  request.compiler = first_present(eigen ? std::vector<std::string>{"clang++", "g++"}
                                         : std::vector<std::string>{"clang", "gcc", toolchain.cc});
  if (request.compiler.empty()) {
    *error = "no compiler";
    return false;
  }
  request.name = peer.name;
  request.extension = eigen ? ".cc" : ".c";
  request.source = eigen                             ? eigen_peer_source()
                   : peer.kind == Peer::Kind::kReads ? reading_peer_source()
                                                     : plain_c_peer_source();
  request.flags = machine_flags(toolchain.isa);
  for (const char* f : {"-O3", "-w"}) request.flags.push_back(f);
  for (const char* f :
       eigen ? std::vector<const char*>{"-std=c++17", "-DNDEBUG",
                                        peer.threads > 1 ? "-fopenmp" : "-DEIGEN_DONT_PARALLELIZE",
                                        "-I/usr/include/eigen3", "-I/usr/local/include/eigen3"}
             : std::vector<const char*>{"-std=gnu11", "-ffast-math"})
    request.flags.push_back(f);
  peer.path = compile_shared_object(request, directory, error);
  if (!error->empty() && eigen && error->find("Eigen/Core") != std::string::npos)
    *error = "Eigen is not installed";
  TargetToolchain described;
  described.cc = request.compiler;
  peer.version =
      (eigen ? "Eigen, " : "") + described.describe() + (eigen ? " -O3" : " -O3 -ffast-math");
  return !peer.path.empty();
}

/// oneDNN's convolution has no stable C interface: compiled against its headers where they are.
void compile_adapter(Peer& peer, const std::string& directory) {
  SharedObjectRequest request;
  request.compiler = first_present({"clang++", "g++"});
  if (request.compiler.empty()) return;
  request.name = peer.name + "-convolution";
  request.extension = ".cc";
  request.source = onednn_convolution_source();
  request.flags = {"-std=c++17", "-O1", "-w", peer.path};
  std::string error;
  peer.adapter = compile_shared_object(request, directory, &error);
}

struct VersionShared {
  ChildReport report;
  char version[200];
};

/// Loads it in a child and lets it multiply: fills the version, or says what is wrong.
std::string try_peer(Peer& peer) {
  PeerCall call;
  call.problem.op =
      peer.name == "openblas" || peer.kind != Peer::Kind::kOpenBlas ? BlasOp::kGemm : BlasOp::kAxpy;
  std::vector<ArgSpec> args;
  if (call.problem.op == BlasOp::kGemm) {
    call.problem.m = 3, call.problem.n = 5, call.problem.k = 4;
    call.problem.a = 0, call.problem.b = 1, call.problem.c = 2;
    args = {ArgSpec::tensor("a", ElementType::kF32, {3, 4}, true, false),
            ArgSpec::tensor("b", ElementType::kF32, {4, 5}, true, false),
            ArgSpec::tensor("c", ElementType::kF32, {3, 5}, false, true)};
  } else {
    call.problem.n = 7;
    call.problem.x = 0, call.problem.y = 1;
    args = {ArgSpec::tensor("x", ElementType::kF32, {7}, true, false),
            ArgSpec::tensor("y", ElementType::kF32, {7}, true, true)};
  }
  TestCase test = make_inputs(args, 11);
  std::vector<double>& want = test.expected.back();
  if (call.problem.op == BlasOp::kGemm) {
    want.assign(15, 0);
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 5; ++j)
        for (size_t k = 0; k < 4; ++k)
          want[i * 5 + j] += test.inputs[0][i * 4 + k] * test.inputs[1][k * 5 + j];
  } else {
    for (size_t i = 0; i < 7; ++i) want.push_back(test.inputs[1][i] + test.inputs[0][i]);
  }
  call.peer = peer;
  SharedMemory memory(sizeof(VersionShared));
  auto* shared = memory.as<VersionShared>();
  run_in_child(
      [&] {
        std::string error;
        const std::string version = peer_version(peer, &error);
        strncpy(shared->version, version.c_str(), sizeof shared->version - 1);
      },
      20);
  if (shared->version[0]) peer.version = shared->version;
  const TrialResult r = check_peer(call, args, test, 20);
  return r.ok() ? "" : r.cause;
}

}  // namespace

TrialResult check_peer(const PeerCall& call, const std::vector<ArgSpec>& args, const TestCase& test,
                       double timeout_seconds) {
  const PreparedCase prepared = prepare(args, test);
  SharedMemory memory(sizeof(ChildReport));
  auto* report = memory.as<ChildReport>();
  const ChildOutcome outcome = run_in_child(
      [&] {
        watch_faults(report, {});
        std::string error;
        const Binder bind = load_peer(call, args, &error);
        if (bind)
          judge(prepared, bind, report);
        else
          report->set(TrialStatus::kCrash, "cannot be loaded: " + error);
        report->stage = ChildReport::kDone;
      },
      timeout_seconds);
  const Finding found = conclude(*report, outcome, timeout_seconds);
  TrialResult result;
  result.candidate_id = call.peer.name;
  result.status = found.status;
  result.cause = found.cause;
  if (found.status == TrialStatus::kCrash)
    result.signal = outcome.signal ? outcome.signal : report->signal;
  return result;
}

std::string shown_name(const Peer& peer, const TargetToolchain& toolchain) {
  const bool library = peer.kind == Peer::Kind::kOpenBlas || peer.kind == Peer::Kind::kBlis ||
                       peer.kind == Peer::Kind::kOneDnn;
  return library && toolchain.isa == "scalar" ? peer.name + " (held to plain code)" : peer.name;
}

Peer cblas_library(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw InputError({}, "there is no library '" + path + "'",
                     "name a shared object with cblas_ functions");
  Peer peer;
  peer.kind = Peer::Kind::kCblas;
  peer.path = fs::absolute(path).string();
  peer.name = fs::path(path).filename().string();
  peer.version = peer.path;
  return peer;
}

PeerReport discover_peers(const TargetToolchain& toolchain, const PeerOptions& options) {
  PeerReport report;
  for (char** e = environ; *e; ++e)
    for (const std::string& prefix : peer_environment_prefixes())
      if (strncmp(*e, prefix.c_str(), prefix.size()) == 0)
        report.cleared_environment.emplace_back(*e);
  std::sort(report.cleared_environment.begin(), report.cleared_environment.end());

  using Kind = Peer::Kind;
  for (Kind kind :
       {Kind::kOpenBlas, Kind::kBlis, Kind::kOneDnn, Kind::kEigen, Kind::kReads, Kind::kPlainC})
    for (const CoreType& core : core_types(kind, toolchain.isa)) {
      Peer peer;
      peer.kind = kind;
      peer.name = core.name;
      peer.core_type = core.value;
      if (kind != Kind::kPlainC) peer.threads = toolchain.threads;
      // What one thread can read is no roof for several.
      if (kind == Kind::kReads && toolchain.threads > 1) continue;
      if (!options.only.empty() &&
          std::find(options.only.begin(), options.only.end(), peer.name) == options.only.end())
        continue;
      std::string error;
      if (kind == Kind::kEigen || kind == Kind::kPlainC || kind == Kind::kReads) {
        const std::string folder = cache_folder(options.cache_directory, &error);
        if (error.empty()) compile_peer(peer, toolchain, folder, &error);
      } else {
        peer.path =
            kind == Kind::kOpenBlas
                ? find_library(
                      toolchain.threads > 1
                          ? std::vector<std::string>{"openblas-pthread", "openblas-openmp", ""}
                          : std::vector<std::string>{"openblas-serial", "openblas-pthread",
                                                     "openblas-openmp", ""},
                      {"libopenblas.so.0", "libopenblas.so"})
            : kind == Kind::kBlis
                ? find_library(toolchain.threads > 1
                                   ? std::vector<std::string>{"blis-openmp", "blis-pthread", ""}
                                   : std::vector<std::string>{"blis-serial", "blis-pthread",
                                                              "blis-openmp", ""},
                               {"libblis.so.4", "libblis.so.3", "libblis.so"})
                : find_library({""}, {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"});
        if (peer.path.empty()) error = "not installed";
        if (error.empty() && kind == Kind::kOneDnn) {
          std::string unusable;
          const std::string folder = cache_folder(options.cache_directory, &unusable);
          if (unusable.empty()) compile_adapter(peer, folder);
        }
      }
      if (error.empty() && kind != Kind::kReads) error = try_peer(peer);
      if (error.empty())
        report.peers.push_back(std::move(peer));
      else
        report.absent.push_back(peer.name + ": " + error);
    }
  return report;
}

}  // namespace exotune
