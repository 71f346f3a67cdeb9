#include "recorder/drain/storing_times.h"

#include <algorithm>

namespace sonde::recorder {
namespace {

// A pause this short is too short for the job to recover.
constexpr std::int64_t kJoinedNs = 10'000'000;

}  // namespace

void StoringTimes::add(std::int64_t beginNs, std::int64_t endNs) {
  if (times_.size() > stored_ && beginNs - times_.back().endNs < kJoinedNs)
    times_.back().endNs = std::max(times_.back().endNs, endNs);
  else
    times_.push_back({beginNs, endNs});
}

Result<void> StoringTimes::store(TraceRecorder& trace, std::int64_t nextNs) {
  for (; stored_ < times_.size() && nextNs - times_[stored_].endNs >= kJoinedNs; ++stored_) {
    const Time& time = times_[stored_];
    if (time.endNs - time.beginNs >= kShortestStoringNs)
      SONDE_TRY(trace.addStoring(time.beginNs, time.endNs));
  }
  return {};
}

void StoringTimes::committed() {
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(stored_));
  stored_ = 0;
}

}  // namespace sonde::recorder
