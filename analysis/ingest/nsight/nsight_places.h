// Reads the machine, the session and the processes of an Nsight Systems export. Free functions; the
// thread of the context.
#pragma once

#include "analysis/ingest/nsight/nsight_context.h"
#include "base/result.h"

#include <string>

namespace sonde::ingest {

// Empty: unknown.
Result<std::string> nsightHostName(const NsightFile& file);

// Reads the session's begin; must be called before any event is read.
Result<void> readNsightClock(NsightContext& context);

// Reads the names of processes, threads and devices, the ranks, and Nsight's own notes.
Result<void> readNsightPlaces(NsightContext& context);

}  // namespace sonde::ingest
