// How often the spool is looked at, and whether the drain gives way to the job. Plain value; the
// recording's worker thread.
#pragma once

#include "recorder/drain/drainer.h"

#include <chrono>
#include <cstdint>

namespace sonde::recorder {

// What may wait in the spool until it is stored; `maxTraceBytes` 0: the trace has no limit.
std::uint64_t bytesThatWait(std::uint64_t spoolLimitBytes, std::uint64_t maxTraceBytes) noexcept;

class DrainPace {
 public:
  // `waitBytes`: DrainerOptions::waitBytes; `isRing`: of a flight recorder, which stores nothing.
  DrainPace(std::uint64_t spoolLimitBytes, std::uint64_t waitBytes, bool isRing) noexcept
      : spoolLimitBytes_(spoolLimitBytes), waitBytes_(waitBytes), isRing_(isRing) {}

  // Whether the last drains found more than one that gives way to the job can keep up with.
  bool isBehind() const noexcept { return isBehind_; }
  // A look at a ring costs little, and one that comes late finds the newest lost for want of room:
  // it is neither nice nor rare.
  bool givesWay() const noexcept { return !isRing_ && !isBehind_; }

  // The time until the next drain, after one that found this.
  std::chrono::milliseconds after(const DrainProgress& found) noexcept;

 private:
  std::chrono::milliseconds pauseAfter(const DrainProgress& found) const noexcept;

  std::uint64_t spoolLimitBytes_;
  std::uint64_t waitBytes_;
  bool isRing_;
  bool isBehind_ = false;
};

}  // namespace sonde::recorder
