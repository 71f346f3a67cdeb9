#include "analysis/ingest/spool/thread_track.h"

#include <algorithm>
#include <utility>

namespace sonde::ingest {

model::SliceId ThreadTrack::scopeBelow(std::size_t count) const noexcept {
  while (count > 0) {
    const model::Slice& slice = open_[--count].slice;
    if (model::isScope(slice.kind))
      return slice.id;
  }
  return {};
}

ThreadTrack::Place ThreadTrack::innermost() const noexcept {
  if (open_.empty())
    return {};
  const model::Slice& top = open_.back().slice;
  return {top.id, top.depth + 1, top.lane, scopeBelow(open_.size())};
}

std::int64_t& ThreadTrack::lane(std::int64_t number) {
  const auto at = static_cast<std::size_t>(number - 1);
  if (at >= lanes_.size())
    lanes_.resize(at + 1, std::numeric_limits<std::int64_t>::min());
  return lanes_[at];
}

std::int64_t ThreadTrack::freeLaneFrom(std::int64_t from, std::int64_t startNs) {
  std::int64_t number = std::max<std::int64_t>(from, 1);
  while (lane(number) > startNs)
    ++number;
  return number;
}

ThreadTrack::Place ThreadTrack::placeCall(std::int64_t startNs, std::int64_t endNs) {
  std::size_t depth = open_.size();
  while (depth > 0 && open_[depth - 1].slice.startNs > startNs)
    --depth;
  Place place;
  if (depth > 0) {
    const model::Slice& parent = open_[depth - 1].slice;
    place = {parent.id, parent.depth + 1, parent.lane, scopeBelow(depth)};
  }
  bool crosses = depth < open_.size();
  for (std::size_t back = 0; !crosses && back < finished_.size(); ++back) {
    const Finished& before = recent(back);
    if (before.endNs <= startNs)
      break;
    if (before.lane != place.lane || before.startNs >= startNs)
      continue;
    crosses = before.endNs < endNs;
    if (!crosses) {
      place.parent = before.id;
      place.depth = before.depth + 1;
      break;
    }
  }
  if (crosses) {
    std::int64_t outermost = place.lane;
    for (const TrackScope& scope : open_)
      outermost = std::max(outermost, scope.slice.lane);
    place.lane = freeLaneFrom(outermost + 1, startNs);
    lane(place.lane) = endNs;
  }
  return place;
}

ThreadTrack::Place ThreadTrack::placeRange(std::int64_t startNs) {
  std::int64_t outermost = 0;
  for (const TrackScope& scope : open_)
    outermost = std::max(outermost, scope.slice.lane);
  Place place;
  place.scope = scopeBelow(open_.size());
  place.lane = freeLaneFrom(outermost + 1, startNs);
  lane(place.lane) = kOpen;
  return place;
}

void ThreadTrack::freeLane(std::int64_t number, std::int64_t endNs) {
  if (number > 0)
    lane(number) = endNs;
}

void ThreadTrack::push(const TrackScope& scope) {
  open_.push_back(scope);
}

TrackScope* ThreadTrack::find(std::uint32_t token) noexcept {
  const auto found = std::find_if(
      open_.rbegin(), open_.rend(), [&](const TrackScope& scope) { return scope.token == token; });
  return found == open_.rend() ? nullptr : &*found;
}

void ThreadTrack::moveOut(std::size_t from, const TrackScope& ended) {
  std::int64_t target = 0;
  for (std::size_t at = from; at < open_.size(); ++at) {
    model::Slice& slice = open_[at].slice;
    if (slice.parentId == ended.slice.id)
      slice.parentId = ended.slice.parentId;
    --slice.depth;
    target = std::max(target, freeLaneFrom(slice.lane + 1, slice.startNs));
    slice.lane = target;
    open_[at].changed = true;
  }
}

std::optional<TrackScope> ThreadTrack::close(std::uint32_t token, std::int64_t endNs) {
  const TrackScope* found = find(token);
  if (found == nullptr)
    return std::nullopt;
  const auto at = static_cast<std::size_t>(found - open_.data());
  TrackScope ended = open_[at];
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
  if (at < open_.size())
    moveOut(at, ended);
  endNs = std::max(endNs, ended.slice.startNs);
  ended.slice.durNs = endNs - ended.slice.startNs;
  if (ended.slice.lane > 0)
    lane(ended.slice.lane) = std::max(lane(ended.slice.lane), endNs);
  return ended;
}

// `newest` 0 is the last one remembered.
ThreadTrack::Finished& ThreadTrack::recent(std::size_t newest) noexcept {
  const std::size_t size = finished_.size();
  return finished_[(nextFinished_ + size - 1 - newest) % size];
}

void ThreadTrack::finished(const model::Slice& slice) {
  const Finished entry{slice.id,
                       slice.parentId,
                       slice.startNs,
                       slice.startNs + slice.durNs.value_or(0),
                       slice.depth,
                       slice.lane};
  if (finished_.size() < kRemembered) {
    finished_.push_back(entry);
    nextFinished_ = 0;
    return;
  }
  finished_[nextFinished_] = entry;
  nextFinished_ = (nextFinished_ + 1) % kRemembered;
}

const std::vector<ThreadTrack::Moved>& ThreadTrack::adopt(const model::Slice& call) {
  moved_.clear();
  for (std::size_t back = 0; back < finished_.size(); ++back) {
    Finished& before = recent(back);
    if (before.endNs <= call.startNs)
      break;
    if (before.lane != call.lane || before.startNs < call.startNs)
      continue;
    if (before.parent == call.parentId)
      before.parent = call.id;
    ++before.depth;
    moved_.push_back({before.id, before.parent, before.depth});
  }
  return moved_;
}

void putAt(model::Slice& slice, const ThreadTrack::Place& place) {
  slice.parentId = place.parent;
  slice.depth = place.depth;
  slice.lane = place.lane;
  slice.scopeId = place.scope;
  slice.scopeHow = place.scope ? model::ScopeHow::Own : model::ScopeHow::None;
}

}  // namespace sonde::ingest
