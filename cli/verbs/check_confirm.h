// `sonde check --confirm`: a finding about speed does not count if a second run passes. Plain
// functions; the verb's thread.
#pragma once

#include "base/result.h"
#include "rules/engine/check.h"

#include <filesystem>
#include <string>

namespace sonde::cli {

// Whether a rule of profile performance fired with severity error, and counts.
bool needsConfirmation(const rules::CheckReport& report, const rules::Configuration& configuration);

// Runs `command` by `sh -c`, with SONDE_CONFIRM=`trace` in its environment. Its output goes to
// stderr. Io: it cannot be started, fails, or leaves no file there.
Result<void> runConfirmation(const std::string& command, const std::filesystem::path& trace);

// Suppresses findings of `report` that needed a confirmation if the same rule passes for the same
// entity in `second`, which could have seen them. Any other verdict, and none, confirms nothing:
// the finding counts. Adds both verdicts as notes.
void confirmBy(const rules::CheckReport& second,
               const rules::Configuration& configuration,
               rules::CheckReport& report);

}  // namespace sonde::cli
