// Notes in a trace which parts are deliberately missing: partial capture, pauses, and how far back
// a flight recorder reaches. A plain function, for the recorder, a dump, or `sonde recover` after
// both.
#pragma once

#include "recorder/drain/drainer.h"
#include "recorder/spool/session_page.h"

namespace sonde::recorder {

void noteCapture(Drainer& drainer, const SessionPage& page);

}  // namespace sonde::recorder
