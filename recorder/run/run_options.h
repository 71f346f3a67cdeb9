// The options of a run. Plain values; any thread.
#pragma once

#include "base/progress.h"
#include "collector/wire/spool_format.h"
#include "recorder/options/calibration_rule.h"
#include "recorder/options/capture_rule.h"
#include "recorder/options/capture_schedule.h"
#include "recorder/options/cuda_options.h"
#include "recorder/spool/spool_place.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

// For the source stack.
struct StackOptions {
  std::optional<std::uint32_t> perSecond;  // --stack-rate, of each thread's CPU time; 99
  bool wall = false;                       // --stack-mode
  bool atCollectives = false;              // --stacks-at
  bool atWaits = false;
  bool atAllocations = false;
  bool atCudaCalls = false;

  bool isGiven() const {
    return perSecond || wall || atCollectives || atWaits || atAllocations || atCudaCalls;
  }
  wire::StackRule rule() const;
};

struct RunOptions {
  std::vector<std::string> command;
  std::string output;  // -o
  bool force = false;
  std::optional<std::string> sources;
  CudaOptions cuda;
  double samplesPerSecond = 10;  // for the source system
  StackOptions stacks;
  std::optional<std::uint64_t> memoryThreshold;  // --memory-threshold, in bytes
  std::string torchOperators;                    // --torch-operators; empty: none
  std::string moduleCategories;                  // --module-category; from moduleCategories()
  std::vector<std::string> plugins;              // --plugin: files of external probes
  std::string tensorsFile;                       // --tensors; empty: the default
  std::string rulesFile;                         // --rules; they judge the run and its trace
  std::vector<std::string> onFire;               // --on-fire
  std::string jobFolder;                         // --job-dir; empty: this recorder has all ranks
  std::string spool;
  std::uint64_t spoolLimitBytes = kDefaultSpoolLimit;
  CaptureRule capture;
  Calibrate calibrate;
  std::uint64_t maxTraceBytes = 0;  // 0: min(4 GiB, a tenth of the free disk space)
  std::vector<std::string> redact;
  bool subreaper = true;
  CaptureTimes times;       // --delay and --duration
  std::int64_t lastNs = 0;  // --last: how long a flight recorder keeps records
  std::string summaryFile;
  Progress progress = {};  // of finishing the trace; called on a separate thread
};

// Returns the problem with `options` when these probes record: an option for a probe that does not
// record, or two options that exclude each other. Empty: none.
std::string unmetNeed(const RunOptions& options, std::uint32_t probeMask);

}  // namespace sonde::recorder
