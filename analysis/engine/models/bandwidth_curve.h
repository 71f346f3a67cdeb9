// How long a collective takes where its bandwidth grows with the size of its messages: a curve of
// eight parameters, with three parts. Plain values; any thread.
//
// Source: "Towards Universal Performance Modeling for Machine Learning Training on Multi-GPU
// Platforms" (Lin et al., TPDS 2024), the section on collectives.
#pragma once

namespace sonde::engine::models {

struct BandwidthCurve {
  double latencyNs = 0;         // t_s
  double latencyEnd = 0;        // ln_p: up to this log2 of the bytes latency is all
  double saturation = 0;        // sats_p: from this log2 on the bandwidth is the highest
  double highestBandwidth = 0;  // in bytes a nanosecond
  // log10 of the bandwidth between them: a logistic curve of the log2 of the bytes.
  double rise = 0;       // L
  double steepness = 0;  // k
  double middle = 0;     // x0
  double base = 0;       // b

  double bandwidth(double bytes) const noexcept;
  // `factor`: the part of the bytes that a rank sends, such as 2 (n - 1) / n of an all-reduce.
  double ns(double bytes, double factor) const noexcept;
};

}  // namespace sonde::engine::models
