#include "analysis/engine/metrics/stream_comparison.h"

#include <algorithm>

namespace sonde::engine::metrics {

void StreamComparison::add(bool sent, std::int64_t offset, std::int64_t bytes) noexcept {
  if (bytes <= 0)
    return;
  passTo(offset);
  Side& side = sent ? sent_ : received_;
  settle(side);
  side.seen = true;
  twice_ = twice_ || offset < side.reach;
  side.reach = std::max(side.reach, offset + bytes);
  sentBytes_ += sent ? bytes : 0;
}

StreamComparison::Result StreamComparison::finish() noexcept {
  passTo(std::numeric_limits<std::int64_t>::max());
  if (!cut_) {
    settle(sent_);
    settle(received_);
  }
  return {sentBytes_,
          received_.lacks,
          sent_.lacks,
          !twice_ && sent_.lacks == 0 && received_.lacks == 0};
}

// No other transfer begins before `offset`, so up to there both sides are complete.
void StreamComparison::passTo(std::int64_t offset) noexcept {
  const std::int64_t sent = std::clamp(sent_.reach, passed_, offset) - passed_;
  const std::int64_t received = std::clamp(received_.reach, passed_, offset) - passed_;
  received_.pending += std::max<std::int64_t>(sent - received, 0);
  sent_.pending += std::max<std::int64_t>(received - sent, 0);
  passed_ = offset;
}

void StreamComparison::settle(Side& side) const noexcept {
  if (side.seen || !cut_)
    side.lacks += side.pending;
  side.pending = 0;
}

}  // namespace sonde::engine::metrics
