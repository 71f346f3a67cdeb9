// Finds the recording that a process belongs to, for `sonde ctl`. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "recorder/spool/manifest.h"

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace sonde::recorder {

struct FoundRecording {
  std::filesystem::path folder;  // the session's
  Manifest manifest;
};

// `pid`: of `sonde run`, or of any process that it records. Looks for sessions in `places`, and
// where the process itself names its own. NotFound: there is no such process, it is not recorded,
// or its recorder is dead. InvalidArgument: more than one recording has it, or it is another
// user's.
Result<FoundRecording> findRecording(pid_t pid, const std::vector<std::filesystem::path>& places);

// Whether the `sonde run` of this session still runs.
bool launcherRuns(const Manifest& manifest);

}  // namespace sonde::recorder
