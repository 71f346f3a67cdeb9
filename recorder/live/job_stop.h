// Ends a job on a rule's behalf: a signal to write a checkpoint if the user wants one, then
// SIGTERM, then SIGKILL. It works on a thread of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace sonde::recorder {

struct StopPlan {
  int checkpointSignal = 0;                          // sent to the processes that catch it; 0: none
  std::chrono::milliseconds checkpointWait{60'000};  // for the job to end by itself after it
  std::chrono::milliseconds grace{10'000};           // between SIGTERM and SIGKILL
};

class JobStop {
 public:
  // `say` is called on the stopping thread.
  JobStop(StopPlan plan, std::function<void(const std::string&)> say);
  ~JobStop();
  JobStop(const JobStop&) = delete;
  JobStop& operator=(const JobStop&) = delete;

  // This process, and the process group of that number, are not the job's. Any thread.
  void spare(pid_t pid);
  // Spares the process that `start` starts, so that it is never taken for one of the job. Returns
  // what `start` returned: a pid, or a negative number. Any thread.
  pid_t spareStarted(const std::function<pid_t()>& start);
  bool isSpared(pid_t pid) const;
  // Begins to end the job; further calls have no effect. Any thread.
  void request();
  bool isRequested() const { return requested_.load(); }

  // Waits until all processes of the job have ended, or SIGKILL did not help for some seconds.
  // Returns whether they have. Requires: isRequested().
  bool finish();

 private:
  void work();
  bool signalAll(int signal, bool onlyIfCaught);
  bool waitForEnd(std::chrono::milliseconds most);
  bool isOver() const;

  StopPlan plan_;
  std::function<void(const std::string&)> say_;
  std::atomic<bool> requested_{false};
  mutable std::mutex mutex_;
  std::set<pid_t> spared_;  // guarded by mutex_
  std::atomic<bool> isGone_{false};
  std::thread thread_;  // guarded by mutex_ until requested
};

}  // namespace sonde::recorder
