// How many blocks of a kernel a device runs at once, and in how many waves it runs them all. Uses
// the database's thread while it reads; then plain values.
//
// Source: NVIDIA's "CUDA C++ Programming Guide", technical specifications for each compute
// capability, and the rules of its occupancy calculator.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde::engine::whatif {

// `threads` and below: those that a multiprocessor holds at once.
struct DeviceLimits {
  std::int64_t multiprocessors = 0;
  std::int64_t threads = 0;
  std::int64_t blocks = 0;
  std::int64_t sharedBytes = 0;
  std::int64_t reservedBytes = 0;  // of shared memory, for each block
};

// By the driver's name of the device, or a part of it such as "H100". nullopt: it is not known.
std::optional<DeviceLimits> deviceLimitsOf(std::string_view device);

// As a kernel was launched. Threads, registers and bytes are those of the driver's record; 0: not
// recorded.
struct LaunchShape {
  std::string device = {};
  std::int64_t blocks = 0;
  std::int64_t threads = 0;      // of a block
  std::int64_t registers = 0;    // of a thread
  std::int64_t sharedBytes = 0;  // of a block
};

// Blocks of the kernel on one multiprocessor at once; at least 1. Requires: threads > 0.
std::int64_t residentBlocks(const DeviceLimits& device, const LaunchShape& shape);

// The waves in which the device runs `times` as many blocks.
std::int64_t wavesOf(const DeviceLimits& device, const LaunchShape& shape, std::int64_t times);

// By the kernel's id; only kernels with known blocks and threads.
Result<std::unordered_map<std::int64_t, LaunchShape>> readLaunchShapes(
    const store::Database& trace);

}  // namespace sonde::engine::whatif
