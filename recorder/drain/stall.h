// A period in which nothing could be stored: its start, the reason, and the time of the next try. A
// full disk or another process's lock may last only a while. Meanwhile the job continues recording;
// its spool keeps some records and counts the rest. Owned by the drainer.
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

  // One line each, for the user.
  std::string whileItLasts() const;
  std::string whenItEnded(const ClockTriple& now) const;
  std::string whenItDidNotEnd() const;

 private:
  ClockTriple since_;
  std::string why_;
  std::int64_t nextTryNs_ = 0;
};

}  // namespace sonde::recorder
