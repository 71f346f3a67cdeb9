// Finds the thread that handed a thread its work: the one that ended its last wait. Within
// analysis/finalise; plain values once read.
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
  std::int64_t wakerId = 0;  // thread; 0: uncertain, or nobody
  std::int64_t wakerNs = 0;
};

class HandedWork {
 public:
  // Considers waits at conditions, semaphores and futexes: a lock, a barrier or the end of a thread
  // does not hand over work. Excludes pthread_cond_timedwait, by which Python's threads wait for
  // the interpreter lock. Memory: 32 bytes per wait.
  static Result<HandedWork> read(const Database& trace);

  // The processes with such waits.
  const std::set<std::int64_t>& processes() const { return processes_; }
  // The end of the thread's last wait before `ns`. nullptr: it waits at `ns` (also if that wait
  // begins then), has not waited, or its waker is uncertain.
  const Handing* workOf(std::int64_t threadId, std::int64_t ns) const;

 private:
  std::unordered_map<std::int64_t, std::vector<Handing>> waits_;  // by thread, in order of time
  std::set<std::int64_t> processes_;
};

}  // namespace sonde::store
