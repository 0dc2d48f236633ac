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
#include "runners/peers/libraries.h"
#include "runners/shared_object.h"

extern char** environ;

namespace exotune {
// Finding the libraries to compare with: each row of libraries.cc is looked for on this machine, or
// made from source; each is then loaded in a child and must multiply a small product right before
// it may be a rival. A library that crashes on load is reported, not fatal.

bool Peer::supports(const PeerProblem& problem) const {
  // Reading alone is no computation, and is asked for by name.
  const bool reads = library == "reads";
  if (problem.op == BlasOp::kRead || reads) return problem.op == BlasOp::kRead && reads;
  if (problem.type != ElementType::kF32 && problem.type != ElementType::kF64) return false;
  if (problem.op == BlasOp::kDsdot && problem.type != ElementType::kF64) return false;
  const PeerLibrary* row = find_peer_library(library);
  if (!row) return problem.op != BlasOp::kConv2d;
  return !row->serves || row->serves(*this, problem);
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

std::string first_present(const std::vector<std::string>& programs) {
  for (const std::string& p : programs)
    if (!find_program(p).empty()) return p;
  return "";
}

std::string lower(std::string word) {
  for (char& c : word) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return word;
}

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

// Compiled peers are kept by content; a folder that others may write to is refused, since what lies
// there is executed.
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

/// Compiles a peer made of source, as much of it as `options` ask for; fills path and version.
void compile_peer(Peer& peer, const PeerLibrary& row, const TargetToolchain& toolchain,
                  const PeerOptions& options, std::string* error) {
  const std::string directory = cache_folder(options.cache_directory, error);
  if (!error->empty()) return;
  SharedObjectRequest request;
  request.compiler = first_present(row.compilers);
  if (request.compiler.empty()) {
    *error = "no compiler";
    return;
  }
  request.name = peer.name;
  request.extension = fs::path(row.source).extension().string();
  request.source = peer_source(row.source);
  // Peers may use what the target may, and no more: a win over less would be none.
  request.flags = toolchain.peers.flags;
  request.flags.insert(request.flags.end(), row.flags.begin(), row.flags.end());
  request.libraries = row.libraries;
  const std::string& threads = peer.threads > 1 ? row.many_threads : row.one_thread;
  if (!threads.empty()) request.flags.push_back(threads);
  if (row.part && options.problem)
    for (std::string& flag : row.part(*options.problem)) request.flags.push_back(std::move(flag));
  peer.path = compile_shared_object(request, directory, error);
  if (!row.header.empty() && error->find(row.header) != std::string::npos) *error = "not installed";
  TargetToolchain described;
  described.cc = request.compiler;
  peer.version = row.description + described.describe();
  for (const char* flag : {"-O3", "-ffast-math"})
    if (std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end())
      peer.version += std::string(" ") + flag;
}

/// What the library offers in C++ only, compiled against its headers where they are.
void compile_adapter(Peer& peer, const PeerLibrary& row, const std::string& directory) {
  SharedObjectRequest request;
  request.compiler = first_present({"clang++", "g++"});
  if (request.compiler.empty()) return;
  request.name = peer.name + "-adapter";
  request.extension = fs::path(row.adapter).extension().string();
  request.source = peer_source(row.adapter);
  request.flags = {"-std=c++17", "-O1", "-w", peer.path};
  std::string error;
  peer.adapter = compile_shared_object(request, directory, &error);
}

struct VersionShared {
  ChildReport report;
  char version[200];
};

/// A call small enough to work out by hand, and what must come of it.
struct Example {
  PeerProblem problem;
  std::vector<ArgSpec> args;
  TestCase test;
};

Example small_product() {
  Example out;
  out.problem.m = 3, out.problem.n = 5, out.problem.k = 4;
  out.problem.a = 0, out.problem.b = 1, out.problem.c = 2;
  out.args = {ArgSpec::tensor("a", ElementType::kF32, {3, 4}, true, false),
              ArgSpec::tensor("b", ElementType::kF32, {4, 5}, true, false),
              ArgSpec::tensor("c", ElementType::kF32, {3, 5}, false, true)};
  out.test = make_inputs(out.args, 11);
  std::vector<double>& want = out.test.expected.back();
  want.assign(15, 0);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 5; ++j)
      for (size_t k = 0; k < 4; ++k)
        want[i * 5 + j] += out.test.inputs[0][i * 4 + k] * out.test.inputs[1][k * 5 + j];
  return out;
}

Example small_axpy() {
  Example out;
  out.problem.op = BlasOp::kAxpy;
  out.problem.n = 7;
  out.problem.x = 0, out.problem.y = 1;
  out.args = {ArgSpec::tensor("x", ElementType::kF32, {7}, true, false),
              ArgSpec::tensor("y", ElementType::kF32, {7}, true, true)};
  out.test = make_inputs(out.args, 11);
  for (size_t i = 0; i < 7; ++i)
    out.test.expected.back().push_back(out.test.inputs[1][i] + out.test.inputs[0][i]);
  return out;
}

/// Loads it in a child and lets it multiply: fills the version, or says what is wrong.
// In a child, with a time limit: a library that hangs or dies while it is loaded (no licence,
// another CPU) must not take the search with it.
std::string try_peer(Peer& peer) {
  Example example = small_product();
  if (!peer.supports(example.problem)) example = small_axpy();
  PeerCall call;
  call.problem = example.problem;
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
  const TrialResult r = check_peer(call, example.args, example.test, 20);
  return r.ok() ? "" : r.cause;
}

/// One instance of a library, held to one of its cores.
struct Instance {
  std::string name, core;
};

/// Those that the toolchain may be compared with.
// Libraries choose their code by CPU; where they can be told, the cores that the target's text
// allows are asked for, else the row's own for plain code.
std::vector<Instance> instances_of(const PeerLibrary& row, const TargetToolchain& toolchain) {
  const auto allowed = toolchain.peers.cores.find(row.name);
  if (allowed == toolchain.peers.cores.end())
    return row.plain_core ? std::vector<Instance>{{row.name, *row.plain_core}}
                          : std::vector<Instance>{};
  std::vector<Instance> out;
  for (const std::string& core : allowed->second)
    out.push_back({out.empty() ? row.name : row.name + "-" + lower(core), core});
  return out;
}

/// Found or made, not tried yet; `error` says why there is none.
Peer found_peer(const PeerLibrary& row, const Instance& instance, const TargetToolchain& toolchain,
                const PeerOptions& options, std::string* error) {
  Peer peer;
  peer.name = instance.name;
  peer.library = row.name;
  peer.core_type = instance.core;
  if (row.threads) peer.threads = toolchain.threads;
  if (!row.source.empty()) {
    compile_peer(peer, row, toolchain, options, error);
    return peer;
  }
  peer.path = find_library(toolchain.threads > 1 ? row.folders_of_threads : row.folders, row.files);
  if (peer.path.empty()) {
    *error = "not installed";
  } else if (!row.adapter.empty() && (!options.problem || options.problem->op == BlasOp::kConv2d)) {
    std::string unusable;
    const std::string folder = cache_folder(options.cache_directory, &unusable);
    if (unusable.empty()) compile_adapter(peer, row, folder);
  }
  return peer;
}

}  // namespace

