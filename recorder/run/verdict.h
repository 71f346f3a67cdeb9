// What the rules say of a run that has ended.
#pragma once

#include "recorder/run/job_run.h"
#include "rules/configuration.h"

#include <filesystem>

namespace sonde::recorder {

// Says it line by line. A trace that cannot be checked is said to be so; the job's exit status
// stays its own either way.
void sayVerdict(const std::filesystem::path& trace,
                const rules::Configuration& configuration,
                const Say& say);

}  // namespace sonde::recorder
