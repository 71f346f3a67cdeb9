// The final report of `sonde run`, as text and as JSON. Plain functions.
#pragma once

#include "base/result.h"
#include "recorder/run/recording.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

// One line each; the last has the trace and the next command to type.
std::vector<std::string> summaryLines(const RecordingSummary& summary,
                                      std::optional<int> worldSize);

// Whether writeSummary() can write `file`, so that a bad name is found before the job runs. Does
// not change the file. Io.
Result<void> checkSummaryFile(const std::string& file);

// InvalidArgument if the file belongs to the trace `output` and would be overwritten.
Result<void> checkSummaryIsApart(const std::string& file, const std::filesystem::path& output);

// `{schema, events{}, dropped{}, seconds, path, recorder{cpu_s, bytes, rss_bytes}, calibration,
// exit_status, notes[]}`; `calibration` as in calibrationJson(), null without --calibrate.
// `exitStatus`: minus the signal, if one ended the job. Written with writeWhole().
Result<void> writeSummary(const std::string& file, const RecordingSummary& summary, int exitStatus);

// The same for a run without a trace: `path`, `recorder` and `calibration` are null; `notes` has
// the reason.
Result<void> writeUnrecorded(const std::string& file,
                             const std::string& why,
                             double seconds,
                             int exitStatus);

}  // namespace sonde::recorder
