#include "analysis/ingest/rows/clock_fit.h"

#include <algorithm>
#include <cmath>

namespace sonde::ingest {
namespace {

__extension__ using Wide = __int128;

// No time is further than 73 years from the epoch, so sums of two never overflow, even for a
// damaged file.
constexpr std::int64_t kFarthestNs = std::int64_t{1} << 61;
constexpr std::int64_t kSteepestNsPerTick = 4096;

// A reading is off by interruptions between reading two clocks, as far as the best of five tries
// has them. Between two knots the host's clock may be slewed by at most 500 ppm.
constexpr double kReadingErrorNs = 2000;
constexpr double kSlewLimit = 1e-3;

std::int64_t bounded(Wide ns) noexcept {
  return static_cast<std::int64_t>(
      std::clamp<Wide>(ns, -static_cast<Wide>(kFarthestNs), kFarthestNs));
}

}  // namespace

void ClockFit::offer(Knot knot) {
  offered_.push_back(knot);
}

bool ClockFit::follows(Knot knot) const noexcept {
  if (segments_.empty())
    return knot.monotonicNs > -kFarthestNs && knot.monotonicNs < kFarthestNs;
  const Segment& last = segments_.back();
  const Wide rise = static_cast<Wide>(knot.monotonicNs) - last.ns;
  return knot.ticks > last.ticks && rise > 0 && knot.monotonicNs < kFarthestNs &&
         rise < static_cast<Wide>(knot.ticks - last.ticks) * kSteepestNsPerTick;
}

bool ClockFit::agrees(Knot knot, const std::optional<Knot>& now) const noexcept {
  if (!now || segments_.empty())
    return segments_.size() < 2 ||
           std::abs(static_cast<double>(knot.monotonicNs - along(segments_.back(), knot.ticks))) <=
               kReadingErrorNs +
                   kSlewLimit * static_cast<double>(knot.monotonicNs - segments_.back().ns);
  const Segment& last = segments_.back();
  if (knot.ticks >= now->ticks || knot.monotonicNs >= now->monotonicNs)
    return false;
  const double share =
      static_cast<double>(knot.ticks - last.ticks) / static_cast<double>(now->ticks - last.ticks);
  const double expected = share * static_cast<double>(now->monotonicNs - last.ns);
  const auto actual = static_cast<double>(knot.monotonicNs - last.ns);
  const double nearest =
      std::min(expected, static_cast<double>(now->monotonicNs - last.ns) - expected);
  return std::abs(actual - expected) <= kReadingErrorNs + kSlewLimit * nearest;
}

// The previous segment ends where this one begins.
void ClockFit::append(Knot knot) {
  std::int64_t slope = nominalSlope_;
  if (!segments_.empty()) {
    Segment& last = segments_.back();
    const Wide rise = static_cast<Wide>(knot.monotonicNs - last.ns) << kSlopeBits;
    slope = static_cast<std::int64_t>(rise / static_cast<Wide>(knot.ticks - last.ticks));
    last.slope = slope;
  }
  segments_.push_back({knot.ticks, knot.monotonicNs, slope});
}

std::vector<Knot> ClockFit::settle(std::optional<Knot> now) {
  std::vector<Knot> added;
  const auto take = [&](Knot knot) {
    append(knot);
    added.push_back(knot);
  };
  if (now && !follows(*now))
    now.reset();
  std::sort(offered_.begin(), offered_.end(), [](const Knot& a, const Knot& b) {
    return a.ticks < b.ticks;
  });
  for (const Knot& knot : offered_) {
    if (follows(knot) && agrees(knot, now))
      take(knot);
    else
      ++rejected_;
  }
  offered_.clear();
  if (now && follows(*now))
    take(*now);
  return added;
}

std::vector<Knot> ClockFit::settleUpTo(Knot reading) {
  const auto later = std::partition(offered_.begin(), offered_.end(), [&](const Knot& knot) {
    return knot.ticks <= reading.ticks;
  });
  const std::vector<Knot> kept(later, offered_.end());
  offered_.erase(later, offered_.end());
  std::vector<Knot> added = settle(reading);
  offered_ = kept;
  return added;
}

void ClockFit::restore(const std::vector<Knot>& knots) {
  for (const Knot& knot : knots)
    if (follows(knot))
      append(knot);
}

void ClockFit::setNominalRate(double nsPerTick) {
  nominalSlope_ = static_cast<std::int64_t>(std::ldexp(nsPerTick, kSlopeBits));
  if (segments_.size() == 1)
    segments_.back().slope = nominalSlope_;
}

const ClockFit::Segment& ClockFit::segmentOf(std::uint64_t ticks) const noexcept {
  const auto holds = [&](std::size_t at) {
    return ticks >= segments_[at].ticks &&
           (at + 1 == segments_.size() || ticks < segments_[at + 1].ticks);
  };
  if (lastUsed_ < segments_.size() && holds(lastUsed_))
    return segments_[lastUsed_];
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), ticks, [](std::uint64_t value, const Segment& segment) {
        return value < segment.ticks;
      });
  lastUsed_ =
      after == segments_.begin() ? 0 : static_cast<std::size_t>(after - segments_.begin()) - 1;
  return segments_[lastUsed_];
}

std::int64_t ClockFit::along(const Segment& segment, std::uint64_t ticks) noexcept {
  const Wide run = static_cast<Wide>(ticks) - static_cast<Wide>(segment.ticks);
  return bounded(segment.ns + (run * segment.slope >> kSlopeBits));
}

std::int64_t ClockFit::toNs(std::uint64_t ticks) const noexcept {
  if (segments_.empty())
    return bounded(static_cast<Wide>(ticks) * nominalSlope_ >> kSlopeBits);
  return along(segmentOf(ticks), ticks);
}

std::int64_t TimeBase::toNs(std::uint64_t ticks) const noexcept {
  const std::int64_t monotonic =
      fit != nullptr ? fit->toNs(ticks) : bounded(static_cast<Wide>(ticks));
  return bounded(static_cast<Wide>(monotonic) + epochNs);
}

}  // namespace sonde::ingest
