// What `sonde run` says when it is done, for a person and as JSON. Plain functions.
#pragma once

#include "base/result.h"
#include "recorder/run/recording.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde::recorder {

// One line each; the last names the trace and the next command to type.
std::vector<std::string> summaryLines(const RecordingSummary& summary,
                                      std::optional<int> worldSize);

// Whether writeSummary() can write `file`, so that a name that it cannot is found before the job
// runs. Leaves it as it is. Io.
Result<void> checkSummaryFile(const std::string& file);

// InvalidArgument when writing it would write what belongs to the trace `output`.
Result<void> checkSummaryIsApart(const std::string& file, const std::filesystem::path& output);

// `{schema, events{}, dropped{}, seconds, path, recorder{cpu_s, bytes, rss_bytes}, calibration,
// exit_status, notes[]}`; `calibration` as calibrationJson() has it, null without --calibrate.
// `exitStatus` is minus the signal when one ended the job. Written as by writeWhole().
Result<void> writeSummary(const std::string& file, const RecordingSummary& summary, int exitStatus);

// The same of a run without a trace: `path`, `recorder` and `calibration` are null, `notes` says
// why.
Result<void> writeUnrecorded(const std::string& file,
                             const std::string& why,
                             double seconds,
                             int exitStatus);

}  // namespace sonde::recorder
