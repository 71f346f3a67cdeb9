#include "analysis/ingest/import/slice_placer.h"

#include <algorithm>

namespace sonde::ingest {

void SlicePlacer::reset() {
  lanes_.clear();
  free_.clear();
  busy_ = {};
  holders_.clear();
}

// The last-begun span among those that end at `endNs` or later.
const SlicePlacer::Entry* SlicePlacer::holderOf(std::int64_t endNs) const noexcept {
  const auto after = std::partition_point(holders_.begin(), holders_.end(), [=](const Entry& each) {
    return each.span.endNs >= endNs;
  });
  return after == holders_.begin() ? nullptr : &*std::prev(after);
}

bool SlicePlacer::isInnermostOfLane(const Entry& holder, std::int64_t startNs) {
  Lane& lane = lanes_[static_cast<std::size_t>(holder.lane)];
  while (lane.back().span.endNs <= startNs)  // its holder is open
    lane.pop_back();
  return lane.back().span.id == holder.span.id;
}

std::int64_t SlicePlacer::takeLane(std::int64_t from, const Span& span) {
  for (; !busy_.empty() && busy_.top().first <= span.startNs; busy_.pop())
    free_.insert(busy_.top().second);
  while (free_.lower_bound(from) == free_.end()) {
    free_.insert(static_cast<std::int64_t>(lanes_.size()));
    lanes_.emplace_back();
  }
  const auto lane = free_.lower_bound(from);
  const std::int64_t taken = *lane;
  free_.erase(lane);
  busy_.emplace(span.endNs, taken);
  lanes_[static_cast<std::size_t>(taken)].clear();
  return taken;
}

void SlicePlacer::put(const Entry& entry) {
  lanes_[static_cast<std::size_t>(entry.lane)].push_back(entry);
  if (entry.span.isRange || entry.span.isFlat)
    return;
  while (!holders_.empty() && holders_.back().span.endNs <= entry.span.endNs)
    holders_.pop_back();
  holders_.push_back(entry);
}

SlicePlacer::Place SlicePlacer::place(const Span& span) {
  // A span that ends when this one begins does not contain it, even if this one has no length.
  const std::int64_t open = span.startNs == kOpen ? kOpen : span.startNs + 1;
  const Entry* const holder = holderOf(span.isRange ? open : std::max(span.endNs, open));
  Entry entry;
  entry.span = span;
  entry.scope = holder == nullptr ? 0 : holder->scope;
  Place place;
  place.scope = entry.scope;
  if (span.isRange) {
    entry.lane = takeLane(1, span);
  } else if (holder == nullptr) {
    entry.lane = takeLane(0, span);
  } else {
    place.parent = holder->span.id;
    entry.depth = holder->depth + 1;
    entry.lane =
        isInnermostOfLane(*holder, span.startNs) ? holder->lane : takeLane(holder->lane + 1, span);
  }
  if (span.isScope)
    entry.scope = span.id;
  place.depth = entry.depth;
  place.lane = entry.lane;
  put(entry);
  return place;
}

std::int64_t SlicePlacer::openAt(const Line& line) const noexcept {
  if (line.lane < 0 || line.lane >= static_cast<std::int64_t>(lanes_.size()))
    return 0;
  const Lane& lane = lanes_[static_cast<std::size_t>(line.lane)];
  if (lane.empty())
    return 0;
  const std::int64_t at = line.depth - lane.front().depth;
  const bool isThere = at >= 0 && at < static_cast<std::int64_t>(lane.size());
  return isThere ? lane[static_cast<std::size_t>(at)].span.id : 0;
}

std::int64_t SlicePlacer::innermostAt(std::int64_t ns) const noexcept {
  const Entry* const holder = holderOf(ns);
  return holder == nullptr ? 0 : holder->span.id;
}

std::int64_t SlicePlacer::scopeAt(std::int64_t ns) const noexcept {
  const Entry* const holder = holderOf(ns);
  return holder == nullptr ? 0 : holder->scope;
}

}  // namespace sonde::ingest
