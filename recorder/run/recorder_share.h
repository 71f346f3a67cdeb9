// What the recorder itself has of a processor while the job runs. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace sonde::recorder {

class RecorderShare {
 public:
  // Both in ns: of time that passes, and of processors' time that this process has had.
  struct Reading {
    std::int64_t wallNs = 0;
    std::int64_t cpuNs = 0;
  };
  static Reading now() noexcept;

  void jobBegins(Reading at = now());
  // A part of the job has ended. The last time this is said counts: what comes after it is no
  // longer beside the job.
  void jobEnds(Reading at = now());

  // Of a recording whose iterations stay out while it stores: the time from here to storingEnds()
  // does not count if there was so much to store that it is a row of table storing.
  void storingBegins(Reading at = now());
  void storingEnds(bool hasStored, Reading at = now());

  // In millionths of the job's time; nothing before jobEnds().
  std::optional<std::int64_t> ppm() const;

 private:
  mutable std::mutex mutex_;
  Reading begin_;  // of the job, later by what does not count
  std::optional<Reading> storing_;
  std::optional<Reading> share_;
};

}  // namespace sonde::recorder
