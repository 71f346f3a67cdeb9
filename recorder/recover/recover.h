// Finishing recordings whose recorder has died: the `.part` that the session's manifest names, with
// what is left in the spool. May be killed and run again at any point; nothing is stored twice.
// Called by one thread at a time.
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
  // Instead of finishing the `.part`, writes the whole trace here, with what the `.part` holds, and
  // leaves the session as it is.
  std::filesystem::path output;
  // Whether the trace may take the place of a file that is not this session's.
  bool replace = false;
  // Where the session of a trace is looked for.
  std::vector<std::filesystem::path> places;
  // Processes that still run are drained until they end, or until `stop`; else the session is left
  // alone.
  bool follow = true;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> say = [](const std::string&) {
  };  // what takes time, one line each
  Progress progress;
};

struct Recovered {
  std::filesystem::path trace;  // empty: the session was left alone
  std::string why;              // then
  bool wasFinished = false;     // all that was left to do was to clean up
  DrainTotals totals;           // of the rows, when not wasFinished
};

// `spool`: a session folder, one of its spool files, or its trace. With a spool file and an output
// only that file's records are added. Busy when its recorder lives, InvalidArgument when the output
// exists; Io when the trace of another recording has the name meanwhile; NotFound when it is none
// of these.
Result<Recovered> recoverSession(const std::filesystem::path& spool, const RecoverOptions& options);

// Before another recording writes `part` anew: drops the session in `places` that was writing it
// and whose recorder is dead; its processes that still run stop recording. Busy when its
// recorder lives, or somebody is recovering it.
Result<void> dropSessionOf(const std::filesystem::path& part,
                           const std::vector<std::filesystem::path>& places);

// Session folders of this user in `places` whose recorder is dead.
std::vector<std::filesystem::path> abandonedSessions(
    const std::vector<std::filesystem::path>& places);

}  // namespace sonde::recorder
