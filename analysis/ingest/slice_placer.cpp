#include "analysis/ingest/slice_placer.h"

#include <algorithm>

namespace sonde::ingest {

// The entry that holds the span innermost: of its own lane, so that depth grows along a lane and no
// two slices of one line overlap; else of the lanes further in.
const SlicePlacer::Entry* SlicePlacer::holderOf(const Span& span, std::size_t lane) const noexcept {
  if (!lanes_[lane].empty())
    return &lanes_[lane].back();
  const Entry* innermost = nullptr;
  for (std::size_t at = 0; at < lane; ++at) {
    for (auto entry = lanes_[at].rbegin(); entry != lanes_[at].rend(); ++entry) {
      if (entry->span.endNs < span.endNs)
        continue;
      if (innermost == nullptr || entry->span.startNs >= innermost->span.startNs)
        innermost = &*entry;
      break;
    }
  }
  return innermost;
}

SlicePlacer::Place SlicePlacer::place(const Span& span) {
  std::size_t lane = 0;
  for (;; ++lane) {
    if (lane == lanes_.size())
      lanes_.emplace_back();
    Lane& open = lanes_[lane];
    while (!open.empty() && open.back().span.endNs <= span.startNs)
      open.pop_back();
    if (open.empty() || open.back().span.endNs >= span.endNs)
      break;
  }
  const Entry* const holder = holderOf(span, lane);
  Place place;
  place.lane = static_cast<std::int64_t>(lane);
  if (holder != nullptr) {
    place.parent = holder->span.id;
    place.depth = holder->depth + 1;
    place.scope = holder->scope;
  }
  lanes_[lane].push_back({span, place.depth, span.isScope ? span.id : place.scope});
  return place;
}

std::int64_t SlicePlacer::openAt(const Line& line) const noexcept {
  if (line.lane < 0 || line.lane >= static_cast<std::int64_t>(lanes_.size()))
    return 0;
  const Lane& lane = lanes_[static_cast<std::size_t>(line.lane)];
  const auto found = std::find_if(
      lane.begin(), lane.end(), [&](const Entry& entry) { return entry.depth == line.depth; });
  return found == lane.end() ? 0 : found->span.id;
}

std::int64_t SlicePlacer::innermostAt(std::int64_t ns) const noexcept {
  const Entry* innermost = nullptr;
  for (const Lane& lane : lanes_) {
    for (auto entry = lane.rbegin(); entry != lane.rend(); ++entry) {
      if (entry->span.endNs < ns || entry->span.startNs > ns)
        continue;
      if (innermost == nullptr || entry->span.startNs >= innermost->span.startNs)
        innermost = &*entry;
      break;
    }
  }
  return innermost == nullptr ? 0 : innermost->span.id;
}

}  // namespace sonde::ingest
