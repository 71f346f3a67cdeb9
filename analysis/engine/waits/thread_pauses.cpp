#include "analysis/engine/waits/thread_pauses.h"

#include <algorithm>

namespace sonde::engine::waits {
namespace {

using Place = std::vector<Accounted>::iterator;

std::int64_t overlapOf(const Pause& pause, const Accounted& part) noexcept {
  return std::min(pause.end, part.end) - std::max(pause.begin, part.begin);
}

// Whether the thread was blocked for at least half of the pause. Subtracts that from what is left.
bool wasBlocked(const Pause& pause, std::vector<Accounted>& accounted) {
  Place part = std::lower_bound(
      accounted.begin(), accounted.end(), pause.begin, [](const Accounted& each, std::int64_t ns) {
        return each.end <= ns;
      });
  std::int64_t known = 0;
  std::int64_t blocked = 0;
  const Place first = part;
  for (; part != accounted.end() && part->begin < pause.end; ++part) {
    known += overlapOf(pause, *part);
    blocked += std::min(overlapOf(pause, *part), part->blockedNs);
  }
  if (known < pause.lengthNs() / 2)
    return pause.lengthNs() >= kLongPauseNs;
  if (blocked < known / 2)
    return false;
  for (Place each = first; each != part; ++each)
    each->blockedNs -= std::min(overlapOf(pause, *each), each->blockedNs);
  return true;
}

}  // namespace

std::vector<Pause> idlePauses(std::vector<Pause> pauses, std::vector<Accounted> accounted) {
  std::erase_if(pauses, [](const Pause& pause) { return pause.lengthNs() < kShortPauseNs; });
  std::stable_sort(pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) {
    return a.lengthNs() > b.lengthNs();
  });
  std::erase_if(pauses, [&](const Pause& pause) { return !wasBlocked(pause, accounted); });
  std::sort(pauses.begin(), pauses.end(), [](const Pause& a, const Pause& b) {
    return a.begin < b.begin;
  });
  return pauses;
}

}  // namespace sonde::engine::waits
