// Which thread handed another one the work that it does: who let it go on from its last wait.
// Within analysis/store; plain values once read.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace sonde::store {

struct Handing {
  std::int64_t beginNs = 0;  // of the wait
  std::int64_t endNs = 0;
  std::int64_t wakerId = 0;  // thread; 0: not certain, or nobody
  std::int64_t wakerNs = 0;
};

class HandedWork {
 public:
  // Waits for work are those at conditions, semaphores and futexes: a lock, a barrier or a thread
  // that ends hands none over. Not pthread_cond_timedwait, by which Python's threads wait for its
  // interpreter lock. Memory: 32 bytes a wait.
  static Result<HandedWork> read(const Database& trace);

  // With such waits.
  const std::set<std::int64_t>& processes() const { return processes_; }
  // What ended the thread's last wait before `ns`; nullptr when it waits then (also when that wait
  // begins), has not waited, or nobody is certain to have ended it.
  const Handing* workOf(std::int64_t threadId, std::int64_t ns) const;

 private:
  std::unordered_map<std::int64_t, std::vector<Handing>> waits_;  // by thread, in order of time
  std::set<std::int64_t> processes_;
};

}  // namespace sonde::store
