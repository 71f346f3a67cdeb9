// Turns recording on and off in a session, for all that records in it: for processes to come in the
// session page, and in the control page of those there are. Plain functions; any thread, and any
// process of the user.
#pragma once

#include "collector/wire/recording_state.h"

#include <filesystem>

namespace sonde::recorder {

// A process that begins meanwhile may miss it: whoever sees a new spool file afterwards calls this
// again.
void setRecording(const std::filesystem::path& folder, wire::RecordingState state);

}  // namespace sonde::recorder
