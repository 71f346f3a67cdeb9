// Handles signals during the end of a recording: the first Ctrl-C shortens it, the second leaves
// the rest to `sonde recover`. Main thread.
#pragma once

#include "base/result.h"
#include "recorder/launcher/signal_relay.h"
#include "recorder/run/job_run.h"
#include "recorder/run/recording.h"

#include <functional>
#include <stop_token>

namespace sonde::recorder {

// Finishes a recording; once a stop is requested, skips the optional parts.
using Finish = std::function<Result<RecordingSummary>(const std::stop_token& asked)>;

// Runs `finish` on a separate thread and waits for it. If the user insists, returns an error that
// explains how to continue. The process must then end without touching the data of `finish`.
Result<RecordingSummary> finishInterruptibly(Finish finish,
                                             const launcher::SignalRelay& relay,
                                             const Say& say);

}  // namespace sonde::recorder
