// Runs work for many items in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace sonde::engine::breakdown {

// Calls work(0) … work(count − 1) on up to `threads` threads, the caller's included; 0: one per
// processor. Calls each once. Rethrows an exception of `work` when all threads have ended.
inline void inParallel(std::size_t count,
                       unsigned threads,
                       const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t at = next.fetch_add(1); at < count; at = next.fetch_add(1))
      work(at);
  };
  const std::size_t most =
      threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> others;
  try {
    for (std::size_t at = 1; at < std::min(most, count); ++at)
      others.push_back(std::async(std::launch::async, loop));
  } catch (const std::system_error&) {  // a limit on threads: those that started do the work
  }
  std::future<void> own = std::async(std::launch::deferred, loop);
  own.wait();
  for (std::future<void>& other : others)
    other.wait();
  for (std::future<void>& other : others)
    other.get();
  own.get();
}

}  // namespace sonde::engine::breakdown
