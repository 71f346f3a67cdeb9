// Judges a job whose ranks have recorders of their own (`--job-dir`). Each recorder writes the
// newest part of its trace to a folder that all of them see; that of rank 0 joins these parts and
// judges them by the rules about the job. If a rule stops the job, it leaves a file there, and each
// recorder stops its own part.
//
// A thread of its own, which takes at most kShare of a processor, and as much of rank 0's for
// joining. Files appear complete. The recorder's main thread owns it.
#pragma once

#include "base/result.h"
#include "recorder/live/firings.h"
#include "rules/engine/check.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace sonde::recorder {

struct WatchedJob {
  std::filesystem::path folder;
  int rank = 0;
  int worldSize = 1;
};

struct JobWatchOptions {
  std::filesystem::path part;  // the unfinished trace
  WatchedJob job;
  rules::Configuration rules;  // those about the job
  // All are called on the thread. A rule began to fire for an entity, and no suppression holds.
  std::function<void(const rules::CheckResult&)> fired;
  // The recorder of rank 0 stopped the job, for this reason.
  std::function<void(const std::string& why)> stopped;
  std::function<void(const std::string& line)> say;  // trouble of the watch itself
};

class JobWatch {
 public:
  static constexpr double kShare = 0.02;

  // Creates the folder. Io, InvalidArgument: it is none that can be written.
  static Result<void> prepare(const std::filesystem::path& folder);

  explicit JobWatch(JobWatchOptions options);  // starts
  ~JobWatch();                                 // ends, after the judgement that is in progress
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Tells the recorders of the other ranks to stop their part of the job. Any thread.
  void stopOthers(const std::string& why);

 private:
  using Clock = std::chrono::steady_clock;
  using FileTime = std::filesystem::file_time_type;

  void work();
  bool waitForNext();
  Result<void> publish();
  Result<void> judge();
  void lookForStop();
  std::filesystem::path partOf(int rank) const;

  JobWatchOptions options_;
  Firings firings_;
  std::map<int, FileTime> joined_;  // by rank
  FileTime oldStop_{};              // of the file that an earlier run left
  bool isStopped_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sonde::recorder
