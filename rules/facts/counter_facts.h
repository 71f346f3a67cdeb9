// Counters of machines, processes and devices by seconds. Plain values; reading uses the database's
// thread.
//
// A second is closed if samples cover it from its begin to its end. A gauge keeps its value until
// the next sample, so its mean over a second is exact. A total's rate is linear between samples.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::rules {

struct CounterPoint {
  std::int64_t ns = 0;  // of the host's time
  double value = 0;
};

struct CounterSeries {
  std::string name;
  std::string unit;
  bool isTotal = false;
  std::int64_t hostId = 0;
  std::int64_t processId = 0;        // 0: none, of the machine or a device
  std::int64_t threadId = 0;         // 0: none
  std::int64_t deviceId = 0;         // 0: none
  std::string place;                 // "node-1", "rank 0", "gpu 1 of node-1"
  std::vector<CounterPoint> points;  // ascending

  // The mean of a gauge, or the rate per second of a total, in each closed second from the first
  // one on. A total of time has a rate without unit: 1 is all the time of one processor.
  std::vector<double> seconds() const;
  // When its first closed second begins. Requires: a closed second.
  std::int64_t firstSecondNs() const;
  // A gauge's value at that time; unset before the first sample.
  std::optional<double> at(std::int64_t ns) const;
};

struct CounterFacts {
  std::vector<CounterSeries> series;  // with at least one sample
  struct Device {
    std::string place;  // "gpu 1 of node-1"
    std::int64_t hostId = 0;
    std::optional<std::int64_t> memoryBytes;  // installed
  };
  std::map<std::int64_t, Device> devices;                 // by id; those with a counter
  std::map<std::int64_t, std::int64_t> processorsOfHost;  // by host id; 0: unknown

  static Result<CounterFacts> read(const store::Database& trace);

  // A counter of a device; nullptr: there is none.
  const CounterSeries* ofDevice(std::int64_t deviceId, std::string_view name) const;
  // A counter of a machine as a whole.
  const CounterSeries* ofHost(std::int64_t hostId, std::string_view name) const;
  // A counter of a process, without its threads.
  const CounterSeries* ofProcess(std::int64_t processId, std::string_view name) const;
};

}  // namespace sonde::rules
