// Reads the skeleton of a trace: processes, tracks with their rows, iterations, bounds. Worker's
// thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"
#include "gui/models/host_clock.h"
#include "gui/models/trace_data.h"

#include <vector>

namespace sonde::gui {

struct ReadSkeleton {
  Skeleton skeleton;
  std::vector<HostClock> clocks;  // by process
};

[[nodiscard]] Result<ReadSkeleton> readSkeleton(const store::Database& trace);

}  // namespace sonde::gui
