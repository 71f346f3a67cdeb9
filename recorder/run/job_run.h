// `sonde run`: records a command from its start to the finished trace, and ends as the command
// ended. Main thread; call it once, before the program has made any thread.
#pragma once

#include "recorder/run/run_options.h"

#include <functional>
#include <optional>
#include <string>

namespace sonde::recorder {

// What the process must end with: a status of Sonde's own, or the job's.
struct RunEnd {
  int exitStatus = 0;             // when there is no wait status
  std::optional<int> waitStatus;  // of the job's main process
};

// Tells the user one thing; `say` puts "sonde run: " in front and writes to stderr.
using Say = std::function<void(const std::string&)>;

RunEnd runJob(const RunOptions& options, const Say& say);

// Ends the process with this status; a signal that ended the job ends this process, too.
[[noreturn]] void exitAs(const RunEnd& end);

}  // namespace sonde::recorder
