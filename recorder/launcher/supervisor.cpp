#include "recorder/launcher/supervisor.h"

#include "recorder/launcher/descendants.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace sonde::launcher {

namespace {

using Clock = std::chrono::steady_clock;

// How often `othersAlive` is polled.
constexpr std::chrono::milliseconds kAskEvery{50};

class Supervision {
 public:
  Supervision(const SignalRelay& relay,
              const SupervisorOptions& options,
              const SupervisorCallbacks& callbacks)
      : relay_(relay), options_(options), callbacks_(callbacks) {}

  RunOutcome run() {
    reap();
    while (!over()) {
      waitForSignal();
      while (const auto signal = relay_.next())
        handle(*signal);
    }
    outcome_.restRunning = restLeft();
    outcome_.askedToEnd = asked_ && Clock::now() - *asked_ < options_.lately;
    return outcome_;
  }

 private:
  bool mainEnded() const { return deadline_.has_value(); }

  bool restLeft() const {
    return (childrenLeft_ && isOfJob()) || (options_.othersAlive && options_.othersAlive());
  }

  // Whether some child that is left is the job's.
  bool isOfJob() const {
    if (!callbacks_.isNotOfJob)
      return true;
    const auto left = descendants();
    return std::any_of(left.begin(), left.end(), [this](const RunningProcess& process) {
      return !callbacks_.isNotOfJob(process.pid);
    });
  }

  bool over() {
    if (!mainEnded())
      return false;
    return interrupted_ || !restLeft() || Clock::now() >= *deadline_;
  }

  void waitForSignal() {
    int timeout = -1;
    if (mainEnded()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now());
      const auto wait = options_.othersAlive ? std::min(left, kAskEvery) : left;
      timeout = static_cast<int>(std::max<std::int64_t>(wait.count() + 1, 0));
    }
    pollfd descriptor{relay_.descriptor(), POLLIN, 0};
    poll(&descriptor, 1, timeout);
  }

  void handle(const signalfd_siginfo& signal) {
    const SignalAction action = actionFor(signal);
    const auto number = static_cast<int>(signal.ssi_signo);
    const bool toGroup = action != SignalAction::Reap && options_.witness != nullptr &&
                         options_.witness->got(number);
    const bool isOwn =
        action == SignalAction::Forward && callbacks_.isOwn && callbacks_.isOwn(number);
    if (announcesEnd(signal) && !isOwn)
      asked_ = Clock::now();
    switch (action) {
      case SignalAction::Reap:
        reap();
        break;
      case SignalAction::Suspend:
        relay_.suspendSelf();
        break;
      case SignalAction::Forward:
        if (!isOwn)
          relayToJob(signal, toGroup && jobInGroup());
        break;
      case SignalAction::Ignore:
        interrupted_ = interrupted_ || (mainEnded() && asksToEnd(signal));
        break;
    }
  }

  // A job that has left the recorder's process group did not get signals that were sent to the
  // group.
  bool jobInGroup() const { return getpgid(options_.mainChild) == getpgrp(); }

  void relayToJob(const signalfd_siginfo& signal, bool jobHasIt) {
    if (!mainEnded()) {
      if (!jobHasIt)
        SignalRelay::forward(signal, options_.mainChild);
      if (signal.ssi_signo == SIGTSTP)
        relay_.suspendSelf();
      return;
    }
    interrupted_ = interrupted_ || asksToEnd(signal);
  }

  void reap() {
    const ReapResult result = reapEnded();
    childrenLeft_ = result.childrenLeft;
    for (const ReapedChild& child : result.reaped) {
      if (child.pid == options_.mainChild && !mainEnded()) {
        outcome_.waitStatus = child.waitStatus;
        deadline_ = Clock::now() + options_.grace;
      }
      callbacks_.reaped(child);
    }
  }

  const SignalRelay& relay_;
  const SupervisorOptions& options_;
  const SupervisorCallbacks& callbacks_;
  RunOutcome outcome_;
  std::optional<Clock::time_point> asked_;     // when it was asked to end
  std::optional<Clock::time_point> deadline_;  // set when the main process has ended
  bool childrenLeft_ = true;
  bool interrupted_ = false;
};

}  // namespace

RunOutcome supervise(const SignalRelay& relay,
                     const SupervisorOptions& options,
                     const SupervisorCallbacks& callbacks) {
  return Supervision(relay, options, callbacks).run();
}

}  // namespace sonde::launcher
