// Whether a session's unfinished trace is still where its manifest says, and what is lost if not.
// Plain functions; any thread. What they say holds as long as the session's lock is held.
#pragma once

#include "base/result.h"
#include "recorder/spool/find_session.h"

#include <cstdint>

namespace sonde::recorder {

struct PartCheck {
  enum class State {
    Own,        // or a file that cannot be read: opening it says why
    Absent,     // removed, moved, or not made yet
    BegunAnew,  // after an earlier one was lost, and not the session's yet
    OfAnother,  // recording, which took the name
  };
  State state = State::Own;
  // At least so many records were in the session's trace alone, which is gone: 0 for Own.
  std::uint64_t recordsGone = 0;
};

// Requires: the session has a manifest.
PartCheck checkPart(const Session& session);

// What to do when `check` finds records gone: NotFound.
Error partGone(const Session& session, const PartCheck& check);

}  // namespace sonde::recorder
