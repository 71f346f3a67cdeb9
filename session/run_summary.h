// What `sonde run` says when it is done, for a person and as JSON. Plain functions.
#pragma once

#include "analysis/base/result.h"
#include "session/recording.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::session {

// One line each; the last names the trace and the next command to type.
std::vector<std::string> summaryLines(const RecordingSummary& summary,
                                      std::optional<int> worldSize);

// Makes `file`, empty, unless it is there, so that a name that cannot be written is found before
// the job runs. Io.
Result<void> makeSummaryFile(const std::string& file);

// `{schema, events{}, dropped{}, seconds, path, recorder{cpu_s, bytes, rss_bytes}, exit_status,
// notes[]}`. `exitStatus` is minus the signal when one ended the job.
Result<void> writeSummary(const std::string& file, const RecordingSummary& summary, int exitStatus);

}  // namespace sonde::session
