// Judges a run by rules while it is recorded. Threads read what the drainer has stored, in read
// transactions, and yield to all other threads of the machine.
//
// Rules together take at most kShare of a processor: a rule that took long is judged less often.
// Its verdict is the same as that of `sonde check` on the trace as it is stored at that time.
#pragma once

#include "base/result.h"
#include "recorder/live/firings.h"
#include "rules/engine/check.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {

struct LiveOptions {
  std::filesystem::path part;  // the unfinished trace
  rules::Configuration rules;
  // A rule began to fire for an entity, and no suppression holds. Called on the threads.
  std::function<void(const rules::CheckResult&)> fired;
  std::function<void(const std::string& line)> say;  // trouble of the rules themselves
};

class LiveRules {
 public:
  static constexpr double kShare = 0.02;

  explicit LiveRules(LiveOptions options);  // starts
  // Ends, after the judgement of a quick rule that is in progress.
  ~LiveRules();
  LiveRules(const LiveRules&) = delete;
  LiveRules& operator=(const LiveRules&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  struct RuleState {
    const rules::ConfiguredRule* rule = nullptr;
    bool isCustom = false;    // the user wrote it
    bool isReported = false;  // that it takes too long
    Clock::time_point due{};
  };
  // One thread judges quick rules. Those that turn out to read long are moved to the other one, and
  // rules of users start there, so that they delay nobody.
  struct Lane {
    std::vector<RuleState> states;
    Clock::time_point turnDue{};
    std::vector<RuleState> moved;                     // to this lane; guarded by mutex_
    std::optional<Clock::time_point> judgingSince{};  // unset: between two; guarded by mutex_
    std::atomic<bool> interrupted = false;            // the judgement in progress
    std::thread thread;
  };

  void work(Lane& lane);
  bool waitForNext(Lane& lane);
  void interruptLong();
  Result<void> judgeDue(store::Database& trace, rules::Facts& facts, Lane& lane);
  bool judge(rules::Facts& facts, RuleState& state, Lane& lane);
  bool begins(const rules::CheckResult& result);

  LiveOptions options_;
  std::string today_;
  Lane quick_;
  Lane long_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Firings firings_;      // guarded by mutex_
  bool ending_ = false;  // guarded by mutex_
};

}  // namespace sonde::recorder
