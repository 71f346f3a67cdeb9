// Whether a session's unfinished trace is where its manifest says, and what is lost if not. Plain
// functions; any thread. The results are valid as long as the session's lock is held.
#pragma once

#include "base/result.h"
#include "recorder/spool/find_session.h"

#include <cstdint>

namespace sonde::recorder {

struct PartCheck {
  enum class State {
    Own,        // or a file that cannot be read: opening it reports the reason
    Absent,     // removed, moved, or not created yet
    BegunAnew,  // after an earlier one was lost; not yet marked as the session's
    OfAnother,  // another recording took the name
  };
  State state = State::Own;
  // At least this many records were only in the session's trace, which is gone. 0 for Own.
  std::uint64_t recordsGone = 0;
};

// Requires: the session has a manifest.
PartCheck checkPart(const Session& session);

// The error if `check` finds records gone: NotFound, with the remedy.
Error partGone(const Session& session, const PartCheck& check);

}  // namespace sonde::recorder
