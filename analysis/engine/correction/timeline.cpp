#include "analysis/engine/correction/timeline.h"

#include <algorithm>

namespace sonde::engine::correction {
namespace {

using Knot = Timeline::Knot;
__extension__ using Wide = __int128;

// In 128 bits, since a delay times a distance may have more than 64.
std::int64_t delayBetween(const Knot& from, const Knot& to, std::int64_t ns) noexcept {
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

std::int64_t Timeline::operator()(std::int64_t ns) const noexcept {
  const auto after = std::upper_bound(
      knots_.begin(), knots_.end(), ns, [](std::int64_t at, const Knot& knot) {
        return at < knot.at;
      });
  if (after == knots_.begin())
    return knots_.empty() ? ns : ns - knots_.front().delayNs;
  const Knot& before = *(after - 1);
  if (after == knots_.end())
    return ns - before.delayNs;
  return ns - delayBetween(before, *after, ns);
}

}  // namespace sonde::engine::correction
