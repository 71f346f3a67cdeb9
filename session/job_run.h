// `sonde run`: records a command from its start to the finished trace, and ends as the command
// ended. Main thread; call it once, before the program has made any thread.
#pragma once

#include "analysis/base/progress.h"
#include "collector/wire/spool_format.h"
#include "session/capture_rule.h"
#include "session/capture_schedule.h"
#include "session/cuda_options.h"
#include "session/spool_place.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::session {

inline constexpr int kExitCannotBegin = 125;  // Sonde could not begin; the job was not started

// Of the source stack.
struct StackOptions {
  std::optional<std::uint32_t> perSecond;  // --stack-rate, of each thread's CPU time; 99
  bool wall = false;                       // --stack-mode
  bool atCollectives = false;              // --stacks-at
  bool atWaits = false;

  bool isGiven() const { return perSecond || wall || atCollectives || atWaits; }
  wire::StackRule rule() const;
};

struct RunOptions {
  std::vector<std::string> command;
  std::string output;  // -o
  bool force = false;
  std::optional<std::string> sources;
  CudaOptions cuda;
  double samplesPerSecond = 10;  // of the source system
  StackOptions stacks;
  std::string torchOperators;    // --torch-operators; empty: none
  std::string moduleCategories;  // --module-category; as moduleCategories() has them
  std::string rulesFile;         // --rules; the finished trace is judged by it
  std::string spool;
  std::uint64_t spoolLimitBytes = kDefaultSpoolLimit;
  CaptureRule capture;
  std::uint64_t maxTraceBytes = 0;  // 0: min(4 GiB, a tenth of what the disk has free)
  std::vector<std::string> redact;
  bool subreaper = true;
  CaptureTimes times;       // --delay and --duration
  std::int64_t lastNs = 0;  // --last: a flight recorder that reaches so far back
  std::string summaryFile;
  Progress progress = {};  // of finishing the trace; called on a thread of its own
};

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

}  // namespace sonde::session
