// What an Nsight Systems export says of the machine, the session and the processes in it. Free
// functions; the thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

#include <string>

namespace sonde::ingest {

// Empty: the file does not say.
Result<std::string> nsightHostName(const NsightFile& file);

// When the session began, before any event is read.
Result<void> readNsightClock(NsightContext& context);

// The names of processes, threads and devices, ranks, and what Nsight itself found noteworthy.
Result<void> readNsightPlaces(NsightContext& context);

}  // namespace sonde::ingest
