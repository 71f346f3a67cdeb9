#include "recorder/drain/drain_pace.h"

#include <algorithm>

namespace sonde::recorder {
namespace {

// Of --spool-limit, what a drain finds. Where the job keeps all processors busy, a drain that gives
// way to it hardly runs, and what it leaves would soon have no room: past the first of these it
// gives way no more, until one finds less than the other.
constexpr std::uint64_t kBehindPart = 16;
constexpr std::uint64_t kCaughtUpPart = 128;
constexpr std::uint64_t kMuchPart = 32;
// What may wait in the spool until it is stored: so much of its limit, and of --max-size, by which
// the recording is thinned out as the trace grows.
constexpr std::uint64_t kWaitPart = 8;
constexpr std::uint64_t kWaitPartOfTrace = 64;
// Each drain costs the machine a few hundred microseconds, whatever it finds.
constexpr std::chrono::milliseconds kBusyPause{25};  // when the last drain found much
constexpr std::chrono::milliseconds kDrainPause{250};
constexpr std::chrono::milliseconds kIdlePause{500};  // when the last drain found nothing
constexpr std::chrono::milliseconds kRingPause{100};  // nobody makes room in the ring meanwhile

}  // namespace

std::uint64_t bytesThatWait(std::uint64_t spoolLimitBytes, std::uint64_t maxTraceBytes) noexcept {
  const std::uint64_t most = spoolLimitBytes / kWaitPart;
  return maxTraceBytes == 0 ? most : std::min(most, maxTraceBytes / kWaitPartOfTrace);
}

std::chrono::milliseconds DrainPace::after(const DrainProgress& found) noexcept {
  isBehind_ = isBehind_ ? found.bytes > spoolLimitBytes_ / kCaughtUpPart
                        : found.bytes > waitBytes_ + spoolLimitBytes_ / kBehindPart;
  return pauseAfter(found);
}

std::chrono::milliseconds DrainPace::pauseAfter(const DrainProgress& found) const noexcept {
  if (isRing_)
    return found.bytes == 0 ? kRingPause : kBusyPause;
  if (found.waitingBytes > 0)
    return found.waitingBytes < waitBytes_ / 2 ? kDrainPause : kBusyPause;
  if (found.bytes == 0)
    return kIdlePause;
  return found.bytes < spoolLimitBytes_ / kMuchPart ? kDrainPause : kBusyPause;
}

}  // namespace sonde::recorder
