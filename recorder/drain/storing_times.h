// The times at which the recorder was storing, and took processor time from the job: rows of table
// storing. Kept until the transaction that stores them has committed. Owned by the drainer, on its
// thread.
#pragma once

#include "base/result.h"
#include "recorder/drain/trace_recorder.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::recorder {

// Shorter times are not recorded: they hardly disturb the job.
inline constexpr std::int64_t kShortestStoringNs = 1'000'000;

class StoringTimes {
 public:
  // Times of this machine's monotonic clock, in ascending order. Adjacent ones are joined.
  void add(std::int64_t beginNs, std::int64_t endNs);

  // Stores the times that would not be joined with one that begins at `nextNs` or later. Requires:
  // a transaction.
  Result<void> store(TraceRecorder& trace, std::int64_t nextNs);
  void committed();
  void rolledBack() { stored_ = 0; }

 private:
  struct Time {
    std::int64_t beginNs;
    std::int64_t endNs;
  };

  std::vector<Time> times_;
  std::size_t stored_ = 0;  // the first of them, in the open transaction
};

}  // namespace sonde::recorder
