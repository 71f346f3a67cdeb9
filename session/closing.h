// The end of a recording while signals still come: the first Ctrl-C lets it finish, the second
// leaves the rest to `sonde recover`. Main thread.
#pragma once

#include "analysis/base/result.h"
#include "collector/launcher/signal_relay.h"
#include "session/job_run.h"
#include "session/recording.h"

#include <memory>

namespace sonde::session {

// Runs recording.finish(restRunning) on a thread of its own and waits for it. When the user has
// insisted, the error says how to go on; the recording must then not be touched any more and the
// process must end.
Result<RecordingSummary> finishInterruptibly(std::unique_ptr<Recording> recording,
                                             const launcher::SignalRelay& relay,
                                             bool restRunning,
                                             const Say& say);

}  // namespace sonde::session
