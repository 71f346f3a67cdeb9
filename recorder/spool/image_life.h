// Whether the process that writes a spool file still runs. Plain functions; any thread.
#pragma once

#include "recorder/spool_file/spool_reader.h"

namespace sonde::recorder {

// As far as this machine can tell.
bool processRuns(const SpoolIdentity& who);

bool isSameProcess(const SpoolIdentity& one, const SpoolIdentity& other) noexcept;

}  // namespace sonde::recorder
