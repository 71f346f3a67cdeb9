// What a trace says of what is not in it because nobody wanted it: what was captured in part or
// paused, and how far back a flight recorder reaches. A plain function, for whoever finishes a
// trace: the recorder, one that dumps, or `sonde recover` after both.
#pragma once

#include "session/drainer.h"
#include "session/session_page.h"

namespace sonde::session {

void noteCapture(Drainer& drainer, const SessionPage& page);

}  // namespace sonde::session
