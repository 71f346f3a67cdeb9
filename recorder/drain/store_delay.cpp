#include "recorder/drain/store_delay.h"

namespace sonde::recorder {

// Unstored records are lost if the machine fails, and missing for readers of the unfinished trace.
// They wait no longer than this.
bool StoreDelay::isPossible(std::int64_t nowNs) const noexcept {
  return waitBytes_ > 0 && !isStoring_ && storedNs_ && nowNs - *storedNs_ < longestWaitNs_;
}

std::optional<std::uint64_t> StoreDelay::waitingBytes(const ImageSet& images,
                                                      std::uint64_t endingBytes,
                                                      std::int64_t nowNs) {
  std::uint64_t bytes = endingBytes;
  bool isCramped = false;
  for (const auto& image : images.open()) {
    if (!image->begun())
      return std::nullopt;
    const SlotProgress::Waiting waiting = image->slots().waiting();
    bytes += waiting.bytes;
    isCramped = isCramped || waiting.isCramped;
  }
  still_.sawWaiting(bytes, nowNs);
  if (still_.isDue(nowNs))
    return std::nullopt;
  // If a process stays in that state, it cannot enlarge its spool file.
  const bool isStuck = isCramped && wasCramped_;
  wasCramped_ = isCramped;
  if (bytes >= waitBytes_ || isStuck)
    return std::nullopt;
  return bytes;
}

}  // namespace sonde::recorder
