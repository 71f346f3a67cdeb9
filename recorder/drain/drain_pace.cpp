#include "recorder/drain/drain_pace.h"

#include <algorithm>

namespace sonde::recorder {
namespace {

// Parts of --spool-limit that a drain finds. If the job keeps all processors busy, a drain that
// yields to it hardly runs, and the records that it leaves would soon exceed the room. Above the
// first part the drain stops yielding, until one finds less than the second part.
constexpr std::uint64_t kBehindPart = 16;
constexpr std::uint64_t kCaughtUpPart = 128;
constexpr std::uint64_t kMuchPart = 32;
// The share of the spool's limit, and of --max-size, that may stay in the spool. --max-size thins
// out the recording as the trace grows.
constexpr std::uint64_t kWaitPart = 8;
constexpr std::uint64_t kWaitPartOfTrace = 64;
// Each drain costs the machine a few hundred microseconds, whatever it finds.
constexpr std::chrono::milliseconds kBusyPause{25};  // when the last drain found much
constexpr std::chrono::milliseconds kDrainPause{250};
constexpr std::chrono::milliseconds kIdlePause{500};  // when the last drain found nothing
constexpr std::chrono::milliseconds kRingPause{100};  // no room is made in the ring meanwhile

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
