// Waits for the job: passes signals on, collects processes that end, and decides when the run is
// over. Runs on the main thread, which does nothing else meanwhile.
#pragma once

#include "recorder/launcher/group_witness.h"
#include "recorder/launcher/reaper.h"
#include "recorder/launcher/signal_relay.h"

#include <sys/types.h>

#include <chrono>
#include <functional>

namespace sonde::launcher {

struct SupervisorOptions {
  pid_t mainChild = 0;
  std::chrono::milliseconds grace{5000};  // for processes that the main process leaves behind
  // A request to end that is older than this is not the reason for the job's end: the job
  // continued.
  std::chrono::milliseconds lately = std::chrono::minutes(5);
  // Detects signals that the whole process group got. Without a witness every signal counts as sent
  // to the recorder only.
  GroupWitness* witness = nullptr;
  // Without a subreaper the end of the remaining processes is not reported; then this is polled.
  // May be empty.
  std::function<bool()> othersAlive;
};

struct SupervisorCallbacks {
  std::function<void(const ReapedChild&)> reaped;
  // Whether a signal that was sent to the recorder is for the recorder, not for the job. May be
  // empty.
  std::function<bool(int signal)> isOwn = {};
  // Whether a process that the recorder started itself is not the job's. May be empty.
  std::function<bool(pid_t pid)> isNotOfJob = {};
};

struct RunOutcome {
  int waitStatus = 0;        // of the main process
  bool restRunning = false;  // some processes still ran at the end of the grace period
  // A recent signal asked the recorder to end or announced its end, whether or not the job got that
  // signal from the recorder.
  bool askedToEnd = false;
};

// Returns when the main process has ended, and then either all others have ended, or the grace
// period is over, or a signal came.
RunOutcome supervise(const SignalRelay& relay,
                     const SupervisorOptions& options,
                     const SupervisorCallbacks& callbacks);

}  // namespace sonde::launcher
