// Watches a job by rules while it runs, and does what the user wants when one fires: prints it,
// notes it in the trace, and, for rules of severity error, the reactions of --on-fire. The main
// thread owns it.
#pragma once

#include "analysis/model/account.h"
#include "recorder/live/job_stop.h"
#include "recorder/live/job_watch.h"
#include "recorder/live/live_rules.h"
#include "recorder/live/on_fire.h"
#include "recorder/live/reaction_queue.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

inline constexpr int kExitStopped = 123;  // a rule stopped the job

struct WatchOptions {
  std::filesystem::path part;  // the unfinished trace
  rules::Configuration rules;
  OnFire onFire;
  std::optional<WatchedJob> job;
  // All are called on other threads.
  std::function<void(const std::string& line)> say;
  std::function<void(model::Severity severity, const std::string& source, std::string text)> note;
  std::function<void(std::int64_t forNs)> recordFully;
  std::function<void()> takeStacks;  // of all threads that wait; returns soon
};

class LiveWatch {
 public:
  // Starts. Requires: the webhooks were accepted by postTo().
  explicit LiveWatch(WatchOptions options);
  ~LiveWatch();
  LiveWatch(const LiveWatch&) = delete;
  LiveWatch& operator=(const LiveWatch&) = delete;

  // This process is not the job's.
  void spare(pid_t pid) { stop_.spare(pid); }
  bool isSpared(pid_t pid) const { return stop_.isSpared(pid); }

  // The job's main process has ended: judges no more, and waits for reactions under way. If a rule
  // stops the job, ends the rest of it; returns whether all its processes have ended.
  bool end();
  bool hasStopped() const { return stop_.isRequested(); }

 private:
  void fired(const rules::CheckResult& result);
  void watchJob(const WatchedJob& job, rules::Configuration rules);
  void takeStacks();
  void stoppedBy(const std::string& why);

  WatchOptions options_;
  std::atomic<std::chrono::steady_clock::duration> stacksTaken_{};  // since the clock's begin
  JobStop stop_;
  std::vector<std::unique_ptr<ReactionQueue>> reactions_;
  std::unique_ptr<JobWatch> job_;  // nullptr: this recorder has the whole job
  std::unique_ptr<LiveRules> rules_;
};

}  // namespace sonde::recorder
