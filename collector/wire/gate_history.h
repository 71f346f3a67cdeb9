// When a gate opened and closed: a ring of its latest changes, beside it. Records that a tracing
// library hands over late are judged by what the gate was at their own time.
//
// Nobody locks: a change has a number, which follows from the gate's word, and with it a place in
// the ring. It is noted there just before the gate changes; of two who make the same one at once
// either may be the one that is noted. A place that is being written, or was written anew, says so,
// and then nothing is known of its time.
#pragma once

#include "collector/wire/gate.h"

#include <atomic>
#include <cstdint>
#include <limits>

namespace sonde::wire {

template <std::uint32_t kPlaces>
struct GateHistory {
  struct Change {
    std::atomic<std::uint64_t> number;  // 0: none
    std::atomic<std::uint64_t> ticks;
  };
  Change places[kPlaces];  // change N at N modulo kPlaces

  Change& placeOf(std::uint64_t number) noexcept { return places[number % kPlaces]; }
  const Change& placeOf(std::uint64_t number) const noexcept { return places[number % kPlaces]; }
};

// A time from `from` until before `until` in which a gate did not change.
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
  place.ticks.store(ticks, std::memory_order_release);  // who sees it sees that 0, too
  place.number.store(number, std::memory_order_release);
}

// `now`: gives the tick; called where there is a change.
template <std::uint32_t kPlaces, typename Now>
void setGate(Gate& gate, GateHistory<kPlaces>& history, std::uint32_t mask, Now now) noexcept {
  std::uint64_t before = gate.load(std::memory_order_relaxed);
  constexpr int kMostTries = 10'000;  // then it stays as others, without end, set it meanwhile
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

// False: it is not known any more.
template <std::uint32_t kPlaces>
bool timeOf(const GateHistory<kPlaces>& history,
            std::uint64_t number,
            std::uint64_t& ticks) noexcept {
  const auto& place = history.placeOf(number);
  const bool isIts = place.number.load(std::memory_order_acquire) == number;
  ticks = place.ticks.load(std::memory_order_acquire);
  return isIts && place.number.load(std::memory_order_relaxed) == number;
}

// The stretch that holds this time, by the gate's word, read before (acquire). What is not known
// counts as open, in a stretch that holds nothing: it is to be asked for again.
template <std::uint32_t kPlaces>
GateStretch stretchAt(const GateHistory<kPlaces>& history,
                      std::uint64_t gate,
                      std::uint64_t ticks) noexcept {
  const std::uint64_t last = gateChange(gate);
  const bool isWhole = last < kPlaces;
  // A gate that begins open has no change 1, and one that begins closed none that is 0.
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
