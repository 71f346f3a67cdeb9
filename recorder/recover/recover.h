// Finishes recordings whose recorder has died: the `.part` that the session's manifest names, with
// the rest of the spool. May be killed and repeated at any point; no record is stored twice. Called
// by one thread at a time.
#pragma once

#include "base/progress.h"
#include "base/result.h"
#include "recorder/drain/drainer.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sonde::recorder {

struct RecoverOptions {
  // If set: writes the whole trace here, including the contents of the `.part`, instead of
  // finishing the `.part`. The session stays unchanged.
  std::filesystem::path output;
  // Whether the trace may replace a file that is not this session's.
  bool replace = false;
  // Where to look for the session of a trace.
  std::vector<std::filesystem::path> places;
  // Drains processes that still run until they end, or until `stop`. If false, and some still run,
  // the session is left alone.
  bool follow = true;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> say = [](const std::string&) {
  };  // reports steps that take time, one line each
  Progress progress;
};

struct Recovered {
  std::filesystem::path trace;  // empty: the session was left alone
  std::string why;              // the reason, if trace is empty
  bool wasFinished = false;     // the trace was complete; only the clean-up was left
  DrainTotals totals;           // of the rows, unless wasFinished
};

// `spool`: a session folder, one of its spool files, or its trace. With a spool file and an output,
// adds only that file's records. Busy: its recorder lives. InvalidArgument: the output exists. Io:
// the trace of another recording has taken the name. NotFound: `spool` is none of these.
Result<Recovered> recoverSession(const std::filesystem::path& spool, const RecoverOptions& options);

// Call before another recording overwrites `part`. Drops the session in `places` that was writing
// it and whose recorder is dead; its running processes stop recording. Busy: its recorder lives, or
// another process is recovering it.
Result<void> dropSessionOf(const std::filesystem::path& part,
                           const std::vector<std::filesystem::path>& places);

// This user's session folders in `places` whose recorder is dead.
std::vector<std::filesystem::path> abandonedSessions(
    const std::vector<std::filesystem::path>& places);

}  // namespace sonde::recorder
