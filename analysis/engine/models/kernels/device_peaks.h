// The published peaks of some GPUs. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::engine::models {

// Without sparsity, in bytes and floating point operations a nanosecond (GB/s and GFLOP/s).
struct DevicePeaks {
  std::string_view name;
  std::string_view vendor;
  std::int64_t multiprocessors = 0;  // the enabled ones, as drivers count them
  double half = 0;                   // products of matrices of two-byte numbers
  double bandwidth = 0;              // 0: this and the two below are not in the table
  double single = 0;                 // numbers of four bytes, on vector units
  double tensorFloat = 0;  // the same as products of matrices with shorter mantissas (TF32)
};

// By a driver's name of a device, such as "NVIDIA A100-SXM4-80GB". nullptr: none of them.
const DevicePeaks* knownDevice(std::string_view deviceName);

// These have all peaks.
//
// By one of the names, whatever its case. nullptr: none of them.
const DevicePeaks* peaksOf(std::string_view name);
// As knownDevice().
const DevicePeaks* peaksOfDevice(std::string_view deviceName);
// For messages: "A100, A100-80GB, …".
std::string namesOfPeaks();

}  // namespace sonde::engine::models
