// How near kernels come to the limits of their device: their arithmetic and memory traffic against
// its peaks. Plain values; reading uses the database's thread. Times are on the job's common clock.
//
// Arithmetic and traffic follow from the recorded sizes of PyTorch's operators (operator_work.h),
// or from hardware counters (`sonde run --counters roofline`). Peaks are published
// (device_peaks.h). Source: "Roofline: An Insightful Visual Performance Model for Multicore
// Architectures" (Williams et al., CACM 2009).
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::roofline {

enum class Bound : std::uint8_t {
  Unknown,  // the device's peaks are
  Memory,
  Compute,
  Latency,  // neither: it reaches less than kLatencyShare of its roof
};
inline constexpr double kLatencyShare = 0.25;

struct RooflinePoint {
  std::string kernel;      // of several that an operator launches, the longest; empty: see below
  std::string operation;   // the operator; for counters the operation
  std::string type;        // of the elements; of operators that only move data: empty
  bool isCounted = false;  // by hardware; its time includes that in which the device was idle
  std::int64_t count = 0;  // operators
  double ns = 0;           // sums over them
  double flops = 0;
  double bytes = 0;
  double peakFlops = 0;         // per second, of the kernels' arithmetic; 0: unknown
  double peakBytes = 0;         // per second; 0: unknown
  metrics::Interval longest{};  // of its kernels or operators

  [[nodiscard]] double intensity() const noexcept { return bytes > 0 ? flops / bytes : 0; }
  [[nodiscard]] double flopsPerSecond() const noexcept { return ns > 0 ? flops / ns * 1e9 : 0; }
  [[nodiscard]] double bytesPerSecond() const noexcept { return ns > 0 ? bytes / ns * 1e9 : 0; }
  // The operations per second that the device allows at this intensity; 0: unknown.
  [[nodiscard]] double roof() const noexcept;
  // The part of the roof that it reaches; unset: unknown. Above 1 if the data came from a cache.
  [[nodiscard]] std::optional<double> share() const noexcept;
  [[nodiscard]] Bound bound() const noexcept;
};

struct Roof {
  std::string name;  // "products of 2-byte numbers"
  double flopsPerSecond = 0;
};

struct DeviceRoofline {
  std::string device;         // its name: "NVIDIA A100-SXM4-80GB"; or the processor's
  bool isHost = false;        // the points are operators, and their time that of their threads
  double bytesPerSecond = 0;  // its peak; 0: unknown, and there are no roofs
  std::vector<Roof> roofs;    // those that its points have, the highest first
  std::vector<RooflinePoint> points;  // the longest total first
  double kernelNs = 0;                // of all kernels but collectives; 0: a host
};

// One for each model of device, by name. Empty: no operator has recorded sizes, and nothing was
// counted. `within`: job time; only operators whose kernels share time with it, each with all of
// its kernels.
Result<std::vector<DeviceRoofline>> readRooflines(
    const store::Database& trace, const std::optional<metrics::Interval>& within = {});

}  // namespace sonde::engine::roofline
