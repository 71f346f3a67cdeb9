// The host's cost of using devices: calls that wait for them, launches of graphs, and operators
// with the device time of the work they launched. Plain values; reading uses the database's thread.
// An event belongs to the window in which it begins; windows are in normal form.
#pragma once

#include "analysis/engine/device/device_time.h"
#include "analysis/engine/device/device_work.h"
#include "analysis/engine/device/spread.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::device {

// SQL: whether `n.text` names a call that waits for a device.
inline constexpr std::string_view kIsWaitingCall =
    "(n.text GLOB '*Synchronize*' OR ((n.text GLOB 'cu*Memcpy*' OR n.text GLOB 'hipMemcpy*') AND "
    "n.text NOT GLOB '*Async*'))";

// Calls that wait for a device: …Synchronize, and synchronous copies.
struct WaitingCallRow {
  std::string call;
  Spread ns;
  std::int64_t deviceBusyNs = 0;  // part of that time in which some device of the process worked
  double share = 0;               // of the window; above 1 if threads waited at the same time
};

struct GraphLaunchRow {
  std::string call;
  Spread callNs;
  std::int64_t work = 0;  // kernels and copies that these launched
  std::int64_t deviceNs =
      0;  // sum over launches, from the first begin of their work to the last end
};

// Operators of one name, at any nesting depth.
struct OperatorRow {
  std::string name;
  Spread ns;                  // on the host, including nested operators
  std::int64_t selfNs = 0;    // without operators directly inside
  std::int64_t work = 0;      // kernels and copies whose innermost scope it is
  std::int64_t deviceNs = 0;  // sum over these kernels and copies
  double share = 0;           // of selfNs in the window; above 1 if threads ran at the same time
};

struct HostCosts {
  std::vector<WaitingCallRow> waiting;  // each ordered by total, longest first
  std::vector<GraphLaunchRow> graphs;
  std::vector<OperatorRow> operators;
};

Result<HostCosts> hostCosts(const store::Database& trace,
                            std::int64_t processId,
                            const std::vector<DeviceWork>& devices,
                            const metrics::Intervals& windows);

}  // namespace sonde::engine::device
