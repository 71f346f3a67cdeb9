// How the time of a kernel changes with the peaks of its device. Plain functions; any thread.
//
// Source: "Habitat: A Runtime-Based Computational Performance Predictor for Deep Neural Network
// Training" (Yu et al., ATC'21), section 3.3 (wave scaling for many waves) and section 4.2 (γ by
// the roofline).
#pragma once

#include <cmath>

namespace sonde::engine::whatif {

// γ: to what part a kernel's time follows memory instead of arithmetic. `intensity` is its flops
// for each byte, `ridge` the intensity from which arithmetic bounds the new device.
inline double memoryShare(double intensity, double ridge) {
  return intensity <= ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
}

// How many times as long the kernel takes on a device whose memory and arithmetic are so many times
// as fast.
inline double waveFactor(double bandwidth, double flops, double memoryPart) {
  return std::pow(bandwidth, -memoryPart) * std::pow(flops, memoryPart - 1);
}

}  // namespace sonde::engine::whatif
