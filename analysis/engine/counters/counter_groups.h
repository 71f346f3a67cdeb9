// The counters of machines, devices and ranks over time, in groups that fit one chart: processors,
// memory, power, networks and so on. Plain values; reading uses the database's thread. Times are on
// the job's common clock.
#pragma once

#include "analysis/engine/counters/rate.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::counters {

// In display order.
enum class CounterGroup : std::uint8_t {
  Processors,   // processors in use
  Gpu,          // share of the time that a GPU works
  Memory,       // bytes
  GpuMemory,    // bytes
  Power,        // watts
  Temperature,  // degrees Celsius
  Network,      // bytes per second
  Links,        // of GPUs: bytes per second
  Disks,        // bytes per second
  Pressure,     // share of the time in which work waits for a resource
  Clocks,       // hertz
  Others,       // a chart for each counter
};
inline constexpr std::size_t kCounterGroups = 12;

struct CounterSeries {
  std::int64_t counterId = 0;
  std::string name;                  // of the counter; for a rank's own one, with the rank
  std::string unit;                  // of the values: "1" for shares and numbers, "B/s", "W" …
  bool isRate = false;               // growth per second, from each point to the next one
  std::vector<CounterPoint> points;  // by time
};

// The counters of one group of a machine or device.
struct CounterChart {
  CounterGroup group = CounterGroup::Others;
  std::int64_t hostId = 0;
  std::string host;
  std::string device;  // "gpu 0"; empty: the machine and the ranks on it
  std::string name;    // of the counter, in Others; else empty
  std::vector<CounterSeries> series;
};

// By host, group, device and name. Only points in `window` and the ones beside it; if unset, all.
// With more than 2 · `most` points a series has the highest and lowest of each of `most` stretches.
// If several recorders read a counter, the longest reading stands for all. Counters of threads, of
// helper processes and of single processors are left out, and those whose value is always 0 in the
// groups that have many. Requires: most > 0.
Result<std::vector<CounterChart>> counterCharts(const store::Database& trace,
                                                const std::vector<metrics::RankProcess>& ranks,
                                                const std::optional<metrics::Interval>& window,
                                                std::size_t most);

// Whether any counter was recorded.
Result<bool> hasCounters(const store::Database& trace);

}  // namespace sonde::engine::counters
