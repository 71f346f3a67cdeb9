// Devices made by hand: work on streams, with or without launches. Plain functions.
#pragma once

#include "analysis/engine/device/device_work.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::device {

using Span = std::pair<std::int64_t, std::int64_t>;

// `launch`: the call; unset: not recorded. Calls are identified by their begins.
inline Work workOf(WorkKind kind, Span time, std::optional<Span> launch = {}) {
  Work work;
  work.kind = kind;
  std::tie(work.begin, work.end) = time;
  if (launch)
    work.launch = Launch{launch->first + 1, launch->first, launch->second, 0};
  return work;
}

inline Work kernel(Span time, std::optional<Span> launch = {}) {
  return workOf(WorkKind::Compute, time, launch);
}

// Streams with ids from 1 on; numbers equal ids.
inline DeviceWork deviceOf(std::vector<std::vector<Work>> streams) {
  DeviceWork device;
  device.name = "gpu 0";
  for (std::vector<Work>& work : streams) {
    const auto id = static_cast<std::int64_t>(device.streams.size()) + 1;
    device.streams.push_back({id, id, std::move(work), {}});
  }
  return device;
}

}  // namespace sonde::engine::device
