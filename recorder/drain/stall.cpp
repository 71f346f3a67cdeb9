#include "recorder/drain/stall.h"

#include "recorder/spool/host_clock.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::recorder {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kTryEverySeconds = 10;

}  // namespace

Stall::Stall(const ClockTriple& since, std::string why) : since_(since), why_(std::move(why)) {
  failedAgain(since);
}

void Stall::failedAgain(const ClockTriple& now) noexcept {
  nextTryNs_ = now.monotonicNs + kTryEverySeconds * kSecondNs;
}

std::string Stall::whileItLasts() const {
  return fmt::format("the trace cannot grow ({}): trying again every {} s", why_, kTryEverySeconds);
}

std::string Stall::whenItEnded(const ClockTriple& now) const {
  return fmt::format(
      "from {} to {} nothing could be stored ({}): records that did not fit into the spool were "
      "lost and counted",
      timeOfDay(since_),
      timeOfDay(now),
      why_);
}

std::string Stall::whenItDidNotEnd() const {
  return fmt::format(
      "from {} on the trace could not grow any more ({}): later records were lost and counted",
      timeOfDay(since_),
      why_);
}

}  // namespace sonde::recorder
