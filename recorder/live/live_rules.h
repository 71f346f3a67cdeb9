// Judges a run by rules while it is recorded. A thread reads what the drainer has stored, in short
// read transactions, and yields to all other threads of the machine.
//
// Rules together take at most kShare of a processor: a rule that took long is judged less often.
// Its verdict is the same as that of `sonde check` on the trace as it is stored at that time.
#pragma once

#include "base/result.h"
#include "recorder/live/firings.h"
#include "rules/engine/check.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {

struct LiveOptions {
  std::filesystem::path part;  // the unfinished trace
  rules::Configuration rules;
  // A rule began to fire for an entity, and no suppression holds. Called on the thread.
  std::function<void(const rules::CheckResult&)> fired;
  std::function<void(const std::string& line)> say;  // trouble of the rules themselves
};

class LiveRules {
 public:
  static constexpr double kShare = 0.02;

  explicit LiveRules(LiveOptions options);  // starts
  ~LiveRules();                             // ends, after the judgement that is in progress
  LiveRules(const LiveRules&) = delete;
  LiveRules& operator=(const LiveRules&) = delete;

  std::int64_t judgements() const;  // of all rules so far
  std::int64_t cpuNs() const;       // that the thread has used

 private:
  using Clock = std::chrono::steady_clock;
  struct RuleState {
    const rules::ConfiguredRule* rule;
    Clock::time_point due{};
    std::int64_t cpuNs =
        INT64_MAX;  // of its last judgement; before the first one as if it were long
  };

  void work();
  bool waitForNext();
  Result<void> judgeDue(store::Database& trace, rules::Facts& facts);

  LiveOptions options_;
  std::string today_;
  std::vector<RuleState> states_;
  Clock::time_point turnDue_{};
  Firings firings_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;          // guarded by mutex_
  std::int64_t judgements_ = 0;  // guarded by mutex_
  std::int64_t cpuNs_ = 0;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace sonde::recorder
