// Points of a roofline from hardware counters. Within engine/roofline.
#pragma once

#include "analysis/engine/roofline/roofline.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::roofline {

// A device's name and a point. Metrics of an operation come from different iterations, so means are
// combined. Its `count` is that of the instances that were measured.
struct CountedPoint {
  std::string device;
  bool usesTensorCores = false;
  RooflinePoint point;
};
Result<std::vector<CountedPoint>> countedPoints(const store::Database& trace,
                                                const std::optional<metrics::Interval>& within);

}  // namespace sonde::engine::roofline
