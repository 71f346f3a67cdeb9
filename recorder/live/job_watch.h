// Judges a job whose ranks have recorders of their own (`--job-dir`). Each recorder writes the
// newest part of its trace to a folder that all of them see; that of rank 0 joins these parts and
// judges them by the rules about the job. If a rule stops the job, it leaves a file there, and each
// recorder stops its own part.
//
// A thread of its own. For hangs and mismatched collectives there are small parts, for all other
// rules larger ones. Writing and judging those of each size take at most kShare of a processor
// each. Files appear complete. The recorder's main thread owns it.
#pragma once

#include "analysis/engine/recent/recent_trace.h"
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
#include <set>
#include <string>
#include <thread>
#include <vector>

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
  // Ends, after the judgement that is in progress. Tells the others that this rank has ended.
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Tells the recorders of the other ranks to stop their part of the job. Any thread.
  void stopOthers(const std::string& why);

 private:
  using Clock = std::chrono::steady_clock;
  using FileTime = std::filesystem::file_time_type;

  // Rules that are judged by parts of one size: some are urgent, and so have small parts.
  struct Scope {
    engine::recent::RecentSize size;
    std::string suffix;  // of the parts' names
    rules::Configuration rules;
    std::map<int, FileTime> joined{};  // by rank
    Clock::time_point publishDue{};
    Clock::time_point judgeDue{};
  };

  void work();
  bool waitForNext();
  void step(Scope& scope);
  Result<void> publish(const Scope& scope, bool hasEnded) const;
  Result<void> judge(Scope& scope);
  void report(const Result<void>& done);
  void lookForStop();
  std::filesystem::path partOf(int rank, const Scope& scope) const;

  JobWatchOptions options_;
  std::vector<Scope> scopes_;
  Firings firings_;
  std::set<std::string> said_;
  FileTime begun_{};    // older parts are of an earlier run
  FileTime oldStop_{};  // of the file that an earlier run left
  bool isStopped_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sonde::recorder
