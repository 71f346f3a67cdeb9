// How often the spool is drained, and whether the drain yields to the job. Plain value; the
// recording's worker thread.
#pragma once

#include "recorder/drain/drainer.h"

#include <chrono>
#include <cstdint>

namespace sonde::recorder {

// How many bytes may stay in the spool before they are stored; `maxTraceBytes` 0: the trace has no
// limit.
std::uint64_t bytesThatWait(std::uint64_t spoolLimitBytes, std::uint64_t maxTraceBytes) noexcept;

class DrainPace {
 public:
  // `waitBytes`: DrainerOptions::waitBytes. `isRing`: for a flight recorder, which stores nothing.
  DrainPace(std::uint64_t spoolLimitBytes, std::uint64_t waitBytes, bool isRing) noexcept
      : spoolLimitBytes_(spoolLimitBytes), waitBytes_(waitBytes), isRing_(isRing) {}

  // Whether the last drains found more than a drain that yields to the job can keep up with.
  bool isBehind() const noexcept { return isBehind_; }
  // A drain of a ring costs little, and if it is late the newest records are lost for lack of room.
  // It neither yields nor waits long.
  bool givesWay() const noexcept { return !isRing_ && !isBehind_; }

  // Returns the time until the next drain, after one with this result.
  std::chrono::milliseconds after(const DrainProgress& found) noexcept;

 private:
  std::chrono::milliseconds pauseAfter(const DrainProgress& found) const noexcept;

  std::uint64_t spoolLimitBytes_;
  std::uint64_t waitBytes_;
  bool isRing_;
  bool isBehind_ = false;
};

}  // namespace sonde::recorder
