// The rules' verdict on a run that has ended.
#pragma once

#include "recorder/run/job_run.h"
#include "rules/configuration/configuration.h"

#include <filesystem>

namespace sonde::recorder {

// Prints it line by line. Reports a trace that cannot be checked. Does not change the job's exit
// status.
void sayVerdict(const std::filesystem::path& trace,
                const rules::Configuration& configuration,
                const Say& say);

}  // namespace sonde::recorder
