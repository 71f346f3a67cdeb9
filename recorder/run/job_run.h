// `sonde run`: records a command from its start to the finished trace, and ends the way the command
// ended. Main thread; call it once, before the program has created any thread.
#pragma once

#include "recorder/run/run_options.h"

#include <functional>
#include <optional>
#include <string>

namespace sonde::recorder {

// How the process must end: with Sonde's own status, or like the job.
struct RunEnd {
  int exitStatus = 0;             // used if there is no wait status
  std::optional<int> waitStatus;  // of the job's main process
};

// Prints a message for the user; `say` adds the prefix "sonde run: " and writes to stderr.
using Say = std::function<void(const std::string&)>;

RunEnd runJob(const RunOptions& options, const Say& say);

// Ends the process with this status; if a signal ended the job, this process ends by the same
// signal.
[[noreturn]] void exitAs(const RunEnd& end);

}  // namespace sonde::recorder
