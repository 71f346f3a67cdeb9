// Reads the skeleton of a trace: processes, tracks with their rows, iterations, bounds. Worker's
// thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/host_clock.h"
#include "gui/trace/trace_data.h"

#include <vector>

namespace sonde::gui {

struct ReadSkeleton {
  Skeleton skeleton;
  std::vector<HostClock> clocks;  // by process
};

[[nodiscard]] Result<ReadSkeleton> readSkeleton(const store::Database& trace);

}  // namespace sonde::gui
