// A time in which nothing could be stored: since when, why, and when to try again. A disk that is
// full, or a lock that somebody else has, may be so for a while only; meanwhile the job goes on
// recording: its spool holds some of it and counts the rest. Owned by the drainer.
#pragma once

#include "recorder/spool/clock_triple.h"

#include <cstdint>
#include <string>

namespace sonde::recorder {

class Stall {
 public:
  Stall(const ClockTriple& since, std::string why);

  const ClockTriple& since() const noexcept { return since_; }
  bool mayTry(const ClockTriple& now) const noexcept { return now.monotonicNs >= nextTryNs_; }
  void failedAgain(const ClockTriple& now) noexcept;

  // One line each, for a person.
  std::string whileItLasts() const;
  std::string whenItEnded(const ClockTriple& now) const;
  std::string whenItDidNotEnd() const;

 private:
  ClockTriple since_;
  std::string why_;
  std::int64_t nextTryNs_ = 0;
};

}  // namespace sonde::recorder
