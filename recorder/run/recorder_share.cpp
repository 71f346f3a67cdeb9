#include "recorder/run/recorder_share.h"

#include "recorder/drain/storing_times.h"
#include "recorder/spool/host_clock.h"

#include <algorithm>
#include <ctime>

namespace sonde::recorder {
namespace {

RecorderShare::Reading operator-(const RecorderShare::Reading& one,
                                 const RecorderShare::Reading& other) {
  return {one.wallNs - other.wallNs, one.cpuNs - other.cpuNs};
}

}  // namespace

RecorderShare::Reading RecorderShare::now() noexcept {
  return {nowNs(CLOCK_MONOTONIC), nowNs(CLOCK_PROCESS_CPUTIME_ID)};
}

void RecorderShare::jobBegins(Reading at) {
  const std::lock_guard lock(mutex_);
  begin_ = at;
}

void RecorderShare::jobEnds(Reading at) {
  const std::lock_guard lock(mutex_);
  // Storing that continues past the job's end counts as storing.
  share_ = (storing_ ? *storing_ : at) - begin_;
}

void RecorderShare::storingBegins(Reading at) {
  const std::lock_guard lock(mutex_);
  storing_ = at;
}

void RecorderShare::storingEnds(bool hasStored, Reading at) {
  const std::lock_guard lock(mutex_);
  const Reading out = storing_ ? at - *storing_ : Reading{};
  if (hasStored && out.wallNs >= kShortestStoringNs)
    begin_ = {begin_.wallNs + out.wallNs, begin_.cpuNs + out.cpuNs};
  storing_.reset();
}

std::optional<std::int64_t> RecorderShare::ppm() const {
  const std::lock_guard lock(mutex_);
  if (!share_)
    return std::nullopt;
  const std::int64_t wallNs = std::max<std::int64_t>(share_->wallNs, 1);
  return static_cast<std::int64_t>(1e6 * static_cast<double>(share_->cpuNs) /
                                   static_cast<double>(wallNs));
}

}  // namespace sonde::recorder
