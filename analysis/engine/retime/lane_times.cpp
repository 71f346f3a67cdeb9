#include "analysis/engine/retime/lane_times.h"

#include <algorithm>

namespace sonde::engine::retime {

void LaneTimes::addNode(Span measured, Span moved) {
  addPoint(measured.beginNs, moved.beginNs);
  addPoint(measured.endNs, moved.endNs);
}

void LaneTimes::addPoint(std::int64_t measuredNs, std::int64_t movedNs) {
  if (points_.empty()) {
    points_.push_back({measuredNs, movedNs, movedNs});
    return;
  }
  Point& last = points_.back();
  movedNs = std::max(movedNs, last.beginNs);
  if (measuredNs <= last.measuredNs)
    last.beginNs = movedNs;
  else
    points_.push_back({measuredNs, movedNs, movedNs});
}

std::int64_t LaneTimes::beginAt(std::int64_t measuredNs) const {
  const auto next = std::partition_point(points_.begin(), points_.end(), [&](const Point& each) {
    return each.measuredNs <= measuredNs;
  });
  return between(next, measuredNs);
}

std::int64_t LaneTimes::endAt(std::int64_t measuredNs) const {
  const auto next = std::partition_point(points_.begin(), points_.end(), [&](const Point& each) {
    return each.measuredNs < measuredNs;
  });
  return between(next, measuredNs);
}

// `next` is the first point behind the time, or at it.
std::int64_t LaneTimes::between(std::vector<Point>::const_iterator next,
                                std::int64_t measuredNs) const {
  if (next == points_.end())
    return points_.empty() ? measuredNs
                           : measuredNs + points_.back().beginNs - points_.back().measuredNs;
  if (next == points_.begin() || next->measuredNs == measuredNs)
    return measuredNs + next->endNs - next->measuredNs;
  const Point& last = *(next - 1);
  const std::int64_t passed = measuredNs - last.measuredNs;
  const std::int64_t measured = next->measuredNs - last.measuredNs;
  const std::int64_t moved = next->endNs - last.beginNs;
  if (moved == measured)
    return last.beginNs + passed;
  const double share = static_cast<double>(passed) / static_cast<double>(measured);
  return last.beginNs +
         std::min(moved, static_cast<std::int64_t>(static_cast<double>(moved) * share));
}

}  // namespace sonde::engine::retime
