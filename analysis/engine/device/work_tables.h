// Tables of device work and of launching it: kernels, copies, launches. Plain values and pure
// functions. Work and calls belong to the window in which they begin.
#pragma once

#include "analysis/engine/device/device_work.h"
#include "analysis/engine/device/spread.h"
#include "analysis/engine/intervals/intervals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::device {

struct KernelRow {
  std::int64_t nameId = 0;
  WorkKind kind = WorkKind::Compute;
  Spread ns;
  double share = 0;  // of the window; above 1 if several ran at the same time
};
// For all tables: `windows` is in normal form; an event belongs to the window in which it begins.

// Ordered by total, longest first.
std::vector<KernelRow> kernelsIn(const DeviceWork& device, const metrics::Intervals& windows);

struct CopyRow {
  std::string kind;  // `copy.kind`
  std::optional<bool> pinned;
  Spread ns;
  std::int64_t bytes = 0;  // of the copies whose size is known
  double share = 0;
  std::optional<double> bytesPerSecond;  // bytes over their time
  double p50BytesPerSecond = 0;          // of one copy; 0: no copy has both size and time
  double maxBytesPerSecond = 0;
};
std::vector<CopyRow> copiesIn(const DeviceWork& device, const metrics::Intervals& windows);

// Limits from HolisticTraceAnalysis, above which a launch deserves a look.
inline constexpr std::int64_t kSlowCallNs = 50'000;
inline constexpr std::int64_t kLateWorkNs = 100'000;

// Work that one kind of call launched.
struct LaunchRow {
  std::int64_t callNameId = 0;
  Spread callNs;   // each call once, however much it launched
  Spread workNs;   // each piece of work
  Spread delayNs;  // from the end of the call to the begin of the work; 0 if the work began earlier
  std::int64_t shorter = 0;  // work that took less time than its launching call
  std::int64_t slowCalls = 0;
  std::int64_t late = 0;  // work whose delay is above kLateWorkNs
};
std::vector<LaunchRow> launchesIn(const DeviceWork& device, const metrics::Intervals& windows);

}  // namespace sonde::engine::device
