// When a gate opened and closed: a ring of its latest changes. A tracing library reports some
// records late. The ring gives the state that the gate had at the time of such a record.
//
// No locks: the gate's word gives each change its number, and the number gives its place in the
// ring. A change is noted just before the gate changes. If two threads make the same change at
// once, either may be the one that is noted. A reader detects a place that is being written or was
// overwritten; the time of that change is then unknown.
#pragma once

#include "collector/wire/gate.h"

#include <atomic>
#include <cstdint>
#include <limits>

namespace sonde::wire {

template <std::uint32_t kPlaces>
struct GateHistory {
  struct Change {
    std::atomic<std::uint64_t> number;  // 0: empty
    std::atomic<std::uint64_t> ticks;
  };
  Change places[kPlaces];  // change N is at N modulo kPlaces

  Change& placeOf(std::uint64_t number) noexcept { return places[number % kPlaces]; }
  const Change& placeOf(std::uint64_t number) const noexcept { return places[number % kPlaces]; }
};

// A span of time, from `from` to just before `until`, in which a gate did not change.
struct GateStretch {
  static constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t from = 0;
  std::uint64_t until = 0;
  bool isOpen = false;

  bool holds(std::uint64_t ticks) const noexcept { return ticks - from < until - from; }
};

template <std::uint32_t kPlaces>
void noteChange(GateHistory<kPlaces>& history, std::uint64_t number, std::uint64_t ticks) noexcept {
  auto& place = history.placeOf(number);
  place.number.store(0, std::memory_order_relaxed);
  place.ticks.store(ticks, std::memory_order_release);  // a reader that sees this also sees that 0
  place.number.store(number, std::memory_order_release);
}

// `now`: returns the current tick; called only if there is a change.
template <std::uint32_t kPlaces, typename Now>
void setGate(Gate& gate, GateHistory<kPlaces>& history, std::uint32_t mask, Now now) noexcept {
  std::uint64_t before = gate.load(std::memory_order_relaxed);
  // After these tries the gate stays as the other threads, which keep changing it, have set it.
  constexpr int kMostTries = 10'000;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const bool closes = gateMask(before) == kGateOpen && mask != kGateOpen;
    const std::uint64_t after = std::uint64_t{gateClosings(before) + (closes ? 1 : 0)} << 32 | mask;
    if (gateChange(before) != gateChange(after))
      noteChange(history, gateChange(after), now());
    if (before == after || gate.compare_exchange_weak(
                               before, after, std::memory_order_release, std::memory_order_relaxed))
      return;
  }
}

// Returns false if the time of this change is no longer known.
template <std::uint32_t kPlaces>
bool timeOf(const GateHistory<kPlaces>& history,
            std::uint64_t number,
            std::uint64_t& ticks) noexcept {
  const auto& place = history.placeOf(number);
  const bool isIts = place.number.load(std::memory_order_acquire) == number;
  ticks = place.ticks.load(std::memory_order_acquire);
  return isIts && place.number.load(std::memory_order_relaxed) == number;
}

// Returns the stretch that contains `ticks`. `gate`: the gate's word, read before (acquire). An
// unknown time counts as open, in a stretch that contains no time, so the caller asks again for the
// next record.
template <std::uint32_t kPlaces>
GateStretch stretchAt(const GateHistory<kPlaces>& history,
                      std::uint64_t gate,
                      std::uint64_t ticks) noexcept {
  const std::uint64_t last = gateChange(gate);
  const bool isWhole = last < kPlaces;
  // A gate that starts open has no change 1; one that starts closed has no change 0.
  const auto beginOf = [&](std::uint64_t number, std::uint64_t& begin) noexcept {
    if (number > 0 && timeOf(history, number, begin))
      return true;
    begin = 0;
    return number < 2;
  };
  std::uint64_t low = isWhole ? 0 : last - kPlaces + 1;
  constexpr GateStretch kUnknown{0, 0, true};
  GateStretch found;
  if (!beginOf(low, found.from) || ticks < found.from)
    return kUnknown;
  found.until = GateStretch::kForever;
  for (std::uint64_t high = last; low < high;) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    std::uint64_t begin = 0;
    if (!beginOf(middle, begin))
      return kUnknown;
    if (begin <= ticks) {
      low = middle;
      found.from = begin;
    } else {
      high = middle - 1;
      found.until = begin;
    }
  }
  found.isOpen = opens(low);
  return found;
}

}  // namespace sonde::wire
