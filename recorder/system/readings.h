// What the sampler hands to the recorder: counters, each described once, and what was read of them.
// A value that does not change is not handed on again; when it does change, the last point at which
// it had not is handed on first, so that a line drawn through the points, or steps, are right.
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
  bool isTotal = false;  // it only grows: what is of interest is its rate
  std::int32_t pid = 0;  // 0: of no process
  std::uint64_t startTime = 0;
  std::uint32_t execCount = 0;
  std::int32_t tid = 0;         // 0: of no thread
  std::string deviceUuid = {};  // empty: of no device
  std::int64_t deviceOrdinal = 0;
};

struct Reading {
  std::size_t metric = 0;  // as define() gave it
  std::int64_t monotonicNs = 0;
  double value = 0;
};

struct Batch {
  std::vector<Metric> metrics;  // new ones; they count on from those of earlier batches
  std::vector<Reading> readings;
  std::uint64_t lost = 0;  // that nobody took in time
};

class Readings {
 public:
  // For add(), from now on.
  void setTime(std::int64_t monotonicNs) noexcept { nowNs_ = monotonicNs; }
  std::size_t define(Metric metric);
  void add(std::size_t metric, double value);
  // What is read of it has ended: the last point is handed on.
  void close(std::size_t metric);
  void closeAll();

  Batch take();

 private:
  struct Series {
    double value = 0;
    std::int64_t seenNs = 0;    // when it was read last …
    std::int64_t handedNs = 0;  // … and the last point that was handed on; 0: none was
  };
  void hand(std::size_t metric, std::int64_t ns);

  std::int64_t nowNs_ = 0;
  std::vector<Series> series_;
  Batch batch_;
};

}  // namespace sonde::recorder::system
