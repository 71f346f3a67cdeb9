// What using devices cost the host: calls that wait for them, launches of graphs, and operators
// with the time of the work that they launched. Plain values; reading uses the database's thread.
// What is in a window is what begins in it; windows are in normal form.
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

// SQL: whether `n.text` names a call that returns when a device has got somewhere.
inline constexpr std::string_view kIsWaitingCall =
    "(n.text GLOB '*Synchronize*' OR ((n.text GLOB 'cu*Memcpy*' OR n.text GLOB 'hipMemcpy*') AND "
    "n.text NOT GLOB '*Async*'))";

// Calls that return when a device has got somewhere: …Synchronize, copies that are not
// asynchronous.
struct WaitingCallRow {
  std::string call;
  Spread ns;
  std::int64_t deviceBusyNs = 0;  // of that time: some device of the process worked
  double share = 0;               // of the window; above 1 where threads waited at once
};

struct GraphLaunchRow {
  std::string call;
  Spread callNs;
  std::int64_t work = 0;  // kernels and copies that these launched
  std::int64_t deviceNs =
      0;  // sum over launches, from the first begin of their work to the last end
};

// Operators of one name, wherever they are nested.
struct OperatorRow {
  std::string name;
  Spread ns;                  // on the host, with what is nested in them
  std::int64_t selfNs = 0;    // without operators directly in them
  std::int64_t work = 0;      // kernels and copies of which they are the innermost scope
  std::int64_t deviceNs = 0;  // sum of what these took
  double share = 0;           // of selfNs in the window; above 1 where threads ran at once
};

struct HostCosts {
  std::vector<WaitingCallRow> waiting;  // each the longest total first
  std::vector<GraphLaunchRow> graphs;
  std::vector<OperatorRow> operators;
};

Result<HostCosts> hostCosts(const store::Database& trace,
                            std::int64_t processId,
                            const std::vector<DeviceWork>& devices,
                            const metrics::Intervals& windows);

}  // namespace sonde::engine::device
