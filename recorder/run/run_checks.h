// Checks of a run: how large its trace may become, why it cannot begin, and whether its GPUs may be
// used after it. Plain functions; any thread.
#pragma once

#include "base/result.h"
#include "recorder/launcher/supervisor.h"
#include "recorder/run/run_options.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde::recorder {

// In bytes: `--max-size`, or a part of the free disk.
std::uint64_t traceLimit(const RunOptions& options, const std::filesystem::path& output);

// With the remedy. `error`: from the first writes to the trace.
Error cannotBegin(const Error& error, const std::filesystem::path& part);

// Why a GPU must be left alone: it may hang, or the user or batch system that ended the job may not
// wait. Empty: it may be used.
std::string hindranceOf(const launcher::RunOutcome& outcome);

}  // namespace sonde::recorder
