// The published peaks of some GPUs. Plain values; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sonde::engine::whatif {

// Without sparsity, in bytes and floating point operations a nanosecond (GB/s and GFLOP/s).
struct DevicePeaks {
  std::string_view name;
  std::string_view vendor;
  double bandwidth = 0;
  double single = 0;       // numbers of four bytes, on vector units
  double tensorFloat = 0;  // the same as products of matrices with shorter mantissas (TF32)
  double half = 0;         // products of matrices of two-byte numbers
};

// By one of the names, whatever its case. nullptr: none of them.
const DevicePeaks* peaksOf(std::string_view name);
// By a driver's name of a device, such as "NVIDIA A100-SXM4-80GB". nullptr: none of them.
const DevicePeaks* peaksOfDevice(std::string_view deviceName);
// For messages: "A100, A100-80GB, …".
std::string namesOfPeaks();

}  // namespace sonde::engine::whatif
