#include "runners/compile_cache.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "core/base/deadline.h"

namespace exotune {

CompileCache::CompileCache(TargetToolchain toolchain, Options options)
    : toolchain_(std::move(toolchain)),
      options_(std::move(options)),
      directory_(options_.parent_directory) {
  options_.batch_size = std::max(1, options_.batch_size);
  options_.jobs = std::max(1, options_.jobs);
}

std::vector<CompiledCandidate> CompileCache::compile(std::span<const Candidate> candidates) {
  // Here, not at the end: what this call hands out must stay.
  while (batches_.size() > options_.most_batches) forget_oldest();
  std::vector<std::string> keys;
  std::vector<Candidate> fresh;
  std::vector<std::string> fresh_keys;
  std::set<std::string> seen;
  for (const Candidate& c : candidates) {
    keys.push_back(compilation_key(c));
    if (known_.count(keys.back()) || !seen.insert(keys.back()).second) continue;
    fresh.push_back(c);
    fresh_keys.push_back(keys.back());
  }
  // As many compilers as may run, each with its share.
  const size_t jobs = static_cast<size_t>(options_.jobs);
  const size_t batch_size = std::clamp<size_t>((fresh.size() + jobs - 1) / jobs, 1,
                                               static_cast<size_t>(options_.batch_size));
  // Headers are compiled when it is known that there is more than one compilation.
  if (!prologue_ && compiled_ > 0 && !fresh.empty())
    prologue_ = compile_prologue(toolchain_, directory_.path(), options_.timeout_seconds);
  const size_t count = (fresh.size() + batch_size - 1) / batch_size;
  std::vector<std::vector<CompiledCandidate>> units(count);
  std::vector<std::string> folders;
  for (size_t b = 0; b < count; ++b) {
    folders.push_back(directory_.path() + "/batch" + std::to_string(next_folder_++));
    std::filesystem::create_directories(folders.back());
  }
  const auto members = [&](size_t b) {
    return std::pair(b * batch_size, std::min(batch_size, fresh.size() - b * batch_size));
  };
  const Deadline deadline = DeadlineScope::current();
  const auto compile_one = [&](size_t b) {
    const DeadlineScope scope(deadline);  // others' threads have none
    const auto [first, size] = members(b);
    units[b] = compile_batch(toolchain_, std::span(fresh).subspan(first, size), folders[b],
                             options_.timeout_seconds, prologue_.value_or(""));
  };
  for (size_t from = 0; from < count; from += static_cast<size_t>(options_.jobs)) {
    const size_t end = std::min(count, from + static_cast<size_t>(options_.jobs));
    std::vector<std::jthread> others;
    for (size_t b = from + 1; b < end; ++b) others.emplace_back([&, b] { compile_one(b); });
    compile_one(from);
  }
  compiled_ += static_cast<int64_t>(fresh.size());
  for (size_t b = 0; b < count; ++b) {
    const auto [first, size] = members(b);
    Batch batch{folders[b], {}};
    for (size_t k = 0; k < size; ++k) {
      batch.keys.push_back(fresh_keys[first + k]);
      known_[batch.keys.back()] = std::move(units[b][k]);
    }
    batches_.push_back(std::move(batch));
  }
  std::vector<CompiledCandidate> out;
  for (const std::string& key : keys) out.push_back(known_.at(key));
  // What was stopped is no answer for the next time.
  std::erase_if(known_, [](const auto& entry) { return entry.second.stopped; });
  return out;
}

void CompileCache::forget_oldest() {
  for (const std::string& key : batches_.front().keys) known_.erase(key);
  std::error_code ignored;
  std::filesystem::remove_all(batches_.front().folder, ignored);
  batches_.pop_front();
}

}  // namespace exotune
