// What a trace says of what is not in it because nobody wanted it: what was captured in part or
// paused, and how far back a flight recorder reaches. A plain function, for whoever finishes a
// trace: the recorder, one that dumps, or `sonde recover` after both.
#pragma once

#include "recorder/drain/drainer.h"
#include "recorder/spool/session_page.h"

namespace sonde::recorder {

void noteCapture(Drainer& drainer, const SessionPage& page);

}  // namespace sonde::recorder
