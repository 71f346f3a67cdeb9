#include "recorder/flight/slot_ages.h"

#include <algorithm>
#include <tuple>

namespace sonde::recorder {

std::uint64_t SlotAges::look(const std::vector<SpoolSlot>& slots, bool isOver, std::int64_t nowNs) {
  std::unordered_map<std::uint64_t, std::int64_t> since;
  std::uint64_t fresh = 0;
  full_.clear();
  freshSlots_ = 0;
  for (const SpoolSlot& slot : slots) {
    // Full with 0: its recorder was killed while giving it back.
    if (!(slot.full || isOver) || (slot.committed == 0 && !slot.full))
      continue;
    const auto known = since_.find(slot.seq);
    const std::int64_t first = known == since_.end() ? nowNs : known->second;
    fresh += known == since_.end() ? slot.committed : 0;
    freshSlots_ += known == since_.end() ? std::size_t{1} : 0;
    since.emplace(slot.seq, first);
    full_.push_back({slot, first});
  }
  since_ = std::move(since);
  std::sort(full_.begin(), full_.end(), [](const Aged& a, const Aged& b) {
    return std::tie(a.fullSinceNs, a.slot.seq) < std::tie(b.fullSinceNs, b.slot.seq);
  });
  return fresh;
}

std::size_t SlotAges::fullBefore(std::int64_t ns) const noexcept {
  const auto kept = std::find_if(
      full_.begin(), full_.end(), [ns](const Aged& aged) { return aged.fullSinceNs >= ns; });
  return static_cast<std::size_t>(kept - full_.begin());
}

}  // namespace sonde::recorder
