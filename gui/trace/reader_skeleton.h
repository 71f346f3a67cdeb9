// Reads the skeleton of a trace: processes, tracks with their rows, iterations, bounds. Worker's
// thread.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/trace_data.h"

#include <vector>

namespace sonde::gui {

using engine::align::HostClock;

struct ReadSkeleton {
  Skeleton skeleton;
  std::vector<HostClock> clocks;  // by process
};

[[nodiscard]] Result<ReadSkeleton> readSkeleton(const store::Database& trace);

}  // namespace sonde::gui
