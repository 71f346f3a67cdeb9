// Decides whether records may stay in the spool for now: storing them takes processor time that the
// job may need, and more at a time costs less. They wait until storing frees enough room, a process
// cannot continue without room, or nothing has been stored for long.
//
// Part of one Drainer, on its thread. Times are on CLOCK_MONOTONIC.
#pragma once

#include "recorder/drain/image_set.h"
#include "recorder/drain/still_watch.h"

#include <cstdint>
#include <optional>

namespace sonde::recorder {

class StoreDelay {
 public:
  // Both as in DrainerOptions.
  StoreDelay(std::uint64_t waitBytes, std::int64_t longestWaitNs) noexcept
      : waitBytes_(waitBytes), longestWaitNs_(longestWaitNs) {}

  // Nothing waits until everything that is there now is stored.
  void end() noexcept { isStoring_ = true; }
  // A pass has ended. `more`: there are more records to store.
  void passed(bool more) noexcept { isStoring_ = more; }
  void storedAll(std::int64_t nowNs) noexcept { storedNs_ = nowNs; }

  // Whether records may wait at `nowNs` as far as time decides.
  bool isPossible(std::int64_t nowNs) const noexcept;
  // The bytes that wait in the spool; unset: they must be stored now. `endingBytes`: of the
  // processes that have ended. Requires: isPossible().
  std::optional<std::uint64_t> waitingBytes(const ImageSet& images,
                                            std::uint64_t endingBytes,
                                            std::int64_t nowNs);
  StillWatch& still() noexcept { return still_; }

 private:
  std::uint64_t waitBytes_;
  std::int64_t longestWaitNs_;
  StillWatch still_;
  bool wasCramped_ = false;               // at the last look some process had no free slot
  bool isStoring_ = false;                // the records that were there when waiting ended
  std::optional<std::int64_t> storedNs_;  // when everything was last stored
};

}  // namespace sonde::recorder
