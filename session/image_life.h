// Whether the process that writes a spool file still runs. Plain functions; any thread.
#pragma once

#include "collector/launcher/spool_reader.h"

namespace sonde::session {

// As far as this machine can tell.
bool processRuns(const launcher::SpoolIdentity& who);

bool isSameProcess(const launcher::SpoolIdentity& one,
                   const launcher::SpoolIdentity& other) noexcept;

}  // namespace sonde::session
