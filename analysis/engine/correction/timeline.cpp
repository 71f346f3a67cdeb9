#include "analysis/engine/correction/timeline.h"

#include <algorithm>
#include <cstdlib>

namespace sonde::engine::correction {
namespace {

using Knot = Timeline::Knot;
__extension__ using Wide = __int128;

// Delay times distance may exceed 64 bits, so it uses 128.
std::int64_t delayBetween(const Knot& from, const Knot& to, std::int64_t ns) noexcept {
  if (from.delayNs == to.delayNs)
    return from.delayNs;
  constexpr std::int64_t kShort = std::int64_t{1} << 31;
  if (to.at - from.at < kShort && std::abs(to.delayNs - from.delayNs) < kShort)
    return from.delayNs + (to.delayNs - from.delayNs) * (ns - from.at) / (to.at - from.at);
  const auto rise = static_cast<Wide>(to.delayNs - from.delayNs) * (ns - from.at);
  return from.delayNs + static_cast<std::int64_t>(rise / (to.at - from.at));
}

bool isOnLine(const Knot& first, const Knot& middle, const Knot& last) noexcept {
  if (first.at == middle.at || middle.at == last.at)
    return false;
  return static_cast<Wide>(middle.delayNs - first.delayNs) * (last.at - middle.at) ==
         static_cast<Wide>(last.delayNs - middle.delayNs) * (middle.at - first.at);
}

}  // namespace

void Timeline::add(const Knot& knot) {
  if (!knots_.empty() && knots_.back() == knot)
    return;
  if (knots_.size() >= 2 && isOnLine(knots_[knots_.size() - 2], knots_.back(), knot))
    knots_.pop_back();
  knots_.push_back(knot);
}

namespace {

using KnotPlace = std::vector<Knot>::const_iterator;

KnotPlace firstBehind(KnotPlace from, KnotPlace to, std::int64_t ns) noexcept {
  return std::upper_bound(
      from, to, ns, [](std::int64_t at, const Knot& knot) { return at < knot.at; });
}

// `behind`: the first knot after `ns`.
std::int64_t corrected(const std::vector<Knot>& knots, KnotPlace behind, std::int64_t ns) noexcept {
  if (behind == knots.begin())
    return knots.empty() ? ns : ns - knots.front().delayNs;
  const Knot& before = *(behind - 1);
  return ns - (behind == knots.end() ? before.delayNs : delayBetween(before, *behind, ns));
}

}  // namespace

std::int64_t Timeline::operator()(std::int64_t ns) const noexcept {
  return corrected(knots_, firstBehind(knots_.begin(), knots_.end(), ns), ns);
}

// Searches in doubling steps from the place of the last time.
std::int64_t Timeline::Cursor::operator()(std::int64_t ns) noexcept {
  const std::vector<Knot>& knots = *knots_;
  std::size_t low = next_;  // all before it are at or before `ns`
  std::size_t high = next_;
  for (std::size_t step = 1; low > 0 && knots[low - 1].at > ns; step *= 2)
    low -= std::min(step, low);
  for (std::size_t step = 1; high < knots.size() && knots[high].at <= ns; step *= 2)
    high += std::min(step, knots.size() - high);
  const auto begin = knots.begin();
  const KnotPlace behind = firstBehind(
      begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high), ns);
  next_ = static_cast<std::size_t>(behind - begin);
  return corrected(knots, behind, ns);
}

}  // namespace sonde::engine::correction
