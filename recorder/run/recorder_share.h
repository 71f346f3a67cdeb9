// The share of a processor that the recorder itself uses while the job runs. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace sonde::recorder {

class RecorderShare {
 public:
  // Both in ns: elapsed time, and processor time of this process.
  struct Reading {
    std::int64_t wallNs = 0;
    std::int64_t cpuNs = 0;
  };
  static Reading now() noexcept;

  void jobBegins(Reading at = now());
  // A part of the job has ended. Only the last call counts: later time is no longer during the job.
  void jobEnds(Reading at = now());

  // For a recording whose iterations are left out while it stores. The time from here to
  // storingEnds() does not count if it is long enough for a row of table storing.
  void storingBegins(Reading at = now());
  void storingEnds(bool hasStored, Reading at = now());

  // In millionths of the job's time; unset before jobEnds().
  std::optional<std::int64_t> ppm() const;

 private:
  mutable std::mutex mutex_;
  Reading begin_;  // of the job, moved later by the time that does not count
  std::optional<Reading> storing_;
  std::optional<Reading> share_;
};

}  // namespace sonde::recorder
