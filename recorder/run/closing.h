// The end of a recording while signals still come: the first Ctrl-C lets it finish in haste, the
// second leaves the rest to `sonde recover`. Main thread.
#pragma once

#include "base/result.h"
#include "recorder/launcher/signal_relay.h"
#include "recorder/run/job_run.h"
#include "recorder/run/recording.h"

#include <functional>
#include <stop_token>

namespace sonde::recorder {

// What ends a recording; once a stop is requested, without what can be left out.
using Finish = std::function<Result<RecordingSummary>(const std::stop_token& asked)>;

// Runs `finish` on a thread of its own and waits for it. When the user has insisted, the error says
// how to go on; what `finish` works on must then not be touched any more and the process must end.
Result<RecordingSummary> finishInterruptibly(Finish finish,
                                             const launcher::SignalRelay& relay,
                                             const Say& say);

}  // namespace sonde::recorder
