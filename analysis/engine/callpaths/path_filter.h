// The part of a trace that call paths are made of, and what their time is. Plain values.
#pragma once

#include "analysis/engine/intervals/intervals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::callpaths {

struct PathFilter {
  std::optional<std::int64_t> rank = {};
  std::vector<std::int64_t> processes = {};     // ids; empty: all
  std::vector<std::int64_t> threads = {};       // ids; empty: all
  std::optional<metrics::Interval> range = {};  // job time
  std::string operation = {};                   // the name of a scope; empty: everything
  bool byThread = false;                        // the outer frames are process and thread

  friend bool operator==(const PathFilter&, const PathFilter&) = default;
};

// Slices: the time of slices, by the slices around them. DeviceWork: that of kernels and copies, by
// the slices around the call that launched them, with their own name as the last frame. The others
// are stack samples, as metrics::StackClock: their frames are functions.
enum class PathSource : std::uint8_t {
  Slices,
  DeviceWork,
  CpuSamples,
  WaitSamples,
  AllSamples,
  LaunchSamples,
  AllocationSamples
};

}  // namespace sonde::engine::callpaths
