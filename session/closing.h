// The end of a recording while signals still come: the first Ctrl-C lets it finish, the second
// leaves the rest to `sonde recover`. Main thread.
#pragma once

#include "analysis/base/result.h"
#include "collector/launcher/signal_relay.h"
#include "session/job_run.h"
#include "session/recording.h"

#include <functional>

namespace sonde::session {

// Runs `finish` on a thread of its own and waits for it. When the user has insisted, the error says
// how to go on; what `finish` works on must then not be touched any more and the process must end.
Result<RecordingSummary> finishInterruptibly(std::function<Result<RecordingSummary>()> finish,
                                             const launcher::SignalRelay& relay,
                                             const Say& say);

}  // namespace sonde::session
