// The end of a recording while signals still come: the first Ctrl-C lets it finish in haste, the
// second leaves the rest to `sonde recover`. Main thread.
#pragma once

#include "analysis/base/result.h"
#include "collector/launcher/signal_relay.h"
#include "session/job_run.h"
#include "session/recording.h"

#include <functional>
#include <stop_token>

namespace sonde::session {

// What ends a recording; once a stop is requested, without what can be left out.
using Finish = std::function<Result<RecordingSummary>(const std::stop_token& asked)>;

// Runs `finish` on a thread of its own and waits for it. When the user has insisted, the error says
// how to go on; what `finish` works on must then not be touched any more and the process must end.
Result<RecordingSummary> finishInterruptibly(Finish finish,
                                             const launcher::SignalRelay& relay,
                                             const Say& say);

}  // namespace sonde::session
