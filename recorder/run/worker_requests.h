// Requests of other threads to the worker of a recording. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sonde::recorder {

class WorkerRequests {
 public:
  // All iterations in full for `forNs`.
  void recordFully(std::int64_t forNs) { fullForNs_.store(forNs); }
  // The stacks of all threads that wait now. Returns when they are stored, or after `atMost`.
  void takeStacks(std::chrono::milliseconds atMost) {
    std::unique_lock lock(mutex_);
    stacksWanted_.store(true);
    stacksTaken_.wait_for(lock, atMost, [this] { return !stacksWanted_.load(); });
  }

  // For the worker.
  bool any() const { return fullForNs_.load() > 0 || stacksWanted_.load(); }
  std::int64_t takeFullTime() { return fullForNs_.exchange(0); }  // 0: none
  bool wantsStacks() const { return stacksWanted_.load(); }
  void stacksAreTaken() {
    {
      const std::lock_guard lock(mutex_);
      stacksWanted_.store(false);
    }
    stacksTaken_.notify_all();
  }

 private:
  std::atomic<std::int64_t> fullForNs_{0};
  std::atomic<bool> stacksWanted_{false};
  std::mutex mutex_;
  std::condition_variable stacksTaken_;
};

}  // namespace sonde::recorder