TrialResult check_peer(const PeerCall& call, const std::vector<ArgSpec>& args, const TestCase& test,
                       double timeout_seconds) {
  const PreparedCase prepared = prepare(args, test);
  const Judged judged = judge_in_child(
      prepared, timeout_seconds, [&](std::string* error) { return load_peer(call, args, error); });
  TrialResult result;
  result.candidate_id = call.peer.name;
  result.status = judged.finding.status;
  result.cause = judged.finding.cause;
  if (result.status == TrialStatus::kCrash) result.signal = judged.signal;
  return result;
}

std::string shown_name(const Peer& peer, const TargetToolchain& toolchain) {
  const PeerLibrary* row = find_peer_library(peer.library);
  return row && !row->variable.empty() && toolchain.peers.cores.count(row->name) == 0
             ? peer.name + " (held to plain code)"
             : peer.name;
}

Peer cblas_library(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw InputError({}, "there is no library '" + path + "'",
                     "name a shared object with cblas_ functions");
  Peer peer;
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

  for (const auto& [library, cores] : toolchain.peers.cores)
    if (find_peer_library(library) == nullptr)
      report.absent.push_back(library + ": named in the target's [peers], and no library here");
  for (const PeerLibrary& row : peer_libraries())
    for (const Instance& instance : instances_of(row, toolchain)) {
      if (row.name == "reads" && toolchain.threads > 1) continue;
      if (!options.only.empty() &&
          std::find(options.only.begin(), options.only.end(), instance.name) == options.only.end())
        continue;
      std::string error;
      Peer peer = found_peer(row, instance, toolchain, options, &error);
      if (error.empty() && row.multiplies) error = try_peer(peer);
      if (error.empty())
        report.peers.push_back(std::move(peer));
      else
        report.absent.push_back(peer.name + ": " + error);
    }
  return report;
}

}  // namespace exotune
