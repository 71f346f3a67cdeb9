// The question how long an iteration would take if the host did not wait for its devices inside of
// it. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

namespace sonde::engine::whatif {

// A thread waits for a device only once in each iteration, the last time that it did. It goes on
// at once elsewhere. NotFound: no thread waits more than once in an iteration.
Question noHostSyncs();

}  // namespace sonde::engine::whatif
