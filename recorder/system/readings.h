// The data that the sampler passes to the recorder: counters, each described once, and their
// readings. An unchanged value is not passed again. When it changes, the last unchanged point is
// passed first, so that lines or steps through the points are correct.
//
// Owned by the sampler, on its thread. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde::recorder::system {

// A counter of the host, of a process image, of one of its threads, or of a device.
struct Metric {
  std::string name = {};
  std::string unit = {};
  bool isTotal = false;  // it only grows: its rate is of interest
  std::int32_t pid = 0;  // 0: not of a process
  std::uint64_t startTime = 0;
  std::uint32_t execCount = 0;
  std::int32_t tid = 0;         // 0: not of a thread
  std::string deviceUuid = {};  // empty: not of a device
  std::int64_t deviceOrdinal = 0;
};

struct Reading {
  std::size_t metric = 0;  // returned by define()
  std::int64_t monotonicNs = 0;
  double value = 0;
};

struct Batch {
  std::vector<Metric> metrics;  // new ones; they continue the numbering of earlier batches
  std::vector<Reading> readings;
  std::uint64_t lost = 0;  // readings that were not taken in time
};

class Readings {
 public:
  // Sets the time for following calls of add().
  void setTime(std::int64_t monotonicNs) noexcept { nowNs_ = monotonicNs; }
  std::size_t define(Metric metric);
  void add(std::size_t metric, double value);
  // The metric has ended: passes on its last point.
  void close(std::size_t metric);
  void closeAll();

  Batch take();

 private:
  struct Series {
    double value = 0;
    std::int64_t seenNs = 0;    // when it was last read …
    std::int64_t handedNs = 0;  // … and the last point that was passed on; 0: none
  };
  void hand(std::size_t metric, std::int64_t ns);

  std::int64_t nowNs_ = 0;
  std::vector<Series> series_;
  Batch batch_;
};

}  // namespace sonde::recorder::system
