#include "analysis/engine/models/bandwidth_curve.h"

#include <cmath>

namespace sonde::engine::models {

double BandwidthCurve::bandwidth(double bytes) const noexcept {
  const double logistic = rise / (1 + std::exp(-steepness * (std::log2(bytes) - middle)));
  return std::pow(10, logistic + base);
}

double BandwidthCurve::ns(double bytes, double factor) const noexcept {
  const double size = std::log2(bytes);
  if (size <= latencyEnd)
    return latencyNs;
  if (size > saturation)
    return latencyNs + factor * bytes / highestBandwidth;
  return factor * bytes / bandwidth(bytes);
}

}  // namespace sonde::engine::models
