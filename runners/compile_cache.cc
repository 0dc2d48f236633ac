#include "runners/compile_cache.h"

#include <algorithm>
#include <filesystem>
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
  compile_fresh(fresh, fresh_keys, batch_size);
  std::vector<CompiledCandidate> out;
  for (const std::string& key : keys) out.push_back(known_.at(key));
  // What was stopped, or late, is no answer for the next time.
  for (const auto& [key, made] : known_)
    if (made.late) late_.insert(key);
  std::erase_if(known_,
                [](const auto& entry) { return entry.second.stopped || entry.second.late; });
  return out;
}

void CompileCache::compile_fresh(std::span<const Candidate> fresh,
                                 const std::vector<std::string>& keys, size_t batch_size) {
  // Headers are compiled when it is known that there is more than one compilation.
  if (!prologue_ && compiled_ > 0 && !fresh.empty())
    prologue_ = compile_prologue(toolchain_, directory_.path(), options_.timeout_seconds);
  const size_t first_batch = batches_.size();
  std::vector<std::span<const Candidate>> members;
  for (size_t at = 0; at < fresh.size(); at += batch_size) {
    members.push_back(fresh.subspan(at, std::min(batch_size, fresh.size() - at)));
    batches_.push_back({directory_.path() + "/batch" + std::to_string(next_folder_++),
                        {keys.begin() + static_cast<std::ptrdiff_t>(at),
                         keys.begin() + static_cast<std::ptrdiff_t>(at + members.back().size())}});
    std::filesystem::create_directories(batches_.back().folder);
  }
  std::vector<std::vector<CompiledCandidate>> units(members.size());
  const Deadline deadline = DeadlineScope::current();
  const bool again = fresh.size() == 1 && late_.count(keys.front()) > 0;
  const auto compile_one = [&](size_t b) {
    const DeadlineScope scope(deadline);  // others' threads have none
    units[b] = compile_batch(toolchain_, members[b], batches_[first_batch + b].folder,
                             options_.timeout_seconds, prologue_.value_or(""), again);
  };
  for (size_t from = 0; from < units.size(); from += static_cast<size_t>(options_.jobs)) {
    const size_t end = std::min(units.size(), from + static_cast<size_t>(options_.jobs));
    std::vector<std::jthread> others;
    for (size_t b = from + 1; b < end; ++b) others.emplace_back([&, b] { compile_one(b); });
    compile_one(from);
  }
  compiled_ += static_cast<int64_t>(fresh.size());
  for (size_t b = 0; b < units.size(); ++b)
    for (size_t k = 0; k < units[b].size(); ++k)
      known_[batches_[first_batch + b].keys[k]] = std::move(units[b][k]);
}

void CompileCache::forget_oldest() {
  for (const std::string& key : batches_.front().keys) known_.erase(key);
  std::error_code ignored;
  std::filesystem::remove_all(batches_.front().folder, ignored);
  batches_.pop_front();
}

}  // namespace exotune
