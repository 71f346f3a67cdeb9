// Waits for the job: passes signals on, collects the processes that end, and decides when the run
// is over. Runs on the main thread, which does nothing else meanwhile.
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
  std::chrono::milliseconds grace{5000};  // for what the main process leaves behind
  // What came longer ago is not why a job has ended: it went on.
  std::chrono::milliseconds lately = std::chrono::minutes(5);
  // Says which signals the whole process group got; without one every signal counts as sent to the
  // recorder alone.
  GroupWitness* witness = nullptr;
  // Without a subreaper nobody tells when the rest has ended; then this is asked. May be empty.
  std::function<bool()> othersAlive;
};

struct SupervisorCallbacks {
  std::function<void(const ReapedChild&)> reaped;
  // Whether a signal that was sent to the recorder is for itself, not for the job. May be empty.
  std::function<bool(int signal)> isOwn = {};
};

struct RunOutcome {
  int waitStatus = 0;        // of the main process
  bool restRunning = false;  // some were left when the grace had passed
  // Lately by a signal to the recorder, or told that it would be ended; whether the job had that
  // from there or not.
  bool askedToEnd = false;
};

// Returns when the main process has ended and the rest have, too, or the grace has passed, or a
// signal came while only the rest was waited for.
RunOutcome supervise(const SignalRelay& relay,
                     const SupervisorOptions& options,
                     const SupervisorCallbacks& callbacks);

}  // namespace sonde::launcher
