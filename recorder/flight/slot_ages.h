// Which slots of one process image a flight recorder may give back, and when: each is kept for a
// time after it was first seen full. Slots of one thread fill in the order in which they were
// claimed. So the thread's oldest slots are always given back first, and the rest has no holes.
// Owned by the ring, on its thread; times are CLOCK_MONOTONIC.
#pragma once

#include "recorder/spool_file/spool_reader.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::recorder {

class SlotAges {
 public:
  struct Aged {
    SpoolSlot slot;
    std::int64_t fullSinceNs = 0;  // everything in it was written before this time
  };

  // `slots`: those that contain records now. With `isOver` no process writes to them any more, and
  // all count as full. Returns the bytes of those that are full for the first time.
  std::uint64_t look(const std::vector<SpoolSlot>& slots, bool isOver, std::int64_t nowNs);

  // Number of slots that the last look() saw full for the first time.
  std::size_t freshSlots() const noexcept { return freshSlots_; }
  // The full slots of the last look(), in the order in which they became full.
  const std::vector<Aged>& full() const noexcept { return full_; }
  // The first `count` of them have been given back.
  void forget(std::size_t count) {
    full_.erase(full_.begin(), full_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  // Number of them that have been full since before `ns`.
  std::size_t fullBefore(std::int64_t ns) const noexcept;

 private:
  std::unordered_map<std::uint64_t, std::int64_t> since_;  // by seq
  std::vector<Aged> full_;
  std::size_t freshSlots_ = 0;
};

}  // namespace sonde::recorder
