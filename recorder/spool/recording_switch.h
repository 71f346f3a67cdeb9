// Turns recording on and off in a session: for future processes in the session page, for existing
// ones in their control pages. Plain functions; any thread, and any process of the user.
#pragma once

#include "collector/wire/recording_state.h"

#include <filesystem>

namespace sonde::recorder {

// A process that starts meanwhile may miss the change. A caller that sees a new spool file
// afterwards must call this again.
void setRecording(const std::filesystem::path& folder, wire::RecordingState state);

}  // namespace sonde::recorder
